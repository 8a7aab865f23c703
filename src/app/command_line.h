// Parsing a command's arguments with CLI11, with sentences of ours for what is wrong.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/command.h"
#include "base/result.h"

namespace CLI {
class App;
class Validator;
}  // namespace CLI

namespace unmask {

enum class ColorChoice;

// Where a command stands after its arguments were read. HelpShown: the help was printed, or the
// definition handed to invocation.describe; there is nothing left to do.
enum class Parsed { Go, HelpShown };

// Errors   InvalidArgument: unknown option (with the nearest known one), missing or bad value.
// Prints the help to standard output when it is asked for.
Result<Parsed> parse_arguments(CLI::App& app, const Invocation& invocation);

// Checks for CLI11 options: empty text when `text` will do, else what it must be.
std::function<std::string(std::string&)> whole_number(long long least, long long most);
std::function<std::string(std::string&)> number(double least, double most);

// A check for one of a few words; its name is the words, "a|b|c", for whoever describes the option.
CLI::Validator one_of(std::vector<std::string> words);
// The same description where other values, or lists, are judged elsewhere: accepts all.
CLI::Validator suggested(std::vector<std::string> words);

void add_color_option(CLI::App& app, ColorChoice& color, const std::string& group);

// Text as number, for values that passed the checks above and for those that have none.
std::optional<long long> to_whole_number(const std::string& text);
std::optional<double> to_number(const std::string& text);

}  // namespace unmask
