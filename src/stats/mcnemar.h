// Two yes-or-no outcomes of the same subjects.
#pragma once

#include "base/result.h"

namespace unmask {

struct McNemar {
  double p_exact = 1;  // two-sided, conditional on the subjects whose outcomes differ
  double p_mid = 1;    // half the probability of what was seen: closer to the nominal level
};

// H0: a subject whose outcomes differ is as likely to have only the first as only the second.
// Subjects are taken as independent.
//
// Errors   InvalidArgument: a negative count. Undefined: no subject's outcomes differ.
// Source   McNemar (1947); Fagerland, Lydersen & Laake (2013) for the mid-p value.
Result<McNemar> mcnemar(long only_first, long only_second);

}  // namespace unmask
