// plant: logs with a known truth, for tests, power and teaching. Shares no counting code with
// metrics.
//
// Two modes. plant_random draws episodes from a model whose expectations are the options;
// plant_exact builds a pair of logs that meets given counts exactly. Both write episodes as
// tau2-bench would have logged them, with texts whose channel is known. docs/plant.md has the model
// and formulas.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trace/episode.h"

namespace unmask {

// The truth of one planted arm. Rates are proportions of the agent's calls, before the budget cuts
// episodes short.
struct PlantedArm {
  std::string label;          // also the model's name in the log
  double tool_name_rate = 0;  // hallucinated names per agent call
  double schema_rate = 0;
  double entity_rate = 0;
  double rejected_rate = 0;
  double malformed_rate = 0;
  // Recovered / failures as METHOD 4 counts them: a failure is recovered when the agent's next call
  // succeeds, and a last failure is not. nullopt: calls of an episode fail independently.
  std::optional<double> recovery = 0.55;
  double success = 0.65;  // final success rate, cut episodes (which fail) included
  // How strongly an episode's errors lower its chance of success: log-odds per failed agent call.
  // The final success rate stays as asked.
  double coupling = 0;
  double novel_share = 0;          // share of hallucinated calls with names the baseline never uses
  double infrastructure_rate = 0;  // share of episodes that never ran
  std::optional<double> calls_per_episode;  // nullopt: the pair's
};

struct PlantOptions {
  std::string domain = "telecom";  // "telecom", "retail" or "airline"
  int tasks = 114;
  int trials = 4;
  int max_errors = 10;
  int max_steps = 200;
  double calls_per_episode = 7.3;  // mean number of agent calls, at least 1
  double length_spread = 0.4;  // standard deviation of the log of an episode's mean further calls
  // Intra-task correlation of failures and of success, in [0, 1); 0: tasks are alike.
  double task_correlation = 0.2;
  std::optional<double> success_correlation;  // of success alone; nullopt: task_correlation
  // Correlation of a task's effects between the arms: 1, the same task is as hard for both.
  double pairing = 1.0;
  // Mean run length of failures, at least 1. Replaces both arms' recovery where set.
  std::optional<double> burst_mean;
  double parallel_share = 0;       // share of calls made in the same message as the one before
  double leaked_markup_share = 0;  // share of malformed calls that leak into the text
  int names = 12;                  // distinct hallucinated names, Zipf-like shares
  double name_repeat = 0.3;        // P(a hallucinated name is the episode's last one again)
  double user_calls_per_episode = 0;
  double user_failure_rate = 0;  // per user call
  std::uint64_t seed = 20260731;
  PlantedArm baseline;
  PlantedArm candidate;
};

struct PlantedPair {
  Run baseline;
  Run candidate;
};

// What random mode is expected to give after the budget has cut episodes short. Estimated from a
// large population of its own seed: the same for every PlantOptions::seed.
struct ExpectedArm {
  double agent_calls = 0;  // per episode that ran
  double tool_name = 0;    // per episode, as the next four
  double schema = 0;
  double entity = 0;
  double rejected = 0;
  double malformed = 0;
  double errors = 0;  // E per episode
  double cut = 0;     // share ended by the budget
  double success = 0;
  std::vector<double> success_within;  // [K] = P(Y = 1 and E <= K), K = 0 ... max_errors
};

// The random model, solved once for its options and then drawn from many times.
//
// Threads  const members are safe to call concurrently.
class Planter {
 public:
  // Errors   InvalidArgument, naming the option, for values outside their range or that no model
  //          reaches.
  static Result<Planter> make(const PlantOptions& options);
  ~Planter();
  Planter(Planter&&) noexcept;
  Planter& operator=(Planter&&) noexcept;

  // The pair of this seed; PlantOptions::seed is not used.
  PlantedPair draw(std::uint64_t seed) const;

  const ExpectedArm& expected_baseline() const;
  const ExpectedArm& expected_candidate() const;

 private:
  struct Model;
  explicit Planter(std::unique_ptr<const Model> model);
  std::unique_ptr<const Model> model_;
};

// Random mode: rates are expectations. One draw, of options.seed.
// Errors   InvalidArgument, naming the option, for values outside their range.
Result<PlantedPair> plant_random(const PlantOptions& options);

// Exact mode: counts of one arm over all its episodes, none of which is cut unless its E reaches
// max_errors.
struct ExactArm {
  std::string label;
  int agent_calls = 0;
  int tool_name = 0;  // hallucinated calls
  int schema = 0;
  int entity = 0;
  int rejected = 0;
  int malformed = 0;  // unreadable arguments, answered: they count in E
  int novel = 0;      // of the hallucinated: with names the baseline never uses (candidate only)
  int user_calls = 0;
  int user_failures = 0;
  int successes = 0;        // episodes with Y = 1
  int successes_tight = 0;  // of these, with E <= k_tight
  double recovery = 0.55;   // the nearest count of recovered failures is met
};

struct ExactOptions {
  std::string domain = "telecom";
  int tasks = 114;
  int trials = 4;
  int max_errors = 10;
  int max_steps = 200;
  int k_tight = 2;
  int names = 20;
  // Rank correlation (Spearman, mid ranks over the union) of the arms' name counts, to two digits.
  std::optional<double> name_correlation;
  // The outcome differs neither significantly (paired t over tasks, 0.05) nor beyond this margin
  // (two one-sided tests); nullopt: no such demand.
  std::optional<double> flat_within;
  // The shape of what the counts leave open, as in PlantOptions.
  double task_correlation = 0.2;
  double success_correlation = 0.5;
  double length_spread = 0.4;
  double coupling = 0;
  std::uint64_t seed = 20260731;
  ExactArm baseline;
  ExactArm candidate;
};

// Builds logs that meet every count, with realistic differences between tasks; recounts them before
// returning.
// Errors   InvalidArgument: counts that contradict each other or cannot be met, naming the
// constraint.
Result<PlantedPair> plant_exact(const ExactOptions& options);

// Named cells.
PlantOptions preset_damaged();  // the paper's: Gemma-4 dense, telecom, BF16 -> INT4
PlantOptions preset_clean();    // Qwen-3.6: near-zero propensity, nothing happens
// Two arms with the same truth: `rate` hallucinated names per call.
PlantOptions preset_aa(double rate, double correlation, bool bursts);
ExactOptions exact_damaged();
ExactOptions exact_clean();

struct PlantedPreset {
  std::string_view name;  // as typed after --preset
  std::string_view description;
  bool exact = false;  // has an exact mode
};
std::vector<PlantedPreset> planted_presets();
std::vector<std::string> planted_domains();

// Errors   NotFound: no such preset, or it has no such mode; says which there are.
Result<PlantOptions> random_preset(std::string_view name);
Result<ExactOptions> exact_preset(std::string_view name);

}  // namespace unmask
