// The rule table against what the real environments answer, where the shared data are present.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include "failure/classify.h"
#include "trace/known_tools.h"

namespace unmask {
namespace {

using Json = nlohmann::json;

const std::string kShared = UNMASK_SHARED;

#define SKIP_WITHOUT_SHARED_DATA()                                                      \
  if (!std::filesystem::exists(kShared + "/tau2/golden")) {                             \
    GTEST_SKIP() << "no shared data at " << kShared << ": golden transcripts not read"; \
  }

std::vector<Json> read_lines(const std::string& path) {
  std::vector<Json> lines;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) lines.push_back(Json::parse(line));
  }
  return lines;
}

Side side_of(const Json& node) {
  return node.value("requestor", "assistant") == "user" ? Side::User : Side::Agent;
}

ToolCall call_of(const Json& node, Side side) {
  ToolCall call;
  call.id = node.value("id", "");
  call.name = node.at("name").get<std::string>();
  call.arguments = node.at("arguments").dump();
  call.side = side;
  return call;
}

void append_exchange(Episode& episode, const Json& step) {
  Message call;
  call.role = side_of(step) == Side::User ? Role::User : Role::Agent;
  call.calls.push_back(call_of(step, side_of(step)));
  Message answer;
  answer.role = Role::Tool;
  answer.result = ToolResult{"", step.at("content").get<std::string>(),
                             step.at("error").get<bool>(), "", side_of(step)};
  episode.messages.push_back(call);
  episode.messages.push_back(answer);
}

// Messages in tau2's format.
Episode episode_of(const Json& messages) {
  Episode episode;
  for (const Json& node : messages) {
    const std::string role = node.at("role");
    Message message;
    message.role = role == "user" ? Role::User : role == "tool" ? Role::Tool : Role::Agent;
    if (node.contains("content") && node["content"].is_string()) message.text = node["content"];
    if (message.role == Role::Tool) {
      const Json nodes =
          node.contains("tool_messages") ? node["tool_messages"] : Json::array({node});
      for (const Json& one : nodes) {
        message.result = ToolResult{one.value("id", ""), one.value("content", ""),
                                    one.value("error", false), "", side_of(one)};
        episode.messages.push_back(message);
      }
      continue;
    }
    if (node.contains("tool_calls") && node["tool_calls"].is_array()) {
      for (const Json& call : node["tool_calls"]) {
        message.calls.push_back(
            call_of(call, message.role == Role::User ? Side::User : Side::Agent));
      }
    }
    episode.messages.push_back(message);
  }
  return episode;
}

RunInfo golden_info(const std::string& domain, const std::string& format = "tau2") {
  RunInfo info;
  info.format = format;
  info.domain = domain;
  return info;
}

struct Tally {
  int failed = 0;
  int unknown = 0;
  std::map<std::string, int> channels;
  std::set<std::string> unknown_texts;

  void add(const ClassifiedCall& call) {
    if (!call.in_budget) return;
    ++failed;
    ++channels[std::string(to_string(call.channel))];
    if (call.kind != SubKind::UnknownText) return;
    ++unknown;
    unknown_texts.insert(call.name + ": " + call.evidence);
  }

  std::string text() const {
    std::string out = std::to_string(failed) + " failed, " + std::to_string(unknown) + " unknown;";
    for (const auto& [name, count] : channels) out += " " + name + " " + std::to_string(count);
    for (const std::string& unknown_text : unknown_texts) out += "\n  " + unknown_text;
    return out;
  }
};

// What the fuzzer meant is consistent with these channels and no others. A wrong type may surface
// as an id that is not found ("User 3.5 not found"), and a fuzzed call may meet a state that
// refuses it.
bool consistent(const std::string& kind, const ClassifiedCall& call) {
  if (kind == "hidden" || kind == "other_side" || kind == "name_variant") {
    return call.channel == Channel::ToolName;
  }
  if (kind == "missing" || kind == "extra") {
    return call.channel == Channel::Schema || call.channel == Channel::ToolName;
  }
  if (kind == "bad_id") {
    return call.channel == Channel::Entity || call.channel == Channel::Rejected ||
           call.channel == Channel::Schema;
  }
  if (kind == "wrong_type") {
    return call.channel == Channel::Schema || call.channel == Channel::Entity ||
           call.channel == Channel::Rejected || call.channel == Channel::System;
  }
  return call.channel != Channel::ToolName && call.channel != Channel::Malformed;
}

class GoldenDomain : public ::testing::TestWithParam<const char*> {};

TEST_P(GoldenDomain, EveryFuzzedFailureHasAChannelThatFitsWhatTheFuzzerMeant) {
  SKIP_WITHOUT_SHARED_DATA();
  const std::string domain = GetParam();
  const Classifier classifier(golden_info(domain), nullptr);
  Tally tally;
  std::map<std::string, std::map<std::string, int>> by_kind;
  for (const Json& line : read_lines(kShared + "/tau2/golden/" + domain + "_fuzz.jsonl")) {
    Episode episode;
    for (const Json& step : line["steps"]) append_exchange(episode, step);
    const ClassifiedEpisode judged = classifier.classify(episode);
    ASSERT_EQ(judged.calls.size(), line["steps"].size());
    ASSERT_EQ(judged.orphan_results, 0);
    for (std::size_t i = 0; i < judged.calls.size(); ++i) {
      const ClassifiedCall& call = judged.calls[i];
      const Json& step = line["steps"][i];
      ASSERT_EQ(call.in_budget, step["error"].get<bool>());
      EXPECT_EQ(call.channel == Channel::Ok, !step["error"].get<bool>()) << step;
      tally.add(call);
      if (!call.in_budget) continue;
      const std::string kind = step["kind"];
      EXPECT_TRUE(consistent(kind, call))
          << kind << ": " << to_string(call.channel) << ": " << step;
      ++by_kind[kind][std::string(to_string(call.channel))];
      if (call.channel == Channel::ToolName) {
        ++by_kind[kind + "/name"][std::string(to_string(call.kind))];
      }
    }
  }
  std::printf("%s fuzz: %s\n", domain.c_str(), tally.text().c_str());
  for (const auto& [kind, channels] : by_kind) {
    std::string text;
    for (const auto& [name, count] : channels) text += " " + name + " " + std::to_string(count);
    std::printf("  %s:%s\n", kind.c_str(), text.c_str());
  }
  ASSERT_GT(tally.failed, 100);
  EXPECT_LE(tally.unknown, tally.failed / 100) << tally.text();
  // The bulk of each kind lands in the channel it is named after.
  const auto share = [&](const std::string& kind, const std::string& channel) {
    int all = 0;
    for (const auto& [name, count] : by_kind[kind]) all += count;
    return all == 0 ? 1.0 : static_cast<double>(by_kind[kind][channel]) / all;
  };
  EXPECT_EQ(share("other_side", "tool_name"), 1.0);
  EXPECT_EQ(share("hidden", "tool_name"), 1.0);
  EXPECT_EQ(share("other_side/name", "other_side"), 1.0);
  EXPECT_GE(share("name_variant/name", "near_miss"), 0.95);
  EXPECT_GE(share("missing", "schema"), 0.99);
  EXPECT_GE(share("extra", "schema"), 0.99);
  EXPECT_GE(share("bad_id", "entity"), 0.80);
}

TEST_P(GoldenDomain, TaskEvaluationAndOrchestratorRunsLeaveNoUnknownText) {
  SKIP_WITHOUT_SHARED_DATA();
  const std::string domain = GetParam();
  const std::string folder = kShared + "/tau2/golden/" + domain;
  const Classifier classifier(golden_info(domain), nullptr);
  Tally tally;
  int expected = 0;
  const auto judge = [&](const Episode& episode) {
    for (const Message& message : episode.messages) {
      if (message.result && message.result->failed) ++expected;
    }
    const ClassifiedEpisode judged = classifier.classify(episode);
    for (const ClassifiedCall& call : judged.calls) tally.add(call);
    tally.failed += judged.orphan_failures;
  };
  for (const Json& line : read_lines(folder + ".jsonl")) {
    Episode episode;
    for (const Json& step : line["steps"]) append_exchange(episode, step);
    judge(episode);
  }
  for (const Json& line : read_lines(folder + "_eval.jsonl")) {
    judge(episode_of(line.value("messages", Json::array())));
  }
  for (const Json& line : read_lines(folder + "_orchestrator.jsonl")) {
    const Json simulation = line.value("simulation", Json());
    if (simulation.is_object()) judge(episode_of(simulation["messages"]));
  }
  std::printf("%s runs: %s\n", domain.c_str(), tally.text().c_str());
  EXPECT_EQ(tally.failed, expected);
  EXPECT_GT(expected, 0);
  EXPECT_EQ(tally.unknown, 0) << tally.text();
}

INSTANTIATE_TEST_SUITE_P(Domains, GoldenDomain,
                         ::testing::Values("mock", "airline", "retail", "telecom"),
                         [](const ::testing::TestParamInfo<const char*>& domain) {
                           return std::string(domain.param);
                         });

TEST(GoldenLogs, TheErrorsOfTauBenchV1AreAllKnown) {
  SKIP_WITHOUT_SHARED_DATA();
  std::ifstream in(kShared + "/logs/tau1_gpt-4o_airline.json");
  const Json log = Json::parse(in);
  const Classifier classifier(golden_info("airline", "tau1"), nullptr);
  Tally tally;
  int results = 0;
  int not_offered = 0;
  for (const Json& record : log) {
    Episode episode;
    for (const Json& node : record["traj"]) {
      Message message;
      const std::string role = node["role"];
      message.role = role == "tool"        ? Role::Tool
                     : role == "assistant" ? Role::Agent
                     : role == "system"    ? Role::System
                                           : Role::User;
      if (node["content"].is_string()) message.text = node["content"];
      if (role == "tool") {
        ++results;
        const std::string content = node["content"];
        message.result = ToolResult{node["tool_call_id"], content, content.starts_with("Error:"),
                                    "", Side::Agent};
      }
      if (node.contains("tool_calls") && node["tool_calls"].is_array()) {
        for (const Json& call : node["tool_calls"]) {
          ToolCall made;
          made.id = call["id"];
          made.name = call["function"]["name"];
          made.arguments = call["function"]["arguments"];
          message.calls.push_back(made);
        }
      }
      episode.messages.push_back(message);
    }
    const ClassifiedEpisode judged = classifier.classify(episode);
    for (const ClassifiedCall& call : judged.calls) {
      tally.add(call);
      not_offered += call.not_offered ? 1 : 0;
    }
    EXPECT_EQ(judged.orphan_failures, 0);
  }
  std::printf("tau1 airline: %s\n", tally.text().c_str());
  EXPECT_EQ(results, 1164);
  EXPECT_EQ(tally.failed, 73);
  EXPECT_EQ(tally.unknown, 0) << tally.text();
  EXPECT_EQ(not_offered, 0) << "think() is a tool of v1";
  // Counted by hand from the log: 4 + 2 + 1 payment methods that are not there; the rest refused.
  EXPECT_EQ(tally.channels["entity"], 7);
  EXPECT_EQ(tally.channels["rejected"], 66);
}

TEST(GoldenLogs, PublicTau2LogsHaveNoUnknownText) {
  SKIP_WITHOUT_SHARED_DATA();
  Tally tally;
  int calls = 0;
  for (const auto& [file, domain] :
       std::map<std::string, std::string>{{"tau2_gpt-4.1-mini_airline_1.json", "airline"},
                                          {"tau2_gpt-4.1-mini_airline_5.json", "airline"},
                                          {"tau2_gpt-4.1-mini_mock_10.json", "mock"},
                                          {"tau2_gpt-4.1-mini_telecom_1.json", "telecom"}}) {
    std::ifstream in(kShared + "/logs/" + file);
    const Json log = Json::parse(in);
    const Classifier classifier(golden_info(domain), nullptr);
    for (const Json& simulation : log["simulations"]) {
      const ClassifiedEpisode judged = classifier.classify(episode_of(simulation["messages"]));
      for (const ClassifiedCall& call : judged.calls) {
        tally.add(call);
        EXPECT_FALSE(call.not_offered) << call.name;
        EXPECT_NE(call.kind, SubKind::LeakedMarkup) << call.evidence;
        ++calls;
      }
    }
  }
  EXPECT_GT(calls, 20);
  EXPECT_EQ(tally.failed, 2);
  EXPECT_EQ(tally.channels["rejected"], 2);
  EXPECT_EQ(tally.unknown, 0) << tally.text();
}

}  // namespace
}  // namespace unmask
