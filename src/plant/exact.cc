// Exact mode. Episodes are drawn from the random model, so that tasks differ as they do there; the
// best-scored become the asked number of successes; then failures, other calls and recoveries are
// moved by single steps to the asked sums, within what each episode's class allows. Where the
// outcome must be flat, further draws are tried until it is. Nothing is left to chance in the sums.
#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "plant/exact_draft.h"
#include "plant/plant.h"
#include "plant/wording.h"
#include "stats/mean_test.h"

namespace unmask {
namespace {

constexpr int kDraws = 200;            // searched for a flat outcome
constexpr int kReferenceTasks = 2048;  // the counts are met whatever the model expects

struct Demand {
  std::string name;
  long value;
  long lo;
  long hi;
};

Result<Done> check_demands(const std::vector<Demand>& demands) {
  for (const Demand& demand : demands)
    if (demand.value < demand.lo || demand.value > demand.hi)
      return Error{ErrorKind::InvalidArgument,
                   fmt::format("{} must be from {} to {}, not {}", demand.name, demand.lo,
                               demand.hi, demand.value),
                   ""};
  return Done{};
}

Result<Done> check_arm(const ExactOptions& options, const ExactArm& arm, const std::string& name) {
  constexpr long kMost = 100'000'000;
  const long episodes = long{options.tasks} * options.trials;
  const long failures =
      long{arm.tool_name} + arm.schema + arm.entity + arm.rejected + arm.malformed;
  const Result<Done> checked = check_demands({
      {name + ".agent_calls", arm.agent_calls, 0, kMost},
      {name + ".tool_name", arm.tool_name, 0, kMost},
      {name + ".schema", arm.schema, 0, kMost},
      {name + ".entity", arm.entity, 0, kMost},
      {name + ".rejected", arm.rejected, 0, kMost},
      {name + ".malformed", arm.malformed, 0, kMost},
      {"the sum of " + name + "'s failed calls", failures, 0, arm.agent_calls},
      {name + ".novel", arm.novel, 0, name == "baseline" ? 0 : arm.tool_name},
      {name + ".user_calls", arm.user_calls, 0, kMost},
      {name + ".user_failures", arm.user_failures, 0, arm.user_calls},
      {name + ".successes", arm.successes, 0, episodes},
      {name + ".successes_tight", arm.successes_tight, 0, arm.successes},
  });
  if (!checked) return checked;
  if (!(arm.recovery >= 0 && arm.recovery <= 1))
    return Error{ErrorKind::InvalidArgument,
                 fmt::format("{}.recovery must be from 0 to 1, not {}", name, arm.recovery), ""};
  return Done{};
}

// The random model whose expectations are the counts. Its own reach is narrower than exact mode's:
// where recovery or correlation go beyond it, failures are drawn without bursts or alike.
Result<ArmModel> model_of(const ExactOptions& options, const ExactArm& arm,
                          const std::string& name) {
  const double calls = std::max(1, arm.agent_calls);
  PlantOptions model;
  model.domain = options.domain;
  model.tasks = options.tasks;
  model.trials = options.trials;
  model.max_errors = options.max_errors;
  model.max_steps = options.max_steps;
  model.task_correlation = options.task_correlation;
  model.success_correlation = options.success_correlation;
  model.length_spread = options.length_spread;
  model.names = options.names;
  model.baseline.tool_name_rate = arm.tool_name / calls;
  model.baseline.schema_rate = arm.schema / calls;
  model.baseline.entity_rate = arm.entity / calls;
  model.baseline.rejected_rate = arm.rejected / calls;
  model.baseline.malformed_rate = arm.malformed / calls;
  model.baseline.coupling = options.coupling;
  model.baseline.calls_per_episode =
      std::max(1.0, calls / (double(options.tasks) * options.trials));
  model.baseline.recovery = arm.recovery;
  model.baseline.success = 0.5;  // checked below; the scores decide who succeeds
  Result<Done> checked = check_options(model);
  if (!checked) return checked.error();
  Result<ArmModel> made = ArmModel::make(model, model.baseline, name, kReferenceTasks);
  if (made) return made;
  model.baseline.recovery = std::nullopt;
  return ArmModel::make(model, model.baseline, name, kReferenceTasks);
}

Result<bool> is_flat(const ArmDraft& baseline, const ArmDraft& candidate, double margin) {
  std::vector<double> differences = candidate.task_success();
  const std::vector<double> before = baseline.task_success();
  for (std::size_t t = 0; t < differences.size(); ++t) differences[t] -= before[t];
  const Result<MeanTest> test = mean_t_test(differences);
  if (!test) return test.error();
  const Result<Equivalence> equivalence = tost(differences, margin);
  if (!equivalence) return equivalence.error();
  return test->p >= 0.05 && equivalence->equivalent;
}

// What the scripts hold, counted afresh.
ExactArm recount(const std::vector<ScriptedEpisode>& scripts, const ExactOptions& options) {
  ExactArm counted;
  for (const ScriptedEpisode& script : scripts) {
    for (const ScriptedCall& call : script.calls) {
      const bool agent = call.side == Side::Agent;
      counted.agent_calls += agent ? 1 : 0;
      counted.user_calls += agent ? 0 : 1;
      counted.user_failures += !agent && call.kind != CallKind::Ok ? 1 : 0;
      counted.tool_name += agent && call.kind == CallKind::ToolName ? 1 : 0;
      counted.novel += agent && call.name >= options.names ? 1 : 0;
      counted.schema += call.kind == CallKind::Schema ? 1 : 0;
      counted.entity += call.kind == CallKind::Entity ? 1 : 0;
      counted.rejected += call.kind == CallKind::Rejected ? 1 : 0;
      counted.malformed += call.kind == CallKind::Malformed ? 1 : 0;
    }
    const int spent = budget_spent(script);
    UNMASK_CHECK((spent >= options.max_errors) == (script.end == ScriptEnd::OutOfErrors));
    counted.successes += script.success ? 1 : 0;
    counted.successes_tight += script.success && spent <= options.k_tight ? 1 : 0;
  }
  return counted;
}

void check_recount(const ExactArm& counted, const ExactArm& asked) {
  UNMASK_CHECK(counted.agent_calls == asked.agent_calls);
  UNMASK_CHECK(counted.tool_name == asked.tool_name);
  UNMASK_CHECK(counted.novel == asked.novel);
  UNMASK_CHECK(counted.schema == asked.schema);
  UNMASK_CHECK(counted.entity == asked.entity);
  UNMASK_CHECK(counted.rejected == asked.rejected);
  UNMASK_CHECK(counted.malformed == asked.malformed);
  UNMASK_CHECK(counted.user_calls == asked.user_calls);
  UNMASK_CHECK(counted.user_failures == asked.user_failures);
  UNMASK_CHECK(counted.successes == asked.successes);
  UNMASK_CHECK(counted.successes_tight == asked.successes_tight);
}

Run run_of(const std::vector<ScriptedEpisode>& scripts, const ExactOptions& options,
           const ExactArm& arm, const std::string& name, const DomainWords& words) {
  check_recount(recount(scripts, options), arm);
  const std::vector<std::string> vocabulary =
      hallucinated_vocabulary(words, options.names, kNovelNames);
  Rng texts(options.seed, name + " texts");
  Run run;
  run.info =
      planted_run_info(words, arm.label.empty() ? "planted-" + name : arm.label, options.tasks,
                       options.trials, options.max_steps, options.max_errors, options.seed);
  for (std::size_t i = 0; i < scripts.size(); ++i) {
    const int task = static_cast<int>(i) / options.trials;
    const int trial = static_cast<int>(i) % options.trials;
    run.episodes.push_back(
        put_into_words(scripts[i], {task, trial, name}, words, vocabulary, texts));
  }
  return run;
}

// Draws both arms, again where the outcome has to be flat and is not.
Result<Done> draw_both(const ExactOptions& options, ArmDraft& baseline, ArmDraft& candidate) {
  const Result<ArmModel> before = model_of(options, options.baseline, "baseline");
  if (!before) return before.error();
  const Result<ArmModel> after = model_of(options, options.candidate, "candidate");
  if (!after) return after.error();
  for (int draw = 0; draw < kDraws; ++draw) {
    const std::uint64_t seed = options.seed + static_cast<std::uint64_t>(draw);
    const std::vector<PairedLatents> latents = draw_latents(options.tasks, 1.0, seed);
    Result<Done> drawn = baseline.draw(*before, latents, seed);
    if (!drawn) return drawn;
    drawn = candidate.draw(*after, latents, seed);
    if (!drawn) return drawn;
    if (!options.flat_within) return Done{};
    const Result<bool> flat = is_flat(baseline, candidate, *options.flat_within);
    if (!flat) return flat.error();
    if (*flat) return Done{};
  }
  return Error{ErrorKind::InvalidArgument,
               fmt::format("flat_within {} is not met by any of {} draws with {} and {} successes",
                           *options.flat_within, kDraws, options.baseline.successes,
                           options.candidate.successes),
               ""};
}

}  // namespace

Result<PlantedPair> plant_exact(const ExactOptions& options) {
  const Result<const DomainWords*> words = domain_words(options.domain);
  if (!words) return words.error();
  Result<Done> done = check_demands({{"tasks", options.tasks, 1, 1'000'000},
                                     {"trials", options.trials, 1, 10'000},
                                     {"max_errors", options.max_errors, 1, 1000},
                                     {"k_tight", options.k_tight, 0, 1000},
                                     {"names", options.names, 1, 1000}});
  if (!done) return done.error();
  done = check_arm(options, options.baseline, "baseline");
  if (!done) return done.error();
  done = check_arm(options, options.candidate, "candidate");
  if (!done) return done.error();
  ArmDraft baseline(options, options.baseline, "baseline");
  ArmDraft candidate(options, options.candidate, "candidate");
  done = draw_both(options, baseline, candidate);
  if (!done) return done.error();
  const Result<ExactNames> names = exact_names(options);
  if (!names) return names.error();
  done = baseline.settle_counts(options.seed);
  if (!done) return done.error();
  done = candidate.settle_counts(options.seed);
  if (!done) return done.error();
  return PlantedPair{run_of(baseline.scripts(names->baseline, options.seed), options,
                            options.baseline, "baseline", **words),
                     run_of(candidate.scripts(names->candidate, options.seed), options,
                            options.candidate, "candidate", **words)};
}

}  // namespace unmask
