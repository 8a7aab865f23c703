// What a model's file or a text is, by its content.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace unmask {

// SHA-256 in lower-case hexadecimal.
// Errors   those of opening the file. Unavailable: it became shorter meanwhile.
Result<std::string> file_sha256(const std::string& path);
std::string text_sha256(std::string_view text);

}  // namespace unmask
