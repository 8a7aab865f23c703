// The episodes of a run on disk: append-only, so that a run that is killed loses those in flight
// and nothing else.
//
//   FOLDER/plan.json                          the settings the run was begun with
//   FOLDER/run.lock                           held by the runner
//   FOLDER/episodes/ARM/DOMAIN/SHARD.jsonl    unmask.log/1, one line an episode (native_writer.h)
//
// A line is written and fsynced before its episode counts as done. There is no index: the lines are
// the truth. Files that shards wrote, here or in copies of the folder put together, are read as
// their union. The last line of a key counts; an infrastructure error never counts against an
// outcome, and is no reason not to play the episode again.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "rollout/episode_key.h"
#include "rollout/run_plan.h"
#include "rollout/store_lock.h"
#include "trace/episode.h"

namespace unmask {

// Where the line of an episode is.
struct StoredEpisode {
  std::size_t file = 0;  // index into StoreContents::files
  std::uint64_t offset = 0;
  std::uint64_t length = 0;  // with its newline
  bool infrastructure = false;
};

struct StoreContents {
  std::vector<std::string> files;
  std::map<EpisodeKey, StoredEpisode> episodes;  // the one that counts for each key
  std::vector<Warning> warnings;                 // "torn_line", "unreadable_line"

  bool done(const EpisodeKey& key) const;  // there, and no infrastructure error
};

// What a folder holds; nothing where it is absent. A line another runner is writing is passed over.
// Errors   Unavailable: cannot be read. Malformed: two files have different outcomes of one
//          episode; the sentence names it.
Result<StoreContents> read_store(const std::string& folder);

// The log of an arm in a domain as unmask.log/1: `info` and the episodes in the order of tasks and
// trials.
// Errors   Unavailable: cannot be read.
Result<std::string> stored_log(const StoreContents& contents, const RunInfo& info,
                               std::string_view arm, std::string_view domain);

// The settings a run was begun with; none where the folder has no plan.json.
// Errors   Unavailable, Malformed: plan.json cannot be read.
Result<std::vector<Setting>> read_settings(const std::string& folder);

struct StoreOptions {
  std::string folder;
  Shard shard;
  std::vector<Setting> settings;
  bool allow_drift = false;
};

class EpisodeStore {
 public:
  // Creates the folder, takes its lock, compares the settings with those it was begun with, cuts
  // off a torn last line of this shard's files.
  //
  // Errors   Unavailable: locked, read-only, full. InvalidArgument: the settings have drifted; the
  //          sentence names each. Those of read_store.
  static Result<EpisodeStore> open(const StoreOptions& options);

  // As it was when it was opened. "torn_line", "settings_drifted", "no_lock" are its warnings.
  const StoreContents& found() const { return found_; }

  // Adds settings that were found out after it was opened; as in StoreOptions, what has drifted is
  // refused.
  //
  // Errors   Those of open() but for the lock.
  Result<std::vector<Warning>> settle(const std::vector<Setting>& settings);

  // Returns when the episode is on the disk. After an error what was saved before is whole.
  //
  // Errors   Unavailable: cannot be written, disk full.
  // Threads  may be called from several at once.
  Result<Done> append(const EpisodeKey& key, const RunInfo& info, const Episode& episode);

 private:
  struct File;
  EpisodeStore(StoreOptions options, StoreLock lock);
  Result<File*> file_for(const EpisodeKey& key, const RunInfo& info);

  StoreOptions options_;
  StoreLock lock_;
  StoreContents found_;
  std::unique_ptr<std::mutex> mutex_;
  std::map<std::string, std::shared_ptr<File>> files_;  // by path
};

// A text as the name of one file or folder: letters, digits, '-', '_', inner '.'; anything else as
// %XX. Different texts have different names.
std::string file_name_of(std::string_view text);

}  // namespace unmask
