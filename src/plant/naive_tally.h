// For this room's tests only: what a planted log holds, counted from its texts by string comparison
// and nothing else.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "trace/episode.h"

namespace unmask::plant_test {

struct NaiveTally {
  int episodes = 0;  // that ran
  int never_ran = 0;
  int agent_calls = 0;  // leaked markup included
  int user_calls = 0;
  int user_failures = 0;
  std::map<std::string, int> channels;  // "tool_name", "schema", ... of the agent
  std::map<std::string, int> names;     // hallucinated
  int successes = 0;
  int cut = 0;
  int recovered = 0;
  int not_recovered = 0;
  int censored = 0;
  std::vector<int> errors;    // E per episode that ran
  std::vector<bool> success;  // parallel to errors
  std::vector<int> task;      // parallel to errors
  std::vector<int> burst_lengths;
  double rate(const std::string& channel) const {
    const auto it = channels.find(channel);
    return it == channels.end() ? 0 : double(it->second) / agent_calls;
  }
  double recovery() const { return double(recovered) / (recovered + not_recovered); }
  int successes_within(int k) const {
    int count = 0;
    for (std::size_t i = 0; i < errors.size(); ++i) count += success[i] && errors[i] <= k ? 1 : 0;
    return count;
  }
};

inline bool holds(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

inline std::string channel_of(const ToolCall& call, const std::string& answer, bool failed) {
  if (!call.arguments_are_object) return "malformed";
  if (!failed) return "ok";
  if (answer == "Error: Tool '" + call.name + "' not found.") return "tool_name";
  if (holds(answer, "() missing ") || holds(answer, "() got an unexpected")) return "schema";
  if (answer.ends_with("not found") || holds(answer, " not found for customer ")) return "entity";
  return "rejected";
}

// One agent call: the message it was made in, and how it went.
struct NaiveCall {
  std::size_t message;
  std::string channel;
};

inline std::vector<NaiveCall> agent_calls_of(const Episode& episode, NaiveTally& tally) {
  std::vector<NaiveCall> calls;
  for (std::size_t m = 0; m < episode.messages.size(); ++m) {
    const Message& message = episode.messages[m];
    if (message.role == Role::Agent && holds(message.text, "<tool_call>"))
      calls.push_back({m, "malformed"});
    for (std::size_t c = 0; c < message.calls.size(); ++c) {
      const ToolResult& result = *episode.messages[m + 1 + c].result;
      if (message.role == Role::User) {
        ++tally.user_calls;
        tally.user_failures += result.failed ? 1 : 0;
        continue;
      }
      calls.push_back({m, channel_of(message.calls[c], result.text, result.failed)});
      if (calls.back().channel == "tool_name") ++tally.names[message.calls[c].name];
    }
  }
  return calls;
}

inline void tally_recovery(const std::vector<NaiveCall>& calls, bool cut, NaiveTally& tally) {
  int burst = 0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (calls[i].channel == "ok") {
      if (burst > 0) tally.burst_lengths.push_back(burst);
      burst = 0;
      continue;
    }
    ++burst;
    std::size_t next = i + 1;
    while (next < calls.size() && calls[next].message == calls[i].message) ++next;
    if (next < calls.size())
      ++(calls[next].channel == "ok" ? tally.recovered : tally.not_recovered);
    else
      ++(cut ? tally.censored : tally.not_recovered);
  }
  if (burst > 0) tally.burst_lengths.push_back(burst);
}

inline NaiveTally naive_tally(const Run& run) {
  NaiveTally tally;
  for (const Episode& episode : run.episodes) {
    if (episode.termination == Termination::InfrastructureError) {
      ++tally.never_ran;
      continue;
    }
    ++tally.episodes;
    const bool cut = episode.termination == Termination::TooManyErrors;
    tally.cut += cut ? 1 : 0;
    const std::vector<NaiveCall> calls = agent_calls_of(episode, tally);
    tally.agent_calls += static_cast<int>(calls.size());
    for (const NaiveCall& call : calls) ++tally.channels[call.channel];
    tally_recovery(calls, cut, tally);
    int errors = 0;
    for (const Message& message : episode.messages)
      errors += message.result && message.result->failed ? 1 : 0;
    tally.errors.push_back(errors);
    tally.success.push_back(*episode.success);
    tally.successes += *episode.success ? 1 : 0;
    tally.task.push_back(std::stoi(episode.task_id.substr(episode.task_id.find('_') + 1)));
  }
  return tally;
}

}  // namespace unmask::plant_test
