#include "app/demo_words.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "environment/json.h"

namespace unmask {

namespace {

// A value of nested dicts; nullptr: not there.
const Value* at(const Value& root, std::initializer_list<std::string_view> path) {
  const Value* here = &root;
  for (const std::string_view key : path) {
    here = here->find(key);
    if (here == nullptr) return nullptr;
  }
  return here;
}

std::optional<double> number(const Value& root, std::initializer_list<std::string_view> path) {
  const Value* found = at(root, path);
  if (found == nullptr) return std::nullopt;
  if (found->kind() == Kind::Int) return static_cast<double>(found->as_int());
  if (found->kind() == Kind::Float) return found->as_float();
  return std::nullopt;
}

std::string text(const Value& root, std::initializer_list<std::string_view> path) {
  const Value* found = at(root, path);
  return found != nullptr && found->is_str() ? found->as_str() : "";
}

std::string points(double proportion) {
  const std::string digits = fmt::format("{:.1f}", std::fabs(100 * proportion));
  if (digits == "0.0") return "0.0 points";
  return (proportion < 0 ? "−" : "+") + digits + " points";
}

std::string line(std::string_view what, const std::string& found) {
  return found.empty() ? "" : fmt::format("      {:<38}{}\n", what, found);
}

std::string score_words(const Value& cell) {
  const std::optional<double> delta = number(cell, {"outcome", "delta"});
  if (!delta) return "none";
  const Value* equivalent = at(cell, {"outcome", "tost", "equivalent"});
  const bool flat = equivalent != nullptr && equivalent->is_bool() && equivalent->as_bool();
  return points(*delta) + (flat ? ", flat" : "");
}

std::string channel_words(const Value& cell, std::string_view channel) {
  const std::optional<double> before = number(cell, {"channels", channel, "baseline"});
  const std::optional<double> after = number(cell, {"channels", channel, "candidate"});
  if (!before || !after) return "";
  const std::optional<double> ratio = number(cell, {"channels", channel, "amplification"});
  return fmt::format("{:.1f} % to {:.1f} % of its calls{}", 100 * *before, 100 * *after,
                     ratio ? fmt::format(", {:.2f} times", *ratio) : "");
}

// The gap is the baseline's success less the candidate's.
std::string budget_words(const Value& cell, double tight) {
  const Value* gaps = at(cell, {"budget", "gap"});
  if (gaps == nullptr) return "";
  for (const Value& each : gaps->items()) {
    const std::optional<double> gap = number(each, {"gap"});
    if (number(each, {"k"}) == tight && gap) return points(-*gap);
  }
  return "";
}

std::string words_of_cell(const Value& cell) {
  std::string out = line("score", score_words(cell));
  if (const std::optional<double> tight = number(cell, {"budget", "k_tight"}))
    out += line(fmt::format("forgiven at most {:.0f} failed calls", *tight),
                budget_words(cell, *tight));
  out += line("calls to tools that do not exist", channel_words(cell, "tool_name"));
  return out + line("calls that name nothing that exists", channel_words(cell, "entity"));
}

std::string_view meaning_of(std::string_view verdict) {
  if (verdict == "masked")
    return "the benchmark's score hides the damage: its error budget forgives what deployment does "
           "not";
  if (verdict == "degraded+masked") return "worse, and worse than its score shows";
  if (verdict == "degraded") return "worse, as its score shows";
  if (verdict == "amplified") return "the same mistakes more often, not yet at the cost of success";
  if (verdict == "clean") return "no damage, as far as this evidence reaches";
  return "this evidence neither shows damage nor rules it out";
}

// Without the domain that tells arms of one label apart: the cells stand under it.
std::string candidate_of(const Value& cell) {
  std::string label = text(cell, {"candidate", "arm", "label"});
  const std::string apart = " (" + text(cell, {"candidate", "arm", "domain"}) + ")";
  if (label.ends_with(apart)) label.resize(label.size() - apart.size());
  return label;
}

}  // namespace

Result<std::vector<DemoCell>> demo_cells(std::string_view audit_json) {
  const Result<Value> audit = parse_json(audit_json);
  if (!audit) return audit.error();
  const Value* cells = audit->find("cells");
  if (cells == nullptr || !cells->is_list())
    return Error{ErrorKind::Malformed, "the audit's JSON has no cells", ""};
  std::vector<DemoCell> out;
  for (const Value& cell : cells->items())
    out.push_back({text(cell, {"candidate", "arm", "domain"}), candidate_of(cell),
                   text(cell, {"verdict"}), number(cell, {"channels", "tool_name", "candidate"}),
                   words_of_cell(cell)});
  return out;
}

std::string demo_conclusion(const std::vector<DemoCell>& cells, const std::string& agent) {
  std::string out = "What was found\n";
  std::string domain;
  for (const DemoCell& cell : cells) {
    if (cell.domain != domain) out += fmt::format("  {}\n", domain = cell.domain);
    out += fmt::format("    {}: {}, {}\n{}", cell.candidate, cell.verdict, meaning_of(cell.verdict),
                       cell.words);
  }
  return out + agent +
         "\nIt is no evidence about large models. Your own: unmask run PLAN.toml (docs/plan.md), "
         "unmask audit BASELINE CANDIDATE.\n";
}

}  // namespace unmask
