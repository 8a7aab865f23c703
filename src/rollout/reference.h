// Participants that know the reference solution: between them they play a task's golden actions in
// order and make the statements it asks for. They stand in for the other side when a person plays,
// and show that a world, its task and the turn loop belong together.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "environment/task.h"
#include "rollout/participant.h"

namespace unmask {

// What is left of the reference solution; shared by the two sides that play it.
class ReferencePlan {
 public:
  // only: the actions of this side alone, for a person plays the other; nullopt: all.
  explicit ReferencePlan(const Task& task, std::optional<Side> only = std::nullopt);

  // The next action as a call, where it is this side's turn to act.
  std::optional<TurnMessage> act(Side side);
  // What the agent still owes the user, as one text; said once.
  std::optional<std::string> state();
  bool done() const;

 private:
  std::vector<GoldenAction> actions_;
  std::size_t next_ = 0;
  std::vector<std::string> statements_;
};

class ReferenceAgent : public Agent {
 public:
  explicit ReferenceAgent(std::shared_ptr<ReferencePlan> plan) : plan_(std::move(plan)) {}
  Result<Done> begin(std::span<const TurnMessage> history) override;
  Result<TurnMessage> next(std::span<const TurnMessage> incoming) override;

 private:
  std::shared_ptr<ReferencePlan> plan_;
};

// Tells its whole scenario first, then acts, and ends the conversation when nothing is left.
class ReferenceUser : public User {
 public:
  ReferenceUser(std::shared_ptr<ReferencePlan> plan, std::string scenario)
      : plan_(std::move(plan)), scenario_(std::move(scenario)) {}
  Result<Done> begin(std::span<const TurnMessage> history) override;
  Result<TurnMessage> next(std::span<const TurnMessage> incoming) override;

 private:
  std::shared_ptr<ReferencePlan> plan_;
  std::string scenario_;
  bool told_ = false;
};

}  // namespace unmask
