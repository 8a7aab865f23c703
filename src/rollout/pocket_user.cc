#include "rollout/pocket_user.h"

#include <algorithm>

#include "rollout/pocket_plan.h"

namespace unmask {

namespace {

using Speaker = ReplayMessage::Speaker;

constexpr int kPatience = 5;  // texts it cannot follow
constexpr const char* kStop = "###STOP###";

TurnMessage say(std::string text) {
  return text_message(Speaker::User, std::move(text));
}

}  // namespace

PocketUser::PocketUser(const Toolkit* tools, std::string opening) : opening_(std::move(opening)) {
  if (tools)
    for (const Tool& tool : tools->tools) tools_.push_back(tool.name);
}

Result<Done> PocketUser::begin(std::span<const TurnMessage> history) {
  for (const TurnMessage& message : history) opened_ = opened_ || message.speaker == Speaker::User;
  return Done{};
}

bool PocketUser::has_tool(const std::string& name) const {
  return std::find(tools_.begin(), tools_.end(), name) != tools_.end();
}

Result<TurnMessage> PocketUser::next(std::span<const TurnMessage> incoming) {
  if (!opened_) {
    opened_ = true;
    return say(opening_);
  }
  const std::string heard = incoming.empty() ? "" : incoming.front().content.value_or("");
  if (!incoming.empty() && incoming.front().speaker == Speaker::Tool) return say(heard);
  return answer(heard);
}

TurnMessage PocketUser::answer(const std::string& text) {
  const std::vector<std::string> words = words_of(text);
  if (!words.empty() && words.back() == "done") return say(kStop);
  if (words.size() > 1 && words[words.size() - 2] == "ask") {
    const std::string& name = words.back();
    if (!has_tool(name)) return say("i have no " + name);
    return calls_message(Speaker::User,
                         {{"user_" + std::to_string(++calls_), name, Value::dict(), Side::User}});
  }
  return say(++not_followed_ == kPatience ? kStop : "sorry");
}

}  // namespace unmask
