// Does an endpoint keep to the offered names when it is told to? Servers take the request and
// ignore it (llama.cpp) or apply it to some models only, so it is tried.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "llm/chat_model.h"

namespace unmask {

struct ConstraintSupport {
  bool supported = false;  // every probe called an offered name though told to call another
  bool settled = false;    // false: the probes could not tell, because the model called nothing
  std::string sentence;    // what was seen, for a person
};

// Offers two tools with odd names and asks, in words, for a call of a third that is not offered,
// names constrained, a few times with different seeds. A request that is refused settles it.
//
// Errors   Unavailable: the model cannot be reached, or a stop was asked for.
Result<ConstraintSupport> probe_constraint(ChatModel& model, const std::stop_token& stop = {});

}  // namespace unmask
