#include "app/plant_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <climits>
#include <optional>
#include <vector>

#include "app/command_line.h"
#include "base/units.h"

namespace unmask {
namespace {

// One option that sets one field of `Options`.
template <typename Options, typename Value>
struct FieldFlag {
  const char* name;
  const char* description;
  Value Options::*field;
};

// One option that sets the same field of both arms, or of each its own.
template <typename Arm, typename Value>
struct ArmFlag {
  const char* name;
  const char* description;
  Value Arm::*field;
};

constexpr FieldFlag<PlantOptions, double> kRandomNumbers[] = {
    {"task-correlation", "correlation of failures within a task (0.2)",
     &PlantOptions::task_correlation},
    {"pairing", "correlation of a task's difficulty between the arms (1)", &PlantOptions::pairing},
    {"parallel-share", "share of calls made in the same message as the one before (0)",
     &PlantOptions::parallel_share},
    {"leaked-markup-share", "share of malformed calls that leak into the text (0)",
     &PlantOptions::leaked_markup_share},
    {"name-repeat", "chance that a hallucinated name is the episode's last one again (0.3)",
     &PlantOptions::name_repeat},
    {"user-calls-per-episode", "tool calls of the user (0)", &PlantOptions::user_calls_per_episode},
    {"user-failure-rate", "failures per call of the user (0)", &PlantOptions::user_failure_rate},
};

constexpr FieldFlag<PlantOptions, std::optional<double>> kRandomOptional[] = {
    {"success-correlation", "correlation of success within a task (as --task-correlation)",
     &PlantOptions::success_correlation},
    {"burst-mean", "mean run length of failures, at least 1; replaces --recovery",
     &PlantOptions::burst_mean},
};

constexpr ArmFlag<PlantedArm, double> kRandomArm[] = {
    {"tool-name-rate", "hallucinated tool names per call", &PlantedArm::tool_name_rate},
    {"schema-rate", "wrong arguments per call", &PlantedArm::schema_rate},
    {"entity-rate", "calls naming things that do not exist, per call", &PlantedArm::entity_rate},
    {"rejected-rate", "calls refused by the rules, per call", &PlantedArm::rejected_rate},
    {"malformed-rate", "unreadable calls, per call", &PlantedArm::malformed_rate},
    {"success", "final success rate (0.65)", &PlantedArm::success},
    {"coupling", "log-odds of success lost per failed call (0)", &PlantedArm::coupling},
    {"novel-share", "share of hallucinated calls with names the baseline never uses (0)",
     &PlantedArm::novel_share},
    {"infrastructure-rate", "share of episodes that never ran (0)",
     &PlantedArm::infrastructure_rate},
};

constexpr ArmFlag<PlantedArm, std::optional<double>> kRandomArmOptional[] = {
    {"calls-per-episode", "agent calls per episode (7.3)", &PlantedArm::calls_per_episode},
    {"recovery", "chance that the next call after a failure succeeds (0.55)",
     &PlantedArm::recovery},
};

constexpr ArmFlag<ExactArm, int> kExactArm[] = {
    {"agent-calls", "calls of the agent, over all episodes", &ExactArm::agent_calls},
    {"tool-name-calls", "of these: hallucinated tool names", &ExactArm::tool_name},
    {"schema-calls", "of these: wrong arguments", &ExactArm::schema},
    {"entity-calls", "of these: naming things that do not exist", &ExactArm::entity},
    {"rejected-calls", "of these: refused by the rules", &ExactArm::rejected},
    {"malformed-calls", "of these: unreadable", &ExactArm::malformed},
    {"novel-calls", "of the hallucinated: names the baseline never uses", &ExactArm::novel},
    {"user-calls", "calls of the user", &ExactArm::user_calls},
    {"user-failures", "of these: failed", &ExactArm::user_failures},
    {"successes", "episodes that succeed", &ExactArm::successes},
    {"successes-tight", "of these: with at most --k-tight failed calls",
     &ExactArm::successes_tight},
};

constexpr FieldFlag<PlantedReplayOptions, double> kReplayNumbers[] = {
    {"noise", "noise on the candidate's margins, nats (1)", &PlantedReplayOptions::sigma},
    {"shrink", "what its margins are multiplied by (1)", &PlantedReplayOptions::lambda},
    {"shift", "and moved by, nats (0)", &PlantedReplayOptions::alpha},
    {"replay-noise", "noise of the baseline when it is asked again, nats (0)",
     &PlantedReplayOptions::replay_noise},
    {"mean-margin", "mean of the baseline's margins, nats (3)", &PlantedReplayOptions::mean_margin},
    {"reach", "alternatives are given down to this many nats (10)", &PlantedReplayOptions::reach},
    {"hallucinated", "share of the baseline's names that are not offered (0.1)",
     &PlantedReplayOptions::hallucinated},
    {"tempting", "share of decisions whose closest competitor is not offered (0.3)",
     &PlantedReplayOptions::tempting},
};

struct SharedWhole {
  const char* name;
  const char* description;
  int PlantOptions::*random;
  int ExactOptions::*exact;
};

constexpr SharedWhole kSharedWhole[] = {
    {"tasks", "tasks (114)", &PlantOptions::tasks, &ExactOptions::tasks},
    {"trials", "trials of each task (4)", &PlantOptions::trials, &ExactOptions::trials},
    {"max-errors", "the error budget (10)", &PlantOptions::max_errors, &ExactOptions::max_errors},
    {"max-steps", "messages after which an episode is stopped (200)", &PlantOptions::max_steps,
     &ExactOptions::max_steps},
    {"names", "distinct hallucinated names (12; exact 20)", &PlantOptions::names,
     &ExactOptions::names},
};

Error bad_value(const std::string& name, const std::string& text, const char* expected) {
  return Error{ErrorKind::InvalidArgument,
               fmt::format("--{} must be {}, not '{}'", name, expected, text), ""};
}

Result<Done> set(const std::string& name, const std::string& text, double& field) {
  const std::optional<double> value = to_number(text);
  if (!value) return bad_value(name, text, "a number");
  field = *value;
  return Done{};
}

Result<Done> set(const std::string& name, const std::string& text, std::optional<double>& field) {
  if (name == "recovery" && text == "independent") {
    field = std::nullopt;
    return Done{};
  }
  double value = 0;
  const Result<Done> done = set(name, text, value);
  if (done) field = value;
  return done;
}

Result<Done> set(const std::string& name, const std::string& text, int& field) {
  const std::optional<long long> value = to_whole_number(text);
  if (!value || *value < 0 || *value > INT_MAX)
    return bad_value(name, text, "a whole number of at least 0");
  field = static_cast<int>(*value);
  return Done{};
}

// "0.1,0.2" is one value for each arm.
template <typename Value>
Result<Done> set_pair(const std::string& name, const std::string& text, Value& baseline,
                      Value& candidate) {
  const std::size_t comma = text.find(',');
  const Result<Done> first = set(name, text.substr(0, comma), baseline);
  if (!first) return first;
  if (comma != std::string::npos) return set(name, text.substr(comma + 1), candidate);
  candidate = baseline;
  return Done{};
}

using Values = std::map<std::string, std::string>;

template <typename Row, typename Options>
Result<Done> apply_fields(std::span<const Row> rows, const Values& values, Options& options) {
  for (const Row& row : rows) {
    const auto found = values.find(row.name);
    if (found == values.end()) continue;
    const Result<Done> done = set(row.name, found->second, options.*row.field);
    if (!done) return done;
  }
  return Done{};
}

template <typename Row, typename Arm>
Result<Done> apply_arms(std::span<const Row> rows, const Values& values, Arm& baseline,
                        Arm& candidate) {
  for (const Row& row : rows) {
    const auto found = values.find(row.name);
    if (found == values.end()) continue;
    const Result<Done> done =
        set_pair(row.name, found->second, baseline.*row.field, candidate.*row.field);
    if (!done) return done;
  }
  return Done{};
}

template <typename Options>
Result<Done> apply_shared(const Values& values, Options& options,
                          int Options::* (*field)(const SharedWhole&)) {
  for (const SharedWhole& row : kSharedWhole) {
    const auto found = values.find(row.name);
    if (found == values.end()) continue;
    const Result<Done> done = set(row.name, found->second, options.*field(row));
    if (!done) return done;
  }
  const auto domain = values.find("domain");
  if (domain != values.end()) options.domain = domain->second;
  const auto seed = values.find("seed");
  if (seed != values.end()) {
    const std::optional<long long> value = to_whole_number(seed->second);
    if (!value || *value < 0) return bad_value("seed", seed->second, "a whole number");
    options.seed = static_cast<std::uint64_t>(*value);
  }
  return Done{};
}

void add(CLI::App& app, Values& values, const char* name, const char* description, const char* type,
         const char* group) {
  app.add_option_function<std::string>(
         std::string("--") + name,
         [&values, key = std::string(name)](const std::string& text) { values[key] = text; },
         description)
      ->type_name(type)
      ->group(group);
}

}  // namespace

void add_plant_flags(CLI::App& app, PlantFlags& flags) {
  const char* shape = "shape";
  add(app, flags.shared, "domain", "telecom (default), retail or airline", "NAME", shape);
  app.get_option("--domain")->check(one_of(planted_domains()));
  for (const SharedWhole& row : kSharedWhole)
    add(app, flags.shared, row.name, row.description, "N", shape);
  add(app, flags.shared, "seed", "seed of everything drawn (20260731)", "N", shape);
  const char* margins = "margins (with --replay)";
  add(app, flags.replay, "decisions", "decisions of each task (20)", "N", margins);
  for (const auto& row : kReplayNumbers)
    add(app, flags.replay, row.name, row.description, "X", margins);
  const char* rates = "expectations (without --exact); B[,C]: one value, or one for each arm";
  for (const auto& row : kRandomArm)
    add(app, flags.random, row.name, row.description, "B[,C]", rates);
  for (const auto& row : kRandomArmOptional)
    add(app, flags.random, row.name, row.description, "B[,C]", rates);
  for (const auto& row : kRandomNumbers)
    add(app, flags.random, row.name, row.description, "X", rates);
  for (const auto& row : kRandomOptional)
    add(app, flags.random, row.name, row.description, "X", rates);
  const char* counts = "counts (with --exact)";
  for (const auto& row : kExactArm)
    add(app, flags.exact, row.name, row.description, "B[,C]", counts);
  add(app, flags.exact, "k-tight", "the tight budget (2)", "K", counts);
  add(app, flags.exact, "name-correlation", "rank correlation of the arms' name counts", "X",
      counts);
  add(app, flags.exact, "flat-within", "no significant change of the score, and equal within this",
      "POINTS", counts);
}

Result<Done> apply(const PlantFlags& flags, PlantedReplayOptions& options) {
  for (const Values* const others : {&flags.random, &flags.exact})
    if (!others->empty())
      return Error{ErrorKind::InvalidArgument,
                   fmt::format("--{} is of logs, not of a replay", others->begin()->first), ""};
  using Number = FieldFlag<PlantedReplayOptions, double>;
  const Result<Done> numbers =
      apply_fields(std::span<const Number>(kReplayNumbers), flags.replay, options);
  if (!numbers) return numbers;
  const auto decisions = flags.replay.find("decisions");
  if (decisions != flags.replay.end()) {
    const Result<Done> done = set("decisions", decisions->second, options.decisions);
    if (!done) return done;
  }
  for (const auto& [name, text] : flags.shared) {
    if (name == "seed") {
      const std::optional<long long> value = to_whole_number(text);
      if (!value || *value < 0) return bad_value(name, text, "a whole number");
      options.seed = static_cast<std::uint64_t>(*value);
    } else if (name == "tasks") {
      const Result<Done> done = set(name, text, options.tasks);
      if (!done) return done;
    } else {
      return Error{ErrorKind::InvalidArgument,
                   fmt::format("--{} is of logs, not of a replay", name), ""};
    }
  }
  return Done{};
}

Result<Done> apply(const PlantFlags& flags, PlantOptions& options) {
  if (!flags.exact.empty())
    return Error{ErrorKind::InvalidArgument,
                 fmt::format("--{} is a count and needs --exact", flags.exact.begin()->first), ""};
  const Result<Done> shared = apply_shared<PlantOptions>(
      flags.shared, options, [](const SharedWhole& row) { return row.random; });
  if (!shared) return shared;
  using Number = FieldFlag<PlantOptions, double>;
  const Result<Done> numbers =
      apply_fields(std::span<const Number>(kRandomNumbers), flags.random, options);
  if (!numbers) return numbers;
  using Optional = FieldFlag<PlantOptions, std::optional<double>>;
  const Result<Done> optional =
      apply_fields(std::span<const Optional>(kRandomOptional), flags.random, options);
  if (!optional) return optional;
  using ArmNumber = ArmFlag<PlantedArm, double>;
  const Result<Done> arms = apply_arms(std::span<const ArmNumber>(kRandomArm), flags.random,
                                       options.baseline, options.candidate);
  if (!arms) return arms;
  using ArmOptional = ArmFlag<PlantedArm, std::optional<double>>;
  return apply_arms(std::span<const ArmOptional>(kRandomArmOptional), flags.random,
                    options.baseline, options.candidate);
}

Result<Done> apply(const PlantFlags& flags, ExactOptions& options) {
  if (!flags.random.empty())
    return Error{
        ErrorKind::InvalidArgument,
        fmt::format("--{} is an expectation and cannot be met by --exact, which takes counts",
                    flags.random.begin()->first),
        ""};
  const Result<Done> shared = apply_shared<ExactOptions>(
      flags.shared, options, [](const SharedWhole& row) { return row.exact; });
  if (!shared) return shared;
  using Count = ArmFlag<ExactArm, int>;
  const Result<Done> counts = apply_arms(std::span<const Count>(kExactArm), flags.exact,
                                         options.baseline, options.candidate);
  if (!counts) return counts;
  for (const auto& [name, text] : flags.exact) {
    Result<Done> done = Done{};
    if (name == "k-tight") done = set(name, text, options.k_tight);
    if (name == "name-correlation") done = set(name, text, options.name_correlation);
    if (name == "flat-within") {
      done = set(name, text, options.flat_within);
      if (done) options.flat_within = from_points(*options.flat_within);
    }
    if (!done) return done;
  }
  return Done{};
}

}  // namespace unmask
