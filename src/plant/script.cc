#include "plant/script.h"

namespace unmask {

int budget_spent(const ScriptedEpisode& episode) {
  int spent = 0;
  for (const ScriptedCall& call : episode.calls) spent += spends_budget(call.kind) ? 1 : 0;
  return spent;
}

int agent_failures(const ScriptedEpisode& episode) {
  int failures = 0;
  for (const ScriptedCall& call : episode.calls)
    failures += call.side == Side::Agent && is_planted_failure(call.kind) ? 1 : 0;
  return failures;
}

}  // namespace unmask
