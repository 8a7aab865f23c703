// A context is known by the hash of all that led to it, which grows with the episode: one pass, and
// nothing of the conversation is kept.
#include "metrics/episode_decisions.h"

#include <algorithm>
#include <utility>

#include "base/rng.h"

namespace unmask {
namespace {

// 64 bits over texts and numbers in order; a text's length keeps "ab", "c" and "a", "bc" apart.
class HistoryHash {
 public:
  void add(std::string_view text) {
    add(text.size());
    add(Rng::hash(text));
  }
  void add(std::uint64_t number) { value_ = Rng(value_ ^ number, 1).next(); }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0;
};

enum class Said : std::uint64_t { Message = 1, Attempt = 2 };

bool has_decisions(const Episode& episode) {
  return std::any_of(episode.messages.begin(), episode.messages.end(), [](const Message& message) {
    return message.role == Role::Agent && !message.decision.empty();
  });
}

void add_said(Said what, std::string_view text, bool empty_text, const std::vector<ToolCall>& calls,
              HistoryHash& history) {
  history.add(static_cast<std::uint64_t>(what));
  history.add(text);
  history.add(empty_text ? 1 : 0);
  history.add(calls.size());
  for (const ToolCall& call : calls) {
    history.add(call.name);
    history.add(call.arguments);
    history.add(static_cast<std::uint64_t>(call.side));
  }
}

void add_message(const Message& message, HistoryHash& history) {
  history.add(static_cast<std::uint64_t>(message.role));
  add_said(Said::Message, message.text, message.empty_text, message.calls, history);
  if (!message.result) return;
  history.add(message.result->text);
  history.add(message.result->failed ? 1 : 0);
  history.add(static_cast<std::uint64_t>(message.result->side));
}

void add_attempt(const Attempt& attempt, HistoryHash& history) {
  add_said(Said::Attempt, attempt.text, attempt.empty_text, attempt.calls, history);
  history.add(attempt.feedback);
}

std::uint64_t hash_of_said(std::string_view text, std::string_view thoughts) {
  if (text.empty() && thoughts.empty()) return 0;
  HistoryHash said;
  said.add(text);
  said.add(thoughts);
  return said.value();
}

std::vector<LoggedCall> logged(const std::vector<ToolCall>& calls) {
  std::vector<LoggedCall> out;
  for (const ToolCall& call : calls) out.push_back({call.name, Rng::hash(call.arguments)});
  return out;
}

bool needs_no_environment(Channel channel) {
  return channel == Channel::Malformed || channel == Channel::ToolName ||
         channel == Channel::Schema;
}

// The channel of every message, by index; what was refused before a message is not the message's,
// but where the message fails the same way its own call is no longer among the classified.
std::vector<std::string> channels_of(const Episode& episode, const ClassifiedEpisode& classified) {
  std::vector<std::string> channels(episode.messages.size());
  for (const ClassifiedCall& call : classified.calls) {
    if (call.side != Side::Agent || !needs_no_environment(call.channel)) continue;
    if (call.repair == Repair::Repaired || call.repair == Repair::Withdrawn) continue;
    std::string& channel = channels[static_cast<std::size_t>(call.message)];
    if (channel.empty()) channel = to_string(call.channel);
  }
  return channels;
}

class Collector {
 public:
  Collector(const Episode& episode, const ReadDecision& read) : episode_(episode), read_(read) {}

  EpisodeDecisions collect(const RunInfo& run, std::optional<std::vector<std::string>> offered,
                           const std::vector<std::string>& channels) {
    begin(run, offered);
    out_.offered = std::move(offered);
    bool heard_any = false;
    for (std::size_t i = 0; i < episode_.messages.size(); ++i) {
      const Message& message = episode_.messages[i];
      if (message.role == Role::Agent && heard_any) add_decisions(i, channels[i]);
      add_message(message, history_);
      heard_any |= message.role != Role::Agent && message.role != Role::System;
    }
    return std::move(out_);
  }

 private:
  void begin(const RunInfo& run, const std::optional<std::vector<std::string>>& offered) {
    history_.add(episode_.policy_hash.empty() ? run.policy_hash : episode_.policy_hash);
    if (!offered) return;
    for (const std::string& name : *offered) history_.add(name);
  }

  void add_decisions(std::size_t index, const std::string& channel) {
    const Message& message = episode_.messages[index];
    int attempt = 0;
    for (const Attempt& handed_back : message.attempts) {
      add(index, attempt++, hash_of_said(handed_back.text, handed_back.reasoning),
          handed_back.calls, handed_back.channel, {});
      add_attempt(handed_back, history_);
    }
    add(index, attempt, hash_of_said(message.text, message.reasoning), message.calls, channel,
        message.decision);
  }

  void add(std::size_t index, int attempt, std::uint64_t said, const std::vector<ToolCall>& calls,
           const std::string& channel, std::string_view decision) {
    LoggedDecision made{history_.value(), said,          static_cast<int>(index),
                        attempt,          logged(calls), channel,
                        std::nullopt};
    if (!decision.empty()) made.decision = read_(decision);
    if (!decision.empty() && !made.decision) ++out_.unreadable;
    if (made.decision && !contradiction_in(*made.decision).empty()) ++out_.contradictory;
    out_.decisions.push_back(std::move(made));
  }

  const Episode& episode_;
  const ReadDecision& read_;
  HistoryHash history_;
  EpisodeDecisions out_;
};

}  // namespace

std::shared_ptr<const EpisodeDecisions> episode_decisions(const RunInfo& run,
                                                          const Episode& episode,
                                                          const ClassifiedEpisode& classified,
                                                          const Classifier& classifier,
                                                          const ReadDecision& read) {
  if (!has_decisions(episode)) return nullptr;
  return std::make_shared<const EpisodeDecisions>(
      Collector(episode, read)
          .collect(run, classifier.offered_to_agent(episode), channels_of(episode, classified)));
}

}  // namespace unmask
