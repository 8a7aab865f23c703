#include "metrics/margin.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/rng.h"

namespace unmask {
namespace {

using Names = std::vector<std::string>;

TokenDecision token(std::string text, double logprob, std::vector<TokenAlternative> others) {
  TokenDecision out{text, logprob, {{text, logprob}}};
  for (const TokenAlternative& other : others) out.top.push_back(other);
  return out;
}

// The example of margin.h.
NameDecision example() {
  return {
      "get_user",
      {token("get_", -0.01, {{"cancel", -5.0}, {"get", -6.0}}),
       token("user", -0.2, {{"order", -1.9}, {"item", -4.0}}), token("\"", -0.05, {{"s", -3.2}})}};
}

TEST(ToolMargin, FollowsTheExampleOfTheHeader) {
  const Names names = {"get_user", "get_order", "get_users", "cancel"};
  const std::optional<ToolMargin> whole = tool_margin(example(), "get_user", names);
  EXPECT_FALSE(whole);  // `"` alone does not overlap the name: not what a decision holds
  NameDecision reply = example();
  reply.tokens.pop_back();
  const std::optional<ToolMargin> margin = tool_margin(reply, "get_user", names);
  ASSERT_TRUE(margin);
  EXPECT_EQ(margin->margin.known, Margin::Known::Exactly);
  EXPECT_NEAR(margin->margin.value, 1.7, 1e-9);
  EXPECT_EQ(margin->not_seen, 1);  // get_users parts behind the last token
  ASSERT_EQ(margin->seen.size(), 2u);
  EXPECT_EQ(names[margin->seen[0].competitor], "get_order");
  EXPECT_EQ(names[margin->seen[1].competitor], "cancel");
  // -0.01 and -6 together lead to get_user.
  const double both = std::log(std::exp(-0.01) + std::exp(-6.0));
  EXPECT_NEAR(margin->seen[1].margin, both + 5, 1e-9);
  EXPECT_FALSE(margin->closer_stranger);
}

TEST(ToolMargin, SeesWhereALongerNamePartsWhenTheLastTokenClosesTheName) {
  const NameDecision reply = {"get_user",
                              {token("get_", -0.01, {{"cancel", -5}}),
                               token("user\"", -0.2, {{"users\"", -0.9}, {"user", -3}})}};
  const std::optional<ToolMargin> margin =
      tool_margin(reply, "get_user", Names{"get_users", "cancel"});
  ASSERT_TRUE(margin);
  // `user` can still become get_user: it is on the side of the choice.
  EXPECT_NEAR(margin->margin.value, std::log(std::exp(-0.2) + std::exp(-3.0)) + 0.9, 1e-9);
  EXPECT_EQ(margin->not_seen, 0);
}

TEST(ToolMargin, ReadsANameBehindPunctuation) {
  const NameDecision reply = {"ping",
                              {token(" \"pi", -0.1, {{" \"po", -2.6}, {" \"", -4}, {" 'po", -1}}),
                               token("ng\",", -0.1, {{"nt", -3}})}};
  const std::optional<ToolMargin> margin = tool_margin(reply, "ping", Names{"pong", "pint"});
  ASSERT_TRUE(margin);
  // ` "` still leads to ping; ` 'po` is another spelling and leads nowhere.
  EXPECT_NEAR(margin->margin.value, std::log(std::exp(-0.1) + std::exp(-4.0)) + 2.6, 1e-9);
  EXPECT_FALSE(margin->closer_stranger);
  ASSERT_EQ(margin->seen.size(), 2u);
  EXPECT_NEAR(margin->seen[1].margin, 2.9, 1e-9);
}

TEST(ToolMargin, ACompetitorOutsideTheAlternativesGivesABound) {
  const NameDecision reply = {"ping", {token("ping", -0.1, {{"zz", -7.0}, {"pong", -3.0}})}};
  const std::optional<ToolMargin> seen = tool_margin(reply, "ping", Names{"pong", "quit"});
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->margin, (Margin{2.9, Margin::Known::Exactly, 6.9}));
  const std::optional<ToolMargin> bound = tool_margin(reply, "ping", Names{"quit"});
  ASSERT_TRUE(bound);
  EXPECT_EQ(bound->margin, (Margin{6.9, Margin::Known::AtLeast, 6.9}));
  EXPECT_TRUE(bound->seen.empty());
  EXPECT_TRUE(bound->closer_stranger);  // pong, which is no competitor here
}

TEST(ToolMargin, IsNegativeWhereTheReplyLeavesTheChoice) {
  const NameDecision reply = {"pong", {token("po", -0.2, {{"pi", -1.5}}), token("ng", -0.1, {})}};
  const std::optional<ToolMargin> margin =
      tool_margin(reply, "ping", Names{"ping", "pong", "pint"});
  ASSERT_TRUE(margin);
  EXPECT_TRUE(margin->left);
  EXPECT_NEAR(margin->margin.value, -1.3, 1e-9);
  EXPECT_EQ(margin->not_seen, 1);  // pint parts from ping further on, where the reply did not go
}

TEST(ToolMargin, KnowsAFlipWhoseSizeItCannotSee) {
  const NameDecision reply = {"pong", {token("pong", -0.1, {{"quit", -4}})}};
  const std::optional<ToolMargin> margin = tool_margin(reply, "ping", Names{"pong", "quit"});
  ASSERT_TRUE(margin);
  EXPECT_EQ(margin->margin.known, Margin::Known::AtMost);
  EXPECT_NEAR(margin->margin.value, -3.9, 1e-9);
}

TEST(ToolMargin, IsAbsentWhereNothingCanBeSaid) {
  const NameDecision reply = {"ping", {token("ping", -0.1, {{"pong", -2}})}};
  EXPECT_FALSE(tool_margin(reply, "ping", Names{}));
  EXPECT_FALSE(tool_margin(reply, "ping", Names{"ping"}));
  EXPECT_FALSE(tool_margin(reply, "", Names{"pong"}));
  EXPECT_FALSE(tool_margin({"other", reply.tokens}, "ping", Names{"pong"}));
  EXPECT_FALSE(tool_margin({"ping", {}}, "ping", Names{"pong"}));
  // No alternatives were given: nothing is known of the competitor.
  EXPECT_FALSE(tool_margin({"ping", {token("ping", -0.1, {})}}, "ping", Names{"pong"}));
}

// Names with probabilities; the alternatives at a position are all the next pieces of names that
// begin as the text so far does.
struct World {
  Names names;
  std::vector<double> p;

  double mass(const std::string& prefix) const {
    double sum = 0;
    for (std::size_t i = 0; i < names.size(); ++i)
      if ((names[i] + "\"").starts_with(prefix)) sum += p[i];
    return sum;
  }

  // `name` split into pieces of `size` bytes.
  NameDecision reply(const std::string& name, std::size_t size) const {
    NameDecision out{name, {}};
    const std::string whole = name + "\"";
    for (std::size_t at = 0; at < whole.size(); at += size) {
      const std::string before = whole.substr(0, at);
      std::map<std::string, double> next;
      for (const std::string& other : names)
        if ((other + "\"").starts_with(before) && other.size() + 1 > at)
          next[(other + "\"").substr(at, size)] =
              std::log(mass(before + (other + "\"").substr(at, size)) / mass(before));
      const std::string taken = whole.substr(at, size);
      TokenDecision decision{taken, next.at(taken), {}};
      for (const auto& [text, logprob] : next) decision.top.push_back({text, logprob});
      if (at < name.size()) out.tokens.push_back(std::move(decision));
    }
    return out;
  }

  // The smallest log p(a) - log p(b), each pair where pieces of that size part them.
  double naive(const std::string& a, std::size_t size) const {
    double smallest = std::numeric_limits<double>::infinity();
    for (const std::string& b : names) {
      if (b == a) continue;
      std::size_t at = 0;
      while ((a + "\"").substr(at, size) == (b + "\"").substr(at, size)) at += size;
      if (at >= a.size()) continue;  // behind the tokens that overlap the name
      smallest = std::min(smallest, std::log(mass((a + "\"").substr(0, at + size))) -
                                        std::log(mass((b + "\"").substr(0, at + size))));
    }
    return smallest;
  }
};

TEST(ToolMargin, EqualsTheNaiveDefinitionForEverySplitOfNames) {
  Rng rng(7);
  int compared = 0;
  for (int draw = 0; draw < 200; ++draw) {
    World world;
    while (world.names.size() < 6) {
      std::string name;
      for (std::uint32_t i = 2 + rng.below(5); i > 0; --i) name += "abc"[rng.below(3)];
      if (std::find(world.names.begin(), world.names.end(), name) != world.names.end()) continue;
      world.names.push_back(name);
      world.p.push_back(0.05 + rng.uniform());
    }
    const double all = world.mass("");
    for (double& p : world.p) p /= all;
    for (const std::string& a : world.names) {
      const double naive = world.naive(a, 1);
      const std::optional<ToolMargin> margin = tool_margin(world.reply(a, 1), a, world.names);
      ASSERT_EQ(margin.has_value(), std::isfinite(naive));
      if (!margin) continue;
      EXPECT_NEAR(margin->margin.value, naive, 1e-9);
      ++compared;
    }
    // In one piece a name, the margin is the plain one of probabilities.
    const std::string& a = world.names.front();
    const std::optional<ToolMargin> whole = tool_margin(world.reply(a, 100), a, world.names);
    ASSERT_TRUE(whole);
    EXPECT_NEAR(whole->margin.value, world.naive(a, 100), 1e-9);
  }
  EXPECT_GT(compared, 1000);
}

FirstTokens learned() {
  FirstTokens tokens;
  for (int i = 0; i < 300; ++i) tokens.learn("<tool_call>", Act::Call);
  tokens.learn("<tool_call>", Act::Talk);  // 1 of 301
  for (int i = 0; i < 5; ++i) tokens.learn("I", Act::Talk);
  for (int i = 0; i < 4; ++i) tokens.learn("Sure", i % 2 == 0 ? Act::Talk : Act::Call);
  return tokens;
}

TEST(FirstTokens, LearnsWhatBeginsCallsAndTalk) {
  const FirstTokens tokens = learned();
  EXPECT_EQ(tokens.act("<tool_call>"), Act::Call);
  EXPECT_EQ(tokens.act("I"), Act::Talk);
  EXPECT_EQ(tokens.act("Sure"), std::nullopt);
  EXPECT_EQ(tokens.act("<"), Act::Call);  // still leads to <tool_call>
  EXPECT_EQ(tokens.act("Hello"), Act::Talk);
  EXPECT_EQ(tokens.act(""), std::nullopt);
  EXPECT_EQ(FirstTokens().act("I"), std::nullopt);
}

TEST(ActMargin, SumsTheTokensOfEachAct) {
  const FirstTokens tokens = learned();
  const TokenDecision first =
      token("<tool_call>", -0.3, {{"I", -2.0}, {"Hello", -3.0}, {"Sure", -2.5}, {"<", -5.0}});
  const std::optional<Margin> margin = act_margin(first, Act::Call, tokens);
  ASSERT_TRUE(margin);
  const double call = std::log(std::exp(-0.3) + std::exp(-5.0));
  const double talk = std::log(std::exp(-2.0) + std::exp(-3.0));
  EXPECT_NEAR(margin->value, call - talk, 1e-9);
  EXPECT_NEAR(act_margin(first, Act::Talk, tokens)->value, talk - call, 1e-9);
  EXPECT_EQ(act_of(first, tokens), Act::Call);
}

TEST(ActMargin, IsNoneWhereNoReplyEverCalled) {
  FirstTokens tokens;
  for (int i = 0; i < 5; ++i) tokens.learn("I", Act::Talk);
  const TokenDecision talk = token("I", -0.1, {{"Sure", -3.0}, {"<tool_call>", -4.0}});
  EXPECT_FALSE(act_margin(talk, Act::Talk, tokens));
  tokens.learn("<tool", Act::Call);
  EXPECT_TRUE(act_margin(talk, Act::Talk, tokens));
}

TEST(ActMargin, GivesBoundsWhereAnActIsNotAmongTheAlternatives) {
  const FirstTokens tokens = learned();
  const TokenDecision calls = token("<tool_call>", -0.1, {{"<", -6.0}});
  const std::optional<Margin> least = act_margin(calls, Act::Call, tokens);
  ASSERT_TRUE(least);
  EXPECT_EQ(least->known, Margin::Known::AtLeast);
  EXPECT_NEAR(least->value, std::log(std::exp(-0.1) + std::exp(-6.0)) + 6, 1e-9);
  EXPECT_EQ(act_margin(calls, Act::Talk, tokens)->known, Margin::Known::AtMost);
  EXPECT_FALSE(act_margin(token("<tool_call>", -0.1, {}), Act::Call, tokens));
  EXPECT_FALSE(act_margin(calls, Act::Call, FirstTokens()));
}

}  // namespace
}  // namespace unmask
