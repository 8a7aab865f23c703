// mock: users with a list of things to do, and an inbox on the user's side.
#pragma once

#include <string>

#include "base/result.h"
#include "environment/domain.h"

namespace unmask {

const Toolkit& mock_tools();
const Toolkit* mock_user_tools();
Result<Databases> mock_databases(const DataFolder& data);
Result<std::string> mock_policy(const DataFolder& data, bool solo);

}  // namespace unmask
