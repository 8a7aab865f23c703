// Random mode: expectations within Monte-Carlo error, by counting texts.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "plant/naive_tally.h"
#include "plant/plant.h"
#include "trace/tau2_writer.h"

namespace unmask {
namespace {

using plant_test::naive_tally;
using plant_test::NaiveTally;

// Roomy: no episode is cut, so that the options are what a log should show.
PlantOptions roomy() {
  PlantOptions options;
  options.tasks = 1200;
  options.trials = 2;
  options.max_errors = 500;
  options.max_steps = 5000;
  PlantedArm& arm = options.baseline;
  arm.tool_name_rate = 0.12;
  arm.schema_rate = 0.03;
  arm.entity_rate = 0.05;
  arm.rejected_rate = 0.04;
  arm.malformed_rate = 0.02;
  options.candidate = arm;
  return options;
}

Run baseline_of(const PlantOptions& options) {
  const Result<PlantedPair> pair = plant_random(options);
  EXPECT_TRUE(pair) << to_string(pair.error());
  return pair ? pair->baseline : Run{};
}

// 4.5 standard errors, with the design effect 1 + (m - 1) rho of m calls a task, rho = 0.2.
double tolerance(double rate, double calls, double calls_per_task) {
  const double design = 1 + (calls_per_task - 1) * 0.2;
  return 4.5 * std::sqrt(rate * (1 - rate) * design / calls);
}

TEST(PlantRandom, RatesPerCallAreTheOptions) {
  PlantOptions options = roomy();
  options.leaked_markup_share = 0.4;
  const NaiveTally tally = naive_tally(baseline_of(options));
  EXPECT_NEAR(double(tally.agent_calls) / tally.episodes, 7.3, 0.35);
  const double per_task = 2 * 7.3;
  EXPECT_NEAR(tally.rate("tool_name"), 0.12, tolerance(0.12, tally.agent_calls, per_task));
  EXPECT_NEAR(tally.rate("schema"), 0.03, tolerance(0.03, tally.agent_calls, per_task));
  EXPECT_NEAR(tally.rate("entity"), 0.05, tolerance(0.05, tally.agent_calls, per_task));
  EXPECT_NEAR(tally.rate("rejected"), 0.04, tolerance(0.04, tally.agent_calls, per_task));
  EXPECT_NEAR(tally.rate("malformed"), 0.02, tolerance(0.02, tally.agent_calls, per_task));
  EXPECT_EQ(tally.cut, 0);
}

TEST(PlantRandom, RecoveryIsTheOptionAsMethodCountsIt) {
  PlantOptions options = roomy();
  options.baseline.recovery = 0.6;
  const NaiveTally tally = naive_tally(baseline_of(options));
  EXPECT_NEAR(tally.recovery(), 0.6, 0.025);
}

TEST(PlantRandom, BurstsHaveTheAskedMeanLength) {
  PlantOptions options = roomy();
  options.calls_per_episode = 60;  // long, so that ends of episodes hardly cut bursts
  options.tasks = 200;
  options.burst_mean = 2.5;
  const NaiveTally tally = naive_tally(baseline_of(options));
  double sum = 0;
  for (const int length : tally.burst_lengths) sum += length;
  EXPECT_NEAR(sum / double(tally.burst_lengths.size()), 2.5, 0.12);
  EXPECT_NEAR(tally.rate("tool_name"), 0.12, 0.02);
}

TEST(PlantRandom, BurstMeanOneNeverFailsTwiceInARow) {
  PlantOptions options = roomy();
  options.tasks = 200;
  options.burst_mean = 1;
  const NaiveTally tally = naive_tally(baseline_of(options));
  ASSERT_FALSE(tally.burst_lengths.empty());
  for (const int length : tally.burst_lengths) EXPECT_EQ(length, 1);
}

TEST(PlantRandom, SuccessIsTheOptionWhateverCouplingAndCuts) {
  PlantOptions options = roomy();
  options.max_errors = 4;
  options.baseline.tool_name_rate = 0.2;
  for (const double coupling : {0.5, -0.3}) {
    options.baseline.coupling = coupling;
    const NaiveTally tally = naive_tally(baseline_of(options));
    EXPECT_GT(tally.cut, 100);
    // 0.2 points of the reference population and four standard errors of 1200 tasks.
    EXPECT_NEAR(double(tally.successes) / tally.episodes, 0.65, 0.042) << coupling;
  }
}

TEST(PlantRandom, CouplingMakesFailingEpisodesSucceedLessOften) {
  PlantOptions options = roomy();
  options.tasks = 500;
  options.baseline.coupling = 0.6;
  const NaiveTally tally = naive_tally(baseline_of(options));
  double with = 0, with_passed = 0, without = 0, without_passed = 0;
  for (std::size_t i = 0; i < tally.errors.size(); ++i) {
    (tally.errors[i] >= 3 ? with : without) += 1;
    (tally.errors[i] >= 3 ? with_passed : without_passed) += tally.success[i] ? 1 : 0;
  }
  EXPECT_LT(with_passed / with + 0.15, without_passed / without);
}

// Intra-class correlation by one-way analysis of variance over tasks of equal size.
double anova_icc(const std::vector<std::vector<double>>& tasks) {
  double grand = 0, n = double(tasks[0].size()), k = double(tasks.size());
  for (const std::vector<double>& task : tasks)
    for (const double y : task) grand += y / (n * k);
  double between = 0, within = 0;
  for (const std::vector<double>& task : tasks) {
    double mean = 0;
    for (const double y : task) mean += y / n;
    between += n * (mean - grand) * (mean - grand) / (k - 1);
    for (const double y : task) within += (y - mean) * (y - mean) / (k * (n - 1));
  }
  return (between - within) / (between + (n - 1) * within);
}

TEST(PlantRandom, TaskCorrelationIsTheOneAsked) {
  PlantOptions options = roomy();
  options.tasks = 1000;
  options.trials = 4;
  options.task_correlation = 0.3;
  options.success_correlation = 0.6;
  const unmask::Run run = baseline_of(options);
  std::vector<std::vector<double>> success(1000);
  std::vector<std::vector<double>> first_call(1000);
  for (std::size_t i = 0; i < run.episodes.size(); ++i) {
    success[i / 4].push_back(*run.episodes[i].success ? 1 : 0);
    first_call[i / 4].push_back(run.episodes[i].messages[3].result->failed ? 1 : 0);
  }
  EXPECT_NEAR(anova_icc(success), 0.6, 0.07);
  EXPECT_NEAR(anova_icc(first_call), 0.3, 0.07);
}

TEST(PlantRandom, PairingDecidesWhetherTasksAreAlikeInBothArms) {
  for (const double pairing : {0.0, 1.0}) {
    PlantOptions options = roomy();
    options.tasks = 700;
    options.trials = 4;
    options.success_correlation = 0.7;
    options.pairing = pairing;
    const Result<PlantedPair> pair = plant_random(options);
    ASSERT_TRUE(pair);
    double sum = 0, squares = 0;
    for (int t = 0; t < options.tasks; ++t) {
      double d = 0;
      for (int j = 0; j < 4; ++j) {
        const std::size_t i = static_cast<std::size_t>(4 * t + j);
        d += (*pair->candidate.episodes[i].success - *pair->baseline.episodes[i].success) / 4.0;
      }
      sum += d / options.tasks;
      squares += d * d / options.tasks;
    }
    const double variance = squares - sum * sum;
    // Binomial noise of 4 trials in each arm, and for strangers the tasks' own spread twice.
    const double noise = 2 * 0.65 * 0.35 * 0.3 / 4;
    const double spread = pairing == 0 ? 2 * 0.65 * 0.35 * 0.7 : 0;
    EXPECT_NEAR(variance, noise + spread, 0.06 * (1 - pairing) + 0.012);
  }
}

TEST(PlantRandom, EpisodesEndAtTheBudgetAsTau2Does) {
  PlantOptions options = roomy();
  options.max_errors = 3;
  options.tasks = 300;
  options.baseline.success = 0.4;
  options.candidate.success = 0.4;
  options.parallel_share = 0.4;
  options.user_calls_per_episode = 1;
  options.user_failure_rate = 0.3;
  const unmask::Run run = baseline_of(options);
  int cut = 0, overshoots = 0;
  for (const Episode& episode : run.episodes) {
    std::vector<int> failed_by_message;  // failures known before each message
    int failed = 0;
    for (const Message& message : episode.messages) {
      if (message.role != Role::Tool) {
        EXPECT_LT(failed, 3) << "spoke after the budget was spent, " << episode.id;
      }
      failed += message.result && message.result->failed ? 1 : 0;
    }
    const bool ended = episode.termination == Termination::TooManyErrors;
    EXPECT_EQ(ended, failed >= 3) << episode.id;
    if (ended) {
      EXPECT_EQ(*episode.reward, 0);
    }
    cut += ended ? 1 : 0;
    overshoots += failed > 3 ? 1 : 0;
  }
  EXPECT_GT(cut, 50);
  EXPECT_GT(overshoots, 0) << "one message with several calls can pass the budget";
}

TEST(PlantRandom, WhatIsLeftAfterCutsIsExpectedBeforehand) {
  PlantOptions options = roomy();
  options.max_errors = 4;
  options.baseline.tool_name_rate = 0.25;
  options.baseline.coupling = 0.2;
  options.baseline.success = 0.5;
  const Result<Planter> planter = Planter::make(options);
  ASSERT_TRUE(planter) << to_string(planter.error());
  const ExpectedArm& expected = planter->expected_baseline();
  const NaiveTally tally = naive_tally(planter->draw(5).baseline);
  const double n = tally.episodes;
  EXPECT_NEAR(tally.agent_calls / n, expected.agent_calls, 0.3);
  EXPECT_NEAR(tally.channels.at("tool_name") / n, expected.tool_name, 0.12);
  EXPECT_NEAR(tally.channels.at("entity") / n, expected.entity, 0.05);
  EXPECT_NEAR(tally.cut / n, expected.cut, 0.045);
  for (int k = 0; k <= 4; ++k)
    EXPECT_NEAR(tally.successes_within(k) / n, expected.success_within[std::size_t(k)], 0.05) << k;
  EXPECT_LT(expected.tool_name / expected.agent_calls, 0.25) << "cuts take failing calls away";
  EXPECT_NEAR(expected.success, 0.5, 1e-6);
}

TEST(PlantRandom, NamesHaveZipfSharesAndTheAskedNovelShare) {
  PlantOptions options = roomy();
  options.names = 4;
  options.candidate.novel_share = 0.1;
  const Result<PlantedPair> pair = plant_random(options);
  ASSERT_TRUE(pair);
  const NaiveTally before = naive_tally(pair->baseline);
  const NaiveTally after = naive_tally(pair->candidate);
  EXPECT_EQ(before.names.size(), 4u);
  std::multiset<double> shares;
  for (const auto& [name, count] : before.names)
    shares.insert(double(count) / before.channels.at("tool_name"));
  const double harmonic = 1 + 1.0 / 2 + 1.0 / 3 + 1.0 / 4;
  int rank = 4;
  for (const double share : shares) EXPECT_NEAR(share, 1 / (harmonic * rank--), 0.04);
  int novel = 0;
  for (const auto& [name, count] : after.names) novel += before.names.contains(name) ? 0 : count;
  EXPECT_NEAR(double(novel) / after.channels.at("tool_name"), 0.1, 0.035);
}

TEST(PlantRandom, UserCallsAndInfrastructureErrorsComeAtTheirRates) {
  PlantOptions options = roomy();
  options.tasks = 600;
  options.user_calls_per_episode = 1.5;
  options.user_failure_rate = 0.2;
  options.baseline.infrastructure_rate = 0.1;
  const unmask::Run run = baseline_of(options);
  const NaiveTally tally = naive_tally(run);
  EXPECT_NEAR(tally.never_ran / 1200.0, 0.1, 0.04);
  EXPECT_NEAR(double(tally.user_calls) / tally.episodes, 1.5, 0.15);
  EXPECT_NEAR(double(tally.user_failures) / tally.user_calls, 0.2, 0.045);
  for (const Episode& episode : run.episodes) {
    if (episode.termination != Termination::InfrastructureError) continue;
    EXPECT_TRUE(episode.messages.empty());
    EXPECT_FALSE(episode.reward);
  }
}

TEST(PlantRandom, SameSeedSameBytesOtherSeedOtherBytes) {
  PlantOptions options = preset_damaged();
  options.tasks = 10;
  const std::string first = tau2_results(plant_random(options)->candidate);
  EXPECT_EQ(first, tau2_results(plant_random(options)->candidate));
  options.seed += 1;
  EXPECT_NE(first, tau2_results(plant_random(options)->candidate));
}

TEST(PlantRandom, OneArmsOptionsLeaveTheOtherArmAsItWas) {
  PlantOptions options = preset_damaged();
  options.tasks = 10;
  const std::string first = tau2_results(plant_random(options)->baseline);
  options.candidate.tool_name_rate = 0.1;
  EXPECT_EQ(first, tau2_results(plant_random(options)->baseline));
}

struct BadOption {
  const char* name;  // as the message must call it
  void (*set)(PlantOptions& options);
};

TEST(PlantRandom, OptionsOutOfRangeAreNamed) {
  const BadOption bad[] = {
      {"tasks", [](PlantOptions& o) { o.tasks = 0; }},
      {"trials", [](PlantOptions& o) { o.trials = -1; }},
      {"max_errors", [](PlantOptions& o) { o.max_errors = 0; }},
      {"max_steps", [](PlantOptions& o) { o.max_steps = 1; }},
      {"calls_per_episode", [](PlantOptions& o) { o.calls_per_episode = 0.5; }},
      {"task_correlation", [](PlantOptions& o) { o.task_correlation = 1; }},
      {"success_correlation", [](PlantOptions& o) { o.success_correlation = -0.1; }},
      {"pairing", [](PlantOptions& o) { o.pairing = 2; }},
      {"burst_mean", [](PlantOptions& o) { o.burst_mean = 0.5; }},
      {"parallel_share", [](PlantOptions& o) { o.parallel_share = 1; }},
      {"names", [](PlantOptions& o) { o.names = 0; }},
      {"domain", [](PlantOptions& o) { o.domain = "banking"; }},
      {"baseline.tool_name_rate", [](PlantOptions& o) { o.baseline.tool_name_rate = -0.1; }},
      {"candidate.entity_rate", [](PlantOptions& o) { o.candidate.entity_rate = std::nan(""); }},
      {"the sum of candidate's rates",
       [](PlantOptions& o) {
         o.candidate.tool_name_rate = 0.6;
         o.candidate.schema_rate = 0.6;
       }},
      {"candidate.recovery", [](PlantOptions& o) { o.candidate.recovery = 0; }},
      {"candidate.recovery", [](PlantOptions& o) { o.candidate.recovery = 0.99; }},
      {"task_correlation",
       [](PlantOptions& o) {
         o.candidate.tool_name_rate = 0.5;
         o.task_correlation = 0.5;
       }},
      {"candidate.success", [](PlantOptions& o) { o.candidate.success = 1.5; }},
      {"candidate.success",
       [](PlantOptions& o) {
         o.candidate.tool_name_rate = 0.5;
         o.max_errors = 1;
         o.candidate.success = 0.9;
       }},
      {"baseline.novel_share", [](PlantOptions& o) { o.baseline.novel_share = 0.1; }},
      {"candidate.infrastructure_rate",
       [](PlantOptions& o) { o.candidate.infrastructure_rate = 1; }},
      {"user_calls_per_episode",
       [](PlantOptions& o) {
         o.domain = "retail";
         o.user_calls_per_episode = 1;
       }},
  };
  for (const BadOption& option : bad) {
    PlantOptions options;
    option.set(options);
    const Result<PlantedPair> pair = plant_random(options);
    ASSERT_FALSE(pair) << option.name;
    EXPECT_EQ(pair.error().kind, ErrorKind::InvalidArgument);
    EXPECT_NE(pair.error().message.find(option.name), std::string::npos)
        << option.name << ": " << pair.error().message;
  }
}

TEST(PlantRandom, ExtremesOfSuccessAndRateAreKept) {
  PlantOptions options;
  options.tasks = 20;
  options.baseline.success = 1;
  options.candidate.success = 0;
  const Result<PlantedPair> pair = plant_random(options);
  ASSERT_TRUE(pair);
  EXPECT_EQ(naive_tally(pair->baseline).successes, 80);
  EXPECT_EQ(naive_tally(pair->candidate).successes, 0);
  EXPECT_EQ(naive_tally(pair->baseline).channels.size(), 1u) << "ok only";
}

}  // namespace
}  // namespace unmask
