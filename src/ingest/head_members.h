// What a JSON object starts with, for sniffing. Internal to ingest.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace unmask {

struct HeadMember {
  std::string_view key;    // as written, escapes and all
  std::string_view value;  // from its first byte to the end of the head, or of the value
};

// The top-level members that begin within `head`, which may be cut anywhere; nullopt unless its
// first byte that is not white space is '{' and a member or its end follows.
std::optional<std::vector<HeadMember>> head_members(std::string_view head);

// The member named `key`; nullptr when it is not among them.
const HeadMember* find_member(const std::vector<HeadMember>& members, std::string_view key);

}  // namespace unmask
