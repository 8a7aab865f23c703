#include "rollout/replay_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace unmask {
namespace {

// Episodes of three tasks, with that many decisions each.
class ReplaySet : public testing::Test {
 protected:
  ReplaySet() {
    for (const int turns : {2, 30, 5, 1}) {
      Episode episode;
      episode.id = "s" + std::to_string(episodes_.size());
      episode.task_id = episodes_.size() < 2 ? "a" : "b" + std::to_string(episodes_.size());
      for (int i = 0; i < turns; ++i) {
        for (const Role role : {Role::User, Role::Agent}) {
          Message message;
          message.role = role;
          message.text = "turn " + std::to_string(i);
          episode.messages.push_back(std::move(message));
        }
      }
      episodes_.push_back(std::move(episode));
    }
    AgentView view;
    view.prompt = "Rules.";
    view.offered = {{"find", ""}};
    const auto shared = std::make_shared<const AgentView>(view);
    for (const Episode& episode : episodes_) sources_.push_back({&episode, "retail", shared});
    items_ = all_decisions(sources_, 1);
  }

  std::map<std::string, int> tasks_of(const std::vector<ReplayItem>& items) const {
    std::map<std::string, int> counts;
    for (const ReplayItem& item : items) ++counts[sources_[item.source].episode->task_id];
    return counts;
  }
  static std::vector<std::pair<std::size_t, std::size_t>> places(
      const std::vector<ReplayItem>& items) {
    std::vector<std::pair<std::size_t, std::size_t>> out;
    for (const ReplayItem& item : items) out.emplace_back(item.source, item.decision.message);
    return out;
  }

  std::vector<Episode> episodes_;
  std::vector<ReplaySource> sources_;
  std::vector<ReplayItem> items_;
};

TEST_F(ReplaySet, ListsEveryDecisionInOrder) {
  EXPECT_EQ(items_.size(), 38u);
  const auto listed = places(items_);
  EXPECT_TRUE(std::is_sorted(listed.begin(), listed.end()));
  sources_[1].view = nullptr;
  EXPECT_EQ(all_decisions(sources_, 2).size(), 8u) << "what cannot be rebuilt is left out";
}

TEST_F(ReplaySet, SamplesTasksAlikeWhateverTheirLength) {
  const std::map<std::string, int> counts = tasks_of(sampled(sources_, items_, 11, 7));
  EXPECT_EQ(counts, (std::map<std::string, int>{{"a", 5}, {"b2", 5}, {"b3", 1}}));
  EXPECT_EQ(sampled(sources_, items_, 1000, 7).size(), items_.size());
}

TEST_F(ReplaySet, SamplesByTheSeedAndASmallerSampleIsPartOfALargerOne) {
  const auto small = places(sampled(sources_, items_, 6, 7));
  const auto large = places(sampled(sources_, items_, 12, 7));
  EXPECT_EQ(small, places(sampled(sources_, items_, 6, 7)));
  EXPECT_NE(small, places(sampled(sources_, items_, 6, 8)));
  EXPECT_TRUE(std::includes(large.begin(), large.end(), small.begin(), small.end()));
}

TEST_F(ReplaySet, WritesToolsBeforeTheFirstContextThatHasThem) {
  AgentView other = *sources_[0].view;
  other.offered = {{"find", ""}, {"refund", ""}};
  sources_[2].view = std::make_shared<const AgentView>(other);
  const std::vector<PreparedContext> contexts = prepared(sources_, items_, 2);
  std::vector<std::size_t> with_tools;
  for (std::size_t i = 0; i < contexts.size(); ++i)
    if (contexts[i].written.find("\"kind\": \"tools\"") == 1) with_tools.push_back(i);
  EXPECT_EQ(with_tools, (std::vector<std::size_t>{0, 32}));
  EXPECT_EQ(contexts[2].id, "e1m1");
  EXPECT_NE(contexts[2].written.find(R"("task": "a", "episode": "s1", "message": 1, "turns": 30)"),
            std::string::npos)
      << contexts[2].written;
}

TEST_F(ReplaySet, TellsContextsApartByTheirHash) {
  const std::vector<PreparedContext> contexts = prepared(sources_, items_, 1);
  const auto hash = [](const PreparedContext& context) {
    return context.written.substr(context.written.find("\"sha256\": ") + 11, 64);
  };
  EXPECT_EQ(hash(contexts[0]), hash(contexts[2])) << "episodes that begin alike";
  EXPECT_NE(hash(contexts[0]), hash(contexts[1]));
}

}  // namespace
}  // namespace unmask
