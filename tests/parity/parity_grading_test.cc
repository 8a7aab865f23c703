// Grading: every recorded trajectory gets the recorded reward_info, or fails with the recorded
// exception.
#include <gtest/gtest.h>

#include "environment/grading.h"
#include "environment/json.h"
#include "parity.h"

namespace unmask::parity {
namespace {

// Answers what the judge of the recording answered.
class RecordedJudge : public Judge {
 public:
  explicit RecordedJudge(const Value* answer) : answer_(answer) {}
  Result<std::vector<AssertionJudgement>> judge(std::span<const ReplayMessage>,
                                                std::span<const std::string>) override {
    if (!answer_ || !answer_->is_str())
      return Error{ErrorKind::Unavailable, "the recording has no judge", ""};
    return judgements_in(answer_->as_str());
  }

 private:
  const Value* answer_;
};

Termination termination_named(const Value& name) {
  for (int i = 0; i <= static_cast<int>(Termination::Unknown); ++i)
    if (to_string(static_cast<Termination>(i)) == name.as_str()) return static_cast<Termination>(i);
  return Termination::Unknown;
}

Value outcome_json(const Result<Grading>& grade) {
  if (grade) return reward_info(*grade);
  return Value::dict({{"type", grade.error().where}, {"message", grade.error().message}});
}

// Every member of reward_info on a line of its own, so that a difference is readable.
void compare_members(Tally& tally, const std::string& what, const Value& ours,
                     const Value& theirs) {
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    const Value* mine = ours.find(theirs.key(i));
    tally.expect(what + " " + theirs.key(i), mine ? *mine : Value("(absent)"), theirs[i]);
  }
  tally.expect(what + " members", ours.size(), theirs.size());
}

void compare_trajectory(Tally& tally, const LoadedDomain& domain, const Value& line) {
  ++tally.episodes;
  ++tally.steps;
  const std::string id = line.find("task_id")->as_str();
  const Task* task = domain.find(id);
  ASSERT_NE(task, nullptr) << "task " << id << " is not in the data";
  const Result<std::vector<ReplayMessage>> messages = replay_messages(*line.find("messages"));
  ASSERT_TRUE(messages) << to_string(messages.error());
  RecordedJudge judge(line.find("nl_judge_response"));
  GradingOptions options;
  options.judge = &judge;
  const Result<Grading> graded =
      grade(domain.domain, *task, termination_named(*line.find("termination_reason")), *messages,
            options);
  const Value* exception = line.find("exception");
  const Value& theirs = exception ? *exception : *line.find("reward_info");
  const std::size_t before = tally.differences.size();
  compare_members(tally, id + " " + line.find("variant")->as_str(), outcome_json(graded), theirs);
  if (tally.differences.size() == before) ++tally.matched;
}

class GradingParity : public testing::TestWithParam<const char*> {};

TEST_P(GradingParity, TrajectoriesGetTheRecordedRewards) {
  std::string absent;
  const std::vector<std::string> folders = golden_folders(absent);
  if (folders.empty()) GTEST_SKIP() << "no golden transcripts at " << absent;
  int compared = 0;
  for (const std::string& folder : folders) {
    for (const GoldenFile& file : golden_files(folder, "eval")) {
      if (file.domain != GetParam()) continue;
      const LoadedDomain* domain = loaded(file.domain);
      ASSERT_NE(domain, nullptr) << file.path << ": domain '" << file.domain
                                 << "' cannot be loaded from " << data_folder_path();
      Tally tally;
      for (const Value& line : file.lines) compare_trajectory(tally, *domain, line);
      print(file, tally);
      EXPECT_TRUE(tally.differences.empty()) << file.path;
      EXPECT_GT(tally.episodes, 0) << file.path;
      ++compared;
    }
  }
  if (compared == 0) GTEST_SKIP() << "no such transcripts in the golden folders";
}

INSTANTIATE_TEST_SUITE_P(Domains, GradingParity,
                         testing::Values("mock", "retail", "telecom", "airline"),
                         [](const testing::TestParamInfo<const char*>& each) {
                           return std::string(each.param);
                         });

}  // namespace
}  // namespace unmask::parity
