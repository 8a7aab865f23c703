// The tools: every recorded call gives the recorded content, error flag and database hashes.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/file.h"
#include "environment/environment.h"
#include "environment/json.h"
#include "environment/python.h"
#include "parity.h"

namespace unmask::parity {
namespace {

Side side_named(const Value& requestor) {
  return requestor.is_str() && requestor.as_str() == "user" ? Side::User : Side::Agent;
}

Value user_hash(const Environment& environment) {
  const std::optional<std::string> hash = environment.user_hash();
  return hash ? Value(*hash) : Value();
}

std::string label(const Value& line) {
  const Value* episode = line.find("episode");
  return (episode ? *episode : *line.find("task_id")).as_str();
}

void compare_hashes(Tally& tally, const std::string& what, const Environment& environment,
                    const Value& line, const std::string& prefix) {
  if (const Value* agent = line.find(prefix + "agent_db_hash"))
    tally.expect(what + " agent_db_hash", environment.agent_hash(), *agent);
  if (const Value* user = line.find(prefix + "user_db_hash"))
    tally.expect(what + " user_db_hash", user_hash(environment), *user);
}

void compare_step(Tally& tally, const std::string& what, Environment& environment,
                  const Value& step) {
  ToolRequest request;
  request.name = step.find("name")->as_str();
  request.arguments = *step.find("arguments");
  request.side = side_named(*step.find("requestor"));
  const ToolReply reply = environment.respond(request);
  ++tally.steps;
  const std::string& content = step.find("content")->as_str();
  const bool equal = reply.content == content && reply.error == step.find("error")->as_bool();
  const bool approximate = step.find("approx") && step.find("approx")->as_bool();
  if (equal) {
    ++tally.matched;
    tally.approximate_equal += approximate ? 1 : 0;
  } else {
    const std::string difference =
        what + " " + request.name + ": ours [" + reply.content + "], theirs [" + content + "]";
    tally.approximate += approximate ? 1 : 0;
    (approximate ? tally.approximate_differences : tally.differences).push_back(difference);
  }
  compare_hashes(tally, what, environment, step, "");
}

void compare_assertions(Tally& tally, const std::string& what, Environment& environment,
                        const Value& line) {
  for (const Value& each : line.find("env_assertions")->items()) {
    EnvironmentAssertion assertion;
    assertion.side = side_named(*each.find("env_type"));
    assertion.name = each.find("func_name")->as_str();
    assertion.arguments = *each.find("arguments");
    assertion.expected = each.find("assert_value")->as_bool();
    const Result<bool> met = environment.holds(assertion);
    tally.expect(what + " " + assertion.name, met ? Value(*met) : Value(to_string(met.error())),
                 *each.find("met"));
  }
}

// `left_behind`: what the episode before it left outside the databases, then what this one leaves.
void compare_episode(Tally& tally, const LoadedDomain& domain, const Value& line,
                     Value& left_behind) {
  ++tally.episodes;
  const std::string episode = label(line);
  Result<Environment> environment = Environment::start(domain.domain);
  ASSERT_TRUE(environment) << to_string(environment.error());
  environment->inherit(left_behind);
  const Value& task_id = *line.find("task_id");
  if (task_id.is_str()) {
    const Task* task = domain.find(task_id.as_str());
    ASSERT_NE(task, nullptr) << "task " << task_id.as_str() << " is not in the data";
    const InitialState initial = task->initial_state.value_or(InitialState{});
    const Result<std::vector<ReplayMessage>> history = replay_messages(initial.message_history);
    ASSERT_TRUE(history) << to_string(history.error());
    const Result<Done> set = environment->set_state(initial, *history);
    ASSERT_TRUE(set) << to_string(set.error());
  }
  compare_hashes(tally, episode + " initially", *environment, line, "initial_");
  const Value& steps = *line.find("steps");
  for (std::size_t i = 0; i < steps.size(); ++i)
    compare_step(tally, episode + " step " + std::to_string(i), *environment, steps[i]);
  compare_hashes(tally, episode + " finally", *environment, line, "final_");
  compare_assertions(tally, episode, *environment, line);
  left_behind = environment->left_behind();
}

// What the initial states of the domain's tasks leave outside the databases.
std::vector<Value> possible_legacies(const LoadedDomain& domain) {
  std::vector<Value> legacies;
  for (const Task& task : domain.tasks) {
    Result<Environment> environment = Environment::start(domain.domain);
    if (!environment || !task.initial_state) continue;
    (void)environment->set_state(*task.initial_state, {});
    const Value& left = environment->left_behind();
    const auto is_known = [&](const Value& known) { return python::equal(known, left); };
    if (!left.is_none() && std::none_of(legacies.begin(), legacies.end(), is_known))
      legacies.push_back(left);
  }
  return legacies;
}

// One process of upstream ran all episodes of a file, those that are held back as well, and what
// one left outside the databases the next one met. So an episode that differs may have begun with
// what one that is not in this file had left; once that is so it stays so.
Tally compare_lines(const LoadedDomain& domain, const std::vector<Value>& lines) {
  Tally all;
  Value left_behind;
  for (const Value& line : lines) {
    const Value before = left_behind;
    Tally tally;
    compare_episode(tally, domain, line, left_behind);
    if (!tally.differences.empty() && before.is_none()) {
      for (const Value& legacy : possible_legacies(domain)) {
        Tally again;
        Value left = legacy;
        compare_episode(again, domain, line, left);
        if (!again.differences.empty()) continue;
        tally = std::move(again);
        tally.inherited = 1;
        left_behind = left;
        break;
      }
    }
    all.add(std::move(tally));
  }
  return all;
}

// One test a domain: --gtest_filter='*retail*'.
class Parity : public testing::TestWithParam<const char*> {};

void compare_files(std::string_view domain_name, std::string_view kind) {
  std::string absent;
  const std::vector<std::string> folders = golden_folders(absent);
  if (folders.empty()) GTEST_SKIP() << "no golden transcripts at " << absent;
  int compared = 0;
  for (const std::string& folder : folders) {
    for (const GoldenFile& file : golden_files(folder, kind)) {
      if (file.domain != domain_name) continue;
      const LoadedDomain* domain = loaded(file.domain);
      ASSERT_NE(domain, nullptr) << file.path << ": domain '" << file.domain
                                 << "' cannot be loaded from " << data_folder_path();
      const Tally tally = compare_lines(*domain, file.lines);
      print(file, tally);
      EXPECT_TRUE(tally.differences.empty()) << file.path;
      EXPECT_GT(tally.steps, 0) << file.path;
      ++compared;
    }
  }
  if (compared == 0) GTEST_SKIP() << "no such transcripts in the golden folders";
}

TEST_P(Parity, GoldenActionsGiveTheRecordedContentsAndHashes) {
  compare_files(GetParam(), "");
}
TEST_P(Parity, FuzzedCallsGiveTheRecordedContentsAndHashes) {
  compare_files(GetParam(), "fuzz");
}

TEST_P(Parity, PolicyIsTheRecordedOne) {
  const Result<std::string> text =
      read_file(std::string(UNMASK_SHARED "/tau2/surface/") + GetParam() + ".json");
  if (!text) GTEST_SKIP() << "no surface files at " << UNMASK_SHARED "/tau2/surface";
  const Result<Value> surface = parse_json(*text);
  ASSERT_TRUE(surface) << to_string(surface.error());
  const LoadedDomain* domain = loaded(GetParam());
  ASSERT_NE(domain, nullptr) << "no data at " << data_folder_path();
  EXPECT_EQ(domain->domain->policy, surface->find("policy")->as_str());
}

INSTANTIATE_TEST_SUITE_P(Domains, Parity, testing::Values("mock", "retail", "telecom", "airline"),
                         [](const testing::TestParamInfo<const char*>& each) {
                           return std::string(each.param);
                         });

}  // namespace
}  // namespace unmask::parity
