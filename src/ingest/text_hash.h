// A fingerprint of a text, to see whether two policies are the same: what it
// read with what somebody else has.
#pragma once

#include <string>
#include <string_view>

namespace unmask {

// 64 bits as 16 hexadecimal digits: the same on every machine and in every version, not
// cryptographic. Empty text has no fingerprint: "".
std::string text_hash(std::string_view text);

}  // namespace unmask
