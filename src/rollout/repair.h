// Reflective repair (METHOD 9): calls that cannot work are handed back to the agent before they
// reach the environment.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "failure/channel.h"
#include "failure/names.h"
#include "failure/schema_check.h"
#include "rollout/participant.h"
#include "trace/episode.h"

namespace unmask {

struct RepairOptions {
  // What is handed back: of tool_name, malformed (unreadable arguments, leaked markup) and schema.
  std::vector<Channel> channels = {Channel::ToolName};
  int attempts = 3;  // messages handed back in a row, at most
  // Off: a repaired call spends no error budget, and one that stays broken spends as any call does,
  // when the environment refuses it. On: every message handed back spends as well.
  bool refusals_spend_budget = false;
};

// Errors   InvalidArgument: a channel that only the environment can know; attempts below 1.
Result<Done> check(const RepairOptions& options);

// An agent whose broken calls are handed back to it: what was wrong, the valid names, and the
// request to say why it went wrong and to issue the call again.
//
// To the agent the refusal is what its calls were answered (leaked markup has no calls: a message
// of the other side), so it stays in its conversation as everything else does. The turn loop, the
// environment and the user see only the message that came of it, which has the refused ones in its
// `attempts`, their cost and seconds in its own, and their tokens apart in Attempt::usage. After
// options.attempts refusals the message is passed on as it is.
//
// Threads  one; the agent must outlive it.
// Source   METHOD 9; the wording of the refusal is our own.
class RepairingAgent : public Agent {
 public:
  // offered: the tools the agent was offered; schemas are needed for Channel::Schema only.
  RepairingAgent(Agent& agent, std::vector<OfferedTool> offered, RepairOptions options = {});
  RepairingAgent(const RepairingAgent&) = delete;
  RepairingAgent& operator=(const RepairingAgent&) = delete;

  void set_seed(std::int64_t seed) override { agent_.set_seed(seed); }
  Result<Done> begin(std::span<const TurnMessage> history) override {
    return agent_.begin(history);
  }
  Result<TurnMessage> next(std::span<const TurnMessage> incoming) override;
  bool is_stop(const TurnMessage& message) const override { return agent_.is_stop(message); }

 private:
  struct Fault {
    std::size_t call = 0;
    Channel channel = Channel::ToolName;
    std::string what;  // one sentence for the agent
  };
  bool repairs(Channel channel) const;
  std::optional<Fault> fault_of(const TurnMessage& message) const;
  std::optional<Fault> fault_of(const ToolRequest& call) const;
  Attempt attempt_of(const TurnMessage& message, const Fault& fault) const;
  std::string feedback(const Fault& fault) const;

  Agent& agent_;
  std::vector<OfferedTool> offered_;
  NameList names_;  // views into offered_
  SchemaChecker schemas_;
  RepairOptions options_;
};

// What the agent's conversation holds of an attempt: the message it was, and what it was answered.
std::vector<TurnMessage> exchange_of(const Attempt& attempt);

// The message is a refusal and no answer of the environment or the user.
bool is_refusal(const TurnMessage& message);

}  // namespace unmask
