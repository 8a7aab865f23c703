// Whole-file reading and safe writing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace unmask {

// Reads a regular file, a FIFO, or standard input ("-").
// Errors   NotFound, Unavailable (permission, I/O), InvalidArgument: longer than max_bytes.
Result<std::string> read_file(const std::string& path, std::uint64_t max_bytes = UINT64_MAX);

// Writes to a temporary file beside `path`, fsyncs, renames: readers see the old or the new
// content, never a mixture. "-" writes to standard output. Errors   Unavailable: no such folder, no
// permission, disk full; what was there stays.
Result<Done> write_file(const std::string& path, std::string_view content);

}  // namespace unmask
