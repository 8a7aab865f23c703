// Values that belong to a secret's name: password=hunter2, "api_key": "abc", --token abc.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "failure/secret_text.h"

namespace unmask {

// What to remove where a secret's name begins at `i`; `lower` is `text` in lower case. The name may
// be the end of a longer one (OPENAI_API_KEY=...) and numbered (api_key_2). Nothing where no value
// follows. Takes time in proportion to the value, and to a name of at most 64 bytes before `i`.
std::optional<Removal> named_secret(std::string_view text, std::string_view lower, std::size_t i);

// Whether a setting of this name is a secret: its last word is one (key, token, auth ...), or any
// word of it a password, secret or authorization.
bool names_a_secret(std::string_view name);

}  // namespace unmask
