// One episode's world: calls in, results out.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "environment/domain.h"
#include "environment/task.h"
#include "environment/value.h"
#include "trace/episode.h"

namespace unmask {

// "assistant" or "user", as upstream writes a side.
std::string_view requestor(Side side);

// A tool call as the environment takes it.
struct ToolRequest {
  std::string id;
  std::string name;
  Value arguments = Value::dict();  // a Dict
  Side side = Side::Agent;
  // What was written in place of arguments, where that is no JSON object; `arguments` is empty
  // then.
  std::optional<std::string> unreadable = std::nullopt;
};

struct ToolReply {
  std::string content;
  bool error = false;
};

// The call as upstream prints it in error texts: side, id, name, and arguments as indented JSON.
std::string described(const ToolRequest& call);

// A message of a trajectory, reduced to what a replay looks at.
struct ReplayMessage {
  enum class Speaker { Agent, User, Tool, Other };
  Speaker speaker = Speaker::Other;
  bool has_calls = false;  // upstream's is_tool_call(): a list of calls is there, even an empty one
  std::vector<ToolRequest> calls;  // Agent, User
  std::string call_id;             // Tool
  std::optional<std::string> content;
  bool error = false;
  Side side = Side::Agent;  // Tool: whose call it answers
  std::optional<int> turn_index;
};

// Messages in upstream's JSON form.
// Errors   Malformed: a message without a role, a call without a name ...
Result<std::vector<ReplayMessage>> replay_messages(const Value& json_list);
// Messages of a log. Results keep their order; arguments that are no object become unreadable.
std::vector<ReplayMessage> replay_messages(std::span<const Message> messages);

// Threads  one Environment belongs to one thread; any number may share a Domain.
// Errors   where upstream raises, the Error's message is str(exception) and its `where` the name of
//          the exception's class, so that to_string() reads "ValueError: ...".
class Environment {
 public:
  // Starts an episode: constant time, nothing is copied.
  // Errors   Unsupported: solo mode in a domain without it; or what the first sync raises.
  static Result<Environment> start(std::shared_ptr<const Domain> domain, bool solo = false);

  const Domain& domain() const { return *domain_; }
  bool solo() const { return solo_; }
  const std::string& policy() const { return solo_ ? domain_->solo_policy : domain_->policy; }

  // Answers a call as upstream's get_response: runs the tool, syncs, and makes any failure a text.
  // A call with unreadable arguments runs nothing and fails (upstream ends the episode as the
  // harness's own fault, which would hide what the agent did).
  ToolReply respond(const ToolRequest& request);

  // Runs a tool without syncing and without turning failures into text (the grader's golden
  // actions).
  Result<Value> call(const ToolRequest& request);

  // Initialization actions, assertions: tools and the functions that are not offered. Syncs after.
  Result<Value> run_function(const EnvironmentFunction& function);
  // True: the function returned what the assertion expects.
  Result<bool> holds(const EnvironmentAssertion& assertion);

  // Brings the world to where a trajectory left it: initialization data, initialization actions,
  // then the trajectory's calls to tools that change state. Their replies must equal the recorded
  // ones as JSON values; with strict = false a difference is only counted. Calls with unreadable
  // arguments changed nothing and are passed over.
  Result<Done> set_state(const InitialState& initial, std::span<const ReplayMessage> history,
                         bool strict = true);
  int differing_replies() const { return differing_replies_; }  // of the last set_state

  // Carries over between the sides as after every call. Errors   what upstream's sync_tools raises.
  Result<Done> synchronize();

  std::string agent_hash() const;
  std::optional<std::string> user_hash() const;  // nullopt: the user has no tools

  const World& world() const { return world_; }

  // Some things upstream keeps outside the databases, for as long as its process runs (telecom: a
  // VPN once broken). Here every episode starts afresh, whatever ran before it. To follow upstream
  // through several episodes of one process, hand what one left to the next before it begins.
  const Value& left_behind() const { return world_.class_state; }
  void inherit(Value left_behind) { world_.class_state = std::move(left_behind); }

 private:
  explicit Environment(std::shared_ptr<const Domain> domain, bool solo);
  Value run(const Toolkit& toolkit, const Tool& tool, Side side, const Value& keywords);
  Value dispatch(const ToolRequest& request);
  Value use_tool(Side side, const std::string& name, const Value& keywords);
  Value run_function_or_throw(const EnvironmentFunction& function);
  void initialize(const InitialState& initial);
  void replay(const ToolRequest& request, const ReplayMessage& recorded, bool strict);
  bool has_tool(std::string_view name) const;
  bool changes_state(std::string_view name) const;
  void sync();

  std::shared_ptr<const Domain> domain_;
  bool solo_ = false;
  World world_;
  int differing_replies_ = 0;
};

}  // namespace unmask
