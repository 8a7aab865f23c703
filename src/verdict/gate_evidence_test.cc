#include "verdict/gate_evidence.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace unmask {
namespace {

// A graded cell without any unknown episode, whose unmasked gap is defined.
CellComparison sound_cell() {
  CellComparison cell;
  cell.budget.k0 = 10;
  cell.budget.k_tight = 2;
  cell.budget.unmasked.test = MeanTest{};
  return cell;
}

Judgement judged_as(Verdict verdict, std::set<Unknown> fragile_by = {}) {
  Judgement judgement;
  judgement.verdict = verdict;
  judgement.fragile_by = std::move(fragile_by);
  return judgement;
}

GateFinding finding_of(const std::string& criterion, const CellComparison& cell,
                       const Judgement& judgement, const GateCriteria& criteria = {}) {
  const std::vector<GateFinding> findings = evidence_findings(cell, judgement, criteria);
  const auto found = std::find_if(findings.begin(), findings.end(),
                                  [&](const GateFinding& f) { return f.criterion == criterion; });
  EXPECT_NE(found, findings.end()) << criterion;
  return *found;
}

TEST(GateEvidence, UngradedEpisodesDecideWhereTheyChangeTheVerdict) {
  CellComparison cell = sound_cell();
  cell.candidate.episodes_ungraded = 128;
  const GateFinding stands = finding_of("ungraded", cell, judged_as(Verdict::Clean));
  EXPECT_EQ(stands.status, GateStatus::Pass);
  EXPECT_EQ(stands.sentence,
            "the verdict stands whether the 128 episodes of the candidate that have no grade "
            "passed or failed");
  const Judgement fragile = judged_as(Verdict::Clean, {Unknown::Ungraded});
  for (const GateStatus meaning : {GateStatus::Pass, GateStatus::Inconclusive, GateStatus::Fail}) {
    GateCriteria criteria;
    criteria.fragile = GateStatus::Pass;  // of excluded episodes only
    criteria.ungraded = meaning;
    const GateFinding finding = finding_of("ungraded", cell, fragile, criteria);
    EXPECT_EQ(finding.status, meaning);
    EXPECT_EQ(finding.value, 128);
    EXPECT_EQ(finding.sentence,
              "the verdict changes with whether the 128 episodes of the candidate that have no "
              "grade passed or failed, which means: " +
                  std::string(to_string(meaning)));
    EXPECT_EQ(gate_of_cell(cell, fragile, criteria).status, meaning);
  }
}

TEST(GateEvidence, NamesTheArmsThatLackGrades) {
  CellComparison cell = sound_cell();
  cell.baseline.episodes_ungraded = 1;
  cell.candidate.episodes_ungraded = 2;
  EXPECT_EQ(unknown_episodes_in_words(cell, Unknown::Ungraded),
            "the 3 episodes (1 of the baseline, 2 of the candidate) that have no grade");
  cell.candidate.episodes_ungraded = 0;
  EXPECT_EQ(unknown_episodes_in_words(cell, Unknown::Ungraded),
            "the 1 episode of the baseline that has no grade");
  EXPECT_EQ(unknown_episodes_in_words(cell, Unknown::Missing),
            "episodes of other comparisons that are missing");
}

TEST(GateEvidence, ALogThatBreaksOffNeverPassesByDefault) {
  CellComparison cell = sound_cell();
  const Judgement clean = judged_as(Verdict::Clean);
  EXPECT_EQ(finding_of("incomplete", cell, clean).status, GateStatus::Pass);
  cell.candidate_gaps = {.missing = 7, .cut_short = true};
  for (const GateStatus meaning : {GateStatus::Pass, GateStatus::Inconclusive, GateStatus::Fail}) {
    GateCriteria criteria;
    criteria.incomplete = meaning;
    const GateFinding finding = finding_of("incomplete", cell, clean, criteria);
    EXPECT_EQ(finding.status, meaning);
    EXPECT_EQ(finding.value, 7);
    EXPECT_EQ(finding.sentence,
              "the candidate's log is cut short (7 episodes missing in all), "
              "which means: " +
                  std::string(to_string(meaning)));
  }
  cell.candidate_gaps = {.unread = 2};
  EXPECT_EQ(finding_of("incomplete", cell, clean).sentence,
            "2 records of the candidate's log could not be read, which means: inconclusive");
}

TEST(GateEvidence, TasksOfOneArmOnlyLeaveTheGateOpen) {
  CellComparison cell = sound_cell();
  cell.unpaired_tasks = {"only in baseline: 7", "only in baseline: 8", "no graded episode in a: 9"};
  EXPECT_EQ(finding_of("incomplete", cell, judged_as(Verdict::Clean)).sentence,
            "2 tasks of the baseline are not in the candidate's log, which means: inconclusive");
  cell.unpaired_tasks = {"only in candidate: 7"};
  EXPECT_EQ(finding_of("incomplete", cell, judged_as(Verdict::Clean)).sentence,
            "1 task of the candidate is not in the baseline's log, which means: inconclusive");
}

TEST(GateEvidence, CallsWhoseFailureTheLogHidesLeaveTheGateOpen) {
  CellComparison cell = sound_cell();
  cell.baseline_gaps.calls = cell.candidate_gaps.calls = 1000;
  cell.candidate_gaps.unanswered = 10;  // no more than may be by chance
  EXPECT_EQ(finding_of("incomplete", cell, judged_as(Verdict::Clean)).status, GateStatus::Pass);
  cell.candidate_gaps.unanswered = 11;
  EXPECT_EQ(finding_of("incomplete", cell, judged_as(Verdict::Clean)).sentence,
            "11 of the candidate's 1,000 calls got no reply in the log, which means: inconclusive");
  cell.baseline_gaps.unanswered = 11;  // so in both
  EXPECT_EQ(finding_of("incomplete", cell, judged_as(Verdict::Clean)).status, GateStatus::Pass);
  cell.candidate_gaps.accepted = 400;
  EXPECT_EQ(
      finding_of("incomplete", cell, judged_as(Verdict::Clean)).sentence,
      "400 of the candidate's 1,000 calls are of names that are not offered, and are not marked "
      "as failed, which means: inconclusive");
}

TEST(GateEvidence, MissingEpisodesDecideOnlyWhereTheyChangeTheVerdict) {
  CellComparison cell = sound_cell();
  cell.baseline_gaps.missing = 3;
  EXPECT_EQ(finding_of("incomplete", cell, judged_as(Verdict::Clean)).status, GateStatus::Pass);
  const GateFinding changes =
      finding_of("incomplete", cell, judged_as(Verdict::Clean, {Unknown::Missing}));
  EXPECT_EQ(changes.status, GateStatus::Inconclusive);
  EXPECT_EQ(changes.sentence,
            "the verdict changes with whether the 3 episodes of the baseline that are missing "
            "passed or failed, which means: inconclusive");
}

TEST(GateEvidence, MaskingThatCannotBeJudgedNeverPassesWhereItFails) {
  CellComparison cell = sound_cell();
  GateCriteria criteria;
  criteria.fail = {Verdict::Masked};
  const Judgement amplified = judged_as(Verdict::Amplified);
  EXPECT_EQ(gate_of_cell(cell, amplified, criteria).status, GateStatus::Pass);
  cell.budget.unmasked.test.reset();
  cell.budget.k_tight = 10;
  const CellGate gate = gate_of_cell(cell, amplified, criteria);
  EXPECT_EQ(gate.status, GateStatus::Inconclusive);
  EXPECT_EQ(gate.findings[1].subject, GateSubject::UnmaskedGap);
  EXPECT_EQ(gate.findings[1].sentence,
            "masking cannot be judged, and a verdict with masking is one that fails: masking could "
            "not be judged: the tight budget 10 is not below the error budget, 10, so there is no "
            "unmasked gap");
  for (const GatePart& part : gate_parts(cell, amplified, gate))
    EXPECT_EQ(part.status,
              part.name == "unmasked gap" ? GateStatus::Inconclusive : GateStatus::Pass);
  criteria.fail = {Verdict::DegradedAndMasked};
  EXPECT_EQ(gate_of_cell(cell, amplified, criteria).status, GateStatus::Inconclusive);
  criteria.fail = {Verdict::Degraded};  // masking is not asked about
  EXPECT_EQ(gate_of_cell(cell, amplified, criteria).status, GateStatus::Pass);
}

TEST(GateEvidence, LeavesMaskingOfUngradedLogsToTheirOwnCriterion) {
  CellComparison cell = sound_cell();
  cell.graded = false;
  cell.budget.unmasked.test.reset();
  GateCriteria criteria;
  criteria.ungraded = GateStatus::Pass;
  EXPECT_EQ(gate_of_cell(cell, judged_as(Verdict::Inconclusive), criteria).status,
            GateStatus::Pass);
}

}  // namespace
}  // namespace unmask
