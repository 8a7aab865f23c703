// Completions for the shells and the manual page, written from the program's definition.
#pragma once

#include <string>
#include <vector>

#include "app/definition.h"

namespace unmask {

// Scripts to be sourced by bash (3.2 and later), put in zsh's fpath as _unmask, and in fish's
// completions folder as unmask.fish.
std::string bash_completions(const std::vector<CommandDefinition>& commands);
std::string zsh_completions(const std::vector<CommandDefinition>& commands);
std::string fish_completions(const std::vector<CommandDefinition>& commands);

// unmask(1) in the man macros of groff and mandoc; ASCII.
std::string manual_page(const std::vector<CommandDefinition>& commands, const std::string& version);

}  // namespace unmask
