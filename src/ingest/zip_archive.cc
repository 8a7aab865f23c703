#include "ingest/zip_archive.h"

#include <fmt/format.h>
#include <zip.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <mutex>
#include <utility>

namespace unmask {
namespace {

constexpr int kStored = 0;
constexpr int kDeflate = 8;
constexpr int kZstd = 93;

// Grown by what really comes out: the stated size is only believed as a limit.
constexpr std::size_t kFirstReserve = std::size_t{1} << 20;
constexpr std::size_t kPiece = std::size_t{256} << 10;

struct ArchiveClose {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
struct FileClose {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};
struct InflateEnd {
  void operator()(z_stream* stream) const { inflateEnd(stream); }
};

Error damaged(std::string message) {
  return {ErrorKind::Malformed, std::move(message), ""};
}

// Makes room for another piece, one byte beyond the limit at most, so that an excess is noticed.
std::size_t grow(std::string& out, std::uint64_t limit) {
  const std::uint64_t left = limit + 1 - out.size();
  const std::size_t piece = static_cast<std::size_t>(std::min<std::uint64_t>(left, kPiece));
  out.resize(out.size() + piece);
  return piece;
}

Result<std::string> inflate_all(std::string_view packed, std::uint64_t limit) {
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, InflateEnd> guard(&stream);
  std::string out;
  out.reserve(static_cast<std::size_t>(std::min<std::uint64_t>(limit + 1, kFirstReserve)));
  while (true) {
    if (stream.avail_in == 0 && !packed.empty()) {
      const std::size_t piece = std::min<std::size_t>(packed.size(), std::size_t{1} << 30);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
      stream.avail_in = static_cast<uInt>(piece);
      packed.remove_prefix(piece);
    }
    const std::size_t room = grow(out, limit);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + out.size() - room);
    stream.avail_out = static_cast<uInt>(room);
    const int code = inflate(&stream, Z_NO_FLUSH);
    out.resize(out.size() - stream.avail_out);
    if (out.size() > limit) return damaged("expands to more bytes than the archive states");
    if (code == Z_STREAM_END) return out;
    if (code != Z_OK) return damaged("is damaged: its deflate data cannot be expanded");
  }
}

struct ZstdClose {
  void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
};

Result<std::string> expand_zstd(std::string_view packed, std::uint64_t limit) {
  const std::unique_ptr<ZSTD_DStream, ZstdClose> stream(ZSTD_createDStream());
  if (!stream) throw std::bad_alloc();
  ZSTD_inBuffer input{packed.data(), packed.size(), 0};
  std::string out;
  out.reserve(static_cast<std::size_t>(std::min<std::uint64_t>(limit + 1, kFirstReserve)));
  std::size_t pending = 0;  // not 0: in the middle of a frame
  while (true) {
    const std::size_t room = grow(out, limit);
    ZSTD_outBuffer output{out.data() + out.size() - room, room, 0};
    const std::size_t before = input.pos;
    pending = ZSTD_decompressStream(stream.get(), &output, &input);
    out.resize(out.size() - room + output.pos);
    if (ZSTD_isError(pending)) return damaged("is damaged: its zstd data cannot be expanded");
    if (out.size() > limit) return damaged("expands to more bytes than the archive states");
    const bool all_read = input.pos == input.size;
    if (all_read && (pending == 0 || (output.pos < room && input.pos == before))) break;
  }
  if (pending != 0) return damaged("is damaged: its zstd data ends too early");
  return out;
}

Result<std::string> expand(const ZipEntry& entry, std::string packed) {
  switch (entry.method) {
    case kStored:
      return packed;
    case kDeflate:
      return inflate_all(packed, entry.expanded_bytes);
    case kZstd:
      return expand_zstd(packed, entry.expanded_bytes);
    default:
      return Error{ErrorKind::Unsupported,
                   fmt::format("is compressed with zip method {}, which is not supported (stored, "
                               "deflate and zstd are)",
                               entry.method),
                   ""};
  }
}

std::uint32_t crc_of(std::string_view bytes) {
  uLong crc = ::crc32(0, nullptr, 0);
  while (!bytes.empty()) {
    const std::size_t piece = std::min<std::size_t>(bytes.size(), std::size_t{1} << 30);
    crc = ::crc32(crc, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(piece));
    bytes.remove_prefix(piece);
  }
  return static_cast<std::uint32_t>(crc);
}

std::vector<ZipEntry> list_entries(zip_t* archive) {
  std::vector<ZipEntry> entries;
  const zip_int64_t count = zip_get_num_entries(archive, 0);
  entries.reserve(static_cast<std::size_t>(std::max<zip_int64_t>(count, 0)));
  for (zip_int64_t i = 0; i < count; ++i) {
    zip_stat_t stat;
    if (zip_stat_index(archive, static_cast<zip_uint64_t>(i), ZIP_FL_ENC_RAW, &stat) != 0) continue;
    ZipEntry entry;
    entry.name = stat.name == nullptr ? "" : stat.name;
    entry.index = static_cast<std::uint64_t>(i);
    entry.stored_bytes = stat.comp_size;
    entry.expanded_bytes = stat.size;
    entry.crc32 = stat.crc;
    entry.method = stat.comp_method;
    entry.encrypted =
        (stat.valid & ZIP_STAT_ENCRYPTION_METHOD) != 0 && stat.encryption_method != ZIP_EM_NONE;
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::string reason_of(zip_error_t& error) {
  const std::string reason = zip_error_strerror(&error);
  zip_error_fini(&error);
  return reason;
}

}  // namespace

struct ZipArchive::State {
  std::unique_ptr<zip_t, ArchiveClose> archive;
  std::uint64_t bytes = 0;
  std::mutex mutex;  // libzip's handle is for one thread at a time
};

ZipArchive::ZipArchive(std::unique_ptr<State> state) : state_(std::move(state)) {}
ZipArchive::ZipArchive(ZipArchive&&) noexcept = default;
ZipArchive& ZipArchive::operator=(ZipArchive&&) noexcept = default;
ZipArchive::~ZipArchive() = default;

Result<ZipArchive> ZipArchive::open(std::string_view bytes) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* const source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  if (source == nullptr) return damaged("cannot be opened as a zip archive: " + reason_of(error));
  zip_t* const archive = zip_open_from_source(source, ZIP_RDONLY, &error);
  if (archive == nullptr) {
    zip_source_free(source);
    return damaged(
        fmt::format("is not a complete zip archive; the directory at its end is missing "
                    "or damaged, as when a file is cut short ({})",
                    reason_of(error)));
  }
  zip_error_fini(&error);
  std::unique_ptr<State> state = std::make_unique<State>();
  state->archive.reset(archive);
  state->bytes = bytes.size();
  ZipArchive opened(std::move(state));
  opened.entries_ = list_entries(archive);
  return opened;
}

Result<std::string> ZipArchive::read(const ZipEntry& entry) const {
  if (entry.encrypted) return Error{ErrorKind::Unsupported, "is encrypted", ""};
  if (entry.stored_bytes > state_->bytes)
    return damaged("states more compressed bytes than the whole archive has");
  std::string packed(static_cast<std::size_t>(entry.stored_bytes), '\0');
  {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    const std::unique_ptr<zip_file_t, FileClose> file(
        zip_fopen_index(state_->archive.get(), entry.index, ZIP_FL_COMPRESSED));
    if (!file) return damaged("cannot be read: its local header is damaged");
    const zip_int64_t got = zip_fread(file.get(), packed.data(), packed.size());
    if (got < 0 || static_cast<std::uint64_t>(got) != entry.stored_bytes)
      return damaged("is cut short inside the archive");
  }
  Result<std::string> expanded = expand(entry, std::move(packed));
  if (!expanded) return expanded;
  if (expanded->size() != entry.expanded_bytes)
    return damaged(fmt::format("expands to {} bytes where the archive states {}", expanded->size(),
                               entry.expanded_bytes));
  if (crc_of(*expanded) != entry.crc32)
    return damaged("does not match the CRC-32 the archive states");
  return expanded;
}

}  // namespace unmask
