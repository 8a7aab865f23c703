#include "failure/markup.h"

#include <gtest/gtest.h>

#include <string>

namespace unmask {
namespace {

struct Leaked {
  const char* text;
  const char* name;
};

// One leaked call per format, as the models write them.
const Leaked kLeaked[] = {
    {"<tool_call>\n{\"name\": \"get_user\", \"arguments\": {\"id\": 1}}\n</tool_call>", "get_user"},
    {"Sure!<tool_call>{\"arguments\": {}, \"name\": \"get_user\"}", "get_user"},
    {"<tool_call>get_user\n<arg_key>id</arg_key>\n<arg_value>1</arg_value>\n</tool_call>",
     "get_user"},
    {"<tool_call>\n<function=get_user>\n<parameter=id>\n1\n</parameter>\n</function>", "get_user"},
    {"<function=get_user>{\"id\": 1}</function>", "get_user"},
    {"<tool_call>{'name': 'get_user'", "get_user"},
    {"[TOOL_CALLS][{\"name\": \"get_user\", \"arguments\": {}}]", "get_user"},
    {"[TOOL_CALLS] [{\"name\": \"get_user\"}]", "get_user"},
    {"[TOOL_CALLS]get_user[ARGS]{\"id\": 1}", "get_user"},
    {"[TOOL_CALLS]get_user{\"id\": 1}", "get_user"},
    {"<|tool_call|>[{\"name\": \"get_user\", \"arguments\": {}}]", "get_user"},
    {"<|python_tag|>{\"type\": \"function\", \"name\": \"get_user\", \"parameters\": {}}",
     "get_user"},
    {"<|python_tag|>get_user(id=1)", "get_user"},
    {"<|tool_call>call:get_user{id:1}<tool_call|>", "get_user"},
    {"call:get_user{id:1}<tool_call|>", ""},
    {"```tool_call\n{\"name\": \"get_user\"}\n```", "get_user"},
    {"```tool_code\nget_user(id=1)\n```", "get_user"},
    {"```tool_code\nprint(default_api.get_user(id=1))\n```", "get_user"},
    {"<|channel|>commentary to=functions.get_user <|constrain|>json<|message|>{\"id\": 1}",
     "get_user"},
    {"<|start|>assistant to=functions.get_user<|channel|>commentary json", "get_user"},
    {"<\xEF\xBD\x9Ctool\xE2\x96\x81"
     "calls\xE2\x96\x81"
     "begin\xEF\xBD\x9C><\xEF\xBD\x9Ctool"
     "\xE2\x96\x81"
     "call\xE2\x96\x81"
     "begin\xEF\xBD\x9C>function",
     ""},
    {"<|tool_calls_section_begin|><|tool_call_begin|>functions.get_user:0", ""},
    {"<|tool_call_begin|>functions.get_user:0<|tool_call_argument_begin|>{}", "get_user"},
    {"functools[{\"name\": \"get_user\", \"arguments\": {}}]", "get_user"},
    {"<function_calls>\n<invoke name=\"get_user\">\n", "get_user"},
    {"<invoke name=\"get_user\">", "get_user"},
    {"<minimax:tool_call>\n<invoke name=\"get_user\">", "get_user"},
    {"<TOOLCALL>[{\"name\": \"get_user\"}]</TOOLCALL>", "get_user"},
    {"<functioncall> {\"name\": \"get_user\", \"arguments\": '{}'}", "get_user"},
    {"{\"name\": \"get_user\", \"parameters\": {\"id\": 1}}", "get_user"},
    {"```json\n{\"name\": \"get_user\", \"arguments\": {}}\n```", "get_user"},
};

TEST(LeakedMarkup, IsFoundInEveryFormatWithTheNameWhereReadable) {
  for (const Leaked& row : kLeaked) {
    const std::optional<LeakedCall> call = find_leaked_call(row.text);
    ASSERT_TRUE(call) << row.text;
    EXPECT_EQ(call->name, row.name) << row.text;
    EXPECT_FALSE(call->marker.empty());
  }
}

TEST(LeakedMarkup, IsNotSeenInProse) {
  for (const char* text :
       {"", "I will call get_user now.", "I used the get_user(id=1) tool and found your account.",
        "The <tool_call> tag marks a call.", "Wrap it in `<tool_call>` please.",
        "[TOOL_CALLS] is a token of some models.", "Type <function=...> to see.",
        "Your order {\"name\": \"Ann\"} is <b>ready</b>.", "a[1] = b < c",
        "```json\n{\"id\": 1}\n```", "{\"name\": \"Ann Lee\", \"zip\": \"12345\"}",
        "<|tool_call|> ends a turn", "```python\nprint(1)\n```", "mailto=functions of the app",
        "<invoke name=>", "<tool_call",
        "{\"name\": \"x\", \"arguments\": {}} is how a call looks"}) {
    EXPECT_FALSE(find_leaked_call(text)) << text;
  }
}

TEST(LeakedMarkup, FindsTheFirstOfSeveralAndKeepsAPieceOfIt) {
  const std::string text =
      "x < y <tool_call> no <tool_call>{\"name\": \"one\"}<tool_call>{\"name\": "
      "\"two\"}" +
      std::string(10000, ' ');
  const std::optional<LeakedCall> call = find_leaked_call(text);
  ASSERT_TRUE(call);
  EXPECT_EQ(call->name, "one");
  EXPECT_EQ(call->marker, "<tool_call>");
  EXPECT_TRUE(call->body.starts_with("<tool_call>{\"name\": \"one\"}"));
  EXPECT_EQ(call->body.size(), 4096u);
}

}  // namespace
}  // namespace unmask
