// The ranges of every option of random mode.
#include <fmt/format.h>

#include <cmath>

#include "plant/model.h"
#include "plant/wording.h"

namespace unmask {
namespace {

struct Range {
  std::string name;
  double value;
  double lo;
  double hi;
  bool hi_allowed = true;
};

Result<Done> check(const Range& range) {
  const bool inside = range.value >= range.lo && range.value <= range.hi &&
                      (range.hi_allowed || range.value < range.hi);
  if (inside) return Done{};
  return Error{ErrorKind::InvalidArgument,
               fmt::format("{} must be from {} {} {}, not {}", range.name, range.lo,
                           range.hi_allowed ? "to" : "to below", range.hi, range.value),
               ""};
}

constexpr double kMany = 1e6;

std::vector<Range> arm_ranges(const PlantedArm& arm, const std::string& name) {
  std::vector<Range> ranges = {
      {name + ".tool_name_rate", arm.tool_name_rate, 0, 1},
      {name + ".schema_rate", arm.schema_rate, 0, 1},
      {name + ".entity_rate", arm.entity_rate, 0, 1},
      {name + ".rejected_rate", arm.rejected_rate, 0, 1},
      {name + ".malformed_rate", arm.malformed_rate, 0, 1},
      {name + ".success", arm.success, 0, 1},
      {name + ".coupling", arm.coupling, -20, 20},
      {name + ".novel_share", arm.novel_share, 0, 1},
      {name + ".infrastructure_rate", arm.infrastructure_rate, 0, 1, false},
      {"the sum of " + name + "'s rates",
       arm.tool_name_rate + arm.schema_rate + arm.entity_rate + arm.rejected_rate +
           arm.malformed_rate,
       0, 1, false},
  };
  if (arm.recovery) ranges.push_back({name + ".recovery", *arm.recovery, 0.01, 1});
  if (arm.calls_per_episode)
    ranges.push_back({name + ".calls_per_episode", *arm.calls_per_episode, 1, 1000});
  return ranges;
}

std::vector<Range> pair_ranges(const PlantOptions& options) {
  std::vector<Range> ranges = {
      {"tasks", double(options.tasks), 1, kMany},
      {"trials", double(options.trials), 1, 10000},
      {"max_errors", double(options.max_errors), 1, 1000},
      {"max_steps", double(options.max_steps), 4, kMany},
      {"calls_per_episode", options.calls_per_episode, 1, 1000},
      {"length_spread", options.length_spread, 0, 3},
      {"task_correlation", options.task_correlation, 0, 1, false},
      {"success_correlation", options.success_correlation.value_or(0), 0, 1, false},
      {"pairing", options.pairing, 0, 1},
      {"burst_mean", options.burst_mean.value_or(1), 1, 1000},
      {"parallel_share", options.parallel_share, 0, 1, false},
      {"leaked_markup_share", options.leaked_markup_share, 0, 1},
      {"names", double(options.names), 1, 1000},
      {"name_repeat", options.name_repeat, 0, 1},
      {"user_calls_per_episode", options.user_calls_per_episode, 0, 1000},
      {"user_failure_rate", options.user_failure_rate, 0, 1},
  };
  return ranges;
}

}  // namespace

Result<Done> check_options(const PlantOptions& options) {
  const Result<const DomainWords*> words = domain_words(options.domain);
  if (!words) return words.error();
  std::vector<Range> ranges = pair_ranges(options);
  for (const Range& range : arm_ranges(options.baseline, "baseline")) ranges.push_back(range);
  for (const Range& range : arm_ranges(options.candidate, "candidate")) ranges.push_back(range);
  for (const Range& range : ranges) {
    const Result<Done> checked = check(range);
    if (!checked) return checked;
  }
  if (options.baseline.novel_share > 0)
    return Error{ErrorKind::InvalidArgument,
                 "baseline.novel_share must be 0: novel means never used by the baseline", ""};
  if (options.user_calls_per_episode > 0 && known_tools(options.domain, Side::User).empty())
    return Error{
        ErrorKind::InvalidArgument,
        "user_calls_per_episode must be 0 in " + options.domain + ": its users have no tools", ""};
  return Done{};
}

}  // namespace unmask
