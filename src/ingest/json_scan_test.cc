#include "ingest/json_scan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/rng.h"

namespace unmask {
namespace {

// The definition, byte by byte. JSON has no backslashes outside strings; where there are some
// nevertheless, they escape quotes there as well.
ContainerEnd naive_scan(std::string_view bytes, std::size_t begin) {
  ContainerEnd result;
  bool in_string = false;
  bool escaped = false;
  std::size_t open = 0;
  for (std::size_t i = begin; i < bytes.size(); ++i) {
    const char c = bytes[i];
    const bool literal = escaped;
    escaped = c == '\\' && !literal;
    if (c == '"' && !literal) in_string = !in_string;
    if (in_string) continue;
    if (c == '{' || c == '[') {
      result.depth = std::max(result.depth, ++open);
    } else if ((c == '}' || c == ']') && --open == 0) {
      result.end = i + 1;
      result.closed = true;
      return result;
    }
  }
  result.end = bytes.size();
  return result;
}

std::string random_json_like(Rng& rng, std::size_t length) {
  // Mostly what confuses a scan: quotes, backslashes, brackets.
  constexpr std::string_view kLetters = "\"\\{}[],:ab 1\n\"\\\\";
  std::string text = rng.bernoulli(0.5) ? "{" : "[";
  const bool plain = rng.bernoulli(0.5);
  while (text.size() < length) {
    if (plain && rng.bernoulli(0.9)) {
      text += 'x';
    } else {
      text += kLetters[rng.below(static_cast<std::uint32_t>(kLetters.size()))];
    }
  }
  return text;
}

TEST(ContainerScan, AgreesWithTheNaiveDefinitionOnRandomTexts) {
  Rng rng(1);
  int closed = 0;
  for (int round = 0; round < 20000; ++round) {
    const std::string text = random_json_like(rng, 1 + rng.below(300));
    const ContainerEnd expected = naive_scan(text, 0);
    const ContainerEnd found = scan_container(text, 0);
    ASSERT_EQ(found.end, expected.end) << text;
    ASSERT_EQ(found.closed, expected.closed) << text;
    if (!expected.closed) continue;
    ++closed;
    ASSERT_GE(found.depth, expected.depth) << text;
    ASSERT_LE(found.depth, expected.depth + 64) << text;
  }
  EXPECT_GT(closed, 1000);
}

TEST(ContainerScan, CarriesEscapesAndStringsAcrossBlocks) {
  // Every alignment of backslash runs, quotes and the end against the 64-byte blocks.
  for (std::size_t before = 0; before < 200; ++before) {
    for (std::size_t run = 0; run < 5; ++run) {
      const std::string filler(before, 'a');
      const std::string text =
          "[\"" + filler + std::string(2 * run, '\\') + "\\\"}]\", {\"k\": \"]\"}] tail]";
      const ContainerEnd found = scan_container(text, 0);
      ASSERT_TRUE(found.closed);
      ASSERT_EQ(found.end, text.size() - 6) << text;
    }
  }
}

TEST(ContainerScan, EndsWhereTheBytesEndWhenTheContainerDoesNot) {
  for (const std::string text : {"{", "[", "{\"a\": [1, 2}", "[\"]", "{\"a\\"}) {
    const ContainerEnd found = scan_container(text, 0);
    EXPECT_FALSE(found.closed) << text;
    EXPECT_EQ(found.end, text.size());
  }
}

TEST(ContainerScan, TellsAbsurdDepth) {
  const std::string deep = std::string(5000, '[') + std::string(5000, ']');
  const ContainerEnd found = scan_container(deep, 0);
  EXPECT_TRUE(found.closed);
  EXPECT_GE(found.depth, 5000u);
  EXPECT_LE(found.depth, 5064u);
}

TEST(ValueScan, FindsTheEndOfEveryKindOfValue) {
  EXPECT_EQ(scan_value("\"a\\\"b\" ,", 0), 6u);
  EXPECT_EQ(scan_value("\"a\\\\\",", 0), 5u);
  EXPECT_EQ(scan_value("12.5e3,", 0), 6u);
  EXPECT_EQ(scan_value("null}", 0), 4u);
  EXPECT_EQ(scan_value("[1]x", 0), 3u);
  EXPECT_EQ(scan_value("\"open", 0), std::nullopt);
  EXPECT_EQ(scan_value("12", 0), std::nullopt);  // more digits may have been cut off
  EXPECT_EQ(scan_value("", 0), std::nullopt);
}

std::vector<std::string> keys_of(std::string_view text, JsonWalk::State& state) {
  JsonWalk walk(text, 0);
  std::vector<std::string> keys;
  while (const auto item = walk.next())
    keys.push_back(std::string(item->key) + "=" +
                   std::string(text.substr(item->begin, item->end - item->begin)));
  state = walk.state();
  return keys;
}

TEST(JsonWalk, GivesTheMembersInOrder) {
  JsonWalk::State state{};
  EXPECT_EQ(keys_of("{\"a\" : 1 , \"b\":[{}, \"}\"],\"c\\\"\":\"x\"} ", state),
            (std::vector<std::string>{"a=1", "b=[{}, \"}\"]", "c\\\"=\"x\""}));
  EXPECT_EQ(state, JsonWalk::State::Closed);
}

TEST(JsonWalk, TellsACutFromABrokenEnd) {
  JsonWalk::State state{};
  EXPECT_EQ(keys_of("{\"a\": 1, \"b\": [1", state).size(), 2u);
  EXPECT_EQ(state, JsonWalk::State::CutOff);
  EXPECT_EQ(keys_of("{\"a\": 1", state).size(), 1u);
  EXPECT_EQ(keys_of("{\"a\": 1 \"b\": 2}", state).size(), 1u);
  EXPECT_EQ(state, JsonWalk::State::Malformed);
  EXPECT_EQ(keys_of("[1,,2]", state).size(), 1u);
  EXPECT_EQ(state, JsonWalk::State::Malformed);
  EXPECT_EQ(keys_of("[]", state).size(), 0u);
  EXPECT_EQ(state, JsonWalk::State::Closed);
}

}  // namespace
}  // namespace unmask
