// The rows of the pocket worlds (environment/pocket/scene.h): domains made by code.
#pragma once

#include <string>

#include "base/result.h"
#include "environment/domain.h"

namespace unmask {

extern const GeneratedWorlds kPocketWorlds;

// Every tool of the world under its usual name, as it is before a task gives names and owners.
const Toolkit& pocket_telecom_tools();
const Toolkit* pocket_telecom_user_tools();
const Toolkit& pocket_retail_tools();

// Of the world without a task: the state of t0, and the sentence that every policy begins with.
Result<Databases> pocket_telecom_databases(const DataFolder& data);
Result<Databases> pocket_retail_databases(const DataFolder& data);
Result<std::string> pocket_telecom_policy(const DataFolder& data, bool solo);
Result<std::string> pocket_retail_policy(const DataFolder& data, bool solo);

// One database for both sides.
void pocket_telecom_sync(World& world);

}  // namespace unmask
