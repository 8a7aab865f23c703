// app: flags, files, progress and exit codes; no arithmetic. One cmd_*.cc per command, one table.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace unmask {

// What the program tells its caller. GateInconclusive: a gate was asked for, and the evidence does
// not settle it.
enum class ExitStatus {
  Done = 0,
  GateFails = 1,
  Unusable = 2,
  Interrupted = 3,
  GateInconclusive = 4
};

struct Invocation {
  std::vector<std::string> arguments;  // after the command's name
  std::string command_line;            // as typed and shell-quoted, for the report
  // Where set, the command does nothing but hand over the definition of its arguments.
  std::function<void(CLI::App&)> describe = {};
};

struct Command {
  std::string_view name;
  std::string_view summary;
  ExitStatus (*run)(const Invocation& invocation);
};

ExitStatus run_audit(const Invocation& invocation);
ExitStatus run_inspect(const Invocation& invocation);
ExitStatus run_margins(const Invocation& invocation);
ExitStatus run_plant(const Invocation& invocation);
ExitStatus run_power(const Invocation& invocation);
ExitStatus run_grade(const Invocation& invocation);
ExitStatus run_domains(const Invocation& invocation);
ExitStatus run_tasks(const Invocation& invocation);
ExitStatus run_play(const Invocation& invocation);
ExitStatus run_tools(const Invocation& invocation);
ExitStatus run_run(const Invocation& invocation);
ExitStatus run_replay(const Invocation& invocation);
ExitStatus run_demo(const Invocation& invocation);
ExitStatus run_quantize(const Invocation& invocation);
ExitStatus run_completions(const Invocation& invocation);
ExitStatus run_man(const Invocation& invocation);

// Every command but help, in the order --help shows them.
std::span<const Command> commands();

}  // namespace unmask
