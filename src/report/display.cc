#include "report/display.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "base/utf8.h"
#include "report/render.h"

namespace unmask {
namespace {

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};

// Two columns: East Asian Wide and Fullwidth (UAX 11), whole blocks where a block is mostly wide,
// and every pictograph, which terminals disagree about.
constexpr Range kWide[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23FA},
    {0x25FD, 0x25FE},   {0x2600, 0x27BF},   {0x2B1B, 0x2B1C},   {0x2B50, 0x2B55},
    {0x2E80, 0x303E},   {0x3040, 0xA4CF},   {0xA960, 0xA97F},   {0xAC00, 0xD7A3},
    {0xF900, 0xFAFF},   {0xFE10, 0xFE1F},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},
    {0xFFE0, 0xFFE6},   {0x16FE0, 0x1B2FF}, {0x1D300, 0x1D37F}, {0x1F000, 0x1FAFF},
    {0x20000, 0x3FFFF},
};

// No column: the combining marks met in practice. Those of rarer scripts count as one column.
constexpr Range kMarks[] = {
    {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x0610, 0x061A},
    {0x064B, 0x065F}, {0x1AB0, 0x1ACE}, {0x1DC0, 0x1DFF}, {0x20D0, 0x20F0},
    {0x302A, 0x302D}, {0x3099, 0x309A}, {0xFE20, 0xFE2F},
};

// Characters without a shape of their own that reorder, hide or join what stands around them, or
// end a line.
constexpr Range kInvisible[] = {
    {0x0080, 0x009F},   {0x00AD, 0x00AD},   {0x034F, 0x034F}, {0x061C, 0x061C}, {0x115F, 0x1160},
    {0x17B4, 0x17B5},   {0x180B, 0x180F},   {0x200B, 0x200F}, {0x2028, 0x202E}, {0x2060, 0x206F},
    {0x3164, 0x3164},   {0xFE00, 0xFE0E},   {0xFEFF, 0xFEFF}, {0xFFA0, 0xFFA0}, {0xFFF0, 0xFFFB},
    {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
};

template <std::size_t N>
bool is_in(std::uint32_t code_point, const Range (&ranges)[N]) {
  const Range* found =
      std::upper_bound(std::begin(ranges), std::end(ranges), code_point,
                       [](std::uint32_t value, const Range& range) { return value < range.first; });
  return found != std::begin(ranges) && code_point <= std::prev(found)->last;
}

std::size_t columns_of(std::uint32_t code_point) {
  if (code_point < 0x300) return 1;
  if (is_in(code_point, kMarks)) return 0;
  return is_in(code_point, kWide) ? 2 : 1;
}

// More marks than this on one character are no writing but a smear over the lines around it.
constexpr int kMostMarks = 3;

}  // namespace

std::string safe_for_terminal(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  int marks = 0;
  for (std::size_t i = 0; i < text.size();) {
    const Utf8Step step = decode_utf8(text, i);
    const std::uint32_t c = step.code_point;
    const std::string_view bytes = text.substr(i, step.length);
    i += step.length;
    marks = is_in(c, kMarks) ? marks + 1 : 0;
    if (c == '\r' && i < text.size() && text[i] == '\n') continue;
    if (c == '\n' || c == '\t')
      out += ' ';
    else if (c < 0x20)
      out +=
          fmt::format("\xE2\x90{}", static_cast<char>(0x80 + c));  // U+2400 + c, the picture of c
    else if (c == 0x7F)
      out += "\xE2\x90\xA1";
    else if (!step.valid || marks > kMostMarks)
      out += "\xEF\xBF\xBD";
    else if (is_in(c, kInvisible))
      out += fmt::format("<U+{:04X}>", c);
    else
      out += bytes;
  }
  return out;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < text.size();) {
    const Utf8Step step = decode_utf8(text, i);
    width += columns_of(step.code_point);
    i += step.length;
  }
  return width;
}

namespace {

// Bytes of the longest prefix of `text` at most `columns` wide, its marks included.
std::size_t prefix_within(std::string_view text, std::size_t columns) {
  std::size_t width = 0;
  std::size_t i = 0;
  while (i < text.size()) {
    const Utf8Step step = decode_utf8(text, i);
    width += columns_of(step.code_point);
    if (width > columns) break;
    i += step.length;
  }
  return i;
}

}  // namespace

std::string fit(std::string_view text, std::size_t columns) {
  if (display_width(text) <= columns) return std::string(text);
  if (columns == 0) return "";
  std::string out(text.substr(0, prefix_within(text, columns - 1)));
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out + "…";
}

std::vector<std::string> wrap(std::string_view text, std::size_t columns) {
  columns = std::max<std::size_t>(columns, 1);
  std::vector<std::string> lines;
  std::string line;
  std::size_t used = 0;
  std::size_t i = 0;
  while (i < text.size()) {
    const std::size_t begin = text.find_first_not_of(' ', i);
    if (begin == std::string_view::npos) break;
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    std::string_view word = text.substr(begin, end - begin);
    i = end;
    const std::size_t width = display_width(word);
    if (!line.empty() && used + 1 + width > columns) {
      lines.push_back(std::move(line));
      line.clear();
      used = 0;
    }
    while (line.empty() && display_width(word) > columns) {
      // One wide character may not fit a single column; it is then shown as "…".
      const std::size_t cut = prefix_within(word, columns);
      if (cut == 0) {
        lines.push_back("…");
        word.remove_prefix(decode_utf8(word, 0).length);
        continue;
      }
      lines.push_back(std::string(word.substr(0, cut)));
      word.remove_prefix(cut);
    }
    if (word.empty()) continue;
    if (!line.empty()) {
      line += ' ';
      ++used;
    }
    line += word;
    used += display_width(word);
  }
  if (!line.empty() || lines.empty()) lines.push_back(std::move(line));
  return lines;
}

}  // namespace unmask
