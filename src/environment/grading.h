// Grading: what a trajectory is worth by the criteria of its task, and the evidence for it.
//
// The parts and the way they combine are τ²-bench's (data_model/tasks.py, evaluator/): the reward
// is the product of the parts named in the task's reward basis, each 0 or 1. The other parts are
// looked at as well and reported, and count for nothing.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "environment/environment.h"
#include "environment/task.h"
#include "environment/value.h"
#include "trace/episode.h"

namespace unmask {

// What a judge found about one assertion in plain language.
struct AssertionJudgement {
  std::string assertion;
  bool met = false;
  std::string reason;
};

// Decides about assertions in plain language; a model behind it, or a script in tests.
class Judge {
 public:
  virtual ~Judge() = default;
  // Errors   Unavailable: no answer; Malformed: an answer that cannot be read.
  virtual Result<std::vector<AssertionJudgement>> judge(
      std::span<const ReplayMessage> trajectory, std::span<const std::string> assertions) = 0;
};

// The judgements in a judge's answer, a JSON object
//   {"results": [{"expectedOutcome": text, "reasoning": text, "metExpectation": bool}, ...]}.
// Errors   Malformed.
Result<std::vector<AssertionJudgement>> judgements_in(std::string_view answer);

struct ActionCheck {
  GoldenAction action;
  bool met = false;              // some call of the trajectory matches
  std::optional<ToolType> type;  // nullopt: no side has such a tool
};

struct AssertionCheck {
  EnvironmentAssertion assertion;
  bool met = false;
};

// A statement the agent owes the user.
struct StatementCheck {
  std::string statement;
  bool met = false;
  std::optional<std::size_t> message;  // where it was first said: an index of the trajectory
  std::string said;                    // the text of that message
};

// One place in which the world the trajectory left differs from the one the task wants.
struct StateDifference {
  Side side = Side::Agent;
  std::string path;                     // "orders.#W1.status", "tasks.task_1.tags[2]"
  std::optional<std::string> wanted;    // JSON; nullopt: should not be there
  std::optional<std::string> obtained;  // JSON; nullopt: is not there
};

struct Grading {
  // nullopt: a part of the basis was not graded and the graded ones do not settle it (a part that
  // failed settles it: 0).
  std::optional<double> reward;
  std::vector<RewardPart> ungraded;  // parts of the basis that needed a judge, without one
  std::optional<std::vector<RewardPart>> basis;  // nullopt: graded without looking (see note)
  // Parts of the basis with their rewards, in the order upstream lists them.
  std::optional<std::vector<std::pair<RewardPart, double>>> breakdown;
  std::string note;  // why a trajectory was graded without looking at it; else empty

  std::optional<bool> database_match;
  std::optional<std::vector<AssertionCheck>> assertions;
  std::optional<std::vector<ActionCheck>> actions;
  std::optional<std::vector<StatementCheck>> statements;
  std::optional<std::vector<AssertionJudgement>> judgements;
  // Remarks on single parts ("No actions to evaluate"); empty: none.
  std::string environment_note;
  std::string action_note;
  std::string statement_note;
  std::string judgement_note;

  std::vector<StateDifference> differences;  // the first kShownDifferences
  std::size_t difference_count = 0;          // all of them
  int differing_replies = 0;                 // replayed calls answered otherwise than recorded

  static constexpr std::size_t kShownDifferences = 50;
};

struct GradingOptions {
  bool solo = false;
  bool strict = true;      // a replayed call must be answered as recorded; false: it is counted
  Judge* judge = nullptr;  // without one, assertions in plain language stay ungraded
};

// Grades one trajectory. `trajectory` includes the message history of the task's initial state.
//
// Errors   what upstream raises, as Environment says it: a replay that cannot be followed, an
//          assertion that cannot be run; those of the judge.
// Threads  pure but for the judge.
// Source   τ²-bench 1.0.1, evaluator/evaluator.py with EvaluationType.ALL.
Result<Grading> grade(const std::shared_ptr<const Domain>& domain, const Task& task,
                      Termination termination, std::span<const ReplayMessage> trajectory,
                      const GradingOptions& options = {});

// The golden action asks for no more than this call has: same name, and equal arguments among those
// compared. Without compare_arguments these are the call's own, so an argument that the call lacks
// is not missed.
bool matches(const GoldenAction& action, const ToolRequest& call);

// Differences between two states as their JSON would show them, at most `most` of them; all are
// counted in the second.
std::pair<std::vector<StateDifference>, std::size_t> state_differences(Side side,
                                                                       const Value& wanted,
                                                                       const Value& obtained,
                                                                       std::size_t most);

// The grade as upstream's reward_info. An ungraded reward is null.
Value reward_info(const Grading& grade);

// What upstream has no field for, to be stored beside it: {"ungraded": [...], "db_differences":
// [...], "db_difference_count": n, "differing_replies": n}; None where there is nothing of it.
Value grade_evidence(const Grading& grade);

}  // namespace unmask
