// Puts every call of an episode in one channel.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "failure/channel.h"
#include "trace/episode.h"

namespace unmask {

// Where the list of offered tools came from; best first (METHOD 12).
enum class ToolEvidence { ToolsFile, Log, Domain, ErrorTexts };
std::string_view to_string(ToolEvidence evidence);  // "tools_file", "log", "domain", "error_texts"

// Tools given by the user with --tools. Accepts {"assistant": [...], "user": [...]} of OpenAI tool
// schemas, a bare array of them (the agent's), or arrays of names.
// Errors   Malformed, with the place.
struct ToolsFile {
  std::vector<OfferedTool> agent;
  std::vector<OfferedTool> user;
};
Result<ToolsFile> parse_tools_file(std::string_view json, const std::string& name);

// One call, judged. Leaked markup is one ClassifiedCall of its own although the log has no call.
// Attempts that were refused before a message (METHOD 9) are together one ClassifiedCall, judged by
// the first of them and placed before the message's own calls. Where the message still has a call
// that is broken in a channel refused before, that is the same failure: it is not listed again.
struct ClassifiedCall {
  Side side = Side::Agent;
  Channel channel = Channel::Ok;
  SubKind kind = SubKind::None;
  Cause cause = Cause::None;
  std::string name;      // tool name as tried; empty for leaked markup without a name
  std::string evidence;  // what decided: error text, the offered name it resembles; <= 500 bytes
  int message = 0;       // index into Episode::messages of the message that made the call
  int position = 0;      // 0-based index among the calls of this side, in order
  bool answered = false;
  bool in_budget = false;    // its tool message failed, or its refusal spent budget: E counts it
  bool not_offered = false;  // channel Ok although the name is not in the list: warned
  Repair repair = Repair::None;
  bool repeats_failed = false;  // same name and arguments as the side's previous call, which failed

  bool operator==(const ClassifiedCall&) const = default;
};

struct ClassifiedEpisode {
  std::vector<ClassifiedCall> calls;  // in the order they were made, both sides
  ToolEvidence tool_evidence = ToolEvidence::ErrorTexts;
  int orphan_results = 0;   // tool messages that answer no call
  int orphan_failures = 0;  // of these, failed: they count in E all the same
};

// The judge for one run: offered lists and rule table resolved once, then used for many episodes.
//
// Threads  classify() is const and safe to call concurrently.
class Classifier {
 public:
  // `tools` may be null. The domain chooses the built-in names and the rule table.
  Classifier(const RunInfo& info, const ToolsFile* tools);
  ~Classifier();
  Classifier(Classifier&&) noexcept;

  ClassifiedEpisode classify(const Episode& episode) const;

  // Names of the tools offered to the agent, in order, from the evidence classify() takes; nullopt:
  // error texts are all there is.
  std::optional<std::vector<std::string>> offered_to_agent(const Episode& episode) const;

 private:
  struct Rules;
  std::unique_ptr<const Rules> rules_;
};

}  // namespace unmask
