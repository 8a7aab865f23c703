#include "llm/scripted_model.h"

#include <mutex>

namespace unmask {
namespace {

class ScriptedModel : public ChatModel {
 public:
  ScriptedModel(std::string name, Answer answer)
      : name_(std::move(name)), answer_(std::move(answer)) {}

  const std::string& name() const override { return name_; }
  const std::string& settings() const override { return settings_; }

  Result<ChatReply> complete(const ChatRequest& request) override {
    if (request.stop.stop_requested())
      return Error{ErrorKind::Unavailable, "given up because a stop was asked for",
                   std::string(kStopped)};
    return answer_(request);
  }

 private:
  const std::string name_;
  const std::string settings_ = "{}";
  const Answer answer_;
};

struct Replies {
  std::mutex mutex;
  std::vector<Result<ChatReply>> list;
  std::size_t next = 0;
};

}  // namespace

std::unique_ptr<ChatModel> scripted_model(std::string name, Answer answer) {
  return std::make_unique<ScriptedModel>(std::move(name), std::move(answer));
}

std::unique_ptr<ChatModel> scripted_model(std::string name,
                                          std::vector<Result<ChatReply>> replies) {
  const std::shared_ptr<Replies> kept = std::make_shared<Replies>();
  kept->list = std::move(replies);
  return scripted_model(std::move(name), [kept](const ChatRequest&) -> Result<ChatReply> {
    const std::lock_guard lock(kept->mutex);
    if (kept->next == kept->list.size())
      return Error{ErrorKind::Unavailable, "the script has no more replies", ""};
    return kept->list[kept->next++];
  });
}

ChatReply text_reply(std::string text) {
  ChatReply reply;
  reply.message.role = ChatMessage::Role::Assistant;
  reply.message.content = std::move(text);
  reply.finish_reason = "stop";
  return reply;
}

ChatReply calls_reply(std::vector<ChatCall> calls) {
  ChatReply reply;
  reply.message.role = ChatMessage::Role::Assistant;
  for (std::size_t i = 0; i < calls.size(); ++i)
    if (calls[i].id.empty()) calls[i].id = "call_" + std::to_string(i);
  reply.message.calls = std::move(calls);
  reply.finish_reason = "tool_calls";
  return reply;
}

}  // namespace unmask
