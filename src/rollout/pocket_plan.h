// What to do next in a pocket world, from nothing but what was said and shown in the conversation.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "environment/pocket/scene.h"

namespace unmask {

// A call by topic. The user's tools take no arguments; theirs are those of the agent's call.
struct PocketStep {
  std::size_t topic = 0;
  std::vector<std::string> arguments;
  std::string about = "";  // what is said beside the topic's noun: "shirt red"
};

class PocketPlan {
 public:
  virtual ~PocketPlan() = default;

  // nullopt: the case has been ended.
  virtual std::optional<PocketStep> next() const = 0;
  // The reply to a step that did not fail.
  virtual void learn(const PocketStep& step, std::string_view reply) = 0;
  // A call that only reads and is not the next one; nullopt: too little is known for any.
  virtual std::optional<PocketStep> detour(Rng& rng) const = 0;
  // Ids of this kind that were seen and are certain to be refused as this argument of the step.
  virtual std::vector<std::string> misplaced(const PocketStep& step,
                                             std::size_t argument) const = 0;
};

// `opening` is what the user said first. The world and scene must outlive the plan; of the scene it
// looks at nothing but which topics are offered.
std::unique_ptr<PocketPlan> pocket_plan(const pocket::PocketWorld& world,
                                        const pocket::Scene& scene, std::string_view opening);

// The two of them.
std::unique_ptr<PocketPlan> telecom_plan(const pocket::Scene& scene, std::string_view opening);
std::unique_ptr<PocketPlan> retail_plan(const pocket::Scene& scene, std::string_view opening);

// The words of a text of these worlds.
std::vector<std::string> words_of(std::string_view text);

}  // namespace unmask
