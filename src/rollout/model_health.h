// When to stop asking a server: a run of hundreds of episodes must not fail each of them at a
// server that is not there or refuses everything.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"

namespace unmask {

// Threads  guard it.
class ModelHealth {
 public:
  enum class Count {
    AsPlayed,  // the failure is the episode's
    NotAtAll,  // the model has never answered: the episode was not played
  };

  // What errors call model i, and how many episodes may use it at once.
  struct Model {
    std::string name;
    int slots = 1;
  };
  explicit ModelHealth(const std::vector<Model>& models);

  void answered(std::size_t model);

  // An episode ended by an error of that model.
  // Errors   the sentence that ends the run.
  Result<Count> failed(std::size_t model, const Error& error);

 private:
  struct State {
    std::string name;
    int patience = 0;
    bool ever_answered = false;
    int failed_in_a_row = 0;
  };
  std::vector<State> models_;
};

}  // namespace unmask
