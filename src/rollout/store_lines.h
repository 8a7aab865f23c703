// The lines of one file of an episode store. Internal to the store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace unmask {

struct StoreLine {
  std::string task;
  int trial = 0;
  bool infrastructure = false;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;  // with its newline
};

struct StoreLines {
  std::vector<StoreLine> episodes;
  std::size_t unreadable = 0;  // whole lines before the last that are no episodes
  // Bytes up to the end of the last line that is whole; what follows is torn. 0: so is the header.
  std::uint64_t whole = 0;
};

StoreLines store_lines(std::string_view text);

}  // namespace unmask
