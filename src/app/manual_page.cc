// unmask(1). What is not ASCII becomes an escape that groff and mandoc know, so that the page reads
// the same under any locale.
#include <fmt/format.h>

#include "app/completions.h"
#include "base/utf8.h"

namespace unmask {
namespace {

std::string roff(std::string_view text) {
  std::string out;
  bool line_begins = true;
  for (std::size_t i = 0; i < text.size();) {
    const Utf8Step step = decode_utf8(text, i);
    const char c = text[i];
    i += step.length;
    // A control character of the macros is none after a character without width.
    if (line_begins && (c == '.' || c == '\'')) out += "\\&";
    line_begins = c == '\n';
    if (step.code_point > 0x7E)
      out += fmt::format("\\[u{:04X}]", step.code_point);
    else if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c == '\'')
      out += "\\(aq";
    else
      out += c;
  }
  return out;
}

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of('\n');
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of('\n') - first + 1));
}

// Blank lines part paragraphs.
std::string paragraphs(const std::string& text) {
  std::string out;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = rest.find("\n\n");
    const std::string paragraph = trimmed(rest.substr(0, end));
    if (!paragraph.empty()) out += ".PP\n" + roff(paragraph) + "\n";
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 2);
  }
  return out;
}

std::string as_typed(const std::string& text) {
  const std::string body = trimmed(text);
  return body.empty() ? "" : ".PP\n.nf\n" + roff(body) + "\n.fi\n";
}

std::string option_entry(const OptionDefinition& option) {
  std::string out = ".TP\n";
  for (std::size_t i = 0; i < option.names.size(); ++i)
    out += fmt::format("{}\\fB{}\\fR", i == 0 ? "" : ", ", roff(option.names[i]));
  if (!option.type.empty())
    out += option.value_may_lack ? fmt::format(" [\\fI{}\\fR]", roff(option.type))
                                 : fmt::format(" \\fI{}\\fR", roff(option.type));
  return out + "\n" + roff(option.help) + "\n";
}

std::string command_section(const CommandDefinition& command) {
  std::string title = "unmask " + command.name;
  for (const OptionDefinition& positional : command.positionals) title += " " + positional.type;
  std::string out = fmt::format(".SS {}\n", roff(title));
  out += paragraphs(command.description);
  for (const OptionDefinition& option : command.options) out += option_entry(option);
  return out + as_typed(command.examples);
}

constexpr const char* kClosing =
    R"(.SH EXIT STATUS
.TP
0
Done; with a gate: it lets pass.
.TP
1
The gate says no.
.TP
2
Bad usage or unreadable input; one sentence on standard error says what.
.TP
3
Interrupted; what was done is saved.
.TP
4
A gate was asked for, and the evidence does not settle it.
.SH ENVIRONMENT
.TP
NO_COLOR
Where set, no colour is used unless asked for.
.TP
COLUMNS
Width of the screen where standard output is no terminal.
.TP
TAU2_DATA_DIR
Folder of the data of tau2\-bench, where an option does not name one.
)";

}  // namespace

std::string manual_page(const std::vector<CommandDefinition>& commands,
                        const std::string& version) {
  std::string out =
      fmt::format(".TH UNMASK 1 \"\" \"unmask {}\" \"User Commands\"\n", roff(version));
  out +=
      ".SH NAME\n"
      "unmask \\- find the damage that a flat benchmark score hides in quantized LLM agents\n"
      ".SH SYNOPSIS\n"
      ".B unmask\n"
      "\\fICOMMAND\\fR [\\fIOPTIONS\\fR] ...\n"
      ".SH DESCRIPTION\n"
      "Compares logs of an agent before and after quantization: the score, the failed tool calls\n"
      "that the benchmark\\(aqs error budget forgives, and what of the score is left under a "
      "smaller\n"
      "budget.\n"
      ".SH COMMANDS\n";
  for (const CommandDefinition& command : commands)
    out += fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(command.name), roff(command.summary));
  out += ".SH OPTIONS OF EACH COMMAND\n";
  for (const CommandDefinition& command : commands) out += command_section(command);
  return out + kClosing;
}

}  // namespace unmask
