// A ratio of sums over clusters (failures over calls, by task) and its linearised standard error:
// what the intervals and tests of this room share.
#pragma once

#include <span>

namespace unmask {

struct ClusteredRatio {
  double numerator = 0;
  double denominator = 0;
  double rate = 0;       // numerator / denominator; 0 where the denominator is 0
  double se = 0;         // jackknife over clusters, linearised
  double clusters = 0;   // n, those with calls
  double failing = 0;    // those with a failure
  double effective = 0;  // (sum of calls)^2 / sum of calls^2: n where all have equally many calls
};

// se^2 = (n - 1) / n * sum over t of ((f_t - rate c_t) / (1 - c_t / C))^2 / C^2, C the sum of
// calls: what leaving out one task after the other moves the rate. With equal calls this is the
// textbook n / (n - 1) sum of (f_t - rate c_t)^2 / C^2; with unequal calls that one is too small,
// because a large task pulls the rate to itself.
//
// Shape   failures[t], calls[t] of the same task; tasks without calls take no part.
// Source  Cochran (1977) ch. 6; Bell & McCaffrey (2002) for the factor; Kish (1965) for
// `effective`.
ClusteredRatio clustered_ratio(std::span<const double> failures, std::span<const double> calls);

// Degrees of freedom for a t interval: the smaller of `failing` and `effective`, less 1; at
// least 1.
double degrees_of_freedom(const ClusteredRatio& ratio);

}  // namespace unmask
