// Judging calls whatever the bytes: a tools file, then an episode.
//
// The input is the text of a --tools file up to the first NUL byte (it may be empty or broken),
// then one line per event, fields separated by tabs; what is missing is empty:
//
//   domain <name>
//   call   <side> <id> <name> <arguments>     a message with one call; "also" adds to it
//   ok     <side> <id> <text>                 a result; "fail" a failed one, "fail:<type>" with a
//   type say    <text> <raw text>                  a message without calls
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "failure/classify.h"

namespace {

using namespace unmask;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

Side side_of(std::string_view field) {
  return field == "user" ? Side::User : Side::Agent;
}

ToolCall call_of(const std::vector<std::string_view>& fields) {
  ToolCall call;
  call.side = side_of(fields[1]);
  call.id = fields[2];
  call.name = fields[3];
  call.arguments = fields[4];
  call.arguments_are_object = call.arguments.starts_with('{');
  return call;
}

Episode decode(std::string_view program) {
  Episode episode;
  for (const std::string_view line : split(program, '\n')) {
    std::vector<std::string_view> fields = split(line, '\t');
    fields.resize(5);
    Message message;
    if (fields[0] == "domain") {
      episode.domain = fields[1];
      continue;
    }
    if (fields[0] == "also" && !episode.messages.empty()) {
      episode.messages.back().calls.push_back(call_of(fields));
      continue;
    }
    if (fields[0] == "call") {
      message.calls.push_back(call_of(fields));
      message.raw_calls = static_cast<int>(fields[4].size() % 3);
    } else if (fields[0] == "ok" || fields[0].starts_with("fail")) {
      message.role = Role::Tool;
      const std::string_view type = fields[0].starts_with("fail:") ? fields[0].substr(5) : "";
      message.result = ToolResult{std::string(fields[2]), std::string(fields[3]), fields[0] != "ok",
                                  std::string(type), side_of(fields[1])};
    } else {
      message.text = fields[1];
      message.raw_text = fields[2];
    }
    episode.messages.push_back(message);
  }
  return episode;
}

// What holds for any episode: every call and every result is accounted for exactly once.
void check_account(const Episode& episode, const ClassifiedEpisode& judged) {
  int calls = 0;
  int results = 0;
  int failed = 0;
  for (const Message& message : episode.messages) {
    calls += static_cast<int>(message.calls.size());
    results += message.result ? 1 : 0;
    failed += message.result && message.result->failed ? 1 : 0;
  }
  for (const ClassifiedCall& call : judged.calls) {
    if (call.kind != SubKind::LeakedMarkup) --calls;
    if (call.answered) --results;
    if (call.in_budget) --failed;
    UNMASK_CHECK(call.evidence.size() <= 500);
    UNMASK_CHECK(call.channel != Channel::Unanswered || !call.answered);
  }
  UNMASK_CHECK(calls == 0);
  UNMASK_CHECK(results == judged.orphan_results);
  UNMASK_CHECK(failed == judged.orphan_failures);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t nul = input.find('\0');
  const Result<ToolsFile> tools = parse_tools_file(input.substr(0, nul), "tools.json");
  const Episode episode = decode(nul == std::string_view::npos ? input : input.substr(nul + 1));
  RunInfo info;
  info.domain = "airline";
  for (const ToolsFile* file :
       {static_cast<const ToolsFile*>(nullptr), tools ? &*tools : nullptr}) {
    const Classifier classifier(info, file);
    check_account(episode, classifier.classify(episode));
  }
  return 0;
}
