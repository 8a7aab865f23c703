// stats: numbers -> estimates. Knows no episode, arm or channel; every function can be checked
// against a textbook.
#pragma once

#include <algorithm>

namespace unmask {

struct Interval {
  double lo = 0;
  double hi = 0;

  bool operator==(const Interval&) const = default;
};

// The part of it between `least` and `most`, beyond which the quantity cannot lie: a symmetric
// interval of few tasks reaches past them. Coverage stays what it was.
inline Interval cut_to(const Interval& interval, double least, double most) {
  return {std::clamp(interval.lo, least, most), std::clamp(interval.hi, least, most)};
}

}  // namespace unmask
