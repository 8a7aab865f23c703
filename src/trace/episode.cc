#include "trace/episode.h"

#include <cmath>

namespace unmask {

std::string_view to_string(Termination termination) {
  switch (termination) {
    case Termination::AgentStop:
      return "agent_stop";
    case Termination::UserStop:
      return "user_stop";
    case Termination::MaxSteps:
      return "max_steps";
    case Termination::TooManyErrors:
      return "too_many_errors";
    case Termination::Timeout:
      return "timeout";
    case Termination::AgentError:
      return "agent_error";
    case Termination::UserError:
      return "user_error";
    case Termination::InfrastructureError:
      return "infrastructure_error";
    case Termination::UnexpectedError:
      return "unexpected_error";
    case Termination::ContextWindowExceeded:
      return "context_window_exceeded";
    case Termination::Unknown:
      return "unknown";
  }
  return "unknown";
}

std::string_view to_string(Side side) {
  return side == Side::Agent ? "agent" : "user";
}

std::string_view to_string(Role role) {
  switch (role) {
    case Role::System:
      return "system";
    case Role::Agent:
      return "agent";
    case Role::User:
      return "user";
    case Role::Tool:
      return "tool";
  }
  return "tool";
}

bool ended_in_infrastructure_error(const Episode& episode) {
  return episode.termination == Termination::InfrastructureError;
}

std::optional<bool> success_of(std::optional<double> reward) {
  if (!reward) return std::nullopt;
  return std::abs(*reward - 1) <= 1e-6;
}

}  // namespace unmask
