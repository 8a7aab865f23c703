// retail: a shop's products, users and orders; only the agent acts.
#pragma once

#include <string>

#include "base/result.h"
#include "environment/domain.h"

namespace unmask {

const Toolkit& retail_tools();
Result<Databases> retail_databases(const DataFolder& data);
Result<std::string> retail_policy(const DataFolder& data, bool solo);

}  // namespace unmask
