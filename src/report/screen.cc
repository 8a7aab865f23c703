#include "report/screen.h"

#include <algorithm>
#include <optional>

#include "base/check.h"
#include "report/display.h"
#include "report/next_step.h"

namespace unmask {
namespace {

std::string_view code_of(Paint paint) {
  switch (paint) {
    case Paint::Plain:
      return "";
    case Paint::Strong:
      return "\x1b[1m";
    case Paint::Dim:
      return "\x1b[2m";
    case Paint::Good:
      return "\x1b[32m";
    case Paint::Warn:
      return "\x1b[33m";
    case Paint::Bad:
      return "\x1b[1;31m";
    case Paint::Baseline:
      return "\x1b[36m";
    case Paint::Candidate:
      return "\x1b[35m";
  }
  return "";
}

constexpr std::size_t kIndent = 2;
constexpr std::size_t kBetween = 2;
// Of a flexible column, before and after other columns were dropped.
constexpr std::size_t kNarrow = 24;
constexpr std::size_t kNarrowest = 8;

std::vector<std::size_t> natural_widths(const Table& table) {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    std::size_t width = display_width(table.columns[c].title);
    for (const std::vector<Span>& row : table.rows)
      width = std::max(width, display_width(row[c].text));
    widths.push_back(width);
  }
  return widths;
}

std::size_t total_width(const std::vector<std::size_t>& widths, const std::vector<bool>& shown) {
  std::size_t total = kIndent;
  bool first = true;
  for (std::size_t c = 0; c < widths.size(); ++c) {
    if (!shown[c]) continue;
    total += widths[c] + (first ? 0 : kBetween);
    first = false;
  }
  return total;
}

// Takes `excess` columns from the flexible ones, none below `least`. False: there was nothing to
// take.
bool narrow(const Table& table, const std::vector<bool>& shown, std::size_t excess,
            std::size_t least, std::vector<std::size_t>& widths) {
  for (std::size_t c = 0; c < widths.size(); ++c) {
    if (!shown[c] || !table.columns[c].flexible || widths[c] <= least) continue;
    widths[c] -= std::min(excess, widths[c] - least);
    return true;
  }
  return false;
}

bool drop_one(const Table& table, std::vector<bool>& shown) {
  std::optional<std::size_t> drop;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const int order = table.columns[c].drop_order;
    if (shown[c] && order > 0 && (!drop || order > table.columns[*drop].drop_order)) drop = c;
  }
  if (drop) shown[*drop] = false;
  return drop.has_value();
}

// Narrows flexible columns somewhat, drops columns, narrows more, until the table fits or nothing
// is left to give.
std::vector<bool> squeeze(const Table& table, std::vector<std::size_t>& widths, std::size_t limit) {
  std::vector<bool> shown(table.columns.size(), true);
  while (total_width(widths, shown) > limit) {
    const std::size_t excess = total_width(widths, shown) - limit;
    if (!narrow(table, shown, excess, kNarrow, widths) && !drop_one(table, shown) &&
        !narrow(table, shown, excess, kNarrowest, widths))
      break;
  }
  return shown;
}

Span padded(const Span& span, const Column& column, std::size_t width) {
  std::string text = fit(span.text, width);
  const std::string padding(width - std::min(width, display_width(text)), ' ');
  return {column.right ? padding + text : text + padding, span.paint};
}

}  // namespace

Screen::Screen(const TerminalStyle& style)
    : color_(style.color), width_(static_cast<std::size_t>(std::max(style.width, 1))) {}

void Screen::blank() {
  out_ += '\n';
}

void Screen::rule() {
  std::string text;
  for (std::size_t i = 0; i < width_; ++i) text += "─";
  line({{text, Paint::Dim}});
}

void Screen::heading(std::string_view text) {
  blank();
  line({{std::string(text), Paint::Strong}});
}

void Screen::line(const std::vector<Span>& spans) {
  std::size_t last = spans.size();  // no trailing spaces, coloured or not
  while (last > 0 && spans[last - 1].text.find_first_not_of(' ') == std::string::npos) --last;
  std::size_t total = 0;
  for (std::size_t i = 0; i < last; ++i) total += display_width(spans[i].text);
  const bool cut = total > width_;
  std::size_t room = width_;
  for (std::size_t i = 0; i < last; ++i) {
    std::string text = spans[i].text;
    if (i + 1 == last) text.erase(text.find_last_not_of(' ') + 1);
    // With more to come than fits, the span that reaches the edge ends in "…".
    const std::size_t width = display_width(text);
    const bool at_edge = cut && width >= room;
    if (at_edge) text = fit(text + "……", room);
    const std::string_view code = color_ ? code_of(spans[i].paint) : "";
    out_ += code;
    out_ += text;
    if (!code.empty()) out_ += "\x1b[0m";
    if (at_edge) break;
    room -= width;
  }
  out_ += '\n';
}

void Screen::paragraph(std::string_view lead, std::string_view text, Paint paint) {
  const std::size_t indent = display_width(lead);
  const std::size_t room = width_ > indent + 1 ? width_ - indent : 1;
  bool first = true;
  for (const std::string& part : wrap(text, room)) {
    line({{first ? std::string(lead) : std::string(indent, ' '), Paint::Plain}, {part, paint}});
    first = false;
  }
}

void Screen::command(const std::vector<std::string>& words) {
  for (const std::string& text : command_lines(words, width_)) line({{text}});
}

std::vector<bool> Screen::table(const Table& table) {
  for (const std::vector<Span>& row : table.rows) UNMASK_CHECK(row.size() == table.columns.size());
  std::vector<std::size_t> widths = natural_widths(table);
  const std::vector<bool> shown = squeeze(table, widths, width_);
  std::vector<Span> titles;
  for (const Column& column : table.columns) titles.push_back({column.title, Paint::Dim});
  const auto show = [&](const std::vector<Span>& row) {
    std::vector<Span> spans;
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (!shown[c]) continue;
      spans.push_back({std::string(spans.empty() ? kIndent : kBetween, ' ')});
      spans.push_back(padded(row[c], table.columns[c], widths[c]));
    }
    line(spans);
  };
  show(titles);
  for (const std::vector<Span>& row : table.rows) show(row);
  return shown;
}

}  // namespace unmask
