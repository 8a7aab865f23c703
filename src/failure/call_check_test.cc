#include "failure/call_check.h"

#include <gtest/gtest.h>

namespace unmask {
namespace {

constexpr const char* kOneNumber =
    R"({"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],)"
    R"("additionalProperties":false})";

class CallCheckOfTools : public testing::Test {
 protected:
  static Message calling(std::vector<std::pair<std::string, std::string>> calls) {
    Message message;
    for (const auto& [name, arguments] : calls) {
      ToolCall call;
      call.name = name;
      call.arguments = arguments;
      call.arguments_are_object = arguments.starts_with('{') && arguments.ends_with('}');
      message.calls.push_back(std::move(call));
    }
    return message;
  }
  void expect(const Message& message, std::size_t call, Channel channel, SubKind kind) const {
    const std::optional<CallFault> fault = check_.fault(message);
    ASSERT_TRUE(fault.has_value());
    EXPECT_EQ(fault->call, call);
    EXPECT_EQ(fault->channel, channel);
    EXPECT_EQ(fault->kind, kind);
  }

  CallCheck check_{{{"get_order", kOneNumber}, {"list_orders", ""}}, {"toggle_data"}};
};

TEST_F(CallCheckOfTools, FindsNothingWrongWithWhatOnlyAnEnvironmentCanJudge) {
  EXPECT_FALSE(check_.fault(calling({{"get_order", R"({"n": 7})"}, {"list_orders", "{}"}})));
  Message talk;
  talk.text = "I would call get_order next.";
  EXPECT_FALSE(check_.fault(talk));
}

TEST_F(CallCheckOfTools, NamesTheFirstCallThatFails) {
  expect(calling({{"list_orders", "{}"}, {"refund", "{}"}, {"get_order", "{}"}}), 1,
         Channel::ToolName, SubKind::Invented);
}

TEST_F(CallCheckOfTools, TellsTheKindsOfHallucinatedNames) {
  expect(calling({{"toggle_data", "{}"}}), 0, Channel::ToolName, SubKind::OtherSide);
  expect(calling({{"get_orders", "{}"}}), 0, Channel::ToolName, SubKind::NearMiss);
  expect(calling({{"open_case", "{}"}}), 0, Channel::ToolName, SubKind::Invented);
}

TEST_F(CallCheckOfTools, ReadsArgumentsBeforeNamesAndNamesBeforeSchemas) {
  expect(calling({{"open_case", R"({"n": )"}}), 0, Channel::Malformed, SubKind::BadJson);
  expect(calling({{"get_order", "{}"}}), 0, Channel::Schema, SubKind::Missing);
  expect(calling({{"get_order", R"({"n": "x"})"}}), 0, Channel::Schema, SubKind::WrongType);
  expect(calling({{"get_order", R"({"n": 1, "m": 2})"}}), 0, Channel::Schema, SubKind::Unexpected);
}

TEST_F(CallCheckOfTools, FindsMarkupThatLeaked) {
  Message leak;
  leak.text = R"(<tool_call>{"name": "get_order", "arguments": {"n": 7}}</tool_call>)";
  expect(leak, 0, Channel::Malformed, SubKind::LeakedMarkup);
  Message lost = calling({{"list_orders", "{}"}});
  lost.raw_calls = 2;  // the parser dropped one
  expect(lost, 1, Channel::Malformed, SubKind::LeakedMarkup);
}

}  // namespace
}  // namespace unmask
