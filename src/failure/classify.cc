// Judging an episode: pair calls with results, then take for each call the first channel of METHOD
// 2 whose rule fits. The order of the tests in judge() is the order of that table.
#include "failure/classify.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <unordered_map>
#include <utility>

#include "failure/markup.h"
#include "failure/names.h"
#include "failure/pairing.h"
#include "failure/rules.h"
#include "failure/schema_check.h"
#include "failure/text.h"
#include "trace/known_tools.h"

namespace unmask {
namespace {

constexpr std::size_t kLongestEvidence = 500;

std::string evidence_of(std::string_view text) {
  return std::string(clipped(text, kLongestEvidence));
}

// The tools of one side, as far as known.
struct SideTools {
  const NameList* names = nullptr;                    // nullptr: no list for this side
  const std::vector<OfferedTool>* schemas = nullptr;  // the list with schemas, where there is one
  ToolEvidence evidence = ToolEvidence::ErrorTexts;
};

NameList names_of(const std::vector<OfferedTool>& tools) {
  std::vector<std::string_view> names;
  names.reserve(tools.size());
  for (const OfferedTool& tool : tools) names.push_back(tool.name);
  return NameList(std::move(names));
}

NameList names_of(std::span<const std::string_view> names) {
  return NameList(std::vector<std::string_view>(names.begin(), names.end()));
}

const std::string* schema_of(const SideTools& tools, std::string_view name) {
  if (tools.schemas == nullptr) return nullptr;
  for (const OfferedTool& tool : *tools.schemas) {
    if (tool.name == name) return tool.schema.empty() ? nullptr : &tool.schema;
  }
  return nullptr;
}

constexpr std::string_view kSystemErrors[] = {"timeout",        "limit",     "output_limit",
                                              "unicode_decode", "cancelled", "sandbox_unavailable"};

bool is_system_error(std::string_view error_type) {
  return std::find(std::begin(kSystemErrors), std::end(kSystemErrors), error_type) !=
         std::end(kSystemErrors);
}

// The channel a format's own class of error stands for, where it settles the matter.
std::optional<Channel> channel_of_error_type(std::string_view error_type) {
  if (error_type == "permission" || error_type == "approval") return Channel::Rejected;
  if (error_type == "file_not_found" || error_type == "is_a_directory") return Channel::Entity;
  return std::nullopt;
}

struct Lists {
  NameList agent;
  NameList user;
};

}  // namespace

std::string_view to_string(ToolEvidence evidence) {
  switch (evidence) {
    case ToolEvidence::ToolsFile:
      return "tools_file";
    case ToolEvidence::Log:
      return "log";
    case ToolEvidence::Domain:
      return "domain";
    case ToolEvidence::ErrorTexts:
      return "error_texts";
  }
  return "unknown";
}

struct Classifier::Rules {
  std::string domain;
  std::vector<OfferedTool> agent_file;
  std::vector<OfferedTool> user_file;
  Lists file;
  std::unordered_map<std::string_view, Lists> domains;  // by base_domain()
  SchemaChecker schemas;

  std::string_view domain_of(const Episode& episode) const {
    return base_domain(episode.domain.empty() ? domain : episode.domain);
  }
  const Lists* domain_lists(std::string_view base) const {
    const auto found = domains.find(base);
    return found == domains.end() ? nullptr : &found->second;
  }
};

namespace {

// tau2 without a user simulator: the agent holds the user's tools as well.
bool is_solo(const RunInfo& info) {
  return info.agent_implementation.find("solo") != std::string::npos ||
         info.user_implementation == "dummy_user";
}

Lists lists_of_domain(std::string_view domain, const RunInfo& info) {
  if (info.format == "tau1") return Lists{names_of(tau1_tools(domain)), NameList()};
  std::vector<std::string_view> agent(known_tools(domain, Side::Agent).begin(),
                                      known_tools(domain, Side::Agent).end());
  const std::span<const std::string_view> user = known_tools(domain, Side::User);
  if (is_solo(info)) agent.insert(agent.end(), user.begin(), user.end());
  return Lists{NameList(std::move(agent)), names_of(user)};
}

// Judges the calls of one episode.
class Judge {
 public:
  Judge(const SchemaChecker& schemas, std::string_view domain, const SideTools& agent,
        const SideTools& user)
      : schemas_(schemas), domain_(domain), agent_(agent), user_(user) {}

  ClassifiedCall judge(const PairedCall& paired) const {
    const ToolCall& call = *paired.call;
    const ToolResult* result = paired.result;
    ClassifiedCall out;
    out.side = call.side;
    out.name = call.name;
    out.message = paired.message;
    out.answered = result != nullptr;
    out.in_budget = result != nullptr && result->failed;
    const bool unreadable = !call.arguments_are_object || !call.parse_error.empty();
    // An unreadable call may well have no reply: nothing reached the environment.
    if (unreadable && (result == nullptr || result->failed)) {
      judge_unreadable(call, result, out);
    } else if (result == nullptr) {
      out.channel = Channel::Unanswered;
    } else if (!result->failed) {
      const NameList* names = tools(call.side).names;
      out.not_offered = names != nullptr && !names->contains(call.name);
    } else {
      judge_failure(call, *result, out);
    }
    return out;
  }

  // The agent's call that was refused for `channel`; the environment never saw it.
  ClassifiedCall refused(const Attempt& attempt, Channel channel) const {
    ClassifiedCall out;
    out.answered = true;
    decide(out, channel, SubKind::None, evidence_of(attempt.feedback));
    const bool has_call = attempt.refused < attempt.calls.size();
    if (channel == Channel::Malformed) {
      const std::string& shown = has_call ? attempt.calls[attempt.refused].arguments : attempt.text;
      decide(out, channel, has_call ? SubKind::BadJson : SubKind::LeakedMarkup, evidence_of(shown));
      out.cause = Cause::Unknown;
    }
    if (!has_call) {
      if (std::optional<LeakedCall> leaked = find_leaked_call(attempt.text))
        out.name = std::move(leaked->name);
      return out;
    }
    const ToolCall& call = attempt.calls[attempt.refused];
    out.name = call.name;
    if (channel == Channel::ToolName) judge_name(call.name, agent_, user_, attempt.feedback, out);
    const std::string* schema = schema_of(agent_, call.name);
    if (channel != Channel::Schema || schema == nullptr) return out;
    if (std::optional<SchemaBreach> breach = schemas_.breach(*schema, call.arguments))
      decide(out, channel, breach->kind, evidence_of(breach->text));
    return out;
  }

 private:
  const SideTools& tools(Side side) const { return side == Side::Agent ? agent_ : user_; }

  static void decide(ClassifiedCall& out, Channel channel, SubKind kind, std::string evidence) {
    out.channel = channel;
    out.kind = kind;
    out.evidence = std::move(evidence);
  }

  static void judge_unreadable(const ToolCall& call, const ToolResult* result,
                               ClassifiedCall& out) {
    std::string_view why = call.parse_error;
    if (why.empty() && result != nullptr) why = result->text;
    if (why.empty()) why = call.arguments;
    decide(out, Channel::Malformed, SubKind::BadJson, evidence_of(why));
    out.cause = Cause::Unknown;
  }

  void judge_failure(const ToolCall& call, const ToolResult& result, ClassifiedCall& out) const {
    const std::string text = normalized_error_text(result.text);
    if (is_tool_name_failure(call, result, text, out)) return;
    if (is_system_error(result.error_type) || says_harness_fault(text)) {
      return decide(out, Channel::System, SubKind::None, evidence_of(result.text));
    }
    if (const std::optional<Channel> channel = channel_of_error_type(result.error_type)) {
      return decide(out, *channel, SubKind::None, evidence_of(result.text));
    }
    if (const TextRule* rule = match_rule(domain_, call.name, text)) {
      if (rule->channel == Channel::Malformed) out.cause = Cause::Unknown;
      return decide(out, rule->channel, rule->kind, evidence_of(result.text));
    }
    if (const std::string* schema = schema_of(tools(call.side), call.name)) {
      if (std::optional<SchemaBreach> breach = schemas_.breach(*schema, call.arguments)) {
        return decide(out, Channel::Schema, breach->kind, evidence_of(breach->text));
      }
    }
    // What a reader of arguments complains of is their form, whatever its words.
    if (result.error_type == "parsing") {
      return decide(out, Channel::Schema, SubKind::WrongType, evidence_of(result.text));
    }
    decide(out, Channel::Rejected, SubKind::UnknownText, evidence_of(result.text));
  }

  // Whether the name is a hallucinated one; `out` is decided when it is, and when the environment
  // denies a tool that it offered.
  bool is_tool_name_failure(const ToolCall& call, const ToolResult& result, std::string_view text,
                            ClassifiedCall& out) const {
    const SideTools& own = tools(call.side);
    const SideTools& other = call.side == Side::Agent ? user_ : agent_;
    const bool denied = says_unknown_tool(text, call.name);
    if (own.names != nullptr && own.names->contains(call.name)) {
      if (!denied) return false;
      // A list out of the log or a file is what was offered; the built-in one is an assumption that
      // the environment's word corrects.
      if (own.evidence == ToolEvidence::Domain) {
        decide(out, Channel::ToolName, SubKind::Invented, evidence_of(result.text));
      } else {
        decide(out, Channel::System, SubKind::None, evidence_of(result.text));
      }
      return true;
    }
    if (own.names == nullptr && !denied && !call.name.empty()) return false;
    judge_name(call.name, own, other, result.text, out);
    return true;
  }

  // The kind of a hallucinated name; `said` is what it was answered.
  static void judge_name(std::string_view name, const SideTools& own, const SideTools& other,
                         std::string_view said, ClassifiedCall& out) {
    if (!name.empty() && other.names != nullptr && other.names->contains(name))
      return decide(out, Channel::ToolName, SubKind::OtherSide, evidence_of(said));
    const std::string_view resembles =
        own.names == nullptr ? std::string_view() : own.names->near_miss(name);
    if (!resembles.empty())
      return decide(out, Channel::ToolName, SubKind::NearMiss, std::string(resembles));
    decide(out, Channel::ToolName, SubKind::Invented, evidence_of(said));
  }

  const SchemaChecker& schemas_;
  std::string_view domain_;
  const SideTools& agent_;
  const SideTools& user_;
};

// A call of a message on its way into the sequence.
struct Made {
  ClassifiedCall call;
  std::string_view arguments;  // or the markup: to recognise a repetition
};

bool was_refused_for(const Message& message, Channel channel) {
  return std::any_of(message.attempts.begin(), message.attempts.end(), [&](const Attempt& attempt) {
    return is_failure(channel) && attempt.channel == to_string(channel);
  });
}

// Puts what was refused before the message in front of its calls. An attempt whose channel is
// unknown tells nothing and is passed over.
void put_refused(const Message& message, int index, const Judge& judge, std::vector<Made>& made) {
  const auto first =
      std::find_if(message.attempts.begin(), message.attempts.end(),
                   [](const Attempt& attempt) { return failure_channel(attempt.channel); });
  if (message.role != Role::Agent || first == message.attempts.end()) return;
  Made refused{judge.refused(*first, *failure_channel(first->channel)), {}};
  if (first->refused < first->calls.size())
    refused.arguments = first->calls[first->refused].arguments;
  refused.call.message = index;
  refused.call.in_budget = std::any_of(message.attempts.begin(), message.attempts.end(),
                                       [](const Attempt& each) { return each.spends_budget; });
  const auto broken = std::find_if(made.begin(), made.end(), [&](const Made& each) {
    return was_refused_for(message, each.call.channel);
  });
  if (broken != made.end()) {
    refused.call.repair = Repair::Unrepaired;
    refused.call.in_budget |= broken->call.in_budget;
    made.erase(broken);
  } else {
    refused.call.repair = made.empty() ? Repair::Withdrawn : Repair::Repaired;
  }
  made.insert(made.begin(), std::move(refused));
}

// A call the message shows that nobody extracted.
std::optional<Made> leaked_call(const Message& message, int index) {
  if (message.role != Role::Agent) return std::nullopt;
  const bool raw_has_more =
      message.raw_calls && *message.raw_calls > static_cast<std::int64_t>(message.calls.size());
  if (!message.calls.empty() && !raw_has_more) return std::nullopt;
  std::optional<LeakedCall> shown;
  bool in_raw = false;
  if (message.calls.empty()) {
    shown = find_leaked_call(message.raw_text);
    in_raw = shown.has_value();
    if (!shown) shown = find_leaked_call(message.text);
  }
  if (!shown && !raw_has_more) return std::nullopt;
  Made leak;
  leak.call.channel = Channel::Malformed;
  leak.call.kind = SubKind::LeakedMarkup;
  leak.call.cause = in_raw || raw_has_more ? Cause::Parser : Cause::Unknown;
  leak.call.message = index;
  if (shown) {
    leak.call.name = shown->name;
    leak.call.evidence = evidence_of(shown->body);
    leak.arguments = shown->body;
  } else {
    leak.call.evidence = "the raw completion holds " + std::to_string(*message.raw_calls) +
                         " calls, the message " + std::to_string(message.calls.size());
  }
  return leak;
}

// Appends calls in order and fills in what depends on the calls before.
class Sequence {
 public:
  explicit Sequence(std::vector<ClassifiedCall>& calls) : calls_(calls) {}

  void append(ClassifiedCall call, std::string_view arguments) {
    Last& last = last_[call.side == Side::Agent ? 0 : 1];
    call.position = last.count++;
    call.repeats_failed = last.failed && call.name == calls_[last.index].name &&
                          arguments == last.arguments && !arguments.empty();
    last.failed = is_failure(call.channel);
    last.arguments = arguments;
    last.index = calls_.size();
    calls_.push_back(std::move(call));
  }

 private:
  struct Last {
    int count = 0;
    std::size_t index = 0;
    bool failed = false;
    std::string_view arguments;
  };
  std::vector<ClassifiedCall>& calls_;
  std::array<Last, 2> last_;
};

}  // namespace

Classifier::Classifier(const RunInfo& info, const ToolsFile* tools) {
  std::unique_ptr<Rules> rules = std::make_unique<Rules>();
  rules->domain = info.domain;
  if (tools != nullptr) {
    rules->agent_file = tools->agent;
    rules->user_file = tools->user;
    rules->file = Lists{names_of(rules->agent_file), names_of(rules->user_file)};
  }
  for (const std::string_view domain : {"mock", "airline", "retail", "telecom"}) {
    if (info.format == "tau1" && tau1_tools(domain).empty()) continue;
    rules->domains.emplace(domain, lists_of_domain(domain, info));
  }
  rules_ = std::move(rules);
}

Classifier::~Classifier() = default;
Classifier::Classifier(Classifier&&) noexcept = default;

ClassifiedEpisode Classifier::classify(const Episode& episode) const {
  const Rules& rules = *rules_;
  const std::string_view domain = rules.domain_of(episode);
  const Lists* built_in = rules.domain_lists(domain);

  // The best list there is for each side.
  NameList log_names[2];
  const auto resolve = [&](const std::vector<OfferedTool>& file, const NameList& file_names,
                           const std::optional<std::vector<OfferedTool>>& log, NameList& log_list,
                           const NameList* domain_names) {
    if (!file.empty()) return SideTools{&file_names, &file, ToolEvidence::ToolsFile};
    if (log) {
      log_list = names_of(*log);
      return SideTools{&log_list, &*log, ToolEvidence::Log};
    }
    if (domain_names != nullptr) return SideTools{domain_names, nullptr, ToolEvidence::Domain};
    return SideTools{};
  };
  const SideTools agent = resolve(rules.agent_file, rules.file.agent, episode.agent_tools,
                                  log_names[0], built_in ? &built_in->agent : nullptr);
  const SideTools user = resolve(rules.user_file, rules.file.user, episode.user_tools, log_names[1],
                                 built_in ? &built_in->user : nullptr);

  ClassifiedEpisode out;
  out.tool_evidence = agent.evidence;
  const Pairing pairing = pair_calls(episode);
  out.orphan_results = static_cast<int>(pairing.orphans.size());
  for (const ToolResult* orphan : pairing.orphans) out.orphan_failures += orphan->failed ? 1 : 0;

  // Extracted calls in order, each message's leaked call after them, what was refused before them.
  const Judge judge(rules.schemas, domain, agent, user);
  out.calls.reserve(pairing.calls.size());
  Sequence sequence(out.calls);
  std::size_t next = 0;
  std::vector<Made> made;  // of one message
  for (std::size_t m = 0; m < episode.messages.size(); ++m) {
    const int index = static_cast<int>(m);
    const Message& message = episode.messages[m];
    made.clear();
    for (; next < pairing.calls.size() && pairing.calls[next].message == index; ++next)
      made.push_back({judge.judge(pairing.calls[next]), pairing.calls[next].call->arguments});
    if (std::optional<Made> leak = leaked_call(message, index)) made.push_back(std::move(*leak));
    if (!message.attempts.empty()) put_refused(message, index, judge, made);
    for (Made& each : made) sequence.append(std::move(each.call), each.arguments);
  }
  return out;
}

std::optional<std::vector<std::string>> Classifier::offered_to_agent(const Episode& episode) const {
  std::vector<std::string> names;
  const auto take = [&](const std::vector<OfferedTool>& tools) {
    for (const OfferedTool& tool : tools) names.push_back(tool.name);
    return names;
  };
  if (!rules_->agent_file.empty()) return take(rules_->agent_file);
  if (episode.agent_tools) return take(*episode.agent_tools);
  const Lists* built_in = rules_->domain_lists(rules_->domain_of(episode));
  if (built_in == nullptr) return std::nullopt;
  return std::vector<std::string>(built_in->agent.names().begin(), built_in->agent.names().end());
}

}  // namespace unmask
