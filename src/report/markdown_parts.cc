#include "report/markdown_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"
#include "report/numbers.h"
#include "report/render.h"

namespace unmask {
namespace {

constexpr const char* kUnseen = "\u200b";

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool ends_with_letters(std::string_view text, std::string_view letters) {
  return text.size() >= letters.size() &&
         std::equal(letters.rbegin(), letters.rend(), text.rbegin(),
                    [](char a, char b) { return a == lower(b); });
}

// Whether GitHub makes a link of what stands on both sides of this place: "http" and "://", "www"
// and ".", "#" and "1", "GH-" and "1".
bool makes_a_link(std::string_view before, std::string_view after) {
  if (after.starts_with("://")) return true;
  if (after.starts_with('.')) return ends_with_letters(before, "www");
  if (after.empty() || !is_word(after.front())) return false;
  return before.ends_with('#') || ends_with_letters(before, "gh-");
}

}  // namespace

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

std::string plain(std::string_view text, std::size_t most) {
  const std::string shown = cut(safe_for_terminal(text), most);
  std::string out;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const char c = shown[i];
    if (makes_a_link(std::string_view(shown).substr(0, i), std::string_view(shown).substr(i)))
      out += kUnseen;
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
        out += "@";
        out += kUnseen;
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
      case '$':
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
