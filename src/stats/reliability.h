// Do events happen as often as they were predicted to?
#pragma once

#include <span>
#include <vector>

#include "base/result.h"

namespace unmask {

struct ReliabilityBin {
  double lo = 0;  // smallest and largest prediction in it
  double hi = 0;
  long rows = 0;
  double predicted = 0;  // mean
  double observed = 0;   // share of events
};

struct Reliability {
  std::vector<ReliabilityBin> bins;
  double expected_calibration_error = 0;  // mean over rows of |predicted - observed| of their bin
  // What that error is on average where every prediction is right and rows are independent: few
  // rows are never without error. Half-normal mean of each bin's sampling error.
  double error_of_chance = 0;
  double brier = 0;  // mean of (prediction - event)^2
};

// Bins hold equally many rows as far as equal predictions, which stay together, allow. Equal counts
// rather than equal widths: where nearly all predictions are near 0, bins of equal width would be
// one bin with everything in it.
//
// Shape    predicted[i] in [0, 1] and event[i] (0 or 1) of the same row.
// Errors   InvalidArgument: lengths differ, bins < 1, a value out of range. Undefined: no row.
// Source   Naeini, Cooper & Hauskrecht (2015); Nguyen & O'Connor (2015) for equal counts.
Result<Reliability> reliability(std::span<const double> predicted, std::span<const int> event,
                                int bins = 10);

}  // namespace unmask
