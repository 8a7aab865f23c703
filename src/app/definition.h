// What can be typed: every command with its options, read from the definitions the commands parse
// by, so that a new option is in the completions and the manual by itself.
#pragma once

#include <string>
#include <vector>

namespace unmask {

enum class ValueKind { None, Text, File, Folder };

struct OptionDefinition {
  std::vector<std::string> names;  // "--quiet", "-q"; the long one first. None: a positional
  std::string type;                // "FILE|-"; empty: takes no value
  bool value_may_lack = false;     // "--gate", "--gate=FILE"
  std::string help;                // one paragraph
  std::string group;
  std::vector<std::string> words;  // the values there are; empty: any
  ValueKind kind = ValueKind::None;
};

struct CommandDefinition {
  std::string name;
  std::string summary;
  std::string description;
  std::string examples;  // "examples:\n  unmask ..."; may be empty
  std::vector<OptionDefinition> positionals;
  std::vector<OptionDefinition> options;
};

// In the order of the overview.
std::vector<CommandDefinition> program_definition();

}  // namespace unmask
