// ChatModels that say what they are told: for tests and for trying a plan.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "llm/chat_model.h"

namespace unmask {

using Answer = std::function<Result<ChatReply>(const ChatRequest&)>;

// Threads  `answer` is called by as many threads as call complete().
std::unique_ptr<ChatModel> scripted_model(std::string name, Answer answer);

// The replies in order, one a request, whichever thread asks.
// Errors   Unavailable once they are used up.
std::unique_ptr<ChatModel> scripted_model(std::string name, std::vector<Result<ChatReply>> replies);

ChatReply text_reply(std::string text);
// Ids "call_0", "call_1" ... where a call has none.
ChatReply calls_reply(std::vector<ChatCall> calls);

}  // namespace unmask
