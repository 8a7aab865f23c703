// The audit of committed planted logs against the numbers an independent program found in them.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "audit.h"
#include "base/file.h"
#include "report/render.h"

namespace unmask {
namespace {

using Json = nlohmann::json;

bool same(const Json& expected, const Json& found) {
  if (!expected.is_number() || !found.is_number()) return expected == found;
  const double want = expected.get<double>();
  return std::abs(want - found.get<double>()) <= 1e-9 * std::max(1.0, std::abs(want));
}

Json cell_of(const std::string& name, int threads) {
  const std::string stem = std::string(UNMASK_TEST_DATA) + "/planted/" + name;
  AuditOptions options;
  options.compare.resamples = 200;  // no compared number comes from resampling
  options.compare.threads = threads;
  options.read.threads = threads;
  CellSources cell;
  cell.cell = name;
  cell.baseline.paths = {stem + "_baseline.json.gz"};
  cell.candidate.paths = {stem + "_candidate.json.gz"};
  const Result<AuditReport> report = audit({cell}, options);
  EXPECT_TRUE(report) << to_string(report.error());
  return report ? Json::parse(to_json(*report)).at("cells").at(0) : Json();
}

class Oracle : public testing::TestWithParam<const char*> {};

TEST_P(Oracle, AgreesOnEveryNumber) {
  const std::string name = GetParam();
  const Result<std::string> text =
      read_file(std::string(UNMASK_ORACLE) + "/expected/" + name + ".json");
  ASSERT_TRUE(text) << to_string(text.error());
  const Json expected = Json::parse(*text);
  const Json cell = cell_of(name, 2);
  ASSERT_GT(expected.size(), 250u);
  for (const auto& [pointer, value] : expected.items()) {
    const Json::json_pointer at(pointer);
    ASSERT_TRUE(cell.contains(at)) << pointer << " is absent";
    EXPECT_TRUE(same(value, cell.at(at)))
        << pointer << ": the oracle has " << value << ", unmask " << cell.at(at);
  }
}

INSTANTIATE_TEST_SUITE_P(PlantedLogs, Oracle, testing::Values("mixed", "damaged", "clean"),
                         [](const auto& pair) { return std::string(pair.param); });

}  // namespace
}  // namespace unmask
