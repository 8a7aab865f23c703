#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"
#include "metrics/arm.h"
#include "metrics/episode_facts.h"
#include "metrics/task_numbers.h"

namespace unmask {
namespace {

// Builds an episode and its classification side by side: one character a call.
//   o ok, n tool_name, e entity, s system, u unanswered, m leaked markup (no result)
//   N tool_name by the user's side; '|' starts a new message, '!' puts an orphan failure.
struct Script {
  Episode episode;
  ClassifiedEpisode classified;
};

Script script(const std::string& text) {
  Script s;
  int position = 0;
  s.episode.messages.push_back({});
  for (const char c : text) {
    if (c == '|') {
      s.episode.messages.push_back({});
      continue;
    }
    if (c == '!') {
      Message orphan;
      orphan.role = Role::Tool;
      orphan.result = ToolResult{"", "Error", true, "", Side::User};
      s.episode.messages.push_back(orphan);
      continue;
    }
    ClassifiedCall call;
    call.side = c == 'N' ? Side::User : Side::Agent;
    call.channel = c == 'o'   ? Channel::Ok
                   : c == 'e' ? Channel::Entity
                   : c == 's' ? Channel::System
                   : c == 'u' ? Channel::Unanswered
                   : c == 'm' ? Channel::Malformed
                              : Channel::ToolName;
    call.name = std::string("tool_") + c;
    call.message = static_cast<int>(s.episode.messages.size()) - 1;
    call.position = call.side == Side::Agent ? position++ : 0;
    call.in_budget = c == 'n' || c == 'e' || c == 'N';
    s.classified.calls.push_back(call);
  }
  for (const ClassifiedCall& call : s.classified.calls) {  // results after all, for counting only
    if (call.channel == Channel::Unanswered || call.channel == Channel::Malformed) continue;
    Message result;
    result.role = Role::Tool;
    result.result =
        ToolResult{"", "", call.in_budget || call.channel == Channel::System, "", call.side};
    s.episode.messages.push_back(result);
  }
  return s;
}

EpisodeFacts facts_of(const std::string& text, Termination end = Termination::UserStop) {
  Script s = script(text);
  s.episode.termination = end;
  return episode_facts(s.episode, s.classified);
}

EpisodeFacts graded(const std::string& task, int trial, bool success, int errors) {
  EpisodeFacts facts;
  facts.task_id = task;
  facts.trial = trial;
  facts.success = success;
  facts.errors_all = errors;
  facts.errors_agent = errors / 2;
  return facts;
}

Arm arm_of(std::vector<EpisodeFacts> episodes) {
  return make_arm("a", {}, {}, std::move(episodes));
}

TEST(EpisodeFacts, CountsEachCallOnceByItsSideAndChannel) {
  const EpisodeFacts facts = facts_of("on|eN|su|m!");
  EXPECT_EQ(facts.agent_calls, 4);  // o n e m; system and unanswered are outside the rates
  EXPECT_EQ(facts.user_calls, 1);
  EXPECT_EQ(facts.system, 1);
  EXPECT_EQ(facts.unanswered, 1);
  EXPECT_EQ(facts.agent_channel[static_cast<std::size_t>(Channel::ToolName)], 1);
  EXPECT_EQ(facts.agent_channel[static_cast<std::size_t>(Channel::Entity)], 1);
  EXPECT_EQ(facts.errors_all, 5);  // n e N s and the orphan: tau2 counts every failed tool message
  EXPECT_EQ(facts.errors_agent, 3);  // n e s
  EXPECT_EQ(facts.failures.size(), 4u);
}

TEST(EpisodeFacts, RecoveryNeedsALaterMessage) {
  using R = FailedCall::Recovery;
  const EpisodeFacts parallel = facts_of("no|n|o|n");
  ASSERT_EQ(parallel.failures.size(), 3u);
  EXPECT_EQ(parallel.failures[0].recovery, R::NotRecovered);  // the o beside it is not a reaction
  EXPECT_EQ(parallel.failures[1].recovery, R::Recovered);
  EXPECT_EQ(parallel.failures[2].recovery, R::NotRecovered);  // last, and the run ended otherwise
  EXPECT_EQ(facts_of("n", Termination::TooManyErrors).failures[0].recovery, R::Censored);
  EXPECT_EQ(facts_of("n|s|u|o").failures[0].recovery, R::Recovered);  // system is no reaction
  EXPECT_EQ(facts_of("n|N|o").failures[0].recovery, R::Recovered);    // nor is the user's call
}

TEST(EpisodeFacts, BurstsAreRunsOfConsecutiveFailures) {
  EXPECT_EQ(facts_of("nn|eo|n|s|n|o").burst_lengths, (std::vector<int>{3, 2}));
  EXPECT_TRUE(facts_of("o|o").burst_lengths.empty());
}

TEST(EpisodeFacts, BinsPositionsByTheAgentsCallIndex) {
  EXPECT_EQ(position_bin(4), 0);
  EXPECT_EQ(position_bin(5), 1);
  EXPECT_EQ(position_bin(9), 1);
  EXPECT_EQ(position_bin(10), 2);
  EXPECT_EQ(position_bin(19), 2);
  EXPECT_EQ(position_bin(20), 3);
  const EpisodeFacts facts = facts_of("o|o|o|o|o|n|o");
  EXPECT_EQ(facts.position_calls, (std::array<int, 4>{5, 2, 0, 0}));
  EXPECT_EQ(facts.position_failures[1][static_cast<std::size_t>(Channel::ToolName)], 1);
}

TEST(EpisodeFacts, QuartersAreOfTheAgentsMessagesAndSpareEpisodesTheBudgetCut) {
  const auto name = static_cast<std::size_t>(Channel::ToolName);
  const EpisodeFacts facts = facts_of("o|no|o|N|n|oo|s|nn");  // 8 messages, two a quarter
  EXPECT_EQ(facts.quarter_calls, (std::array<int, 4>{3, 1, 3, 2}));
  EXPECT_EQ(facts.quarter_failures[0][name], 1);
  EXPECT_EQ(facts.quarter_failures[1][name], 0);
  EXPECT_EQ(facts.quarter_failures[2][name], 1);
  EXPECT_EQ(facts.quarter_failures[3][name], 2);
  EXPECT_EQ(facts_of("o|n|o", Termination::TooManyErrors).quarter_calls, (std::array<int, 4>{}));
  // Fewer messages than quarters: the m-th of n lies in quarter 4 m / n.
  EXPECT_EQ(facts_of("o|o").quarter_calls, (std::array<int, 4>{1, 0, 1, 0}));
}

TEST(EpisodeFacts, CutsEvidenceOnACharacterBoundary) {
  Script s = script("n");
  std::string text(kEvidenceBytes - 1, 'x');
  text += "\xC3\xA4\xC3\xA4";
  s.classified.calls[0].evidence = text;
  const EpisodeFacts facts = episode_facts(s.episode, s.classified);
  EXPECT_EQ(facts.failures[0].evidence, std::string(kEvidenceBytes - 1, 'x'));
}

TEST(EpisodeFacts, EqualTrajectoriesHaveEqualHashes) {
  Script a = script("n|o");
  Script b = script("n|o");
  EXPECT_EQ(episode_facts(a.episode, a.classified).trajectory_hash,
            episode_facts(b.episode, b.classified).trajectory_hash);
  b.episode.messages[0].text = "x";
  EXPECT_NE(episode_facts(a.episode, a.classified).trajectory_hash,
            episode_facts(b.episode, b.classified).trajectory_hash);
}

TEST(Arm, SortsTasksNaturallyAndGroupsThem) {
  const Arm arm = arm_of({graded("10", 0, true, 0), graded("2", 1, true, 0),
                          graded("b", 0, true, 0), graded("2", 0, false, 0)});
  ASSERT_EQ(arm.tasks.size(), 3u);
  EXPECT_EQ(arm.tasks[0].id, "2");
  EXPECT_EQ(arm.tasks[1].id, "10");
  EXPECT_EQ(arm.tasks[2].id, "b");
  EXPECT_EQ(arm.episodes[0].trial, 0);
  EXPECT_EQ(arm.tasks[0].end, 2u);
}

TEST(TaskNumbers, SuccessUnderBudgetFollowsBothRules) {
  const Arm arm =
      arm_of({graded("1", 0, true, 2), graded("1", 1, true, 3), graded("2", 0, false, 0)});
  const auto at = [&](int k, BudgetRule rule, BudgetCount count) {
    return task_success_under_budget(arm, k, rule, count);
  };
  EXPECT_DOUBLE_EQ(*at(2, BudgetRule::AtMost, BudgetCount::All)[0], 0.5);
  EXPECT_DOUBLE_EQ(*at(3, BudgetRule::AtMost, BudgetCount::All)[0], 1.0);
  EXPECT_DOUBLE_EQ(*at(1, BudgetRule::AtMost, BudgetCount::Agent)[0], 1.0);
  EXPECT_DOUBLE_EQ(*at(9, BudgetRule::AtMost, BudgetCount::All)[1], 0.0);
  for (int k = 0; k < 6; ++k)  // at_most(K) is live(K + 1)
    EXPECT_EQ(at(k, BudgetRule::AtMost, BudgetCount::All),
              at(k + 1, BudgetRule::Live, BudgetCount::All));
}

TEST(TaskNumbers, UngradedAndExcludedAreNeitherPassNorFail) {
  EpisodeFacts ungraded = graded("1", 0, true, 0);
  ungraded.success.reset();
  EpisodeFacts excluded = graded("2", 0, false, 0);
  excluded.excluded = true;
  excluded.agent_calls = 5;
  const Arm arm = arm_of({ungraded, excluded, graded("2", 1, true, 0)});
  EXPECT_FALSE(task_success(arm)[0]);
  EXPECT_DOUBLE_EQ(*task_success(arm)[1], 1.0);
  EXPECT_DOUBLE_EQ(task_channel_counts(arm, Channel::ToolName).calls[1], 0);
  EXPECT_DOUBLE_EQ(task_channel_counts(arm, Channel::ToolName).episodes[1], 1);
  EXPECT_EQ(pass_hat_k(arm).size(), 1u);
  EXPECT_DOUBLE_EQ(*task_success(with_excluded_as(arm, ReadAs::Failed))[1], 0.5);
  EXPECT_DOUBLE_EQ(*task_success(with_excluded_as(arm, ReadAs::Passed))[1], 1.0);
  EXPECT_TRUE(pass_hat_k(arm_of({ungraded})).empty());
}

TEST(TaskNumbers, UngradedAndMissingCanBeReadAsEither) {
  EpisodeFacts ungraded = graded("1", 0, true, 3);
  ungraded.success.reset();
  EpisodeFacts excluded = graded("1", 1, true, 0);
  excluded.excluded = true;
  const Arm arm = arm_of({ungraded, excluded, graded("2", 0, true, 0)});
  const Arm failed = with_ungraded_as(arm, ReadAs::Failed);
  EXPECT_DOUBLE_EQ(*task_success(failed)[0], 0.0);
  EXPECT_EQ(failed.episodes[0].errors_all, arm.episodes[0].errors_all);
  EXPECT_DOUBLE_EQ(*task_success(with_ungraded_as(arm, ReadAs::Passed))[0], 1.0);
  EXPECT_FALSE(task_success(with_ungraded_as(arm, ReadAs::LeftOut))[0]);

  const std::vector<TaskTrial> missing = {{arm.tasks[1].domain, "2", 1}};
  const Arm filled = with_missing_as(arm, missing, ReadAs::Failed);
  ASSERT_EQ(filled.tasks.size(), 2u);
  EXPECT_EQ(filled.episodes.size(), 4u);
  EXPECT_DOUBLE_EQ(*task_success(filled)[1], 0.5);
  EXPECT_DOUBLE_EQ(*task_success(with_missing_as(arm, missing, ReadAs::Passed))[1], 1.0);
  EXPECT_EQ(with_missing_as(arm, missing, ReadAs::LeftOut).episodes.size(), 3u);
}

TEST(TaskNumbers, PassHatKIsTheShareOfSubsetsThatAllPass) {
  // Naive definition: over every subset of k trials, all pass.
  Rng rng(5);
  std::vector<EpisodeFacts> episodes;
  bool passed[6][4];
  for (int t = 0; t < 6; ++t)
    for (int j = 0; j < 4; ++j) {
      passed[t][j] = rng.bernoulli(0.6);
      episodes.push_back(graded(std::to_string(t), j, passed[t][j], 0));
    }
  const std::map<int, double> result = pass_hat_k(arm_of(episodes));
  ASSERT_EQ(result.size(), 4u);
  for (int k = 1; k <= 4; ++k) {
    double sum = 0;
    for (int t = 0; t < 6; ++t) {
      int subsets = 0, all = 0;
      for (int mask = 0; mask < 16; ++mask) {
        if (__builtin_popcount(static_cast<unsigned>(mask)) != k) continue;
        ++subsets;
        bool ok = true;
        for (int j = 0; j < 4; ++j) ok = ok && (!(mask >> j & 1) || passed[t][j]);
        all += ok;
      }
      sum += static_cast<double>(all) / subsets;
    }
    EXPECT_NEAR(result.at(k), sum / 6, 1e-12);
  }
}

TEST(TaskNumbers, NamesAreCountedPerArmAndOccurrence) {
  EpisodeFacts a = facts_of("n|n|e|N");
  a.task_id = "1";
  EpisodeFacts b = facts_of("m|n");
  b.task_id = "2";
  const Arm arm = arm_of({a, b});
  const NamedFailures hallucinated = hallucinated_names(arm);
  ASSERT_EQ(hallucinated.names.size(), 1u);  // the user's hallucination is not the agent's
  EXPECT_EQ(hallucinated.names[0].name, "tool_n");
  EXPECT_EQ(hallucinated.names[0].count, 3);
  EXPECT_EQ(hallucinated.calls.size(), 3u);
  const NamedFailures pairs = failing_pairs(arm);
  ASSERT_EQ(pairs.names.size(), 3u);
  EXPECT_EQ(pairs.names[0].name, "tool_n/tool_name");
  EXPECT_EQ(pairs.names[0].count, 3);
  EXPECT_LT(pairs.names[1].name, pairs.names[2].name);  // equal counts: by name
  ASSERT_EQ(pairs.calls.size(), 5u);
  std::vector<long> counted(3, 0);
  for (const NameOccurrence& call : pairs.calls) ++counted[call.name];
  EXPECT_EQ(counted, (std::vector<long>{3, 1, 1}));
  EXPECT_EQ(pairs.calls.front().name, 0u);
  EXPECT_EQ(pairs.calls.back().task, 1u);
}

TEST(TaskNumbers, RecoveryLeavesCensoredFailuresOut) {
  EpisodeFacts a = facts_of("n|o|n", Termination::TooManyErrors);
  a.task_id = "1";
  const TaskRecovery recovery = task_recovery(arm_of({a}));
  EXPECT_DOUBLE_EQ(recovery.failures[0], 1);
  EXPECT_DOUBLE_EQ(recovery.recovered[0], 1);
  EXPECT_EQ(recovery.censored, 1);
}

TEST(TaskNumbers, MeansAreOverTasksAndAbsentWhereTheLogLacksThem) {
  EpisodeFacts a = graded("1", 0, true, 0);
  a.steps = 10;
  EpisodeFacts b = graded("1", 1, true, 0);
  b.steps = 20;
  EpisodeFacts c = graded("2", 0, true, 0);
  c.steps = 100;
  const LengthMeans means = length_means(arm_of({a, b, c}));
  EXPECT_DOUBLE_EQ(*means.steps, 57.5);
  EXPECT_FALSE(means.seconds);
  EXPECT_FALSE(length_means(arm_of({})).steps);
  EXPECT_FALSE(bursts(arm_of({a})).mean_length);
}

TEST(Arm, SelectsTasksWithTheirEpisodes) {
  const Arm arm =
      arm_of({graded("1", 0, true, 0), graded("2", 0, false, 1), graded("3", 0, true, 2)});
  const std::vector<std::size_t> chosen = {2, 0};
  const Arm selected = select_tasks(arm, chosen);
  ASSERT_EQ(selected.tasks.size(), 2u);
  EXPECT_EQ(selected.tasks[0].id, "3");
  EXPECT_EQ(selected.episodes.size(), 2u);
}

TEST(EpisodeList, SharesEpisodesUntilOneIsWritten) {
  const Arm arm = arm_of({graded("1", 0, true, 0), graded("2", 0, true, 0)});
  Arm copy = arm;
  EXPECT_EQ(copy.episodes.shared(0), arm.episodes.shared(0));
  copy.episodes.edit(0).success = false;
  EXPECT_EQ(arm.episodes[0].success, true);
  EXPECT_EQ(copy.episodes[0].success, false);
  EXPECT_EQ(copy.episodes.shared(1), arm.episodes.shared(1));
}

// An episode whose one message came of a refused attempt, as the classifier would judge it.
Script repaired_script(Repair repair, bool spends) {
  Script s = script(repair == Repair::Repaired ? "no" : "n");
  s.classified.calls[0].repair = repair;
  s.classified.calls[0].in_budget = spends;
  for (Message& message : s.episode.messages) message.result.reset();
  Attempt attempt;
  attempt.channel = "tool_name";
  attempt.spends_budget = spends;
  attempt.usage = TokenUsage{10, 3};
  s.episode.messages[0].attempts = {attempt, attempt};
  s.episode.messages[0].usage = TokenUsage{5, 1};
  return s;
}

TEST(Repairs, AreCountedByWhatBecameOfThem) {
  for (const Repair repair : {Repair::Repaired, Repair::Unrepaired, Repair::Withdrawn}) {
    const Script s = repaired_script(repair, false);
    const EpisodeFacts facts = episode_facts(s.episode, s.classified);
    EXPECT_EQ(facts.repair.refused, 1);
    EXPECT_EQ(facts.repair.repaired, repair == Repair::Repaired);
    EXPECT_EQ(facts.repair.unrepaired, repair == Repair::Unrepaired);
    EXPECT_EQ(facts.repair.withdrawn, repair == Repair::Withdrawn);
    EXPECT_EQ(facts.agent_channel[static_cast<std::size_t>(Channel::ToolName)], 1);
    EXPECT_EQ(facts.agent_calls, repair == Repair::Repaired ? 2 : 1);
    EXPECT_EQ(facts.errors_all, 0);
    EXPECT_EQ(facts.failures.at(0).repair, repair);
  }
}

TEST(Repairs, ARepairedCallHasRecoveredByTheCallThatCameOfIt) {
  const Script s = repaired_script(Repair::Repaired, false);
  EXPECT_EQ(episode_facts(s.episode, s.classified).failures.at(0).recovery,
            FailedCall::Recovery::Recovered);
  Script unrepaired = repaired_script(Repair::Repaired, false);
  unrepaired.classified.calls[0].repair = Repair::Unrepaired;
  EXPECT_EQ(episode_facts(unrepaired.episode, unrepaired.classified).failures.at(0).recovery,
            FailedCall::Recovery::NotRecovered)
      << "calls of its own message are no reaction";
}

TEST(Repairs, EveryRefusalThatSpendsCountsInE) {
  const Script s = repaired_script(Repair::Repaired, true);
  const EpisodeFacts facts = episode_facts(s.episode, s.classified);
  EXPECT_EQ(facts.errors_all, 2);
  EXPECT_EQ(facts.errors_agent, 2);
}

TEST(Repairs, TokensOfRefusedMessagesAreCounted) {
  const Script s = repaired_script(Repair::Repaired, false);
  const EpisodeFacts facts = episode_facts(s.episode, s.classified);
  EXPECT_EQ(facts.prompt_tokens, 25);
  EXPECT_EQ(facts.completion_tokens, 7);
}

TEST(Repairs, MakeAnotherTrajectory) {
  Script s = repaired_script(Repair::Repaired, false);
  const std::uint64_t hash = episode_facts(s.episode, s.classified).trajectory_hash;
  s.episode.messages[0].attempts[1].text = "again";
  EXPECT_NE(episode_facts(s.episode, s.classified).trajectory_hash, hash);
}

}  // namespace
}  // namespace unmask
