#include "failure/names.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/rng.h"
#include "failure/rules.h"

namespace unmask {
namespace {

// The textbook recursion over prefixes, as a full table.
double naive_distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      d[i][j] = std::min(
          {d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0u : 1u)});
    }
  }
  const std::size_t longest = std::max(a.size(), b.size());
  return longest == 0 ? 0.0
                      : static_cast<double>(d[a.size()][b.size()]) / static_cast<double>(longest);
}

TEST(EditDistance, HasThePublishedValues) {
  EXPECT_DOUBLE_EQ(normalized_edit_distance("kitten", "sitting"), 3.0 / 7.0);
  EXPECT_DOUBLE_EQ(normalized_edit_distance("saturday", "sunday"), 3.0 / 8.0);
  EXPECT_DOUBLE_EQ(normalized_edit_distance("", ""), 0.0);
  EXPECT_DOUBLE_EQ(normalized_edit_distance("", "abc"), 1.0);
}

TEST(EditDistance, EqualsTheNaiveDefinitionWithinTheLimit) {
  Rng rng(3);
  for (int round = 0; round < 2000; ++round) {
    std::string a;
    std::string b;
    for (std::uint32_t i = rng.below(14); i > 0; --i)
      a.push_back(static_cast<char>('a' + rng.below(3)));
    for (std::uint32_t i = rng.below(14); i > 0; --i)
      b.push_back(static_cast<char>('a' + rng.below(3)));
    const double exact = naive_distance(a, b);
    EXPECT_DOUBLE_EQ(normalized_edit_distance(a, b), exact) << a << " " << b;
    EXPECT_DOUBLE_EQ(normalized_edit_distance(b, a), exact) << a << " " << b;
    const double limited = normalized_edit_distance(a, b, 0.25);
    if (exact <= 0.25) {
      EXPECT_DOUBLE_EQ(limited, exact);
    } else {
      EXPECT_GT(limited, 0.25);
    }
  }
}

TEST(NearMiss, TakesTheClosestNameAndTheQuarterIncluded) {
  const NameList names({"abcd", "abce", "get_user_details"});
  EXPECT_EQ(names.near_miss("abcx"), "abcd");  // 1/4, and the first of two equally close
  EXPECT_EQ(names.near_miss("abxx"), "");      // 2/4
  EXPECT_EQ(names.near_miss("get_user_detail"), "get_user_details");
  EXPECT_EQ(names.near_miss("GETUSERDETAILS"), "get_user_details");
  EXPECT_EQ(names.near_miss(std::string(100000, 'a')), "");
  EXPECT_EQ(NameList().near_miss("abcd"), "");
}

TEST(NameList, LongListsFindWhatShortOnesDo) {
  std::vector<std::string> texts;
  for (int i = 0; i < 200; ++i) texts.push_back("tool_" + std::to_string(i));
  const NameList names(std::vector<std::string_view>(texts.begin(), texts.end()));
  for (const std::string& text : texts) EXPECT_TRUE(names.contains(text));
  EXPECT_FALSE(names.contains("tool_200"));
  EXPECT_FALSE(names.contains(""));
}

// Tries every split at every star.
bool naive_glob(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern.front() != '*') {
    return !text.empty() && text.front() == pattern.front() &&
           naive_glob(pattern.substr(1), text.substr(1));
  }
  for (std::size_t skip = 0; skip <= text.size(); ++skip) {
    if (naive_glob(pattern.substr(1), text.substr(skip))) return true;
  }
  return false;
}

TEST(GlobMatch, EqualsTheNaiveDefinition) {
  Rng rng(5);
  int matches = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string pattern;
    std::string text;
    for (std::uint32_t i = rng.below(7); i > 0; --i) pattern.push_back("ab*"[rng.below(3)]);
    for (std::uint32_t i = rng.below(8); i > 0; --i) text.push_back("ab"[rng.below(2)]);
    ASSERT_EQ(glob_match(pattern, text), naive_glob(pattern, text)) << pattern << " " << text;
    matches += glob_match(pattern, text) ? 1 : 0;
  }
  EXPECT_GT(matches, 2000);
}

TEST(ErrorText, IsReadWithoutPrefixesSpaceAndCase) {
  EXPECT_EQ(normalized_error_text("Error: User X not found\n"), "user x not found");
  EXPECT_EQ(normalized_error_text("  Error: Error: A"), "a");
  EXPECT_EQ(normalized_error_text("Error executing tool zap: Order not found"), "order not found");
  EXPECT_EQ(normalized_error_text("Error: "), "");
  EXPECT_EQ(normalized_error_text(""), "");
  EXPECT_EQ(normalized_error_text(std::string(100000, 'A')).size(), kLongestMatchedText);
}

}  // namespace
}  // namespace unmask
