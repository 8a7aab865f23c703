#include <gtest/gtest.h>

#include <algorithm>

#include "plant/plant.h"
#include "plant/wording.h"

namespace unmask {
namespace {

TEST(Presets, TheRandomDamagedCellExpectsThePapersNumbers) {
  const Result<Planter> planter = Planter::make(preset_damaged());
  ASSERT_TRUE(planter) << to_string(planter.error());
  const ExpectedArm& before = planter->expected_baseline();
  const ExpectedArm& after = planter->expected_candidate();
  EXPECT_NEAR(before.tool_name / before.agent_calls, 0.195, 0.004);
  EXPECT_NEAR(after.tool_name / after.agent_calls, 0.383, 0.004);
  EXPECT_NEAR(before.tool_name, 649.0 / 456, 0.04);
  EXPECT_NEAR(after.tool_name, 1646.0 / 456, 0.08);
  EXPECT_NEAR(before.success - after.success, 0.013, 1e-6);
  EXPECT_NEAR(before.success_within[2] - after.success_within[2], 0.167, 0.015);
}

TEST(Presets, EveryListedPresetCanBePlanted) {
  for (const PlantedPreset& preset : planted_presets()) {
    Result<PlantOptions> random = random_preset(preset.name);
    ASSERT_TRUE(random) << preset.name;
    random->tasks = 3;
    EXPECT_TRUE(plant_random(*random)) << preset.name;
    const Result<ExactOptions> exact = exact_preset(preset.name);
    EXPECT_EQ(exact.has_value(), preset.exact);
    if (exact) {
      EXPECT_TRUE(plant_exact(*exact)) << preset.name;
    }
  }
  const Result<PlantOptions> unknown = random_preset("nonsense");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("damaged"), std::string::npos) << "says which there are";
}

int edit_distance(std::string_view a, std::string_view b) {
  std::vector<int> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

std::string folded(std::string_view name) {
  std::string result;
  const std::size_t prefix = name.rfind('.');
  for (const char c : name.substr(prefix == std::string_view::npos ? 0 : prefix + 1))
    if (std::isalnum(static_cast<unsigned char>(c)))
      result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

// Smallest edit distance to an offered name over the longer length; 0 where they fold alike.
double nearness(std::string_view name, std::string_view domain) {
  double nearest = 1;
  for (const std::string_view offered : known_tools(domain, Side::Agent)) {
    if (folded(name) == folded(offered)) return 0;
    nearest = std::min(nearest, double(edit_distance(name, offered)) /
                                    double(std::max(name.size(), offered.size())));
  }
  return nearest;
}

bool contains(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

TEST(DomainWords, EveryNameIsOfTheKindItsListSays) {
  for (const char* domain : {"telecom", "retail", "airline"}) {
    const Result<const DomainWords*> words = domain_words(domain);
    ASSERT_TRUE(words);
    const std::span<const std::string_view> agent = known_tools(domain, Side::Agent);
    const std::span<const std::string_view> user = known_tools(domain, Side::User);
    ASSERT_FALSE(agent.empty());
    for (const std::string_view name : (*words)->near_miss) {
      EXPECT_FALSE(contains(agent, name)) << name;
      EXPECT_LE(nearness(name, domain), 0.25) << name;
    }
    for (const std::span<const std::string_view> list : {(*words)->invented, (*words)->novel})
      for (const std::string_view name : list) {
        EXPECT_FALSE(contains(user, name)) << name;
        EXPECT_GT(nearness(name, domain), 0.3) << name;
      }
    for (const std::span<const CallWords> list :
         {(*words)->ok, (*words)->schema, (*words)->entity, (*words)->rejected})
      for (const CallWords& call : list) EXPECT_TRUE(contains(agent, call.tool)) << call.tool;
    for (const CallWords& call : (*words)->user_ok) EXPECT_TRUE(contains(user, call.tool));
  }
}

TEST(DomainWords, AVocabularyOfAnySizeHasNoNameTwiceAndNoneOffered) {
  const Result<const DomainWords*> words = domain_words("telecom");
  ASSERT_TRUE(words);
  const std::vector<std::string> small = hallucinated_vocabulary(**words, 8, 2);
  const std::vector<std::string> large = hallucinated_vocabulary(**words, 200, 30);
  for (const std::vector<std::string>& names : {small, large}) {
    std::vector<std::string> sorted = names;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(std::adjacent_find(sorted.begin(), sorted.end()), sorted.end());
    for (const std::string& name : names)
      EXPECT_FALSE(contains(known_tools("telecom", Side::Agent), name)) << name;
  }
  EXPECT_EQ(small.size(), 10u);
  EXPECT_EQ(large.size(), 230u);
}

}  // namespace
}  // namespace unmask
