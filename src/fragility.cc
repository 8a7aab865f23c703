#include "fragility.h"

#include <algorithm>
#include <utility>

#include "compare/comparison.h"
#include "verdict/verdict.h"

namespace unmask {
namespace {

struct Assumption {
  Unknown of = Unknown::Excluded;
  ReadAs baseline = ReadAs::LeftOut;
  ReadAs candidate = ReadAs::LeftOut;
};

bool has_excluded(const Arm& arm) {
  return std::any_of(arm.episodes.begin(), arm.episodes.end(),
                     [](const EpisodeFacts& episode) { return episode.excluded; });
}

bool has_ungraded(const Arm& arm) {
  return std::any_of(arm.episodes.begin(), arm.episodes.end(), [](const EpisodeFacts& episode) {
    return !episode.excluded && !episode.success;
  });
}

bool has_graded(const Arm& arm) {
  return std::any_of(arm.episodes.begin(), arm.episodes.end(), is_evaluated);
}

bool more_missing_than_there(const Arm& arm, const std::vector<TaskTrial>& missing) {
  return missing.size() > arm.episodes.size();
}

// Whether a reading changes an arm of the cell, and which.
struct Affected {
  bool baseline = false;
  bool candidate = false;
};

Affected affected(const CellArms& cell, Unknown unknown) {
  switch (unknown) {
    case Unknown::Excluded:
      return {has_excluded(cell.baseline), has_excluded(cell.candidate)};
    case Unknown::Ungraded:
      if (!has_graded(cell.baseline) || !has_graded(cell.candidate)) return {};
      return {has_ungraded(cell.baseline), has_ungraded(cell.candidate)};
    case Unknown::Missing:
      if (more_missing_than_there(cell.baseline, cell.missing_baseline) ||
          more_missing_than_there(cell.candidate, cell.missing_candidate))
        return {};
      return {!cell.missing_baseline.empty(), !cell.missing_candidate.empty()};
  }
  return {};
}

Arm read_as(const Arm& arm, const std::vector<TaskTrial>& missing, Unknown unknown, ReadAs as) {
  switch (unknown) {
    case Unknown::Excluded:
      return with_excluded_as(arm, as);
    case Unknown::Ungraded:
      return with_ungraded_as(arm, as);
    case Unknown::Missing:
      return with_missing_as(arm, missing, as);
  }
  return arm;
}

// An arm under one reading; the arm itself, not a copy, where the reading does not touch it.
struct ReadArm {
  ReadArm(const Arm& as_is, bool touched, const std::vector<TaskTrial>& missing, Unknown unknown,
          ReadAs as)
      : changed(touched ? read_as(as_is, missing, unknown, as) : Arm{}),
        arm(touched ? changed : as_is) {}
  const Arm changed;
  const Arm& arm;
};

Result<CellComparison> compare_cell(const CellArms& cell, const Assumption& reading,
                                    const CompareOptions& options) {
  const Affected touched = affected(cell, reading.of);
  const ReadArm before(cell.baseline, touched.baseline && reading.baseline != ReadAs::LeftOut,
                       cell.missing_baseline, reading.of, reading.baseline);
  const ReadArm after(cell.candidate, touched.candidate && reading.candidate != ReadAs::LeftOut,
                      cell.missing_candidate, reading.of, reading.candidate);
  Result<CellComparison> comparison = compare_arms(before.arm, after.arm, options);
  if (!comparison) {
    Error error = comparison.error();
    if (error.where.empty()) error.where = cell.name;
    return error;
  }
  comparison->cell = cell.name;
  comparison->same_episodes =
      std::any_of(comparison->warnings.begin(), comparison->warnings.end(),
                  [](const Warning& warning) { return warning.code == "same_episodes"; });
  return comparison;
}

Result<std::vector<AuditedCell>> judge_cells_as(const std::vector<CellArms>& cells,
                                                const Assumption& reading,
                                                const CompareOptions& options) {
  std::vector<CellComparison> comparisons;
  for (const CellArms& cell : cells) {
    Result<CellComparison> comparison = compare_cell(cell, reading, options);
    if (!comparison) return comparison.error();
    comparisons.push_back(std::move(*comparison));
  }
  apply_multiplicity(comparisons);
  std::vector<AuditedCell> judged;
  for (CellComparison& comparison : comparisons) {
    Judgement judgement = judge(comparison);
    judged.push_back({std::move(comparison), std::move(judgement)});
  }
  return judged;
}

// All failed, best case and worst case of the candidate, without those that say the same because no
// baseline, or no candidate, has such episodes.
std::vector<Assumption> readings_of(const std::vector<CellArms>& cells, Unknown unknown) {
  Affected any;
  for (const CellArms& cell : cells) {
    const Affected here = affected(cell, unknown);
    any.baseline = any.baseline || here.baseline;
    any.candidate = any.candidate || here.candidate;
  }
  if (!any.baseline && !any.candidate) return {};
  std::vector<Assumption> readings = {{unknown, ReadAs::Failed, ReadAs::Passed},
                                      {unknown, ReadAs::Passed, ReadAs::Failed}};
  if (any.baseline && any.candidate) readings.push_back({unknown, ReadAs::Failed, ReadAs::Failed});
  return readings;
}

}  // namespace

Result<std::vector<AuditedCell>> judge_cells(const std::vector<CellArms>& cells,
                                             const CompareOptions& options) {
  return judge_cells_as(cells, Assumption{}, options);
}

Result<Done> mark_fragile(const std::vector<CellArms>& cells, const CompareOptions& options,
                          std::vector<AuditedCell>& judged) {
  for (const Unknown unknown : {Unknown::Excluded, Unknown::Ungraded, Unknown::Missing})
    for (const Assumption& reading : readings_of(cells, unknown)) {
      const Result<std::vector<AuditedCell>> other = judge_cells_as(cells, reading, options);
      if (!other) return other.error();
      for (std::size_t i = 0; i < judged.size(); ++i)
        if ((*other)[i].judgement.verdict != judged[i].judgement.verdict)
          judged[i].judgement.fragile_by.insert(unknown);
    }
  for (std::size_t i = 0; i < judged.size(); ++i)
    if (more_missing_than_there(cells[i].baseline, cells[i].missing_baseline) ||
        more_missing_than_there(cells[i].candidate, cells[i].missing_candidate))
      judged[i].judgement.fragile_by.insert(Unknown::Missing);
  return Done{};
}

}  // namespace unmask
