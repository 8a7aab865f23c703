#include "report/html_text.h"

#include <fmt/format.h>

#include "report/json_parts.h"
#include "report/render.h"

namespace unmask::html {
namespace {

void append_escaped(std::string& out, std::string_view text) {
  for (const char c : text) {
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
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
}

std::string field_html(const Field& field, bool names_the_row, bool number) {
  std::string attributes = number ? " class=\"n\"" : "";
  if (!field.pointer.empty())
    attributes += fmt::format(" data-json=\"{}\" data-unit=\"{}\"", field.pointer, field.unit);
  if (names_the_row) return fmt::format("<th scope=\"row\"{}>{}</th>", attributes, field.html);
  return fmt::format("<td{}>{}</td>", attributes, field.html);
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  append_escaped(out, safe_for_terminal(text));
  return out;
}

std::string escaped_lines(std::string_view text) {
  std::string out;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] != '\n' && text[i] != '\t') continue;
    append_escaped(out, safe_for_terminal(text.substr(begin, i - begin)));
    if (i < text.size()) out += text[i];
    begin = i + 1;
  }
  return out;
}

std::string script_json(std::string_view json) {
  std::string out;
  for (const char c : escape_invisible(json)) {
    // These stand inside strings only.
    if (c == '<' || c == '>' || c == '&')
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out;
}

std::string with_code(std::string_view text) {
  std::string out;
  bool code = false;
  while (true) {
    const std::size_t end = text.find('`');
    const std::string part = escaped(text.substr(0, end));
    const bool closed = end != std::string_view::npos;
    out += code && closed ? "<code>" + part + "</code>" : part;
    if (!closed) return out;
    text.remove_prefix(end + 1);
    code = !code;
  }
}

Field words(std::string_view text) {
  return {escaped(text), "", ""};
}

std::string table(const Rows& rows) {
  if (rows.rows.empty()) return "";
  std::string out =
      "<div class=\"scroll\"><table><caption>" + escaped(rows.caption) + "</caption><thead><tr>";
  for (const Heading& column : rows.columns)
    out += fmt::format("<th scope=\"col\"{}>{}</th>", column.number ? " class=\"n\"" : "",
                       escaped(column.text));
  out += "</tr></thead><tbody>\n";
  for (const std::vector<Field>& row : rows.rows) {
    out += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i)
      out += field_html(row[i], i == 0, i < rows.columns.size() && rows.columns[i].number);
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string folded(std::string_view summary, const std::string& inner, bool open) {
  if (inner.empty()) return "";
  return fmt::format("<details{}><summary>{}</summary>{}</details>\n", open ? " open" : "",
                     escaped(summary), inner);
}

std::string paragraph(const std::string& inner, std::string_view css_class) {
  if (inner.empty()) return "";
  return css_class.empty() ? fmt::format("<p>{}</p>\n", inner)
                           : fmt::format("<p class=\"{}\">{}</p>\n", css_class, inner);
}

}  // namespace unmask::html
