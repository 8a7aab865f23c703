// The conversation around a failed call, for a reader who wants to see the failure itself.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "failure/classify.h"
#include "trace/episode.h"

namespace unmask {

// Bytes kept of one text of a conversation; what was cut is said.
inline constexpr std::size_t kExcerptBytes = 700;

struct ExcerptCall {
  std::string name;
  std::string arguments;
  bool failed = false;  // the call the excerpt is about
};

struct ExcerptMessage {
  Role role = Role::Agent;
  int index = 0;  // in the episode, 0-based
  std::string text;
  std::vector<ExcerptCall> calls;
  bool failed = false;  // a tool message that reports an error
};

struct Excerpt {
  std::string domain;
  std::string task;
  int trial = 0;
  std::string where;  // place of the episode in the log
  Channel channel = Channel::Rejected;
  SubKind kind = SubKind::None;
  std::string name;
  std::string evidence;
  int message = 0;       // of the call
  int position = 0;      // 0-based index among the agent's calls
  int all_messages = 0;  // of the episode
  std::vector<ExcerptMessage> messages;
};

// Two messages before the call, its own, the answers to it, and what the agent did next. Secrets
// are taken out of every text (without_secrets), then long ones are cut.
//
// Shape    `call` is one of the episode's.
// Threads  pure.
Excerpt excerpt_of(const Episode& episode, const ClassifiedCall& call);

}  // namespace unmask
