#include "plant/wording.h"

#include <fmt/format.h>

#include <algorithm>

namespace unmask {
namespace {

constexpr std::string_view kUnreadable = R"({"customer_id": "C10)";
constexpr std::string_view kUnreadableAnswer = "Error: The arguments are not a JSON object.";
constexpr std::int64_t kMicroDollarsPerToken = 2;

std::string fill(std::string_view text, int task, std::uint32_t digit) {
  std::string filled;
  filled.reserve(text.size() + 8);
  for (const char c : text) {
    if (c == '^')
      filled += fmt::format("{:02}", task % 100);
    else if (c == '~')
      filled += static_cast<char>('0' + digit);
    else
      filled += c;
  }
  return filled;
}

// Builds the messages of one episode in order.
class Teller {
 public:
  Teller(const EpisodePlace& place, const DomainWords& words,
         std::span<const std::string> vocabulary, Rng& rng)
      : place_(place), words_(words), vocabulary_(vocabulary), rng_(rng) {}

  void open() {
    say(Role::Agent, "Hello, how can I help you today?");
    say(Role::User, fill(words_.request, place_.task, 0));
  }

  // Calls made in one message, and their answers. `ends`: the environment's answer is the last
  // word.
  void call(std::span<const ScriptedCall> group, bool ends) {
    if (group.front().kind == CallKind::LeakedMarkup) return leak();
    const Side side = group.front().side;
    if (side == Side::User) say(Role::Agent, "Please check this on your side.");
    Message asking = spoken(side == Side::Agent ? Role::Agent : Role::User, "");
    std::vector<Message> answers;
    for (const ScriptedCall& scripted : group) {
      const ToolCall made = tool_call(scripted);
      ToolResult result{made.id, std::move(answer_), spends_budget(scripted.kind), "", side};
      asking.calls.push_back(made);
      Message answer;
      answer.role = Role::Tool;
      answer.result = std::move(result);
      answers.push_back(std::move(answer));
    }
    keep(std::move(asking));
    for (Message& answer : answers) keep(std::move(answer));
    if (side == Side::User && !ends) say(Role::User, "Done, I have told you what it shows.");
  }

  void close() {
    say(Role::Agent, "That is all done. Is there anything else?");
    say(Role::User, "No, thank you. ###STOP###");
  }

  void give(Episode& episode) {
    episode.messages = std::move(messages_);
    episode.duration_seconds = static_cast<double>(milliseconds_) / 1e3;
    episode.agent_cost_usd = static_cast<double>(agent_cost_) / 1e6;
    episode.user_cost_usd = static_cast<double>(user_cost_) / 1e6;
  }

 private:
  // A message with made-up but repeatable tokens, cost and time.
  Message spoken(Role role, std::string text) {
    Message message;
    message.role = role;
    message.text = std::move(text);
    const auto turn = static_cast<std::int64_t>(messages_.size());
    const TokenUsage usage{2400 + 110 * turn, 20 + static_cast<std::int64_t>(rng_.below(60))};
    const std::int64_t cost = usage.completion * kMicroDollarsPerToken + usage.prompt / 10;
    (role == Role::Agent ? agent_cost_ : user_cost_) += cost;
    message.usage = usage;
    message.cost_usd = static_cast<double>(cost) / 1e6;
    if (role == Role::Agent) {
      const std::int64_t took = 400 + 15 * usage.completion;
      milliseconds_ += took;
      message.seconds = static_cast<double>(took) / 1e3;
    }
    return message;
  }

  void keep(Message message) { messages_.push_back(std::move(message)); }
  void say(Role role, std::string text) { keep(spoken(role, std::move(text))); }

  void leak() {
    const CallWords& words = pick(words_.ok);
    say(Role::Agent,
        fmt::format("<tool_call>\n{{\"name\": \"{}\", \"arguments\": {}}}\n</tool_call>",
                    words.tool, fill(words.arguments, place_.task, rng_.below(10))));
    say(Role::User, "I cannot read that. Could you say it in plain words?");
  }

  template <typename T>
  const T& pick(std::span<const T> choices) {
    return choices[rng_.below(static_cast<std::uint32_t>(choices.size()))];
  }

  ToolCall tool_call(const ScriptedCall& scripted) {
    ToolCall call;
    call.id = fmt::format("call_{}_{}_{}", place_.task, place_.trial, ++calls_);
    call.side = scripted.side;
    const CallWords& words = pick(words_for(scripted));
    const std::uint32_t digit = rng_.below(10);
    call.name = words.tool;
    call.arguments = fill(words.arguments, place_.task, digit);
    answer_ = fill(words.answer, place_.task, digit);
    if (scripted.kind == CallKind::ToolName) {
      call.name = scripted.side == Side::User
                      ? std::string(words_.ok[0].tool)
                      : vocabulary_[static_cast<std::size_t>(scripted.name)];
      answer_ = fmt::format("Error: Tool '{}' not found.", call.name);
    } else if (scripted.kind == CallKind::Malformed) {
      call.arguments = kUnreadable;
      call.arguments_are_object = false;
      answer_ = kUnreadableAnswer;
    }
    return call;
  }

  std::span<const CallWords> words_for(const ScriptedCall& scripted) const {
    switch (scripted.kind) {
      case CallKind::Schema:
        return words_.schema;
      case CallKind::Entity:
        return words_.entity;
      case CallKind::Rejected:
        return words_.rejected;
      case CallKind::Ok:
      case CallKind::ToolName:
      case CallKind::Malformed:
      case CallKind::LeakedMarkup:
        break;
    }
    return scripted.side == Side::User ? words_.user_ok : words_.ok;
  }

  const EpisodePlace& place_;
  const DomainWords& words_;
  std::span<const std::string> vocabulary_;
  Rng& rng_;
  std::vector<Message> messages_;
  std::string answer_;  // to the call tool_call made last
  int calls_ = 0;
  std::int64_t milliseconds_ = 0;
  std::int64_t agent_cost_ = 0;  // micro-dollars, so that sums are exact
  std::int64_t user_cost_ = 0;
};

Termination termination_of(ScriptEnd end) {
  switch (end) {
    case ScriptEnd::Completed:
      return Termination::UserStop;
    case ScriptEnd::OutOfErrors:
      return Termination::TooManyErrors;
    case ScriptEnd::OutOfSteps:
      return Termination::MaxSteps;
    case ScriptEnd::NeverRan:
      return Termination::InfrastructureError;
  }
  return Termination::Unknown;
}

void add_names(std::vector<std::string>& names, std::string name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
}

}  // namespace

std::vector<std::string> hallucinated_vocabulary(const DomainWords& words, int names, int novel) {
  const std::span<const std::string_view> other = known_tools(words.domain, Side::User);
  std::vector<std::string> vocabulary;
  std::size_t next_other = 0;
  std::size_t next_near = 0;
  std::size_t next_invented = 0;
  // Two of the other side's tools, one near miss, one invention, as long as each lasts.
  for (int i = 0; std::ssize(vocabulary) < names; ++i) {
    if (i % 4 < 2 && next_other < other.size())
      add_names(vocabulary, std::string(other[next_other++]));
    else if (i % 4 == 2 && next_near < words.near_miss.size())
      add_names(vocabulary, std::string(words.near_miss[next_near++]));
    else if (next_invented < words.invented.size())
      add_names(vocabulary, std::string(words.invented[next_invented++]));
    else
      add_names(vocabulary, fmt::format("imagined_helper_{}", i));
  }
  for (int i = 0; std::ssize(vocabulary) < names + novel; ++i) {
    const bool listed = static_cast<std::size_t>(i) < words.novel.size();
    add_names(vocabulary, listed ? std::string(words.novel[static_cast<std::size_t>(i)])
                                 : fmt::format("unheard_of_helper_{}", i));
  }
  return vocabulary;
}

std::string planted_task_id(int task) {
  return fmt::format("planted_{:03}", task);
}

std::int64_t planted_trial_seed(int trial) {
  return 300 + 7919 * std::int64_t{trial};
}

Episode put_into_words(const ScriptedEpisode& script, const EpisodePlace& place,
                       const DomainWords& words, std::span<const std::string> vocabulary,
                       Rng& rng) {
  Episode episode;
  episode.id = fmt::format("{}_{:03}_{}", place.arm, place.task, place.trial);
  episode.task_id = planted_task_id(place.task);
  episode.trial = place.trial;
  episode.seed = planted_trial_seed(place.trial);
  episode.termination = termination_of(script.end);
  if (script.end == ScriptEnd::NeverRan) {
    episode.duration_seconds = 0;
    return episode;
  }
  episode.reward = script.success ? 1.0 : 0.0;
  episode.success = script.success;
  Teller teller(place, words, vocabulary, rng);
  teller.open();
  const std::span<const ScriptedCall> calls = script.calls;
  for (std::size_t begin = 0; begin < calls.size();) {
    std::size_t end = begin + 1;
    while (end < calls.size() && calls[end].same_message) ++end;
    const bool ends = end == calls.size() && script.end != ScriptEnd::Completed;
    teller.call(calls.subspan(begin, end - begin), ends);
    begin = end;
  }
  if (script.end == ScriptEnd::Completed) teller.close();
  teller.give(episode);
  return episode;
}

RunInfo planted_run_info(const DomainWords& words, std::string_view label, int tasks, int trials,
                         int max_steps, int max_errors, std::uint64_t seed) {
  RunInfo info;
  info.format = "tau2";
  info.domain = words.domain;
  info.model = label;
  info.user_model = "planted-user";
  info.agent_implementation = "llm_agent";
  info.user_implementation = "user_simulator";
  info.agent_settings = R"({"temperature":0.0})";
  info.user_settings = R"({"temperature":0.0})";
  info.git_commit = "planted";
  info.timestamp = "2026-01-01T00:00:00.000000";
  info.seed = static_cast<std::int64_t>(seed & 0x7fffffffffffffffULL);
  info.num_trials = trials;
  info.max_steps = max_steps;
  info.max_errors = max_errors;
  for (int task = 0; task < tasks; ++task) info.task_ids.push_back(planted_task_id(task));
  return info;
}

}  // namespace unmask
