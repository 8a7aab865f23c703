// What a model's file is, by its content.
#pragma once

#include <string>

#include "base/result.h"

namespace unmask {

// SHA-256 in lower-case hexadecimal.
// Errors   those of opening the file. Unavailable: it became shorter meanwhile.
Result<std::string> file_sha256(const std::string& path);

}  // namespace unmask
