// The long tables: a row an episode, a row a call.
#include "report/csv_rows.h"

#include <cmath>

#include "base/utf8.h"

namespace unmask {
namespace {

bool looks_like_formula(std::string_view text) {
  return !text.empty() && std::string_view("=+-@\t\r'").find(text[0]) != std::string_view::npos;
}

// Readers of tables end a text at a NUL, and terminals obey the others.
bool is_control(std::uint32_t c) {
  if (c == '\t' || c == '\n' || c == '\r') return false;
  return c < 0x20 || (c >= 0x7F && c < 0xA0);
}

void add_key(CsvRows& rows, std::size_t arm, const Arm& of, const EpisodeFacts& episode) {
  rows.number(arm + 1)
      .text(of.label)
      .text(episode.domain)
      .text(episode.task_id)
      .number(episode.trial);
}

std::string_view recovery_word(FailedCall::Recovery recovery) {
  switch (recovery) {
    case FailedCall::Recovery::Recovered:
      return "recovered";
    case FailedCall::Recovery::NotRecovered:
      return "not_recovered";
    case FailedCall::Recovery::Censored:
      return "censored";
  }
  return "";
}

void add_episode(CsvRows& rows, const EpisodeFacts& e) {
  rows.number(e.seed)
      .text(to_string(e.termination))
      .flag(e.excluded)
      .flag(e.excluded ? std::nullopt : e.success)
      .number(e.reward)
      .number(e.errors_all)
      .number(e.errors_agent)
      .number(e.agent_calls)
      .number(e.user_calls);
  for (const Channel channel : kFailureChannels)
    rows.number(e.agent_channel[static_cast<std::size_t>(channel)]);
  rows.number(e.unanswered)
      .number(e.system)
      .number(e.steps)
      .number(e.agent_turns)
      .number(e.prompt_tokens)
      .number(e.completion_tokens)
      .number(e.seconds)
      .number(e.agent_cost_usd)
      .text(e.id)
      .text(e.where);
  rows.end();
}

void add_call(CsvRows& rows, const ClassifiedCall& call, const FailedCall* failed) {
  rows.text(to_string(call.side))
      .number(call.position + 1)
      .number(call.message)
      .text(call.name)
      .text(to_string(call.channel))
      .text(to_string(call.kind))
      .text(to_string(call.cause))
      .flag(call.answered)
      .flag(call.in_budget)
      .text(to_string(call.repair))
      .text(failed == nullptr ? "" : recovery_word(failed->recovery))
      .text(failed == nullptr ? std::string_view() : std::string_view(call.evidence));
  rows.end();
}

}  // namespace

std::string CsvRows::json_finite(double value) {
  return std::isfinite(value) ? json_number(value) : "";
}

std::string csv_text(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const Utf8Step step = decode_utf8(text, i);
    if (!step.valid || is_control(step.code_point))
      out += "\xEF\xBF\xBD";
    else
      out += text.substr(i, step.length);
    i += step.length;
  }
  if (looks_like_formula(out)) out.insert(out.begin(), '\'');
  if (out.find_first_of(",\"\r\n") == std::string::npos) return out;
  std::string quoted = "\"";
  for (const char c : out) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string episodes_table(const std::vector<const Arm*>& arms) {
  CsvRows rows({"arm",        "label",          "domain",      "task",          "trial",
                "seed",       "termination",    "excluded",    "success",       "reward",
                "errors_all", "errors_agent",   "agent_calls", "user_calls",    "malformed",
                "tool_name",  "schema",         "entity",      "rejected",      "unanswered",
                "system",     "steps",          "agent_turns", "prompt_tokens", "completion_tokens",
                "seconds",    "agent_cost_usd", "id",          "where"});
  for (std::size_t arm = 0; arm < arms.size(); ++arm)
    for (const EpisodeFacts& episode : arms[arm]->episodes) {
      add_key(rows, arm, *arms[arm], episode);
      add_episode(rows, episode);
    }
  return rows.take();
}

std::string calls_table(const std::vector<const Arm*>& arms) {
  CsvRows rows({"arm", "label", "domain", "task", "trial", "side", "position", "message", "name",
                "channel", "kind", "cause", "answered", "in_budget", "repair", "recovery",
                "evidence"});
  for (std::size_t arm = 0; arm < arms.size(); ++arm)
    for (const EpisodeFacts& episode : arms[arm]->episodes) {
      // The failures are the calls that failed, in the same order.
      std::size_t failure = 0;
      for (const ClassifiedCall& call : episode.calls) {
        const bool failed = is_failure(call.channel) && failure < episode.failures.size();
        add_key(rows, arm, *arms[arm], episode);
        add_call(rows, call, failed ? &episode.failures[failure++] : nullptr);
      }
    }
  return rows.take();
}

}  // namespace unmask
