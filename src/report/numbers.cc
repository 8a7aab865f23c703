#include "report/numbers.h"

#include <fmt/format.h>

#include <cmath>

namespace unmask {
namespace {

constexpr const char* kMinus = "−";

// `value` with `digits` decimals and U+2212; never "−0.0".
std::string fixed(double value, int digits, bool with_sign = false) {
  // Half away from zero, as people round, not half to even.
  const double scale = std::pow(10.0, digits);
  const double scaled = std::fabs(value) * scale;
  const double rounded = scaled < 1e15 ? std::round(scaled) / scale : std::fabs(value);
  std::string text = fmt::format("{:.{}f}", rounded, digits);
  const bool zero = text.find_first_not_of("0.") == std::string::npos;
  if (zero) return text;
  if (value < 0) return kMinus + text;
  return with_sign ? "+" + text : text;
}

// From here on digits say less than the size: "1.2e+12".
constexpr double kMostWritten = 1e9;

std::string by_size(double value) {
  return (value < 0 ? kMinus : "") + fmt::format("{:.1e}", std::fabs(value));
}

template <typename Format>
std::string bracketed(const std::optional<Interval>& interval, Format format) {
  if (!interval) return "";
  return "[" + format(interval->lo) + ", " + format(interval->hi) + "]";
}

}  // namespace

std::string percent(std::optional<double> proportion) {
  if (!proportion || !std::isfinite(*proportion)) return kAbsent;
  const double value = points(*proportion);
  if (value > 0 && value < 0.05) return "<0.1%";
  return fixed(value, 1) + "%";
}

std::string fine_percent(std::optional<double> proportion) {
  if (!proportion || *proportion < 0.0001 || *proportion >= 0.01) return percent(proportion);
  return decimal(100 * *proportion, 2) + "%";
}

std::string in_points(std::optional<double> proportion, bool with_sign) {
  if (!proportion || !std::isfinite(*proportion)) return kAbsent;
  return fixed(points(*proportion), 1, with_sign);
}

std::string ratio(std::optional<double> value) {
  if (!value || std::isnan(*value)) return kAbsent;
  if (*value > 999) return ">999";
  return fixed(*value, 2);
}

std::string p_value(std::optional<double> p) {
  if (!p || !std::isfinite(*p)) return kAbsent;
  if (*p < 0.001) return "<0.001";
  return fmt::format("{:.3g}", *p);
}

std::string decimal(std::optional<double> value, int digits) {
  if (!value || !std::isfinite(*value)) return kAbsent;
  if (std::fabs(*value) >= kMostWritten) return by_size(*value);
  return fixed(*value, digits);
}

std::string percent_interval(const std::optional<Interval>& interval) {
  return bracketed(interval, [](double v) { return percent(v); });
}

std::string points_interval(const std::optional<Interval>& interval) {
  return bracketed(interval, [](double v) { return in_points(v); });
}

std::string ratio_interval(const std::optional<Interval>& interval) {
  return bracketed(interval, [](double v) { return ratio(v); });
}

std::string percent_estimate(const Estimate& estimate) {
  const std::string interval = percent_interval(estimate.ci95);
  return percent(estimate.value) + (interval.empty() ? "" : " " + interval);
}

std::string rounded(std::optional<double> value) {
  if (!value || !std::isfinite(*value)) return kAbsent;
  if (std::fabs(*value) >= kMostWritten) return by_size(*value);
  return count_text(std::lround(*value));
}

std::string typeset(std::string_view sentence) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::string out;
  for (std::size_t i = 0; i < sentence.size(); ++i) {
    const char before = i > 0 ? sentence[i - 1] : ' ';
    const char after = i + 1 < sentence.size() ? sentence[i + 1] : ' ';
    const bool starts = before == ' ' || before == '(' || before == '[';
    if (sentence[i] == '-' && starts && is_digit(after))
      out += kMinus;
    else if (sentence[i] != ' ' || after != '%' || !is_digit(before))
      out += sentence[i];
  }
  return out;
}

}  // namespace unmask
