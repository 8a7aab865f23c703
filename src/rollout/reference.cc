#include "rollout/reference.h"

namespace unmask {

using Speaker = ReplayMessage::Speaker;

ReferencePlan::ReferencePlan(const Task& task, std::optional<Side> only) {
  if (!task.criteria) return;
  for (const GoldenAction& action : task.criteria->actions.value_or(std::vector<GoldenAction>{}))
    if (!only || action.side == *only) actions_.push_back(action);
  if (only != Side::User)
    statements_ = task.criteria->communicate.value_or(std::vector<std::string>{});
}

std::optional<TurnMessage> ReferencePlan::act(Side side) {
  if (next_ == actions_.size() || actions_[next_].side != side) return std::nullopt;
  const GoldenAction& action = actions_[next_++];
  return calls_message(
      side == Side::Agent ? Speaker::Agent : Speaker::User,
      {{"reference_" + std::to_string(next_), action.name, action.arguments, side}});
}

std::optional<std::string> ReferencePlan::state() {
  if (statements_.empty()) return std::nullopt;
  std::string text = "For your information:";
  for (const std::string& statement : statements_) text += "\n" + statement;
  statements_.clear();
  return text;
}

bool ReferencePlan::done() const {
  return next_ == actions_.size() && statements_.empty();
}

Result<Done> ReferenceAgent::begin(std::span<const TurnMessage>) {
  return Done{};
}

Result<TurnMessage> ReferenceAgent::next(std::span<const TurnMessage>) {
  if (std::optional<TurnMessage> call = plan_->act(Side::Agent)) return std::move(*call);
  return text_message(Speaker::Agent, plan_->state().value_or("What would you like to do next?"));
}

Result<Done> ReferenceUser::begin(std::span<const TurnMessage> history) {
  for (const TurnMessage& message : history) told_ |= message.speaker == Speaker::User;
  return Done{};
}

Result<TurnMessage> ReferenceUser::next(std::span<const TurnMessage>) {
  if (!told_) {
    told_ = true;
    return text_message(Speaker::User, scenario_);
  }
  if (std::optional<TurnMessage> call = plan_->act(Side::User)) return std::move(*call);
  return text_message(Speaker::User, plan_->done() ? "###STOP###" : "Please go on.");
}

}  // namespace unmask
