// Texts and tables as Markdown. Internal to report.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace unmask {

// Text of a log or a user as Markdown that shows exactly that text: no markup, link, mention or
// HTML.
std::string markdown_plain(std::string_view text);

// One row of a table, with its newline.
std::string markdown_row(std::initializer_list<std::string> cells);

// A section that opens on a click.
std::string markdown_folded(const std::string& summary, const std::string& body);

}  // namespace unmask
