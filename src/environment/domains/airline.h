// airline: flights, users and their reservations; only the agent acts.
#pragma once

#include <string>

#include "base/result.h"
#include "environment/domain.h"

namespace unmask {

const Toolkit& airline_tools();
Result<Databases> airline_databases(const DataFolder& data);
Result<std::string> airline_policy(const DataFolder& data, bool solo);

}  // namespace unmask
