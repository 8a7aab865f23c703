#include "app/definition.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "app/command.h"

namespace unmask {
namespace {

// "a|b|c", the name one_of() gives its check.
std::vector<std::string> words_of(CLI::Option& option) {
  std::vector<std::string> words;
  try {
    std::istringstream name(option.get_validator(0)->get_name());
    for (std::string word; std::getline(name, word, '|');) words.push_back(word);
  } catch (const CLI::OptionNotFound&) {
    // No check, no words.
  }
  return words;
}

ValueKind kind_of(const std::string& type) {
  if (type.empty()) return ValueKind::None;
  const auto has = [&](const char* part) { return type.find(part) != std::string::npos; };
  for (const char* file : {"FILE", "LOG", "TOML", ".toml", "GGUF", ".gguf", "MODEL", "BASELINE"})
    if (has(file)) return ValueKind::File;
  for (const char* folder : {"FOLDER", "DIR"})
    if (has(folder)) return ValueKind::Folder;
  return ValueKind::Text;
}

std::string one_paragraph(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

OptionDefinition definition_of(CLI::Option& option) {
  OptionDefinition definition;
  for (const std::string& name : option.get_lnames()) definition.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) definition.names.push_back("-" + name);
  definition.type = option.get_type_name();
  if (option.get_expected_max() == 0 && !definition.type.empty()) {
    definition.value_may_lack = true;
    std::erase_if(definition.type, [](char c) { return c == '[' || c == ']'; });
  }
  // A flag of CLI11's own has no type; an option that names none takes text.
  if (definition.type.empty() && option.get_expected_max() > 0) definition.type = "VALUE";
  definition.help = one_paragraph(option.get_description());
  definition.group = option.get_group();
  definition.words = words_of(option);
  definition.kind = kind_of(definition.type);
  return definition;
}

CommandDefinition definition_of(const Command& command) {
  CommandDefinition definition;
  definition.name = command.name;
  definition.summary = command.summary;
  Invocation invocation;
  invocation.describe = [&](CLI::App& app) {
    definition.description = app.get_description();
    definition.examples = app.get_footer();
    for (CLI::Option* option : app.get_options())
      (option->get_positional() ? definition.positionals : definition.options)
          .push_back(definition_of(*option));
  };
  command.run(invocation);
  return definition;
}

}  // namespace

std::vector<CommandDefinition> program_definition() {
  std::vector<CommandDefinition> definitions;
  for (const Command& command : commands()) definitions.push_back(definition_of(command));
  return definitions;
}

}  // namespace unmask
