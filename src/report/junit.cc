#include "report/junit.h"

#include <fmt/format.h>

#include "base/utf8.h"
#include "report/numbers.h"

namespace unmask {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// XML 1.0, production Char.
bool is_xml_character(std::uint32_t c) {
  return c == 0x9 || c == 0xA || c == 0xD || (c >= 0x20 && c <= 0xD7FF) ||
         (c >= 0xE000 && c <= 0xFFFD) || (c >= 0x10000 && c <= 0x10FFFF);
}

std::string joined(const std::vector<std::string>& sentences) {
  std::string text;
  for (const std::string& sentence : sentences) text += typeset(sentence) + "\n";
  return text;
}

struct Tally {
  std::size_t tests = 0;
  std::size_t failures = 0;
  std::size_t skipped = 0;

  void count(GateStatus status) {
    ++tests;
    failures += status == GateStatus::Fail;
    skipped += status == GateStatus::Inconclusive;
  }
  std::string attributes() const {
    return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\" time=\"0\"", tests,
                       failures, skipped);
  }
};

std::string case_of(const GatePart& part, const std::string& cell) {
  std::string out = fmt::format("    <testcase classname=\"unmask.{}\" name=\"{}\" time=\"0\">\n",
                                xml_text(cell), xml_text(part.name));
  const std::string text = xml_text(joined(part.sentences));
  const std::string message =
      part.sentences.empty() ? "" : xml_text(typeset(part.sentences.front()));
  if (part.status == GateStatus::Fail)
    out += fmt::format("      <failure type=\"gate\" message=\"{}\">{}</failure>\n", message, text);
  else if (part.status == GateStatus::Inconclusive)
    out += fmt::format("      <skipped message=\"{}\"/>\n", message);
  if (part.status != GateStatus::Fail && !text.empty())
    out += fmt::format("      <system-out>{}</system-out>\n", text);
  return out + "    </testcase>\n";
}

std::string property(std::string_view name, std::string_view value) {
  return fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", xml_text(name),
                     xml_text(value));
}

// Where no test of the audit can find anything, its cases say less than they seem to.
std::string properties_of_warnings(const std::vector<Warning>& warnings) {
  std::string out;
  for (const Warning& warning : warnings)
    if (warning.code == "resamples_too_few") out += property(warning.code, warning.message);
  return out;
}

std::string suite_of(const AuditedCell& cell, const CellGate& gate, const GateCriteria& criteria,
                     const AuditReport& report, Tally& all) {
  const Provenance& provenance = report.provenance;
  const CellComparison& c = cell.comparison;
  Tally tally;
  std::string cases;
  for (const GatePart& part : gate_parts(c, cell.judgement, gate)) {
    tally.count(part.status);
    all.count(part.status);
    cases += case_of(part, c.cell);
  }
  return fmt::format("  <testsuite name=\"{}\" {}>\n    <properties>\n", xml_text(c.cell),
                     tally.attributes()) +
         property("verdict", to_string(cell.judgement.verdict)) +
         property("gate", to_string(gate.status)) + property("criteria", criteria.name) +
         property("baseline", c.baseline.label) + property("candidate", c.candidate.label) +
         property("unmask", provenance.version) +
         property("seed", std::to_string(provenance.seed)) +
         properties_of_warnings(report.warnings) + "    </properties>\n" + cases +
         "  </testsuite>\n";
}

}  // namespace

std::string xml_text(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const Utf8Step step = decode_utf8(text, i);
    const std::string_view bytes = text.substr(i, step.length);
    i += step.length;
    if (!step.valid || !is_xml_character(step.code_point))
      out += kReplacement;
    else if (bytes == "&")
      out += "&amp;";
    else if (bytes == "<")
      out += "&lt;";
    else if (bytes == ">")
      out += "&gt;";
    else if (bytes == "\"")
      out += "&quot;";
    else if (bytes == "\t" || bytes == "\n" || bytes == "\r")
      // As they are, an attribute would have spaces in their place.
      out += fmt::format("&#{};", step.code_point);
    else
      out += bytes;
  }
  return out;
}

std::string to_junit(const AuditReport& report) {
  const GateCriteria criteria = report.gate ? report.gate->criteria : GateCriteria{};
  Tally all;
  std::string suites;
  for (std::size_t i = 0; i < report.cells.size(); ++i) {
    const AuditedCell& cell = report.cells[i];
    const CellGate gate = report.gate ? report.gate->cells.at(i)
                                      : gate_of_cell(cell.comparison, cell.judgement, criteria);
    suites += suite_of(cell, gate, criteria, report, all);
  }
  return fmt::format(
             "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"unmask\" {}>\n",
             all.attributes()) +
         suites + "</testsuites>\n";
}

}  // namespace unmask
