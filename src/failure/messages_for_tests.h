// Messages, calls and answers for the tests of this room.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "failure/classify.h"

namespace unmask {

inline RunInfo info_of(const std::string& domain) {
  RunInfo info;
  info.format = "tau2";
  info.domain = domain;
  return info;
}

inline ToolCall make_call(const std::string& name, const std::string& arguments = "{}",
                          Side side = Side::Agent, const std::string& id = "") {
  ToolCall call;
  call.id = id;
  call.name = name;
  call.arguments = arguments;
  call.side = side;
  return call;
}

inline Message calling(std::initializer_list<ToolCall> calls) {
  Message message;
  message.calls = calls;
  message.role = calls.begin()->side == Side::User ? Role::User : Role::Agent;
  return message;
}

inline Message saying(const std::string& text, Role role = Role::Agent) {
  Message message;
  message.role = role;
  message.text = text;
  return message;
}

inline Message answering(const std::string& text, bool failed, Side side = Side::Agent,
                         const std::string& id = "", const std::string& error_type = "") {
  Message message;
  message.role = Role::Tool;
  message.result = ToolResult{id, text, failed, error_type, side};
  return message;
}

// One call and its failed answer, judged with the built-in lists of `domain`.
inline ClassifiedCall judge(const std::string& domain, const ToolCall& call,
                            const std::string& text, const std::string& error_type = "") {
  Episode episode;
  episode.messages = {calling({call}), answering(text, true, call.side, "", error_type)};
  const ClassifiedEpisode judged = Classifier(info_of(domain), nullptr).classify(episode);
  EXPECT_EQ(judged.calls.size(), 1u);
  return judged.calls.at(0);
}

inline void expect_judged(const ClassifiedCall& call, Channel channel, SubKind kind) {
  EXPECT_EQ(to_string(call.channel), to_string(channel)) << call.evidence;
  EXPECT_EQ(to_string(call.kind), to_string(kind)) << call.evidence;
}

}  // namespace unmask
