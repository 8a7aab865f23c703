#include "environment/grading.h"

#include <gtest/gtest.h>

#include "environment/data_folder.h"
#include "environment/json.h"

namespace unmask {
namespace {

using Speaker = ReplayMessage::Speaker;

const std::shared_ptr<const Domain>& mock() {
  static const std::shared_ptr<const Domain> kDomain = [] {
    const Result<DataFolder> data = DataFolder::open(UNMASK_TEST_DATA "/environment/tau2");
    return *load_domain(*data, "mock");
  }();
  return kDomain;
}

// A task whose reference trajectory adds one thing to Ana's list.
Task task_with(const std::string& criteria) {
  const Result<Value> json = parse_json(R"({"id": "t", "user_scenario": {"instructions": "x"},
      "evaluation_criteria": )" + criteria +
                                        "}");
  EXPECT_TRUE(json) << criteria;
  Result<Task> task = read_task(*json);
  EXPECT_TRUE(task) << to_string(task.error());
  return *task;
}

Task adding_task(const std::string& more = "") {
  return task_with(R"({"actions": [{"action_id": "a", "name": "create_task",
      "arguments": {"user_id": "ana", "title": "Buy milk"}}])" +
                   more + "}");
}

// Messages of a trajectory in upstream's form; the replies come from the world itself.
std::vector<ReplayMessage> playing(const std::string& name, const std::string& arguments,
                                   const std::string& said = "Done.") {
  const ToolRequest call{"c1", name, *parse_json(arguments), Side::Agent};
  Environment world = *Environment::start(mock());
  const ToolReply reply = world.respond(call);
  ReplayMessage asked;
  asked.speaker = Speaker::Agent;
  asked.has_calls = true;
  asked.calls = {call};
  ReplayMessage answered;
  answered.speaker = Speaker::Tool;
  answered.call_id = "c1";
  answered.content = reply.content;
  answered.error = reply.error;
  ReplayMessage last;
  last.speaker = Speaker::Agent;
  last.content = said;
  return {asked, answered, last};
}

std::vector<ReplayMessage> adding(const std::string& title = "Buy milk",
                                  const std::string& said = "Done.") {
  return playing("create_task", R"({"user_id": "ana", "title": ")" + title + "\"}", said);
}

Grading graded(const Task& task, const std::vector<ReplayMessage>& trajectory,
               const GradingOptions& options = {}) {
  Result<Grading> grade = unmask::grade(mock(), task, Termination::UserStop, trajectory, options);
  EXPECT_TRUE(grade) << to_string(grade.error());
  return std::move(*grade);
}

class FixedJudge : public Judge {
 public:
  explicit FixedJudge(bool met) : met_(met) {}
  Result<std::vector<AssertionJudgement>> judge(std::span<const ReplayMessage>,
                                                std::span<const std::string> assertions) override {
    std::vector<AssertionJudgement> found;
    for (const std::string& assertion : assertions) found.push_back({assertion, met_, "so"});
    return found;
  }

 private:
  bool met_;
};

TEST(Grading, GivesOneToTheReferenceTrajectory) {
  const Grading grade = graded(adding_task(), adding());
  EXPECT_EQ(grade.reward, 1.0);
  EXPECT_EQ(grade.database_match, true);
  EXPECT_TRUE(grade.differences.empty());
  ASSERT_TRUE(grade.actions);
  EXPECT_TRUE(grade.actions->front().met);
  EXPECT_EQ(grade.actions->front().type, ToolType::Write);
  EXPECT_TRUE(grade_evidence(grade).is_none());
}

TEST(Grading, ShowsWhereTheDatabasesPart) {
  const Grading grade = graded(adding_task(), adding("Buy bread"));
  EXPECT_EQ(grade.reward, 0.0);
  ASSERT_EQ(grade.differences.size(), 1u);
  EXPECT_EQ(grade.difference_count, 1u);
  EXPECT_EQ(grade.differences[0].path, "tasks.task_2.title");
  EXPECT_EQ(grade.differences[0].wanted, "\"Buy milk\"");
  EXPECT_EQ(grade.differences[0].obtained, "\"Buy bread\"");
}

TEST(Grading, ShowsWhatIsMissingAndWhatIsTooMuch) {
  const Grading missing = graded(adding_task(), {});
  ASSERT_EQ(missing.differences.size(), 2u);
  EXPECT_EQ(missing.differences[0].path, "tasks.task_2");
  EXPECT_FALSE(missing.differences[0].obtained);
  EXPECT_EQ(missing.differences[1].path, "users.ana.tasks[1]");
  const Grading extra = graded(task_with(R"({"actions": []})"), adding());
  ASSERT_EQ(extra.differences.size(), 2u);
  EXPECT_FALSE(extra.differences[0].wanted);
}

TEST(Grading, CountsAllDifferencesButKeepsOnlySome) {
  Value wanted = Value::dict();
  Value obtained = Value::dict();
  for (int i = 0; i < 100; ++i) {
    wanted.set(std::to_string(i), i);
    obtained.set(std::to_string(i), i + 1);
  }
  const auto [found, count] = state_differences(Side::User, wanted, obtained, 7);
  EXPECT_EQ(found.size(), 7u);
  EXPECT_EQ(count, 100u);
  EXPECT_EQ(found[0].side, Side::User);
}

TEST(Grading, TellsANumberFromTheSameNumberWithAPoint) {
  const auto [found, count] =
      state_differences(Side::Agent, Value::dict({{"a", 5}}), Value::dict({{"a", 5.0}}), 9);
  ASSERT_EQ(count, 1u);
  EXPECT_EQ(found[0].wanted, "5");
  EXPECT_EQ(found[0].obtained, "5.0");
}

TEST(Grading, MultipliesOnlyThePartsOfTheBasis) {
  const std::string parts = R"(, "communicate_info": ["Tuesday"], "reward_basis": ["DB")";
  EXPECT_EQ(graded(adding_task(parts + "]"), adding()).reward, 1.0);
  const Grading both = graded(adding_task(parts + ", \"COMMUNICATE\"]"), adding());
  EXPECT_EQ(both.reward, 0.0);
  ASSERT_EQ(both.breakdown->size(), 2u);
  EXPECT_EQ(both.breakdown->at(0), (std::pair{RewardPart::Db, 1.0}));
  EXPECT_EQ(both.breakdown->at(1), (std::pair{RewardPart::Communicate, 0.0}));
}

TEST(Grading, FindsStatementsWhateverTheirCaseAndCommas) {
  const std::string parts = R"(, "communicate_info": ["1250 Euros"])";
  const Grading said = graded(adding_task(parts), adding("Buy milk", "That is 1,250 EUROS."));
  EXPECT_EQ(said.reward, 1.0);
  ASSERT_TRUE(said.statements);
  EXPECT_EQ(said.statements->front().message, 2u);
  EXPECT_EQ(said.statements->front().said, "That is 1,250 EUROS.");
  const Grading comma = graded(adding_task(R"(, "communicate_info": ["1,250"])"),
                               adding("Buy milk", "That is 1,250 euros."));
  EXPECT_EQ(comma.reward, 0.0) << "commas in what is wanted are kept, as upstream does";
}

TEST(Grading, RunsAssertionsOnTheWorldTheTrajectoryLeft) {
  const std::string parts = R"(, "env_assertions": [{"env_type": "assistant",
      "func_name": "assert_number_of_tasks",
      "arguments": {"user_id": "ana", "expected_number": 2}}], "reward_basis": ["ENV_ASSERTION"])";
  EXPECT_EQ(graded(adding_task(parts), adding()).reward, 1.0);
  EXPECT_EQ(graded(adding_task(parts), {}).reward, 0.0);
}

TEST(Grading, SaysWhichAssertionDoesNotExist) {
  const Task task = task_with(R"({"env_assertions": [{"env_type": "assistant",
      "func_name": "assert_peace", "arguments": {}}]})");
  const Result<Grading> grade = unmask::grade(mock(), task, Termination::UserStop, {});
  ASSERT_FALSE(grade);
  EXPECT_EQ(to_string(grade.error()),
            "AttributeError: 'MockTools' object has no attribute 'assert_peace'");
}

TEST(Grading, GivesNothingToWhatEndedTooEarly) {
  for (const Termination termination :
       {Termination::MaxSteps, Termination::TooManyErrors, Termination::Timeout,
        Termination::AgentError, Termination::UserError, Termination::ContextWindowExceeded,
        Termination::UnexpectedError}) {
    const Result<Grading> grade = unmask::grade(mock(), adding_task(), termination, adding());
    ASSERT_TRUE(grade);
    EXPECT_EQ(grade->reward, 0.0);
    EXPECT_FALSE(grade->basis);
    EXPECT_EQ(grade->note, "Simulation terminated prematurely. Termination reason: " +
                               std::string(to_string(termination)));
  }
}

TEST(Grading, GivesOneWhereNothingIsAsked) {
  const Task task =
      *read_task(*parse_json(R"({"id": "t", "user_scenario": {"instructions": "x"}})"));
  const Grading grade = graded(task, {});
  EXPECT_EQ(grade.reward, 1.0);
  EXPECT_EQ(grade.note, "No evaluation criteria");
}

TEST(Grading, LeavesPlainLanguageToAJudge) {
  const Task task = adding_task(R"(, "nl_assertions": ["polite"],
      "reward_basis": ["DB", "NL_ASSERTION"])");
  FixedJudge kind(true);
  FixedJudge strict(false);
  GradingOptions options;
  options.judge = &kind;
  EXPECT_EQ(graded(task, adding(), options).reward, 1.0);
  options.judge = &strict;
  EXPECT_EQ(graded(task, adding(), options).reward, 0.0);
}

TEST(Grading, WithoutAJudgeIsUndecidedUnlessAnotherPartFailed) {
  const Task task = adding_task(R"(, "nl_assertions": ["polite"],
      "reward_basis": ["DB", "NL_ASSERTION"])");
  const Grading open = graded(task, adding());
  EXPECT_EQ(open.reward, std::nullopt);
  EXPECT_EQ(open.ungraded, std::vector{RewardPart::NlAssertion});
  EXPECT_TRUE(reward_info(open).find("reward")->is_none());
  EXPECT_EQ(dump_json(*grade_evidence(open).find("ungraded")), R"(["NL_ASSERTION"])");
  const Grading settled = graded(task, adding("Buy bread"));
  EXPECT_EQ(settled.reward, 0.0);
  EXPECT_EQ(settled.ungraded, std::vector{RewardPart::NlAssertion});
}

TEST(Grading, ReadsTheJudgesAnswer) {
  const Result<std::vector<AssertionJudgement>> read = judgements_in(
      R"({"results": [{"expectedOutcome": "polite", "reasoning": "r", "metExpectation": false}]})");
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 1u);
  EXPECT_EQ(read->front().assertion, "polite");
  EXPECT_FALSE(read->front().met);
  for (const char* bad : {"", "[]", R"({"results": 1})", R"({"results": [{}]})",
                          R"({"results": [{"expectedOutcome": "a", "reasoning": "r",
                              "metExpectation": "yes"}]})"})
    EXPECT_FALSE(judgements_in(bad)) << bad;
}

TEST(Grading, RefusesATamperedReplyUnlessToldToCountIt) {
  std::vector<ReplayMessage> tampered = adding();
  tampered[1].content = "{}";
  const Result<Grading> strict =
      unmask::grade(mock(), adding_task(), Termination::UserStop, tampered);
  ASSERT_FALSE(strict);
  EXPECT_EQ(strict.error().where, "ValueError");
  GradingOptions lenient;
  lenient.strict = false;
  const Grading grade = graded(adding_task(), tampered, lenient);
  EXPECT_EQ(grade.reward, 1.0);
  EXPECT_EQ(grade.differing_replies, 1);
  EXPECT_EQ(grade_evidence(grade).find("differing_replies")->as_int(), 1);
}

TEST(GoldenAction, ComparesTheArgumentsOfTheCallUnlessToldWhich) {
  GoldenAction action;
  action.name = "f";
  action.arguments = *parse_json(R"({"a": 1, "b": [2.0]})");
  const auto matched = [&](const char* arguments, const char* name = "f") {
    return matches(action, {"", name, *parse_json(arguments), Side::User});
  };
  EXPECT_TRUE(matched(R"({"b": [2], "a": 1.0})")) << "Python's 1 == 1.0";
  EXPECT_TRUE(matched(R"({"a": 1})")) << "a missing argument passes";
  EXPECT_TRUE(matched("{}"));
  EXPECT_FALSE(matched(R"({"a": 1, "b": [2], "c": 3})")) << "an extra one fails";
  EXPECT_FALSE(matched(R"({"a": 2})"));
  EXPECT_FALSE(matched("{}", "g"));
  action.compare_arguments = {"a", "z"};
  EXPECT_TRUE(matched(R"({"a": 1, "b": 5})")) << "neither has z";
  EXPECT_FALSE(matched(R"({"b": [2]})"));
  EXPECT_FALSE(matched(R"({"a": 1, "z": 0})"));
  action.compare_arguments.emplace();
  EXPECT_TRUE(matched(R"({"q": 7})"));
}

TEST(Grading, WritesUpstreamsMembers) {
  const Value info = reward_info(graded(adding_task(), {}));
  EXPECT_EQ(dump_json(info),
            R"({"reward": 0.0, "db_check": {"db_match": false, "db_reward": 0.0}, )"
            R"("env_assertions": [], "action_checks": [{"action": {"action_id": "a", )"
            R"("requestor": "assistant", "name": "create_task", "arguments": {"user_id": "ana", )"
            R"("title": "Buy milk"}, "info": null, "compare_args": null}, "action_match": false, )"
            R"("action_reward": 0.0, "tool_type": "write"}], "nl_assertions": null, )"
            R"("communicate_checks": null, "reward_basis": ["DB", "COMMUNICATE"], )"
            R"("reward_breakdown": {"DB": 0.0, "COMMUNICATE": 1.0}, "info": {"env": null, )"
            R"("nl": null, "communicate": {"note": "No communicate_info to evaluate"}, )"
            R"("action": null}})");
}

}  // namespace
}  // namespace unmask
