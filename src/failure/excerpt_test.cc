#include "failure/excerpt.h"

#include <gtest/gtest.h>

#include <string>

namespace unmask {
namespace {

Message said(Role role, std::string text) {
  Message message;
  message.role = role;
  message.text = std::move(text);
  return message;
}

Episode talk() {
  Episode episode;
  episode.task_id = "7";
  episode.messages = {said(Role::User, "one"),
                      said(Role::Agent, "two"),
                      said(Role::User, "three"),
                      said(Role::Agent, ""),
                      said(Role::Tool, "Error: not found"),
                      said(Role::Agent, "sorry"),
                      said(Role::User, "seven")};
  episode.messages[3].calls = {{"1", "good", "{}", true, "", Side::Agent},
                               {"2", "get_x", "{\"token\": \"abc\"}", true, "", Side::Agent}};
  episode.messages[4].result = ToolResult{"2", "Error: not found", true, "", Side::Agent};
  return episode;
}

ClassifiedCall failed_call() {
  ClassifiedCall call;
  call.channel = Channel::ToolName;
  call.name = "get_x";
  call.message = 3;
  call.position = 1;
  return call;
}

TEST(Excerpt, ShowsWhatLedToTheCallAndWhatCameOfIt) {
  const Excerpt excerpt = excerpt_of(talk(), failed_call());
  ASSERT_EQ(excerpt.messages.size(), 5u);
  EXPECT_EQ(excerpt.messages[0].text, "two");
  EXPECT_FALSE(excerpt.messages[2].calls[0].failed);
  EXPECT_TRUE(excerpt.messages[2].calls[1].failed);
  EXPECT_EQ(excerpt.messages[2].calls[1].arguments, "{\"token\": \"[removed]\"}");
  EXPECT_TRUE(excerpt.messages[3].failed);
  EXPECT_EQ(excerpt.messages[4].text, "sorry");
  EXPECT_EQ(excerpt.all_messages, 7);
}

TEST(Excerpt, CutsHugeTextsAndSaysSo) {
  Episode episode = talk();
  episode.messages[2].text = std::string(1000000, 'y');
  const Excerpt excerpt = excerpt_of(episode, failed_call());
  EXPECT_LT(excerpt.messages[1].text.size(), kExcerptBytes + 40);
  EXPECT_NE(excerpt.messages[1].text.find("[999300 bytes more]"), std::string::npos);
}

TEST(Excerpt, AnyMessageIndexIsSafe) {
  ClassifiedCall call = failed_call();
  for (const int message : {-5, 0, 6, 99}) {
    call.message = message;
    EXPECT_FALSE(excerpt_of(talk(), call).messages.empty());
    EXPECT_TRUE(excerpt_of(Episode{}, call).messages.empty());
  }
}

TEST(Excerpt, ShowsAttemptsThatWereHandedBack) {
  Episode episode = talk();
  Attempt attempt;
  attempt.calls = {{"", "get_y", "{}", true, "", Side::Agent}};
  attempt.feedback = "no tool get_y";
  episode.messages[3].attempts = {attempt};
  const Excerpt excerpt = excerpt_of(episode, failed_call());
  EXPECT_EQ(excerpt.messages[2].calls.at(0).name, "get_y");
  EXPECT_TRUE(excerpt.messages[2].calls.at(0).failed);
  EXPECT_EQ(excerpt.messages[3].text, "no tool get_y");
}

}  // namespace
}  // namespace unmask
