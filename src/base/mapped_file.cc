#include "base/mapped_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <utility>

#include "base/file.h"

namespace unmask {
namespace {

// The mappings alive now, readable from a signal handler: plain atomics, no locks.
struct Region {
  std::atomic<std::uintptr_t> begin{0};
  std::atomic<std::uintptr_t> end{0};
};
std::array<Region, 256> regions;
struct sigaction earlier_handler;

void remember(const char* data, std::size_t size) {
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  for (Region& region : regions) {
    std::uintptr_t free_slot = 0;
    if (region.begin.compare_exchange_strong(free_slot, begin)) {
      region.end = begin + size;
      return;
    }
  }  // more than 256 files mapped at once: the surplus is unguarded
}

void forget_region(const char* data) {
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  for (Region& region : regions) {
    if (region.begin == begin) {
      region.end = 0;
      region.begin = 0;
      return;
    }
  }
}

void on_sigbus(int signal, siginfo_t* info, void*) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  for (Region& region : regions) {
    if (address < region.begin || address >= region.end) continue;
    const auto page_size = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    void* page = reinterpret_cast<void*>(address & ~(page_size - 1));
    if (::mmap(page, page_size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
        MAP_FAILED)
      return;
  }
  ::sigaction(signal, &earlier_handler, nullptr);  // the fault repeats under the earlier handler
}

}  // namespace

void MappedFile::guard_reads() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action {};
    action.sa_sigaction = on_sigbus;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    ::sigaction(SIGBUS, &action, &earlier_handler);
  });
}

Result<MappedFile> MappedFile::open(const std::string& path) {
  MappedFile file;
  struct stat status {};
  if (path != "-" && ::stat(path.c_str(), &status) != 0)
    return Error{errno == ENOENT ? ErrorKind::NotFound : ErrorKind::Unavailable,
                 std::string("cannot open: ") + std::strerror(errno), path};
  if (path != "-" && S_ISREG(status.st_mode) && status.st_size > 0) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
      return Error{ErrorKind::Unavailable, std::string("cannot open: ") + std::strerror(errno),
                   path};
    const auto size = static_cast<std::size_t>(status.st_size);
    void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data != MAP_FAILED) {
      file.data_ = static_cast<const char*>(data);
      file.size_ = size;
      file.fd_ = fd;
      file.mapped_ = true;
      remember(file.data_, file.size_);
      return file;
    }
    ::close(fd);
  }
  Result<std::string> content = read_file(path);
  if (!content) return content.error();
  file.owned_ = std::move(*content);
  file.data_ = file.owned_.data();
  file.size_ = file.owned_.size();
  return file;
}

MappedFile::MappedFile(MappedFile&& other) noexcept {
  *this = std::move(other);
}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(fd_, other.fd_);
  std::swap(mapped_, other.mapped_);
  owned_.swap(other.owned_);
  if (!mapped_) data_ = owned_.data();  // short strings live inside the object
  if (!other.mapped_) other.data_ = other.owned_.data();
  return *this;
}

MappedFile::~MappedFile() {
  if (!mapped_) return;
  forget_region(data_);
  ::munmap(const_cast<char*>(data_), size_);
  ::close(fd_);
}

bool MappedFile::still_whole() const {
  if (!mapped_) return true;
  struct stat status {};
  return ::fstat(fd_, &status) == 0 && static_cast<std::size_t>(status.st_size) >= size_;
}

void MappedFile::expect(std::size_t offset, std::size_t length) const {
#ifdef MADV_POPULATE_READ
  if (!mapped_ || offset >= size_) return;
  const auto page_size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t begin = offset / page_size * page_size;
  const std::size_t end = std::min(size_, offset + length);
  ::madvise(const_cast<char*>(data_) + begin, end - begin, MADV_POPULATE_READ);
#else
  (void)offset;
  (void)length;
#endif
}

void MappedFile::forget(std::size_t offset, std::size_t length) const {
  if (!mapped_ || offset >= size_) return;
  const auto page_size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t begin = (offset + page_size - 1) / page_size * page_size;
  const std::size_t end = std::min(size_, offset + length) / page_size * page_size;
  if (begin < end) ::madvise(const_cast<char*>(data_) + begin, end - begin, MADV_DONTNEED);
}

}  // namespace unmask
