#include "app/completions.h"

#include <fmt/format.h>

#include <algorithm>

namespace unmask {
namespace {

// Text between single quotes of a POSIX shell.
std::string single_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return out + "'";
}

std::string joined(const std::vector<std::string>& words, std::string_view separator = " ") {
  return fmt::format("{}", fmt::join(words, separator));
}

std::vector<std::string> names_of(const std::vector<CommandDefinition>& commands) {
  std::vector<std::string> names;
  for (const CommandDefinition& command : commands) names.push_back(command.name);
  return names;
}

// What bash does for a value: a line of its case.
std::string bash_value(const OptionDefinition& option) {
  if (!option.words.empty())
    return fmt::format("_unmask_words {}", single_quoted(joined(option.words)));
  switch (option.kind) {
    case ValueKind::File:
      return "_unmask_files";
    case ValueKind::Folder:
      return "_unmask_folders";
    case ValueKind::Text:
    case ValueKind::None:
      return ":";
  }
  return ":";
}

std::string bash_command(const CommandDefinition& command) {
  std::string out = fmt::format("    {})\n      case \"$previous\" in\n", command.name);
  std::vector<std::string> options;
  for (const OptionDefinition& option : command.options) {
    options.insert(options.end(), option.names.begin(), option.names.end());
    // A value that may lack is completed after "=" only: the next word may be something else.
    if (option.type.empty()) continue;
    std::vector<std::string> patterns;
    for (const std::string& name : option.names) {
      if (!option.value_may_lack) patterns.push_back(name);
      if (name.starts_with("--")) patterns.push_back(name + "=");
    }
    out += fmt::format("        {}) {}; return ;;\n", joined(patterns, "|"), bash_value(option));
  }
  out += fmt::format("      esac\n      options={}\n", single_quoted(joined(options)));
  const std::string positional =
      command.positionals.empty() ? ":" : bash_value(command.positionals.front());
  return out + fmt::format("      positional() {{ {}; }}\n      ;;\n", positional);
}

constexpr const char* kBashHead =
    R"(# bash completion for unmask; source it, or put it in bash-completion's folder as "unmask".
_unmask_words() { COMPREPLY=($(compgen -W "$1" -- "$current")); }
_unmask_files() {
  local IFS=$'\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen -f -- "$current"))
}
_unmask_folders() {
  local IFS=$'\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen -d -- "$current"))
}
_unmask() {
  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}" options=
  COMPREPLY=()
  # bash makes words of their own of "=" and what follows it.
  if [[ "$current" == "=" ]]; then
    previous="$previous="; current=
  elif [[ "$previous" == "=" ]]; then
    previous="${COMP_WORDS[COMP_CWORD-2]}="
  fi
  if [[ $COMP_CWORD -eq 1 ]]; then
    _unmask_words "$commands_of_unmask help --help --version"
    return
  fi
  positional() { :; }
  case "${COMP_WORDS[1]}" in
    help) _unmask_words "$commands_of_unmask"; return ;;
)";

constexpr const char* kBashTail = R"(  esac
  case "$current" in
    -*) _unmask_words "$options" ;;
    *) positional ;;
  esac
  unset -f positional
}
complete -F _unmask unmask
)";

// ':' and brackets have a meaning in what _arguments takes.
std::string zsh_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == ':' || c == '[' || c == ']' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_value(const OptionDefinition& option) {
  std::string action;
  if (!option.words.empty())
    action = fmt::format("({})", joined(option.words));
  else if (option.kind == ValueKind::File)
    action = "_files";
  else if (option.kind == ValueKind::Folder)
    action = "_files -/";
  return fmt::format(":{}:{}", zsh_escaped(option.type), action);
}

std::string zsh_option(const OptionDefinition& option, const std::string& name) {
  std::string spec = name;
  if (option.value_may_lack)
    spec += "=-";  // the value in the same word
  else if (!option.type.empty() && name.starts_with("--"))
    spec += "=";  // in the same word or the next
  spec += fmt::format("[{}]", zsh_escaped(option.help));
  if (option.value_may_lack) spec += ":" + zsh_value(option);  // "::": optional
  if (!option.value_may_lack && !option.type.empty()) spec += zsh_value(option);
  return single_quoted("*" + spec);
}

std::string zsh_command(const CommandDefinition& command) {
  std::string out = fmt::format("        {})\n          _arguments -s", command.name);
  for (const OptionDefinition& option : command.options)
    for (const std::string& name : option.names)
      out += fmt::format(" \\\n            {}", zsh_option(option, name));
  for (const OptionDefinition& positional : command.positionals)
    out += fmt::format(" \\\n            {}", single_quoted("*" + zsh_value(positional)));
  return out + "\n          ;;\n";
}

// Text between single quotes of fish, where a backslash escapes.
std::string fish_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string fish_value(const OptionDefinition& option) {
  if (option.type.empty()) return "";
  if (option.value_may_lack) return "";
  if (!option.words.empty()) return " -x -a " + fish_quoted(joined(option.words));
  switch (option.kind) {
    case ValueKind::File:
      return " -r -F";
    case ValueKind::Folder:
      return " -x -a '(__fish_complete_directories)'";
    case ValueKind::Text:
    case ValueKind::None:
      return " -x";
  }
  return "";
}

std::string fish_option(const CommandDefinition& command, const OptionDefinition& option) {
  std::string out =
      fmt::format("complete -c unmask -n '__fish_seen_subcommand_from {}'", command.name);
  for (const std::string& name : option.names)
    out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  return out + fish_value(option) + " -d " + fish_quoted(option.help) + "\n";
}

}  // namespace

std::string bash_completions(const std::vector<CommandDefinition>& commands) {
  std::string out = kBashHead;
  for (const CommandDefinition& command : commands) out += bash_command(command);
  out += kBashTail;
  return fmt::format("commands_of_unmask={}\n", single_quoted(joined(names_of(commands)))) + out;
}

std::string zsh_completions(const std::vector<CommandDefinition>& commands) {
  std::string out =
      "#compdef unmask\n"
      "# zsh completion for unmask; put it in a folder of $fpath as \"_unmask\".\n"
      "_unmask() {\n"
      "  local state line\n"
      "  typeset -A opt_args\n"
      "  local -a unmask_commands\n"
      "  unmask_commands=(\n";
  for (const CommandDefinition& command : commands)
    out +=
        fmt::format("    {}\n", single_quoted(command.name + ":" + zsh_escaped(command.summary)));
  out +=
      "  )\n"
      "  _arguments -C '(- *)--help[show the commands]' '(- *)--version[show the version]' \\\n"
      "    '1: :->command' '*:: :->arguments'\n"
      "  case $state in\n"
      "    command)\n"
      "      unmask_commands+=('help:show the help of a command')\n"
      "      _describe 'command' unmask_commands\n"
      "      ;;\n"
      "    arguments)\n"
      "      case $words[1] in\n";
  for (const CommandDefinition& command : commands) out += zsh_command(command);
  return out +
         "        help)\n"
         "          _describe 'command' unmask_commands\n"
         "          ;;\n"
         "      esac\n"
         "      ;;\n"
         "  esac\n"
         "}\n"
         "if [ \"$funcstack[1]\" = \"_unmask\" ]; then\n"
         "  _unmask \"$@\"\n"
         "else\n"
         "  compdef _unmask unmask\n"
         "fi\n";
}

std::string fish_completions(const std::vector<CommandDefinition>& commands) {
  std::string out =
      "# fish completion for unmask; put it in fish's completions folder as \"unmask.fish\".\n"
      "complete -c unmask -n __fish_use_subcommand -f -l help -d 'show the commands'\n"
      "complete -c unmask -n __fish_use_subcommand -f -l version -d 'show the version'\n";
  for (const CommandDefinition& command : commands)
    out += fmt::format("complete -c unmask -n __fish_use_subcommand -f -a {} -d {}\n", command.name,
                       fish_quoted(command.summary));
  out += fmt::format(
      "complete -c unmask -n __fish_use_subcommand -f -a help -d 'show the help of a command'\n"
      "complete -c unmask -n '__fish_seen_subcommand_from help' -f -a {}\n",
      fish_quoted(joined(names_of(commands))));
  for (const CommandDefinition& command : commands) {
    for (const OptionDefinition& option : command.options) out += fish_option(command, option);
    for (const OptionDefinition& positional : command.positionals)
      if (!positional.words.empty())
        out += fmt::format("complete -c unmask -n '__fish_seen_subcommand_from {}' -f -a {}\n",
                           command.name, fish_quoted(joined(positional.words)));
  }
  return out;
}

}  // namespace unmask
