#include "report/html_spec.h"

#include <fmt/format.h>

#include "report/display.h"
#include "report/render.h"

namespace unmask::html {
namespace {

constexpr std::size_t kLabelColumns = 40;

std::string made_unique(const std::string& label, std::set<std::string>& used) {
  std::string unique = label;
  for (int i = 2; !used.insert(unique).second; ++i) unique = fmt::format("{} #{}", label, i);
  return unique;
}

}  // namespace

std::string filled(std::string_view pattern, std::initializer_list<Filling> fillings) {
  std::string out(pattern);
  for (const auto& [name, text] : fillings)
    for (std::size_t at = out.find(name); at != std::string::npos;
         at = out.find(name, at + text.size()))
      out.replace(at, name.size(), text);
  return out;
}

std::string tight_rule(bool known) {
  return known ? ",\n" + std::string(kTightRule) : std::string();
}

void write_ends(JsonWriter& json, const std::optional<Interval>& interval) {
  json.field("lo", interval ? std::optional<double>(interval->lo) : std::nullopt)
      .field("hi", interval ? std::optional<double>(interval->hi) : std::nullopt);
}

std::string id_of(std::string_view place, std::string_view name) {
  return fmt::format("{}-{}", place, name);
}

std::string arm_axis_label(const std::string& label, std::set<std::string>& used) {
  return made_unique(fit(safe_for_terminal(label), kLabelColumns), used);
}

std::string axis_label(const std::string& name, SubKind kind, std::set<std::string>& used) {
  const std::string label =
      fit(safe_for_terminal(name.empty() ? "(no name)" : name), kLabelColumns);
  return made_unique(label + fmt::format(" ({})", to_string(kind)), used);
}

}  // namespace unmask::html
