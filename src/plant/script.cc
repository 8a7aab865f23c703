#include "plant/script.h"

namespace unmask {

int budget_spent(const ScriptedEpisode& episode) {
  int spent = 0;
  for (const ScriptedCall& call : episode.calls) spent += spends_budget(call.kind) ? 1 : 0;
  return spent;
}

}  // namespace unmask
