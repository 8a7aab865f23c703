// The JSON contract and Markdown.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "base/file.h"
#include "base/utf8.h"
#include "report/numbers.h"
#include "report/render.h"
#include "report/report_samples.h"

namespace unmask {
namespace {

using nlohmann::json;

json schema_named(const std::string& name) {
  const Result<std::string> text =
      read_file(std::string(UNMASK_TEST_DATA) + "/../../docs/schema/" + name);
  return text ? json::parse(*text) : json();
}

// Empty: valid; else the first complaint.
std::string complaint(const std::string& schema_name, const json& document) {
  const json schema_text = schema_named(schema_name);
  if (schema_text.is_null()) return "no schema " + schema_name;
  valijson::Schema schema;
  valijson::SchemaParser parser;
  const valijson::adapters::NlohmannJsonAdapter schema_adapter(schema_text);
  parser.populateSchema(schema_adapter, schema);
  valijson::Validator validator;
  valijson::ValidationResults results;
  const valijson::adapters::NlohmannJsonAdapter adapter(document);
  if (validator.validate(schema, adapter, &results)) return "";
  valijson::ValidationResults::Error error;
  std::string text = "invalid";
  while (results.popError(error)) {
    text += "\n";
    for (const std::string& step : error.context) text += step;
    text += ": " + error.description;
  }
  return text;
}

TEST(JsonContract, HoldsForEveryVerdictAndAGrid) {
  EXPECT_EQ(complaint("audit.schema.json", json::parse(to_json(sample_grid()))), "");
}

TEST(JsonContract, HoldsForAReportWithNothingInIt) {
  EXPECT_EQ(complaint("audit.schema.json", json::parse(to_json(AuditReport{}))), "");
}

TEST(JsonContract, HoldsForOneArm) {
  EXPECT_EQ(complaint("inspect.schema.json", json::parse(to_json(sample_inspect()))), "");
}

TEST(JsonContract, HoldsForHostileTexts) {
  for (const std::string& text : hostile_texts()) {
    EXPECT_EQ(complaint("audit.schema.json", json::parse(to_json(hostile_audit(text)))), "");
    EXPECT_EQ(complaint("inspect.schema.json", json::parse(to_json(hostile_inspect(text)))), "");
  }
}

TEST(JsonContract, TheSchemaNoticesWhatIsMissingOrOutOfRange) {
  json document = json::parse(to_json(sample_audit()));
  document["cells"][0].erase("verdict");
  EXPECT_NE(complaint("audit.schema.json", document), "");
  document = json::parse(to_json(sample_audit()));
  document["cells"][0]["baseline"]["success"]["rate"] = 66.7;
  EXPECT_NE(complaint("audit.schema.json", document), "");
  document = json::parse(to_json(sample_inspect()));
  document["channels"].erase("entity");
  EXPECT_NE(complaint("inspect.schema.json", document), "");
}

// The names and order DESIGN gives; nlohmann's ordered variant keeps the order of the text.
std::vector<std::string> keys_of(const nlohmann::ordered_json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

bool has_in_order(const std::vector<std::string>& keys, const std::vector<std::string>& expected) {
  std::size_t at = 0;
  for (const std::string& key : keys)
    if (at < expected.size() && key == expected[at]) ++at;
  return at == expected.size();
}

TEST(JsonContract, KeepsTheDocumentedOrder) {
  const auto inspect = nlohmann::ordered_json::parse(to_json(sample_inspect()));
  EXPECT_TRUE(has_in_order(keys_of(inspect),
                           {"schema", "arm", "episodes", "success", "calls", "channels", "budget",
                            "recovery", "names", "length", "screen", "warnings", "provenance"}));
  EXPECT_EQ(inspect["schema"], "unmask.inspect/1");
  const auto audit = nlohmann::ordered_json::parse(to_json(sample_audit()));
  EXPECT_EQ(audit["schema"], "unmask.audit/1");
  EXPECT_TRUE(has_in_order(keys_of(audit), {"schema", "cells", "warnings", "provenance"}));
  EXPECT_TRUE(has_in_order(
      keys_of(audit["cells"][0]),
      {"cell", "baseline", "candidate", "paired", "outcome", "channels", "budget", "recovery",
       "names", "flags", "verdict", "flatness", "fragile", "fragile_by", "reasons", "needed"}));
  EXPECT_TRUE(has_in_order(
      keys_of(audit["cells"][0]["channels"]["tool_name"]),
      {"baseline", "candidate", "amplification", "amplification_ci95", "volume", "per_other_call",
       "difference", "difference_ci95", "p", "p_holm", "amplified", "new"}));
}

TEST(JsonContract, CarriesTheNumbersAsProportions) {
  const json cell = json::parse(to_json(sample_audit()))["cells"][0];
  EXPECT_EQ(cell["outcome"]["delta"], -0.013);
  EXPECT_EQ(cell["outcome"]["tost"]["margin"], 0.075);
  EXPECT_EQ(cell["budget"]["unmasked_gap"]["value"], 0.154);
  EXPECT_EQ(cell["budget"]["unmasked_gap"]["agent_only"]["value"], 0.15);
  EXPECT_EQ(cell["budget"]["gap"][2]["k"], 2);
  EXPECT_EQ(cell["channels"]["tool_name"]["candidate"], 0.383);
  EXPECT_EQ(cell["verdict"], "masked");
  EXPECT_EQ(cell["flatness"], "equivalent");
}

TEST(JsonContract, TellsOfRepairOnlyWhereACallWasHandedBack) {
  InspectReport report = sample_inspect();
  EXPECT_FALSE(json::parse(to_json(report)).contains("repair"));
  EXPECT_EQ(to_markdown(report).find("Repair"), std::string::npos);
  report.arm.repair = {40, 30, 6, 4};
  EXPECT_EQ(json::parse(to_json(report))["repair"],
            json::parse(R"({"refused": 40, "repaired": 30, "unrepaired": 6, "withdrawn": 4})"));
  EXPECT_NE(to_markdown(report).find("40 calls handed back before running"), std::string::npos);
  EXPECT_FALSE(json::parse(to_json(report))["failures"][0].contains("repair"));
  report.failures.at(0).call.repair = Repair::Withdrawn;
  EXPECT_EQ(json::parse(to_json(report))["failures"][0]["repair"], "withdrawn");
  AuditReport audit = sample_audit();
  EXPECT_EQ(to_markdown(audit).find("Repair"), std::string::npos);
  audit.cells[0].comparison.candidate.repair = {1, 1, 0, 0};
  EXPECT_NE(to_markdown(audit).find("Repair: none (baseline); 1 call handed back"),
            std::string::npos);
}

TEST(JsonContract, WritesUndefinedAsNullNeverZero) {
  const json arm = json::parse(to_json(InspectReport{}));
  EXPECT_TRUE(arm["success"]["rate"].is_null());
  EXPECT_TRUE(arm["success"]["ci95"].is_null());
  EXPECT_TRUE(arm["arm"]["max_errors"].is_null());
  EXPECT_TRUE(arm["budget"]["k0"].is_null());
  EXPECT_TRUE(arm["budget"]["error_quantiles"]["50"].is_null());
  EXPECT_TRUE(arm["recovery"]["rate"].is_null());
  EXPECT_TRUE(arm["length"]["steps_mean"].is_null());
  AuditReport bare;
  bare.cells.emplace_back();
  const json cell = json::parse(to_json(bare))["cells"][0];
  EXPECT_TRUE(cell["outcome"]["delta"].is_null());
  EXPECT_TRUE(cell["outcome"]["tost"].is_null());
  EXPECT_TRUE(cell["budget"]["unmasked_gap"]["value"].is_null());
  EXPECT_TRUE(cell["recovery"]["equivalent"].is_null());
  EXPECT_TRUE(cell["names"]["spearman"].is_null());
  EXPECT_TRUE(cell["needed"].is_null());
  EXPECT_TRUE(cell["flatness"].is_null());
}

TEST(JsonContract, WritesWhatIsNotFiniteAsNull) {
  AuditReport report = sample_audit();
  ChannelComparison& channel = report.cells[0].comparison.channels[Channel::ToolName];
  channel.amplification_ci95 = Interval{1.5, INFINITY};
  channel.volume = NAN;
  const json document = json::parse(to_json(report));
  EXPECT_EQ(complaint("audit.schema.json", document), "");
  const json read = document["cells"][0]["channels"]["tool_name"];
  EXPECT_EQ(read["amplification_ci95"][0], 1.5);
  EXPECT_TRUE(read["amplification_ci95"][1].is_null());
  EXPECT_TRUE(read["volume"].is_null());
}

TEST(JsonContract, KeepsA64BitSeed) {
  const json read = json::parse(to_json(sample_audit()));
  EXPECT_EQ(read["provenance"]["seed"].get<std::uint64_t>(), 18446744073709551615u);
}

TEST(JsonContract, PrintsNothingATerminalObeysAndStillMeansTheSameText) {
  for (const std::string& text : hostile_texts()) {
    const std::string written = to_json(hostile_inspect(text));
    for (const char c : written)
      ASSERT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20) << text;
    ASSERT_EQ(written.find("\xC2\x9B"), std::string::npos);
    ASSERT_EQ(written.find("\xE2\x80\xAE"), std::string::npos);
    EXPECT_EQ(json::parse(written)["failures"][0]["name"], to_utf8(text));
  }
}

TEST(Renderings, AreTheSameBytesForTheSameReport) {
  EXPECT_EQ(to_json(sample_grid()), to_json(sample_grid()));
  EXPECT_EQ(to_markdown(sample_grid()), to_markdown(sample_grid()));
  EXPECT_EQ(to_terminal(sample_grid(), {true, 80}), to_terminal(sample_grid(), {true, 80}));
}

// Unescaped pipes of a table row.
long pipes(const std::string& line) {
  long n = 0;
  for (std::size_t i = 0; i < line.size(); ++i)
    if (line[i] == '|' && (i == 0 || line[i - 1] != '\\')) ++n;
  return n;
}

TEST(Markdown, TablesKeepTheirShapeWhateverTheNamesAre) {
  for (const std::string& text : hostile_texts()) {
    std::istringstream in(to_markdown(hostile_audit(text)));
    long columns = 0;
    for (std::string line; std::getline(in, line);) {
      const bool table = !line.empty() && line[0] == '|';
      if (table && columns > 0) {
        ASSERT_EQ(pipes(line), columns) << line;
      }
      columns = table ? pipes(line) : 0;
    }
  }
}

TEST(Markdown, ShowsMarkupOfTheLogAsText) {
  const std::string text = "<script>alert(1)</script> @everyone [x](http://y) **b**";
  for (const std::string& page :
       {to_markdown(hostile_audit(text)), to_markdown(hostile_inspect(text))}) {
    EXPECT_EQ(page.find("<script"), std::string::npos);
    EXPECT_EQ(page.find("@everyone"), std::string::npos);
    EXPECT_EQ(page.find("[x]("), std::string::npos);
    EXPECT_EQ(page.find("**b**"), std::string::npos);
    EXPECT_NE(page.find("&lt;script&gt;"), std::string::npos);
  }
}

TEST(Markdown, SaysTheVerdictFirstAndIsShort) {
  const std::string page = to_markdown(sample_audit());
  EXPECT_EQ(page.rfind("### MASKED: gemma dense telecom INT4\n", 0), 0u);
  EXPECT_LT(page.size(), 6000u);
}

TEST(Numbers, HaveOneForm) {
  EXPECT_EQ(percent(0.195), "19.5%");
  EXPECT_EQ(percent(0), "0.0%");
  EXPECT_EQ(percent(0.0001), "<0.1%");
  EXPECT_EQ(percent(std::nullopt), "–");
  EXPECT_EQ(fine_percent(3.0 / 1646), "0.18%");
  EXPECT_EQ(fine_percent(0.0), "0.0%");
  EXPECT_EQ(fine_percent(0.012), "1.2%");
  EXPECT_EQ(fine_percent(0.00003), "<0.1%");
  EXPECT_EQ(in_points(-0.013), "−1.3");
  EXPECT_EQ(in_points(0.013), "+1.3");
  EXPECT_EQ(in_points(0.075, false), "7.5");
  EXPECT_EQ(in_points(-0.0625), "−6.3");  // half away from zero
  EXPECT_EQ(in_points(-0.0001), "0.0");
  EXPECT_EQ(ratio(1.9641), "1.96");
  EXPECT_EQ(ratio(INFINITY), ">999");
  EXPECT_EQ(p_value(0.0004), "<0.001");
  EXPECT_EQ(p_value(0.04567), "0.0457");
  EXPECT_EQ(p_value(1), "1");
  EXPECT_EQ(rounded(34484.4), "34,484");
  EXPECT_EQ(rounded(1.23e12), "1.2e+12");
  EXPECT_EQ(decimal(1e300, 4), "1.0e+300");
  EXPECT_EQ(decimal(-1e300, 1), "−1.0e+300");
  EXPECT_EQ(decimal(999999999.4, 1), "999999999.4");
  EXPECT_EQ(rounded(NAN), "–");
  EXPECT_EQ(points_interval(Interval{-0.05, 0.024}), "[−5.0, +2.4]");
}

TEST(Numbers, OfOtherRoomsAreSetTheSameWay) {
  EXPECT_EQ(typeset("changes by -1.3 points (95 % interval -5.0 to +2.4)"),
            "changes by −1.3 points (95% interval −5.0 to +2.4)");
  EXPECT_EQ(typeset("gpt-4 100 % of q4-0 a - b"), "gpt-4 100% of q4-0 a - b");
}

}  // namespace
}  // namespace unmask
