// Many pieces of work at once within limits: episodes over endpoints.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "base/result.h"

namespace unmask {

// One piece of work and what it keeps busy meanwhile: indices into the limits, each once.
struct Job {
  std::vector<std::size_t> endpoints;
};

struct ScheduleLimits {
  std::vector<int> endpoints;  // jobs at once that may use endpoint i, at least 1
  int total = 0;               // jobs at once; 0: as many as the endpoints allow
};

struct ScheduleEnd {
  std::size_t done = 0;        // jobs that returned without an error
  std::optional<Error> error;  // the first one a job returned
  bool stopped = false;        // jobs were left because a stop was asked for
};

// Calls work(i) for each job, on a thread of its own for each that runs. An idle thread takes the
// first job in order whose endpoints all have room, so a busy endpoint holds up only its own jobs.
// When a stop is asked for or a job returns an error, no further job begins; those in flight are
// waited for.
//
// Threads  up to min(total, number of jobs) at once, ended when it returns.
ScheduleEnd run_schedule(std::span<const Job> jobs, const ScheduleLimits& limits,
                         std::stop_token stop,
                         const std::function<Result<Done>(std::size_t job)>& work);

}  // namespace unmask
