// Replays of decisions, whatever the bytes, and what margins make of them.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "compare/mechanism.h"
#include "ingest/replay.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  unmask::ReadOptions reading;
  reading.max_expanded_bytes = 1 << 20;
  const unmask::Result<unmask::ReplayReport> read =
      unmask::read_replay_bytes({reinterpret_cast<const char*>(data), size}, "replay", reading);
  if (!read) return 0;
  unmask::MechanismOptions options;
  options.resamples = 20;
  options.threads = 1;
  options.noise = unmask::NoiseLevel{1, 1, 0};
  (void)unmask::analyse_mechanism(read->replay, read->decisions, options);
  return 0;
}
