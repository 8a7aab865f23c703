#include "app/participants.h"

namespace unmask {

std::unique_ptr<ParticipantFactory> participant_factory(const RunPlan&) {
  return std::make_unique<ScriptedFactory>();
}

}  // namespace unmask
