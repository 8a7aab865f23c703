// How much of the spread of per-task numbers lies between tasks, apart from chance within them:
// what no number of further trials takes away.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"

namespace unmask {

// One trial of a task: failures of so many calls, or success (0 or 1) of 1.
struct TrialRatio {
  double numerator = 0;
  double denominator = 0;
};

// (task)(trial), numbers of trials may differ.
using TaskTrials = std::vector<std::vector<TrialRatio>>;

// Sum of numerators over sum of denominators; 0 where there are none.
double pooled_ratio(const TaskTrials& tasks);

// Variance between tasks of a task's true ratio.
//
// With e = numerator - ratio x denominator, products e_i e_j of different trials of one task have
// the task's variance as their mean, whatever the chance within a trial is like (bursts included):
//   n / (n - 1) x sum over tasks of sum over i != j of e_i e_j / sum of d_i d_j.
// For proportions with equal trials this is the analysis of variance, (MSB - MSW) / trials, but for
// - MSW / (trials (n - 1)). May come out below 0.
//
// Errors   Undefined: fewer than 2 tasks, or no task with two trials that have a denominator.
// Source   Searle, Casella & McCulloch (1992) ch. 3 for the balanced case.
Result<double> variance_between_tasks(const TaskTrials& tasks);

// The same for two arms' ratios of the same tasks, whose trials are independent of each other.
// Shape    a[t] and b[t] are the same task.
// Errors   InvalidArgument: lengths differ. Undefined: as above, one trial in each arm being
// enough.
Result<double> covariance_between_tasks(const TaskTrials& a, const TaskTrials& b);

}  // namespace unmask
