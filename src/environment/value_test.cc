#include "environment/value.h"

#include <gtest/gtest.h>

#include <thread>

#include "environment/json.h"
#include "environment/schema.h"

namespace unmask {
namespace {

const ModelClass& entry_class() {
  static const ModelClass kClass(
      "Entry", {{"name", type::str(), {}}, {"tags", type::list(type::str()), {}}});
  return kClass;
}

Value entry(const std::string& name) {
  return construct(entry_class(), {{"name", name}, {"tags", Value::list({"a"})}});
}

Value database(int size) {
  Value table = Value::dict();
  for (int i = 0; i < size; ++i)
    table.set("id_" + std::to_string(i), entry("n" + std::to_string(i)));
  return Value::dict({{"entries", table}});
}

TEST(Value, ACopyDoesNotSeeLaterWrites) {
  const Value base = database(50);
  Value copy = base;
  copy.edit("entries").edit("id_7").set("name", "changed");
  copy.edit("entries").edit("id_8").edit("tags").append("b");
  EXPECT_EQ(base.find("entries")->find("id_7")->find("name")->as_str(), "n7");
  EXPECT_EQ(base.find("entries")->find("id_8")->find("tags")->size(), 1u);
  EXPECT_EQ(copy.find("entries")->find("id_7")->find("name")->as_str(), "changed");
  EXPECT_EQ(copy.find("entries")->find("id_8")->find("tags")->size(), 2u);
}

TEST(Value, SharesWhatACopyDidNotTouch) {
  const Value base = database(50);
  Value copy = base;
  copy.edit("entries").edit("id_7").set("name", "changed");
  EXPECT_TRUE(copy.find("entries")->find("id_9")->same_node(*base.find("entries")->find("id_9")));
  EXPECT_FALSE(copy.find("entries")->find("id_7")->same_node(*base.find("entries")->find("id_7")));
}

TEST(Value, FindsEveryKeyAfterInsertionsAndRemovals) {
  Value dict = Value::dict();
  for (int i = 0; i < 200; ++i) dict.set("k" + std::to_string(i), i);
  for (int i = 0; i < 200; i += 3) EXPECT_TRUE(dict.erase("k" + std::to_string(i)));
  EXPECT_FALSE(dict.erase("k0"));
  for (int i = 0; i < 200; ++i) {
    const Value* found = dict.find("k" + std::to_string(i));
    if (i % 3 == 0) {
      EXPECT_EQ(found, nullptr) << i;
    } else {
      ASSERT_NE(found, nullptr) << i;
      EXPECT_EQ(found->as_int(), i);
    }
  }
  EXPECT_EQ(dict.key(0), "k1") << "the order of insertion is kept";
}

TEST(Value, AddingAKeyToACopyLeavesTheOriginalsKeys) {
  const Value base = database(3);
  Value copy = base;
  copy.edit("entries").set("id_new", entry("new"));
  EXPECT_EQ(base.find("entries")->size(), 3u);
  EXPECT_EQ(base.find("entries")->find("id_new"), nullptr);
  EXPECT_EQ(copy.find("entries")->key(3), "id_new");
}

TEST(Value, IntegersOfAnySizeKeepTheirDigits) {
  EXPECT_EQ(Value::integer("-9223372036854775808").kind(), Kind::Int);
  EXPECT_EQ(Value::integer("9223372036854775808").kind(), Kind::BigInt);
  EXPECT_EQ(dump_json(Value::integer("123456789012345678901234567890")),
            "123456789012345678901234567890");
  EXPECT_EQ(Value::integer("-0").as_int(), 0);
}

// sha256 of '{"a": {"x": {"n": 1}}, "b": 2}', by Python's hashlib.
TEST(DatabaseHash, IsSha256OfTheSortedJson) {
  const Result<Value> value = parse_json(R"({"b": 2, "a": {"x": {"n": 1}}})");
  ASSERT_TRUE(value);
  EXPECT_EQ(database_hash(*value),
            "9b507c768c11a67058c7e69d844e475d85fdae4a13430630c246f9641b0ffa51");
}

TEST(DatabaseHash, FollowsEveryWriteAndReturnsWhenItIsUndone) {
  Value value = database(20);
  const std::string before = database_hash(value);
  value.edit("entries").edit("id_3").edit("tags").append("b");
  const std::string after = database_hash(value);
  EXPECT_NE(before, after);
  value.edit("entries").edit("id_3").set("tags", Value::list({"a"}));
  EXPECT_EQ(database_hash(value), before);
  EXPECT_EQ(database_hash(database(20)), before) << "with nothing kept from earlier";
}

TEST(Value, ManyThreadsCopyWriteAndHashOneBase) {
  const Value base = database(100);
  std::vector<std::string> hashes(8);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < hashes.size(); ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        Value copy = base;
        copy.edit("entries").edit("id_" + std::to_string(i)).set("name", "x");
        hashes[t] = database_hash(copy) + database_hash(base);
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& hash : hashes) EXPECT_EQ(hash, hashes[0]);
}

}  // namespace
}  // namespace unmask
