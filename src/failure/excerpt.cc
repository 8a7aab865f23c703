#include "failure/excerpt.h"

#include <algorithm>

#include "failure/secrets.h"
#include "failure/text.h"

namespace unmask {
namespace {

constexpr int kMessagesBefore = 2;
constexpr int kMostMessages = 8;
constexpr std::size_t kMostCalls = 6;  // of one message
// Looked through for secrets; more than can be shown.
constexpr std::size_t kBytesRead = 65536;

std::string shown(std::string_view text) {
  const std::string clean = without_secrets(clipped(text, kBytesRead));
  if (clean.size() <= kExcerptBytes) return clean;
  const std::string_view kept = clipped(clean, kExcerptBytes);
  return std::string(kept) + " … [" +
         std::to_string(text.size() - std::min(text.size(), kept.size())) + " bytes more]";
}

// The call the excerpt is about: the k-th of its side among the message's own, counted as the
// classifier counts them.
bool is_the_call(const ToolCall& call, const ClassifiedCall& judged) {
  return call.side == judged.side && call.name == judged.name;
}

ExcerptMessage excerpt_message(const Message& message, int index, const ClassifiedCall& judged) {
  ExcerptMessage out;
  out.role = message.role;
  out.index = index;
  const bool own = index == judged.message;
  // Leaked markup may stand in the raw completion only.
  const bool leaked = own && judged.kind == SubKind::LeakedMarkup && !message.raw_text.empty();
  out.text = shown(leaked ? message.raw_text : message.text);
  if (message.result && message.text.empty()) out.text = shown(message.result->text);
  out.failed = message.result && message.result->failed;
  bool marked = false;
  for (const ToolCall& call : message.calls) {
    if (out.calls.size() == kMostCalls) break;
    const bool failed = own && !marked && is_the_call(call, judged);
    marked |= failed;
    out.calls.push_back({shown(call.name), shown(call.arguments), failed});
  }
  return out;
}

// The message after the call's answers at which the agent goes on, included; half-open.
int end_of_window(const Episode& episode, int begin, int call) {
  const int all = static_cast<int>(episode.messages.size());
  int end = call + 1;
  while (end < all && episode.messages[static_cast<std::size_t>(end)].role == Role::Tool) ++end;
  if (end < all) ++end;
  return std::min(end, std::max(begin + kMostMessages, call + 2));
}

// What the agent had issued before the message where the harness handed it back (METHOD 9).
void add_refused(const Message& message, int index, std::vector<ExcerptMessage>& out) {
  for (const Attempt& attempt : message.attempts) {
    ExcerptMessage refused;
    refused.index = index;
    refused.text = shown(attempt.text);
    for (std::size_t i = 0; i < attempt.calls.size() && i < kMostCalls; ++i)
      refused.calls.push_back(
          {shown(attempt.calls[i].name), shown(attempt.calls[i].arguments), i == attempt.refused});
    ExcerptMessage feedback;
    feedback.role = Role::Tool;
    feedback.index = index;
    feedback.text = shown(attempt.feedback);
    feedback.failed = true;
    out.push_back(std::move(refused));
    out.push_back(std::move(feedback));
    if (out.size() >= static_cast<std::size_t>(kMostMessages)) return;
  }
}

}  // namespace

Excerpt excerpt_of(const Episode& episode, const ClassifiedCall& call) {
  Excerpt excerpt;
  excerpt.domain = episode.domain;
  excerpt.task = episode.task_id;
  excerpt.trial = episode.trial;
  excerpt.where = episode.where;
  excerpt.channel = call.channel;
  excerpt.kind = call.kind;
  excerpt.name = shown(call.name);
  excerpt.evidence = shown(call.evidence);
  excerpt.message = call.message;
  excerpt.position = call.position;
  excerpt.all_messages = static_cast<int>(episode.messages.size());
  const int all = excerpt.all_messages;
  const int at = std::clamp(call.message, 0, std::max(0, all - 1));
  const int begin = std::max(0, at - kMessagesBefore);
  for (int i = begin; i < end_of_window(episode, begin, at) && i < all; ++i) {
    const Message& message = episode.messages[static_cast<std::size_t>(i)];
    if (message.role == Role::System) continue;
    if (i == at) add_refused(message, i, excerpt.messages);
    excerpt.messages.push_back(excerpt_message(message, i, call));
  }
  return excerpt;
}

}  // namespace unmask
