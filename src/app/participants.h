// Which participants the program has for the models of a plan: the one place to add some.
#pragma once

#include <memory>

#include "rollout/model_factory.h"
#include "rollout/participant_factory.h"

namespace unmask {

// Those of this process.
Variables environment_variables();

// The factory for the plan's models; never nullptr. What it cannot do its prepare() says.
std::unique_ptr<ParticipantFactory> participant_factory(const RunPlan& plan);

}  // namespace unmask
