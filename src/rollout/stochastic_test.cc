#include "rollout/stochastic.h"

#include <gtest/gtest.h>

#include "environment/json.h"

namespace unmask {
namespace {

Task task_with(int actions) {
  std::string list;
  for (int i = 0; i < actions; ++i)
    list += (i > 0 ? "," : "") + std::string(R"({"action_id": "a", "name": "get_users",
        "arguments": {"n": )") +
            std::to_string(i) + "}}";
  return *read_task(*parse_json(
      R"({"id": "t", "user_scenario": {"instructions": "x"}, "evaluation_criteria": {"actions": [)" +
      list + "]}}"));
}

// The calls of an agent whose calls are answered: by an error where they are none of the plan's.
std::vector<TurnMessage> calls_of(const StochasticRates& rates, int actions, std::int64_t seed) {
  ScriptedPair pair = scripted_pair(task_with(actions), rates);
  pair.agent->set_seed(seed);
  std::vector<TurnMessage> calls;
  std::vector<TurnMessage> incoming;
  while (true) {
    TurnMessage message = *pair.agent->next(incoming);
    if (!message.has_calls) return calls;
    incoming.assign(1, text_message(ReplayMessage::Speaker::Tool, "ok"));
    calls.push_back(std::move(message));
  }
}

bool is_wrong(const TurnMessage& message) {
  const ToolRequest& call = message.calls.at(0);
  return call.name != "get_users" || call.unreadable;
}

TEST(StochasticAgent, WithoutMistakesItPlaysTheReference) {
  const std::vector<TurnMessage> calls = calls_of({}, 5, 1);
  ASSERT_EQ(calls.size(), 5u);
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(calls[static_cast<std::size_t>(i)].calls[0].arguments.find("n")->as_int(), i);
}

TEST(StochasticAgent, TheSameSeedMakesTheSameMistakes) {
  StochasticRates rates;
  rates.hallucinate = 0.4;
  const auto names = [&](std::int64_t seed) {
    std::string joined;
    for (const TurnMessage& message : calls_of(rates, 40, seed))
      joined += message.calls[0].name + " ";
    return joined;
  };
  EXPECT_EQ(names(7), names(7));
  EXPECT_NE(names(7), names(8));
}

TEST(StochasticAgent, MistakesComeAtTheirRates) {
  StochasticRates rates;
  rates.hallucinate = 0.2;
  rates.malformed = 0.1;
  rates.recover = 0.5;
  rates.omit = 0.1;
  rates.names = {{"often", 3.0}, {"rare", 1.0}, {"never", 0.0}};
  const std::vector<TurnMessage> calls = calls_of(rates, 20000, 3);
  double right = 0;
  double invented = 0;
  double often = 0;
  double unreadable = 0;
  double runs = 0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const ToolRequest& call = calls[i].calls[0];
    EXPECT_NE(call.name, "never");
    if (!is_wrong(calls[i])) ++right;
    if (call.unreadable) ++unreadable;
    if (call.name != "get_users") ++invented;
    if (call.name == "often") ++often;
    if (is_wrong(calls[i]) && (i == 0 || !is_wrong(calls[i - 1]))) ++runs;
  }
  const double wrong = 0.2 + 0.8 * 0.1;
  EXPECT_NEAR(right, 18000, 150);
  EXPECT_NEAR(runs / right, wrong, 0.01) << "first tries";
  EXPECT_NEAR((invented + unreadable) / runs, 2.0, 0.1) << "1 / recover";
  EXPECT_NEAR(invented / (invented + unreadable), 0.2 / wrong, 0.02);
  EXPECT_NEAR(often / invented, 0.75, 0.02);
}

TEST(StochasticAgent, AMalformedCallIsNoObject) {
  StochasticRates rates;
  rates.malformed = 1;
  rates.recover = 1;
  const std::vector<TurnMessage> calls = calls_of(rates, 1, 3);
  ASSERT_EQ(calls.size(), 2u);
  ASSERT_TRUE(calls[0].calls[0].unreadable);
  EXPECT_FALSE(parse_json(*calls[0].calls[0].unreadable));
  EXPECT_FALSE(calls[1].calls[0].unreadable);
}

TEST(StochasticAgent, ChecksItsRates) {
  EXPECT_TRUE(check(StochasticRates{}));
  StochasticRates rates;
  rates.recover = 1.5;
  EXPECT_FALSE(check(rates));
  rates = {};
  rates.hallucinate = 0.1;
  rates.names = {{"a", 0.0}};
  EXPECT_FALSE(check(rates));
  rates.names = {{"a", -1.0}, {"b", 2.0}};
  EXPECT_FALSE(check(rates));
}

}  // namespace
}  // namespace unmask
