// The scripted user of the pocket worlds.
#pragma once

#include <string>
#include <vector>

#include "environment/toolkit.h"
#include "rollout/participant.h"

namespace unmask {

// Says its opening where the conversation does not begin with it. To a text that ends in "ask NAME"
// it uses its tool NAME and says what that shows, or "i have no NAME". "done" ends the
// conversation; so does the fifth text that it cannot follow, to the others it says "sorry".
//
// Threads  one.
class PocketUser : public User {
 public:
  // tools: nullptr where the user has none.
  PocketUser(const Toolkit* tools, std::string opening);

  Result<Done> begin(std::span<const TurnMessage> history) override;
  Result<TurnMessage> next(std::span<const TurnMessage> incoming) override;

 private:
  bool has_tool(const std::string& name) const;
  TurnMessage answer(const std::string& text);

  std::vector<std::string> tools_;
  std::string opening_;
  bool opened_ = false;
  int calls_ = 0;
  int not_followed_ = 0;
};

}  // namespace unmask
