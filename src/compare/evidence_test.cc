#include "compare/evidence.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "compare/arms_for_tests.h"
#include "compare/comparison.h"
#include "compare/same_text.h"
#include "compare/tau2_history.h"

namespace unmask {
namespace {

using for_tests::arm;
using for_tests::episode;
using for_tests::failed;
using for_tests::random_arm;

const Warning* find(const std::vector<Warning>& warnings, const std::string& code) {
  for (const Warning& warning : warnings) {
    if (warning.code == code) return &warning;
  }
  return nullptr;
}

const Warning* between(const std::vector<Warning>& warnings, const std::string& code) {
  return find(warnings, code);
}

// Four tasks, two trials, nothing to complain about.
std::vector<EpisodeFacts> sound_episodes() {
  std::vector<EpisodeFacts> episodes;
  for (int t = 0; t < 4; ++t) {
    for (int j = 0; j < 2; ++j) episodes.push_back(episode(std::to_string(t), j, true, 5));
  }
  return episodes;
}

TEST(Evidence, FindsNothingInASoundArm) {
  EXPECT_TRUE(evidence_warnings(arm(sound_episodes())).empty());
}

TEST(Evidence, CountsExcludedEpisodesAndSaysWhere) {
  std::vector<EpisodeFacts> episodes = sound_episodes();
  episodes[3].excluded = true;
  episodes[4].excluded = true;
  const std::vector<Warning> warnings = evidence_warnings(arm(episodes));
  const Warning* excluded = find(warnings, "excluded_episodes");
  ASSERT_TRUE(excluded);
  EXPECT_EQ(excluded->count, 2);
  EXPECT_NE(excluded->message.find("2 episodes of 8"), std::string::npos);
  EXPECT_EQ(excluded->where, "task 1 trial 1; task 2 trial 0");
}

// Two failed calls in a success: none that a budget of 3 forbids, one more than 2 lets any keep.
TEST(Evidence, ContradictsABudgetThatSuccessesExceed) {
  std::vector<EpisodeFacts> episodes = sound_episodes();
  episodes[2].errors_all = 2;
  episodes[5].errors_all = 4;
  episodes[5].success = false;
  episodes[6].errors_all = 9;
  episodes[6].excluded = true;
  EXPECT_FALSE(find(evidence_warnings(arm(episodes, 3)), "budget_contradicted"));
  EXPECT_FALSE(find(evidence_warnings(arm(episodes, std::nullopt)), "budget_contradicted"));
  const std::vector<Warning> warnings = evidence_warnings(arm(episodes, 2));
  const Warning* contradicted = find(warnings, "budget_contradicted");
  ASSERT_TRUE(contradicted);
  EXPECT_EQ(contradicted->count, 1);
  EXPECT_EQ(contradicted->where, "task 1 trial 0 (2 failed calls)");
  EXPECT_NE(contradicted->message.find("1 successful episode holds more failed calls"),
            std::string::npos);
  EXPECT_NE(contradicted->message.find("max_errors = 2 ends an episode at 2 failed calls"),
            std::string::npos)
      << contradicted->message;
}

TEST(Evidence, RecognisesTheSelectionWindowByCommitAndByDate) {
  RunInfo info;
  info.format = "tau2";
  info.git_commit = "387c7753941362628710aeb74cf0bbc04e3a239a";  // the last before the fix
  EXPECT_EQ(selection_window(info), SelectionWindow::ByCommit);
  info.git_commit = "17e07b1";  // v1.0.0, abbreviated
  EXPECT_EQ(selection_window(info), SelectionWindow::ByCommit);
  info.git_commit = "17e07b";  // too short to tell
  EXPECT_EQ(selection_window(info), SelectionWindow::Outside);
  info.git_commit = "2BE691669909439cf88dedc13decf94b7664d262";  // the fix
  info.timestamp = "2026-04-29T23:00:00";
  EXPECT_EQ(selection_window(info), SelectionWindow::Outside);
  info.git_commit = "0123456789abcdef0123456789abcdef01234567";  // someone's own
  EXPECT_EQ(selection_window(info), SelectionWindow::ByDate);
  info.timestamp = "2026-04-30T00:00:00";
  EXPECT_EQ(selection_window(info), SelectionWindow::Outside);
  info.timestamp = "2026-03-17T23:59:59";
  EXPECT_EQ(selection_window(info), SelectionWindow::Outside);
  info.timestamp = "2026-04-xx";
  EXPECT_EQ(selection_window(info), SelectionWindow::Outside);
  info.timestamp = "2026-04-02";
  EXPECT_EQ(selection_window(info), SelectionWindow::ByDate);
  info.format = "inspect";
  EXPECT_EQ(selection_window(info), SelectionWindow::Outside);
}

TEST(Evidence, WarnsOfTheSelectionWindowWithTheExcludedCount) {
  std::vector<EpisodeFacts> episodes = sound_episodes();
  episodes[3].excluded = true;
  Arm made = arm(episodes);
  made.info.git_commit = "387c7753941362628710aeb74cf0bbc04e3a239a";
  const std::vector<Warning> warnings = evidence_warnings(made);
  ASSERT_TRUE(find(warnings, "selection_window"));
  EXPECT_EQ(find(warnings, "selection_window")->count, 1);
}

TEST(Evidence, SaysWhereToolsAreKnownFromErrorTextsOnly) {
  std::vector<EpisodeFacts> episodes = sound_episodes();
  episodes[0].tool_evidence = ToolEvidence::ErrorTexts;
  const std::vector<Warning> warnings = evidence_warnings(arm(episodes));
  ASSERT_TRUE(find(warnings, "tool_evidence"));
  EXPECT_EQ(find(warnings, "tool_evidence")->count, 1);
  episodes[0].tool_evidence = ToolEvidence::Log;
  EXPECT_EQ(find(evidence_warnings(arm(episodes)), "tool_evidence")->count, 2);
}

TEST(Evidence, CountsCallsThatAreOutsideTheRules) {
  std::vector<EpisodeFacts> episodes = sound_episodes();
  episodes[0].unanswered = 2;
  episodes[1].system = 3;
  episodes[2].not_offered_ok = 4;
  episodes[3].orphan_results = 5;
  episodes[4].failures = {failed(Channel::Rejected, "pay", 0, SubKind::UnknownText)};
  FailedCall lost = failed(Channel::Malformed, "", 0, SubKind::LeakedMarkup);
  lost.cause = Cause::Parser;
  episodes[5].failures = {lost, lost};
  episodes[6].success = std::nullopt;
  const std::vector<Warning> warnings = evidence_warnings(arm(episodes));
  EXPECT_EQ(find(warnings, "unanswered_calls")->count, 2);
  EXPECT_EQ(find(warnings, "system_calls")->count, 3);
  EXPECT_EQ(find(warnings, "not_offered_accepted")->count, 4);
  EXPECT_EQ(find(warnings, "orphan_results")->count, 5);
  EXPECT_EQ(find(warnings, "unknown_text")->count, 1);
  EXPECT_EQ(find(warnings, "parser_loss")->count, 2);
  EXPECT_EQ(find(warnings, "ungraded_episodes")->count, 1);
}

TEST(Evidence, FindsMissingAndDuplicatePairs) {
  std::vector<EpisodeFacts> episodes = sound_episodes();
  episodes.erase(episodes.begin() + 5);           // task 2 trial 1
  episodes.push_back(episode("0", 1, false, 5));  // again
  Arm made = arm(episodes);
  std::vector<Warning> warnings = evidence_warnings(made);
  EXPECT_EQ(find(warnings, "missing_pairs")->count, 1);
  EXPECT_EQ(find(warnings, "missing_pairs")->where, "task 2 trial 1");
  EXPECT_EQ(find(warnings, "duplicate_pairs")->count, 1);
  made.info.num_trials = 3;
  made.info.task_ids = {"0", "1", "2", "3", "4"};
  warnings = evidence_warnings(made);
  EXPECT_EQ(find(warnings, "missing_pairs")->count, 1 + 4 + 3);
  made.sources = {"a.json", "b.json"};  // the header speaks for the first shard only
  EXPECT_EQ(find(evidence_warnings(made), "missing_pairs")->count, 1);
}

TEST(Evidence, MissesBesideTheOtherArmOnlyWhatThatOneHas) {
  const Arm whole = arm(sound_episodes());
  std::vector<EpisodeFacts> episodes = sound_episodes();
  episodes.erase(episodes.begin() + 5);  // task 2 trial 1
  Arm made = arm(episodes);
  const std::vector<TaskTrial> missing = missing_beside(made, whole);
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_EQ(missing[0].task, "2");
  EXPECT_EQ(missing[0].trial, 1);
  EXPECT_TRUE(missing_beside(whole, made).empty());
  EXPECT_TRUE(missing_beside(made, made).empty());  // what neither has weighs nothing
  made.info.task_ids = {"nobody ran this"};
  EXPECT_EQ(missing_beside(made, whole).size(), 1u);
}

TEST(Evidence, IgnoresAnAbsurdNumberOfAnnouncedTrials) {
  Arm made = arm(sound_episodes());
  made.info.num_trials = 2147483647;
  EXPECT_FALSE(find(evidence_warnings(made), "missing_pairs"));
}

TEST(Evidence, TakesSeedsOfTheirOwnForEveryTaskAndTrialForAPlan) {
  std::vector<EpisodeFacts> episodes = sound_episodes();
  std::int64_t seed = 100;
  for (EpisodeFacts& e : episodes) e.seed = seed++;
  EXPECT_FALSE(find(evidence_warnings(arm(episodes)), "seeds_by_task"));
  episodes[3].seed = episodes[0].seed;  // one shared by two tasks is a mixture again
  EXPECT_TRUE(find(evidence_warnings(arm(episodes)), "seeds_by_task"));
}

TEST(Evidence, SeesSeedsThatAreNoFunctionOfTheTrial) {
  std::vector<EpisodeFacts> episodes = sound_episodes();
  episodes[2].seed = 5;
  const std::vector<Warning> by_task = evidence_warnings(arm(episodes));
  EXPECT_EQ(find(by_task, "seeds_by_task")->count, 1);
  EXPECT_FALSE(find(by_task, "seeds_repeat"));
  for (EpisodeFacts& e : episodes) e.seed = 300;
  const std::vector<Warning> repeat = evidence_warnings(arm(episodes));
  EXPECT_FALSE(find(repeat, "seeds_by_task"));
  EXPECT_EQ(find(repeat, "seeds_repeat")->count, 4);
}

TEST(Evidence, SeesMixedModelsAndPolicies) {
  std::vector<EpisodeFacts> episodes = sound_episodes();
  for (EpisodeFacts& e : episodes) e.model = "gemma";
  EXPECT_FALSE(find(evidence_warnings(arm(episodes)), "mixed_models"));
  episodes[1].model = "gemma-awq";
  episodes[1].policy_hash = "x";
  episodes[2].policy_hash = "y";
  EXPECT_TRUE(find(evidence_warnings(arm(episodes)), "mixed_models"));
  EXPECT_EQ(find(evidence_warnings(arm(episodes)), "mixed_policies")->count, 2);
}

TEST(Evidence, SeesTrialsThatAreCopies) {
  std::vector<EpisodeFacts> episodes = sound_episodes();
  episodes[1].trajectory_hash = episodes[0].trajectory_hash;
  EXPECT_NE(find(evidence_warnings(arm(episodes)), "trials_are_copies")->message.find("1 of 4"),
            std::string::npos);
  for (std::size_t t = 0; t < 4; ++t)
    episodes[2 * t + 1].trajectory_hash = episodes[2 * t].trajectory_hash;
  EXPECT_EQ(find(evidence_warnings(arm(episodes)), "trials_are_copies")->count, 4);
}

TEST(Evidence, SeesOneTaskAndOneTrial) {
  const std::vector<Warning> warnings = evidence_warnings(arm({episode("7", 0, true, 5)}));
  EXPECT_TRUE(find(warnings, "one_task"));
  EXPECT_TRUE(find(warnings, "one_trial"));
  EXPECT_TRUE(evidence_warnings(arm({})).empty());
}

TEST(PairingWarnings, FindNothingBetweenLikeArms) {
  EXPECT_TRUE(pairing_warnings(arm(sound_episodes()), arm(sound_episodes())).empty());
}

TEST(PairingWarnings, SeeTheBaselinesOwnEpisodes) {
  Arm b = arm(sound_episodes());
  for (std::size_t i = 0; i < b.episodes.size(); ++i)
    b.episodes.edit(i).id = "episode " + std::to_string(i);
  Arm c = b;
  EXPECT_FALSE(
      between(pairing_warnings(b, c), "same_episodes"));  // nothing says how long they took
  for (std::size_t i = 0; i < b.episodes.size(); ++i) b.episodes.edit(i).seconds = 1.25;
  c = b;
  EXPECT_TRUE(between(pairing_warnings(b, c), "same_episodes"));
  c.episodes.edit(0).trajectory_hash ^= 1;  // one of another run among copies
  EXPECT_TRUE(between(pairing_warnings(b, c), "same_episodes"));
  for (std::size_t i = 0; i < c.episodes.size(); ++i) c.episodes.edit(i).seconds = 2.5;
  EXPECT_FALSE(between(pairing_warnings(b, c), "same_episodes"));
}

// Episodes in which the agent says something, ten messages each.
Arm speaking() {
  Arm out = arm(sound_episodes());
  for (std::size_t i = 0; i < out.episodes.size(); ++i) out.episodes.edit(i).agent_turns = 10;
  return out;
}

TEST(PairingWarnings, AskWhetherTheSameTextIsACopyOrADeterministicAgent) {
  const Arm b = speaking();
  Arm c = b;
  const std::vector<Warning> warnings = pairing_warnings(b, c);
  const Warning* same = between(warnings, "same_text");
  ASSERT_TRUE(same);
  EXPECT_NE(same->message.find("a copy of the baseline's log"), std::string::npos);
  EXPECT_NE(same->message.find("deterministic agent"), std::string::npos);
  EXPECT_EQ(same->message.find("too)"), std::string::npos);
  EXPECT_EQ(same->count, static_cast<std::int64_t>(b.episodes.size()));
  // Trials in another order are the same episodes.
  for (std::size_t i = 0; i < c.episodes.size(); ++i) c.episodes.edit(i).trial += 7;
  EXPECT_TRUE(between(pairing_warnings(b, c), "same_text"));
}

TEST(PairingWarnings, AccuseNoRunThatDiffers) {
  Arm b = speaking();
  Arm c = b;
  for (std::size_t i = 0; i < c.episodes.size() / 2; ++i) c.episodes.edit(i).trajectory_hash ^= 1;
  EXPECT_FALSE(between(pairing_warnings(b, c), "same_text"));
  c = b;
  for (std::size_t i = 0; i < c.episodes.size(); ++i) {
    b.episodes.edit(i).seconds = 1.5;
    c.episodes.edit(i).seconds = 2.5;
  }
  EXPECT_FALSE(between(pairing_warnings(b, c), "same_text"));  // two runs took two times
  for (std::size_t i = 0; i < c.episodes.size(); ++i) c.episodes.edit(i).seconds.reset();
  EXPECT_TRUE(between(pairing_warnings(b, c), "same_text"));
}

TEST(SameText, IsACopyUnderOtherIdsWhereEveryDurationIsTheSame) {
  Arm b = speaking();
  for (std::size_t i = 0; i < b.episodes.size(); ++i) {
    b.episodes.edit(i).id = std::to_string(i);
    b.episodes.edit(i).seconds = 1.5 + static_cast<double>(i);
  }
  Arm c = b;
  for (std::size_t i = 0; i < c.episodes.size(); ++i) c.episodes.edit(i).id += "x";
  EXPECT_EQ(same_run_warning(b, c)->code, "same_episodes");
  c.episodes.edit(0).seconds = 1.25;
  EXPECT_FALSE(same_run_warning(b, c));
  for (std::size_t i = 0; i < c.episodes.size(); ++i) {  // as clocks of whole seconds may agree
    b.episodes.edit(i).seconds = 2;
    c.episodes.edit(i).seconds = 2;
  }
  EXPECT_EQ(same_run_warning(b, c)->code, "same_text");
}

TEST(SameText, SaysWhatElseIsTheSame) {
  Arm b = speaking();
  for (std::size_t i = 0; i < b.episodes.size(); ++i) {
    b.episodes.edit(i).id = "chat " + std::to_string(i);
    b.episodes.edit(i).agent_cost_usd = 0.01;
  }
  Arm c = b;
  EXPECT_NE(same_run_warning(b, c)->message.find("(ids and costs too)"), std::string::npos);
  c.episodes.edit(0).id = "another";
  EXPECT_NE(same_run_warning(b, c)->message.find("(costs too)"), std::string::npos);
  EXPECT_FALSE(same_text(arm({episode("7", 0, true, 5)}), arm({episode("7", 0, true, 5)}))
                   .is_one_run());  // nothing was said
}

TEST(SameText, CountsAnEpisodeOnce) {
  Arm once = arm({episode("7", 0, true, 5)});
  once.episodes.edit(0).agent_turns = 30;
  Arm thrice = arm({episode("7", 0, true, 5), episode("7", 0, true, 5), episode("7", 0, true, 5)});
  for (std::size_t i = 0; i < 3; ++i) thrice.episodes.edit(i).agent_turns = 30;
  const SameText same = same_text(once, thrice);
  EXPECT_EQ(same.episodes, 1);
  EXPECT_EQ(same.of, 3);
  EXPECT_FALSE(same.is_one_run());
}

TEST(SameText, RefusesARerunThatRepeatsItsFirstRun) {
  Arm first = speaking();
  Arm rerun = first;
  EXPECT_EQ(rerun_warning("baseline", first, rerun)->code, "rerun_repeats");
  for (std::size_t i = 0; i < rerun.episodes.size(); ++i) {
    first.episodes.edit(i).seconds = 1.5;
    rerun.episodes.edit(i).seconds = 2.5;  // honest, and greedy: still no measure of chance
  }
  EXPECT_TRUE(rerun_warning("baseline", first, rerun));
  for (std::size_t i = 0; i < rerun.episodes.size(); ++i)
    rerun.episodes.edit(i).trajectory_hash ^= 1;
  EXPECT_FALSE(rerun_warning("baseline", first, rerun));
  rerun.episodes.edit(0) = first.episodes[0];
  rerun.episodes.edit(0).id = first.episodes.edit(0).id = "one episode of the first run";
  const std::optional<Warning> copied = rerun_warning("baseline", first, rerun);
  ASSERT_TRUE(copied);
  EXPECT_NE(copied->message.find("holds a copy"), std::string::npos);
}

TEST(PairingWarnings, NameEverySettingThatDiffers) {
  Arm b = arm(sound_episodes());
  Arm c = arm(sound_episodes(), 5, "INT4");
  b.info.user_model = "gpt-4.1";
  c.info.user_model = "gpt-4o";
  b.info.user_settings = R"({"temperature":0.0})";
  c.info.user_settings = R"({"temperature":0.5})";
  b.info.agent_settings = R"({"api_base":"x","reasoning_effort":"low","temperature":0.0})";
  c.info.agent_settings = R"({"api_base":"y","temperature":0.0})";
  b.info.max_steps = 100;
  c.info.max_steps = 200;
  b.info.policy_hash = "p";
  c.info.policy_hash = "q";
  b.info.git_commit = "aaaaaaa";
  c.info.git_commit = "bbbbbbb";
  c.episodes.edit(0).seed = 1;
  const std::vector<Warning> warnings = pairing_warnings(b, c);
  for (const char* code :
       {"budget_differs", "user_model_differs", "user_settings_differ", "agent_settings_differ",
        "max_steps_differ", "policy_differs", "commit_differs", "seeds_differ"}) {
    EXPECT_TRUE(between(warnings, code)) << code;
  }
  const std::string& settings = between(warnings, "agent_settings_differ")->message;
  EXPECT_NE(settings.find("reasoning_effort"), std::string::npos);
  EXPECT_EQ(settings.find("api_base"), std::string::npos);
  EXPECT_NE(between(warnings, "budget_differs")->message.find("max_errors = 5"), std::string::npos);
  EXPECT_FALSE(between(warnings, "swapped"));
}

TEST(PairingWarnings, SurviveSettingsThatAreNotJson) {
  Arm b = arm(sound_episodes());
  Arm c = arm(sound_episodes());
  b.info.agent_settings = "{broken \xff";
  c.info.agent_settings = "[1]";
  EXPECT_TRUE(between(pairing_warnings(b, c), "agent_settings_differ"));
}

TEST(PairingWarnings, AskWhetherTheArmsAreSwapped) {
  const Arm full = arm(sound_episodes(), 10, "gemma-bf16");
  const Arm quantized = arm(sound_episodes(), 10, "gemma-AWQ");
  EXPECT_TRUE(between(pairing_warnings(quantized, full), "swapped"));
  EXPECT_FALSE(between(pairing_warnings(full, quantized), "swapped"));
  EXPECT_FALSE(between(pairing_warnings(quantized, quantized), "swapped"));
}

TEST(PairingWarnings, DropTheBudgetWhereTheMissingOneIsStatedToBeTheSame) {
  const Arm b = random_arm({.tasks = 5});
  Arm c = b;
  c.info.max_errors = std::nullopt;
  CompareOptions options;
  options.resamples = 100;
  EXPECT_TRUE(between(compare_arms(b, c, options)->warnings, "budget_differs"));
  options.assumed_max_errors = 10;
  EXPECT_FALSE(between(compare_arms(b, c, options)->warnings, "budget_differs"));
}

TEST(LooksQuantized, KnowsTheNamesInUse) {
  for (const char* name : {"INT4", "gemma-4-31b-it-AWQ", "model-GPTQ-Int8", "Qwen3-FP8",
                           "x.Q4_K_M.gguf", "iq2_xs", "nf4", "w4a16", "w8a8-dynamic", "llama-4bit",
                           "8-bit", "NVFP4", "mxfp4", "AutoAWQ/awq_marlin", "q8_0"}) {
    EXPECT_TRUE(looks_quantized(name)) << name;
  }
  for (const char* name : {"BF16", "gemma-4-31b-it", "gpt-4.1-mini", "q4", "paint4", "fp16", "",
                           "hawq", "interval", "qwen3-4b"}) {
    EXPECT_FALSE(looks_quantized(name)) << name;
  }
}

}  // namespace
}  // namespace unmask
