// Replays whose replies were drawn: the draw is no decision of the weights.
#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"
#include "compare/mechanism.h"

namespace unmask {
namespace {

// What a model gives in a context: which word its call begins with, and how it goes on behind each.
struct Chances {
  std::vector<double> verb;               // log-probabilities of kVerbs
  std::vector<std::vector<double>> noun;  // of kNouns behind each
};
const std::vector<std::string> kVerbs = {"get_", "set_"};
const std::vector<std::string> kNouns = {"user", "order", "ghost"};  // no ghost is offered

std::vector<double> normalised(std::vector<double> logits) {
  double sum = 0;
  for (const double x : logits) sum += std::exp(x);
  for (double& x : logits) x -= std::log(sum);
  return logits;
}

// Leads of 0.5 to 2.5 nats, so that an error of 0.01 flips nothing.
std::vector<double> random_choice(std::size_t n, Rng& rng) {
  std::vector<double> logits;
  for (std::size_t i = 0; i < n; ++i) logits.push_back(-0.5 * static_cast<double>(i));
  for (std::size_t i = n; i > 1; --i)
    std::swap(logits[i - 1], logits[rng.below(static_cast<std::uint32_t>(i))]);
  const double scale = 1 + 4 * rng.uniform();
  for (double& x : logits) x *= scale;
  return logits;
}

std::vector<double> shaken(const std::vector<double>& logits, Rng& rng) {
  std::vector<double> out = logits;
  for (double& x : out) x += 0.01 * (rng.uniform() - 0.5);
  return normalised(std::move(out));
}

std::size_t drawn(const std::vector<double>& logprobs, Rng& rng) {
  double left = rng.uniform();
  for (std::size_t i = 0; i + 1 < logprobs.size(); ++i) {
    left -= std::exp(logprobs[i]);
    if (left < 0) return i;
  }
  return logprobs.size() - 1;
}

TokenDecision token_of(const std::vector<std::string>& words, const std::vector<double>& logprobs,
                       std::size_t taken) {
  TokenDecision out{words[taken], logprobs[taken], {}};
  for (std::size_t i = 0; i < words.size(); ++i) out.top.push_back({words[i], logprobs[i]});
  return out;
}

struct Drawn {
  Replay replay;
  std::vector<std::optional<Decision>> decisions;

  void reply(const std::string& context, const std::string& arm, const Chances& logits, Rng& rng) {
    const std::vector<double> verbs = shaken(logits.verb, rng);
    const std::size_t verb = drawn(verbs, rng);
    const std::vector<double> nouns = shaken(logits.noun[verb], rng);
    const std::size_t noun = drawn(nouns, rng);
    ReplayReply out;
    out.context_id = context;
    out.arm = arm;
    ToolCall call;
    call.name = kVerbs[verb] + kNouns[noun];
    call.arguments = "{}";
    out.calls = {call};
    if (noun == 2) out.channel = "tool_name";
    Decision decision;
    decision.name =
        NameDecision{call.name, {token_of(kVerbs, verbs, verb), token_of(kNouns, nouns, noun)}};
    replay.replies.push_back(out);
    decisions.emplace_back(std::move(decision));
  }
};

// The same weights twice, each reply drawn anew.
Drawn drawn_twice(int tasks, int contexts) {
  Drawn out;
  out.replay.head.greedy = false;
  out.replay.head.arms = {{"a", "", "", "", true, ""}, {"b", "", "", "", false, ""}};
  out.replay.tools = {{"t", {"get_user", "get_order", "set_user", "set_order"}}};
  Rng rng(11, "compare/drawn");
  for (int task = 0; task < tasks; ++task)
    for (int i = 0; i < contexts; ++i) {
      ReplayContext context;
      context.id = std::to_string(task) + "." + std::to_string(i);
      context.task_id = std::to_string(task);
      context.tools_id = "t";
      out.replay.contexts.push_back(context);
      Chances logits{random_choice(2, rng), {random_choice(3, rng), random_choice(3, rng)}};
      out.reply(context.id, "a", logits, rng);
      out.reply(context.id, "b", logits, rng);
    }
  return out;
}

TEST(SampledMechanism, TheSameWeightsDrawnTwiceDoNotFlip) {
  const Drawn drawn = drawn_twice(40, 15);
  MechanismOptions options;
  options.resamples = 200;
  options.threads = 1;
  const Result<Mechanism> mechanism = analyse_mechanism(drawn.replay, drawn.decisions, options);
  ASSERT_TRUE(mechanism);
  const CandidateMechanism& candidate = mechanism->candidates[0];
  EXPECT_GT(candidate.outcomes.other_tool, 100);  // the draws differ
  const FlipAnalysis& tools = candidate.flips[1];
  EXPECT_GT(tools.off_top, 100);
  EXPECT_GT(tools.pairs, 200);
  EXPECT_EQ(tools.flips, 0);
  ASSERT_TRUE(tools.models) << tools.no_models;
  ASSERT_TRUE(tools.models->additive.sigma);
  EXPECT_LT(tools.models->additive.sigma->value, 0.02);
  ASSERT_TRUE(candidate.additive);
  EXPECT_GT(candidate.additive->baseline, 0.1);
  EXPECT_EQ(candidate.additive->observed, candidate.additive->baseline);
  EXPECT_NEAR(candidate.additive->predicted, candidate.additive->baseline, 0.001);
  EXPECT_EQ(candidate.additive->observed_amplification, 1.0);
}

// Three nouns of the candidate's other weights: what it prefers counts, not what it drew.
TEST(SampledMechanism, AFlipGoesToTheNameThatIsPreferred) {
  Drawn drawn = drawn_twice(1, 0);
  const auto add = [&](const std::string& id, const std::string& arm, std::size_t noun,
                       const std::vector<double>& nouns) {
    ReplayReply reply;
    reply.context_id = id;
    reply.arm = arm;
    ToolCall call;
    call.name = "get_" + kNouns[noun];
    reply.calls = {call};
    Decision decision;
    decision.name =
        NameDecision{call.name, {token_of(kVerbs, {-0.01, -5}, 0), token_of(kNouns, nouns, noun)}};
    drawn.replay.replies.push_back(reply);
    drawn.decisions.emplace_back(std::move(decision));
  };
  for (int i = 0; i < 12; ++i) {
    ReplayContext context;
    context.id = context.task_id = std::to_string(i);
    context.tools_id = "t";
    drawn.replay.contexts.push_back(context);
    add(context.id, "a", 0, {-0.1 - 0.01 * i, -2.5, -4});
    // Prefers the ghost and drew the order.
    add(context.id, "b", i == 0 ? 2 : 1, {-1.2 - 0.03 * (i % 3), -1.4, -0.9});
  }
  const Result<Mechanism> mechanism = analyse_mechanism(drawn.replay, drawn.decisions, {});
  ASSERT_TRUE(mechanism);
  const CandidateMechanism& candidate = mechanism->candidates[0];
  EXPECT_EQ(candidate.flips[1].flips, 12);
  ASSERT_TRUE(candidate.additive) << candidate.flips[1].no_held_out;
  EXPECT_EQ(candidate.additive->observed, 1.0);
  // What a greedy reply wrote is what it prefers: one ghost of 12.
  drawn.replay.head.greedy = true;
  const Result<Mechanism> greedy = analyse_mechanism(drawn.replay, drawn.decisions, {});
  ASSERT_TRUE(greedy && greedy->candidates[0].additive);
  EXPECT_NEAR(greedy->candidates[0].additive->observed, 1.0 / 12, 1e-12);
}

}  // namespace
}  // namespace unmask
