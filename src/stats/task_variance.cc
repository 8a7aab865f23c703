// Example: two tasks, successes 1 1 and 0 0 of two trials each. The mean is 1/2, the products of
// different trials are 1/4 in both tasks, so the variance between tasks is 2 x 1/4 = 1/2: with
// trials that never disagree all of the spread lies between the tasks. With 1 0 and 0 1 the
// products are -1/4 and the estimate is -1/2: nothing lies between them.
#include "stats/task_variance.h"

namespace unmask {
namespace {

struct ResidualSums {
  double residual = 0;     // sum of e
  double residual2 = 0;    // sum of e^2
  double denominator = 0;  // sum of d
  double denominator2 = 0;
};

ResidualSums residual_sums(const std::vector<TrialRatio>& trials, double ratio) {
  ResidualSums sums;
  for (const TrialRatio& trial : trials) {
    const double e = trial.numerator - ratio * trial.denominator;
    sums.residual += e;
    sums.residual2 += e * e;
    sums.denominator += trial.denominator;
    sums.denominator2 += trial.denominator * trial.denominator;
  }
  return sums;
}

Error no_spread() {
  return Error{ErrorKind::Undefined, "the variance between tasks needs at least 2 tasks, repeated",
               ""};
}

}  // namespace

double pooled_ratio(const TaskTrials& tasks) {
  const auto total = [&](double TrialRatio::*member) {
    double sum = 0;
    for (const std::vector<TrialRatio>& trials : tasks)
      for (const TrialRatio& trial : trials) sum += trial.*member;
    return sum;
  };
  const double denominator = total(&TrialRatio::denominator);
  return denominator > 0 ? total(&TrialRatio::numerator) / denominator : 0;
}

Result<double> variance_between_tasks(const TaskTrials& tasks) {
  const double ratio = pooled_ratio(tasks);
  double products = 0;
  double weights = 0;
  double n = 0;
  for (const std::vector<TrialRatio>& trials : tasks) {
    const ResidualSums s = residual_sums(trials, ratio);
    if (s.denominator > 0) ++n;
    products += s.residual * s.residual - s.residual2;
    weights += s.denominator * s.denominator - s.denominator2;
  }
  if (n < 2 || !(weights > 0)) return no_spread();
  return n / (n - 1) * products / weights;
}

Result<double> covariance_between_tasks(const TaskTrials& a, const TaskTrials& b) {
  if (a.size() != b.size())
    return Error{ErrorKind::InvalidArgument, "a covariance needs the same tasks in both arms", ""};
  const double ratio_a = pooled_ratio(a);
  const double ratio_b = pooled_ratio(b);
  double products = 0;
  double weights = 0;
  double n = 0;
  for (std::size_t t = 0; t < a.size(); ++t) {
    const ResidualSums x = residual_sums(a[t], ratio_a);
    const ResidualSums y = residual_sums(b[t], ratio_b);
    if (x.denominator > 0 && y.denominator > 0) ++n;
    products += x.residual * y.residual;
    weights += x.denominator * y.denominator;
  }
  if (n < 2) return no_spread();
  return n / (n - 1) * products / weights;
}

}  // namespace unmask
