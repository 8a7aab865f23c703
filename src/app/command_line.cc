#include "app/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>

#include "app/console.h"
#include "app/nearest.h"

namespace unmask {
namespace {

// One column of flags, one of text; no "TEXT" where an option has a name of its own for its value.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(32); }

  std::string make_usage(const CLI::App* app, std::string) const override {
    return "usage: unmask " + app->get_name() + " " + usage_of_positionals(app) + "[OPTIONS]\n";
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string type = option->get_type_name();
    return type.empty() ? "" : " " + type;
  }

  std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const override {
    std::string out = make_usage(app, "") + "\n" + app->get_description();
    for (const std::string& group : app->get_groups()) {
      const std::vector<const CLI::Option*> options = app->get_options(
          [&](const CLI::Option* o) { return o->get_group() == group && !o->get_positional(); });
      if (!options.empty()) out += make_group(group, false, options);
    }
    return out + "\n" + app->get_footer();
  }

 private:
  static std::string usage_of_positionals(const CLI::App* app) {
    std::string usage;
    for (const CLI::Option* option : app->get_options())
      if (option->get_positional()) usage += option->get_type_name() + " ";
    return usage;
  }
};

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

Error usage_error(const CLI::App& app, const std::string& message) {
  return Error{ErrorKind::InvalidArgument,
               fmt::format("{}; see unmask {} --help", message, app.get_name()), ""};
}

// "--gate gate.toml" is "--gate=gate.toml" to CLI11, for which a flag never takes the next word.
// "--gate=true" names a file, but is a flag without a value to it: "--gate=./true" is the same
// file.
std::vector<std::string> with_optional_values(const CLI::App& app,
                                              const std::vector<std::string>& arguments) {
  const auto value_may_lack = [&](const std::string& name) {
    const CLI::Option* option = name.starts_with("--") ? app.get_option_no_throw(name) : nullptr;
    return option != nullptr && option->get_expected_max() == 0 && !option->get_type_name().empty();
  };
  std::vector<std::string> joined;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    joined.push_back(arguments[i]);
    const std::size_t equals = arguments[i].find('=');
    const std::string value = equals == std::string::npos ? "" : arguments[i].substr(equals + 1);
    if ((value == "true" || value == "{}") && value_may_lack(arguments[i].substr(0, equals)))
      joined.back() = arguments[i].substr(0, equals) + "=./" + value;
    else if (i + 1 < arguments.size() && arguments[i + 1].ends_with(".toml") &&
             value_may_lack(arguments[i]))
      joined.back() += "=" + arguments[++i];
  }
  return joined;
}

// An empty name is no place to write to or read from; an empty folder of data is no folder.
bool names_output(const CLI::Option& option) {
  return option.get_type_name().starts_with("FILE") || option.get_type_name().starts_with("FOLDER");
}

// The option that CLI11's messages start with.
std::string option_in(const std::string& message) {
  return message.substr(0, message.find(':'));
}

}  // namespace

Result<Parsed> parse_arguments(CLI::App& app, const Invocation& invocation) {
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_help_flag("-h,--help", "show this help")->group("help");
  app.allow_extras();
  if (invocation.describe) {
    invocation.describe(app);
    return Parsed::HelpShown;
  }
  const std::vector<std::string> arguments = with_optional_values(app, invocation.arguments);
  for (const std::string& argument : arguments)
    if (argument.size() > 3 && argument.starts_with("--") && argument.ends_with("=") &&
        app.get_option_no_throw(argument.substr(0, argument.size() - 1)) != nullptr)
      return usage_error(app, argument.substr(0, argument.size() - 1) + " needs a value");
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    const Result<Done> written = write_standard_output(app.help());
    if (!written) return written.error();
    return Parsed::HelpShown;
  } catch (const CLI::ArgumentMismatch& error) {
    const CLI::Option* option = app.get_option_no_throw(option_in(error.what()));
    const bool twice = option != nullptr && option->count() > 1;
    return usage_error(app,
                       option_in(error.what()) + (twice ? " is given twice" : " needs a value"));
  } catch (const CLI::ValidationError& error) {
    // "--seed: must be ..." is ours after the colon.
    const std::string text = error.what();
    const std::string option = option_in(text);
    return usage_error(app, option + text.substr(std::min(option.size() + 1, text.size())));
  } catch (const CLI::ParseError& error) {
    return usage_error(app, error.what());
  }
  // A variable of a script that is not set.
  for (const CLI::Option* option : app.get_options())
    for (const std::string& value : option->results())
      if (value.empty() && !option->get_lnames().empty() && names_output(*option))
        return usage_error(app, "--" + option->get_lnames().front() + " needs a value");
  for (const std::string& extra : app.remaining()) {
    if (extra.size() < 2 || extra[0] != '-')
      return usage_error(app, fmt::format("'{}' is one argument too many", extra));
    const std::string name = extra.substr(0, extra.find('='));
    return usage_error(
        app, fmt::format("there is no option '{}'{}", name, did_you_mean(name, option_names(app))));
  }
  return Parsed::Go;
}

CLI::Validator one_of(std::vector<std::string> words) {
  const std::string name = fmt::format("{}", fmt::join(words, "|"));
  const std::string list = fmt::format("{}", fmt::join(words, ", "));
  const auto check = [words = std::move(words), list](std::string& text) -> std::string {
    if (std::find(words.begin(), words.end(), text) != words.end()) return "";
    return fmt::format("must be one of {}, not '{}'{}", list, text, did_you_mean(text, words));
  };
  return CLI::Validator(check, "", name);
}

CLI::Validator suggested(std::vector<std::string> words) {
  return CLI::Validator([](std::string&) { return std::string(); }, "",
                        fmt::format("{}", fmt::join(words, "|")));
}

void add_color_option(CLI::App& app, ColorChoice& color, const std::string& group) {
  const auto choose = [&color](const std::string& when) {
    color = when == "always"  ? ColorChoice::Always
            : when == "never" ? ColorChoice::Never
                              : ColorChoice::Auto;
  };
  app.add_option_function<std::string>("--color", choose, "auto (default), always or never")
      ->type_name("WHEN")
      ->check(one_of({"auto", "always", "never"}))
      ->group(group);
}

std::optional<long long> to_whole_number(const std::string& text) {
  long long value = 0;
  const char* end = text.data() + text.size();
  const std::from_chars_result read = std::from_chars(text.data(), end, value);
  if (text.empty() || read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return value;
}

std::optional<double> to_number(const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const std::from_chars_result read = std::from_chars(text.data(), end, value);
  if (text.empty() || read.ec != std::errc() || read.ptr != end || !std::isfinite(value))
    return std::nullopt;
  return value;
}

std::function<std::string(std::string&)> whole_number(long long least, long long most) {
  return [least, most](std::string& text) -> std::string {
    const std::optional<long long> value = to_whole_number(text);
    if (value && *value >= least && *value <= most) return "";
    return fmt::format("must be a whole number from {} to {}, not '{}'", least, most, text);
  };
}

std::function<std::string(std::string&)> number(double least, double most) {
  return [least, most](std::string& text) -> std::string {
    const std::optional<double> value = to_number(text);
    if (value && *value >= least && *value <= most) return "";
    return fmt::format("must be a number from {} to {}, not '{}'", least, most, text);
  };
}

}  // namespace unmask
