// The rule table: what each known error text of an environment means (docs/channels.md).
#pragma once

#include <string>
#include <string_view>

#include "failure/channel.h"

namespace unmask {

// One row. A pattern is matched against the whole text: `*` stands for any run of bytes, also none;
// letters match in either case; a leading "Error: " of the text is left out before matching.
struct TextRule {
  std::string_view domain;  // a built-in domain, or "*"
  std::string_view tool;    // a tool's name, or "*"
  std::string_view pattern;
  Channel channel;
  SubKind kind;
};

// An error text made ready for matching: lower case, without surrounding space and error prefixes,
// at most kLongestMatchedText bytes of it.
std::string normalized_error_text(std::string_view text);

inline constexpr std::size_t kLongestMatchedText = 4096;

// The first row that fits, or nullptr. `domain` is a base_domain(); `text` is normalized.
const TextRule* match_rule(std::string_view domain, std::string_view tool, std::string_view text);

// True when the environment says that the caller has no tool called `name`. `text` is normalized.
bool says_unknown_tool(std::string_view text, std::string_view name);

// True when a failed result is a fault of the harness or a timeout. `text` is normalized.
bool says_harness_fault(std::string_view text);

// Whole-text match of a pattern with `*`; both must already be in lower case.
bool glob_match(std::string_view pattern, std::string_view text);

}  // namespace unmask
