// Reading a run's folder: which lines there are, and which of them count.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>

#include "base/file.h"
#include "environment/json.h"
#include "rollout/episode_store.h"
#include "rollout/store_lines.h"
#include "trace/native_writer.h"

namespace unmask {

namespace fs = std::filesystem;

namespace {

std::optional<std::string> text_of_name(std::string_view name) {
  const auto digit = [](char c) {
    const std::size_t at = std::string_view("0123456789ABCDEF").find(c);
    return at == std::string_view::npos ? -1 : static_cast<int>(at);
  };
  std::string text;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '%') {
      text += name[i];
      continue;
    }
    const int high = i + 2 < name.size() ? digit(name[i + 1]) : -1;
    const int low = high >= 0 ? digit(name[i + 2]) : -1;
    if (low < 0) return std::nullopt;
    text += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return text;
}

std::string bytes_at(const std::string& path, const StoredEpisode& episode) {
  std::ifstream in(path, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(episode.offset));
  std::string bytes(episode.length, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (in.gcount() != static_cast<std::streamsize>(bytes.size())) bytes.clear();
  return bytes;
}

Error conflict(const StoreContents& contents, const EpisodeKey& key, const StoredEpisode& a,
               const StoredEpisode& b) {
  return Error{ErrorKind::Malformed,
               "has another outcome of one episode (" + to_string(key) + ") than " +
                   contents.files[a.file] + ": remove one of the two lines",
               contents.files[b.file]};
}

// Takes up `episode` where it counts more than what is there.
std::optional<Error> add(StoreContents& contents, const EpisodeKey& key,
                         const StoredEpisode& episode) {
  const auto [found, added] = contents.episodes.emplace(key, episode);
  if (added || episode.infrastructure) {
    const bool later = !added && found->second.infrastructure;
    if (later) found->second = episode;
    return std::nullopt;
  }
  StoredEpisode& before = found->second;
  const bool settled = !before.infrastructure && before.file != episode.file;
  if (settled && bytes_at(contents.files[before.file], before) !=
                     bytes_at(contents.files[episode.file], episode))
    return conflict(contents, key, before, episode);
  if (!settled) before = episode;
  return std::nullopt;
}

std::optional<Error> read_log(StoreContents& contents, const std::string& path,
                              const std::string& arm, const std::string& domain) {
  const Result<std::string> text = read_file(path);
  if (!text) return text.error();
  const StoreLines lines = store_lines(*text);
  if (lines.unreadable > 0)
    contents.warnings.push_back({"unreadable_line",
                                 "has lines that are no episodes; those episodes are played again",
                                 path, static_cast<std::int64_t>(lines.unreadable)});
  contents.files.push_back(path);
  for (const StoreLine& line : lines.episodes) {
    const EpisodeKey key{arm, domain, line.task, line.trial};
    const StoredEpisode episode{contents.files.size() - 1, line.offset, line.length,
                                line.infrastructure};
    if (std::optional<Error> error = add(contents, key, episode)) return error;
  }
  return std::nullopt;
}

// Sorted, so that what is read does not depend on the file system.
Result<std::vector<fs::path>> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    entries.push_back(it->path());
  if (error)
    return Error{ErrorKind::Unavailable, "cannot be read: " + error.message(), folder.string()};
  std::sort(entries.begin(), entries.end());
  return entries;
}

}  // namespace

namespace {

// JSON holds none as they are, so a line with one is damaged: a machine that went down can leave
// blocks of zeros in the middle of a file.
bool has_control_byte(std::string_view line) {
  return std::any_of(line.begin(), line.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20; });
}

}  // namespace

StoreLines store_lines(std::string_view text) {
  constexpr std::string_view kRest = ", \"messages\": [";
  StoreLines lines;
  std::size_t begin = std::min(text.find('\n'), text.size());
  lines.whole = begin = begin == text.size() ? 0 : begin + 1;  // after the header
  while (begin < text.size() && lines.whole > 0) {
    const std::size_t newline = text.find('\n', begin);
    if (newline == std::string_view::npos) break;
    const std::string_view line = text.substr(begin, newline - begin);
    const bool last = newline + 1 == text.size();
    // The members in front of the messages are enough, but what was written last may be damaged.
    const std::size_t cut = last ? std::string_view::npos : line.find(kRest);
    const bool whole = !line.empty() && line.back() == '}' && !has_control_byte(line);
    const Result<Value> head = parse_json(
        cut == std::string_view::npos ? std::string(line) : std::string(line.substr(0, cut)) + "}");
    const Value* task = head ? head->find("task_id") : nullptr;
    const Value* trial = head ? head->find("trial") : nullptr;
    const Value* termination = head ? head->find("termination") : nullptr;
    const bool readable = whole && task && task->is_str() && trial && trial->kind() == Kind::Int &&
                          termination && termination->is_str();
    if (readable)
      lines.episodes.push_back(
          {task->as_str(), static_cast<int>(trial->as_int()),
           termination->as_str() == to_string(Termination::InfrastructureError), begin,
           newline + 1 - begin});
    else if (last)
      break;
    else
      ++lines.unreadable;
    begin = lines.whole = newline + 1;
  }
  return lines;
}

bool StoreContents::done(const EpisodeKey& key) const {
  const auto found = episodes.find(key);
  return found != episodes.end() && !found->second.infrastructure;
}

Result<StoreContents> read_store(const std::string& folder) {
  StoreContents contents;
  const fs::path root = fs::path(folder) / "episodes";
  std::error_code error;
  if (!fs::exists(root, error)) return contents;
  const Result<std::vector<fs::path>> arms = entries_of(root);
  if (!arms) return arms.error();
  for (const fs::path& arm_folder : *arms) {
    const std::optional<std::string> arm = text_of_name(arm_folder.filename().string());
    if (!arm || !fs::is_directory(arm_folder, error)) continue;
    const Result<std::vector<fs::path>> domains = entries_of(arm_folder);
    if (!domains) return domains.error();
    for (const fs::path& domain_folder : *domains) {
      const std::optional<std::string> domain = text_of_name(domain_folder.filename().string());
      if (!domain || !fs::is_directory(domain_folder, error)) continue;
      const Result<std::vector<fs::path>> logs = entries_of(domain_folder);
      if (!logs) return logs.error();
      for (const fs::path& log : *logs) {
        if (log.extension() != ".jsonl") continue;
        std::optional<Error> problem = read_log(contents, log.string(), *arm, *domain);
        if (problem) return *problem;
      }
    }
  }
  return contents;
}

Result<std::string> stored_log(const StoreContents& contents, const RunInfo& info,
                               std::string_view arm, std::string_view domain) {
  std::string log = native_header(info);
  for (const auto& [key, episode] : contents.episodes) {
    if (key.arm != arm || key.domain != domain) continue;
    const std::string line = bytes_at(contents.files[episode.file], episode);
    if (line.empty())
      return Error{ErrorKind::Unavailable, "cannot be read: " + to_string(key) + " is gone",
                   contents.files[episode.file]};
    log += line;
  }
  return log;
}

std::string file_name_of(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || (c == '.' && !name.empty());
    if (plain) {
      name += c;
      continue;
    }
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    const auto byte = static_cast<unsigned char>(c);
    name += '%';
    name += kDigits[byte / 16];
    name += kDigits[byte % 16];
  }
  return name;
}

}  // namespace unmask
