#include "app/gate_toml.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace unmask {
namespace {

GateCriteria criteria_of(const std::string& toml) {
  const Result<GateCriteria> criteria = parse_gate(toml, "gate.toml");
  EXPECT_TRUE(criteria.has_value()) << (criteria ? "" : to_string(criteria.error()));
  return criteria ? *criteria : GateCriteria{};
}

std::string complaint(const std::string& toml) {
  const Result<GateCriteria> criteria = parse_gate(toml, "gate.toml");
  EXPECT_FALSE(criteria.has_value()) << toml;
  return criteria ? "" : to_string(criteria.error());
}

TEST(GateToml, AnEmptyFileIsTheDefaultCriteria) {
  const GateCriteria criteria = criteria_of("");
  EXPECT_EQ(criteria.name, "gate.toml");
  EXPECT_EQ(criteria.fail, GateCriteria{}.fail);
  EXPECT_EQ(criteria.inconclusive, GateStatus::Inconclusive);
  EXPECT_EQ(criteria.basis, GateBasis::Estimate);
  EXPECT_TRUE(criteria.max_amplification.empty());
}

TEST(GateToml, ReadsEveryKeyAndLeavesPointsAndPercentBehind) {
  const GateCriteria criteria = criteria_of(R"(
fail = ["degraded", "degraded+masked"]
inconclusive = "fail"
ungraded = "pass"
fragile = "fail"
incomplete = "pass"
basis = "confidence"
require_equivalence = true
min_success_tight_percent = 60
min_tasks = 100
min_trials = 3
min_episodes = 300
[max_amplification]
tool_name = 1.5
schema = 2
[max_increase_points]
malformed = 0.5
)");
  EXPECT_EQ(criteria.fail, (std::set<Verdict>{Verdict::Degraded, Verdict::DegradedAndMasked}));
  EXPECT_EQ(criteria.inconclusive, GateStatus::Fail);
  EXPECT_EQ(criteria.ungraded, GateStatus::Pass);
  EXPECT_EQ(criteria.fragile, GateStatus::Fail);
  EXPECT_EQ(criteria.incomplete, GateStatus::Pass);
  EXPECT_EQ(criteria.basis, GateBasis::Confidence);
  EXPECT_TRUE(criteria.require_equivalence);
  EXPECT_DOUBLE_EQ(*criteria.min_success_tight, 0.6);
  EXPECT_EQ(criteria.min_tasks, 100);
  EXPECT_EQ(criteria.min_trials, 3);
  EXPECT_EQ(criteria.min_episodes, 300);
  EXPECT_DOUBLE_EQ(criteria.max_amplification.at(Channel::ToolName), 1.5);
  EXPECT_DOUBLE_EQ(criteria.max_amplification.at(Channel::Schema), 2);
  EXPECT_DOUBLE_EQ(criteria.max_increase.at(Channel::Malformed), 0.005);
}

// The texts of ```toml blocks.
std::vector<std::string> toml_blocks(const std::string& path) {
  const Result<std::string> page = read_file(path);
  EXPECT_TRUE(page.has_value()) << path;
  std::vector<std::string> blocks;
  const std::string begin = "```toml\n";
  for (std::size_t at = page->find(begin); at != std::string::npos; at = page->find(begin, at)) {
    at += begin.size();
    blocks.push_back(page->substr(at, page->find("```", at) - at));
  }
  return blocks;
}

TEST(GateToml, TheFilesOfTheDocumentationAreCriteria) {
  const std::string docs = UNMASK_DOCS;
  const std::vector<std::string> blocks = toml_blocks(docs + "/gate.md");
  ASSERT_EQ(blocks.size(), 2u);
  // The first says what the defaults are.
  const GateCriteria stated = criteria_of(blocks[0]);
  const GateCriteria defaults;
  EXPECT_EQ(stated.fail, defaults.fail);
  EXPECT_EQ(stated.inconclusive, defaults.inconclusive);
  EXPECT_EQ(stated.ungraded, defaults.ungraded);
  EXPECT_EQ(stated.fragile, defaults.fragile);
  EXPECT_EQ(stated.incomplete, defaults.incomplete);
  EXPECT_EQ(stated.basis, defaults.basis);
  EXPECT_EQ(stated.require_equivalence, defaults.require_equivalence);
  EXPECT_EQ(criteria_of(blocks[1]).min_tasks, 100);
  const Result<std::string> example = read_file(docs + "/gate-example.toml");
  ASSERT_TRUE(example.has_value());
  EXPECT_EQ(criteria_of(*example).min_tasks, 50);
  EXPECT_EQ(toml_blocks(docs + "/first-steps.md"), std::vector<std::string>{*example});
}

TEST(GateToml, AnEmptyListLetsNoVerdictFail) {
  EXPECT_TRUE(criteria_of("fail = []").fail.empty());
}

TEST(GateToml, SaysWhatIsWrongWithTheLineAndTheNearestWord) {
  const std::pair<const char*, const char*> table[] = {
      {"\nmin_task = 3", "gate.toml:2: a gate has no key 'min_task' (did you mean 'min_tasks'?)"},
      {"[max_amplification]\ntool_nam = 1",
       "gate.toml:2: [max_amplification] has no channel 'tool_nam' (did you mean 'tool_name'?); "
       "there are malformed, tool_name, schema, entity, rejected"},
      {"[max_increase_points]\nargument = 1",
       "gate.toml:2: [max_increase_points] has no channel 'argument'; "
       "there are malformed, tool_name, schema, entity, rejected"},
      {"fail = [\"maskd\"]",
       "gate.toml:1: 'fail' must be one of degraded+masked, degraded, masked, amplified, not "
       "'maskd' "
       "(did you mean 'masked'?)"},
      {"fail = [\"inconclusive\"]",
       "gate.toml:1: what 'inconclusive' means has a key of its own: inconclusive = \"fail\""},
      {"fail = \"masked\"",
       "gate.toml:1: 'fail' must be a list of verdicts (degraded+masked, degraded, masked, "
       "amplified), as in fail = [\"masked\"], or [] for none"},
      {"fail = [\"masked\", 3]",
       "gate.toml:1: 'fail' must be a list of verdicts (degraded+masked, degraded, masked, "
       "amplified), as in fail = [\"masked\"], or [] for none"},
      {"fail = [\"masked\", \"masked\"]", "gate.toml:1: 'fail' names 'masked' twice"},
      {"inconclusive = \"no\"",
       "gate.toml:1: 'inconclusive' must be one of pass, inconclusive, fail, not 'no'"},
      {"basis = 3", "gate.toml:1: 'basis' must be one of estimate, confidence"},
      {"min_tasks = 0", "gate.toml:1: 'min_tasks' must be a whole number from 1 to 1000000000"},
      {"min_tasks = 1.5", "gate.toml:1: 'min_tasks' must be a whole number from 1 to 1000000000"},
      {"max_amplification = 1.5",
       "gate.toml:1: 'max_amplification' must be a table of channels and limits: "
       "[max_amplification], then for example tool_name = 1.5"},
      {"[max_amplification]\nschema = nan",
       "gate.toml:2: 'schema' must be a number from 0 to 1000000"},
      {"min_success_tight_percent = 101",
       "gate.toml:1: 'min_success_tight_percent' must be a number from 0 to 100"},
      {"require_equivalence = 1", "gate.toml:1: 'require_equivalence' must be true or false"}};
  for (const auto& [toml, sentence] : table) EXPECT_EQ(complaint(toml), sentence);
  EXPECT_EQ(complaint("a = ").substr(0, 12), "gate.toml:1:");
}

}  // namespace
}  // namespace unmask
