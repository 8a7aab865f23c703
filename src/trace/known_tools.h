// The names of the tools each built-in domain offers, per side. Names only: descriptions belong to
// their owners and are read at run time.
#pragma once

#include <span>
#include <string_view>

#include "trace/episode.h"

namespace unmask {

// Empty span: the domain is unknown, or that side has no tools (known_domain tells which). Names come
// in the order the environment lists them. "telecom-workflow" and other policy variants of a domain
// name the same tools.
std::span<const std::string_view> known_tools(std::string_view domain, Side side);

bool known_domain(std::string_view domain);

}  // namespace unmask
