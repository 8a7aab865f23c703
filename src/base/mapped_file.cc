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
#include <cstdio>
#include <cstring>
#include <mutex>
#include <sstream>
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
    const auto size = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    void* page = reinterpret_cast<void*>(address & ~(size - 1));
    if (::mmap(page, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED)
      return;
  }
  ::sigaction(signal, &earlier_handler, nullptr);  // the fault repeats under the earlier handler
}

std::size_t page_size() {
  static const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kLargeFile = 8 * kHugePage;

char* aligned(void* reserved) {
  const auto address = reinterpret_cast<std::uintptr_t>(reserved);
  return reinterpret_cast<char*>((address + kHugePage - 1) & ~(kHugePage - 1));
}

// A large file at a huge page's boundary, so that windows of it can be put in place.
void* map_file(int fd, std::size_t size) {
  if (size < kLargeFile) return ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  const std::size_t room = size + kHugePage;
  void* reserved =
      ::mmap(nullptr, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) return MAP_FAILED;
  char* const data = aligned(reserved);
  char* const begin = static_cast<char*>(reserved);
  char* const end = data + (size + page_size() - 1) / page_size() * page_size();
  if (begin < data) ::munmap(begin, static_cast<std::size_t>(data - begin));
  if (end < begin + room) ::munmap(end, static_cast<std::size_t>(begin + room - end));
  return ::mmap(data, size, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0);
}

// Does the system back the page at `address` by a huge one?
bool is_huge(const char* address) {
  const Result<std::string> map = read_file("/proc/self/smaps");
  if (!map) return false;
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  std::istringstream lines(*map);
  bool here = false;
  for (std::string line; std::getline(lines, line);) {
    unsigned long begin = 0;
    unsigned long end = 0;
    long kilobytes = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2)
      here = begin <= wanted && wanted < end;
    if (here && std::sscanf(line.c_str(), "AnonHugePages: %ld kB", &kilobytes) == 1)
      return kilobytes > 0;
  }
  return false;
}

}  // namespace

// Windows of whole huge pages, read ahead of a scan into memory of their own and then moved over
// the mapping in one step, so that a thread that reads there sees the file before and after.
class MappedFile::HugeWindows {
 public:
  HugeWindows(char* data, std::size_t size, int fd) : data_(data), size_(size), fd_(fd) {}
  ~HugeWindows() {
    if (reserved_ != MAP_FAILED) ::munmap(reserved_, kStaged + kHugePage);
  }

  // Fills the windows of [begin, end) not filled so far. Returns where the rest starts, which stays
  // as it is mapped.
  std::size_t fill(std::size_t begin, std::size_t end) {
    std::size_t at = std::max<std::size_t>(filled_, begin / kHugePage * kHugePage);
    end = std::min((end + kHugePage - 1) / kHugePage * kHugePage, size_ / kHugePage * kHugePage);
    if (usable_ && at < end && reserved_ == MAP_FAILED) usable_ = reserve();
    while (usable_ && at < end) {
      const std::size_t length = std::min(kStaged, end - at);
      usable_ = fill_window(at, length);
      if (usable_) filled_ = (at += length);
    }
    return filled_;
  }

  // Gives back the windows that lie within [what was given back so far, end); `first` otherwise.
  std::size_t forget(std::size_t offset, std::size_t end, std::size_t first) {
    if (offset > told_ || freed_ >= filled_) return first;
    told_ = std::max(told_, end);
    const std::size_t last = std::min<std::size_t>(filled_, told_ / kHugePage * kHugePage);
    if (freed_ < last) ::madvise(data_ + freed_, last - freed_, MADV_DONTNEED);
    freed_ = std::max(freed_, last);
    return std::max<std::size_t>(first, filled_);
  }

 private:
  static constexpr std::size_t kStaged = 2 * kHugePage;

  bool reserve() {
#if defined(MADV_HUGEPAGE) && defined(MREMAP_DONTUNMAP)
    reserved_ = ::mmap(nullptr, kStaged + kHugePage, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved_ == MAP_FAILED) return false;
    staged_ = aligned(reserved_);
    return ::madvise(staged_, kStaged, MADV_HUGEPAGE) == 0;
#else
    return false;
#endif
  }

  bool fill_window(std::size_t at, std::size_t length) {
#if defined(MADV_HUGEPAGE) && defined(MREMAP_DONTUNMAP)
    for (std::size_t done = 0; done < length;) {
      const ssize_t n = ::pread(fd_, staged_ + done, length - done, static_cast<off_t>(at + done));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;  // the file has shrunk, or cannot be read: the mapping shows it
      done += static_cast<std::size_t>(n);
    }
    if (filled_ == 0 && !is_huge(staged_)) return false;
    return ::mremap(staged_, length, length, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP,
                    data_ + at) != MAP_FAILED;
#else
    (void)at;
    (void)length;
    return false;
#endif
  }

  char* data_;
  std::size_t size_;
  int fd_;
  bool usable_ = true;
  void* reserved_ = MAP_FAILED;
  char* staged_ = nullptr;              // within reserved_, at a huge page's boundary
  std::atomic<std::size_t> filled_{0};  // windows up to here are in place
  std::size_t told_ = 0;                // forgotten up to here
  std::size_t freed_ = 0;               // windows given back up to here
};

MappedFile::MappedFile() = default;

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
    void* data = map_file(fd, size);
    if (data != MAP_FAILED) {
      file.data_ = static_cast<const char*>(data);
      file.size_ = size;
      file.fd_ = fd;
      file.mapped_ = true;
      remember(file.data_, file.size_);
      if (size >= kLargeFile)
        file.windows_ = std::make_unique<HugeWindows>(static_cast<char*>(data), size, fd);
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
  windows_.swap(other.windows_);
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
  if (!mapped_ || offset >= size_) return;
  std::size_t begin = offset / page_size() * page_size();
  const std::size_t end = std::min(size_, offset + length);
  if (windows_) begin = std::max(begin, windows_->fill(begin, end));
#ifdef MADV_POPULATE_READ
  if (begin < end) ::madvise(const_cast<char*>(data_) + begin, end - begin, MADV_POPULATE_READ);
#endif
}

void MappedFile::forget(std::size_t offset, std::size_t length) const {
  if (!mapped_ || offset >= size_) return;
  const std::size_t end = std::min(size_, offset + length);
  std::size_t first = (offset + page_size() - 1) / page_size() * page_size();
  if (windows_) first = windows_->forget(offset, end, first);
  const std::size_t last = end / page_size() * page_size();
  if (first < last) ::madvise(const_cast<char*>(data_) + first, last - first, MADV_DONTNEED);
}

}  // namespace unmask
