#include "rollout/episode_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/file.h"
#include "base/json_writer.h"
#include "environment/json.h"
#include "rollout/store_lines.h"
#include "trace/native_writer.h"

namespace unmask {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kSchema = "unmask.plan/1";

Error cannot(const std::string& doing, const std::string& path, int code) {
  return Error{ErrorKind::Unavailable,
               "cannot " + doing + ": " + std::strerror(code) + "; what was saved before is kept",
               path};
}

Result<Done> make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    return Error{ErrorKind::Unavailable, "cannot be created: " + error.message(), folder.string()};
  return Done{};
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

// A new file is safe when its folder is on the disk too.
void sync_folder(const fs::path& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  (void)::fsync(fd);
  ::close(fd);
}

std::string plan_text(const std::vector<Setting>& settings) {
  JsonWriter json(2);
  json.begin_object().field("schema", kSchema).key("settings").begin_object();
  for (const auto& [name, value] : settings) json.field(name, value);
  json.end_object().end_object();
  return json.take() + "\n";
}

Result<std::vector<Setting>> settings_in(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return std::vector<Setting>{};
  const Result<std::string> text = read_file(path);
  if (!text) return text.error();
  const Result<Value> json = parse_json(*text);
  const Value* schema = json ? json->find("schema") : nullptr;
  const Value* members = json ? json->find("settings") : nullptr;
  if (!schema || !schema->is_str() || schema->as_str() != kSchema || !members ||
      !members->is_dict())
    return Error{ErrorKind::Malformed, "is not what a run saves of its plan", path};
  std::vector<Setting> settings;
  for (std::size_t i = 0; i < members->size(); ++i)
    if ((*members)[i].is_str()) settings.emplace_back(members->key(i), (*members)[i].as_str());
  return settings;
}

std::string told(const std::vector<Drift>& drift) {
  std::string text;
  for (const Drift& each : drift)
    text += (text.empty() ? "" : "; ") + each.name + " was '" + each.saved + "', is '" +
            each.present + "'";
  return text;
}

bool has_episodes(const std::string& folder) {
  std::error_code error;
  const fs::path root = fs::path(folder) / "episodes";
  for (fs::recursive_directory_iterator it(root, error), end; !error && it != end;
       it.increment(error))
    if (it->path().extension() == ".jsonl") return true;
  return false;
}

// Compares with the plan saved in the folder and saves the union of the two. A plan by which
// nothing was played binds nobody; but other shards may be about to play by it.
Result<std::vector<Warning>> settle_plan(const StoreOptions& options) {
  const std::string path = options.folder + "/plan.json";
  Result<std::vector<Setting>> saved = settings_in(path);
  if (!saved) return saved.error();
  if (options.shard.whole() && !has_episodes(options.folder)) saved = std::vector<Setting>{};
  std::vector<Warning> warnings;
  const std::vector<Drift> drift = drift_between(*saved, options.settings);
  if (!drift.empty() && !options.allow_drift)
    return Error{ErrorKind::InvalidArgument,
                 "was begun with other settings: " + told(drift) +
                     " (--allow-drift goes on all the same, another 'out' begins anew)",
                 options.folder};
  if (!drift.empty())
    warnings.push_back({"settings_drifted",
                        "goes on with other settings than it was begun with: " + told(drift),
                        options.folder, static_cast<std::int64_t>(drift.size())});
  std::map<std::string, std::string> all(saved->begin(), saved->end());
  for (const auto& [name, value] : options.settings) all[name] = value;
  const std::vector<Setting> settings(all.begin(), all.end());
  if (settings == *saved) return warnings;
  const Result<Done> written = write_file(path, plan_text(settings));
  if (!written) return written.error();
  return warnings;
}

// Cuts off what a killed runner left half written in this shard's files.
Result<std::vector<Warning>> mend(const StoreOptions& options) {
  std::vector<Warning> warnings;
  std::error_code error;
  const fs::path root = fs::path(options.folder) / "episodes";
  if (!fs::exists(root, error)) return warnings;
  for (fs::recursive_directory_iterator it(root, error), end; !error && it != end;
       it.increment(error)) {
    if (it->path().filename() != options.shard.name() + ".jsonl") continue;
    const std::string path = it->path().string();
    const Result<std::string> text = read_file(path);
    if (!text) return text.error();
    const std::uint64_t whole = store_lines(*text).whole;
    if (whole == text->size()) continue;
    if (::truncate(path.c_str(), static_cast<off_t>(whole)) != 0)
      return cannot("cut off a torn line", path, errno);
    warnings.push_back({"torn_line",
                        "its last line was torn when a run was killed; it is cut off and its "
                        "episode played again",
                        path, 1});
  }
  if (error)
    return Error{ErrorKind::Unavailable, "cannot be read: " + error.message(), root.string()};
  return warnings;
}

}  // namespace

struct EpisodeStore::File {
  std::string path;
  int fd = -1;
  off_t length = 0;
  std::mutex mutex;

  ~File() {
    if (fd >= 0) ::close(fd);
  }

  // All of it on the disk, or none.
  Result<Done> add(std::string_view bytes) {
    struct stat status {};
    if (::fstat(fd, &status) == 0 && status.st_nlink == 0)
      return Error{ErrorKind::Unavailable, "was removed while the run wrote to it", path};
    if (write_all(fd, bytes) && ::fdatasync(fd) == 0) {
      length += static_cast<off_t>(bytes.size());
      return Done{};
    }
    const int code = errno;
    if (::ftruncate(fd, length) != 0) {
      // The next runner finds the torn line and cuts it off.
    }
    return cannot("save an episode", path, code);
  }
};

EpisodeStore::EpisodeStore(StoreOptions options, StoreLock lock)
    : options_(std::move(options)),
      lock_(std::move(lock)),
      mutex_(std::make_unique<std::mutex>()) {}

Result<std::vector<Setting>> read_settings(const std::string& folder) {
  return settings_in(folder + "/plan.json");
}

Result<std::vector<Warning>> EpisodeStore::settle(const std::vector<Setting>& settings) {
  StoreOptions more = options_;
  more.settings.insert(more.settings.end(), settings.begin(), settings.end());
  return settle_plan(more);
}

Result<EpisodeStore> EpisodeStore::open(const StoreOptions& options) {
  const Result<Done> made = make_folder(options.folder);
  if (!made) return made.error();
  Result<StoreLock> lock = StoreLock::take(options.folder, options.shard);
  if (!lock) return lock.error();
  EpisodeStore store(options, std::move(*lock));
  std::vector<Warning> warnings;
  if (store.lock_.unguarded())
    warnings.push_back({"no_lock",
                        "this file system knows no locks: see to it that no second run uses it",
                        options.folder, 1});
  for (const auto pass : {settle_plan, mend}) {
    const Result<std::vector<Warning>> more = pass(options);
    if (!more) return more.error();
    warnings.insert(warnings.end(), more->begin(), more->end());
  }
  Result<StoreContents> found = read_store(options.folder);
  if (!found) return found.error();
  store.found_ = std::move(*found);
  store.found_.warnings.insert(store.found_.warnings.begin(), warnings.begin(), warnings.end());
  return store;
}

Result<EpisodeStore::File*> EpisodeStore::file_for(const EpisodeKey& key, const RunInfo& info) {
  const fs::path folder =
      fs::path(options_.folder) / "episodes" / file_name_of(key.arm) / file_name_of(key.domain);
  const std::string path = (folder / (options_.shard.name() + ".jsonl")).string();
  const std::lock_guard<std::mutex> lock(*mutex_);
  const auto known = files_.find(path);
  if (known != files_.end()) return known->second.get();
  const Result<Done> made = make_folder(folder);
  if (!made) return made.error();
  auto file = std::make_shared<File>();
  file->path = path;
  file->fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file->fd < 0) return cannot("save an episode", path, errno);
  struct stat status {};
  if (::fstat(file->fd, &status) != 0) return cannot("save an episode", path, errno);
  file->length = status.st_size;
  if (file->length == 0) {
    const Result<Done> begun = file->add(native_header(info));
    if (!begun) return begun.error();
    sync_folder(folder);
  }
  return files_.emplace(path, std::move(file)).first->second.get();
}

Result<Done> EpisodeStore::append(const EpisodeKey& key, const RunInfo& info,
                                  const Episode& episode) {
  const Result<File*> file = file_for(key, info);
  if (!file) return file.error();
  const std::string line = native_episode(episode);
  const std::lock_guard<std::mutex> lock((*file)->mutex);
  return (*file)->add(line);
}

}  // namespace unmask
