// The turn loop: scripted sides come to the recorded end, with the recorded messages, counts and
// databases, or fail with the recorded exception.
#include <gtest/gtest.h>

#include "parity.h"
#include "rollout/scripted.h"
#include "rollout/turn_loop.h"

namespace unmask::parity {
namespace {

using Speaker = ReplayMessage::Speaker;

TurnMessage move_of(const Value& json) {
  TurnMessage message;
  if (const Value* content = json.find("content"); content && content->is_str())
    message.content = content->as_str();
  if (const Value* cost = json.find("cost"); cost && !cost->is_none())
    message.cost_usd = cost->as_float();
  const Value* calls = json.find("tool_calls");
  if (!calls || !calls->is_list()) return message;
  message.has_calls = true;
  for (const Value& call : calls->items()) {
    ToolRequest request;
    request.id = call.find("id")->as_str();
    request.name = call.find("name")->as_str();
    request.arguments = *call.find("arguments");
    message.calls.push_back(std::move(request));
  }
  return message;
}

Script script_of(const Value& line, const std::string& side) {
  std::vector<Result<TurnMessage>> moves;
  for (const Value& move : line.find(side + "_moves")->items()) moves.push_back(move_of(move));
  return Script(std::move(moves), move_of(*line.find(side + "_default_move")));
}

TurnOptions options_of(const Value& config) {
  TurnOptions options;
  options.max_steps = static_cast<int>(config.find("max_steps")->as_int());
  options.max_errors = static_cast<int>(config.find("max_errors")->as_int());
  options.validate_communication = config.find("validate_communication")->as_bool();
  if (const Value* seed = config.find("seed"); seed && !seed->is_none())
    options.seed = seed->as_int();
  return options;
}

void compare_simulation(Tally& tally, const std::string& what, const Value& ours,
                        const Value& theirs) {
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    const Value* mine = ours.find(theirs.key(i));
    tally.expect(what + " " + theirs.key(i), mine ? *mine : Value("(absent)"), theirs[i]);
  }
  tally.expect(what + " members", ours.size(), theirs.size());
}

void compare_end(Tally& tally, const std::string& what, const TurnLoop& loop, const Value& line) {
  const auto expect = [&](const char* name, const Value& ours) {
    tally.expect(what + " " + name, ours, *line.find(name));
  };
  expect("step_count", loop.step_count());
  expect("num_errors", loop.error_count());
  expect("done", loop.done());
  expect("from_role", to_string(loop.from()));
  expect("to_role", to_string(loop.to()));
  expect("final_agent_db_hash", loop.environment().agent_hash());
  const std::optional<std::string> user = loop.environment().user_hash();
  expect("final_user_db_hash", user ? Value(*user) : Value());
}

void compare_episode(Tally& tally, const LoadedDomain& domain, const Value& line) {
  ++tally.episodes;
  ++tally.steps;
  const std::string what = line.find("episode")->as_str();
  const Task* task = domain.find(line.find("task_id")->as_str());
  ASSERT_NE(task, nullptr) << what << ": its task is not in the data";
  Result<Environment> environment = Environment::start(domain.domain);
  ASSERT_TRUE(environment) << to_string(environment.error());
  const Value& config = *line.find("config");
  ScriptedAgent agent(script_of(line, "agent"), config.find("agent_stop_token")->as_bool());
  ScriptedUser user(script_of(line, "user"));
  TurnLoop loop(*task, std::move(*environment), agent, &user, options_of(config));
  const Result<Simulation> simulation = loop.run();
  const std::size_t before = tally.differences.size();
  if (const Value* exception = line.find("exception")) {
    const Value ours = simulation ? simulation_json(*simulation)
                                  : Value::dict({{"type", simulation.error().where},
                                                 {"message", simulation.error().message}});
    tally.expect(what, ours, *exception);
  } else if (!simulation) {
    tally.differences.push_back(what + ": ours fails with " + to_string(simulation.error()));
  } else {
    compare_simulation(tally, what, simulation_json(*simulation), *line.find("simulation"));
  }
  compare_end(tally, what, loop, line);
  if (tally.differences.size() == before) ++tally.matched;
}

class TurnLoopParity : public testing::TestWithParam<const char*> {};

TEST_P(TurnLoopParity, ScriptedEpisodesComeToTheRecordedEnd) {
  std::string absent;
  const std::vector<std::string> folders = golden_folders(absent);
  if (folders.empty()) GTEST_SKIP() << "no golden transcripts at " << absent;
  int compared = 0;
  for (const std::string& folder : folders) {
    for (const GoldenFile& file : golden_files(folder, "orchestrator")) {
      if (file.domain != GetParam()) continue;
      const LoadedDomain* domain = loaded(file.domain);
      ASSERT_NE(domain, nullptr) << file.path << ": domain '" << file.domain
                                 << "' cannot be loaded from " << data_folder_path();
      Tally tally;
      for (const Value& line : file.lines) compare_episode(tally, *domain, line);
      print(file, tally);
      EXPECT_TRUE(tally.differences.empty()) << file.path;
      EXPECT_GT(tally.episodes, 0) << file.path;
      ++compared;
    }
  }
  if (compared == 0) GTEST_SKIP() << "no such transcripts in the golden folders";
}

INSTANTIATE_TEST_SUITE_P(Domains, TurnLoopParity,
                         testing::Values("mock", "retail", "telecom", "airline"),
                         [](const testing::TestParamInfo<const char*>& each) {
                           return std::string(each.param);
                         });

}  // namespace
}  // namespace unmask::parity
