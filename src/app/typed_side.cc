#include "app/typed_side.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/console.h"
#include "environment/json.h"
#include "report/render.h"

namespace unmask {

namespace {

bool names_a_tool(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace

TypedLine typed_line(std::string_view line, const std::vector<std::string>& tools) {
  const std::string_view text = trimmed(line);
  if (text.empty()) return {};
  if (text[0] == '/') return {TypedLine::What::Command, std::string(trimmed(text.substr(1))), {}};
  const std::size_t brace = std::min(text.find('{'), text.size());
  const std::string name(trimmed(text.substr(0, brace)));
  const bool known = std::find(tools.begin(), tools.end(), name) != tools.end();
  if (!known && (brace == text.size() || !names_a_tool(name)))
    return {TypedLine::What::Text, std::string(text), {}};
  const std::string_view json = brace == text.size() ? "{}" : text.substr(brace);
  const Result<Value> arguments = parse_json(json);
  if (!arguments)
    return {TypedLine::What::Mistake,
            fmt::format("the arguments of {} are not JSON: {}", name, to_string(arguments.error())),
            {}};
  TypedLine call{TypedLine::What::Call, "", {}};
  call.call.name = name;
  call.call.arguments = *arguments;
  return call;
}

void TypedSide::receive(const TurnMessage& message) {
  using Speaker = ReplayMessage::Speaker;
  if (!message.content) return;
  const bool result = message.speaker == Speaker::Tool;
  if (result && message.error) --errors_left;
  const char* who = result                              ? (message.error ? "error" : "result")
                    : message.speaker == Speaker::Agent ? "agent"
                                                        : "user";
  show(safe_lines(std::string(who) + "> " + *message.content));
}

Result<TurnMessage> TypedSide::read(ReplayMessage::Speaker speaker) {
  const Error left{ErrorKind::Unavailable, "the player left", std::string(kLeft)};
  for (;;) {
    show(fmt::format("{} (errors left: {})> ", name, errors_left));
    std::string line;
    if (!std::getline(in, line)) return left;
    TypedLine typed = typed_line(line, tools);
    switch (typed.what) {
      case TypedLine::What::Nothing:
        break;
      case TypedLine::What::Text:
        return text_message(speaker, typed.text);
      case TypedLine::What::Call:
        typed.call.id = "typed_" + std::to_string(++calls);
        return calls_message(speaker, {typed.call});
      case TypedLine::What::Command:
        if (typed.text == "quit") return left;
        run_command(typed.text);
        break;
      case TypedLine::What::Mistake:
        show(typed.text + "\n");
        break;
    }
  }
}

template <typename Base>
Result<Done> Typed<Base>::begin(std::span<const TurnMessage> history) {
  for (const TurnMessage& message : history) side_.receive(message);
  return Done{};
}

template <typename Base>
Result<TurnMessage> Typed<Base>::next(std::span<const TurnMessage> incoming) {
  for (const TurnMessage& message : incoming) side_.receive(message);
  return side_.read(speaker_);
}

template class Typed<User>;
template class Typed<Agent>;

}  // namespace unmask
