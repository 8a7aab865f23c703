// One episode's calls -> counts.
//
// Recovery, by METHOD 4: a failed agent call has recovered when the agent's next call in a *later*
// message succeeds. Calls of one message are issued together, so none of them reacts to another:
//
//   message 3: a (failed), b (ok)      a: next call in a later message is c -> recovered
//   message 5: c (ok), d (failed)      d: no later call -> not recovered, or censored when the
//   error
//                                      budget ended the episode
#include "metrics/episode_facts.h"

#include <algorithm>

#include "base/check.h"
#include "base/rng.h"
#include "base/utf8.h"

namespace unmask {
namespace {

std::string cut(const std::string& text) {
  if (text.size() <= kEvidenceBytes) return text;
  std::size_t end = kEvidenceBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

// A call that enters the rates: answered (or leaked markup), and not the harness's fault.
bool in_rates(Channel channel) {
  return channel != Channel::System && channel != Channel::Unanswered;
}

void count_errors(const Episode& episode, EpisodeFacts& facts) {
  for (const Message& message : episode.messages) {
    if (message.role == Role::Agent) {
      const auto spent = std::count_if(message.attempts.begin(), message.attempts.end(),
                                       [](const Attempt& each) { return each.spends_budget; });
      facts.errors_all += static_cast<int>(spent);
      facts.errors_agent += static_cast<int>(spent);
    }
    if (!message.result || !message.result->failed) continue;
    ++facts.errors_all;
    if (message.result->side == Side::Agent) ++facts.errors_agent;
  }
}

void count_repair(Repair repair, RepairCounts& counts) {
  if (repair == Repair::None) return;
  ++counts.refused;
  if (repair == Repair::Repaired) ++counts.repaired;
  if (repair == Repair::Unrepaired) ++counts.unrepaired;
  if (repair == Repair::Withdrawn) ++counts.withdrawn;
}

void count_call(const ClassifiedCall& call, EpisodeFacts& facts) {
  if (call.side == Side::User) {
    if (in_rates(call.channel)) ++facts.user_calls;
    return;
  }
  const auto channel = static_cast<std::size_t>(call.channel);
  ++facts.agent_channel[channel];
  if (call.channel == Channel::Unanswered) ++facts.unanswered;
  if (call.channel == Channel::System) ++facts.system;
  if (call.not_offered) ++facts.not_offered_ok;
  count_repair(call.repair, facts.repair);
  if (!in_rates(call.channel)) return;
  ++facts.agent_calls;
  const auto bin = static_cast<std::size_t>(position_bin(call.position));
  ++facts.position_calls[bin];
  if (!is_failure(call.channel)) return;
  ++facts.position_failures[bin][channel];
  if (call.repeats_failed) ++facts.repeated_after_failure;
}

// The agent's m-th message of n (0-based) lies in quarter 4 m / n.
void count_quarters(const Episode& episode, const std::vector<ClassifiedCall>& calls,
                    EpisodeFacts& facts) {
  if (episode.termination == Termination::TooManyErrors) return;
  std::vector<int> before(episode.messages.size());  // agent messages up to and with this one
  int seen = 0;
  for (std::size_t m = 0; m < before.size(); ++m) {
    if (episode.messages[m].role == Role::Agent) ++seen;
    before[m] = seen;
  }
  if (seen == 0) return;
  for (const ClassifiedCall& call : calls) {
    if (call.side != Side::Agent || !in_rates(call.channel)) continue;
    const auto m = static_cast<std::size_t>(call.message);
    if (call.message < 0 || m >= before.size()) continue;
    const int turn = std::max(before[m] - 1, 0);
    const auto quarter = static_cast<std::size_t>(kQuarters * turn / seen);
    ++facts.quarter_calls[quarter];
    if (is_failure(call.channel))
      ++facts.quarter_failures[quarter][static_cast<std::size_t>(call.channel)];
  }
}

FailedCall failed_call(const ClassifiedCall& call) {
  FailedCall failed;
  failed.side = call.side;
  failed.channel = call.channel;
  failed.kind = call.kind;
  failed.cause = call.cause;
  failed.name = cut(call.name);
  failed.evidence = cut(call.evidence);
  failed.message = call.message;
  failed.position = call.position;
  failed.in_budget = call.in_budget;
  failed.repair = call.repair;
  return failed;
}

// Fate of calls[i]: what the agent's first rated call of a later message came to.
FailedCall::Recovery recovery_of(const std::vector<ClassifiedCall>& calls, std::size_t i,
                                 Termination termination) {
  const int later = calls[i].message + (calls[i].repair == Repair::Repaired ? 0 : 1);
  for (std::size_t k = i + 1; k < calls.size(); ++k) {
    const ClassifiedCall& next = calls[k];
    if (next.side != calls[i].side || next.message < later || !in_rates(next.channel)) continue;
    return next.channel == Channel::Ok ? FailedCall::Recovery::Recovered
                                       : FailedCall::Recovery::NotRecovered;
  }
  return termination == Termination::TooManyErrors ? FailedCall::Recovery::Censored
                                                   : FailedCall::Recovery::NotRecovered;
}

std::vector<int> runs_of_failures(const std::vector<ClassifiedCall>& calls) {
  std::vector<int> lengths;
  int current = 0;
  for (const ClassifiedCall& call : calls) {
    if (call.side != Side::Agent || !in_rates(call.channel)) continue;
    if (is_failure(call.channel)) {
      ++current;
    } else if (current > 0) {
      lengths.push_back(current);
      current = 0;
    }
  }
  if (current > 0) lengths.push_back(current);
  return lengths;
}

std::uint64_t chain(std::uint64_t h, std::string_view text) {
  h ^= Rng::hash(text) + 0x9e3779b97f4a7c15ULL + (h << 6) + (h >> 2);
  return h;
}

std::uint64_t hash_of_trajectory(const Episode& episode) {
  std::uint64_t h = 0;
  for (const Message& message : episode.messages) {
    h = chain(h, to_string(message.role));
    for (const Attempt& attempt : message.attempts) {
      h = chain(h, attempt.text);
      for (const ToolCall& call : attempt.calls) h = chain(chain(h, call.name), call.arguments);
    }
    h = chain(h, message.text);
    for (const ToolCall& call : message.calls) h = chain(chain(h, call.name), call.arguments);
    if (message.result) h = chain(h, message.result->text);
  }
  return h;
}

void add_usage(const std::optional<TokenUsage>& usage, EpisodeFacts& facts) {
  if (!usage) return;
  facts.prompt_tokens = facts.prompt_tokens.value_or(0) + usage->prompt;
  facts.completion_tokens = facts.completion_tokens.value_or(0) + usage->completion;
}

void measure_length(const Episode& episode, EpisodeFacts& facts) {
  facts.steps = static_cast<int>(episode.messages.size());
  for (const Message& message : episode.messages) {
    if (message.role != Role::Agent) continue;
    ++facts.agent_turns;
    add_usage(message.usage, facts);
    for (const Attempt& attempt : message.attempts) add_usage(attempt.usage, facts);
  }
  facts.seconds = episode.duration_seconds;
  facts.agent_cost_usd = episode.agent_cost_usd;
}

}  // namespace

int position_bin(int zero_based_position) {
  if (zero_based_position < 5) return 0;
  if (zero_based_position < 10) return 1;
  return zero_based_position < 20 ? 2 : 3;
}

std::string_view position_bin_label(int bin) {
  constexpr std::string_view kLabels[kPositionBins] = {"1-5", "6-10", "11-20", "21+"};
  UNMASK_CHECK(bin >= 0 && bin < kPositionBins);
  return kLabels[bin];
}

EpisodeFacts episode_facts(const Episode& episode, const ClassifiedEpisode& classified) {
  EpisodeFacts facts;
  facts.domain = episode.domain;
  facts.task_id = episode.task_id;
  facts.trial = episode.trial;
  facts.seed = episode.seed;
  facts.termination = episode.termination;
  facts.excluded = ended_in_infrastructure_error(episode);
  facts.success = episode.success;
  facts.reward = episode.reward;
  facts.model = episode.model;
  facts.policy_hash = episode.policy_hash;
  facts.id = episode.id;
  facts.where = episode.where;
  facts.tool_evidence = classified.tool_evidence;
  facts.orphan_results = classified.orphan_results;
  count_errors(episode, facts);
  const std::vector<ClassifiedCall>& calls = classified.calls;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    count_call(calls[i], facts);
    if (!is_failure(calls[i].channel)) continue;
    FailedCall failed = failed_call(calls[i]);
    failed.recovery = recovery_of(calls, i, episode.termination);
    facts.failures.push_back(std::move(failed));
  }
  count_quarters(episode, calls, facts);
  facts.burst_lengths = runs_of_failures(calls);
  measure_length(episode, facts);
  facts.trajectory_hash = hash_of_trajectory(episode);
  return facts;
}

}  // namespace unmask
