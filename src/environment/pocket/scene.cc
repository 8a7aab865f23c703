#include "environment/pocket/scene.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/check.h"

namespace unmask::pocket {

namespace {

constexpr std::array<std::string_view, 8> kReadVerbs = {"Check", "Find", "Get",  "List",
                                                        "Read",  "Scan", "Show", "View"};
constexpr std::array<std::string_view, 8> kWriteVerbs = {"Apply", "Close", "Fix", "Make",
                                                         "Push",  "Send",  "Set", "Start"};

constexpr std::string_view kEvaluationPrefix = "t";
constexpr std::string_view kTrainingPrefix = "train";
constexpr std::uint64_t kStructuresPerEvaluation = 8;

// FNV-1a leaves the lowest bits of short texts uneven; these are the mixed ones.
std::uint64_t structure_hash(std::string_view structure) {
  return Rng(Rng::hash(structure), "structure").next();
}

Value action_json(const PocketWorld& world, const Scene& scene, std::size_t index) {
  const SolutionStep& step = scene.solution[index];
  const NamedTool& tool = scene.tool(step.topic);
  const bool agent = tool.side == Side::Agent;
  Value arguments = Value::dict();
  const std::vector<std::string>& parameters = world.topics[step.topic].parameters;
  for (std::size_t i = 0; agent && i < parameters.size(); ++i)
    arguments.set(parameters[i], step.arguments[i]);
  return Value::dict({{"action_id", "step_" + std::to_string(index)},
                      {"requestor", agent ? "assistant" : "user"},
                      {"name", tool.name},
                      {"arguments", std::move(arguments)}});
}

}  // namespace

std::span<const std::string_view> verbs(bool changes_state) {
  return changes_state ? std::span<const std::string_view>(kWriteVerbs)
                       : std::span<const std::string_view>(kReadVerbs);
}

std::string tool_name(const Topic& topic, std::string_view verb) {
  return std::string(topic.noun) + std::string(verb);
}

std::string usual_name(const Topic& topic) {
  return tool_name(topic, topic.usual);
}

std::string drawn_name(const Topic& topic, Rng& rng) {
  if (rng.bernoulli(0.5)) return usual_name(topic);
  const std::span<const std::string_view> all = verbs(topic.changes_state);
  std::string_view verb = topic.usual;
  while (verb == topic.usual) verb = all[rng.below(static_cast<std::uint32_t>(all.size()))];
  return tool_name(topic, verb);
}

const NamedTool* Scene::find_tool(std::size_t topic) const {
  for (const NamedTool& each : tools)
    if (each.topic == topic) return &each;
  return nullptr;
}

const NamedTool& Scene::tool(std::size_t topic) const {
  const NamedTool* found = find_tool(topic);
  UNMASK_CHECK(found != nullptr);
  return *found;
}

const PocketWorld* find_world(std::string_view domain) {
  for (const PocketWorld* world : {&telecom(), &retail()})
    if (world->name == domain) return world;
  return nullptr;
}

std::optional<TaskNumber> task_number(std::string_view id) {
  TaskNumber out;
  out.training = id.starts_with(kTrainingPrefix);
  const std::string_view prefix = out.training ? kTrainingPrefix : kEvaluationPrefix;
  if (!id.starts_with(prefix)) return std::nullopt;
  const std::string_view digits = id.substr(prefix.size());
  const char* const end = digits.data() + digits.size();
  const std::from_chars_result read = std::from_chars(digits.data(), end, out.number);
  if (read.ec != std::errc() || read.ptr != end || task_id(out) != id) return std::nullopt;
  return out;
}

std::string task_id(TaskNumber number) {
  return std::string(number.training ? kTrainingPrefix : kEvaluationPrefix) +
         std::to_string(number.number);
}

bool is_evaluation_structure(std::string_view structure) {
  return structure_hash(structure) % kStructuresPerEvaluation == 0;
}

Scene scene_of(const PocketWorld& world, TaskNumber number) {
  Rng rng(number.number, std::string(world.name) + (number.training ? " training" : " evaluation"));
  while (true) {
    Scene scene = world.draw(rng);
    if (is_evaluation_structure(scene.structure) != number.training) return scene;
  }
}

Task task_of(const PocketWorld& world, TaskNumber number) {
  const Scene scene = scene_of(world, number);
  std::vector<Value> actions;
  for (std::size_t i = 0; i < scene.solution.size(); ++i)
    actions.push_back(action_json(world, scene, i));
  const Value opening = Value::dict({{"role", "user"}, {"content", scene.opening}});
  const Value json = Value::dict(
      {{"id", task_id(number)},
       {"user_scenario", Value::dict({{"instructions", scene.wish}})},
       {"initial_state", Value::dict({{"message_history", Value::list({opening})}})},
       {"evaluation_criteria", Value::dict({{"actions", Value::list(std::move(actions))},
                                            {"reward_basis", Value::list({"DB"})}})}});
  Result<Task> task = read_task(json);
  UNMASK_CHECK(task.has_value());
  return std::move(*task);
}

Toolkit toolkit_of(const PocketWorld& world, const Scene& scene, Side side) {
  Toolkit toolkit;
  toolkit.class_name = std::string(world.class_name) + (side == Side::User ? "User" : "") + "Tools";
  for (const NamedTool& named : scene.tools) {
    if (named.side != side) continue;
    const Topic& topic = world.topics[named.topic];
    Tool tool;
    tool.name = named.name;
    tool.description =
        std::string(topic.changes_state ? "Acts on: " : "Reads: ") + std::string(topic.noun) + ".";
    tool.type = topic.changes_state ? ToolType::Write : ToolType::Read;
    tool.mutates_state = topic.changes_state;
    tool.run = topic.run;
    if (side == Side::Agent)
      for (const std::string& parameter : topic.parameters)
        tool.parameters.push_back(
            {parameter, type::str(), std::nullopt, "A letter and two digits."});
    toolkit.tools.push_back(std::move(tool));
  }
  return toolkit;
}

std::string policy_of(const PocketWorld& world, const Scene& scene) {
  std::string out(world.sentence);
  for (const NamedTool& tool : scene.tools)
    if (tool.side == Side::User) out += " ask " + tool.name;
  return out;
}

std::string drawn_id(char letter, Rng& rng, std::vector<std::string>& taken) {
  while (true) {
    const std::string id = letter + std::to_string(10 + rng.below(90));
    if (std::find(taken.begin(), taken.end(), id) != taken.end()) continue;
    taken.push_back(id);
    return id;
  }
}

}  // namespace unmask::pocket
