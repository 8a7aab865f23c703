// The idea. Five renderings tell the literals apart from what they enclose:
//
//   ...<a>            <call>probe<args>{"k": "v"}</call><e>     no content
//   ...<a> some words <call>probe<args>{"k": "v"}</call><e>     content: the common end is `before`
//   ...<a> <call>probe<args>{"k": "v"}</call><call>probe...     the second call's, too
//   ...<a>            <call>probe<args>{"w": 7}</call><e>       other arguments
//   ...<a> some words <e>                                       no call: what ends any message
//
// Where the arguments are found as JSON, they end what is `after` and begin `end`; in other formats
// the common beginning and end of what follows the name stand for them.
#include "llm/call_markup.h"

#include <algorithm>

namespace unmask {
namespace {

constexpr const char* kProbe = "unmaskProbe";
constexpr const char* kWords = "qzw words qzw";
constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::size_t kLongestName = 256;

std::string common_end(const std::string& a, const std::string& b) {
  const auto end = std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend()).first;
  return std::string(end.base(), a.end());
}

std::string common_beginning(const std::string& a, const std::string& b) {
  return std::string(a.begin(), std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first);
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

struct Split {
  std::string before;  // of the name's last occurrence
  std::string after;
};

std::optional<Split> split_at_name(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  const std::size_t at = text->rfind(kProbe);
  if (at == std::string::npos) return std::nullopt;
  return Split{text->substr(0, at), text->substr(at + std::string_view(kProbe).size())};
}

// A common end may begin within a tag: "><call>".
void drop_half_tag(std::string& before) {
  const std::size_t closing = before.find('>');
  if (closing == std::string::npos || before.find('<') < closing) return;
  if (closing + 1 < before.size()) before.erase(0, closing + 1);
}

// The length of what a call is from behind its name on, told from the next call's beginning. npos:
// the template does not write two.
std::size_t call_length(const std::string& after, const std::optional<Split>& second,
                        const std::string& before) {
  const std::size_t name = second ? second->before.rfind(kProbe) : std::string::npos;
  if (name == std::string::npos) return std::string::npos;
  const std::string between = second->before.substr(name + std::string_view(kProbe).size());
  const std::size_t next = between.rfind(trimmed(before));
  if (next == std::string::npos) return std::string::npos;
  const std::string_view call = trimmed(std::string_view(between).substr(0, next));
  const std::size_t at = after.find(call);
  return call.empty() || at == std::string::npos ? std::string::npos : at + call.size();
}

// Cuts what ends every message off a call's end.
void drop_message_end(std::string& end, const std::optional<std::string>& plain) {
  const std::size_t at = plain ? plain->rfind(kWords) : std::string::npos;
  if (at == std::string::npos) return;
  const std::string message_end = plain->substr(at + std::string_view(kWords).size());
  if (end.ends_with(message_end)) end.resize(end.size() - message_end.size());
}

void split_arguments(const std::string& after, const std::string& other, CallMarkup& markup) {
  for (const std::string_view json : {R"({"k": "v"})", R"({"k":"v"})"}) {
    const std::size_t at = after.find(json);
    if (at == std::string::npos) continue;
    markup.json_arguments = true;
    markup.after = after.substr(0, at);
    markup.end = after.substr(at + json.size());
    return;
  }
  markup.after = common_beginning(after, other);
  markup.end = common_end(after, other);
  const std::size_t tag = markup.after.find_last_of('<');
  if (tag != std::string::npos && markup.after.ends_with('=')) {
    markup.argument = markup.after.substr(tag);
  }
}

// Where a literal stands from `from` on, blanks at its ends not counted: tokens begin with blanks
// where the template has none. npos: nowhere.
struct Place {
  std::size_t begin = std::string_view::npos;
  std::size_t end = std::string_view::npos;
};
Place find_literal(std::string_view text, std::string_view literal, std::size_t from) {
  const std::string_view core = trimmed(literal);
  if (core.empty()) return {};
  const std::size_t at = text.find(core, from);
  if (at == std::string_view::npos) return {};
  return {at, at + core.size()};
}

// The last piece of `end` that holds no blank, which a call whose arguments lack their own closing
// brackets still has: "</tool_call>" of "}\n</tool_call>".
std::string_view closing_tag(std::string_view end) {
  std::string_view core = trimmed(end);
  const std::size_t blank = core.find_last_of(kBlanks);
  if (blank != std::string_view::npos) core.remove_prefix(blank + 1);
  const std::size_t tag = core.find_first_not_of("}])\"'");
  return tag == std::string_view::npos ? core : core.substr(tag);
}

std::string arguments_in(std::string_view text, const CallMarkup& markup) {
  Place end;
  if (markup.json_arguments) end = find_literal(text, markup.end, 0);
  if (end.begin == std::string_view::npos) end = find_literal(text, closing_tag(markup.end), 0);
  return std::string(trimmed(text.substr(0, std::min(end.begin, text.size()))));
}

// text: what follows a `before`, up to the next one.
std::optional<ChatCall> read_call(std::string_view text, const CallMarkup& markup) {
  const std::size_t skipped = text.find_first_not_of(kBlanks);
  if (skipped == std::string_view::npos) return std::nullopt;
  text.remove_prefix(skipped);
  const std::string_view after = trimmed(markup.after);
  const std::size_t name_end = after.empty() ? text.find_first_of(kBlanks) : text.find(after[0]);
  ChatCall call;
  call.name = trimmed(text.substr(0, name_end));
  if (call.name.empty() || call.name.size() > kLongestName ||
      call.name.find('\n') != std::string::npos)
    return std::nullopt;
  if (name_end == std::string_view::npos) return std::nullopt;  // it may go on
  std::string_view rest = text.substr(name_end);
  const Place behind = find_literal(rest, after, 0);
  if (!markup.json_arguments) {
    rest.remove_prefix(std::min(rest.find_first_not_of(">\n"), rest.size()));
  } else if (behind.begin == 0) {
    rest.remove_prefix(behind.end);
  } else if (const std::size_t brace = rest.find('{'); brace != std::string_view::npos) {
    rest.remove_prefix(brace);  // other words between name and arguments than the template's
  }
  call.arguments = arguments_in(rest, markup);
  return call;
}

void read_argument_names(std::string_view text, const std::string& tag,
                         std::vector<std::string>& names) {
  if (tag.empty()) return;
  for (Place at = find_literal(text, tag, 0); at.begin != std::string_view::npos;
       at = find_literal(text, tag, at.end)) {
    const std::size_t end = std::min(text.find_first_of("> \n\"", at.end), text.size());
    const std::string name(text.substr(at.end, end - at.end));
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(name);
  }
}

}  // namespace

std::optional<CallMarkup> learn_call_markup(const RenderedCall& render) {
  const std::string arguments = R"({"k": "v"})";
  const std::optional<Split> bare = split_at_name(render("", kProbe, arguments, 1));
  const std::optional<Split> spoken = split_at_name(render(kWords, kProbe, arguments, 1));
  const std::optional<Split> second = split_at_name(render("", kProbe, arguments, 2));
  const std::optional<Split> other = split_at_name(render("", kProbe, R"({"w": 7})", 1));
  if (!bare || !spoken || !other) return std::nullopt;
  CallMarkup markup;
  markup.before = common_end(bare->before, spoken->before);
  if (second && second->before != bare->before)
    markup.before = common_end(markup.before, second->before);
  drop_half_tag(markup.before);
  std::string after = bare->after;
  std::string other_after = other->after;
  const std::size_t length = call_length(after, second, markup.before);
  if (length != std::string::npos) {
    const std::string tail = after.substr(length);
    if (other_after.ends_with(tail)) {
      after.resize(length);
      other_after.resize(other_after.size() - tail.size());
    }
  }
  split_arguments(after, other_after, markup);
  if (length == std::string::npos) drop_message_end(markup.end, render(kWords, kProbe, "", 0));
  if (trimmed(markup.before).empty()) return std::nullopt;
  return markup;
}

WrittenCalls read_written_calls(std::string_view completion, const CallMarkup& markup) {
  WrittenCalls written;
  Place before = find_literal(completion, markup.before, 0);
  std::size_t first = std::string_view::npos;
  while (before.begin != std::string_view::npos) {
    const Place next = find_literal(completion, markup.before, before.end);
    const std::size_t end = std::min(next.begin, completion.size());
    if (std::optional<ChatCall> call =
            read_call(completion.substr(before.end, end - before.end), markup)) {
      first = std::min(first, before.begin);
      read_argument_names(completion.substr(before.end, end - before.end), markup.argument,
                          written.argument_names);
      written.calls.push_back(std::move(*call));
    }
    before = next;
  }
  written.content = trimmed(completion.substr(0, std::min(first, completion.size())));
  return written;
}

}  // namespace unmask
