// The two who talk: interfaces to be filled by a model, a person, or a script.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "llm/chat_model.h"
#include "rollout/turn_message.h"

namespace unmask {

class Participant {
 public:
  virtual ~Participant() = default;

  // Before anything else, where the episode has a seed.
  virtual void set_seed(std::int64_t seed) { (void)seed; }

  // A conversation begins. `history` is what this side has seen and said so far, without the
  // message that next() will bring; often empty.
  virtual Result<Done> begin(std::span<const TurnMessage> history) = 0;

  // What this side says to `incoming`: one message of the other side, or one result for each of its
  // own calls. Nothing is incoming where a solo agent opens.
  //
  // Errors   Unavailable: the model cannot be reached. where = kContextWindow: its context is full.
  //          Anything else is unexpected. Each ends the episode.
  virtual Result<TurnMessage> next(std::span<const TurnMessage> incoming) = 0;
};

class Agent : public Participant {
 public:
  // The agent ends the conversation with this message. Upstream's ordinary agent never does, its
  // solo agent does by says_stop().
  virtual bool is_stop(const TurnMessage& message) const {
    (void)message;
    return false;
  }
};

class User : public Participant {};

// The message has the agent's token for the end, "###STOP###", in its text.
bool says_stop(const TurnMessage& message);

// The user ends the conversation: a message without calls that has one of the user's tokens in its
// text, ###STOP###, ###TRANSFER### or ###OUT-OF-SCOPE###.
bool ends_conversation(const TurnMessage& message);

}  // namespace unmask
