// Random mode. Every part draws from a stream of its own, named after what it decides, so that an
// option that changes one part leaves the others as they were.
#include "plant/model.h"
#include "plant/plant.h"
#include "plant/wording.h"

namespace unmask {
namespace {

constexpr int kNovelVocabulary = 4;  // as many as every domain lists

// Zipf: the k-th name's share is proportional to 1 / (k + 1).
int draw_name(int names, Rng& rng) {
  double total = 0;
  for (int k = 0; k < names; ++k) total += 1.0 / (k + 1);
  double rest = rng.uniform() * total;
  for (int k = 0; k < names; ++k) {
    rest -= 1.0 / (k + 1);
    if (rest < 0) return k;
  }
  return names - 1;
}

// The repeated name keeps every name's expected share, and the novel share, as they are.
void assign_names(ScriptedEpisode& episode, const PlantOptions& options, double novel_share,
                  Rng& rng) {
  int last = -1;
  for (ScriptedCall& call : episode.calls) {
    if (call.side != Side::Agent || call.kind != CallKind::ToolName) continue;
    if (last < 0 || !rng.bernoulli(options.name_repeat))
      last = rng.bernoulli(novel_share)
                 ? options.names + static_cast<int>(rng.below(kNovelVocabulary))
                 : draw_name(options.names, rng);
    call.name = last;
  }
}

}  // namespace

struct Planter::Model {
  PlantOptions options;
  const DomainWords* words;
  std::vector<std::string> vocabulary;
  ArmModel baseline;
  ArmModel candidate;

  Run draw_arm(bool is_baseline, std::span<const PairedLatents> latents, std::uint64_t seed) const;
};

Run Planter::Model::draw_arm(bool is_baseline, std::span<const PairedLatents> latents,
                             std::uint64_t seed) const {
  const ArmModel& model = is_baseline ? baseline : candidate;
  const PlantedArm& arm = is_baseline ? options.baseline : options.candidate;
  const std::string name = is_baseline ? "baseline" : "candidate";
  Rng calls(seed, name + " calls");
  Rng outcomes(seed, name + " outcomes");
  Rng names(seed, name + " names");
  Rng texts(seed, name + " texts");
  Rng faults(seed, name + " faults");
  Run run;
  run.info =
      planted_run_info(*words, arm.label.empty() ? "planted-" + name : arm.label, options.tasks,
                       options.trials, options.max_steps, options.max_errors, seed);
  for (int task = 0; task < options.tasks; ++task) {
    const PairedLatents& both = latents[static_cast<std::size_t>(task)];
    const TaskTraits traits = model.traits(is_baseline ? both.baseline : both.candidate);
    for (int trial = 0; trial < options.trials; ++trial) {
      ScriptedEpisode script = model.draw_calls(traits, calls);
      script.success = outcomes.bernoulli(model.success_probability(traits, script));
      assign_names(script, options, arm.novel_share, names);
      if (faults.bernoulli(arm.infrastructure_rate)) script.end = ScriptEnd::NeverRan;
      run.episodes.push_back(
          put_into_words(script, {task, trial, name}, *words, vocabulary, texts));
    }
  }
  return run;
}

Planter::Planter(std::unique_ptr<const Model> model) : model_(std::move(model)) {}
Planter::~Planter() = default;
Planter::Planter(Planter&&) noexcept = default;
Planter& Planter::operator=(Planter&&) noexcept = default;

Result<Planter> Planter::make(const PlantOptions& options) {
  const Result<Done> checked = check_options(options);
  if (!checked) return checked.error();
  const Result<const DomainWords*> words = domain_words(options.domain);
  if (!words) return words.error();
  Result<ArmModel> baseline = ArmModel::make(options, options.baseline, "baseline");
  if (!baseline) return baseline.error();
  Result<ArmModel> candidate = ArmModel::make(options, options.candidate, "candidate");
  if (!candidate) return candidate.error();
  return Planter(std::make_unique<const Model>(
      Model{options, *words, hallucinated_vocabulary(**words, options.names, kNovelVocabulary),
            std::move(*baseline), std::move(*candidate)}));
}

PlantedPair Planter::draw(std::uint64_t seed) const {
  const std::vector<PairedLatents> latents =
      draw_latents(model_->options.tasks, model_->options.pairing, seed);
  return {model_->draw_arm(true, latents, seed), model_->draw_arm(false, latents, seed)};
}

const ExpectedArm& Planter::expected_baseline() const {
  return model_->baseline.expected();
}
const ExpectedArm& Planter::expected_candidate() const {
  return model_->candidate.expected();
}

Result<PlantedPair> plant_random(const PlantOptions& options) {
  const Result<Planter> planter = Planter::make(options);
  if (!planter) return planter.error();
  return planter->draw(options.seed);
}

}  // namespace unmask
