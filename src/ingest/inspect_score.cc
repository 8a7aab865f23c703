#include "ingest/inspect_score.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <system_error>

namespace unmask {
namespace {

constexpr double kTolerance = 1e-6;  // METHOD 1

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::optional<double> number_in(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos) return std::nullopt;
  text = text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  double value = 0;
  const std::from_chars_result read =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

std::optional<double> score_of_text(std::string_view text) {
  if (text == "C") return 1.0;
  if (text == "P") return 0.5;
  if (text == "I" || text == "N") return 0.0;
  const std::string word = lower(text);
  if (word == "yes" || word == "true") return 1.0;
  if (word == "no" || word == "false") return 0.0;
  return number_in(word);
}

// The names that are scorers and not "scorer/key" of another.
std::vector<std::string> without_keys(const std::vector<std::string>& names) {
  std::vector<std::string> whole;
  for (const std::string& name : names) {
    const bool is_key = std::any_of(names.begin(), names.end(), [&](const std::string& other) {
      return name.starts_with(other + "/");
    });
    if (!is_key) whole.push_back(name);
  }
  return whole;
}

}  // namespace

std::optional<double> inspect_score(const JsonNode& value) {
  if (const std::optional<bool> flag = value.boolean()) return *flag ? 1.0 : 0.0;
  if (const std::optional<std::string_view> text = value.text()) return score_of_text(*text);
  return value.number();
}

Grade grade_of(std::optional<double> score, std::optional<double> pass_threshold) {
  if (!score) return {};
  if (pass_threshold) {
    const bool passed = *score >= *pass_threshold;
    return {passed ? 1.0 : 0.0, passed};
  }
  if (std::abs(*score - 1) <= kTolerance) return {1.0, true};
  if (std::abs(*score) <= kTolerance) return {0.0, false};
  return {};
}

std::vector<std::string> scorer_names(const JsonNode& sample) {
  std::vector<std::string> names;
  if (sample["scores"].missing() && sample["score"].is_object()) names.emplace_back("score");
  for (const auto& [name, score] : sample["scores"].members()) {
    names.emplace_back(name);
    for (const auto& [key, value] : score["value"].members())
      names.push_back(fmt::format("{}/{}", name, key));
  }
  return names;
}

Result<ScorerChoice> choose_scorer(const std::string& wanted, const std::vector<std::string>& known,
                                   Notes& notes, const std::string& where) {
  const std::vector<std::string> whole = without_keys(known);
  if (wanted.empty()) {
    if (known.empty()) return ScorerChoice{};
    if (whole.size() > 1) {
      const std::vector<std::string> others(whole.begin() + 1, whole.end());
      notes.warn("several_scorers",
                 fmt::format("the log has {} scorers; '{}' is used, the others are {} (choose with "
                             "--scorer)",
                             whole.size(), whole[0], fmt::join(others, ", ")),
                 where);
    }
    return ScorerChoice{whole[0], ""};
  }
  if (std::find(known.begin(), known.end(), wanted) == known.end()) {
    if (known.empty())
      return Error{ErrorKind::InvalidArgument,
                   fmt::format("scorer '{}' was asked for, but the log has no scores", wanted),
                   where};
    return Error{
        ErrorKind::InvalidArgument,
        fmt::format("the log has no scorer '{}'; it has {}", wanted, fmt::join(known, ", ")),
        where};
  }
  // A scorer's own name may hold a slash: the longest scorer that is known itself wins.
  ScorerChoice choice{wanted, ""};
  for (const std::string& name : whole)
    if (wanted.starts_with(name + "/") &&
        (choice.key.empty() || name.size() > choice.scorer.size()))
      choice = {name, wanted.substr(name.size() + 1)};
  return choice;
}

JsonNode chosen_value(const JsonNode& scores, const ScorerChoice& choice) {
  const JsonNode value = scores[choice.scorer]["value"];
  return choice.key.empty() ? value : value[choice.key];
}

}  // namespace unmask
