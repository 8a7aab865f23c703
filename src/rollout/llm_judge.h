// A judge of assertions in plain language that is a chat model.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "environment/grading.h"
#include "llm/chat_model.h"

namespace unmask {

// Shows the model the spoken conversation and the expected outcomes, and reads its verdict on each.
//
// Threads  may be called from several at once; the model must outlive it.
// Source   the answer's form is τ²-bench 1.0.1's, evaluator/evaluator_nl_assertions.py; the wording
//          of the request is our own.
class LlmJudge : public Judge {
 public:
  explicit LlmJudge(ChatModel& model) : model_(model) {}

  Result<std::vector<AssertionJudgement>> judge(std::span<const ReplayMessage> trajectory,
                                                std::span<const std::string> assertions) override;

 private:
  ChatModel& model_;
};

}  // namespace unmask
