#include "rollout/model_health.h"

#include <algorithm>

#include "llm/chat_model.h"

namespace unmask {

namespace {

constexpr int kPatienceAtStart = 3;
constexpr int kLeastPatience = 10;

}  // namespace

ModelHealth::ModelHealth(const std::vector<Model>& models) {
  for (const Model& model : models)
    models_.push_back({model.name, std::max(kLeastPatience, 2 * model.slots), false, 0});
}

void ModelHealth::answered(std::size_t model) {
  models_[model].ever_answered = true;
  models_[model].failed_in_a_row = 0;
}

Result<ModelHealth::Count> ModelHealth::failed(std::size_t model, const Error& error) {
  State& at = models_[model];
  // Full before the model has ever said a word: prompt and max_tokens do not fit at all.
  const bool too_small = error.where == kContextWindow && !at.ever_answered;
  const bool gone = error.kind == ErrorKind::Unavailable && !too_small;
  const bool refuses =
      error.kind == ErrorKind::InvalidArgument || error.kind == ErrorKind::Unsupported || too_small;
  // Else a full context, or a reply that makes no sense, is about the conversation.
  if ((error.where == kContextWindow && !too_small) || (!gone && !refuses)) return Count::AsPlayed;
  ++at.failed_in_a_row;
  if (!at.ever_answered && at.failed_in_a_row >= kPatienceAtStart)
    return Error{
        error.kind,
        std::string(gone ? "does not answer" : "refuses every request") + ": " + error.message,
        at.name};
  if (at.failed_in_a_row >= at.patience)
    return Error{error.kind,
                 "answers no longer, " + std::to_string(at.failed_in_a_row) +
                     " episodes in a row: " + error.message,
                 at.name};
  return !at.ever_answered && refuses ? Count::NotAtAll : Count::AsPlayed;
}

}  // namespace unmask
