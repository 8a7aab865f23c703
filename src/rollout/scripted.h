// Participants that say what they were told to: the test doubles of this room.
#pragma once

#include <optional>
#include <vector>

#include "rollout/participant.h"

namespace unmask {

// Moves in order; afterwards always the last resort. An Error among the moves is returned as it is.
class Script {
 public:
  Script(std::vector<Result<TurnMessage>> moves, TurnMessage afterwards)
      : moves_(std::move(moves)), afterwards_(std::move(afterwards)) {}

  Result<TurnMessage> move();

  std::optional<std::int64_t> seed;
  std::vector<TurnMessage> history;                // given to begin()
  std::vector<std::vector<TurnMessage>> received;  // given to next()

 private:
  std::vector<Result<TurnMessage>> moves_;
  TurnMessage afterwards_;
  std::size_t next_ = 0;
};

template <typename Base>
class Scripted : public Base {
 public:
  explicit Scripted(Script script) : script_(std::move(script)) {}

  const Script& script() const { return script_; }

  void set_seed(std::int64_t seed) override { script_.seed = seed; }
  Result<Done> begin(std::span<const TurnMessage> history) override {
    script_.history.assign(history.begin(), history.end());
    return Done{};
  }
  Result<TurnMessage> next(std::span<const TurnMessage> incoming) override {
    script_.received.emplace_back(incoming.begin(), incoming.end());
    return script_.move();
  }

 private:
  Script script_;
};

using ScriptedUser = Scripted<User>;

class ScriptedAgent : public Scripted<Agent> {
 public:
  // stops: ends the conversation where its text has the token, as a solo agent does.
  explicit ScriptedAgent(Script script, bool stops = false)
      : Scripted<Agent>(std::move(script)), stops_(stops) {}

  bool is_stop(const TurnMessage& message) const override { return stops_ && says_stop(message); }

 private:
  bool stops_;
};

}  // namespace unmask
