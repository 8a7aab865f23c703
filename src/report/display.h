// Columns on a terminal: how wide a text shows, cutting and wrapping it.
//
// All of it errs on the wide side: a character whose width differs between terminals counts as its
// widest, so that a line laid out here never wraps by itself.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace unmask {

// Columns of `text`, which must have passed safe_for_terminal (or be ours).
std::size_t display_width(std::string_view text);

// `text` cut to at most `columns`, the last of them "…" where something was cut off.
std::string fit(std::string_view text, std::size_t columns);

// `text` as lines of at most `columns`, broken at spaces; a longer word is broken where it must be.
// At least one line; columns 0 counts as 1.
std::vector<std::string> wrap(std::string_view text, std::size_t columns);

}  // namespace unmask
