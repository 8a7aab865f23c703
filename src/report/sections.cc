#include "report/sections.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/numbers.h"

namespace unmask {

Paint paint_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::DegradedAndMasked:
    case Verdict::Degraded:
    case Verdict::Masked:
      return Paint::Bad;
    case Verdict::Amplified:
      return Paint::Warn;
    case Verdict::Clean:
      return Paint::Good;
    case Verdict::Inconclusive:
      return Paint::Warn;
  }
  return Paint::Plain;
}

void show_evidence(Screen& screen, const std::vector<std::string>& lines, std::size_t most) {
  if (lines.empty()) return;
  screen.heading("Evidence");
  for (std::size_t i = 0; i < lines.size() && i < most; ++i)
    screen.paragraph("  ! ", safe_for_terminal(lines[i]), Paint::Warn);
  if (lines.size() > most)
    screen.paragraph("    ", fmt::format("and {} more: --json lists them all", lines.size() - most),
                     Paint::Dim);
}

void show_provenance(Screen& screen, const Provenance& provenance, bool resamples) {
  screen.blank();
  std::string text = "unmask " + provenance.version;
  if (resamples)
    text +=
        fmt::format(", seed {}, {} resamples", provenance.seed, count_text(provenance.bootstrap));
  screen.paragraph("", safe_for_terminal(text), Paint::Dim);
  if (!provenance.command.empty())
    screen.paragraph("", safe_for_terminal(provenance.command), Paint::Dim);
}

std::string tool_evidence_in_words(const ArmSummary& arm) {
  std::string text;
  for (const auto& [evidence, episodes] : arm.tool_evidence) {
    if (episodes == 0) continue;
    if (!text.empty()) text += ", ";
    switch (evidence) {
      case ToolEvidence::ToolsFile:
        text += "the tools file";
        break;
      case ToolEvidence::Log:
        text += "the log";
        break;
      case ToolEvidence::Domain:
        text += "the built-in list of the domain";
        break;
      case ToolEvidence::ErrorTexts:
        text += "error texts only";
        break;
    }
    if (arm.tool_evidence.size() > 1) text += fmt::format(" ({})", counted(episodes, "episode"));
  }
  return text;
}

bool has_success(const std::vector<CurvePoint>& curve) {
  return std::any_of(curve.begin(), curve.end(),
                     [](const CurvePoint& point) { return point.success.has_value(); });
}

bool knows_tight(const CellComparison& cell) {
  return is_identified(cell.baseline.budget, cell.budget.k_tight) &&
         is_identified(cell.candidate.budget, cell.budget.k_tight);
}

std::string budget_in_words(const BudgetSummary& budget) {
  const std::string who = budget.count == BudgetCount::All ? "both sides' failed calls"
                                                           : "the agent's failed calls only";
  if (!budget.k0) return fmt::format("no error budget in this format; {} counted", who);
  const std::string kept =
      budget.beyond_k0 == 0
          ? ""
          : fmt::format(", which {} exceed{}", counted(budget.beyond_k0, "successful episode"),
                        budget.beyond_k0 == 1 ? "s" : "");
  return fmt::format("error budget {}{}; {} counted", *budget.k0, kept, who);
}

}  // namespace unmask
