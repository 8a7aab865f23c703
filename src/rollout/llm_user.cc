#include "rollout/llm_user.h"

namespace unmask {

namespace {

// Where guidelines of upstream leave room for a persona that its tasks do not use.
constexpr std::string_view kPersona = "<PERSONA_GUIDELINES>";

std::string without_persona(std::string guidelines) {
  for (std::size_t at = guidelines.find(kPersona); at != std::string::npos;
       at = guidelines.find(kPersona, at))
    guidelines.erase(at, kPersona.size());
  return guidelines;
}

}  // namespace

std::string user_prompt(const Surface& surface, const std::string& guidelines, const Task& task) {
  return filled(surface.user_prompt, {{"guidelines", without_persona(guidelines)},
                                      {"instructions", task.user_scenario}});
}

Result<Done> LlmUser::begin(std::span<const TurnMessage> history) {
  conversation_.begin(history);
  return Done{};
}

Result<TurnMessage> LlmUser::next(std::span<const TurnMessage> incoming) {
  conversation_.hear(incoming);
  return conversation_.reply();
}

}  // namespace unmask
