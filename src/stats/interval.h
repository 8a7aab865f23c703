// stats: numbers -> estimates. Knows no episode, arm or channel; every function can be checked
// against a textbook.
#pragma once

namespace unmask {

struct Interval {
  double lo = 0;
  double hi = 0;

  bool operator==(const Interval&) const = default;
};

}  // namespace unmask
