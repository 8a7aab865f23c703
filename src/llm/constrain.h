// Does an endpoint keep to the offered names when it is told to? Servers take the request and
// ignore it or apply it to some models only, so each way of saying it is tried.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "llm/chat_model.h"
#include "llm/openai.h"

namespace unmask {

struct ConstraintSupport {
  bool supported = false;  // every probe called an offered name though told to call another
  bool settled = false;    // false: the probes could not tell, because the model called nothing
  // Supported, and the same model called the name that is not offered when nothing kept it from it.
  bool proven = false;
  std::string sentence;  // what was seen, for a person
};

// Offers two tools with odd names and asks, in words, for a call of a third that is not offered,
// names constrained, a few times with different seeds. A request that is refused settles it. What
// looks supported is asked once more without the constraint.
//
// Errors   Unavailable: the model cannot be reached, or a stop was asked for.
Result<ConstraintSupport> probe_constraint(ChatModel& model, const std::stop_token& stop = {});

struct ConstrainedModel {
  std::unique_ptr<ChatModel> model;
  NameConstraint form = NameConstraint::None;
  ConstraintSupport support;
};

// Tries every form but NameConstraint::None in its order and keeps the first that binds;
// options.constraint is passed over.
//
// Errors   Unsupported: none binds; the sentence says what became of each. Those of open_openai and
//          of probe_constraint.
Result<ConstrainedModel> open_constrained(const EndpointOptions& options,
                                          const std::stop_token& stop = {});

// "none", "strict tools", "structural tags", "grammar"
std::string_view to_string(NameConstraint form);

}  // namespace unmask
