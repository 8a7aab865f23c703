#include "llm/call_markup.h"

#include <gtest/gtest.h>

namespace unmask {
namespace {

// Templates as functions: the forms of call that model families have.
std::optional<std::string> hermes(const std::string& content, const std::string& name,
                                  const std::string& arguments, int count) {
  std::string out = "<|im_start|>user\ngo<|im_end|>\n<|im_start|>assistant\n" + content;
  for (int i = 0; i < count; ++i)
    out += (content.empty() && i == 0 ? "" : "\n") + ("<tool_call>\n{\"name\": \"" + name) +
           "\", \"arguments\": " + arguments + "}\n</tool_call>";
  return out + "<|im_end|>\n";
}

std::optional<std::string> braces(const std::string& content, const std::string& name,
                                  const std::string& arguments, int count) {
  std::string out = "<user>go<model>";  // the content comes last
  const std::string inner = arguments.find('k') != std::string::npos ? "k:<v>v<v>" : "w:7";
  for (int i = 0; i < count; ++i) out += "<|tool_call>call:" + name + "{" + inner + "}<tool_call|>";
  return out + content + "<turn|>";
}

std::optional<std::string> tags(const std::string& content, const std::string& name,
                                const std::string& arguments, int count) {
  std::string out = "<user>go<model>" + content;
  const std::string inner = arguments.find('k') != std::string::npos ? "k>\nv" : "w>\n7";
  for (int i = 0; i < count; ++i)
    out += "<function=" + name + ">\n<parameter=" + inner + "\n</parameter>\n</function>";
  return out + "<end>";
}

TEST(CallMarkup, IsLearnedFromRenderings) {
  const std::optional<CallMarkup> learned = learn_call_markup(hermes);
  ASSERT_TRUE(learned);
  EXPECT_EQ(*learned, (CallMarkup{"\n<tool_call>\n{\"name\": \"",
                                  "\", \"arguments\": ", "}\n</tool_call>", true, ""}));
  const std::optional<CallMarkup> other = learn_call_markup(braces);
  ASSERT_TRUE(other);
  EXPECT_EQ(*other, (CallMarkup{"<|tool_call>call:", "{", "}<tool_call|>", false, ""}));
  const std::optional<CallMarkup> tagged = learn_call_markup(tags);
  ASSERT_TRUE(tagged);
  EXPECT_EQ(tagged->before, "<function=");
  EXPECT_EQ(tagged->argument, "<parameter=");
}

TEST(CallMarkup, IsNotLearnedWhereCallsAreNotWritten) {
  EXPECT_FALSE(learn_call_markup([](const std::string& content, const std::string&,
                                    const std::string&, int) { return "<a>" + content; }));
  EXPECT_FALSE(learn_call_markup([](const std::string&, const std::string&, const std::string&,
                                    int) { return std::optional<std::string>(); }));
}

TEST(CallMarkup, ReadsNamesAndBrokenArguments) {
  const CallMarkup markup = *learn_call_markup(hermes);
  const WrittenCalls written = read_written_calls(
      "Let me see.\n<tool_call>\n{\"name\": \"get_usr\", \"arguments\": {\"id\": 1,}}\n"
      "</tool_call>\n<tool_call>\n{\"name\": \"b\", \"arguments\": {\"x\": [1, 2",
      markup);
  EXPECT_EQ(written.content, "Let me see.");
  ASSERT_EQ(written.calls.size(), 2u);
  EXPECT_EQ(written.calls[0].name, "get_usr");
  EXPECT_EQ(written.calls[0].arguments, "{\"id\": 1,}");
  EXPECT_EQ(written.calls[1].name, "b");
  EXPECT_EQ(written.calls[1].arguments, "{\"x\": [1, 2") << "cut off";
}

TEST(CallMarkup, KeepsArgumentsThatLackTheirBrackets) {
  const WrittenCalls written =
      read_written_calls("<tool_call>\n{\"name\": \"f\", \"arguments\": {\"x\": 1\n</tool_call>",
                         *learn_call_markup(hermes));
  ASSERT_EQ(written.calls.size(), 1u);
  EXPECT_EQ(written.calls[0].arguments, "{\"x\": 1");
}

TEST(CallMarkup, LeavesANameThatMayGoOn) {
  const WrittenCalls written =
      read_written_calls("<|tool_call>call:get_us", *learn_call_markup(braces));
  EXPECT_TRUE(written.calls.empty());
  EXPECT_EQ(written.content, "<|tool_call>call:get_us");
}

TEST(CallMarkup, ReadsFormatsWhoseArgumentsAreNoJson) {
  const WrittenCalls written = read_written_calls(
      "<|tool_call>call: get_user{id:<v>7<v>}<tool_call|>", *learn_call_markup(braces));
  ASSERT_EQ(written.calls.size(), 1u);
  EXPECT_EQ(written.calls[0].name, "get_user");
  EXPECT_EQ(written.calls[0].arguments, "{id:<v>7<v>}");
  const WrittenCalls tagged = read_written_calls(
      "<function=f>\n<parameter=x>\n1\n</parameter>\n<parameter=y>\n2\n</parameter>\n</function>",
      *learn_call_markup(tags));
  ASSERT_EQ(tagged.calls.size(), 1u);
  EXPECT_EQ(tagged.calls[0].name, "f");
  EXPECT_EQ(tagged.argument_names, (std::vector<std::string>{"x", "y"}));
}

TEST(CallMarkup, SurvivesAnything) {
  for (const auto& render : {hermes, braces, tags}) {
    const CallMarkup markup = *learn_call_markup(render);
    const std::string whole = *render("words", "f", "{\"k\": \"v\"}", 1);
    for (std::size_t i = 0; i <= whole.size(); ++i) {
      read_written_calls(whole.substr(i), markup);
      read_written_calls(whole.substr(0, i) + whole, markup);
    }
  }
}

}  // namespace
}  // namespace unmask
