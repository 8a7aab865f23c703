// Text and tables in Markdown, shared by the reports written in it.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "report/audit_report.h"

namespace unmask {

// GitHub's limit for a comment is 65,536 characters; GitLab's is larger.
inline constexpr std::size_t kMarkdownBytes = 65000;

// At most so many bytes, whole characters; what is longer ends in "…".
std::string cut(std::string text, std::size_t most);

// Text of a log or a user as Markdown that shows exactly that text: no markup, mathematics, HTML,
// and no link, mention or reference to an issue either, which GitHub makes of bare text: a
// zero-width space, which nobody sees, keeps it from that. What is longer than `most` bytes, by
// default a page's line or two, is cut.
std::string plain(std::string_view text, std::size_t most = 600);
// What stands between backticks is code, the rest plain.
std::string with_code(std::string_view text);

std::string markdown_row(std::initializer_list<std::string> cells);
std::string markdown_row(const std::vector<std::string>& cells);
std::string folded(const std::string& summary, const std::string& body);

// Version, seed, resamples and command, small.
std::string markdown_footer(const Provenance& provenance);

}  // namespace unmask
