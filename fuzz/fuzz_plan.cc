// The reader of plans, on any bytes. The text is its own include and its only file.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "app/plan_toml.h"
#include "environment/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace unmask;
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  PlanSurroundings surroundings;
  surroundings.read = [&](const std::string&) { return Result<std::string>(text); };
  surroundings.variable = [](const char*) { return "key"; };
  const Result<RunPlan> plan = parse_plan(text, "fuzz/plan.toml", surroundings);
  if (!plan) {
    const std::string sentence = to_string(plan.error());
    if (sentence.find('\n') != std::string::npos) std::abort();
    return 0;
  }
  if (plan->arms.empty() || plan->domains.empty() || plan->name.empty()) std::abort();
  // What is passed to a server or saved is JSON.
  for (const ArmPlan& arm : plan->arms) {
    const std::string& body = arm.agent.sampling.extra_body;
    if (!body.empty() && !parse_json(body)) std::abort();
    if (!parse_json(settings_of(arm.agent.sampling))) std::abort();
  }
  if (!drift_between(settings_of(*plan), settings_of(*plan)).empty()) std::abort();
  return 0;
}
