#include "rollout/replay_tally.h"

#include <map>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "environment/json.h"

namespace unmask {

namespace {

std::string member_text(const Value& json, std::string_view name) {
  const Value* member = json.find(name);
  return member && member->is_str() ? member->as_str() : "";
}

std::span<const Value> member_list(const Value& json, std::string_view name) {
  const Value* member = json.find(name);
  return member && member->is_list() ? member->items() : std::span<const Value>();
}

// The same text for the same calls, whatever the order and spacing of their arguments.
std::string action_of(const Value& reply) {
  std::string action;
  for (const Value& call : member_list(reply, "calls")) {
    const std::string arguments = member_text(call, "arguments");
    const Result<Value> read = parse_json(arguments);
    action += member_text(call, "name") + '\0';
    action += read ? dump_json(*read, KeyOrder::Sorted) : arguments;
    action += '\0';
  }
  return action;
}

class TallyReader {
 public:
  bool take(const Value& line) {
    const std::string kind = member_text(line, "kind");
    if (kind == "replay") {
      for (const Value& arm : member_list(line, "arms")) {
        const Value* baseline = arm.find("baseline");
        tallies_.push_back({member_text(arm, "label"), baseline && baseline->is_bool(), 0, 0, 0});
      }
      return true;
    }
    if (kind == "context") compare();
    return kind == "context" || kind == "tools" || (kind == "reply" && take_reply(line));
  }

  std::vector<ReplayTally> finish() && {
    compare();
    return std::move(tallies_);
  }

 private:
  bool take_reply(const Value& line) {
    const std::string label = member_text(line, "arm");
    std::size_t arm = 0;
    while (arm < tallies_.size() && tallies_[arm].label != label) ++arm;
    if (arm == tallies_.size()) return false;
    ReplayTally& tally = tallies_[arm];
    if (!member_text(line, "error").empty()) {
      ++tally.errors;
      return true;
    }
    ++tally.replies;
    tally.calls += static_cast<long>(member_list(line, "calls").size());
    if (member_text(line, "sub_kind") == to_string(SubKind::LeakedMarkup)) ++tally.calls;
    const std::string channel = member_text(line, "channel");
    for (std::size_t i = 0; i < kReplayChannels.size(); ++i)
      if (channel == to_string(kReplayChannels[i])) ++tally.failures[i];
    const Value* sample = line.find("sample");
    actions_[{arm, sample && sample->kind() == Kind::Int ? sample->as_int() : 0}] = action_of(line);
    return true;
  }

  // The replies to one context with the baseline's.
  void compare() {
    for (const auto& [place, action] : actions_) {
      for (std::size_t base = 0; base < tallies_.size(); ++base) {
        if (!tallies_[base].baseline) continue;
        const auto found = actions_.find({base, place.second});
        if (found == actions_.end()) continue;
        ++tallies_[place.first].compared;
        if (found->second == action) ++tallies_[place.first].same;
      }
    }
    actions_.clear();
  }

  std::vector<ReplayTally> tallies_;
  std::map<std::pair<std::size_t, std::int64_t>, std::string> actions_;  // by arm and sample
};

}  // namespace

Result<std::vector<ReplayTally>> tally_replay(const std::string& path) {
  const Result<std::string> text = read_file(path);
  if (!text) return text.error();
  TallyReader reader;
  std::string_view rest = *text;
  for (std::size_t line = 1; !rest.empty(); ++line) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const Result<Value> json = parse_json(rest.substr(0, end));
    if (!json || !reader.take(*json))
      return Error{ErrorKind::Malformed, "is no line of a replay",
                   path + ":" + std::to_string(line)};
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return std::move(reader).finish();
}

}  // namespace unmask
