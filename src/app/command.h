// app: flags, files, progress and exit codes; no arithmetic. One cmd_*.cc per command, one table.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace unmask {

// What the program tells its caller. 1 and 4 belong to the gate.
enum class ExitStatus { Done = 0, Unusable = 2, Interrupted = 3 };

struct Invocation {
  std::vector<std::string> arguments;  // after the command's name
  std::string command_line;            // as typed and shell-quoted, for the report
};

struct Command {
  std::string_view name;
  std::string_view summary;
  ExitStatus (*run)(const Invocation& invocation);
};

ExitStatus run_audit(const Invocation& invocation);
ExitStatus run_inspect(const Invocation& invocation);
ExitStatus run_plant(const Invocation& invocation);
ExitStatus run_power(const Invocation& invocation);
ExitStatus run_grade(const Invocation& invocation);
ExitStatus run_domains(const Invocation& invocation);
ExitStatus run_tasks(const Invocation& invocation);
ExitStatus run_play(const Invocation& invocation);
ExitStatus run_tools(const Invocation& invocation);
ExitStatus run_run(const Invocation& invocation);
ExitStatus run_demo(const Invocation& invocation);
ExitStatus run_quantize(const Invocation& invocation);

// Every command but help, in the order --help shows them.
std::span<const Command> commands();

}  // namespace unmask
