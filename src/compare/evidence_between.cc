// What two arms should share, and whether they do.

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/units.h"
#include "compare/evidence.h"
#include "compare/same_text.h"

namespace unmask {
namespace {

using Warnings = std::vector<Warning>;

std::string shown(const std::string& value) {
  constexpr std::size_t kLongest = 80;
  if (value.empty()) return "nothing";
  if (value.size() <= kLongest) return value;
  std::size_t end = kLongest;
  while (end > 0 && (static_cast<unsigned char>(value[end]) & 0xC0) == 0x80) --end;
  return value.substr(0, end) + "...";
}

void warn_if_both_differ(const std::string& baseline, const std::string& candidate,
                         const char* code, const std::string& what, Warnings& out) {
  if (baseline.empty() || candidate.empty() || baseline == candidate) return;
  out.push_back({code,
                 "The arms differ in " + what + ": baseline " + shown(baseline) + ", candidate " +
                     shown(candidate) + ".",
                 "", 1});
}

std::string text_of(const std::optional<int>& value) {
  return value ? std::to_string(*value) : "none";
}

// Where a model is reached and as whom is no property of the sampling.
bool is_address(const std::string& key) {
  static constexpr std::array<std::string_view, 6> kAddresses = {
      "api_base", "api_key", "base_url", "api_version", "custom_llm_provider", "model"};
  return std::find(kAddresses.begin(), kAddresses.end(), key) != kAddresses.end();
}

// Names of the settings that differ, with both values; a text that is no JSON object is one
// setting.
std::vector<std::string> differing_settings(const std::string& baseline,
                                            const std::string& candidate) {
  using Json = nlohmann::json;
  const Json b = baseline.empty() ? Json::object() : Json::parse(baseline, nullptr, false);
  const Json c = candidate.empty() ? Json::object() : Json::parse(candidate, nullptr, false);
  if (!b.is_object() || !c.is_object()) {
    return {shown(baseline) + " against " + shown(candidate)};
  }
  std::set<std::string> keys;
  for (const auto& [key, value] : b.items()) keys.insert(key);
  for (const auto& [key, value] : c.items()) keys.insert(key);
  std::vector<std::string> differences;
  const auto text = [](const Json& settings, const std::string& key) {
    return settings.contains(key)
               ? shown(settings[key].dump(-1, ' ', false, Json::error_handler_t::replace))
               : std::string("unset");
  };
  for (const std::string& key : keys) {
    if (is_address(key)) continue;
    const std::string x = text(b, key);
    const std::string y = text(c, key);
    if (x != y) differences.push_back(key + " " + x + " against " + y);
  }
  return differences;
}

void warn_of_settings(const std::string& baseline, const std::string& candidate, const char* code,
                      const std::string& whose, Warnings& out) {
  if (baseline == candidate) return;
  const std::vector<std::string> differences = differing_settings(baseline, candidate);
  if (differences.empty()) return;
  std::string listed;
  for (const std::string& difference : differences) {
    listed += (listed.empty() ? "" : "; ") + difference;
  }
  out.push_back({code,
                 "The arms differ in the " + whose +
                     " settings (baseline against candidate): " + listed + ".",
                 "", static_cast<std::int64_t>(differences.size())});
}

void warn_of_budgets(const RunInfo& b, const RunInfo& c, Warnings& out) {
  if (b.max_errors == c.max_errors) return;
  const int smaller =
      std::min(b.max_errors.value_or(*(c.max_errors ? c.max_errors : b.max_errors)),
               c.max_errors.value_or(*(b.max_errors ? b.max_errors : c.max_errors)));
  out.push_back({"budget_differs",
                 "The arms ran under different error budgets (baseline " + text_of(b.max_errors) +
                     ", candidate " + text_of(c.max_errors) +
                     "): success is recounted at max_errors = " + std::to_string(smaller) +
                     " in both; calls made after that point stay in the channel counts.",
                 "", 1});
}

void warn_of_max_steps(const RunInfo& b, const RunInfo& c, Warnings& out) {
  if (!b.max_steps || !c.max_steps || *b.max_steps == *c.max_steps) return;
  out.push_back({"max_steps_differ",
                 "The arms differ in max_steps: baseline " + text_of(b.max_steps) + ", candidate " +
                     text_of(c.max_steps) + ".",
                 "", 1});
}

std::set<std::string> policies(const Arm& arm) {
  std::set<std::string> hashes;
  for (const EpisodeFacts& episode : arm.episodes) {
    if (!episode.policy_hash.empty()) hashes.insert(episode.policy_hash);
  }
  if (hashes.empty() && !arm.info.policy_hash.empty()) hashes.insert(arm.info.policy_hash);
  return hashes;
}

void warn_of_policies(const Arm& baseline, const Arm& candidate, Warnings& out) {
  const std::set<std::string> b = policies(baseline);
  const std::set<std::string> c = policies(candidate);
  if (b.empty() || c.empty() || b == c) return;
  out.push_back({"policy_differs",
                 "The policy or system prompt is not the same text in both arms (baseline " +
                     shown(*b.begin()) + ", candidate " + shown(*c.begin()) + ").",
                 "", 1});
}

void warn_of_seeds(const Arm& baseline, const Arm& candidate, Warnings& out) {
  std::map<std::pair<std::string, int>, std::int64_t> seeds;
  for (const EpisodeFacts& episode : baseline.episodes) {
    if (episode.seed) seeds[{episode.task_id, episode.trial}] = *episode.seed;
  }
  std::int64_t shared = 0;
  std::int64_t different = 0;
  for (const EpisodeFacts& episode : candidate.episodes) {
    const auto found = seeds.find({episode.task_id, episode.trial});
    if (!episode.seed || found == seeds.end()) continue;
    ++shared;
    if (found->second != *episode.seed) ++different;
  }
  if (different == 0) return;
  out.push_back({"seeds_differ",
                 count_text(different) + " of " + counted(shared, "pair") +
                     " of task and trial ran under different seeds in the two arms.",
                 "", different});
}

// The label is what the user typed; without one the model's name decides.
bool quantized(const Arm& arm) {
  return looks_quantized(arm.label) || looks_quantized(arm.info.model);
}

void warn_of_swap(const Arm& baseline, const Arm& candidate, Warnings& out) {
  if (!quantized(baseline) || quantized(candidate)) return;
  out.push_back({"swapped",
                 "The baseline (" +
                     shown(baseline.label.empty() ? baseline.info.model : baseline.label) +
                     ") looks quantized and the candidate (" +
                     shown(candidate.label.empty() ? candidate.info.model : candidate.label) +
                     ") does not: are the arms swapped?",
                 "", 1});
}

char folded(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z');
}

// Whether `pattern` matches at text[i]; '#' stands for one digit.
bool matches_at(const std::string& text, std::size_t i, std::string_view pattern) {
  if (i + pattern.size() > text.size()) return false;
  for (std::size_t j = 0; j < pattern.size(); ++j) {
    const char c = text[i + j];
    if (pattern[j] == '#' ? !is_digit(c) : c != pattern[j]) return false;
  }
  return true;
}

struct Pattern {
  std::string_view text;
  bool whole_word;  // the next character ends the word ("_" does)
};

constexpr Pattern kQuantizations[] = {
    {"int#", true},  {"#bit", true}, {"#-bit", true}, {"awq", false},      {"gptq", false},
    {"fp8", true},   {"fp4", true},  {"nf4", true},   {"mxfp#", true},     {"nvfp4", true},
    {"w#a#", false}, {"q#_", false}, {"iq#_", false}, {"tq#_", false},     {"exl#", true},
    {"hqq", true},   {"aqlm", true}, {"bnb", true},   {"quantized", true},
};

}  // namespace

bool looks_quantized(std::string_view name) {
  std::string text(name);
  for (char& c : text) c = folded(c);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i > 0 && is_word(text[i - 1])) continue;
    for (const Pattern& pattern : kQuantizations) {
      if (!matches_at(text, i, pattern.text)) continue;
      const std::size_t end = i + pattern.text.size();
      if (!pattern.whole_word || end == text.size() || !is_word(text[end])) return true;
    }
  }
  return false;
}

std::vector<Warning> pairing_warnings(const Arm& baseline, const Arm& candidate) {
  const RunInfo& b = baseline.info;
  const RunInfo& c = candidate.info;
  Warnings out;
  if (std::optional<Warning> same = same_run_warning(baseline, candidate))
    out.push_back(std::move(*same));
  warn_of_swap(baseline, candidate, out);
  warn_of_budgets(b, c, out);
  warn_if_both_differ(b.format, c.format, "formats_differ", "log format", out);
  warn_if_both_differ(b.user_model, c.user_model, "user_model_differs", "the user's model", out);
  warn_of_settings(b.user_settings, c.user_settings, "user_settings_differ", "user's", out);
  warn_of_settings(b.agent_settings, c.agent_settings, "agent_settings_differ", "agent's", out);
  warn_if_both_differ(b.agent_implementation, c.agent_implementation, "implementation_differs",
                      "the agent's implementation", out);
  warn_if_both_differ(b.user_implementation, c.user_implementation, "implementation_differs",
                      "the user's implementation", out);
  warn_of_max_steps(b, c, out);
  warn_of_policies(baseline, candidate, out);
  warn_if_both_differ(b.git_commit, c.git_commit, "commit_differs", "the harness's git commit",
                      out);
  warn_of_seeds(baseline, candidate, out);
  return out;
}

}  // namespace unmask
