#include "app/gate_toml.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "app/plan_keys.h"
#include "base/file.h"
#include "base/units.h"

namespace unmask {
namespace {

constexpr double kMostAmplification = 1e6;
constexpr std::uint64_t kMostBytes = 1 << 20;

const Names kGateKeys = {"fail",
                         "inconclusive",
                         "ungraded",
                         "fragile",
                         "incomplete",
                         "basis",
                         "require_equivalence",
                         "min_success_tight_percent",
                         "min_tasks",
                         "min_trials",
                         "min_episodes",
                         "max_amplification",
                         "max_increase_points"};

constexpr std::array<Verdict, 4> kFailable = {Verdict::DegradedAndMasked, Verdict::Degraded,
                                              Verdict::Masked, Verdict::Amplified};

std::string wrong_word(std::string_view key, const std::string& word, const Names& words) {
  return fmt::format("'{}' must be one of {}, not '{}'{}", key, fmt::join(words, ", "), word,
                     did_you_mean(word, words));
}

// One of a few words; `values[i]` is meant by `words[i]`.
template <typename Value, std::size_t N>
void read_word(Keys& keys, std::string_view key, const std::array<Value, N>& values,
               Value& target) {
  const TomlValue* node = keys.find(key);
  if (node == nullptr) return;
  const std::optional<std::string> word = node->as_text();
  Names words;
  for (const Value value : values) {
    words.emplace_back(to_string(value));
    if (words.back() == word) {
      target = value;
      return;
    }
  }
  keys.wrong(*node, word && is_plain(*word)
                        ? wrong_word(key, *word, words)
                        : fmt::format("'{}' must be one of {}", key, fmt::join(words, ", ")));
}

bool is_list_of_texts(const TomlValue& node) {
  return node.kind == TomlValue::Kind::List &&
         std::all_of(node.items.begin(), node.items.end(),
                     [](const TomlValue& item) { return item.as_text().has_value(); });
}

void read_fail(Keys& keys, GateCriteria& criteria) {
  const TomlValue* node = keys.find("fail");
  if (node == nullptr) return;
  criteria.fail.clear();
  Names words;
  for (const Verdict verdict : kFailable) words.emplace_back(to_string(verdict));
  if (!is_list_of_texts(*node)) {
    keys.wrong(*node, fmt::format("'fail' must be a list of verdicts ({}), as in fail = "
                                  "[\"masked\"], or [] for none",
                                  fmt::join(words, ", ")));
    return;
  }
  if (node->items.empty()) return;  // no verdict fails
  for (const std::string& word : keys.texts("fail")) {
    const auto found = std::find(words.begin(), words.end(), word);
    if (found != words.end()) {
      criteria.fail.insert(kFailable[static_cast<std::size_t>(found - words.begin())]);
      continue;
    }
    keys.wrong(*node, word == to_string(Verdict::Inconclusive)
                          ? std::string("what 'inconclusive' means has a key of its own: "
                                        "inconclusive = \"fail\"")
                          : wrong_word("fail", word, words));
  }
}

// A table of channels and numbers.
void read_channels(Keys& keys, std::string_view key, double least, double most, double scale,
                   Complaints& complaints, std::map<Channel, double>& limits) {
  const TomlValue* node = keys.find(key);
  if (node == nullptr) return;
  if (node->kind != TomlValue::Kind::Table) {
    keys.wrong(*node, fmt::format("'{}' must be a table of channels and limits: [{}], then for "
                                  "example tool_name = 1.5",
                                  key, key));
    return;
  }
  Names channels;
  for (const Channel channel : kFailureChannels) channels.emplace_back(to_string(channel));
  const std::string owner = fmt::format("[{}]", key);
  for (const auto& [name, value] : node->members)
    if (std::find(channels.begin(), channels.end(), name) == channels.end())
      complaints.add(value, fmt::format("{} has no channel '{}'{}; there are {}", owner,
                                        is_plain(name) ? name : "?", did_you_mean(name, channels),
                                        fmt::join(channels, ", ")));
  Keys of_channels(owner, channels, {node}, complaints);
  for (const Channel channel : kFailureChannels)
    if (const std::optional<double> limit = of_channels.number(to_string(channel), least, most))
      limits[channel] = *limit / scale;
}

void read_count(Keys& keys, std::string_view key, std::optional<long>& target) {
  if (const std::optional<std::int64_t> count = keys.whole(key, 1, 1000000000))
    target = static_cast<long>(*count);
}

}  // namespace

Result<GateCriteria> parse_gate(std::string_view toml, const std::string& file) {
  const Result<TomlValue> root = read_toml_tree(toml, file);
  if (!root) return root.error();
  Complaints complaints;
  const std::string owner = "a gate";
  Keys::check(owner, kGateKeys, *root, complaints);
  Keys keys(owner, kGateKeys, {&*root}, complaints);
  GateCriteria criteria;
  criteria.name = file;
  read_fail(keys, criteria);
  constexpr std::array kMeanings = {GateStatus::Pass, GateStatus::Inconclusive, GateStatus::Fail};
  read_word(keys, "inconclusive", kMeanings, criteria.inconclusive);
  read_word(keys, "ungraded", kMeanings, criteria.ungraded);
  read_word(keys, "fragile", kMeanings, criteria.fragile);
  read_word(keys, "incomplete", kMeanings, criteria.incomplete);
  read_word(keys, "basis", std::array{GateBasis::Estimate, GateBasis::Confidence}, criteria.basis);
  keys.flag("require_equivalence", criteria.require_equivalence);
  if (const std::optional<double> percent = keys.number("min_success_tight_percent", 0, 100))
    criteria.min_success_tight = from_points(*percent);
  read_count(keys, "min_tasks", criteria.min_tasks);
  read_count(keys, "min_trials", criteria.min_trials);
  read_count(keys, "min_episodes", criteria.min_episodes);
  read_channels(keys, "max_amplification", 0, kMostAmplification, 1, complaints,
                criteria.max_amplification);
  read_channels(keys, "max_increase_points", -100, 100, kPointsPerUnit, complaints,
                criteria.max_increase);
  if (complaints.first()) return *complaints.first();
  return criteria;
}

Result<GateCriteria> read_gate(const std::string& path) {
  const Result<std::string> text = read_file(path, kMostBytes);
  if (!text) return text.error();
  return parse_gate(*text, path);
}

}  // namespace unmask
