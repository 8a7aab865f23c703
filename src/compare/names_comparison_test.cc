#include "compare/names_comparison.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "compare/arms_for_tests.h"
#include "stats/rank.h"

namespace unmask {
namespace {

using for_tests::arm;
using for_tests::episode;
using for_tests::failed;
using for_tests::random_arm;

std::vector<FailedCall> names(const std::vector<std::string>& list) {
  std::vector<FailedCall> calls;
  for (const std::string& name : list)
    calls.push_back(failed(Channel::ToolName, name, 0, SubKind::Invented));
  return calls;
}

NamesComparison compared_names(const Arm& b, const Arm& c, bool copies = false) {
  return compare_names(*pair_tasks(b, c), copies, 1);
}

TEST(NamesComparison, CountsByHand) {
  const Arm b = arm({episode("a", 0, true, 20, names({"p", "p", "p", "q", "q", "r"})),
                     episode("b", 0, true, 20, names({"s"}))});
  const Arm c = arm({episode("a", 0, true, 20, names({"p", "p", "p", "p", "q", "t", "t"})),
                     episode("b", 0, true, 20, names({"s"}))});
  const NamesComparison found = compared_names(b, c);
  // p 3:4, q 2:1, r 1:0, s 1:1, t 0:2. Mid ranks 5 4 2.5 2.5 1 and 5 2.5 1 2.5 4.
  ASSERT_EQ(found.counts.size(), 5u);
  EXPECT_EQ(found.counts[0].name, "p");
  EXPECT_EQ(found.counts[1].name, "t");
  EXPECT_EQ(found.counts[1].baseline, 0);
  const std::vector<double> x = {5, 4, 2.5, 2.5, 1};
  const std::vector<double> y = {5, 2.5, 1, 2.5, 4};
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < 5; ++i) {
    xy += (x[i] - 3) * (y[i] - 3);
    xx += (x[i] - 3) * (x[i] - 3);
    yy += (y[i] - 3) * (y[i] - 3);
  }
  EXPECT_NEAR(*found.spearman, xy / std::sqrt(xx * yy), 1e-12);
  EXPECT_NEAR(*found.jaccard, 3.0 / 5, 1e-12);
  EXPECT_EQ(found.novel_calls, 2);
  EXPECT_EQ(found.candidate_calls, 8);
  EXPECT_NEAR(*found.novel_share, 0.25, 1e-12);
  EXPECT_FALSE(found.spearman_ceiling);     // one trial has no halves
  EXPECT_FALSE(found.novel_beyond_chance);  // nor other trials
}

TEST(NamesComparison, GivesNoAgreementBelowFiveNames) {
  const Arm b = arm({episode("a", 0, true, 20, names({"p", "q", "r", "s"}))});
  const NamesComparison found = compared_names(b, b);
  EXPECT_FALSE(found.spearman);
  EXPECT_FALSE(found.kendall_tau_b);
  EXPECT_FALSE(found.jaccard);
  EXPECT_EQ(*found.novel_share, 0);
}

TEST(NamesComparison, HasNoNovelShareWithoutHallucinations) {
  const Arm b = arm({episode("a", 0, true, 20, names({"p"}))});
  const NamesComparison found = compared_names(b, arm({episode("a", 0, true, 20)}));
  EXPECT_FALSE(found.novel_share);
  EXPECT_EQ(found.candidate_calls, 0);
}

// Every halving of four trials, by sets of trials, against the definition.
TEST(NamesComparison, AveragesTheCeilingOverTheHalvings) {
  const Arm b = random_arm({.tasks = 6, .tool_name = 0.3, .names = 7, .seed = 3});
  const NamesComparison found = compared_names(b, random_arm({.tasks = 6, .seed = 4}));
  double total = 0;
  for (const std::set<int>& half :
       {std::set<int>{0, 1}, std::set<int>{0, 2}, std::set<int>{0, 3}}) {
    std::map<std::string, std::pair<double, double>> counts;
    for (const EpisodeFacts& e : b.episodes) {
      for (const FailedCall& call : e.failures) {
        (half.contains(e.trial) ? counts[call.name].first : counts[call.name].second) += 1;
      }
    }
    std::vector<double> x, y;
    for (const auto& [name, pair] : counts) {
      x.push_back(pair.first);
      y.push_back(pair.second);
    }
    total += *spearman(x, y);
  }
  EXPECT_NEAR(*found.spearman_ceiling, total / 3, 1e-12);
  EXPECT_FALSE(compared_names(b, b, true).spearman_ceiling);
}

struct Call {
  std::string task;
  int trial = 0;
  std::string name;
  bool candidate = false;
};

// D by its definition, with sets of names; tasks in `swapped` change sides.
double held_out_difference(std::vector<Call> calls, const std::set<std::string>& swapped) {
  for (Call& call : calls) {
    if (swapped.contains(call.task)) call.candidate = !call.candidate;
  }
  double novel[2] = {0, 0};
  double all[2] = {0, 0};
  for (const Call& call : calls) {
    bool known = false;
    for (const Call& other : calls) {
      known = known || (!other.candidate && other.trial != call.trial && other.name == call.name);
    }
    all[call.candidate] += 1;
    novel[call.candidate] += known ? 0 : 1;
  }
  return novel[1] / all[1] - novel[0] / all[0];
}

std::vector<Call> calls_of(const Arm& b, const Arm& c) {
  std::vector<Call> calls;
  for (const Arm* made : {&b, &c}) {
    for (const EpisodeFacts& e : made->episodes) {
      for (const FailedCall& call : e.failures)
        calls.push_back({e.task_id, e.trial, call.name, made == &c});
    }
  }
  return calls;
}

// Two tasks, two trials. R_0 = names of baseline trial 1 = {p, q}; R_1 = {p, r}.
//   baseline   a: trial 0 p, r (r novel), trial 1 p, q (q novel); b: trial 0 p; trial 1 p
//   candidate  a: trial 0 p, z (novel);   trial 1 z (novel);      b: trial 0 q; trial 1 r
TEST(NovelBeyondChance, LeavesOneTrialOutByHand) {
  const Arm b =
      arm({episode("a", 0, true, 9, names({"p", "r"})), episode("a", 1, true, 9, names({"p", "q"})),
           episode("b", 0, true, 9, names({"p"})), episode("b", 1, true, 9, names({"p"}))});
  const Arm c =
      arm({episode("a", 0, true, 9, names({"p", "z"})), episode("a", 1, true, 9, names({"z"})),
           episode("b", 0, true, 9, names({"q"})), episode("b", 1, true, 9, names({"r"}))});
  const NamesComparison found = compared_names(b, c);
  ASSERT_TRUE(found.novel_beyond_chance);
  EXPECT_NEAR(found.novel_beyond_chance->difference, 2.0 / 5 - 2.0 / 6, 1e-12);
  EXPECT_NEAR(held_out_difference(calls_of(b, c), {}), 2.0 / 5 - 2.0 / 6, 1e-12);
  // The four swaps of two tasks, each drawn about equally often; t on 1 df.
  double squares = 0;
  for (const std::set<std::string>& swapped :
       {std::set<std::string>{}, {"a"}, {"b"}, std::set<std::string>{"a", "b"}}) {
    squares += std::pow(held_out_difference(calls_of(b, c), swapped), 2) / 4;
  }
  // t on 1 df is Cauchy's: p = 1 - 2 / pi atan t gives the standard error back.
  const NamesComparison::NovelBeyondChance& novel = *found.novel_beyond_chance;
  const double se = novel.difference / std::tan((1 - novel.p) * std::acos(-1.0) / 2);
  EXPECT_NEAR(se / std::sqrt(squares), 1, 0.06);
  EXPECT_EQ(novel.ci95, (Interval{-1, 1}));  // 12.7 of them reach beyond what shares can differ by
  EXPECT_FALSE(compared_names(b, c, true).novel_beyond_chance);
}

TEST(NovelBeyondChance, EqualsItsDefinitionOnRandomArms) {
  const Arm b = random_arm({.tasks = 8, .trials = 3, .names = 30, .seed = 60});
  const Arm c = random_arm({.tasks = 8, .trials = 3, .names = 40, .seed = 61});
  EXPECT_NEAR(compared_names(b, c).novel_beyond_chance->difference,
              held_out_difference(calls_of(b, c), {}), 1e-12);
}

TEST(NovelBeyondChance, UsesTheTrialsBothArmsHave) {
  const Arm b = random_arm({.tasks = 8, .trials = 3, .names = 30, .seed = 60});
  const Arm more = random_arm({.tasks = 8, .trials = 5, .names = 40, .seed = 61});
  std::vector<EpisodeFacts> three;
  for (const EpisodeFacts& e : more.episodes) {
    if (e.trial < 3) three.push_back(e);
  }
  EXPECT_EQ(compared_names(b, more).novel_beyond_chance->difference,
            compared_names(b, arm(three)).novel_beyond_chance->difference);
}

// A/A: the same habits in both arms, many rare names, so that new names are always met. The naive
// novel share is large; the comparison with the held-out trials must not reject more than
// nominally.
TEST(NovelBeyondChance, DoesNotTakeUnseenNamesForNovelty) {
  int rejected = 0;
  double share = 0;
  constexpr int kRuns = 120;
  for (int run = 0; run < kRuns; ++run) {
    const std::uint64_t seed = 1000 + 2 * static_cast<std::uint64_t>(run);
    const Arm b = random_arm({.tasks = 30, .tool_name = 0.08, .names = 60, .seed = seed});
    const Arm c = random_arm({.tasks = 30, .tool_name = 0.08, .names = 60, .seed = seed + 1});
    const NamesComparison found = compared_names(b, c);
    ASSERT_TRUE(found.novel_beyond_chance);
    if (found.novel_beyond_chance->p < 0.05) ++rejected;
    share += *found.novel_share / kRuns;
  }
  EXPECT_GT(share, 0.1);
  EXPECT_LE(rejected, 15);  // nominal 6 of 120; 15 has probability below 0.1 %
}

TEST(NovelBeyondChance, SeesNamesTheBaselineNeverUses) {
  const Arm b = random_arm({.tool_name = 0.15, .seed = 50});
  Arm c = random_arm({.tool_name = 0.15, .seed = 51});
  for (std::size_t e = 0; e < c.episodes.size(); ++e) {
    for (FailedCall& call : c.episodes.edit(e).failures) {
      if (call.position % 3 == 0) call.name = "quantized_" + call.name;
    }
  }
  const NamesComparison found = compared_names(b, c);
  EXPECT_LT(found.novel_beyond_chance->p, 1e-3);
  EXPECT_GT(found.novel_beyond_chance->ci95.lo, 0.2);
}

TEST(PairsComparison, JoinsToolAndChannel) {
  const Arm b = arm({episode("a", 0, true, 9, {failed(Channel::Entity, "get_user")})});
  const Arm c =
      arm({episode("a", 0, true, 9,
                   {failed(Channel::Schema, "get_user"), failed(Channel::Entity, "get_user")})});
  const NamesComparison pairs = compare_pairs(*pair_tasks(b, c), false, 1);
  ASSERT_EQ(pairs.counts.size(), 2u);
  EXPECT_EQ(pairs.novel_calls, 1);
  EXPECT_EQ(pairs.counts[0].name, "get_user/entity");
}

}  // namespace
}  // namespace unmask
