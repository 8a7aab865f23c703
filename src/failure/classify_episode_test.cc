#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "base/rng.h"
#include "failure/classify.h"
#include "failure/messages_for_tests.h"

namespace unmask {
namespace {

TEST(Pairing, ByIdThenByOrderAndNeverAcrossSides) {
  const Classifier classifier(info_of("telecom"), nullptr);
  Episode episode;
  // Ids out of order, and one call that nobody answers.
  episode.messages = {calling({make_call("suspend_line", "{}", Side::Agent, "a"),
                               make_call("resume_line", "{}", Side::Agent, "b"),
                               make_call("refuel_data", "{}", Side::Agent, "c")}),
                      answering("Error: Refuel amount must be positive", true, Side::Agent, "c"),
                      answering("ok", false, Side::Agent, "a")};
  ClassifiedEpisode judged = classifier.classify(episode);
  EXPECT_EQ(judged.calls[0].channel, Channel::Ok);
  EXPECT_EQ(judged.calls[1].channel, Channel::Unanswered);
  EXPECT_FALSE(judged.calls[1].answered);
  EXPECT_EQ(judged.calls[2].channel, Channel::Rejected);
  EXPECT_EQ(judged.orphan_results, 0);

  // A repeated id: each result is used once, in order.
  episode.messages = {calling({make_call("suspend_line", "{}", Side::Agent, "a"),
                               make_call("resume_line", "{}", Side::Agent, "a")}),
                      answering("ok", false, Side::Agent, "a"),
                      answering("Error: Line must be suspended to resume", true, Side::Agent, "a")};
  judged = classifier.classify(episode);
  EXPECT_EQ(judged.calls[0].channel, Channel::Ok);
  EXPECT_EQ(judged.calls[1].channel, Channel::Rejected);

  // No ids on one side of the pair.
  episode.messages = {calling({make_call("suspend_line", "{}", Side::Agent, "a"),
                               make_call("resume_line", "{}", Side::Agent, "b")}),
                      answering("ok", false), answering("Error: x", true)};
  judged = classifier.classify(episode);
  EXPECT_EQ(judged.calls[0].channel, Channel::Ok);
  EXPECT_TRUE(judged.calls[1].in_budget);

  // The other side's result answers nothing of ours.
  episode.messages = {calling({make_call("suspend_line", "{}", Side::Agent, "a")}),
                      answering("Error: x", true, Side::User, "a")};
  judged = classifier.classify(episode);
  EXPECT_EQ(judged.calls[0].channel, Channel::Unanswered);
  EXPECT_EQ(judged.orphan_results, 1);
  EXPECT_EQ(judged.orphan_failures, 1);
}

TEST(Pairing, LateAndRenumberedAnswersAreFoundAndTheRestAreOrphans) {
  const Classifier classifier(info_of("telecom"), nullptr);
  Episode episode;
  episode.messages = {calling({make_call("suspend_line", "{}", Side::Agent, "a")}),
                      saying("Just a second."), answering("ok", false, Side::Agent, "a"),
                      answering("Error: x", true, Side::Agent, "a")};
  ClassifiedEpisode judged = classifier.classify(episode);
  EXPECT_EQ(judged.calls[0].channel, Channel::Ok);
  EXPECT_EQ(judged.orphan_results, 1);
  EXPECT_EQ(judged.orphan_failures, 1);

  episode.messages = {calling({make_call("suspend_line", "{}", Side::Agent, "a")}),
                      answering("ok", false, Side::Agent, "result-1")};
  judged = classifier.classify(episode);
  EXPECT_EQ(judged.calls[0].channel, Channel::Ok);
  EXPECT_EQ(judged.orphan_results, 0);

  episode.messages = {answering("ok", false, Side::Agent, "a"),
                      calling({make_call("suspend_line", "{}", Side::Agent, "b")})};
  judged = classifier.classify(episode);
  EXPECT_EQ(judged.calls[0].channel, Channel::Unanswered);
  EXPECT_EQ(judged.orphan_results, 1);
}

TEST(Pairing, ManyParallelCallsArePairedLikeAFew) {
  const Classifier classifier(info_of("telecom"), nullptr);
  Message call = saying("");
  std::vector<Message> answers;
  constexpr int kCalls = 5000;
  for (int i = 0; i < kCalls; ++i) {
    call.calls.push_back(
        make_call("get_customer_by_id", "{}", Side::Agent, std::to_string(i % 50)));
    answers.push_back(answering("ok", i % 2 == 1, Side::Agent, std::to_string(49 - i % 50)));
  }
  Episode episode;
  episode.messages = {call};
  episode.messages.insert(episode.messages.end(), answers.begin(), answers.end());
  const ClassifiedEpisode judged = classifier.classify(episode);
  EXPECT_EQ(judged.orphan_results, 0);
  for (const ClassifiedCall& one : judged.calls) {
    ASSERT_TRUE(one.answered);
    // Id k is answered by results of the parity of 49 - k, all failed or none.
    ASSERT_EQ(one.in_budget, (49 - one.position % 50) % 2 == 1) << one.position;
  }
}

TEST(Pairing, CallsOnAToolMessageAreCountedToo) {
  Episode episode;
  Message odd = answering("ok", false);
  odd.calls.push_back(make_call("suspend_line"));
  episode.messages = {calling({make_call("resume_line")}), odd, answering("ok", false)};
  const ClassifiedEpisode judged = Classifier(info_of("telecom"), nullptr).classify(episode);
  ASSERT_EQ(judged.calls.size(), 2u);
  EXPECT_TRUE(judged.calls[0].answered);
  EXPECT_TRUE(judged.calls[1].answered);
  EXPECT_EQ(judged.orphan_results, 0);
}

TEST(Sequence, PositionsCountPerSideAndARepeatedFailureIsMarked) {
  Episode episode;
  const ToolCall ours = make_call("get_customer_by_id", R"({"customer_id": "X"})");
  const ToolCall theirs = make_call("check_app_status", "{}", Side::User);
  const Message no = answering("Error: Customer with ID X not found", true);
  episode.messages = {calling({ours}),
                      no,
                      calling({theirs}),
                      answering("ok", false, Side::User),
                      calling({ours}),
                      no,
                      calling({theirs}),
                      answering("ok", false, Side::User),
                      calling({make_call("get_customer_by_id", R"({"customer_id": "Y"})")}),
                      no};
  const ClassifiedEpisode judged = Classifier(info_of("telecom"), nullptr).classify(episode);
  std::vector<int> positions;
  std::vector<bool> repeats;
  std::vector<int> messages;
  for (const ClassifiedCall& call : judged.calls) {
    positions.push_back(call.position);
    repeats.push_back(call.repeats_failed);
    messages.push_back(call.message);
  }
  EXPECT_EQ(positions, (std::vector<int>{0, 0, 1, 1, 2}));
  EXPECT_EQ(repeats, (std::vector<bool>{false, false, true, false, false}));
  EXPECT_EQ(messages, (std::vector<int>{0, 2, 4, 6, 8}));
}

TEST(Classifier, GivesNothingForAnEpisodeWithoutMessages) {
  const ClassifiedEpisode judged = Classifier(info_of("mock"), nullptr).classify(Episode());
  EXPECT_TRUE(judged.calls.empty());
  EXPECT_EQ(judged.orphan_results, 0);
}

// Calls, answers and texts picked at random.
Episode random_episode(Rng& rng) {
  static const std::vector<std::string> kNames = {
      "calculate", "functions.calculate", "", "zap", "get_user_details", std::string("a\0b", 3)};
  static const std::vector<std::string> kTexts = {"ok",
                                                  "Error: User x not found",
                                                  "Error: unhashable type: 'list'",
                                                  "Error: ",
                                                  "\xff\xfe",
                                                  "Tool 'zap' not found.",
                                                  "<tool_call>{\"name\": \"zap\"}</tool_call>"};
  static const std::vector<std::string> kIds = {"", "1", "2"};
  const auto pick = [&](const std::vector<std::string>& from) {
    return from[rng.below(static_cast<std::uint32_t>(from.size()))];
  };
  Episode episode;
  for (std::uint32_t m = rng.below(12); m > 0; --m) {
    const Side side = rng.bernoulli(0.3) ? Side::User : Side::Agent;
    if (rng.bernoulli(0.5)) {
      episode.messages.push_back(answering(pick(kTexts), rng.bernoulli(0.5), side, pick(kIds)));
      continue;
    }
    Message message = saying(rng.bernoulli(0.5) ? pick(kTexts) : "");
    for (std::uint32_t c = rng.below(4); c > 0; --c) {
      ToolCall call = make_call(pick(kNames), "{}", side, pick(kIds));
      call.arguments_are_object = rng.bernoulli(0.8);
      message.calls.push_back(call);
    }
    episode.messages.push_back(message);
  }
  return episode;
}

TEST(Classifier, EveryCallHasOneChannelAndEveryFailedResultIsCountedOnce) {
  const Classifier classifier(info_of("airline"), nullptr);
  Rng rng(20261130);
  for (int round = 0; round < 3000; ++round) {
    const Episode episode = random_episode(rng);
    const ClassifiedEpisode judged = classifier.classify(episode);
    int calls = 0;
    int failed_results = 0;
    int results = 0;
    for (const Message& message : episode.messages) {
      calls += static_cast<int>(message.calls.size());
      if (!message.result) continue;
      ++results;
      failed_results += message.result->failed ? 1 : 0;
    }
    int extracted = 0;
    int answered = 0;
    int in_budget = 0;
    for (const ClassifiedCall& call : judged.calls) {
      extracted += call.kind == SubKind::LeakedMarkup ? 0 : 1;
      answered += call.answered ? 1 : 0;
      in_budget += call.in_budget ? 1 : 0;
      EXPECT_FALSE(call.channel == Channel::Unanswered && call.answered);
      EXPECT_FALSE(call.channel == Channel::Ok && (!call.answered || call.in_budget));
      EXPECT_TRUE(call.channel == Channel::Ok || call.channel == Channel::Unanswered ||
                  call.channel == Channel::Malformed || call.in_budget);
    }
    ASSERT_EQ(extracted, calls);
    ASSERT_EQ(answered + judged.orphan_results, results);
    ASSERT_EQ(in_budget + judged.orphan_failures, failed_results);
  }
}

TEST(Classifier, GivesTheSameOnEveryThread) {
  const ToolsFile file{{{"calculate", R"({"type": "object", "required": ["expression"]})"}}, {}};
  const Classifier classifier(info_of("airline"), &file);
  std::vector<Episode> episodes;
  std::vector<ClassifiedEpisode> alone;
  Rng rng(7);
  for (int i = 0; i < 200; ++i) episodes.push_back(random_episode(rng));
  for (const Episode& episode : episodes) {
    alone.push_back(Classifier(info_of("airline"), &file).classify(episode));
  }
  std::vector<std::thread> threads;
  std::vector<int> differing(4, 0);
  for (int& count : differing) {
    threads.emplace_back([&] {
      for (std::size_t i = 0; i < episodes.size(); ++i) {
        if (classifier.classify(episodes[i]).calls != alone[i].calls) ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(differing, std::vector<int>(4, 0));
}

// Work that grows with the square of the input would not end within the time limit of the test.
TEST(HostileInput, IsJudged) {
  const std::string megabyte(1 << 20, 'a');
  const std::string brackets(1 << 20, '[');
  ToolsFile file{{{megabyte, brackets}, {std::string(250, 'b'), ""}}, {}};
  const Classifier classifier(info_of("airline"), &file);
  Episode episode;
  for (const std::string& text : {megabyte, brackets, std::string(1 << 20, '<'),
                                  std::string(1 << 20, '\0'), std::string("Error: ") + megabyte}) {
    episode.messages.push_back(calling({make_call(text, text)}));
    episode.messages.push_back(answering(text, true));
    episode.messages.push_back(calling({make_call(megabyte, brackets)}));
    episode.messages.push_back(answering(text, true));
    episode.messages.push_back(saying(text));
  }
  std::string tags;
  while (tags.size() < (1 << 20)) tags += "<tool_call>";
  episode.messages.push_back(saying(tags));
  for (int i = 0; i < 2000; ++i) {
    episode.messages.push_back(calling({make_call(std::string(240, 'c'))}));
    episode.messages.push_back(answering("no", true));
  }
  const ClassifiedEpisode judged = classifier.classify(episode);
  EXPECT_EQ(judged.calls.size(), 2010u);
  for (const ClassifiedCall& call : judged.calls) ASSERT_LE(call.evidence.size(), 500u);
}

Attempt attempt_of(const std::string& channel, const ToolCall& call) {
  Attempt attempt;
  attempt.channel = channel;
  attempt.calls = {call};
  attempt.feedback = "no such tool";
  return attempt;
}

ClassifiedEpisode judged(std::vector<Message> messages) {
  Episode episode;
  episode.messages = std::move(messages);
  return Classifier(info_of("mock"), nullptr).classify(episode);
}

TEST(ClassifyAttempts, ARepairedCallIsOneFailureBeforeTheCallThatCameOfIt) {
  Message message = calling({make_call("get_users")});
  message.attempts = {attempt_of("tool_name", make_call("get_userz")),
                      attempt_of("tool_name", make_call("nonsense"))};
  const ClassifiedEpisode found = judged({message, answering("[]", false)});
  ASSERT_EQ(found.calls.size(), 2u);
  const ClassifiedCall& refused = found.calls[0];
  EXPECT_EQ(refused.name, "get_userz") << "the first attempt stands for the repair";
  EXPECT_EQ(refused.channel, Channel::ToolName);
  EXPECT_EQ(refused.kind, SubKind::NearMiss);
  EXPECT_EQ(refused.repair, Repair::Repaired);
  EXPECT_EQ(refused.position, 0);
  EXPECT_FALSE(refused.in_budget);
  EXPECT_EQ(found.calls[1].channel, Channel::Ok);
  EXPECT_EQ(found.calls[1].position, 1);
  EXPECT_EQ(found.calls[1].repair, Repair::None);
}

TEST(ClassifyAttempts, WhatStaysBrokenIsNotCountedTwice) {
  Message message = calling({make_call("also_wrong"), make_call("get_users")});
  message.attempts = {attempt_of("tool_name", make_call("wrong"))};
  const ClassifiedEpisode found = judged(
      {message, answering("Error: Tool 'also_wrong' not found.", true), answering("[]", false)});
  ASSERT_EQ(found.calls.size(), 2u);
  EXPECT_EQ(found.calls[0].name, "wrong");
  EXPECT_EQ(found.calls[0].repair, Repair::Unrepaired);
  EXPECT_TRUE(found.calls[0].in_budget) << "the environment refused the last one";
  EXPECT_EQ(found.calls[1].channel, Channel::Ok);
}

TEST(ClassifyAttempts, AFailureInAnotherChannelIsItsOwn) {
  Message message = calling({make_call("create_task")});
  message.attempts = {attempt_of("tool_name", make_call("wrong"))};
  const ClassifiedEpisode found = judged({message, answering("Error: User u9 not found", true)});
  ASSERT_EQ(found.calls.size(), 2u);
  EXPECT_EQ(found.calls[0].repair, Repair::Repaired);
  EXPECT_EQ(found.calls[1].channel, Channel::Entity);
}

TEST(ClassifyAttempts, TalkingInsteadIsWithdrawn) {
  Message message = saying("I cannot do that.");
  message.attempts = {attempt_of("tool_name", make_call("wrong"))};
  const ClassifiedEpisode found = judged({message});
  ASSERT_EQ(found.calls.size(), 1u);
  EXPECT_EQ(found.calls[0].repair, Repair::Withdrawn);
}

TEST(ClassifyAttempts, MarkupThatLeaksAgainIsUnrepaired) {
  const std::string markup = R"(<tool_call>{"name": "get_users", "arguments": {}}</tool_call>)";
  Message message = saying(markup);
  Attempt attempt;
  attempt.channel = "malformed";
  attempt.text = markup;
  message.attempts = {attempt};
  const ClassifiedEpisode found = judged({message});
  ASSERT_EQ(found.calls.size(), 1u);
  EXPECT_EQ(found.calls[0].kind, SubKind::LeakedMarkup);
  EXPECT_EQ(found.calls[0].name, "get_users");
  EXPECT_EQ(found.calls[0].repair, Repair::Unrepaired);
  EXPECT_FALSE(found.calls[0].in_budget);
}

TEST(ClassifyAttempts, SpendsBudgetWhereTheRefusalDid) {
  Message message = calling({make_call("get_users")});
  message.attempts = {attempt_of("malformed", make_call("get_users", "{"))};
  message.attempts[0].spends_budget = true;
  const ClassifiedEpisode found = judged({message, answering("[]", false)});
  EXPECT_TRUE(found.calls.at(0).in_budget);
  EXPECT_EQ(found.calls.at(0).kind, SubKind::BadJson);
  EXPECT_EQ(found.calls.at(0).evidence, "{");
}

TEST(ClassifyAttempts, WhatSaysNothingIsPassedOver) {
  Message message = calling({make_call("get_users")});
  message.attempts = {attempt_of("cosmic_rays", make_call("wrong"))};
  EXPECT_EQ(judged({message, answering("[]", false)}).calls.size(), 1u);
  message.attempts.push_back(attempt_of("schema", make_call("create_task")));
  message.attempts[1].refused = 99;
  const ClassifiedEpisode found = judged({message, answering("[]", false)});
  ASSERT_EQ(found.calls.size(), 2u);
  EXPECT_EQ(found.calls[0].channel, Channel::Schema);
  EXPECT_EQ(found.calls[0].name, "");
}

}  // namespace
}  // namespace unmask
