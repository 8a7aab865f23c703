// Text in an HTML page: escaped for its place, so that a log can show anything and do nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_writer.h"

namespace unmask::html {

// For element content and for attribute values in double quotes. What has no shape of its own or
// reorders what stands around it becomes a visible stand-in, as on a terminal.
std::string escaped(std::string_view text);

// The same with line breaks and tabs kept.
std::string escaped_lines(std::string_view text);

// Valid JSON text for the inside of <script type="application/json">: the same value, with nothing
// that could end the element or be read as markup.
std::string script_json(std::string_view json);

// What stands between backticks is code, the rest plain; both escaped.
std::string with_code(std::string_view text);

// One field of a table. `pointer` is where the number stands in the JSON report (RFC 6901), `unit`
// how it is written there as text; both empty for words and for what JSON does not hold.
struct Field {
  std::string html;  // already escaped
  std::string pointer;
  std::string_view unit;
};

Field words(std::string_view text);  // escapes

struct Heading {
  std::string_view text;
  bool number = true;  // to the right
};

struct Rows {
  std::string_view caption;
  std::vector<Heading> columns;
  std::vector<std::vector<Field>> rows;  // (row, column); the first field of a row names it
};

// Empty text where there is no row.
std::string table(const Rows& rows);

// A folded part: <details> with its summary.
std::string folded(std::string_view summary, const std::string& inner, bool open = false);

std::string paragraph(const std::string& inner, std::string_view css_class = "");

}  // namespace unmask::html
