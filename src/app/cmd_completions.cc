// unmask completions SHELL and unmask man: texts for the shell and the manual.
#include <CLI/CLI.hpp>

#include "app/command_line.h"
#include "app/completions.h"
#include "app/console.h"

namespace unmask {
namespace {

constexpr const char* kCompletionsDescription =
    "Prints a script that completes unmask's commands, options and values.\n";

constexpr const char* kCompletionsExamples =
    "examples:\n"
    "  source <(unmask completions bash)\n"
    "  unmask completions zsh > ~/.zfunc/_unmask      (a folder of $fpath)\n"
    "  unmask completions fish > ~/.config/fish/completions/unmask.fish\n";

constexpr const char* kManualDescription = "Prints the manual page, for man, groff or mandoc.\n";

constexpr const char* kManualExamples =
    "examples:\n"
    "  unmask man | man -l -\n"
    "  unmask man > ~/.local/share/man/man1/unmask.1\n";

}  // namespace

ExitStatus run_completions(const Invocation& invocation) {
  CLI::App app(kCompletionsDescription, "completions");
  app.footer(kCompletionsExamples);
  std::string shell;
  app.add_option("shell", shell)->type_name("SHELL")->check(one_of({"bash", "zsh", "fish"}));
  const Result<Parsed> parsed = parse_arguments(app, invocation);
  if (!parsed) return fail(parsed.error());
  if (*parsed == Parsed::HelpShown) return ExitStatus::Done;
  if (shell.empty()) return fail("completions needs a shell: bash, zsh or fish");
  const std::vector<CommandDefinition> commands = program_definition();
  if (shell == "bash") return print_result(bash_completions(commands));
  if (shell == "zsh") return print_result(zsh_completions(commands));
  return print_result(fish_completions(commands));
}

ExitStatus run_man(const Invocation& invocation) {
  CLI::App app(kManualDescription, "man");
  app.footer(kManualExamples);
  const Result<Parsed> parsed = parse_arguments(app, invocation);
  if (!parsed) return fail(parsed.error());
  if (*parsed == Parsed::HelpShown) return ExitStatus::Done;
  return print_result(manual_page(program_definition(), UNMASK_VERSION));
}

}  // namespace unmask
