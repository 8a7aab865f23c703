// Idea. Jobs that use the same endpoints wait in one line. A free thread looks at the heads of the
// lines whose endpoints all have room and takes the one that comes first in the caller's order; it
// takes a slot of each of its endpoints along and gives them back afterwards. Lines are as many as
// arms, so a look is cheap, and one lock will do: an episode takes seconds, a look microseconds.
#include "rollout/schedule.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/check.h"

namespace unmask {

namespace {

struct Line {
  std::vector<std::size_t> endpoints;
  std::deque<std::size_t> jobs;
};

class Scheduler {
 public:
  Scheduler(std::span<const Job> jobs, const ScheduleLimits& limits, std::stop_token stop,
            const std::function<Result<Done>(std::size_t)>& work)
      : room_(limits.endpoints), waiting_(jobs.size()), stop_(std::move(stop)), work_(work) {
    std::map<std::vector<std::size_t>, std::size_t> line_of;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const auto [found, added] = line_of.emplace(jobs[i].endpoints, lines_.size());
      if (added) lines_.push_back({jobs[i].endpoints, {}});
      lines_[found->second].jobs.push_back(i);
    }
  }

  // What one thread does.
  void serve() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (Line* line = next_line(lock)) {
      const std::size_t job = line->jobs.front();
      line->jobs.pop_front();
      --waiting_;
      for (const std::size_t endpoint : line->endpoints) --room_[endpoint];
      lock.unlock();
      const std::optional<Error> error = attempt(job);
      lock.lock();
      for (const std::size_t endpoint : line->endpoints) ++room_[endpoint];
      note(error);
      changed_.notify_all();
    }
    changed_.notify_all();
  }

  ScheduleEnd end() {
    if (thrown_) std::rethrow_exception(thrown_);
    end_.stopped = waiting_ > 0 && !end_.error;
    return end_;
  }

 private:
  bool over() const { return waiting_ == 0 || end_.error || thrown_ || stop_.stop_requested(); }

  Line* first_with_room() {
    Line* best = nullptr;
    for (Line& line : lines_) {
      if (line.jobs.empty() || (best && best->jobs.front() < line.jobs.front())) continue;
      const bool room = std::all_of(line.endpoints.begin(), line.endpoints.end(),
                                    [&](std::size_t endpoint) { return room_[endpoint] > 0; });
      if (room) best = &line;
    }
    return best;
  }

  // nullptr: there is nothing more to do.
  Line* next_line(std::unique_lock<std::mutex>& lock) {
    while (!over()) {
      if (Line* line = first_with_room()) return line;
      changed_.wait(lock, stop_, [&] { return over() || first_with_room() != nullptr; });
    }
    return nullptr;
  }

  std::optional<Error> attempt(std::size_t job) {
    try {
      const Result<Done> done = work_(job);
      return done ? std::nullopt : std::optional<Error>(done.error());
    } catch (...) {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!thrown_) thrown_ = std::current_exception();
      return Error{ErrorKind::Unavailable, "ended by an exception", ""};
    }
  }

  void note(const std::optional<Error>& error) {
    if (!error)
      ++end_.done;
    else if (!end_.error)
      end_.error = error;
  }

  std::vector<Line> lines_;
  std::vector<int> room_;
  std::size_t waiting_;
  std::stop_token stop_;
  const std::function<Result<Done>(std::size_t)>& work_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  ScheduleEnd end_;
  std::exception_ptr thrown_;
};

std::size_t threads_for(std::span<const Job> jobs, const ScheduleLimits& limits) {
  std::size_t most = 0;
  for (const int limit : limits.endpoints) most += static_cast<std::size_t>(limit);
  if (limits.total > 0) most = static_cast<std::size_t>(limits.total);
  return std::min(most, jobs.size());
}

}  // namespace

ScheduleEnd run_schedule(std::span<const Job> jobs, const ScheduleLimits& limits,
                         std::stop_token stop,
                         const std::function<Result<Done>(std::size_t job)>& work) {
  for (const int limit : limits.endpoints) UNMASK_CHECK(limit >= 1);
  for (const Job& job : jobs) {
    UNMASK_CHECK(!job.endpoints.empty());
    for (const std::size_t endpoint : job.endpoints)
      UNMASK_CHECK(endpoint < limits.endpoints.size());
  }
  Scheduler scheduler(jobs, limits, std::move(stop), work);
  {
    std::vector<std::jthread> threads;
    const std::size_t count = threads_for(jobs, limits);
    for (std::size_t i = 0; i < count; ++i) {
      try {
        threads.emplace_back([&] { scheduler.serve(); });
      } catch (const std::system_error&) {  // the system allows no more: fewer will do
        if (threads.empty()) throw;
        break;
      }
    }
  }
  return scheduler.end();
}

}  // namespace unmask
