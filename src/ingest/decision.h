// The JSON of a decision, rollout/decision.h, as values.
#pragma once

#include <string_view>

#include "base/result.h"
#include "trace/decision.h"

namespace unmask {

// Alternatives without a finite log-probability (probability 0) are left out; the others are put
// in order, most likely first.
//
// Errors   Malformed: no JSON object; a token, name or log-probability is missing or of another
//          type, a log-probability is above 0; more than 1024 tokens or alternatives.
Result<Decision> parse_decision(std::string_view json);

}  // namespace unmask
