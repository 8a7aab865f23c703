#include "metrics/excerpt_shelf.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace unmask {
namespace {

struct Told {
  Episode episode;
  ClassifiedEpisode classified;
};

Told told(const std::string& task, int trial, std::vector<Channel> channels) {
  Told out;
  out.episode.task_id = task;
  out.episode.trial = trial;
  out.episode.termination = Termination::UserStop;
  out.episode.messages.resize(channels.size());
  for (std::size_t i = 0; i < channels.size(); ++i) {
    ClassifiedCall call;
    call.channel = channels[i];
    call.message = static_cast<int>(i);
    call.position = static_cast<int>(i);
    out.classified.calls.push_back(call);
  }
  return out;
}

std::vector<std::string> places(const std::vector<Told>& episodes, std::size_t most) {
  ExcerptShelf shelf(most);
  for (const Told& each : episodes) shelf.take(each.episode, "telecom", each.classified);
  std::vector<std::string> out;
  for (const Excerpt& excerpt : shelf.take_all())
    out.push_back(std::string(to_string(excerpt.channel)) + " " + excerpt.task + "/" +
                  std::to_string(excerpt.trial) + "/" + std::to_string(excerpt.position));
  return out;
}

const std::vector<Told>& episodes() {
  static const std::vector<Told> all = {
      told("10", 0, {Channel::ToolName}),
      told("2", 1, {Channel::Ok, Channel::ToolName, Channel::ToolName}),
      told("2", 0, {Channel::Ok, Channel::Entity}),
      told("3", 0, {Channel::ToolName, Channel::Entity}),
      told("1", 0, {Channel::Ok, Channel::Unanswered, Channel::System})};
  return all;
}

TEST(ExcerptShelf, TakesTheFirstTasksOfEachChannel) {
  EXPECT_EQ(places(episodes(), 2), (std::vector<std::string>{"tool_name 2/1/1", "tool_name 3/0/0",
                                                             "entity 2/0/1", "entity 3/0/1"}));
}

TEST(ExcerptShelf, DoesNotDependOnTheOrderOfArrival) {
  const std::vector<std::string> expected = places(episodes(), 2);
  std::vector<std::size_t> order = {0, 1, 2, 3, 4};
  do {
    std::vector<Told> shuffled;
    for (const std::size_t i : order) shuffled.push_back(episodes()[i]);
    ASSERT_EQ(places(shuffled, 2), expected);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(ExcerptShelf, HoldsNothingWhereNothingIsAskedFor) {
  EXPECT_TRUE(places(episodes(), 0).empty());
}

TEST(ExcerptShelf, PassesOverEpisodesThatNeverRan) {
  Told never = told("0", 0, {Channel::ToolName});
  never.episode.termination = Termination::InfrastructureError;
  EXPECT_TRUE(places({never}, 2).empty());
}

}  // namespace
}  // namespace unmask
