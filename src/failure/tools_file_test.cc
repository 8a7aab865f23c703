#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "failure/classify.h"
#include "trace/known_tools.h"

namespace unmask {
namespace {

TEST(ToolsFile, ReadsEveryShape) {
  const OfferedTool bare{"zap", ""};
  const OfferedTool full{"zap", R"({"type":"object"})"};
  EXPECT_EQ(parse_tools_file(R"(["zap"])", "t")->agent, std::vector<OfferedTool>{bare});
  EXPECT_EQ(parse_tools_file(R"([{"name": "zap"}])", "t")->agent, std::vector<OfferedTool>{bare});
  for (const char* text :
       {R"([{"type": "function", "function": {"name": "zap", "parameters": {"type": "object"}}}])",
        R"([{"name": "zap", "input_schema": {"type": "object"}}])",
        R"({"assistant": [{"name": "zap", "parameters": {"type": "object"}}], "policy": "x"})",
        R"({"tools": [{"name": "zap", "inputSchema": {"type": "object"}}], "user": null})"}) {
    const Result<ToolsFile> file = parse_tools_file(text, "t");
    ASSERT_TRUE(file) << to_string(file.error());
    EXPECT_EQ(file->agent, std::vector<OfferedTool>{full}) << text;
    EXPECT_TRUE(file->user.empty());
  }
  const Result<ToolsFile> both =
      parse_tools_file(R"({"assistant": ["a"], "user": ["b", "c"]})", "t");
  EXPECT_EQ(both->agent.size(), 1u);
  EXPECT_EQ(both->user.size(), 2u);
}

std::string error_of(const std::string& text) {
  const Result<ToolsFile> file = parse_tools_file(text, "tools.json");
  EXPECT_FALSE(file);
  if (file) return "";
  EXPECT_EQ(file.error().kind, ErrorKind::Malformed);
  return to_string(file.error());
}

TEST(ToolsFile, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(error_of("[\"a\", "), "tools.json: byte 7: this is not valid JSON");
  EXPECT_EQ(error_of("[]"), "tools.json: it lists no tools");
  EXPECT_EQ(error_of("{}"), "tools.json: it lists no tools");
  EXPECT_EQ(error_of("5"), "tools.json: the list of tools is not an array");
  EXPECT_EQ(error_of(R"({"assistant": ["a"], "user": 5})"),
            "tools.json: user: the list of tools is not an array");
  EXPECT_EQ(error_of(R"(["a", 5])"), "tools.json: [1]: a tool is neither a name nor an object");
  EXPECT_EQ(error_of(R"({"user": [""]})"), "tools.json: user[0]: the tool's name is empty");
  EXPECT_EQ(error_of(R"([{"function": {}}])"), "tools.json: [0]: the tool has no name");
  EXPECT_EQ(error_of(R"(["a", "a"])"), "tools.json: [1]: tool 'a' is listed twice");
  EXPECT_EQ(error_of(R"([{"name": "a", "parameters": []}])"),
            "tools.json: [0]: the parameters of tool 'a' are not an object");
  EXPECT_EQ(error_of(std::string(100000, '[')),
            "tools.json: the JSON is nested more than 64 levels deep");
  EXPECT_EQ(error_of("[\"\xff\"]"), "tools.json: byte 3: this is not valid JSON");
}

TEST(ToolsFile, ReadsTheSurfaceFiles) {
  const std::string folder = std::string(UNMASK_SHARED) + "/tau2/surface/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no surface files at " << folder;
  for (const char* domain : {"mock", "airline", "retail", "telecom"}) {
    std::ifstream in(folder + domain + ".json");
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const Result<ToolsFile> file = parse_tools_file(text, domain);
    ASSERT_TRUE(file) << to_string(file.error());
    EXPECT_EQ(file->agent.size(), known_tools(domain, Side::Agent).size());
    EXPECT_EQ(file->user.size(), known_tools(domain, Side::User).size());
    EXPECT_FALSE(file->agent[0].schema.empty());
  }
}

}  // namespace
}  // namespace unmask
