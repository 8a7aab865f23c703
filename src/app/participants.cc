#include "app/participants.h"

#include <cstdlib>

namespace unmask {

Variables environment_variables() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr) return std::nullopt;
    return std::string(value);
  };
}

std::unique_ptr<ParticipantFactory> participant_factory(const RunPlan&) {
  return std::make_unique<ModelFactory>(environment_variables());
}

}  // namespace unmask
