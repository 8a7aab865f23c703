#include "ingest/expand.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace unmask {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 18;

// Text never compresses this well: beyond it, and past a size that could matter, it is a bomb.
constexpr std::uint64_t kMaxRatio = 1000;
constexpr std::uint64_t kRatioFrom = std::uint64_t{256} << 20;

Error disk_error(std::string_view doing) {
  return Error{ErrorKind::Unavailable,
               std::string(doing) + " for the expanded log: " + std::strerror(errno), ""};
}

}  // namespace

Compression compression_of(std::string_view first_bytes) {
  if (first_bytes.starts_with("\x1f\x8b\x08")) return Compression::Gzip;
  if (first_bytes.starts_with("\x28\xb5\x2f\xfd")) return Compression::Zstd;
  // A skippable zstd frame may come first: magic 0x184D2A50 to 0x184D2A5F, little endian.
  if (first_bytes.size() >= 4 && (first_bytes[0] & '\xf0') == '\x50' &&
      first_bytes.substr(1, 3) == "\x2a\x4d\x18")
    return Compression::Zstd;
  return Compression::None;
}

ByteStore::ByteStore() = default;

ByteStore::~ByteStore() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

ByteStore::ByteStore(ByteStore&& other) noexcept {
  *this = std::move(other);
}

ByteStore& ByteStore::operator=(ByteStore&& other) noexcept {
  memory_.swap(other.memory_);
  std::swap(size_, other.size_);
  std::swap(fd_, other.fd_);
  temporary_.swap(other.temporary_);
  std::swap(mapped_, other.mapped_);
  return *this;
}

Result<Done> ByteStore::spill() {
  if (fd_ < 0) {
    const char* folder = std::getenv("TMPDIR");
    temporary_ =
        std::string(folder != nullptr && *folder != '\0' ? folder : "/tmp") + "/unmask-log-XXXXXX";
    fd_ = ::mkostemp(temporary_.data(), O_CLOEXEC);
    if (fd_ < 0) {
      const Error error = disk_error("cannot make a temporary file");
      temporary_.clear();
      return error;
    }
  }
  std::string_view left = memory_;
  while (!left.empty()) {
    const ssize_t written = ::write(fd_, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return disk_error("cannot write the temporary file");
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  memory_.clear();
  return Done{};
}

Result<Done> ByteStore::append(std::string_view bytes) {
  memory_.append(bytes);
  size_ += bytes.size();
  if (size_ <= kInMemory || (fd_ >= 0 && memory_.size() < kChunk)) return Done{};
  return spill();
}

Result<Done> ByteStore::finish() {
  if (fd_ < 0) return Done{};
  if (Result<Done> spilled = spill(); !spilled) return spilled;
  Result<MappedFile> mapped = MappedFile::open(temporary_);
  if (!mapped) return mapped.error();
  mapped_ = std::move(*mapped);
  ::unlink(temporary_.c_str());  // the mapping keeps it
  temporary_.clear();
  memory_.shrink_to_fit();
  return Done{};
}

std::string_view ByteStore::bytes() const {
  return mapped_ ? mapped_->bytes() : memory_;
}

void ByteStore::forget(std::size_t offset, std::size_t length) const {
  if (mapped_) mapped_->forget(offset, length);
}

struct Expander::Decoder {
  z_stream gzip{};
  bool gzip_ready = false;
  ZSTD_DStream* zstd = nullptr;
  std::string out = std::string(kChunk, '\0');

  ~Decoder() {
    if (gzip_ready) inflateEnd(&gzip);
    ZSTD_freeDStream(zstd);
  }
};

Expander::Expander(Compression compression, std::uint64_t max_bytes, ByteStore& store)
    : decoder_(std::make_unique<Decoder>()),
      compression_(compression),
      max_bytes_(max_bytes),
      store_(&store) {
  if (compression == Compression::Zstd) {
    decoder_->zstd = ZSTD_createDStream();
    if (decoder_->zstd == nullptr) throw std::bad_alloc();
  } else {
    constexpr int kGzipOnly = 16 + MAX_WBITS;
    if (inflateInit2(&decoder_->gzip, kGzipOnly) != Z_OK) throw std::bad_alloc();
    decoder_->gzip_ready = true;
  }
}

Expander::~Expander() = default;

std::optional<Error> Expander::keep(std::size_t produced) {
  const std::uint64_t total = store_->size() + produced;
  if (total > max_bytes_)
    return Error{ErrorKind::InvalidArgument,
                 "expands to more than the " + std::to_string(max_bytes_) +
                     " bytes allowed, which may be a decompression bomb",
                 ""};
  if (total > kRatioFrom && total / kMaxRatio > consumed_)
    return Error{
        ErrorKind::InvalidArgument,
        "expands to more than 1000 times its size, which no log does: a decompression bomb", ""};
  const Result<Done> stored = store_->append({decoder_->out.data(), produced});
  if (!stored) return stored.error();
  return std::nullopt;
}

Result<bool> Expander::feed(std::string_view compressed) {
  if (!damage_.empty()) return false;
  while (!compressed.empty()) {
    const std::string_view piece = compressed.substr(0, kChunk);
    compressed.remove_prefix(piece.size());
    consumed_ += piece.size();
    Result<bool> fed = compression_ == Compression::Zstd ? feed_zstd(piece) : feed_gzip(piece);
    if (!fed || !*fed) return fed;
  }
  return true;
}

Result<bool> Expander::feed_gzip(std::string_view compressed) {
  z_stream& stream = decoder_->gzip;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data()));
  stream.avail_in = static_cast<uInt>(compressed.size());
  while (true) {
    if (between_members_) {
      // gzip(1) ignores zeros after the last member: tapes are padded with them.
      while (store_->size() > 0 && stream.avail_in > 0 && *stream.next_in == 0) {
        ++stream.next_in;
        --stream.avail_in;
      }
      if (stream.avail_in == 0) return true;
      between_members_ = false;
    }
    stream.next_out = reinterpret_cast<Bytef*>(decoder_->out.data());
    stream.avail_out = static_cast<uInt>(decoder_->out.size());
    const int status = inflate(&stream, Z_NO_FLUSH);
    if (std::optional<Error> error = keep(decoder_->out.size() - stream.avail_out)) return *error;
    if (status == Z_STREAM_END) {
      inflateReset(&stream);
      between_members_ = true;
      continue;
    }
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    if (status != Z_OK && status != Z_BUF_ERROR) {
      damage_ = std::string("the gzip stream is damaged (") +
                (stream.msg != nullptr ? stream.msg : "unknown reason") + ")";
      return false;
    }
    if (stream.avail_in == 0 && stream.avail_out != 0) return true;
  }
}

Result<bool> Expander::feed_zstd(std::string_view compressed) {
  ZSTD_inBuffer in{compressed.data(), compressed.size(), 0};
  while (true) {
    ZSTD_outBuffer out{decoder_->out.data(), decoder_->out.size(), 0};
    const std::size_t status = ZSTD_decompressStream(decoder_->zstd, &out, &in);
    if (std::optional<Error> error = keep(out.pos)) return *error;
    if (ZSTD_isError(status) != 0) {
      damage_ = std::string("the zstd stream is damaged (") + ZSTD_getErrorName(status) + ")";
      return false;
    }
    between_members_ = status == 0;
    if (in.pos == in.size && out.pos < out.size) return true;
  }
}

std::string Expander::finish() {
  if (damage_.empty() && !between_members_) damage_ = "the compressed stream is cut short";
  return damage_;
}

}  // namespace unmask
