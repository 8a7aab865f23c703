// How fast are the worlds? Golden actions a second, a fresh episode for each task, set-up included;
// and what starting an episode and hashing its state cost.
//
// Needs τ²-bench's data: TAU2_DATA_DIR, or ../shared/tau2/data beside the checkout. Upstream's own
// figures, measured the same way but with its data read and checked again for each episode, are in
// bench/results/environment.md.
#include "environment/environment.h"

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <map>

#include "environment/json.h"
#include "environment/task.h"

namespace {

using namespace unmask;

struct Loaded {
  std::shared_ptr<const Domain> domain;
  std::vector<Task> tasks;
};

Result<DataFolder> data_folder() {
  const char* given = std::getenv("TAU2_DATA_DIR");
  return DataFolder::open(given ? given : UNMASK_SHARED "/tau2/data");
}

const Loaded* loaded(const std::string& name, benchmark::State& state) {
  static std::map<std::string, Loaded> kept;
  if (kept.contains(name)) return &kept[name];
  const Result<DataFolder> data = data_folder();
  if (!data) {
    state.SkipWithError(to_string(data.error()).c_str());
    return nullptr;
  }
  Result<std::shared_ptr<const Domain>> domain = load_domain(*data, name);
  Result<std::vector<Task>> tasks = load_tasks(*data, *find_domain(name));
  if (!domain || !tasks) {
    state.SkipWithError(to_string(domain ? tasks.error() : domain.error()).c_str());
    return nullptr;
  }
  return &(kept[name] = {*domain, *tasks});
}

// One iteration runs the golden actions of all tasks; `hashed` takes both hashes after each task.
void golden_actions(benchmark::State& state, const std::string& name, bool hashed) {
  const Loaded* world = loaded(name, state);
  if (!world) return;
  std::int64_t actions = 0;
  std::int64_t episodes = 0;
  for (auto _ : state) {
    for (const Task& task : world->tasks) {
      Environment environment = *Environment::start(world->domain);
      const InitialState initial = task.initial_state.value_or(InitialState{});
      if (!environment.set_state(initial, *replay_messages(initial.message_history))) continue;
      ++episodes;
      if (task.criteria && task.criteria->actions)
        for (const GoldenAction& action : *task.criteria->actions) {
          benchmark::DoNotOptimize(
              environment.respond({"", action.name, action.arguments, action.side}));
          ++actions;
        }
      if (hashed) benchmark::DoNotOptimize(environment.agent_hash());
      if (hashed) benchmark::DoNotOptimize(environment.user_hash());
    }
  }
  state.counters["actions"] =
      benchmark::Counter(static_cast<double>(actions), benchmark::Counter::kIsRate);
  state.counters["episodes"] =
      benchmark::Counter(static_cast<double>(episodes), benchmark::Counter::kIsRate);
}

// A fresh episode and its first write, which copies what the write touches.
void start_episode(benchmark::State& state, const std::string& name) {
  const Loaded* world = loaded(name, state);
  if (!world) return;
  for (auto _ : state) benchmark::DoNotOptimize(*Environment::start(world->domain));
}

// The user's address is overwritten: the table of users is copied, with its entries shared.
void start_and_write(benchmark::State& state) {
  const Loaded* world = loaded("retail", state);
  if (!world) return;
  const std::string user = world->domain->initial.agent.find("users")->key(0);
  Value arguments = Value::dict({{"user_id", user}});
  for (const char* field : {"address1", "address2", "city", "state", "country", "zip"})
    arguments.set(field, "x");
  for (auto _ : state) {
    Environment environment = *Environment::start(world->domain);
    benchmark::DoNotOptimize(
        environment.respond({"", "modify_user_address", arguments, Side::Agent}));
  }
}

void load(benchmark::State& state, const std::string& name) {
  const Result<DataFolder> data = data_folder();
  if (!data) return state.SkipWithError(to_string(data.error()).c_str());
  for (auto _ : state) benchmark::DoNotOptimize(*load_domain(*data, name));
}

BENCHMARK_CAPTURE(golden_actions, retail, "retail", false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(golden_actions, telecom, "telecom", false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(golden_actions, airline, "airline", false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(golden_actions, retail_hashed, "retail", true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(golden_actions, telecom_hashed, "telecom", true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(golden_actions, airline_hashed, "airline", true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(start_episode, retail, "retail")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(start_episode, telecom, "telecom")->Unit(benchmark::kMicrosecond);
BENCHMARK(start_and_write)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(load, retail, "retail")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(load, telecom, "telecom")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(load, airline, "airline")->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
