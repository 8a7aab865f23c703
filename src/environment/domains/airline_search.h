// The airline's tools that only look.
#pragma once

#include "environment/toolkit.h"

namespace unmask::airline {

Value calculate_expression(ToolScope& self, Arguments arguments);     // expression
Value get_reservation_details(ToolScope& self, Arguments arguments);  // reservation_id
Value get_user_details(ToolScope& self, Arguments arguments);         // user_id
Value list_all_airports(ToolScope& self, Arguments arguments);
Value search_direct_flight(ToolScope& self, Arguments arguments);   // origin, destination, date
Value search_onestop_flight(ToolScope& self, Arguments arguments);  // origin, destination, date
Value get_flight_status(ToolScope& self, Arguments arguments);      // flight_number, date
Value transfer_to_human(ToolScope& self, Arguments arguments);      // summary

}  // namespace unmask::airline
