#include "app/participants.h"

#include <cstdlib>

#include "rollout/model_factory.h"

namespace unmask {

std::unique_ptr<ParticipantFactory> participant_factory(const RunPlan&) {
  return std::make_unique<ModelFactory>([](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr) return std::nullopt;
    return std::string(value);
  });
}

}  // namespace unmask
