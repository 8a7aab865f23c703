// Which failed calls of an arm are shown: a few of each channel, chosen by place alone.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "failure/excerpt.h"

namespace unmask {

// The agent's first failed calls of each channel by (domain, task in natural order, trial,
// position), one a task, whatever order the episodes arrive in. Holds at most `per_channel` a
// channel.
//
// Threads  one at a time.
class ExcerptShelf {
 public:
  explicit ExcerptShelf(std::size_t per_channel) : per_channel_(per_channel) {}

  // Episodes that ended in an infrastructure error never ran and are passed over.
  void take(const Episode& episode, const std::string& domain, const ClassifiedEpisode& classified);
  // What another shelf held.
  void take(std::vector<Excerpt> excerpts);

  // By channel in report order, then as above; nothing is left.
  std::vector<Excerpt> take_all();

 private:
  // Of the channel's kept excerpts: would this one be among them?
  bool belongs(const Excerpt& place) const;
  void keep(Excerpt excerpt);

  std::size_t per_channel_;
  std::vector<Excerpt> kept_;  // sorted
};

}  // namespace unmask
