#include "environment/toolkit.h"

#include <gtest/gtest.h>

#include "environment/data_folder.h"
#include "environment/domain.h"
#include "environment/json.h"
#include "environment/python.h"
#include "environment/surface.h"
#include "trace/known_tools.h"

namespace unmask {
namespace {

Value nothing(ToolScope&, Arguments) {
  return Value();
}

Tool tool() {
  return {"move",
          "",
          ToolType::Write,
          true,
          {{"a", type::str(), {}, ""},
           {"b", type::str(), {}, ""},
           {"c", type::str(), {}, ""},
           {"d", type::integer(), Value(12), ""}},
          nothing};
}

std::string bound(std::string_view keywords) {
  try {
    return dump_json(Value::list(bind_arguments("Kit", tool(), *parse_json(keywords))));
  } catch (const PythonError& error) {
    return error.text();
  }
}

TEST(BindArguments, PutsKeywordsInTheOrderOfTheSignature) {
  EXPECT_EQ(bound(R"({"c": 3, "a": [1], "b": null})"), R"([[1], null, 3, 12])");
}

TEST(BindArguments, WordsWhatIsMissingAsCPythonDoes) {
  EXPECT_EQ(bound(R"({"a": 1, "b": 2})"), "Kit.move() missing 1 required positional argument: 'c'");
  EXPECT_EQ(bound(R"({"b": 2})"),
            "Kit.move() missing 2 required positional arguments: 'a' and 'c'");
  EXPECT_EQ(bound("{}"), "Kit.move() missing 3 required positional arguments: 'a', 'b', and 'c'");
}

TEST(BindArguments, NamesTheFirstUnexpectedKeywordBeforeWhatIsMissing) {
  EXPECT_EQ(bound(R"({"a": 1, "y": 1, "x": 1})"),
            "Kit.move() got an unexpected keyword argument 'y'");
  EXPECT_EQ(bound(R"({"self": 1})"), "Kit.move() got multiple values for argument 'self'");
}

// The worlds of tests/data where their domain is there, so that the check needs no other data.
std::shared_ptr<const Domain> small_domain(std::string_view name) {
  const Result<DataFolder> data = DataFolder::open(UNMASK_TEST_DATA "/environment/tau2");
  EXPECT_TRUE(data) << to_string(data.error());
  const Result<std::shared_ptr<const Domain>> domain = load_domain(*data, name);
  EXPECT_TRUE(domain) << to_string(domain.error());
  return domain ? *domain : nullptr;
}

TEST(Toolkits, OfferExactlyTheKnownToolsInTheirOrder) {
  for (const DomainRow& row : domain_rows()) {
    if (row.generated) continue;  // names differ by task
    for (const Side side : {Side::Agent, Side::User}) {
      const Toolkit* toolkit = side == Side::Agent ? &row.agent_tools()
                               : row.user_tools    ? row.user_tools()
                                                   : nullptr;
      std::vector<std::string_view> offered;
      if (toolkit)
        for (const Tool& each : toolkit->tools) offered.push_back(each.name);
      const std::span<const std::string_view> known = known_tools(row.name, side);
      EXPECT_EQ(offered, std::vector<std::string_view>(known.begin(), known.end()))
          << row.name << " " << to_string(side);
    }
  }
}

TEST(Toolkits, EveryToolAndParameterIsDescribed) {
  for (const DomainRow& row : domain_rows()) {
    for (const Toolkit* toolkit :
         {&row.agent_tools(), row.user_tools ? row.user_tools() : nullptr}) {
      if (!toolkit) continue;
      for (const Tool& each : toolkit->tools) {
        EXPECT_FALSE(each.description.empty()) << each.name;
        for (const Parameter& parameter : each.parameters)
          EXPECT_FALSE(parameter.description.empty()) << each.name << " " << parameter.name;
      }
    }
  }
}

// Everything but the descriptions, which are each owner's own words.
Value without_descriptions(const Value& v) {
  if (v.is_list()) {
    std::vector<Value> items;
    for (const Value& item : v.items()) items.push_back(without_descriptions(item));
    return Value::list(std::move(items));
  }
  if (!v.is_dict()) return v;
  Value out = Value::dict();
  for (std::size_t i = 0; i < v.size(); ++i)
    if (v.key(i) != "description" || !v[i].is_str()) out.set(v.key(i), without_descriptions(v[i]));
  return out;
}

TEST(Surface, OurOwnWordingHasUpstreamsSignatures) {
  int compared = 0;
  for (const DomainRow& row : domain_rows()) {
    if (row.generated) continue;
    const std::shared_ptr<const Domain> domain = small_domain(row.name);
    ASSERT_NE(domain, nullptr);
    const Result<Surface> theirs = find_surface("", UNMASK_SHARED "/tau2", *domain);
    ASSERT_TRUE(theirs) << to_string(theirs.error());
    if (theirs->own_tools) GTEST_SKIP() << "no surface files at " << UNMASK_SHARED "/tau2/surface";
    const Surface ours = own_surface(*domain);
    for (const auto& [mine, other] : {std::pair(ours.agent_tools, theirs->agent_tools),
                                      std::pair(ours.user_tools, theirs->user_tools)}) {
      ASSERT_EQ(mine.size(), other.size()) << row.name;
      for (std::size_t i = 0; i < mine.size(); ++i, ++compared)
        EXPECT_EQ(dump_json(without_descriptions(mine[i]), KeyOrder::Sorted),
                  dump_json(without_descriptions(other[i]), KeyOrder::Sorted));
    }
  }
  EXPECT_GT(compared, 40);
}

std::string complaint(const std::string& name) {
  const std::string file = UNMASK_TEST_DATA "/environment/surface/" + name + ".json";
  const Result<Surface> surface = read_surface(file, *small_domain("mock"));
  return surface ? "" : surface.error().message;
}

TEST(Surface, RefusesFilesOfAnotherDomainWithOneSentence) {
  EXPECT_EQ(complaint("unknown_tool"),
            "not a surface of this domain: tool 'fly' is unknown to the domain's assistant");
  EXPECT_EQ(complaint("missing_tool"),
            "not a surface of this domain: tool 'get_users' of the domain's assistant is missing");
  EXPECT_EQ(complaint("no_list"), "not a surface of this domain: it has no list \"assistant\"");
  EXPECT_EQ(complaint("not_json"), "not JSON: an object needs a key here");
  EXPECT_NE(complaint("absent"), "");
}

TEST(Surface, TakesTheFilesWordsAndPrompts) {
  const Result<Surface> surface =
      read_surface(UNMASK_TEST_DATA "/environment/surface/mock.json", *small_domain("mock"));
  ASSERT_TRUE(surface) << to_string(surface.error());
  EXPECT_FALSE(surface->own_tools);
  EXPECT_TRUE(surface->own_prompts) << "only one of the three templates is there";
  EXPECT_EQ(surface->policy, "Other policy.");
  EXPECT_EQ(filled(surface->agent_prompt, {{"domain_policy", surface->policy}, {"x", "y"}}),
            "Follow {this}: Other policy.");
}

}  // namespace
}  // namespace unmask
