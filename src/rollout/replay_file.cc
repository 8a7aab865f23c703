#include "rollout/replay_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/file.h"
#include "environment/json.h"
#include "rollout/run_plan.h"
#include "trace/replay_writer.h"

namespace unmask {

namespace {

Error cannot(const std::string& doing, const std::string& path) {
  return Error{ErrorKind::Unavailable,
               "cannot " + doing + ": " + std::strerror(errno) + "; what was saved before is kept",
               path};
}

std::string text_of(const Value& json, std::string_view name) {
  const Value* member = json.find(name);
  return member && member->is_str() ? member->as_str() : "";
}

std::int64_t whole_of(const Value& json, std::string_view name) {
  const Value* member = json.find(name);
  return member && member->kind() == Kind::Int ? member->as_int() : 0;
}

bool flag_of(const Value& json, std::string_view name) {
  const Value* member = json.find(name);
  return member && member->is_bool() && member->as_bool();
}

// What must be the same for a replay to go on. The command and the version may be others.
std::vector<Setting> settings_of(const ReplayHead& head) {
  std::vector<Setting> settings = {{"log", head.log},
                                   {"format", head.format},
                                   {"domain", head.domain},
                                   {"seed", std::to_string(head.seed)},
                                   {"samples", std::to_string(head.samples)},
                                   {"greedy", head.greedy ? "true" : "false"},
                                   {"eligible decisions", std::to_string(head.eligible)},
                                   {"selected decisions", std::to_string(head.selected)}};
  std::string labels;
  for (const ReplayArm& arm : head.arms) {
    labels += (labels.empty() ? "" : ", ") + arm.label;
    const std::string owner = "arm '" + arm.label + "' ";
    settings.emplace_back(owner + "precision", arm.precision);
    settings.emplace_back(owner + "model", arm.model);
    settings.emplace_back(owner + "settings", arm.settings);
    settings.emplace_back(owner + "repeats", arm.repeats);
    if (arm.baseline) settings.emplace_back("baseline", arm.label);
  }
  settings.emplace_back("arms", labels);
  return settings;
}

std::optional<ReplayHead> head_of(const Value& json) {
  if (text_of(json, "schema") != kReplaySchema) return std::nullopt;
  ReplayHead head;
  head.log = text_of(json, "log");
  head.format = text_of(json, "format");
  head.domain = text_of(json, "domain");
  head.seed = static_cast<std::uint64_t>(whole_of(json, "seed"));
  head.samples = static_cast<int>(whole_of(json, "samples"));
  head.greedy = flag_of(json, "greedy");
  head.eligible = whole_of(json, "eligible");
  head.selected = whole_of(json, "selected");
  const Value* arms = json.find("arms");
  if (!arms || !arms->is_list()) return std::nullopt;
  for (const Value& arm : arms->items())
    head.arms.push_back({text_of(arm, "label"), text_of(arm, "precision"), text_of(arm, "model"),
                         text_of(arm, "settings"), flag_of(arm, "baseline"),
                         text_of(arm, "repeats")});
  return head;
}

// How a line of tools or of a context differs from the one that is due.
std::string difference(const Value& found, std::string_view due_line) {
  const Result<Value> due = parse_json(due_line);
  if (!due) return "is not what is written here";
  const bool tools = text_of(found, "kind") == "tools";
  const std::string id = text_of(*due, "id");
  if (text_of(*due, "kind") == "tools") {
    if (!tools) return "stands where a list of tools is due: the line of the tools is missing";
    return "is not the list of tools that the log gives here: the tools have changed since, or "
           "this line has";
  }
  if (tools) return fmt::format("is a list of tools where the context '{}' is due", id);
  if (text_of(found, "id") != id)
    return fmt::format(
        "is the context '{}' where '{}' is due: lines of the file are missing, doubled or out of "
        "order",
        text_of(found, "id"), id);
  if (text_of(found, "sha256") != text_of(*due, "sha256"))
    return fmt::format(
        "has another SHA-256 of its messages and tools than the context '{}' that the log gives "
        "here: the log, its prompts or tools have changed since, or this line has",
        id);
  return fmt::format(
      "is not written as the context '{}' that the log gives here, though messages and tools are "
      "the same: this line has changed, or what the log says beside them",
      id);
}

// Whether there are replies and none has a check: an earlier version wrote them.
bool has_replies_without_check_only(std::string_view lines) {
  constexpr std::string_view kReply = "{\"kind\": \"reply\"";
  bool any = false;
  while (!lines.empty()) {
    const std::size_t end = lines.find('\n');
    if (end == std::string_view::npos) break;  // torn
    const std::string_view line = lines.substr(0, end);
    lines.remove_prefix(end + 1);
    if (!line.starts_with(kReply)) continue;
    if (is_as_written(line)) return false;
    any = true;
  }
  return any;
}

}  // namespace

Result<ReplayLock> ReplayLock::take(const std::string& path) {
  for (;;) {
    const bool there = ::access(path.c_str(), F_OK) == 0;
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd < 0) return cannot("write the replay", path);
    ReplayLock lock(path, fd, false);
    struct stat opened = {};
    if (::fstat(fd, &opened) != 0) return cannot("look at the replay", path);
    if (!S_ISREG(opened.st_mode))
      return Error{ErrorKind::InvalidArgument, "is no ordinary file: choose another with --out",
                   path};
    int locked = 0;
    do locked = ::flock(fd, LOCK_EX | LOCK_NB);
    while (locked != 0 && errno == EINTR);
    if (locked != 0 && errno == EWOULDBLOCK)
      return Error{ErrorKind::Unavailable,
                   "another replay is at work on this file: wait for it, or choose another with "
                   "--out",
                   path};
    // One that gave up may have taken its empty file away between the two.
    struct stat present = {};
    if (::stat(path.c_str(), &present) != 0 || present.st_ino != opened.st_ino) continue;
    lock.created_ = !there;
    return lock;
  }
}

ReplayLock::ReplayLock(ReplayLock&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::exchange(other.fd_, -1)),
      created_(std::exchange(other.created_, false)) {}

ReplayLock::~ReplayLock() {
  if (fd_ < 0) return;
  struct stat found = {};
  if (created_ && ::fstat(fd_, &found) == 0 && found.st_size == 0) ::unlink(path_.c_str());
  ::close(fd_);
}

ReplayFile::ReplayFile(ReplayLock lock, ReplayHead head,
                       const std::vector<PreparedContext>& contexts)
    : lock_(std::move(lock)),
      path_(lock_.path()),
      head_(std::move(head)),
      contexts_(contexts),
      per_context_(head_.arms.size() * static_cast<std::size_t>(head_.samples)),
      answered_(head_.arms.size(), false),
      fd_(lock_.descriptor()) {}

Result<std::unique_ptr<ReplayFile>> ReplayFile::open(ReplayLock lock, const ReplayHead& head,
                                                     const std::vector<PreparedContext>& contexts) {
  std::unique_ptr<ReplayFile> file(new ReplayFile(std::move(lock), head, contexts));
  const Result<Done> taken = file->take_up();
  if (!taken) return taken.error();
  return file;
}

std::size_t ReplayFile::number(const ReplayPlace& place) const {
  return place.context * per_context_ + place.arm * static_cast<std::size_t>(head_.samples) +
         static_cast<std::size_t>(place.sample);
}

Result<Done> ReplayFile::check_head(std::string_view line) const {
  const Result<Value> json = parse_json(line);
  const std::optional<ReplayHead> saved = json ? head_of(*json) : std::nullopt;
  if (!saved)
    return Error{ErrorKind::Malformed, "is there and is no replay: choose another file with --out",
                 path_ + ":1"};
  std::string told;
  for (const Drift& each : drift_between(settings_of(*saved), settings_of(head_)))
    told += (told.empty() ? "" : "; ") + each.name + " was '" + each.saved + "', is '" +
            each.present + "'";
  if (told.empty()) return Done{};
  return Error{ErrorKind::InvalidArgument,
               "is of a replay with other settings: " + told + " (--out FILE begins another)",
               path_};
}

// By its check; a reply without one is of an earlier version where the whole file has none.
bool ReplayFile::has_changed(std::string_view reply_line) const {
  return !is_as_written(reply_line).value_or(!checked_);
}

// Whether the line is the reply whose turn it is.
bool ReplayFile::take_up_reply(std::string_view line) {
  const Result<Value> json = parse_json(line);
  if (!json || text_of(*json, "kind") != "reply") return false;
  const auto samples = static_cast<std::size_t>(head_.samples);
  const std::size_t arm = next_ % per_context_ / samples;
  if (text_of(*json, "context") != contexts_[next_ / per_context_].id ||
      text_of(*json, "arm") != head_.arms[arm].label ||
      whole_of(*json, "sample") != static_cast<std::int64_t>(next_ % samples) || has_changed(line))
    return false;
  if (text_of(*json, "error").empty()) answered_[arm] = true;
  ++next_;
  context_written_ = next_ % per_context_ != 0;
  return true;
}

// Why the line with that number, the first that is not what this replay would have written, is not.
std::string ReplayFile::misfit(std::string_view line, std::size_t number,
                               std::string_view due_line) const {
  const std::string cure = fmt::format(
      "; cut the file off before line {} (head -n {}) and the same command goes on from there, or "
      "--out FILE begins another",
      number, number - 1);
  if (next_ == total())
    return "follows the last line of this replay: something else was added to the file" + cure;
  const Result<Value> json = parse_json(line);
  const std::string kind = json ? text_of(*json, "kind") : "";
  if (kind != "tools" && kind != "context" && kind != "reply")
    return "is no line of a replay: the file itself is damaged there" + cure;
  if (kind == "reply" && has_changed(line))
    return std::string("is a reply that has changed since it was written: ") +
           (is_as_written(line) ? "its check does not fit"
                                : "it has no check, as other replies of the file have") +
           cure;
  const bool of_context = kind != "reply";
  if (of_context != !context_written_ || !of_context)
    return fmt::format(
               "is of the kind {} where {} is due: lines of the file are missing, doubled or out "
               "of order",
               kind, due()) +
           cure;
  if (line.ends_with('\r') && line.substr(0, line.size() - 1) == due_line)
    return "ends with CR LF where this program writes LF: the file was converted; tr -d '\\r' "
           "makes "
           "it what it was, or --out FILE begins another";
  return difference(*json, due_line) + cure;
}

// What is written next, in words.
std::string ReplayFile::due() const {
  if (!context_written_) return "a context";
  const auto samples = static_cast<std::size_t>(head_.samples);
  return fmt::format("the reply of '{}', sample {}, to the context before it",
                     head_.arms[next_ % per_context_ / samples].label, next_ % samples);
}

// The lines after the first, as far as they are what would be written; returns what is left.
std::string_view ReplayFile::take_up_lines(std::string_view rest, std::optional<Error>& error) {
  std::size_t line = 2;
  std::string_view due;
  while (!rest.empty() && next_ < total()) {
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) return rest;
    const bool last = end + 1 == rest.size();
    std::size_t length = end + 1;
    due = {};
    if (!context_written_) {
      const std::string& expected = contexts_[next_ / per_context_].written;
      const bool whole = rest.starts_with(expected);
      // Cut between the line of the tools and that of the context, or within one.
      if (!whole && std::string_view(expected).starts_with(rest)) return rest;
      if (!whole && last && !parse_json(rest.substr(0, end))) return rest;
      if (!whole) {
        // Of the two lines, the one that differs.
        due = expected;
        if (due.starts_with(rest.substr(0, length))) {
          rest.remove_prefix(length);
          due.remove_prefix(length);
          ++line;
        }
        due = due.substr(0, due.find('\n'));
        break;
      }
      context_written_ = true;
      length = expected.size();
    } else if (!take_up_reply(rest.substr(0, end))) {
      // Damaged by what ended the process, or of something else.
      if (last && !parse_json(rest.substr(0, end))) return rest;
      break;
    }
    for (const char c : rest.substr(0, length)) line += c == '\n' ? 1 : 0;
    rest.remove_prefix(length);
  }
  if (!rest.empty())
    error = Error{ErrorKind::Malformed, misfit(rest.substr(0, rest.find('\n')), line, due),
                  path_ + ":" + std::to_string(line)};
  return rest;
}

Result<Done> ReplayFile::take_up() {
  const Result<std::string> text = read_file(path_);
  if (!text) return text.error();
  const std::size_t head_end = text->find('\n');
  if (head_end == std::string::npos) {
    const std::string line = replay_line(head_);
    constexpr std::string_view kBegins = "{\"schema\": \"unmask.replay/1\"";
    if (!kBegins.starts_with(std::string_view(*text).substr(0, kBegins.size())))
      return Error{ErrorKind::Malformed,
                   "is there and is no replay: choose another file with --out", path_};
    if (::ftruncate(fd_, 0) != 0) return cannot("begin the replay", path_);
    return append(line);
  }
  const std::string_view all = *text;
  const Result<Done> same = check_head(all.substr(0, head_end));
  if (!same) return same;
  checked_ = !has_replies_without_check_only(all.substr(head_end + 1));
  std::optional<Error> error;
  const std::string_view left = take_up_lines(all.substr(head_end + 1), error);
  if (error) return *error;
  found_ = next_;
  if (!left.empty() && ::ftruncate(fd_, static_cast<off_t>(all.size() - left.size())) != 0)
    return cannot("cut off a torn line", path_);
  return Done{};
}

Result<Done> ReplayFile::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return cannot("save a reply", path_);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return Done{};
}

Result<Done> ReplayFile::put(std::size_t number, const ReplayReply& reply) {
  std::string line = checked_ ? replay_line(reply) : unchecked_replay_line(reply);
  const std::lock_guard<std::mutex> lock(mutex_);
  UNMASK_CHECK(number >= next_ && number < total());
  waiting_.emplace(number, std::move(line));
  std::string ready;
  while (!waiting_.empty() && waiting_.begin()->first == next_) {
    if (!context_written_) ready += contexts_[next_ / per_context_].written;
    ready += waiting_.begin()->second;
    waiting_.erase(waiting_.begin());
    ++next_;
    context_written_ = next_ % per_context_ != 0;
  }
  if (ready.empty()) return Done{};
  return append(ready);
}

std::size_t ReplayFile::written() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return next_;
}

Result<Done> ReplayFile::sync() {
  // Not every place a file can be knows how: /dev/full and pipes do not.
  if (::fsync(fd_) != 0 && errno != EINVAL && errno != EROFS) return cannot("save replies", path_);
  return Done{};
}

}  // namespace unmask
