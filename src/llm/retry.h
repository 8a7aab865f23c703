// How long to wait before a request is sent again.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include "base/rng.h"

namespace unmask {

struct Backoff {
  double base_seconds = 0.5;
  double cap_seconds = 30;
  double retry_after_cap_seconds = 120;
};

// The wait before retry number `retry` (0-based): between half and all of base * 2^retry, at most
// the cap; not less than what the server asked for, up to that value's own cap.
double backoff_seconds(const Backoff& backoff, int retry, std::optional<double> asked_seconds,
                       Rng& rng);

// The value of a Retry-After header: seconds, or an HTTP date seen from `now` (seconds since 1970).
// A date gone by is 0; nullopt where it is neither.
std::optional<double> retry_after_seconds(const std::string& text, std::int64_t now);

// False: a stop was asked for.
bool sleep_unless_stopped(double seconds, const std::stop_token& stop);

// Statuses that may go away by themselves: 408, 409, 425, 429 and 5xx but 501 and 505.
bool is_passing_status(int status);

}  // namespace unmask
