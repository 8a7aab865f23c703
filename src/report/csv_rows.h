// Writing a table row by row. Internal to the csv_*.cc files.
#pragma once

#include <concepts>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "base/json_writer.h"
#include "report/csv.h"
#include "stats/interval.h"

namespace unmask {

class CsvRows {
 public:
  explicit CsvRows(std::initializer_list<std::string_view> columns) {
    for (const std::string_view column : columns) add_field(std::string(column));
    end();
  }

  CsvRows& text(std::string_view value) { return add_field(csv_text(value)); }
  CsvRows& number(double value) { return add_field(json_finite(value)); }
  template <std::integral T>
  CsvRows& number(T value) {
    return add_field(std::to_string(value));
  }
  CsvRows& flag(bool value) { return add_field(value ? "true" : "false"); }
  CsvRows& empty() { return add_field(""); }

  template <typename T>
  CsvRows& number(const std::optional<T>& value) {
    return value ? number(*value) : empty();
  }
  CsvRows& flag(const std::optional<bool>& value) { return value ? flag(*value) : empty(); }
  CsvRows& interval(const std::optional<Interval>& value) {
    return value ? number(value->lo).number(value->hi) : empty().empty();
  }

  void end() {
    out_ += '\n';
    first_ = true;
  }
  std::string take() { return std::move(out_); }

 private:
  static std::string json_finite(double value);
  CsvRows& add_field(const std::string& field) {
    if (!first_) out_ += ',';
    first_ = false;
    out_ += field;
    return *this;
  }

  std::string out_;
  bool first_ = true;
};

// The tables both commands have.
std::string episodes_table(const std::vector<const Arm*>& arms);
std::string calls_table(const std::vector<const Arm*>& arms);

}  // namespace unmask
