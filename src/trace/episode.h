// trace: what happened. The messages, tool calls and results of episodes, and the run they belong
// to, as plain values, the same whichever log format they came from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace unmask {

// Which party acted. In a dual-control domain the simulated user has tools of their own.
enum class Side { Agent, User };

enum class Role { System, Agent, User, Tool };

// One tool call as the log has it. Nothing about it has been judged yet.
struct ToolCall {
  std::string id;         // may be empty or repeated: pair results by Message order as well
  std::string name;       // exactly as written by the model
  std::string arguments;  // JSON text of the arguments; where unreadable, the text as logged
  bool arguments_are_object = true;  // false: `arguments` is not the text of a JSON object
  // The name of the reader's documented error for this call, where the format records one on the
  // call and not on its result (Inspect's parse_error); empty otherwise.
  std::string parse_error;
  Side side = Side::Agent;

  bool operator==(const ToolCall&) const = default;
};

// What the environment answered to a tool call.
struct ToolResult {
  std::string call_id;
  std::string text;
  bool failed = false;     // by the format's documented rule; see RunInfo::failure_rule
  std::string error_type;  // the format's own class of error (Inspect: "permission"), else empty
  // Counts towards the environment's error budget (tau2 num_errors). False for failures that never
  // reached the environment.
  Side side = Side::Agent;

  bool operator==(const ToolResult&) const = default;
};

struct TokenUsage {
  std::int64_t prompt = 0;
  std::int64_t completion = 0;

  bool operator==(const TokenUsage&) const = default;
};

// A message of the agent that the harness took back and asked to be issued again (METHOD 9). None
// of its calls reached the environment.
struct Attempt {
  std::string text;
  std::vector<ToolCall> calls;
  std::size_t refused = 0;     // index of the call that was refused
  std::string channel;         // why, "tool_name"
  std::string feedback;        // what the agent was told
  bool spends_budget = false;  // counts towards max_errors like a failed call
  std::optional<TokenUsage> usage;
  bool empty_text = false;     // as Message::empty_text
  std::string reasoning = {};  // as Message::reasoning

  bool operator==(const Attempt&) const = default;
};

// One message. Several results in one tau2 MultiToolMessage are several Tool messages here.
struct Message {
  Role role = Role::Agent;
  std::string text;  // UTF-8; empty when the message has calls only
  // A message with calls whose text is there and empty, where others have none: models are sent the
  // one or the other.
  bool empty_text = false;
  std::vector<ToolCall> calls;
  std::optional<ToolResult> result;  // set exactly when role == Role::Tool
  // The raw completion text kept by the server or harness, where it differs from what was parsed:
  // the text in which a dropped call can still be seen (METHOD 12). Empty where the log has none.
  std::string raw_text;
  // Number of calls in the raw completion, where the log keeps it; nullopt otherwise.
  std::optional<int> raw_calls;
  // The server's response, a JSON object as text, where the message was made here; readers of
  // other formats than our own keep only raw_text and raw_calls of it.
  std::string raw_data;
  std::string reasoning;          // thoughts the server gave apart, of our own runs
  std::vector<Attempt> attempts;  // what the agent had issued before this message, in order
  std::string decision;  // log-probabilities at the tool-name decision, a JSON object as text
  std::optional<TokenUsage> usage;
  std::optional<double> cost_usd;
  std::optional<double> seconds;  // generation time

  bool operator==(const Message&) const = default;
};

enum class Termination {
  AgentStop,
  UserStop,
  MaxSteps,
  TooManyErrors,
  Timeout,
  AgentError,
  UserError,
  InfrastructureError,
  UnexpectedError,
  ContextWindowExceeded,
  Unknown,  // the log does not say, or says something this list lacks (then `termination_text`)
};

std::string_view to_string(Termination termination);  // tau2's spelling, "agent_stop"
std::string_view to_string(Side side);                // "agent", "user"
std::string_view to_string(Role role);                // "system", "agent", "user", "tool"

// A tool as it was offered to a side.
struct OfferedTool {
  std::string name;
  std::string schema;  // JSON Schema text of the parameters; empty when only the name is known
  // The tool as a model is told of it, a JSON object in OpenAI's form, where the log keeps that.
  std::string definition = {};

  bool operator==(const OfferedTool&) const = default;
};

struct Episode {
  std::string id;       // the log's own id; may be empty
  std::string task_id;  // a number in the log becomes its decimal text
  std::string domain;   // empty: the run's domain
  int trial = 0;        // 0-based repeat of the same task
  std::optional<std::int64_t> seed;
  Termination termination = Termination::Unknown;
  std::string termination_text;  // the log's word where Termination lacks it
  std::optional<double> reward;  // nullopt: not graded
  std::optional<bool> success;   // nullopt: not graded; else |reward - 1| <= 1e-6 (METHOD 1)
  // The grader's account as tau2 words it (reward_info), and unmask's own evidence beside it: JSON
  // objects as text; empty where the episode was not graded here.
  std::string reward_info;
  std::string grade_evidence;
  std::vector<Message> messages;
  // Tools offered in this episode, where the log itself lists them; nullopt where it does not.
  std::optional<std::vector<OfferedTool>> agent_tools;
  std::optional<std::vector<OfferedTool>> user_tools;
  std::optional<double> duration_seconds;
  std::optional<double> agent_cost_usd;
  std::optional<double> user_cost_usd;
  std::string model;        // where the log names one per episode; empty: the run's
  std::string policy_hash;  // of the policy text or system prompt; empty where the log has none
  std::string where;        // "results.json: simulation 12 (byte 81920)"

  bool operator==(const Episode&) const = default;
};

// True when the episode never ran for a reason that is not the agent's: it is excluded and counted.
bool ended_in_infrastructure_error(const Episode& episode);

// success from a reward by the tolerance of METHOD 1.
std::optional<bool> success_of(std::optional<double> reward);

// What a log says about the whole run. Absent means the log does not say.
struct RunInfo {
  std::string format;  // the row of the format table, "tau2"
  std::string domain;
  std::string model;
  std::string user_model;
  std::string agent_implementation;
  std::string user_implementation;
  std::string agent_settings;  // sampling settings as compact JSON with sorted keys
  std::string user_settings;
  std::string git_commit;
  std::string timestamp;
  std::string policy_hash;  // of the policy text in the run's info, where there is one
  std::optional<std::int64_t> seed;
  std::optional<int> num_trials;
  std::optional<int> max_steps;
  std::optional<int> max_errors;  // K0; nullopt: the format has no budget
  std::string failure_rule;       // how a failed result is recognised in this format, one sentence
  std::vector<std::string> task_ids;  // tasks the log lists, whether or not they were run

  bool operator==(const RunInfo&) const = default;
};

struct Run {
  RunInfo info;
  std::vector<Episode> episodes;

  bool operator==(const Run&) const = default;
};

// Something a reader of the report must know. Codes are stable: part of the JSON contract.
struct Warning {
  std::string code;     // "budget_differs"
  std::string message;  // one sentence for a person
  std::string where;    // file, arm, task; empty when it concerns everything
  std::int64_t count = 1;

  bool operator==(const Warning&) const = default;
};

}  // namespace unmask
