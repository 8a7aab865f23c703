#include "stats/task_variance.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"
#include "stats/distribution.h"

namespace unmask {
namespace {

// Successes of `trials` trials of tasks whose chances are Beta distributed with this mean and
// intra-task correlation.
TaskTrials beta_binomial(int tasks, int trials, double mean, double correlation, Rng& rng) {
  const double size = 1 / correlation - 1;
  TaskTrials out;
  for (int t = 0; t < tasks; ++t) {
    const double p = beta_quantile(rng.uniform(), mean * size, (1 - mean) * size);
    std::vector<TrialRatio> task;
    for (int j = 0; j < trials; ++j) task.push_back({rng.bernoulli(p) ? 1.0 : 0.0, 1});
    out.push_back(task);
  }
  return out;
}

TEST(VarianceBetweenTasks, IsTheExampleOfItsFile) {
  EXPECT_DOUBLE_EQ(*variance_between_tasks({{{1, 1}, {1, 1}}, {{0, 1}, {0, 1}}}), 0.5);
  EXPECT_DOUBLE_EQ(*variance_between_tasks({{{1, 1}, {0, 1}}, {{0, 1}, {1, 1}}}), -0.5);
}

TEST(VarianceBetweenTasks, AgreesWithTheAnalysisOfVariance) {
  Rng rng(5);
  const int n = 60;
  const int m = 4;
  const TaskTrials tasks = beta_binomial(n, m, 0.6, 0.3, rng);
  const double mean = pooled_ratio(tasks);
  double between = 0;
  double within = 0;
  for (const auto& task : tasks) {
    double average = 0;
    for (const TrialRatio& trial : task) average += trial.numerator / m;
    between += m * (average - mean) * (average - mean) / (n - 1);
    for (const TrialRatio& trial : task)
      within += (trial.numerator - average) * (trial.numerator - average) / (n * (m - 1.0));
  }
  EXPECT_NEAR(*variance_between_tasks(tasks), (between - within) / m - within / (m * (n - 1)),
              1e-12);
}

TEST(VarianceBetweenTasks, FindsThePlantedVarianceAndNothingBetweenEqualTasks) {
  Rng rng(11);
  EXPECT_NEAR(*variance_between_tasks(beta_binomial(20000, 3, 0.65, 0.2, rng)), 0.65 * 0.35 * 0.2,
              0.002);
  TaskTrials alike;
  for (int t = 0; t < 20000; ++t)
    alike.push_back({{rng.bernoulli(0.3) ? 1.0 : 0, 1}, {rng.bernoulli(0.3) ? 1.0 : 0, 1}});
  EXPECT_NEAR(*variance_between_tasks(alike), 0, 0.004);
}

TEST(VarianceBetweenTasks, IsNotFooledByBurstsWithinATrial) {
  // Every call of a trial shares its fate: within-trial correlation 1, tasks alike.
  Rng rng(3);
  TaskTrials tasks;
  for (int t = 0; t < 20000; ++t) {
    std::vector<TrialRatio> task;
    for (int j = 0; j < 2; ++j) task.push_back({rng.bernoulli(0.2) ? 10.0 : 0, 10});
    tasks.push_back(task);
  }
  EXPECT_NEAR(*variance_between_tasks(tasks), 0, 0.004);
}

TEST(VarianceBetweenTasks, IsUndefinedWithoutRepeats) {
  EXPECT_EQ(variance_between_tasks({{{1, 1}}, {{0, 1}}}).error().kind, ErrorKind::Undefined);
  EXPECT_EQ(variance_between_tasks({{{1, 1}, {0, 1}}}).error().kind, ErrorKind::Undefined);
  EXPECT_EQ(variance_between_tasks({}).error().kind, ErrorKind::Undefined);
}

TEST(CovarianceBetweenTasks, NeedsNoRepeatsAndFindsASharedPart) {
  Rng rng(7);
  TaskTrials a;
  TaskTrials b;
  for (int t = 0; t < 40000; ++t) {
    const double p = rng.bernoulli(0.5) ? 0.9 : 0.1;  // variance 0.16
    a.push_back({{rng.bernoulli(p) ? 1.0 : 0, 1}});
    b.push_back({{rng.bernoulli(p) ? 1.0 : 0, 1}});
  }
  EXPECT_NEAR(*covariance_between_tasks(a, b), 0.16, 0.004);
  EXPECT_EQ(covariance_between_tasks(a, {}).error().kind, ErrorKind::InvalidArgument);
  EXPECT_EQ(covariance_between_tasks({{{1, 1}}}, {{{1, 1}}}).error().kind, ErrorKind::Undefined);
}

}  // namespace
}  // namespace unmask
