// The two halves of the user's toolkit.
#pragma once

#include <vector>

#include "environment/toolkit.h"

namespace unmask::telecom {

std::vector<Tool> phone_tools();      // what the user can do
std::vector<Tool> phone_functions();  // what initialization actions and assertions can

// Where a new VPN connection leads to. Upstream has one such object on its class, and break_vpn
// spoils it: from then on, new connections are poor as well.
const Value& next_vpn(const ToolScope& self);

}  // namespace unmask::telecom
