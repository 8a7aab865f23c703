#include "rollout/llm_judge.h"

#include <string_view>

namespace unmask {

namespace {

constexpr std::string_view kRules =
    "You check a recorded conversation between a customer service agent and a customer. You get a "
    "numbered list of expected outcomes. Say for each one, by itself, whether the agent met it.\n"
    "Answer with one JSON object and nothing else:\n"
    "{\"results\": [{\"expectedOutcome\": \"...\", \"reasoning\": \"...\", \"metExpectation\": "
    "true}]}\n"
    "with one entry for each expected outcome, in their order: its text as given, one sentence of "
    "reasoning, and true or false.";

std::string_view speaker_name(ReplayMessage::Speaker speaker) {
  switch (speaker) {
    case ReplayMessage::Speaker::Agent:
      return "agent";
    case ReplayMessage::Speaker::User:
      return "customer";
    case ReplayMessage::Speaker::Tool:
      return "tool";
    case ReplayMessage::Speaker::Other:
      return "system";
  }
  return "";
}

std::string request_text(std::span<const ReplayMessage> trajectory,
                         std::span<const std::string> assertions) {
  std::string text = "Conversation:\n";
  for (const ReplayMessage& message : trajectory) {
    if (!message.content || message.content->empty()) continue;
    text += std::string(speaker_name(message.speaker)) + ": " + *message.content + "\n";
  }
  text += "\nExpected outcomes:\n";
  for (std::size_t i = 0; i < assertions.size(); ++i)
    text += std::to_string(i + 1) + ". " + assertions[i] + "\n";
  return text;
}

// Models like to wrap an object in a fenced block or a sentence.
std::string_view object_in(std::string_view answer) {
  const std::size_t begin = answer.find('{');
  const std::size_t end = answer.rfind('}');
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin)
    return answer;
  return answer.substr(begin, end - begin + 1);
}

}  // namespace

Result<std::vector<AssertionJudgement>> LlmJudge::judge(std::span<const ReplayMessage> trajectory,
                                                        std::span<const std::string> assertions) {
  const ChatMessage messages[] = {
      {ChatMessage::Role::System, std::string(kRules), {}, "", ""},
      {ChatMessage::Role::User, request_text(trajectory, assertions), {}, "", ""}};
  ChatRequest request;
  request.messages = messages;
  const Result<ChatReply> reply = model_.complete(request);
  if (!reply)
    return Error{ErrorKind::Unavailable, "the judge does not answer: " + reply.error().message, ""};
  Result<std::vector<AssertionJudgement>> judgements =
      judgements_in(object_in(reply->message.content.value_or("")));
  if (judgements && judgements->size() != assertions.size())
    return Error{ErrorKind::Malformed,
                 "the judge gave " + std::to_string(judgements->size()) + " judgements on " +
                     std::to_string(assertions.size()) + " assertions",
                 ""};
  return judgements;
}

}  // namespace unmask
