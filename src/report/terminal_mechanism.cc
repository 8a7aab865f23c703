// Where the decisions of two logs flip, on the screen of an audit.
#include <fmt/format.h>

#include "report/margins_report.h"
#include "report/mechanism_words.h"
#include "report/numbers.h"
#include "report/sections.h"

namespace unmask {
namespace {

std::string narrow_share(const ReplayedArm& arm, DecisionKind kind) {
  const MarginDistribution* const margins = own_margins(arm, kind);
  return margins == nullptr ? kAbsent : percent(margins->narrow_share.value);
}

}  // namespace

void show_mechanism(Screen& screen, const std::optional<Mechanism>& mechanism) {
  if (!mechanism) return;
  const CandidateMechanism& candidate = compared(*mechanism);
  screen.heading("Decisions");
  screen.paragraph("  ", pairs_in_words(*mechanism) + ".");
  Table table;
  table.columns = {{"decision", false}, {"pairs"}, {"flips"}, {"share [95%]"}, {"narrow margins"}};
  for (const FlipAnalysis& flips : candidate.flips)
    table.rows.push_back({{std::string(decision_in_words(flips.kind))},
                          {count_text(flips.pairs)},
                          {count_text(flips.flips)},
                          {flips.pairs > 0 ? percent_estimate(flips.flip_share) : kAbsent},
                          {narrow_share(mechanism->arms[0], flips.kind) + " → " +
                           narrow_share(mechanism->arms[1], flips.kind)}});
  screen.table(table);
  for (const FlipAnalysis& flips : candidate.flips)
    if (!left_out_in_words(flips).empty())
      screen.paragraph(
          "  ",
          fmt::format("{}, left out: {}.", decision_in_words(flips.kind), left_out_in_words(flips)),
          Paint::Dim);
  for (const FlipAnalysis& flips : candidate.flips)
    if (!judged_in_words(flips).empty())
      screen.paragraph(
          "  ", fmt::format("{}: {}.", decision_in_words(flips.kind), judged_in_words(flips)),
          Paint::Dim);
  const std::string foretold = foretold_in_words(*mechanism);
  if (!foretold.empty()) screen.paragraph("  ", "which tool: " + foretold + ".", Paint::Dim);
  screen.paragraph(
      "  ",
      fmt::format("flip: the candidate prefers another choice than the baseline's, in "
                  "the same context. narrow: below {:g} nat, of each arm's own choices.",
                  MechanismOptions{}.narrow),
      Paint::Dim);
}

}  // namespace unmask
