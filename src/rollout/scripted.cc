#include "rollout/scripted.h"

namespace unmask {

Result<TurnMessage> Script::move() {
  if (next_ == moves_.size()) return afterwards_;
  return moves_[next_++];
}

}  // namespace unmask
