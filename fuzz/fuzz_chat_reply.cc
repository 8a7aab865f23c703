// Replies of a server, whatever the bytes: read without a crash, and what is read is fit to go on.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/utf8.h"
#include "llm/chat_reply.h"
#include "llm/json_text.h"
#include "llm/server_words.h"

namespace {

using namespace unmask;

void check_reply(const ChatReply& reply, std::string_view body) {
  std::set<std::string> ids;
  for (const ChatCall& call : reply.message.calls) {
    UNMASK_CHECK(!call.id.empty());
    UNMASK_CHECK(ids.insert(call.id).second);
    UNMASK_CHECK(is_utf8(call.name) && is_utf8(call.arguments));
  }
  for (const TokenChoice& choice : reply.logprobs)
    for (std::size_t i = 1; i < choice.top.size(); ++i)
      UNMASK_CHECK(choice.top[i - 1].second >= choice.top[i].second);
  UNMASK_CHECK(is_utf8(reply.raw));
  // The raw reply says the same again, save for the log-probabilities.
  const Result<ChatReply> again = read_chat_reply(reply.raw, 1);
  UNMASK_CHECK(again);
  UNMASK_CHECK(again->message.content == reply.message.content);
  UNMASK_CHECK(again->message.calls.size() == reply.message.calls.size());
  UNMASK_CHECK(again->raw == reply.raw);
  UNMASK_CHECK(!body.empty());
}

// What a server could not read is a call that fails as unreadable.
void check_unread(const ChatReply& reply) {
  UNMASK_CHECK(reply.message.calls.size() == 1 && !reply.message.content);
  const ChatCall& call = reply.message.calls.front();
  UNMASK_CHECK(!call.id.empty() && call.name.empty());
  UNMASK_CHECK(is_utf8(call.arguments) && is_utf8(reply.raw));
  const std::optional<nlohmann::ordered_json> arguments = read_json(call.arguments);
  UNMASK_CHECK(!arguments || !arguments->is_object());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  const Result<ChatReply> reply = read_chat_reply(body, 1);
  if (reply) check_reply(*reply, body);
  if (const std::optional<ChatReply> unread = read_unread_output(body, 1)) check_unread(*unread);
  const std::string said = server_message(body);
  UNMASK_CHECK(is_utf8(said) && said.size() <= 303);
  UNMASK_CHECK(said.find('\n') == std::string::npos);
  (void)says_context_overflow(body);
  return 0;
}
