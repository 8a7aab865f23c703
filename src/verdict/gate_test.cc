#include "verdict/gate.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace unmask {
namespace {

ChannelComparison channel_of(double baseline, double candidate) {
  ChannelComparison c;
  c.baseline = baseline;
  c.candidate = candidate;
  c.baseline_count = c.candidate_count = 100;
  c.difference = candidate - baseline;
  c.difference_ci95 = Interval{candidate - baseline - 0.03, candidate - baseline + 0.03};
  c.difference_upper95 = candidate - baseline + 0.025;
  c.amplification = candidate / baseline;
  c.amplification_ci95 = Interval{candidate / baseline - 0.4, candidate / baseline + 0.5};
  c.amplification_upper95 = candidate / baseline + 0.4;
  c.p_holm = 0.2;
  return c;
}

MeanTest test_of(double mean) {
  MeanTest test;
  test.mean = mean;
  test.se = 0.02;
  test.df = 113;
  test.ci95 = {mean - 0.04, mean + 0.04};
  test.ci90 = {mean - 0.033, mean + 0.033};
  test.upper95 = mean + 0.033;
  return test;
}

// A graded cell of 114 tasks whose tool names fail in 10 % of calls, then in 14 %.
CellComparison cell_of() {
  CellComparison cell;
  cell.cell = "telecom";
  cell.paired_tasks = 114;
  cell.evaluated_tasks = 114;
  cell.episodes_baseline = 456;
  cell.episodes_candidate = 450;
  cell.baseline.trials_min = 4;
  cell.candidate.trials_min = 3;
  cell.outcome.delta = test_of(-0.01);
  cell.outcome.tost = Equivalence{0.075, 0.001, true, {-0.043, 0.023}};
  for (const Channel channel : kFailureChannels) cell.channels[channel] = channel_of(0.05, 0.05);
  cell.channels[Channel::ToolName] = channel_of(0.10, 0.14);
  cell.candidate.budget.curve = {
      {0, 0.3, Interval{0.2, 0.4}}, {1, 0.4, Interval{0.3, 0.5}}, {2, 0.5, Interval{0.42, 0.58}}};
  cell.budget.k_tight = 2;
  cell.budget.k0 = 10;
  cell.budget.unmasked.test = test_of(0.02);
  return cell;
}

Judgement judged(Verdict verdict) {
  Judgement judgement;
  judgement.verdict = verdict;
  judgement.degraded = verdict == Verdict::Degraded || verdict == Verdict::DegradedAndMasked;
  judgement.unmasked_damage = verdict == Verdict::Masked || verdict == Verdict::DegradedAndMasked;
  return judgement;
}

GateStatus status_of(const CellComparison& cell, const GateCriteria& criteria,
                     Verdict verdict = Verdict::Clean) {
  return gate_of_cell(cell, judged(verdict), criteria).status;
}

const GateFinding& finding_of(const CellGate& gate, const std::string& criterion) {
  const auto found =
      std::find_if(gate.findings.begin(), gate.findings.end(),
                   [&](const GateFinding& finding) { return finding.criterion == criterion; });
  EXPECT_NE(found, gate.findings.end()) << criterion;
  return *found;
}

// Pooled and weighed numbers on different sides of a limit settle nothing, either way.
TEST(Gate, HoldsBothNumbersWhereEpisodesAreUnequal) {
  const auto gate = [](double pooled, double weighed) {
    CellComparison cell = cell_of();
    ChannelComparison& names = cell.channels[Channel::ToolName];
    names.amplification = pooled;
    names.weighed_amplification = weighed;
    GateCriteria criteria;
    criteria.fail = {};
    criteria.max_amplification[Channel::ToolName] = 1.5;
    return status_of(cell, criteria);
  };
  EXPECT_EQ(gate(0.71, 1.2), GateStatus::Pass);
  EXPECT_EQ(gate(0.71, 2.0), GateStatus::Inconclusive);
  EXPECT_EQ(gate(2.93, 1.0), GateStatus::Inconclusive);
  EXPECT_EQ(gate(2.93, 2.0), GateStatus::Fail);
}

// 19.5 % -> 0.0 % is no reason to say that nothing can be said.
TEST(Gate, HoldsTheRatioOfRatesWhereOnlyTheCandidateHardlyFails) {
  CellComparison cell = cell_of();
  ChannelComparison& names = cell.channels[Channel::ToolName];
  names.baseline = 0.2;
  names.candidate = 0.0;
  names.amplification.reset();
  names.amplification_ci95.reset();
  names.amplification_upper95.reset();
  names.difference = -0.2;
  names.difference_ci95 = Interval{-0.25, -0.15};
  names.difference_upper95 = -0.16;
  GateCriteria criteria;
  criteria.max_amplification[Channel::ToolName] = 1.5;
  EXPECT_EQ(status_of(cell, criteria), GateStatus::Inconclusive);  // the baseline's are sparse too
  names.sparse_in_candidate = true;
  const GateFinding held =
      finding_of(gate_of_cell(cell, judged(Verdict::Clean), criteria), "max_amplification");
  EXPECT_EQ(held.status, GateStatus::Pass);
  EXPECT_EQ(held.value, 0.0);
  EXPECT_EQ(held.sentence,
            "the ratio of the rates of tool_name (held for the amplification, for which the "
            "candidate fails in too few tasks) is 0.00, at most 1.50 asked");
  criteria.basis = GateBasis::Confidence;
  EXPECT_EQ(status_of(cell, criteria), GateStatus::Pass);  // (0.2 - 0.16) / 0.2 = 0.2
  criteria.max_amplification[Channel::ToolName] = 0.1;
  EXPECT_EQ(status_of(cell, criteria), GateStatus::Inconclusive);
  names.difference_upper95.reset();
  criteria.max_amplification[Channel::ToolName] = 1.5;
  EXPECT_EQ(status_of(cell, criteria), GateStatus::Inconclusive);
  // Weighed alike, the candidate fails more than the limit allows.
  criteria.basis = GateBasis::Estimate;
  names.weighed_amplification = 2.0;
  EXPECT_EQ(status_of(cell, criteria), GateStatus::Inconclusive);
}

TEST(Gate, TakesTheVerdictsThatFailByDefault) {
  const std::pair<Verdict, GateStatus> table[] = {
      {Verdict::DegradedAndMasked, GateStatus::Fail},
      {Verdict::Degraded, GateStatus::Fail},
      {Verdict::Masked, GateStatus::Fail},
      {Verdict::Amplified, GateStatus::Fail},
      {Verdict::Clean, GateStatus::Pass},
      {Verdict::Inconclusive, GateStatus::Inconclusive}};
  for (const auto& [verdict, status] : table)
    EXPECT_EQ(status_of(cell_of(), {}, verdict), status) << to_string(verdict);
}

TEST(Gate, NeverPassesTheBaselinesOwnEpisodes) {
  CellComparison cell = cell_of();
  cell.same_episodes = true;
  GateCriteria criteria;
  criteria.inconclusive = GateStatus::Pass;
  EXPECT_EQ(status_of(cell, criteria, Verdict::Clean), GateStatus::Inconclusive);
}

TEST(Gate, LetsAVerdictPassThatIsNotListed) {
  GateCriteria criteria;
  criteria.fail = {Verdict::Degraded};
  EXPECT_EQ(status_of(cell_of(), criteria, Verdict::Amplified), GateStatus::Pass);
  EXPECT_EQ(status_of(cell_of(), criteria, Verdict::Degraded), GateStatus::Fail);
}

TEST(Gate, GivesInconclusiveUngradedAndFragileTheMeaningOfTheCriteria) {
  for (const GateStatus meaning : {GateStatus::Pass, GateStatus::Inconclusive, GateStatus::Fail}) {
    GateCriteria criteria;
    criteria.inconclusive = meaning;
    EXPECT_EQ(status_of(cell_of(), criteria, Verdict::Inconclusive), meaning);
    CellComparison ungraded = cell_of();
    ungraded.graded = false;
    criteria = {};
    criteria.ungraded = meaning;
    EXPECT_EQ(status_of(ungraded, criteria, Verdict::Inconclusive), meaning);
    Judgement fragile = judged(Verdict::Clean);
    fragile.fragile_by = {Unknown::Excluded};
    criteria = {};
    criteria.fragile = meaning;
    EXPECT_EQ(gate_of_cell(cell_of(), fragile, criteria).status, meaning);
  }
}

TEST(Gate, NeverPassesWhatNeverRanWhateverUngradedMeans) {
  CellComparison cell = cell_of();
  cell.ran = cell.graded = false;
  cell.baseline.episodes_total = cell.baseline.episodes_excluded = 456;
  cell.candidate.episodes_total = 450;
  GateCriteria criteria;
  criteria.ungraded = GateStatus::Pass;
  criteria.inconclusive = GateStatus::Pass;
  const CellGate gate = gate_of_cell(cell, judged(Verdict::Inconclusive), criteria);
  EXPECT_EQ(gate.status, GateStatus::Inconclusive);
  EXPECT_EQ(
      finding_of(gate, "fail").sentence,
      "there is no evidence, which never passes: nothing was evaluated: 456 of 456 episodes of "
      "the baseline and 0 of 450 episodes of the candidate are excluded (infrastructure "
      "errors)");
  criteria.inconclusive = GateStatus::Fail;
  EXPECT_EQ(status_of(cell, criteria, Verdict::Inconclusive), GateStatus::Fail);
}

TEST(Gate, ShowsAsManyDecimalsAsTellANumberFromItsLimit) {
  CellComparison cell = cell_of();
  cell.channels[Channel::ToolName].amplification = 1.504;
  cell.channels[Channel::ToolName].difference = 0.0204;
  GateCriteria criteria;
  criteria.max_amplification[Channel::ToolName] = 1.5;
  criteria.max_increase[Channel::ToolName] = 0.02;
  criteria.min_success_tight = 0.50009;
  const CellGate gate = gate_of_cell(cell, judged(Verdict::Clean), criteria);
  EXPECT_EQ(finding_of(gate, "max_amplification").sentence,
            "amplification of tool_name is 1.504, at most 1.500 asked: 0.004 too much");
  EXPECT_EQ(
      finding_of(gate, "max_increase").sentence,
      "increase of tool_name per call is +2.04 points, at most +2.00 points asked: 0.04 points "
      "too much");
  EXPECT_EQ(finding_of(gate, "min_success_tight").sentence,
            "S(2) of the candidate is 50.00 %, at least 50.01 % asked: 0.01 points too little");
}

TEST(Gate, TakesWhatOnlyRoundingMakesUnequalAsEqual) {
  CellComparison cell = cell_of();
  cell.channels[Channel::ToolName].difference = 0.3 - 0.2;  // a little less or more than 0.1
  GateCriteria criteria;
  for (const double limit : {0.1, 0.3 - 0.2 - 1e-16}) {
    criteria.max_increase[Channel::ToolName] = limit;
    const CellGate gate = gate_of_cell(cell, judged(Verdict::Clean), criteria);
    EXPECT_EQ(gate.status, GateStatus::Pass);
    EXPECT_EQ(finding_of(gate, "max_increase").sentence,
              "increase of tool_name per call is +10.0 points, at most +10.0 points asked");
  }
}

TEST(Gate, WritesNoChangeWithoutASign) {
  CellComparison cell = cell_of();
  cell.channels[Channel::Schema].difference = 0;
  GateCriteria criteria;
  criteria.max_increase[Channel::Schema] = 0;
  EXPECT_EQ(
      finding_of(gate_of_cell(cell, judged(Verdict::Clean), criteria), "max_increase").sentence,
      "increase of schema per call is 0.0 points, at most 0.0 points asked");
}

TEST(Gate, WritesCountsAsEverywhere) {
  CellComparison cell = cell_of();
  cell.evaluated_tasks = 1;
  GateCriteria criteria;
  criteria.min_tasks = 470001;
  EXPECT_EQ(finding_of(gate_of_cell(cell, judged(Verdict::Clean), criteria), "min_tasks").sentence,
            "1 task evaluated in both arms, at least 470,001 asked: 470,000 too few");
}

TEST(Gate, FailsAVerdictThoughItIsFragile) {
  Judgement fragile = judged(Verdict::Masked);
  fragile.fragile_by = {Unknown::Excluded};
  EXPECT_EQ(gate_of_cell(cell_of(), fragile, {}).status, GateStatus::Fail);
}

TEST(Gate, HoldsAmplificationAgainstItsLimitAndSaysByHowMuch) {
  GateCriteria criteria;
  criteria.max_amplification[Channel::ToolName] = 1.25;
  const CellGate gate = gate_of_cell(cell_of(), judged(Verdict::Clean), criteria);
  const GateFinding& finding = finding_of(gate, "max_amplification");
  EXPECT_EQ(gate.status, GateStatus::Fail);
  EXPECT_EQ(finding.channel, Channel::ToolName);
  EXPECT_NEAR(*finding.value, 1.4, 1e-12);
  EXPECT_NEAR(*finding.excess, 0.15, 1e-12);
  EXPECT_EQ(finding.sentence,
            "amplification of tool_name is 1.40, at most 1.25 asked: 0.15 too much");
  criteria.max_amplification[Channel::ToolName] = 1.4001;
  EXPECT_EQ(status_of(cell_of(), criteria), GateStatus::Pass);
}

// A = 1.4, 95 % interval 1.0 to 1.9, one-sided upper limit 1.8.
TEST(Gate, AsksForTheLimitsWhereConfidenceIsTheBasis) {
  GateCriteria criteria;
  criteria.basis = GateBasis::Confidence;
  const std::pair<double, GateStatus> table[] = {{1.85, GateStatus::Pass},
                                                 {1.5, GateStatus::Inconclusive},
                                                 {1.1, GateStatus::Inconclusive},
                                                 {0.9, GateStatus::Fail}};
  for (const auto& [limit, status] : table) {
    criteria.max_amplification[Channel::ToolName] = limit;
    EXPECT_EQ(status_of(cell_of(), criteria), status) << limit;
  }
}

TEST(Gate, NeverLetsAnUndefinedNumberPass) {
  CellComparison cell = cell_of();
  cell.channels[Channel::Schema].amplification = std::nullopt;
  cell.channels[Channel::Schema].difference = std::nullopt;
  cell.candidate.budget.curve.clear();
  cell.outcome = {};
  const auto inconclusive = [&](const GateCriteria& criteria, const char* criterion) {
    const CellGate gate = gate_of_cell(cell, judged(Verdict::Clean), criteria);
    const GateFinding& finding = finding_of(gate, criterion);
    EXPECT_EQ(gate.status, GateStatus::Inconclusive) << criterion;
    EXPECT_FALSE(finding.value) << criterion;
    EXPECT_FALSE(finding.excess) << criterion;
    EXPECT_NE(finding.sentence.find("undefined"), std::string::npos) << finding.sentence;
  };
  for (const GateBasis basis : {GateBasis::Estimate, GateBasis::Confidence}) {
    GateCriteria amplification, increase, success, equivalence;
    amplification.basis = increase.basis = success.basis = basis;
    amplification.max_amplification[Channel::Schema] = 1e6;
    increase.max_increase[Channel::Schema] = 1;
    success.min_success_tight = 0;
    equivalence.require_equivalence = true;
    inconclusive(amplification, "max_amplification");
    inconclusive(increase, "max_increase");
    inconclusive(success, "min_success_tight");
    inconclusive(equivalence, "require_equivalence");
  }
}

TEST(Gate, IsInconclusiveByConfidenceWhereANumberHasNoLimits) {
  CellComparison cell = cell_of();
  cell.channels[Channel::ToolName].amplification_upper95 = std::nullopt;
  cell.channels[Channel::ToolName].amplification_ci95 = std::nullopt;
  GateCriteria criteria;
  criteria.max_amplification[Channel::ToolName] = 10;
  EXPECT_EQ(status_of(cell, criteria), GateStatus::Pass);
  criteria.basis = GateBasis::Confidence;
  EXPECT_EQ(status_of(cell, criteria), GateStatus::Inconclusive);
}

TEST(Gate, HoldsTheIncreaseAndTheSuccessUnderTheTightBudget) {
  GateCriteria criteria;
  criteria.max_increase[Channel::ToolName] = 0.03;
  CellGate gate = gate_of_cell(cell_of(), judged(Verdict::Clean), criteria);
  EXPECT_EQ(gate.status, GateStatus::Fail);
  EXPECT_NEAR(*finding_of(gate, "max_increase").excess, 0.01, 1e-12);
  criteria = {};
  criteria.min_success_tight = 0.55;
  gate = gate_of_cell(cell_of(), judged(Verdict::Clean), criteria);
  EXPECT_EQ(gate.status, GateStatus::Fail);
  EXPECT_EQ(finding_of(gate, "min_success_tight").sentence,
            "S(2) of the candidate is 50.0 %, at least 55.0 % asked: 5.0 points too little");
  criteria.min_success_tight = 0.5;
  EXPECT_EQ(status_of(cell_of(), criteria), GateStatus::Pass);
  criteria.basis = GateBasis::Confidence;
  EXPECT_EQ(status_of(cell_of(), criteria), GateStatus::Inconclusive);
  criteria.min_success_tight = 0.40;
  EXPECT_EQ(status_of(cell_of(), criteria), GateStatus::Pass);
  criteria.min_success_tight = 0.60;
  EXPECT_EQ(status_of(cell_of(), criteria), GateStatus::Fail);
}

TEST(Gate, CannotSayWhatSuccessWasWithinABudgetThatIsNoTighter) {
  CellComparison cell = cell_of();
  GateCriteria criteria;
  criteria.min_success_tight = 0.1;
  cell.candidate.budget.k0 = 3;
  EXPECT_EQ(status_of(cell, criteria), GateStatus::Pass);
  cell.candidate.budget.k0 = 2;
  EXPECT_EQ(status_of(cell, criteria), GateStatus::Inconclusive);
  EXPECT_EQ(finding_of(gate_of_cell(cell, judged(Verdict::Clean), criteria), "min_success_tight")
                .sentence,
            "S(2) of the candidate is undefined, at least 10.0 % asked");
}

TEST(Gate, AsksForEquivalenceAndTellsAWideIntervalFromALargeDifference) {
  GateCriteria criteria;
  criteria.require_equivalence = true;
  EXPECT_EQ(status_of(cell_of(), criteria), GateStatus::Pass);
  CellComparison cell = cell_of();
  cell.outcome.tost = Equivalence{0.04, 0.2, false, {-0.043, 0.023}};
  EXPECT_EQ(status_of(cell, criteria), GateStatus::Inconclusive);
  cell.outcome.delta = test_of(-0.06);
  EXPECT_EQ(status_of(cell, criteria), GateStatus::Fail);
}

TEST(Gate, TakesTooLittleEvidenceAsInconclusive) {
  GateCriteria criteria;
  criteria.min_tasks = 114;
  criteria.min_trials = 3;
  criteria.min_episodes = 450;
  EXPECT_EQ(status_of(cell_of(), criteria), GateStatus::Pass);
  GateCriteria tasks = criteria, trials = criteria, episodes = criteria;
  tasks.min_tasks = 200;
  trials.min_trials = 4;
  episodes.min_episodes = 451;
  for (const GateCriteria& more : {tasks, trials, episodes})
    EXPECT_EQ(status_of(cell_of(), more), GateStatus::Inconclusive);
  const CellGate gate = gate_of_cell(cell_of(), judged(Verdict::Clean), tasks);
  EXPECT_EQ(finding_of(gate, "min_tasks").sentence,
            "114 tasks evaluated in both arms, at least 200 asked: 86 too few");
  EXPECT_EQ(status_of(cell_of(), tasks, Verdict::Masked), GateStatus::Fail);
}

TEST(Gate, IsAsGoodAsTheWorstCell) {
  const GateCriteria criteria;
  const auto cell = [&](Verdict verdict) {
    return gate_of_cell(cell_of(), judged(verdict), criteria);
  };
  EXPECT_EQ(gate_of_cells(criteria, {cell(Verdict::Clean), cell(Verdict::Clean)}).status,
            GateStatus::Pass);
  EXPECT_EQ(gate_of_cells(criteria, {cell(Verdict::Clean), cell(Verdict::Inconclusive)}).status,
            GateStatus::Inconclusive);
  EXPECT_EQ(gate_of_cells(criteria, {cell(Verdict::Inconclusive), cell(Verdict::Masked)}).status,
            GateStatus::Fail);
  EXPECT_EQ(gate_of_cells(criteria, {}).status, GateStatus::Inconclusive);
}

TEST(GateParts, FailSomewhereIfAndOnlyIfTheCellDoes) {
  GateCriteria strict;
  strict.max_amplification[Channel::ToolName] = 1.25;
  strict.min_success_tight = 0.9;
  strict.require_equivalence = true;
  strict.min_tasks = 1000;
  for (const GateCriteria& criteria : {GateCriteria{}, strict})
    for (const Verdict verdict : {Verdict::DegradedAndMasked, Verdict::Degraded, Verdict::Masked,
                                  Verdict::Amplified, Verdict::Clean, Verdict::Inconclusive})
      for (const bool amplified : {false, true}) {
        CellComparison cell = cell_of();
        cell.channels[Channel::ToolName].amplified = amplified;
        const CellGate gate = gate_of_cell(cell, judged(verdict), criteria);
        GateStatus worst = GateStatus::Pass;
        for (const GatePart& part : gate_parts(cell, judged(verdict), gate))
          worst = std::max(worst, part.status);
        EXPECT_EQ(worst, gate.status);
      }
}

TEST(GateParts, NameWhatMadeTheVerdictFail) {
  CellComparison cell = cell_of();
  cell.channels[Channel::ToolName].amplified = true;
  const Judgement masked = judged(Verdict::Masked);
  const std::vector<GatePart> parts = gate_parts(cell, masked, gate_of_cell(cell, masked, {}));
  ASSERT_EQ(parts.size(), 8u);
  std::string failing;
  for (const GatePart& part : parts)
    if (part.status == GateStatus::Fail) failing += part.name + ";";
  EXPECT_EQ(failing, "verdict;unmasked gap;channel tool_name;");
}

}  // namespace
}  // namespace unmask
