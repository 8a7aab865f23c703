// telecom: a carrier's customers on the agent's side, and a phone in the user's hand. The agent
// sees only the database, the user only the phone; sync carries over what one does to the other.
#pragma once

#include <string>

#include "base/result.h"
#include "environment/domain.h"

namespace unmask {

const Toolkit& telecom_tools();
const Toolkit* telecom_user_tools();
Result<Databases> telecom_databases(const DataFolder& data);
// With the manual of technical support, or with its workflow.
Result<std::string> telecom_manual_policy(const DataFolder& data, bool solo);
Result<std::string> telecom_workflow_policy(const DataFolder& data, bool solo);
void telecom_sync(World& world);

}  // namespace unmask
