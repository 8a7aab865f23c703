#include "report/html_fields.h"

#include <fmt/format.h>

#include <utility>

#include "report/numbers.h"

namespace unmask::html {
namespace {

std::string or_absent(const std::string& text) {
  return text.empty() ? kAbsent : text;
}

Field number(const std::string& text, std::string pointer, std::string_view unit) {
  return {escaped(text), std::move(pointer), unit};
}

// `digits` from 1 to 4.
std::string_view decimal_unit(int digits) {
  constexpr std::string_view kUnits[] = {"decimal1", "decimal2", "decimal3", "decimal4"};
  return kUnits[digits - 1];
}

}  // namespace

Field percent_field(std::optional<double> value, std::string pointer) {
  return number(percent(value), std::move(pointer), "percent");
}

Field points_field(std::optional<double> value, std::string pointer) {
  return number(in_points(value), std::move(pointer), "points");
}

Field ratio_field(std::optional<double> value, std::string pointer) {
  return number(ratio(value), std::move(pointer), "ratio");
}

Field p_field(std::optional<double> value, std::string pointer) {
  return number(p_value(value), std::move(pointer), "p");
}

Field count_field(long value, std::string pointer) {
  return number(count_text(value), std::move(pointer), "count");
}

Field decimal_field(std::optional<double> value, int digits, std::string pointer) {
  if (digits == 0) return number(rounded(value), std::move(pointer), "count");
  return number(decimal(value, digits), std::move(pointer), decimal_unit(digits));
}

Field word_field(std::string_view word, std::string pointer) {
  return {escaped(word), std::move(pointer), "word"};
}

Field decimal_interval_field(const std::optional<Interval>& interval, int digits,
                             std::string pointer) {
  const std::string text = !interval ? kAbsent
                                     : fmt::format("[{}, {}]", decimal(interval->lo, digits),
                                                   decimal(interval->hi, digits));
  return number(text, std::move(pointer), decimal_unit(digits));
}

Field percent_interval_field(const std::optional<Interval>& interval, std::string pointer) {
  return number(or_absent(percent_interval(interval)), std::move(pointer), "percent");
}

Field points_interval_field(const std::optional<Interval>& interval, std::string pointer) {
  return number(or_absent(points_interval(interval)), std::move(pointer), "points");
}

Field ratio_interval_field(const std::optional<Interval>& interval, std::string pointer) {
  return number(or_absent(ratio_interval(interval)), std::move(pointer), "ratio");
}

std::string inline_field(const Field& field) {
  return fmt::format("<span data-json=\"{}\" data-unit=\"{}\">{}</span>", field.pointer, field.unit,
                     field.html);
}

Field joined(const Field& first, std::string_view between, const Field& second) {
  std::string html = inline_field(first);
  if (second.html != kAbsent) html += std::string(between) + inline_field(second);
  return {html, "", ""};
}

}  // namespace unmask::html
