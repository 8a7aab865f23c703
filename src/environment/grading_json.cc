// Grades as upstream's reward_info, and states side by side.
#include "environment/grading.h"
#include "environment/json.h"

namespace unmask {

namespace {

Value text_or_none(const std::optional<std::string>& text) {
  return text ? Value(*text) : Value();
}

Value note(const std::string& text) {
  return text.empty() ? Value() : Value::dict({{"note", text}});
}

double reward_of(bool met) {
  return met ? 1.0 : 0.0;
}

// A list of what `convert` makes of the checks; None where the part was not looked at.
template <typename Check>
Value list_of(const std::optional<std::vector<Check>>& checks, Value (*convert)(const Check&)) {
  if (!checks) return {};
  std::vector<Value> items;
  for (const Check& check : *checks) items.push_back(convert(check));
  return Value::list(std::move(items));
}

Value names(const std::vector<RewardPart>& parts) {
  std::vector<Value> items;
  for (const RewardPart part : parts) items.emplace_back(to_string(part));
  return Value::list(std::move(items));
}

Value action_json(const ActionCheck& check) {
  Value compared;
  if (check.action.compare_arguments)
    compared = Value::list(
        {check.action.compare_arguments->begin(), check.action.compare_arguments->end()});
  Value action = Value::dict({{"action_id", check.action.id},
                              {"requestor", requestor(check.action.side)},
                              {"name", check.action.name},
                              {"arguments", check.action.arguments},
                              {"info", text_or_none(check.action.info)},
                              {"compare_args", compared}});
  return Value::dict({{"action", action},
                      {"action_match", check.met},
                      {"action_reward", reward_of(check.met)},
                      {"tool_type", check.type ? Value(to_string(*check.type)) : Value()}});
}

Value assertion_json(const AssertionCheck& check) {
  Value assertion = Value::dict({{"env_type", requestor(check.assertion.side)},
                                 {"func_name", check.assertion.name},
                                 {"arguments", check.assertion.arguments},
                                 {"assert_value", check.assertion.expected},
                                 {"message", text_or_none(check.assertion.message)}});
  return Value::dict(
      {{"env_assertion", assertion}, {"met", check.met}, {"reward", reward_of(check.met)}});
}

Value statement_json(const StatementCheck& check) {
  const std::string about = "Information '" + check.statement + "' ";
  const std::string justification =
      check.met ? about + "communicated in the message:\n '" + check.said + "'"
                : about + "not communicated.";
  return Value::dict(
      {{"info", check.statement}, {"met", check.met}, {"justification", justification}});
}

Value judgement_json(const AssertionJudgement& judgement) {
  return Value::dict({{"nl_assertion", judgement.assertion},
                      {"met", judgement.met},
                      {"justification", judgement.reason}});
}

Value info_json(const Grading& grade) {
  if (!grade.note.empty()) return note(grade.note);
  return Value::dict({{"env", note(grade.environment_note)},
                      {"nl", note(grade.judgement_note)},
                      {"communicate", note(grade.statement_note)},
                      {"action", note(grade.action_note)}});
}

Value breakdown_json(const Grading& grade) {
  if (!grade.breakdown) return {};
  Value parts = Value::dict();
  for (const auto& [part, reward] : *grade.breakdown) parts.set(to_string(part), reward);
  return parts;
}

// Walks two states together and writes down where they part.
class Comparison {
 public:
  Comparison(Side side, std::size_t most) : side_(side), most_(most) {}

  void compare(const std::string& path, const Value& wanted, const Value& obtained) {
    if (wanted.same_node(obtained)) return;
    const auto keyed = [](const Value& v) { return v.is_dict() || v.is_model(); };
    if (keyed(wanted) && keyed(obtained))
      compare_members(path, wanted, obtained);
    else if (wanted.is_list() && obtained.is_list())
      compare_items(path, wanted, obtained);
    else if (dump_json(wanted) != dump_json(obtained))
      differ(path, &wanted, &obtained);
  }

  std::pair<std::vector<StateDifference>, std::size_t> take() {
    return {std::move(found_), count_};
  }

 private:
  static std::string below(const std::string& path, const std::string& key) {
    return path.empty() ? key : path + "." + key;
  }

  void compare_members(const std::string& path, const Value& wanted, const Value& obtained) {
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const std::string& key = wanted.key(i);
      if (const Value* other = obtained.find(key))
        compare(below(path, key), wanted[i], *other);
      else
        differ(below(path, key), &wanted[i], nullptr);
    }
    for (std::size_t i = 0; i < obtained.size(); ++i)
      if (!wanted.find(obtained.key(i)))
        differ(below(path, obtained.key(i)), nullptr, &obtained[i]);
  }

  void compare_items(const std::string& path, const Value& wanted, const Value& obtained) {
    for (std::size_t i = 0; i < std::max(wanted.size(), obtained.size()); ++i) {
      const std::string place = path + "[" + std::to_string(i) + "]";
      if (i < wanted.size() && i < obtained.size())
        compare(place, wanted[i], obtained[i]);
      else
        differ(place, i < wanted.size() ? &wanted[i] : nullptr,
               i < obtained.size() ? &obtained[i] : nullptr);
    }
  }

  void differ(const std::string& path, const Value* wanted, const Value* obtained) {
    ++count_;
    if (found_.size() == most_) return;
    const auto json = [](const Value* v) {
      return v ? std::optional<std::string>(dump_json(*v)) : std::nullopt;
    };
    found_.push_back({side_, path, json(wanted), json(obtained)});
  }

  Side side_;
  std::size_t most_;
  std::vector<StateDifference> found_;
  std::size_t count_ = 0;
};

Value difference_json(const StateDifference& difference) {
  return Value::dict({{"side", to_string(difference.side)},
                      {"path", difference.path},
                      {"wanted", text_or_none(difference.wanted)},
                      {"obtained", text_or_none(difference.obtained)}});
}

}  // namespace

std::pair<std::vector<StateDifference>, std::size_t> state_differences(Side side,
                                                                       const Value& wanted,
                                                                       const Value& obtained,
                                                                       std::size_t most) {
  Comparison comparison(side, most);
  comparison.compare("", wanted, obtained);
  return comparison.take();
}

Value reward_info(const Grading& grade) {
  Value database;
  if (grade.database_match)
    database = Value::dict(
        {{"db_match", *grade.database_match}, {"db_reward", reward_of(*grade.database_match)}});
  return Value::dict({{"reward", grade.reward ? Value(*grade.reward) : Value()},
                      {"db_check", database},
                      {"env_assertions", list_of(grade.assertions, assertion_json)},
                      {"action_checks", list_of(grade.actions, action_json)},
                      {"nl_assertions", list_of(grade.judgements, judgement_json)},
                      {"communicate_checks", list_of(grade.statements, statement_json)},
                      {"reward_basis", grade.basis ? names(*grade.basis) : Value()},
                      {"reward_breakdown", breakdown_json(grade)},
                      {"info", info_json(grade)}});
}

Value grade_evidence(const Grading& grade) {
  if (grade.ungraded.empty() && grade.difference_count == 0 && grade.differing_replies == 0)
    return {};
  std::vector<Value> differences;
  for (const StateDifference& each : grade.differences)
    differences.push_back(difference_json(each));
  return Value::dict({{"ungraded", names(grade.ungraded)},
                      {"db_differences", Value::list(std::move(differences))},
                      {"db_difference_count", grade.difference_count},
                      {"differing_replies", grade.differing_replies}});
}

}  // namespace unmask
