// Grades the parts of a trajectory one by one, then multiplies those of the task's basis.
#include "environment/grading.h"

#include <algorithm>

#include "environment/json.h"
#include "environment/python.h"
#include "environment/toolkit.h"

namespace unmask {

namespace {

using Speaker = ReplayMessage::Speaker;

bool contains(const std::vector<RewardPart>& basis, RewardPart part) {
  return std::find(basis.begin(), basis.end(), part) != basis.end();
}

std::optional<ToolType> type_of(const Domain& domain, std::string_view name) {
  // Upstream lets the user's tools replace the agent's of the same name.
  for (const Toolkit* toolkit : {domain.user_tools, domain.agent_tools})
    if (toolkit)
      if (const Tool* tool = toolkit->find(name)) return tool->type;
  return std::nullopt;
}

void grade_actions(Grading& grade, const Domain& domain, const EvaluationCriteria& criteria,
                   std::span<const ReplayMessage> trajectory) {
  if (!criteria.actions || criteria.actions->empty()) {
    grade.action_note = "No actions to evaluate";
    return;
  }
  grade.actions.emplace();
  for (const GoldenAction& action : *criteria.actions) {
    const auto calls_it = [&](const ReplayMessage& message) {
      return std::any_of(message.calls.begin(), message.calls.end(), [&](const ToolRequest& call) {
        return !call.unreadable && matches(action, call);
      });
    };
    const bool met = std::any_of(trajectory.begin(), trajectory.end(), calls_it);
    grade.actions->push_back({action, met, type_of(domain, action.name)});
  }
}

std::string without_commas(std::string text) {
  std::erase(text, ',');
  return text;
}

void grade_statements(Grading& grade, const EvaluationCriteria& criteria,
                      std::span<const ReplayMessage> trajectory) {
  if (!criteria.communicate || criteria.communicate->empty()) {
    grade.statement_note = "No communicate_info to evaluate";
    return;
  }
  std::vector<std::pair<std::size_t, std::string>> said;
  for (std::size_t i = 0; i < trajectory.size(); ++i) {
    const ReplayMessage& message = trajectory[i];
    if (message.speaker != Speaker::Agent || !message.content) continue;
    if (!python::is_blank(*message.content))
      said.emplace_back(i, without_commas(python::lower_text(*message.content)));
  }
  grade.statements.emplace();
  for (const std::string& statement : *criteria.communicate) {
    StatementCheck check;
    check.statement = statement;
    const std::string wanted = python::lower_text(statement);
    for (const auto& [index, text] : said) {
      if (text.find(wanted) == std::string::npos) continue;
      check.met = true;
      check.message = index;
      check.said = *trajectory[index].content;
      break;
    }
    grade.statements->push_back(std::move(check));
  }
}

// The world as the task's golden actions leave it. An action that fails changes what it changed
// before it failed.
Result<Environment> wanted_world(const std::shared_ptr<const Domain>& domain, const Task& task,
                                 const InitialState& initial, bool strict) {
  Result<Environment> world = Environment::start(domain);
  if (!world) return world.error();
  const Result<std::vector<ReplayMessage>> history = replay_messages(initial.message_history);
  if (!history) return history.error();
  const Result<Done> set = world->set_state(initial, *history, strict);
  if (!set) return set.error();
  if (!task.criteria->actions) return world;
  for (const GoldenAction& action : *task.criteria->actions) {
    ToolRequest request;
    request.name = action.name;
    request.arguments = action.arguments;
    request.side = action.side;
    (void)world->call(request);
  }
  return world;
}

void compare_states(Grading& grade, const Environment& wanted, const Environment& obtained) {
  grade.database_match =
      wanted.agent_hash() == obtained.agent_hash() && wanted.user_hash() == obtained.user_hash();
  if (*grade.database_match) return;
  const auto compare = [&](Side side, const Value& ours, const Value& theirs) {
    const std::size_t room = Grading::kShownDifferences - grade.differences.size();
    auto [found, count] = state_differences(side, ours, theirs, room);
    std::move(found.begin(), found.end(), std::back_inserter(grade.differences));
    grade.difference_count += count;
  };
  compare(Side::Agent, wanted.world().agent_db(), obtained.world().agent_db());
  if (wanted.domain().user_tools)
    compare(Side::User, wanted.world().user_db(), obtained.world().user_db());
}

Result<Done> grade_assertions(Grading& grade, const EvaluationCriteria& criteria,
                              Environment& world) {
  grade.assertions.emplace();
  if (!criteria.assertions) return Done{};
  for (const EnvironmentAssertion& assertion : *criteria.assertions) {
    const Result<bool> met = world.holds(assertion);
    if (!met) return met.error();
    grade.assertions->push_back({assertion, *met});
  }
  return Done{};
}

// The database, then the assertions on the world that the trajectory left.
Result<Done> grade_environment(Grading& grade, const std::shared_ptr<const Domain>& domain,
                               const Task& task, std::span<const ReplayMessage> trajectory,
                               const GradingOptions& options) {
  const EvaluationCriteria& criteria = *task.criteria;
  if (!criteria.actions && !criteria.assertions) {
    grade.database_match = true;
    grade.environment_note = "No expected actions or env assertions";
    return Done{};
  }
  const InitialState initial = task.initial_state.value_or(InitialState{});
  Result<Environment> obtained = Environment::start(domain, options.solo);
  if (!obtained) return obtained.error();
  const Result<Done> set = obtained->set_state(initial, trajectory, options.strict);
  if (!set) return set.error();
  grade.differing_replies = obtained->differing_replies();
  const Result<Environment> wanted = wanted_world(domain, task, initial, options.strict);
  if (!wanted) return wanted.error();
  compare_states(grade, *wanted, *obtained);
  return grade_assertions(grade, criteria, *obtained);
}

Result<Done> grade_judgements(Grading& grade, const EvaluationCriteria& criteria,
                              std::span<const ReplayMessage> trajectory, Judge* judge) {
  if (!contains(criteria.basis, RewardPart::NlAssertion)) return Done{};
  if (!criteria.nl_assertions || criteria.nl_assertions->empty()) {
    grade.judgements.emplace();
    grade.judgement_note = "No nl_assertions to evaluate";
    return Done{};
  }
  if (!judge) {
    grade.ungraded.push_back(RewardPart::NlAssertion);
    return Done{};
  }
  Result<std::vector<AssertionJudgement>> judgements =
      judge->judge(trajectory, *criteria.nl_assertions);
  if (!judgements) return judgements.error();
  grade.judgements = std::move(*judgements);
  return Done{};
}

template <typename Check>
double all_met(const std::optional<std::vector<Check>>& checks) {
  return !checks || std::all_of(checks->begin(), checks->end(),
                                [](const Check& check) { return check.met; })
             ? 1.0
             : 0.0;
}

double part_reward(const Grading& grade, RewardPart part) {
  switch (part) {
    case RewardPart::Db:
      return *grade.database_match ? 1.0 : 0.0;
    case RewardPart::EnvAssertion:
      return all_met(grade.assertions);
    case RewardPart::Action:
      return all_met(grade.actions);
    case RewardPart::NlAssertion:
      return all_met(grade.judgements);
    case RewardPart::Communicate:
      return all_met(grade.statements);
  }
  return 0.0;
}

void combine(Grading& grade, const EvaluationCriteria& criteria) {
  grade.basis = criteria.basis;
  grade.breakdown.emplace();
  double product = 1.0;
  for (const RewardPart part : {RewardPart::Db, RewardPart::EnvAssertion, RewardPart::Action,
                                RewardPart::NlAssertion, RewardPart::Communicate}) {
    if (!contains(criteria.basis, part) || contains(grade.ungraded, part)) continue;
    // Where there was nothing to compare, upstream lists no part of the environment.
    const bool of_environment = part == RewardPart::Db || part == RewardPart::EnvAssertion;
    if (of_environment && !grade.environment_note.empty()) continue;
    const double reward = part_reward(grade, part);
    grade.breakdown->emplace_back(part, reward);
    product *= reward;
  }
  if (grade.ungraded.empty() || product == 0.0) grade.reward = product;
}

}  // namespace

bool matches(const GoldenAction& action, const ToolRequest& call) {
  if (action.name != call.name) return false;
  const auto equal_argument = [&](const std::string& name) {
    const Value* wanted = action.arguments.find(name);
    const Value* given = call.arguments.find(name);
    return wanted && given ? python::equal(*wanted, *given) : wanted == given;
  };
  if (action.compare_arguments)
    return std::all_of(action.compare_arguments->begin(), action.compare_arguments->end(),
                       equal_argument);
  for (std::size_t i = 0; i < call.arguments.size(); ++i)
    if (!equal_argument(call.arguments.key(i))) return false;
  return true;
}

Result<Grading> grade(const std::shared_ptr<const Domain>& domain, const Task& task,
                      Termination termination, std::span<const ReplayMessage> trajectory,
                      const GradingOptions& options) {
  Grading grade;
  if (termination != Termination::AgentStop && termination != Termination::UserStop) {
    grade.reward = 0.0;
    grade.note = "Simulation terminated prematurely. Termination reason: " +
                 std::string(to_string(termination));
    return grade;
  }
  if (!task.criteria) {
    grade.reward = 1.0;
    grade.note = "No evaluation criteria";
    return grade;
  }
  const Result<std::shared_ptr<const Domain>> world = domain_of_task(domain, task.id);
  if (!world) return world.error();
  const Result<Done> environment = grade_environment(grade, *world, task, trajectory, options);
  if (!environment) return environment.error();
  grade_actions(grade, **world, *task.criteria, trajectory);
  grade_statements(grade, *task.criteria, trajectory);
  const Result<Done> judged = grade_judgements(grade, *task.criteria, trajectory, options.judge);
  if (!judged) return judged.error();
  combine(grade, *task.criteria);
  return grade;
}

Result<std::vector<AssertionJudgement>> judgements_in(std::string_view answer) {
  const Result<Value> json = parse_json(answer);
  if (!json) return json.error();
  const auto malformed = [](std::string_view problem) {
    return Error{ErrorKind::Malformed, "the judge's answer " + std::string(problem), ""};
  };
  if (!json->is_dict()) return malformed("is not an object");
  std::vector<AssertionJudgement> judgements;
  const Value* results = json->find("results");
  if (!results) return judgements;
  if (!results->is_list()) return malformed("has results that are not a list");
  for (const Value& result : results->items()) {
    const Value* assertion = result.find("expectedOutcome");
    const Value* met = result.find("metExpectation");
    const Value* reason = result.find("reasoning");
    if (!assertion || !assertion->is_str() || !met || !met->is_bool() || !reason ||
        !reason->is_str())
      return malformed("lacks expectedOutcome, metExpectation or reasoning in a result");
    judgements.push_back({assertion->as_str(), met->as_bool(), reason->as_str()});
  }
  return judgements;
}

}  // namespace unmask
