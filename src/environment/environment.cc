#include "environment/environment.h"

#include "base/check.h"
#include "environment/json.h"
#include "environment/python.h"
#include "environment/toolkit.h"

namespace unmask {

namespace {

Error raised(const PythonError& error) {
  return Error{ErrorKind::InvalidArgument, error.text(), error.class_name()};
}

// make_tool_call(self, tool_name, requestor, **arguments): these three keys collide, requestor
// first because it is merged before the function is called. by_keyword: the grader also passes
// tool_name by keyword, where it collides in the same way.
void refuse_collisions(const Value& keywords, bool by_keyword) {
  constexpr std::string_view kMethod = "Environment.make_tool_call() got multiple values for ";
  const auto merged = [&](std::string_view name) {
    python::raise_type_error("tau2.environment.environment." + std::string(kMethod) +
                             "keyword argument '" + std::string(name) + "'");
  };
  for (std::size_t i = 0; i < keywords.size(); ++i) {
    const std::string& name = keywords.key(i);
    if (name == "requestor" || (by_keyword && name == "tool_name")) merged(name);
  }
  for (std::size_t i = 0; i < keywords.size(); ++i) {
    const std::string& name = keywords.key(i);
    if (name == "self" || name == "tool_name")
      python::raise_type_error(std::string(kMethod) + "argument '" + name + "'");
  }
}

}  // namespace

std::string_view requestor(Side side) {
  return side == Side::Agent ? "assistant" : "user";
}

std::string described(const ToolRequest& call) {
  std::string out = "ToolCall (from " + std::string(requestor(call.side)) + ")\n";
  if (!call.id.empty()) out += "id: " + call.id + "\n";
  return out + "name: " + call.name + "\narguments:\n" + dump_json_indented(call.arguments, 2);
}

Environment::Environment(std::shared_ptr<const Domain> domain, bool solo)
    : domain_(std::move(domain)),
      solo_(solo),
      world_(domain_->initial.agent, domain_->initial.user) {}

Result<Environment> Environment::start(std::shared_ptr<const Domain> domain, bool solo) {
  if (solo && !domain->row->solo)
    return Error{ErrorKind::Unsupported,
                 "domain " + std::string(domain->row->name) + " has no solo mode", ""};
  Environment environment(std::move(domain), solo);
  try {
    environment.sync();
  } catch (const PythonError& error) {
    return raised(error);
  }
  return environment;
}

void Environment::sync() {
  if (domain_->row->sync) domain_->row->sync(world_);
}

Result<Done> Environment::synchronize() {
  try {
    sync();
  } catch (const PythonError& error) {
    return raised(error);
  }
  return Done{};
}

Value Environment::run(const Toolkit& toolkit, const Tool& tool, Side side, const Value& keywords) {
  const std::vector<Value> arguments = bind_arguments(toolkit.class_name, tool, keywords);
  ToolScope scope{side == Side::Agent ? world_.agent_db() : world_.user_db(), world_.generated_ids,
                  world_.class_state};
  return tool.run(scope, arguments);
}

Value Environment::use_tool(Side side, const std::string& name, const Value& keywords) {
  const Toolkit* toolkit = domain_->toolkit(side);
  if (!toolkit)
    throw PythonError(side == Side::Agent ? "Tools not available" : "User tools not available");
  const Tool* tool = toolkit->find(name);
  if (!tool) throw PythonError("Tool '" + name + "' not found.");
  return run(*toolkit, *tool, side, keywords);
}

Value Environment::dispatch(const ToolRequest& request) {
  if (solo_ && request.side == Side::User)
    throw PythonError("User tool calls are not allowed in solo mode");
  const bool lent = solo_ && domain_->user_tools && domain_->user_tools->find(request.name);
  return use_tool(lent ? Side::User : request.side, request.name, request.arguments);
}

ToolReply Environment::respond(const ToolRequest& request) {
  UNMASK_CHECK(request.arguments.is_dict());
  if (request.unreadable) return {"Error: the arguments of this call are not a JSON object.", true};
  try {
    refuse_collisions(request.arguments, false);
    const Value result = dispatch(request);
    sync();
    return {tool_content(result), false};
  } catch (const PythonError& error) {
    return {"Error: " + error.text(), true};
  }
}

Result<Value> Environment::call(const ToolRequest& request) {
  UNMASK_CHECK(request.arguments.is_dict());
  try {
    refuse_collisions(request.arguments, true);
    return dispatch(request);
  } catch (const PythonError& error) {
    return raised(error);
  }
}

Value Environment::run_function_or_throw(const EnvironmentFunction& function) {
  const Toolkit* toolkit = domain_->toolkit(function.side);
  const Tool* found = toolkit ? toolkit->find_function(function.name) : nullptr;
  if (!found)
    throw PythonError("'" + (toolkit ? toolkit->class_name : std::string("NoneType")) +
                          "' object has no attribute '" + function.name + "'",
                      "AttributeError");
  Value result = run(*toolkit, *found, function.side, function.arguments);
  sync();
  return result;
}

Result<Value> Environment::run_function(const EnvironmentFunction& function) {
  try {
    return run_function_or_throw(function);
  } catch (const PythonError& error) {
    return raised(error);
  }
}

Result<bool> Environment::holds(const EnvironmentAssertion& assertion) {
  const Result<Value> result = run_function(assertion);
  if (!result) return result.error();
  if (!result->is_bool())
    return Error{ErrorKind::InvalidArgument,
                 "Function " + assertion.name + " returned <class '" + python::type_name(*result) +
                     "'> instead of bool",
                 "ValueError"};
  return result->as_bool() == assertion.expected;
}

void Environment::initialize(const InitialState& initial) {
  if (initial.agent_data) {
    Value database = updated(world_.agent_db(), *initial.agent_data);
    if (domain_->user_tools)
      world_.share(std::move(database));
    else
      world_.set_agent_db(std::move(database));
  }
  if (initial.user_data) {
    if (!domain_->user_tools)
      throw PythonError("'NoneType' object has no attribute 'update_db'", "AttributeError");
    world_.share(updated(world_.user_db(), *initial.user_data));
  }
  for (const EnvironmentFunction& action : initial.actions) run_function_or_throw(action);
}

std::string Environment::agent_hash() const {
  return database_hash(world_.agent_db());
}

std::optional<std::string> Environment::user_hash() const {
  if (!domain_->user_tools) return std::nullopt;
  return database_hash(world_.user_db());
}

bool Environment::has_tool(std::string_view name) const {
  return domain_->agent_tools->find(name) ||
         (domain_->user_tools && domain_->user_tools->find(name));
}

bool Environment::changes_state(std::string_view name) const {
  if (const Tool* tool = domain_->agent_tools->find(name)) return tool->mutates_state;
  return domain_->user_tools->find(name)->mutates_state;
}

namespace {

// The content as a JSON value where it is JSON, else as a string.
Value decoded(const std::string& content) {
  Result<Value> value = parse_json(content);
  return value ? *value : Value(content);
}

std::string described(Side side, const std::optional<int>& turn_index,
                      const std::optional<std::string>& content, bool error) {
  std::string out = "ToolMessage (responding to " + std::string(requestor(side)) + ")";
  if (turn_index) out += "\nturn_idx: " + std::to_string(*turn_index);
  if (content) out += "\ncontent: " + *content;
  return error ? out + "\nError" : out;
}

struct Recorded {
  const ToolRequest* call;
  const ReplayMessage* reply;
};

[[noreturn]] void refuse_history(std::string text) {
  throw PythonError(std::move(text));
}

// Every call with the tool message that answers it: they follow one another in the trajectory.
std::vector<Recorded> recorded_calls(std::span<const ReplayMessage> history) {
  using Speaker = ReplayMessage::Speaker;
  std::vector<Recorded> calls;
  for (std::size_t i = 0; i < history.size();) {
    const ReplayMessage& message = history[i++];
    if (message.speaker == Speaker::Tool)
      refuse_history("Tool message not expected. Tool messages should always follow a tool call.");
    if (message.speaker == Speaker::Other || !message.has_calls) continue;
    for (const ToolRequest& call : message.calls) {
      if (i == history.size()) refuse_history("Tool message expected. Got None.");
      const ReplayMessage& reply = history[i++];
      if (reply.speaker != Speaker::Tool)
        refuse_history(std::string("Tool message expected. Got <class 'tau2.data_model.message.") +
                       (reply.speaker == Speaker::Agent  ? "AssistantMessage"
                        : reply.speaker == Speaker::User ? "UserMessage"
                                                         : "SystemMessage") +
                       "'>");
      if (call.id != reply.call_id)
        refuse_history("Tool call id mismatch. Got " + call.id + " and " + reply.call_id);
      calls.push_back({&call, &reply});
    }
  }
  return calls;
}

}  // namespace

void Environment::replay(const ToolRequest& request, const ReplayMessage& recorded, bool strict) {
  const ToolReply reply = respond(request);
  if (!recorded.content)
    throw PythonError("the JSON object must be str, bytes or bytearray, not NoneType", "TypeError");
  if (python::equal(decoded(reply.content), decoded(*recorded.content))) return;
  ++differing_replies_;
  if (!strict) return;
  refuse_history("Tool call:\n" + described(request) + "\n\nReturned:\n" +
                 described(request.side, std::nullopt, reply.content, reply.error) +
                 "\n\nExpected:\n" +
                 described(recorded.side, recorded.turn_index, recorded.content, recorded.error));
}

Result<Done> Environment::set_state(const InitialState& initial,
                                    std::span<const ReplayMessage> history, bool strict) {
  differing_replies_ = 0;
  try {
    if (solo_)
      for (const ReplayMessage& message : history)
        if (message.speaker == ReplayMessage::Speaker::User)
          throw PythonError("User messages are not allowed in solo mode", "AssertionError");
    initialize(initial);
    for (const Recorded& each : recorded_calls(history)) {
      // A name that no side has was answered with an error and changed nothing.
      const bool ran = has_tool(each.call->name) && !each.call->unreadable;
      if (ran && changes_state(each.call->name)) replay(*each.call, *each.reply, strict);
    }
    sync();
  } catch (const PythonError& error) {
    return raised(error);
  }
  return Done{};
}

}  // namespace unmask
