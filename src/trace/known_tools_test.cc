#include "trace/known_tools.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace unmask {
namespace {

std::vector<std::string> names(std::string_view domain, Side side) {
  const std::span<const std::string_view> tools = known_tools(domain, side);
  return {tools.begin(), tools.end()};
}

TEST(KnownTools, VariantsOfADomainNameTheSameTools) {
  for (const char* variant : {"telecom-workflow", "telecom_full", "telecom-workflow-solo"}) {
    EXPECT_EQ(base_domain(variant), "telecom");
    EXPECT_TRUE(known_domain(variant));
    EXPECT_EQ(names(variant, Side::Agent), names("telecom", Side::Agent));
    EXPECT_EQ(names(variant, Side::User), names("telecom", Side::User));
  }
}

TEST(KnownTools, ADomainThatOnlyBeginsLikeABuiltInOneIsUnknown) {
  for (const char* other :
       {"", "retailer", "retail-2", "airline-", "banking_knowledge", "Retail"}) {
    EXPECT_FALSE(known_domain(other)) << other;
    EXPECT_TRUE(known_tools(other, Side::Agent).empty()) << other;
    EXPECT_EQ(base_domain(other), other);
  }
}

TEST(KnownTools, AUserWithoutToolsHasAnEmptyListInAKnownDomain) {
  for (const char* domain : {"airline", "retail"}) {
    EXPECT_TRUE(known_domain(domain));
    EXPECT_TRUE(known_tools(domain, Side::User).empty());
    EXPECT_FALSE(known_tools(domain, Side::Agent).empty());
  }
  EXPECT_EQ(known_tools("mock", Side::User).size(), 2u);
}

TEST(KnownTools, Tau1OffersThinkAndLacksTheLaterTool) {
  const std::span<const std::string_view> airline = tau1_tools("airline");
  const std::span<const std::string_view> retail = tau1_tools("retail");
  EXPECT_EQ(airline.size(), 14u);
  EXPECT_EQ(retail.size(), 16u);
  EXPECT_NE(std::find(airline.begin(), airline.end(), "think"), airline.end());
  EXPECT_EQ(std::find(airline.begin(), airline.end(), "get_flight_status"), airline.end());
  EXPECT_EQ(std::find(retail.begin(), retail.end(), "get_item_details"), retail.end());
  EXPECT_TRUE(tau1_tools("telecom").empty());
}

// The names of one side in a surface file, in order: what follows `"name":` at the depth of
// function.name. The file is pretty-printed, which is all this reading relies on.
std::vector<std::string> surface_names(const std::string& text, const std::string& side) {
  std::vector<std::string> found;
  const std::size_t from = text.find("\n  \"" + side + "\": [");
  if (from == std::string::npos) return found;
  const std::size_t to = std::min(text.find("\n  ]", from), text.find("\n  \"", from + 1));
  const std::string key = "\n        \"name\": \"";
  for (std::size_t at = text.find(key, from); at < to; at = text.find(key, at + 1)) {
    const std::size_t start = at + key.size();
    found.push_back(text.substr(start, text.find('"', start) - start));
  }
  return found;
}

TEST(KnownTools, AgreeWithTheSurfaceFilesInNamesAndOrder) {
  const std::string folder = std::string(UNMASK_SHARED) + "/tau2/surface/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no surface files at " << folder;
  for (const char* domain : {"mock", "airline", "retail", "telecom"}) {
    std::ifstream in(folder + domain + ".json");
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    ASSERT_FALSE(surface_names(text, "assistant").empty()) << domain;
    EXPECT_EQ(names(domain, Side::Agent), surface_names(text, "assistant")) << domain;
    EXPECT_EQ(names(domain, Side::User), surface_names(text, "user")) << domain;
  }
}

}  // namespace
}  // namespace unmask
