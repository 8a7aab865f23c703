#include "report/markdown_parts.h"

#include <fmt/format.h>

#include "base/utf8.h"
#include "report/numbers.h"
#include "report/render.h"

namespace unmask {
namespace {

constexpr std::size_t kPlainBytes = 600;

// At most so many bytes, whole characters.
std::string cut(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = 0;
  while (true) {
    const std::size_t next = end + decode_utf8(text, end).length;
    if (next > most) break;
    end = next;
  }
  return text.substr(0, end) + "…";
}

}  // namespace

std::string plain(std::string_view text) {
  std::string out;
  for (const char c : cut(safe_for_terminal(text), kPlainBytes)) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '@':
        out += "@\u200b";
        break;  // a name of a log must not notify anybody
      case '\\':
      case '`':
      case '*':
      case '_':
      case '[':
      case ']':
      case '|':
      case '#':
      case '~':
      case '!':
        out += '\\';
        out += c;
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string with_code(std::string_view text) {
  std::string out;
  bool code = false;
  while (true) {
    const std::size_t end = text.find('`');
    const std::string_view part = text.substr(0, end);
    const bool closed = end != std::string_view::npos;
    out += code && closed && !part.empty() ? "`" + safe_for_terminal(part) + "`" : plain(part);
    if (!closed) return out;
    text.remove_prefix(end + 1);
    code = !code;
  }
}

std::string markdown_row(const std::vector<std::string>& cells) {
  std::string out = "|";
  for (const std::string& cell : cells) out += " " + cell + " |";
  return out + "\n";
}

std::string markdown_row(std::initializer_list<std::string> cells) {
  return markdown_row(std::vector<std::string>(cells));
}

std::string folded(const std::string& summary, const std::string& body) {
  return fmt::format("<details><summary>{}</summary>\n\n{}\n</details>\n\n", summary, body);
}

std::string markdown_footer(const Provenance& provenance) {
  return fmt::format("<sub>unmask {}, seed {}, {} resamples: {}</sub>\n", plain(provenance.version),
                     provenance.seed, count_text(provenance.bootstrap), plain(provenance.command));
}

}  // namespace unmask
