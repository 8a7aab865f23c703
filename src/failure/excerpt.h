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

// `text` with what looks like a secret replaced by "[removed]": bearer and basic credentials, keys
// with a known prefix (sk-, ghp_, hf_, AKIA ...), JSON web tokens, private keys in PEM, user and
// password of an address, curl's -u, cookies, and values named api_key, token, password, secret and
// their kin, whole where they are quoted, a list or an object (of which one quoted text is left, so
// that JSON stays JSON). Of an e-mail address the first letter and the domain stay, so that a
// lookup of a customer who does not exist can still be understood. Names, addresses and phone
// numbers stay: no rule knows them. Takes time in proportion to the text.
std::string without_secrets(std::string_view text);

}  // namespace unmask
