#include "ingest/lazy_json.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/utf8.h"

namespace unmask {
namespace {

// The text of the member "a" of `json`.
std::optional<std::string> text_of(std::string_view json, LazyRecord& record) {
  std::optional<std::string> text;
  if (!record.load(json)) return std::nullopt;
  record.visit([&](LazyValue root) {
    root.each_member([&](std::string_view key, LazyValue value) {
      if (key == "a") text = value.string();
    });
  });
  return text;
}

TEST(LazyRecord, ReadsWhatItIsAskedForAndSkipsTheRest) {
  LazyRecord record;
  ASSERT_TRUE(record.load(R"({"skip": [1, {"a": 2}], "n": -3.5, "i": 7.0, "t": true, "z": null,
                             "s": "x\"yA", "o": {"k": [1, 2]}})"));
  std::optional<double> number;
  std::optional<std::int64_t> integer;
  std::optional<bool> truth;
  LazyKind null = LazyKind::Invalid;
  std::string text;
  std::string object;
  EXPECT_TRUE(record.visit([&](LazyValue root) {
    root.each_member([&](std::string_view key, LazyValue value) {
      if (key == "n") number = value.number();
      if (key == "i") integer = value.integer();
      if (key == "t") truth = value.boolean();
      if (key == "z") null = value.kind();
      if (key == "s") text = value.string().value_or("none");
      if (key == "o") object = value.text();
    });
  }));
  EXPECT_EQ(number, -3.5);
  EXPECT_EQ(integer, 7);
  EXPECT_EQ(truth, true);
  EXPECT_EQ(null, LazyKind::Null);
  EXPECT_EQ(text, "x\"yA");
  EXPECT_EQ(object, R"({"k": [1, 2]})");
}

TEST(LazyRecord, ReplacesLoneSurrogatesAndCountsThem) {
  LazyRecord record;
  EXPECT_EQ(text_of(R"({"a": "x\ud800y"})", record), "x\xEF\xBF\xBDy");
  EXPECT_EQ(record.repairs().escapes, 1);
  EXPECT_EQ(text_of(R"({"a": "\ud83d\ude00"})", record), "\xF0\x9F\x98\x80");
  EXPECT_EQ(record.repairs().escapes, 0);
  EXPECT_EQ(text_of(R"({"a": "\udc00\ud800\ud83d\ude00"})", record),
            "\xEF\xBF\xBD\xEF\xBF\xBD\xF0\x9F\x98\x80");
}

TEST(LazyRecord, MendsBrokenUtf8AndRawControlCharacters) {
  LazyRecord record;
  EXPECT_EQ(text_of("{\"a\": \"x\xFFy\xC3\"}", record), "x\xEF\xBF\xBDy\xEF\xBF\xBD");
  EXPECT_TRUE(record.repairs().text.invalid_utf8);
  EXPECT_EQ(text_of("{\"a\": \"x\ny\"}", record), "x\ny");
  EXPECT_TRUE(record.repairs().text.control_character);
  EXPECT_EQ(text_of("{\"a\": \"plain\"}", record), "plain");
  EXPECT_FALSE(record.repairs().text.any());
}

TEST(LazyRecord, KeepsNonFiniteNumbersApartFromOtherNonsense) {
  LazyRecord record;
  ASSERT_TRUE(
      record.load(R"([NaN, Infinity, -Infinity, nope, -1, 1e999, 12345678901234567890123])"));
  std::vector<LazyKind> kinds;
  std::vector<bool> numbers;
  record.visit([&](LazyValue root) {
    root.each_element([&](LazyValue value) {
      kinds.push_back(value.kind());
      numbers.push_back(value.number().has_value());
    });
  });
  EXPECT_EQ(kinds, (std::vector<LazyKind>{LazyKind::NotFinite, LazyKind::NotFinite,
                                          LazyKind::NotFinite, LazyKind::Invalid, LazyKind::Number,
                                          LazyKind::Number, LazyKind::Number}));
  EXPECT_EQ(numbers, (std::vector<bool>{false, false, false, false, true, false, true}));
}

TEST(LazyRecord, SaysWhyARecordIsMalformed) {
  LazyRecord record;
  for (const std::string text : {"{\"a\": 1", "{\"a\" 1}", "{\"a\": [1, 2}", "{\"a\": 1,}"}) {
    const bool whole = record.load(text) && record.visit([](LazyValue root) {
      root.each_member(
          [](std::string_view, LazyValue value) { value.each_element([](LazyValue) {}); });
    });
    EXPECT_FALSE(whole) << text;
    EXPECT_FALSE(record.error().empty()) << text;
  }
}

TEST(UnescapeJson, NeverReadsBeyondTheToken) {
  EXPECT_EQ(unescape_json(R"("a\tb\/\b\f\r\n\\")"), "a\tb/\b\f\r\n\\");
  EXPECT_EQ(unescape_json("\"a\\"), "a");
  EXPECT_EQ(unescape_json("\"a\\u12"),
            "a\xEF\xBF\xBD"
            "12");
  int replaced = 0;
  EXPECT_EQ(unescape_json(R"("\x")", &replaced), "\xEF\xBF\xBD");
  EXPECT_EQ(replaced, 1);
  EXPECT_EQ(unescape_json(R"("é ह €")"), "é ह €");
}

}  // namespace
}  // namespace unmask
