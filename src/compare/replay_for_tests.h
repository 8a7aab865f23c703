// A replay written by hand, for the tests of this room.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "compare/mechanism.h"

namespace unmask {

// Replies of one token a name, in contexts of one list of tools.
class Hand {
 public:
  Hand() {
    replay.head.arms = {{"bf16", "", "", "", true, ""}, {"int4", "", "", "", false, ""}};
    replay.tools = {{"t", {"open", "close", "lock"}}};
  }

  void context(const std::string& id, const std::string& task) {
    ReplayContext context;
    context.id = id;
    context.task_id = task;
    context.tools_id = "t";
    replay.contexts.push_back(context);
  }

  // A call of `name`; `top` are the alternatives, the name first.
  void call(const std::string& id, const std::string& arm, const std::string& name,
            Alternatives top, const std::string& arguments = "{}") {
    ReplayReply reply = reply_of(id, arm);
    ToolCall made;
    made.name = name;
    made.arguments = arguments;
    reply.calls = {made};
    bool offered = false;
    for (const std::string& tool : replay.tools[0].names) offered = offered || tool == name;
    if (!offered) reply.channel = "tool_name";
    Decision decision;
    decision.first = TokenDecision{"<c>", -0.1, {{"<c>", -0.1}, {"I", -2.5}}};
    const double logprob = top.empty() ? -0.1 : (*top.begin()).logprob;
    decision.name = NameDecision{name, {{name, logprob, std::move(top)}}};
    replay.replies.push_back(reply);
    decisions.emplace_back(std::move(decision));
  }

  void talk(const std::string& id, const std::string& arm) {
    ReplayReply reply = reply_of(id, arm);
    reply.text = "Hello.";
    Decision decision;
    decision.first = TokenDecision{"I", -0.2, {{"I", -0.2}, {"<c>", -1.8}}};
    replay.replies.push_back(reply);
    decisions.emplace_back(std::move(decision));
  }

  void error(const std::string& id, const std::string& arm) {
    ReplayReply reply = reply_of(id, arm);
    reply.error = "its context window is full";
    replay.replies.push_back(reply);
    decisions.emplace_back(std::nullopt);
  }

  Mechanism analysed(MechanismOptions options = {}) const {
    options.resamples = 100;
    options.threads = 1;
    const Result<Mechanism> mechanism = analyse_mechanism(replay, decisions, options);
    EXPECT_TRUE(mechanism);
    return *mechanism;
  }

  Replay replay;
  std::vector<std::optional<Decision>> decisions;

 private:
  static ReplayReply reply_of(const std::string& id, const std::string& arm) {
    ReplayReply reply;
    reply.context_id = id;
    reply.arm = arm;
    return reply;
  }
};

}  // namespace unmask
