#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "app/build_facts.h"
#include "app/command.h"
#include "app/console.h"
#include "app/nearest.h"
#include "app/shell_quote.h"
#include "base/mapped_file.h"

namespace unmask {
namespace {

constexpr Command kCommands[] = {
    {"audit", "compare a candidate with its baseline: what does the score hide?", run_audit},
    {"inspect", "look at one log: failed calls, success within a budget, risk", run_inspect},
    {"power", "tasks and trials that would settle a question, from a pilot or stated rates",
     run_power},
    {"run", "play a plan's arms against their models, then audit them", run_run},
    {"replay", "give a log's contexts to other models: one call a decision", run_replay},
    {"margins", "how narrow replayed decisions were, and what that explains", run_margins},
    {"quantize", "make arms of a model: llama.cpp's types, FP8, INT4, AWQ", run_quantize},
    {"demo", "the experiment, small: an agent of our own, quantized, in about a minute", run_demo},
    {"plant", "write a pair of logs with a known truth", run_plant},
    {"grade", "grade a log's trajectories again and compare with its rewards", run_grade},
    {"domains", "list the simulated worlds", run_domains},
    {"tasks", "list the tasks of a domain", run_tasks},
    {"tools", "list the tools of a domain", run_tools},
    {"play", "play a task by hand, as its agent or its user", run_play},
    {"completions", "complete commands and options in bash, zsh or fish", run_completions},
    {"man", "the manual page", run_man},
};

std::string overview() {
  std::string text =
      "unmask finds the damage that a flat benchmark score hides in quantized LLM agents.\n"
      "\n"
      "usage: unmask COMMAND [OPTIONS] ...\n"
      "\n"
      "commands:\n";
  for (const Command& command : commands())
    text += fmt::format("  {:<13}{}\n", command.name, command.summary);
  text +=
      "\n"
      "  unmask COMMAND --help   options and examples of a command\n"
      "  unmask --version        the version, and how it was built\n"
      "\n"
      "exit status: 0 done, 2 bad usage or unreadable input, 3 interrupted; with --gate also\n"
      "             1 the gate says no, 4 the evidence does not settle it\n"
      "\n"
      "examples:\n"
      "  unmask inspect results.json\n"
      "  unmask audit bf16.json int4.json\n"
      "  unmask audit bf16.json int4.json --json audit.json --markdown comment.md\n"
      "  unmask plant --preset damaged --out demo/\n";
  return text;
}

const Command* find_command(std::string_view name) {
  for (const Command& command : commands())
    if (command.name == name) return &command;
  return nullptr;
}

ExitStatus unknown_command(const std::string& name) {
  std::vector<std::string> names = {"help"};
  for (const Command& command : commands()) names.emplace_back(command.name);
  return fail(fmt::format("there is no command '{}'{}; see unmask --help", name,
                          did_you_mean(name, names)));
}

ExitStatus run(const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    print_error(overview());
    return ExitStatus::Unusable;
  }
  const std::string& first = arguments.front();
  if (first == "--version" || first == "-V") return print_result(build_facts());
  const bool help = first == "help" || first == "--help" || first == "-h";
  if (help && arguments.size() == 1) return print_result(overview());
  const std::string& name = help ? arguments[1] : first;
  const Command* command = find_command(name);
  if (command == nullptr) {
    if (first.size() > 1 && first[0] == '-' && !help)
      return fail(
          fmt::format("a command comes before options such as '{}'; see unmask --help", first));
    return unknown_command(name);
  }
  Invocation invocation;
  invocation.arguments.assign(arguments.begin() + 1, arguments.end());
  if (help) invocation.arguments = {"--help"};
  invocation.command_line = quoted_command(arguments);
  return command->run(invocation);
}

}  // namespace

std::span<const Command> commands() {
  return kCommands;
}

}  // namespace unmask

// A program started with closed standard streams would open its files in their place, and what it
// prints would end up in them.
static void fill_standard_descriptors() {
  int opened = 0;
  while (opened >= 0 && opened <= STDERR_FILENO) {
    opened = ::open("/dev/null", O_RDWR);
    if (opened == STDOUT_FILENO) unmask::note_closed_standard_output();
  }
  if (opened > STDERR_FILENO) ::close(opened);
}

int main(int argc, char** argv) {
  using unmask::ExitStatus;
  fill_standard_descriptors();
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is an error of write(), handled there
  std::signal(SIGXFSZ, SIG_IGN);  // so is a file that may not grow further
  unmask::end_on_interrupt();
  unmask::MappedFile::guard_reads();
  ExitStatus status = ExitStatus::Unusable;
  try {
    status = unmask::run(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
  } catch (const std::bad_alloc&) {
    status = unmask::fail("not enough memory");
  } catch (const std::exception& error) {
    status = unmask::fail(error.what());
  }
  return static_cast<int>(status);
}
