// A side of a conversation played from the keyboard.
#pragma once

#include <functional>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "rollout/participant.h"

namespace unmask {

// What a typed line means.
struct TypedLine {
  enum class What { Nothing, Text, Call, Command, Mistake };
  What what = What::Nothing;
  std::string text;  // the text to say, the command's name, or what is wrong
  ToolRequest call;
};

// `name {json}` where name is one of `tools`, or any name right before a "{", is a call; "/word" is
// a command; anything else is text.
TypedLine typed_line(std::string_view line, const std::vector<std::string>& tools);

// The `where` of the Error by which a person leaves.
inline constexpr std::string_view kLeft = "left";

struct TypedSide {
  std::istream& in;
  std::function<void(const std::string&)> show;  // to the person
  std::function<void(const std::string&)> run_command;
  std::string name;  // of the side, for the prompt
  std::vector<std::string> tools;
  int errors_left = 0;  // as far as this side can see
  int calls = 0;

  // Shows a message of the conversation and counts the errors among the results.
  void receive(const TurnMessage& message);

  // Errors   where = kLeft: /quit or the end of the input.
  Result<TurnMessage> read(ReplayMessage::Speaker speaker);
};

template <typename Base>
class Typed : public Base {
 public:
  Typed(TypedSide side, ReplayMessage::Speaker speaker)
      : side_(std::move(side)), speaker_(speaker) {}
  Result<Done> begin(std::span<const TurnMessage> history) override;
  Result<TurnMessage> next(std::span<const TurnMessage> incoming) override;

 private:
  TypedSide side_;
  ReplayMessage::Speaker speaker_;
};

extern template class Typed<User>;
extern template class Typed<Agent>;

using TypedUser = Typed<User>;

// stops: ends the conversation where its text has the token, as a solo agent does.
class TypedAgent : public Typed<Agent> {
 public:
  TypedAgent(TypedSide side, bool stops)
      : Typed<Agent>(std::move(side), ReplayMessage::Speaker::Agent), stops_(stops) {}
  bool is_stop(const TurnMessage& message) const override { return stops_ && says_stop(message); }

 private:
  bool stops_;
};

}  // namespace unmask
