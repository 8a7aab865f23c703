#include "rollout/store_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

namespace unmask {

namespace {

enum class Taken { Yes, HeldByAnother, NoLocksHere };

Taken try_lock(int fd, int kind) {
  while (::flock(fd, kind | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    return errno == EWOULDBLOCK ? Taken::HeldByAnother : Taken::NoLocksHere;
  }
  return Taken::Yes;
}

struct Holder {
  std::string pid;
  std::string shards;
};

// "PID SHARDS\n"
Holder holder_of(int fd) {
  char text[64] = {};
  const ssize_t n = ::pread(fd, text, sizeof text - 1, 0);
  const std::string all(text, n > 0 ? static_cast<std::size_t>(n) : 0);
  const std::size_t space = all.find(' ');
  if (space == std::string::npos) return {"unknown", ""};
  return {all.substr(0, space), all.substr(space + 1, all.find('\n') - space - 1)};
}

void sign(int fd, const Shard& shard) {
  const std::string text = std::to_string(::getpid()) + " " + std::to_string(shard.count) + "\n";
  if (::ftruncate(fd, 0) != 0 || ::pwrite(fd, text.data(), text.size(), 0) < 0) {
    // A full disk leaves the lock without a signature; it holds all the same.
  }
}

Error held(const std::string& folder, const std::string& pid, const std::string& how) {
  return Error{ErrorKind::Unavailable,
               "another run is at work in this folder (process " + pid + ")" + how, folder};
}

}  // namespace

Result<StoreLock> StoreLock::take(const std::string& folder, const Shard& shard) {
  StoreLock lock;
  // False: locks do not work here.
  const auto add = [&](const std::string& name, bool shared) -> Result<bool> {
    const std::string path = folder + "/" + name;
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0)
      return Error{
          ErrorKind::Unavailable,
          std::string("cannot be written, so no run can be kept in it: ") + std::strerror(errno),
          folder};
    lock.descriptors_.push_back(fd);
    Taken taken = try_lock(fd, LOCK_EX);
    if (taken == Taken::HeldByAnother && shared) {
      const Holder holder = holder_of(fd);
      taken = try_lock(fd, LOCK_SH);
      if (taken == Taken::Yes && holder.shards != std::to_string(shard.count))
        return held(folder, holder.pid,
                    ", in " + (holder.shards.empty() ? "some" : holder.shards) + " shards");
    } else if (taken == Taken::Yes) {
      sign(fd, shard);
      if (shared) taken = try_lock(fd, LOCK_SH);
    }
    if (taken == Taken::HeldByAnother) return held(folder, holder_of(fd).pid, "");
    return taken == Taken::Yes;
  };
  Result<bool> locked = add("run.lock", !shard.whole());
  if (locked && *locked && !shard.whole()) locked = add(shard.name() + ".lock", false);
  if (!locked) return locked.error();
  if (!*locked) {
    for (const int fd : std::exchange(lock.descriptors_, {})) ::close(fd);
  }
  return lock;
}

StoreLock::~StoreLock() {
  for (const int fd : descriptors_) ::close(fd);
}

}  // namespace unmask
