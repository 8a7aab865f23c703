// The classes of the user's database: the phone, its settings, and where the user is.
#pragma once

#include "environment/schema.h"
#include "environment/value.h"

namespace unmask::telecom {

const ModelClass& user_database_class();
const ModelClass& apn_settings_class();
const ModelClass& payment_request_class();

const EnumClass& sim_statuses();        // ACTIVE, MISSING, LOCKED_PIN, LOCKED_PUK
const EnumClass& technologies();        // NONE, TWO_G ... FIVE_G
const EnumClass& network_modes();       // FOUR_G_5G_PREFERRED, FOUR_G_ONLY ...
const EnumClass& signal_strengths();    // NONE, POOR, FAIR, GOOD, EXCELLENT
const EnumClass& performance_levels();  // UNKNOWN, POOR ... EXCELLENT
const EnumClass& network_statuses();    // CONNECTED, SEARCHING, NO_SERVICE, EMERGENCY_ONLY
const EnumClass& apn_names();           // INTERNET, BROKEN

// Where the VPN leads to while none was ever broken.
const Value& usual_vpn();

}  // namespace unmask::telecom
