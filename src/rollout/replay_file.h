// A replay on disk while it is made: append-only and in one order, so that the same replay is the
// same bytes, whatever was ready first and however often it was broken off.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "rollout/replay_set.h"
#include "trace/replay.h"

namespace unmask {

// Replies are numbered in the file's order: for each context the arms in theirs, for each arm its
// samples.
struct ReplayPlace {
  std::size_t context = 0;  // index of the prepared contexts
  std::size_t arm = 0;
  int sample = 0;
};

// The place of a replay, held so that no other process works on it. A file that was not there
// before and has nothing in it is taken away again.
class ReplayLock {
 public:
  // Errors   Unavailable: cannot be written, or another process is at work on it. InvalidArgument:
  //          no ordinary file.
  static Result<ReplayLock> take(const std::string& path);
  ReplayLock(ReplayLock&& other) noexcept;
  ReplayLock& operator=(ReplayLock&&) = delete;
  ~ReplayLock();

  const std::string& path() const { return path_; }
  int descriptor() const { return fd_; }

 private:
  ReplayLock(std::string path, int fd, bool created)
      : path_(std::move(path)), fd_(fd), created_(created) {}

  std::string path_;
  int fd_ = -1;
  bool created_ = false;
};

// Threads  any number, after open().
class ReplayFile {
 public:
  // Takes up the file, or begins it. A torn last line is cut off. `contexts` must outlive it.
  //
  // Errors   Unavailable: cannot be written. InvalidArgument: it is of another replay; the sentence
  //          names what differs. Malformed, with the line: it is no replay, not of these contexts,
  //          or a reply has changed since it was written.
  static Result<std::unique_ptr<ReplayFile>> open(ReplayLock lock, const ReplayHead& head,
                                                  const std::vector<PreparedContext>& contexts);
  ReplayFile(const ReplayFile&) = delete;
  ReplayFile& operator=(const ReplayFile&) = delete;

  std::size_t total() const { return contexts_.size() * per_context_; }
  std::size_t found() const { return found_; }  // replies that were there when it was opened
  std::size_t number(const ReplayPlace& place) const;
  // Whether one of those was an answer of the arm.
  bool answered_before(std::size_t arm) const { return answered_[arm]; }

  // A reply that comes before its turn is kept until those before it are there. A reply with
  // another number than its own is the caller's mistake.
  //
  // Errors   Unavailable: cannot be written; what was written before is kept.
  Result<Done> put(std::size_t number, const ReplayReply& reply);

  std::size_t written() const;  // replies, with those that were found
  // On the disk. Errors   Unavailable.
  Result<Done> sync();

 private:
  ReplayFile(ReplayLock lock, ReplayHead head, const std::vector<PreparedContext>& contexts);
  Result<Done> take_up();
  Result<Done> check_head(std::string_view line) const;
  bool has_changed(std::string_view reply_line) const;
  bool take_up_reply(std::string_view line);
  // `due`: the line of a context or of tools that is written next; empty where a reply is.
  std::string misfit(std::string_view line, std::size_t number, std::string_view due) const;
  std::string due() const;
  std::string_view take_up_lines(std::string_view rest, std::optional<Error>& error);
  Result<Done> append(std::string_view bytes);

  ReplayLock lock_;
  std::string path_;
  ReplayHead head_;
  const std::vector<PreparedContext>& contexts_;
  std::size_t per_context_;
  std::size_t found_ = 0;
  std::vector<bool> answered_;  // by arm
  int fd_;
  bool checked_ = true;  // replies have a check; not where an earlier version began the file

  mutable std::mutex mutex_;                    // of what is below
  std::size_t next_ = 0;                        // number of the reply that is written next
  bool context_written_ = false;                // so is the context of that reply
  std::map<std::size_t, std::string> waiting_;  // lines by number
};

}  // namespace unmask
