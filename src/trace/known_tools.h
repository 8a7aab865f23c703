// The names of the tools each built-in domain offers, per side. Names only: descriptions belong to
// their owners and are read at run time.
#pragma once

#include <span>
#include <string_view>

#include "trace/episode.h"

namespace unmask {

// Empty span: the domain is unknown, or that side has no tools (known_domain tells which). Names
// come in the order the environment lists them. "telecom-workflow" and other policy variants of a
// domain name the same tools.
std::span<const std::string_view> known_tools(std::string_view domain, Side side);

// The agent's tools in tau-bench v1's "airline" and "retail", which differ from tau2's by a name or
// two; empty for any other domain. The user of v1 has no tools.
std::span<const std::string_view> tau1_tools(std::string_view domain);

bool known_domain(std::string_view domain);

// The built-in domain a policy variant belongs to: "telecom" for "telecom-workflow" and
// "telecom_small"; any other name comes back unchanged. The view points at `domain` or at static
// text.
std::string_view base_domain(std::string_view domain);

}  // namespace unmask
