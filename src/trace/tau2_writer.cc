// Appends straight to a string: calibration writes logs by the hundred gigabyte, so there is no
// tree of values in between. One line a message keeps the files readable with line tools.
#include "trace/tau2_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <unordered_set>

#include "base/check.h"
#include "base/file.h"
#include "base/json_writer.h"
#include "trace/attempt_json.h"

namespace unmask {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;
constexpr std::int64_t kSecondsBetweenEpisodes = 600;

bool is_plain(char c) {
  return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

// append_json_string, with the common case (nothing to escape) copied in one go.
void append_text(std::string& out, std::string_view text) {
  std::size_t plain = 0;
  while (plain < text.size() && is_plain(text[plain])) ++plain;
  if (plain < text.size()) return append_json_string(out, text);
  out += '"';
  out += text;
  out += '"';
}

void append_text_or_null(std::string& out, std::string_view text) {
  if (text.empty())
    out += "null";
  else
    append_text(out, text);
}

// As Python writes a float: "1.0", never "1".
void append_float(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  const std::string text = json_number(value == 0 ? 0.0 : value);
  out += text;
  if (text.find_first_of(".e") == std::string::npos) out += ".0";
}

void append_float(std::string& out, const std::optional<double>& value) {
  if (value)
    append_float(out, *value);
  else
    out += "null";
}

template <typename Integer>
void append_integer(std::string& out, const std::optional<Integer>& value) {
  if (value)
    fmt::format_to(std::back_inserter(out), "{}", *value);
  else
    out += "null";
}

// `value` in `digits` decimal digits, zeros in front.
void append_digits(std::string& out, std::int64_t value, int digits) {
  char text[20];
  for (int i = digits - 1; i >= 0; --i, value /= 10) text[i] = static_cast<char>('0' + value % 10);
  out.append(text, static_cast<std::size_t>(digits));
}

// `seconds` after the start of 2026, which stands for the time the run would have begun.
void append_time(std::string& out, double seconds) {
  using namespace std::chrono;
  constexpr double kLatest = 1e11;  // year 5194: four digits, and in range of the integers below
  const std::int64_t total = std::llround(std::min(seconds, kLatest) * 1e6);
  const std::int64_t whole = total / 1'000'000;
  const year_month_day date{sys_days{year{2026} / January / 1} + days{whole / 86400}};
  const std::int64_t of_day = whole % 86400;
  out += '"';
  append_digits(out, static_cast<int>(date.year()), 4);
  out += '-';
  append_digits(out, static_cast<unsigned>(date.month()), 2);
  out += '-';
  append_digits(out, static_cast<unsigned>(date.day()), 2);
  out += 'T';
  append_digits(out, of_day / 3600, 2);
  out += ':';
  append_digits(out, of_day / 60 % 60, 2);
  out += ':';
  append_digits(out, of_day % 60, 2);
  out += '.';
  append_digits(out, total % 1'000'000, 6);
  out += '"';
}

std::string_view tau2_role(Role role) {
  return role == Role::Agent ? "assistant" : to_string(role);
}

std::string_view tau2_requestor(Side side) {
  return side == Side::Agent ? "assistant" : "user";
}

void append_call(std::string& out, const ToolCall& call) {
  out += "{\"id\": ";
  append_text(out, call.id);
  out += ", \"name\": ";
  append_text(out, call.name);
  out += ", \"arguments\": ";
  if (call.arguments_are_object)
    out += call.arguments;
  else
    append_text(out, call.arguments);
  out += ", \"requestor\": \"";
  out += tau2_requestor(call.side);
  out += "\"}";
}

void append_calls(std::string& out, const std::vector<ToolCall>& calls) {
  if (calls.empty()) {
    out += "null";
    return;
  }
  out += '[';
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (i > 0) out += ", ";
    append_call(out, calls[i]);
  }
  out += ']';
}

// Members of an object begun with '{'.
void append_separator(std::string& out) {
  if (out.back() != '{') out += ", ";
}

// The server's answer in OpenAI's shape, as litellm leaves it: the raw text, and as many calls as
// the raw completion had, those that were parsed first.
void append_choices(std::string& out, const Message& message) {
  out += "\"choices\": [{\"index\": 0, \"message\": {\"role\": \"assistant\", \"content\": ";
  append_text_or_null(out, message.raw_text);
  if (message.raw_calls) {
    out += ", \"tool_calls\": [";
    for (int i = 0; i < *message.raw_calls; ++i) {
      const bool parsed = static_cast<std::size_t>(i) < message.calls.size();
      const ToolCall call = parsed ? message.calls[static_cast<std::size_t>(i)] : ToolCall{};
      out += i > 0 ? ", " : "";
      out += "{\"id\": ";
      append_text(out, call.id);
      out += ", \"type\": \"function\", \"function\": {\"name\": ";
      append_text(out, call.name);
      out += ", \"arguments\": ";
      append_text(out, call.arguments);
      out += "}}";
    }
    out += ']';
  }
  out += "}}]";
}

// What our own runs add (DESIGN 5).
void append_own_data(std::string& out, const Message& message) {
  out += "\"unmask\": {";
  if (!message.decision.empty()) out += "\"decision\": " + message.decision;
  if (!message.reasoning.empty()) {
    append_separator(out);
    out += "\"reasoning\": ";
    append_text(out, message.reasoning);
  }
  if (!message.attempts.empty()) {
    append_separator(out);
    out += "\"attempts\": " + attempts_json(message.attempts);
  }
  out += '}';
}

// The members of a JSON object's text; empty where it is none.
std::string_view members_of(std::string_view object) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t end = object.find_last_not_of(kBlanks);
  if (end == std::string_view::npos || object[end] != '}' || object.front() != '{') return {};
  const std::string_view inside = object.substr(1, end - 1);
  const std::size_t last = inside.find_last_not_of(kBlanks);
  return last == std::string_view::npos ? std::string_view() : inside.substr(0, last + 1);
}

void append_raw_data(std::string& out, const Message& message) {
  const std::string_view sent = members_of(message.raw_data);
  const bool raw = !message.raw_text.empty() || message.raw_calls;
  const bool own =
      !message.attempts.empty() || !message.decision.empty() || !message.reasoning.empty();
  if (sent.empty() && !raw && !own) {
    out += "null";
    return;
  }
  out += '{';
  if (!sent.empty()) {
    out += sent;
  } else if (raw) {
    append_choices(out, message);
  }
  if (own) {
    append_separator(out);
    append_own_data(out, message);
  }
  out += '}';
}

void append_tool_message(std::string& out, const Message& message, std::size_t turn, double time) {
  const ToolResult result = message.result.value_or(ToolResult{});
  out += "{\"id\": ";
  append_text(out, result.call_id);
  out += ", \"role\": \"tool\", \"content\": ";
  append_text(out, result.text);
  out += ", \"requestor\": \"";
  out += tau2_requestor(result.side);
  out += result.failed ? "\", \"error\": true" : "\", \"error\": false";
  fmt::format_to(std::back_inserter(out), ", \"turn_idx\": {}, \"timestamp\": ", turn);
  append_time(out, time);
  out += '}';
}

void append_usage(std::string& out, const std::optional<TokenUsage>& usage) {
  if (usage)
    fmt::format_to(std::back_inserter(out), "{{\"completion_tokens\": {}, \"prompt_tokens\": {}}}",
                   usage->completion, usage->prompt);
  else
    out += "null";
}

void append_message(std::string& out, const Message& message, std::size_t turn, double time) {
  if (message.role == Role::Tool) return append_tool_message(out, message, turn, time);
  out += "{\"role\": \"";
  out += tau2_role(message.role);
  out += "\", \"content\": ";
  if (message.text.empty() && !message.calls.empty() && !message.empty_text)
    out += "null";
  else
    append_text(out, message.text);
  if (message.role != Role::System) {
    out += ", \"tool_calls\": ";
    append_calls(out, message.calls);
  }
  fmt::format_to(std::back_inserter(out), ", \"turn_idx\": {}, \"timestamp\": ", turn);
  append_time(out, time);
  if (message.role != Role::System) {
    out += ", \"cost\": ";
    append_float(out, message.cost_usd);
    out += ", \"usage\": ";
    append_usage(out, message.usage);
    out += ", \"raw_data\": ";
    append_raw_data(out, message);
    out += ", \"generation_time_seconds\": ";
    append_float(out, message.seconds);
  }
  out += '}';
}

std::string_view termination_reason(const Episode& episode) {
  const bool own_word =
      episode.termination == Termination::Unknown && !episode.termination_text.empty();
  return own_word ? std::string_view(episode.termination_text) : to_string(episode.termination);
}

void append_reward_info(std::string& out, const Episode& episode) {
  out += "\"reward_info\": ";
  if (!episode.reward_info.empty()) {
    out += episode.reward_info;
    return;
  }
  if (!episode.reward) {
    out += "null";
    return;
  }
  out += "{\"reward\": ";
  append_float(out, *episode.reward);
  out +=
      ", \"db_check\": null, \"env_assertions\": null, \"action_checks\": null, "
      "\"nl_assertions\": null, \"communicate_checks\": null, \"reward_basis\": null, "
      "\"reward_breakdown\": null, \"info\": null}";
}

void append_tools(std::string& out, std::string_view side,
                  const std::optional<std::vector<OfferedTool>>& tools) {
  if (!tools) return;
  append_separator(out);
  append_text(out, side);
  out += ": [";
  for (std::size_t i = 0; i < tools->size(); ++i) {
    out += i > 0 ? ", {\"name\": " : "{\"name\": ";
    append_text(out, (*tools)[i].name);
    if (!(*tools)[i].schema.empty()) {
      out += ", \"schema\": ";
      append_text(out, (*tools)[i].schema);
    }
    out += '}';
  }
  out += ']';
}

// What our own runs add to a simulation: the grader's evidence, and the tools that were offered
// where the episode lists them.
void append_own_info(std::string& out, const Episode& episode) {
  const bool lists_tools = episode.agent_tools || episode.user_tools;
  if (episode.grade_evidence.empty() && !lists_tools) return;
  out += ", \"info\": {\"unmask\": {";
  if (!episode.grade_evidence.empty()) out += "\"grading\": " + episode.grade_evidence;
  if (lists_tools) {
    append_separator(out);
    out += "\"tools\": {";
    append_tools(out, "assistant", episode.agent_tools);
    append_tools(out, "user", episode.user_tools);
    out += '}';
  }
  out += "}}";
}

void append_simulation(std::string& out, const Episode& episode, std::size_t index) {
  const auto start =
      static_cast<double>(static_cast<std::int64_t>(index) * kSecondsBetweenEpisodes);
  const double end = start + std::max(0.0, episode.duration_seconds.value_or(0));
  out += "{\"id\": ";
  append_text(out, episode.id);
  out += ", \"task_id\": ";
  append_text(out, episode.task_id);
  out += ", \"timestamp\": ";
  append_time(out, end);
  out += ", \"start_time\": ";
  append_time(out, start);
  out += ", \"end_time\": ";
  append_time(out, end);
  out += ", \"duration\": ";
  append_float(out, episode.duration_seconds);
  out += ", \"termination_reason\": ";
  append_text(out, termination_reason(episode));
  out += ", \"agent_cost\": ";
  append_float(out, episode.agent_cost_usd);
  out += ", \"user_cost\": ";
  append_float(out, episode.user_cost_usd);
  out += ", ";
  append_reward_info(out, episode);
  out += ", \"messages\": [";
  double time = start;
  for (std::size_t i = 0; i < episode.messages.size(); ++i) {
    const Message& message = episode.messages[i];
    out += i > 0 ? ",\n" : "\n";
    time += std::max(0.0, message.seconds.value_or(0));
    append_message(out, message, i, time);
  }
  fmt::format_to(std::back_inserter(out), "], \"trial\": {}, \"seed\": ", episode.trial);
  append_integer(out, episode.seed);
  out += ", \"mode\": \"half_duplex\"";
  append_own_info(out, episode);
  out += '}';
}

void append_party(std::string& out, std::string_view implementation, std::string_view model,
                  std::string_view settings) {
  out += "{\"implementation\": ";
  append_text(out, implementation);
  out += ", \"llm\": ";
  append_text_or_null(out, model);
  out += ", \"llm_args\": ";
  out += settings.empty() ? "null" : settings;
}

void append_info(std::string& out, const RunInfo& info) {
  out += "\"info\": {\"git_commit\": ";
  append_text(out, info.git_commit);
  out += ", \"num_trials\": ";
  append_integer(out, info.num_trials);
  out += ", \"max_steps\": ";
  append_integer(out, info.max_steps);
  out += ", \"max_errors\": ";
  append_integer(out, info.max_errors);
  out += ",\n \"user_info\": ";
  append_party(out, info.user_implementation, info.user_model, info.user_settings);
  out += ", \"global_simulation_guidelines\": null},\n \"agent_info\": ";
  append_party(out, info.agent_implementation, info.model, info.agent_settings);
  out += "},\n \"environment_info\": {\"domain_name\": ";
  append_text(out, info.domain);
  out += ", \"policy\": \"\", \"tool_defs\": null},\n \"seed\": ";
  append_integer(out, info.seed);
  out += '}';
}

void append_task(std::string& out, std::string_view id) {
  out += "{\"id\": ";
  append_text(out, id);
  out +=
      ", \"description\": null, \"user_scenario\": {\"persona\": null, \"instructions\": \"\"}, "
      "\"ticket\": null, \"initial_state\": null, \"evaluation_criteria\": null}";
}

// Everything up to the value of "simulations" or "simulation_index".
void append_head(std::string& out, const RunInfo& info) {
  out += "{\"timestamp\": ";
  append_text_or_null(out, info.timestamp);
  out += ",\n";
  append_info(out, info);
  out += ",\n\"tasks\": [";
  for (std::size_t i = 0; i < info.task_ids.size(); ++i) {
    out += i > 0 ? ",\n" : "\n";
    append_task(out, info.task_ids[i]);
  }
  out += "],\n";
}

void append_index_entry(std::string& out, const Episode& episode) {
  out += "{\"id\": ";
  append_text(out, episode.id);
  out += ", \"task_id\": ";
  append_text(out, episode.task_id);
  fmt::format_to(std::back_inserter(out), ", \"trial\": {}, \"reward\": ", episode.trial);
  append_float(out, episode.reward);
  out += ", \"termination_reason\": ";
  append_text(out, termination_reason(episode));
  out += ", \"agent_cost\": ";
  append_float(out, episode.agent_cost_usd);
  out += ", \"duration\": ";
  append_float(out, episode.duration_seconds);
  out += '}';
}

std::string directory_head(const Run& run) {
  std::string out;
  append_head(out, run.info);
  out += "\"simulation_index\": [";
  for (std::size_t i = 0; i < run.episodes.size(); ++i) {
    out += i > 0 ? ",\n" : "\n";
    append_index_entry(out, run.episodes[i]);
  }
  out += "]}\n";
  return out;
}

bool usable_as_file_name(std::string_view id) {
  constexpr std::size_t kLongest =
      240;  // most file systems: 255 bytes, ".json" and ".tmp…" included
  return !id.empty() && id.size() <= kLongest && id.front() != '.' &&
         id.find('/') == std::string_view::npos && id.find('\0') == std::string_view::npos;
}

Result<Done> check_ids(const Run& run) {
  std::unordered_set<std::string_view> seen;
  for (const Episode& episode : run.episodes) {
    if (!usable_as_file_name(episode.id))
      return Error{ErrorKind::InvalidArgument,
                   "episode id \"" + episode.id + "\" cannot be the name of a file", episode.where};
    if (!seen.insert(episode.id).second)
      return Error{ErrorKind::InvalidArgument, "episode id \"" + episode.id + "\" occurs twice",
                   episode.where};
  }
  return Done{};
}

// Simulations of another run would be read as this one's.
Result<Done> check_no_strangers(const Run& run, const std::filesystem::path& folder) {
  std::unordered_set<std::string> ours;
  for (const Episode& episode : run.episodes) ours.insert(episode.id);
  std::error_code code;
  for (const std::filesystem::directory_entry& entry :
       std::filesystem::directory_iterator(folder, code))
    if (entry.path().extension() == ".json" && !ours.contains(entry.path().stem().string()))
      return Error{ErrorKind::InvalidArgument,
                   "belongs to another run; write to a folder of its own", entry.path().string()};
  if (code) return Error{ErrorKind::Unavailable, "cannot list: " + code.message(), folder.string()};
  return Done{};
}

}  // namespace

Result<Done> write_tau2(const Run& run, const ByteSink& sink) {
  std::string out;
  out.reserve(kPiece + kPiece / 4);
  append_head(out, run.info);
  out += "\"simulations\": [";
  for (std::size_t i = 0; i < run.episodes.size(); ++i) {
    out += i > 0 ? ",\n" : "\n";
    append_simulation(out, run.episodes[i], i);
    if (out.size() < kPiece) continue;
    const Result<Done> taken = sink(out);
    if (!taken) return taken;
    out.clear();
  }
  out += "],\n\"simulation_index\": null}\n";
  return sink(out);
}

std::string tau2_results(const Run& run) {
  std::string text;
  const Result<Done> done = write_tau2(run, [&text](std::string_view bytes) -> Result<Done> {
    text += bytes;
    return Done{};
  });
  UNMASK_CHECK(done.has_value());
  return text;
}

Result<Done> write_tau2_file(const Run& run, const std::string& path) {
  return write_file(path, tau2_results(run));
}

Result<Done> write_tau2_directory(const Run& run, const std::string& folder) {
  Result<Done> checked = check_ids(run);
  if (!checked) return checked;
  const std::filesystem::path simulations = std::filesystem::path(folder) / "simulations";
  std::error_code code;
  std::filesystem::create_directories(simulations, code);
  if (code)
    return Error{ErrorKind::Unavailable, "cannot create: " + code.message(), simulations.string()};
  checked = check_no_strangers(run, simulations);
  if (!checked) return checked;
  std::string text;
  for (std::size_t i = 0; i < run.episodes.size(); ++i) {
    text.clear();
    append_simulation(text, run.episodes[i], i);
    text += '\n';
    const std::filesystem::path file = simulations / (run.episodes[i].id + ".json");
    const Result<Done> written = write_file(file.string(), text);
    if (!written) return written;
  }
  return write_file((std::filesystem::path(folder) / "results.json").string(), directory_head(run));
}

}  // namespace unmask
