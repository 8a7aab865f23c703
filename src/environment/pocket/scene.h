// Pocket worlds: two small environments of our own, made by code, so that a transformer of a few
// million parameters can play an agent in them (docs/pocket-worlds.md). A task is a number: from
// it everything is drawn anew, the state, who owns which tool, and what each tool is called.
//
// Tools are called by a noun and a verb, "signalCheck". Every topic has a fixed noun and a usual
// verb; in a task it goes by the usual verb half of the time, else by another of its kind. So a
// name has to be looked up in the task's own list, while there is a habit to be led astray by.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "environment/task.h"
#include "environment/toolkit.h"
#include "environment/value.h"

namespace unmask::pocket {

// What a tool is about, whatever it is called in a task.
struct Topic {
  std::string_view noun;   // "signal"
  std::string_view usual;  // the usual verb, "Check"; one of verbs(changes_state)
  bool changes_state = false;
  std::vector<std::string> parameters;  // {"id"}; the user's tools take none
  ToolFunction run = nullptr;
};

// The eight verbs of tools that read, and of those that change something.
std::span<const std::string_view> verbs(bool changes_state);

std::string tool_name(const Topic& topic, std::string_view verb);
std::string usual_name(const Topic& topic);
// The usual verb half of the time, else one of the seven others.
std::string drawn_name(const Topic& topic, Rng& rng);

// A topic as a task offers it.
struct NamedTool {
  std::size_t topic = 0;  // index of PocketWorld::topics
  Side side = Side::Agent;
  std::string name;
};

// A call of the reference solution, by topic.
struct SolutionStep {
  std::size_t topic = 0;
  std::vector<std::string> arguments;  // one for each parameter of the agent's tool
};

// Everything that is drawn for a task.
struct Scene {
  std::string structure;         // the choices that make the task what it is, without names and ids
  std::string opening;           // what the user says first
  std::string wish;              // the same for a person or model that plays the user
  Value database;                // a Dict; both sides act on it
  std::vector<NamedTool> tools;  // of both sides, in the order they are listed
  std::vector<SolutionStep> solution;  // the calls that change state, in order

  // The tool of a topic. It must be offered.
  const NamedTool& tool(std::size_t topic) const;
  const NamedTool* find_tool(std::size_t topic) const;  // nullptr: not offered
};

struct PocketWorld {
  std::string_view name;        // of the domain, "pocket_telecom"
  std::string_view class_name;  // of its tools in error texts
  std::string_view sentence;    // how every policy begins
  std::vector<Topic> topics;
  Scene (*draw)(Rng& rng);
};

const PocketWorld& telecom();
const PocketWorld& retail();
const PocketWorld* find_world(std::string_view domain);

// The number of a task. Tasks for evaluation are called "t0", "t1" ...; those an agent may be
// trained on "train0", "train1" ...
struct TaskNumber {
  bool training = false;
  std::uint64_t number = 0;
};

std::optional<TaskNumber> task_number(std::string_view id);
std::string task_id(TaskNumber number);

// One structure in eight is kept for evaluation: by its hash, so that no task for training has the
// structure of one for evaluation, whatever their numbers.
bool is_evaluation_structure(std::string_view structure);

// The scene of a task: the first, among those drawn from its number, with a structure of its kind.
Scene scene_of(const PocketWorld& world, TaskNumber number);

// The task in upstream's form: the user has spoken, and the reward is the state at the end.
Task task_of(const PocketWorld& world, TaskNumber number);

// The tools of a side under the scene's names; nullptr-like empty list where it has none.
Toolkit toolkit_of(const PocketWorld& world, const Scene& scene, Side side);

// The world's sentence, then the user's tools as "ask NAME", in the scene's order.
std::string policy_of(const PocketWorld& world, const Scene& scene);

// A capital letter and two digits that is not among `taken`, to which it is added.
std::string drawn_id(char letter, Rng& rng, std::vector<std::string>& taken);

}  // namespace unmask::pocket
