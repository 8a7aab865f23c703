#include "ingest/source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/mapped_file.h"
#include "ingest/expand.h"

namespace unmask {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::size_t kReadStep = std::size_t{1} << 18;

Error open_error(const std::string& name) {
  const ErrorKind kind = errno == ENOENT ? ErrorKind::NotFound : ErrorKind::Unavailable;
  return Error{kind, std::string("cannot open: ") + std::strerror(errno), name};
}

}  // namespace

struct Source::State {
  std::string name;
  std::string path;
  bool directory = false;
  std::optional<MappedFile> file;
  std::optional<ByteStore> store;
  std::string_view bytes;  // within file, store or the caller's memory
  std::size_t skipped = 0;
  std::optional<Dropped> damage;

  void skip_byte_order_mark() {
    if (!bytes.starts_with(kByteOrderMark)) return;
    skipped = kByteOrderMark.size();
    bytes.remove_prefix(skipped);
  }

  // After the last byte was fed.
  std::optional<Error> finish(Expander* expander) {
    if (expander != nullptr) {
      const std::string wrong = expander->finish();
      if (!wrong.empty()) {
        if (store->size() == 0)
          return Error{ErrorKind::Malformed, wrong + " and nothing of it can be expanded", name};
        damage = Dropped{"compressed_stream_damaged",
                         wrong + "; what comes after its first " + std::to_string(store->size()) +
                             " expanded bytes is lost",
                         name};
      }
    }
    if (const Result<Done> done = store->finish(); !done) return named(done.error());
    bytes = store->bytes();
    return std::nullopt;
  }

  Error named(Error error) const {
    if (error.where.empty()) error.where = name;
    return error;
  }

  // Expands bytes that are all there.
  std::optional<Error> expand(std::string_view compressed, Compression compression,
                              const ReadOptions& options) {
    store.emplace();
    Expander expander(compression, options.max_expanded_bytes, *store);
    for (std::size_t at = 0; at < compressed.size(); at += kReadStep) {
      const Result<bool> fed = expander.feed(compressed.substr(at, kReadStep));
      if (!fed) return named(fed.error());
      if (file) file->forget(at, kReadStep);
      if (!*fed) break;
    }
    return finish(&expander);
  }

  // Reads a pipe to its end, expanding on the way.
  std::optional<Error> drain(int fd, const ReadOptions& options) {
    store.emplace();
    std::optional<Expander> expander;
    std::string buffer(kReadStep, '\0');
    std::size_t used = 0;
    bool started = false;
    bool more = true;
    while (more) {
      const ssize_t n = ::read(fd, buffer.data() + used, buffer.size() - used);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0)
        return Error{ErrorKind::Unavailable, std::string("cannot read: ") + std::strerror(errno),
                     name};
      used += static_cast<std::size_t>(n);
      if (!started && n > 0 && used < 4) continue;  // the magic bytes may come in two pieces
      const std::string_view piece(buffer.data(), used);
      if (!started) {
        started = true;
        const Compression compression = compression_of(piece);
        if (compression != Compression::None)
          expander.emplace(compression, options.max_expanded_bytes, *store);
      }
      used = 0;
      if (expander) {
        const Result<bool> fed = expander->feed(piece);
        if (!fed) return named(fed.error());
        more = *fed && n > 0;
      } else {
        const Result<Done> stored = store->append(piece);
        if (!stored) return named(stored.error());
        more = n > 0;
      }
    }
    return finish(expander ? &*expander : nullptr);
  }
};

Source::Source(std::unique_ptr<State> state) : state_(std::move(state)) {}
Source::Source(Source&&) noexcept = default;
Source& Source::operator=(Source&&) noexcept = default;
Source::~Source() = default;

Result<Source> Source::open(const std::string& path, const ReadOptions& options) {
  std::unique_ptr<State> state = std::make_unique<State>();
  state->name = path == "-" ? "standard input" : path;
  struct stat status {};
  if (path != "-") {
    state->path = path;
    if (::stat(path.c_str(), &status) != 0) return open_error(path);
    if (S_ISDIR(status.st_mode)) {
      state->directory = true;
      return Source(std::move(state));
    }
  }
  if (path != "-" && S_ISREG(status.st_mode)) {
    MappedFile::guard_reads();
    Result<MappedFile> file = MappedFile::open(path);
    if (!file) return file.error();
    state->file = std::move(*file);
    state->bytes = state->file->bytes();
    const Compression compression = compression_of(state->bytes);
    if (compression != Compression::None) {
      if (std::optional<Error> error = state->expand(state->bytes, compression, options))
        return *error;
    }
  } else {
    const int fd = path == "-" ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return open_error(state->name);
    const std::optional<Error> error = state->drain(fd, options);
    ::close(fd);
    if (error) return *error;
  }
  state->skip_byte_order_mark();
  return Source(std::move(state));
}

Result<Source> Source::over(std::string_view bytes, const std::string& name,
                            const ReadOptions& options) {
  std::unique_ptr<State> state = std::make_unique<State>();
  state->name = name;
  state->bytes = bytes;
  const Compression compression = compression_of(bytes);
  if (compression != Compression::None) {
    if (std::optional<Error> error = state->expand(bytes, compression, options)) return *error;
  }
  state->skip_byte_order_mark();
  return Source(std::move(state));
}

std::string_view Source::bytes() const {
  return state_->bytes;
}
std::size_t Source::skipped() const {
  return state_->skipped;
}
const std::string& Source::name() const {
  return state_->name;
}
const std::string& Source::path() const {
  return state_->path;
}
bool Source::is_directory() const {
  return state_->directory;
}
const std::optional<Dropped>& Source::damage() const {
  return state_->damage;
}

std::string Source::place(std::size_t offset) const {
  return state_->name + ": byte " + std::to_string(offset + state_->skipped);
}

bool Source::still_whole() const {
  return !state_->file || state_->file->still_whole();
}

void Source::forget(std::size_t offset, std::size_t length) const {
  offset += state_->skipped;
  if (state_->store) return state_->store->forget(offset, length);
  if (state_->file) state_->file->forget(offset, length);
}

void Source::expect(std::size_t offset, std::size_t length) const {
  if (!state_->store && state_->file) state_->file->expect(offset + state_->skipped, length);
}

}  // namespace unmask
