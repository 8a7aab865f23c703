// Durations and costs that cannot be measurements. Internal to ingest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "trace/episode.h"

namespace unmask {

// A duration or a cost below 0, or not finite, was not measured: it is taken out of the episode.
//
// Threads  check() may be called concurrently; the warning is of the first episode in the log's
//          order whichever comes first.
class Measurements {
 public:
  void check(std::size_t index, Episode& episode);
  // "not_a_measurement", once for the log; nullopt where nothing was taken out.
  std::optional<Warning> warning() const;

 private:
  void take_out(std::size_t index, const Episode& episode, const char* what,
                std::optional<double>& value);

  std::mutex mutex_;
  std::int64_t count_ = 0;
  std::size_t first_ = 0;  // index of the episode that `sample_` and `where_` speak of
  std::string sample_;
  std::string where_;
};

}  // namespace unmask
