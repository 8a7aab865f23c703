#include "report/model_card.h"

#include <fmt/format.h>

#include <set>

#include "report/markdown_parts.h"
#include "report/numbers.h"
#include "report/render.h"
#include "report/sample_words.h"
#include "report/sentences.h"

namespace unmask {
namespace {

constexpr std::size_t kNameBytes = 80;
constexpr std::size_t kFactBytes = 200;
constexpr std::size_t kCommandBytes = 4000;
constexpr std::size_t kMostColumns = 21;  // of a table by K
constexpr std::size_t kMostPowers = 8;    // of pass^k

// One arm or two, side by side.
using Arms = std::vector<const ArmSummary*>;

std::string name_of(const ArmSummary& arm) {
  return plain(arm.label, kNameBytes);
}

// The first ones and the last, where there are more than `most`.
std::vector<int> first_and_last(const std::set<int>& all, std::size_t most) {
  std::vector<int> some(all.begin(), all.end());
  if (some.size() <= most) return some;
  some[most - 1] = some.back();
  some.resize(most);
  return some;
}

std::string line_below(std::size_t columns) {
  std::string out = "|---|";
  for (std::size_t i = 0; i < columns; ++i) out += "--:|";
  return out + "\n";
}

std::vector<std::string> titled(const std::string& title, const Arms& arms) {
  std::vector<std::string> row = {title};
  for (const ArmSummary* arm : arms) row.push_back(name_of(*arm));
  return row;
}

template <typename Value>
std::vector<std::string> row_of(const std::string& title, const Arms& arms, Value value) {
  std::vector<std::string> row = {title};
  for (const ArmSummary* arm : arms) row.push_back(value(*arm));
  return row;
}

std::string score_table(const Arms& arms) {
  std::string out = markdown_row(titled("", arms)) + line_below(arms.size());
  out += markdown_row(row_of("task success [95%]", arms,
                             [](const ArmSummary& arm) { return percent_estimate(arm.success); }));
  std::set<int> ks;
  for (const ArmSummary* arm : arms)
    for (const auto& [k, value] : arm->pass_hat_k) ks.insert(k);
  ks.erase(1);
  for (const int k : first_and_last(ks, kMostPowers))
    out += markdown_row(
        row_of(fmt::format("pass^{} (all of {} trials)", k, k), arms, [k](const ArmSummary& arm) {
          const auto found = arm.pass_hat_k.find(k);
          return percent(found == arm.pass_hat_k.end() ? std::nullopt
                                                       : std::optional<double>(found->second));
        }));
  const std::string counted_calls(counted_failures(arms.front()->budget.count));
  out += markdown_row(row_of(counted_calls + " per episode", arms, [](const ArmSummary& arm) {
    return decimal(arm.budget.mean_errors, 2);
  }));
  out += markdown_row(row_of("recovery after a failed call [95%]", arms, [](const ArmSummary& arm) {
    return percent_estimate(arm.recovery.rate);
  }));
  return out;
}

// `cell`: with the amplification of each channel; null for a single arm.
std::string channel_table(const Arms& arms, const CellComparison* cell) {
  std::vector<std::string> titles = titled("failed calls per call [95%]", arms);
  if (cell != nullptr) titles.emplace_back("times as often [95%]");
  std::string out = markdown_row(titles) + line_below(titles.size() - 1);
  for (const Channel channel : kFailureChannels) {
    std::vector<std::string> row = {fmt::format("`{}`", to_string(channel))};
    if (cell != nullptr && cell->channels.count(channel) > 0)
      row.front() += weighed_mark(cell->channels.at(channel));
    for (const ArmSummary* arm : arms) {
      const auto found = arm->channels.find(channel);
      row.push_back(found == arm->channels.end() ? kAbsent
                                                 : percent_estimate(found->second.per_call));
    }
    if (cell != nullptr) {
      const auto found = cell->channels.find(channel);
      const std::string interval =
          found == cell->channels.end() ? "" : ratio_interval(found->second.amplification_ci95);
      row.push_back(found == cell->channels.end() ? kAbsent
                                                  : ratio(found->second.amplification) +
                                                        (interval.empty() ? "" : " ") + interval);
    }
    out += markdown_row(row);
  }
  const std::string weighed = cell == nullptr ? "" : weighed_in_words(*cell);
  return weighed.empty() ? out : out + "\n" + plain(weighed) + "\n";
}

const std::vector<CurvePoint>& curve_of(const ArmSummary& arm) {
  return arm.budget.rule == BudgetRule::Live ? arm.budget.curve_live : arm.budget.curve;
}

std::string budget_table(const Arms& arms) {
  std::set<int> all;
  for (const ArmSummary* arm : arms)
    for (const CurvePoint& point : curve_of(*arm)) all.insert(point.k);
  const std::vector<int> ks = first_and_last(all, kMostColumns);
  if (ks.empty()) return "";
  std::vector<std::string> titles = {
      fmt::format("success with {} K failed calls, K =",
                  arms.front()->budget.rule == BudgetRule::Live ? "fewer than" : "at most")};
  for (const int k : ks) titles.push_back(std::to_string(k));
  std::string out = markdown_row(titles) + line_below(ks.size());
  for (const ArmSummary* arm : arms) {
    std::vector<std::string> row = {name_of(*arm)};
    for (const int k : ks) {
      std::optional<double> success;
      for (const CurvePoint& point : curve_of(*arm))
        if (point.k == k) success = point.success;
      row.push_back(percent(success));
    }
    out += markdown_row(row);
  }
  return out;
}

void add_fact(std::string& out, const std::string& name, const std::string& value) {
  if (!value.empty()) out += (out.empty() ? "" : "; ") + name + " " + plain(value, kFactBytes);
}

std::string settings_of(const RunInfo& info) {
  std::string out;
  add_fact(out, "model", info.model);
  add_fact(out, "domain", info.domain);
  add_fact(out, "log format", info.format);
  if (info.max_errors) add_fact(out, "error budget", std::to_string(*info.max_errors));
  add_fact(out, "agent settings", info.agent_settings);
  add_fact(out, "user model", info.user_model);
  add_fact(out, "user settings", info.user_settings);
  if (info.seed) add_fact(out, "seed", std::to_string(*info.seed));
  add_fact(out, "harness commit", info.git_commit);
  return out;
}

// The episodes of an arm that the outcome rests on.
long evaluated_of(const ArmSummary& arm, const CellComparison* cell) {
  if (cell == nullptr) return arm.episodes_evaluated;
  return &arm == &cell->baseline ? cell->episodes_baseline : cell->episodes_candidate;
}

std::string sample_of(const ArmSummary& arm, const CellComparison* cell) {
  const long evaluated = evaluated_of(arm, cell);
  const long ran = arm.episodes_total - arm.episodes_excluded;
  const std::string of_which =
      ran == evaluated ? "" : fmt::format(" in the {} that ran", counted(ran, "episode"));
  return fmt::format("- {}: {}; {} of the agent{}. {}\n", name_of(arm),
                     episodes_in_words(arm, evaluated), counted(arm.agent_calls, "call"), of_which,
                     settings_of(arm.info));
}

std::string block(const std::string& title, const std::string& summary, const Arms& arms,
                  const CellComparison* cell) {
  std::string out = "## " + title + "\n\n" + summary + score_table(arms) + "\n" +
                    channel_table(arms, cell) + "\n";
  const std::string budget = budget_table(arms);
  if (!budget.empty()) out += budget + "\n";
  for (const ArmSummary* arm : arms) out += sample_of(*arm, cell);
  return out + "\n";
}

std::string closing(const Provenance& provenance) {
  return fmt::format(
      "Intervals are 95%, by task. Measured with unmask {}, seed {}, {} resamples:\n\n    {}\n",
      plain(provenance.version), provenance.seed, count_text(provenance.bootstrap),
      cut(safe_for_terminal(provenance.command), kCommandBytes));
}

// What a reader of the numbers must know of this cell; an audit of one cell names no place.
std::vector<Warning> warnings_of(const AuditReport& report, const CellComparison& cell) {
  std::vector<Warning> all = cell.warnings;
  for (const Warning& warning : report.warnings)
    if (report.cells.size() == 1 || warning.where == cell.cell) all.push_back(warning);
  std::erase_if(all, [](const Warning& warning) {
    return warning.code != "same_episodes" && warning.code != "unequal_episodes" &&
           warning.code != "k_tight_not_identified" && warning.code != "budget_contradicted";
  });
  return all;
}

std::string comparison_block(const AuditedCell& cell, const std::vector<Warning>& warnings) {
  const CellComparison& c = cell.comparison;
  const std::string title = fmt::format("Tool calls: {} against {}, {}", name_of(c.candidate),
                                        name_of(c.baseline), plain(c.cell, kNameBytes));
  std::string summary =
      fmt::format("Verdict: **{}**{}. {}\n\n", to_string(cell.judgement.verdict),
                  cell.judgement.fragile() ? " (fragile)" : "", plain(headline(cell)));
  summary += fmt::format("Change in success: {}.", outcome_in_words(c.outcome, true));
  const std::string unmasked = unmasked_gap_in_words(c, true);
  if (!unmasked.empty()) summary += " Unmasked gap: " + unmasked + ".";
  const std::string left_out = left_out_in_words(c);
  if (!left_out.empty()) summary += " " + plain(left_out, 1200) + ".";
  for (const Warning& warning : warnings) summary += "\n\n**Warning:** " + plain(warning.message);
  return block(title, summary + "\n\n", {&c.baseline, &c.candidate}, &c);
}

}  // namespace

std::string to_model_card(const AuditReport& report) {
  constexpr std::size_t kRoomForCutNotice = 200;
  const std::string end = closing(report.provenance);
  std::string out;
  std::size_t shown = 0;
  for (; shown < report.cells.size(); ++shown) {
    const std::string next =
        comparison_block(report.cells[shown], warnings_of(report, report.cells[shown].comparison));
    if (out.size() + next.size() + end.size() + kRoomForCutNotice > kMarkdownBytes) break;
    out += next;
  }
  if (shown < report.cells.size())
    out += fmt::format("Cut to {} bytes: {} more in the full report only.\n\n",
                       count_text(static_cast<long>(kMarkdownBytes)),
                       counted(static_cast<long>(report.cells.size() - shown), "comparison"));
  return out + end;
}

std::string to_model_card(const InspectReport& report) {
  const ArmSummary& arm = report.arm;
  std::string title = "Tool calls: " + name_of(arm);
  if (!arm.info.domain.empty()) title += ", " + plain(arm.info.domain, kNameBytes);
  return block(title, "", {&arm}, nullptr) + closing(report.provenance);
}

}  // namespace unmask
