// One runner at a time on a run's folder, or on each shard of it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "rollout/episode_key.h"

namespace unmask {

// Held until it is destroyed, or the process ends in whatever way (flock).
//
// A runner of the whole plan keeps everyone else out; shards of one number live together, each
// once.
class StoreLock {
 public:
  // Errors   Unavailable: held by another (the sentence has its process id), or the folder cannot
  //          be written.
  static Result<StoreLock> take(const std::string& folder, const Shard& shard);

  StoreLock(StoreLock&& other) noexcept : descriptors_(std::move(other.descriptors_)) {
    other.descriptors_.clear();
  }
  StoreLock& operator=(StoreLock&& other) noexcept {
    descriptors_.swap(other.descriptors_);
    return *this;
  }
  ~StoreLock();

  // The file system knows no locks: nobody is kept out.
  bool unguarded() const { return descriptors_.empty(); }

 private:
  StoreLock() = default;
  std::vector<int> descriptors_;
};

}  // namespace unmask
