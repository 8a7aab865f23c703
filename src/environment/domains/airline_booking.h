// The airline's tools that change reservations and users.
#pragma once

#include "environment/toolkit.h"

namespace unmask::airline {

// user_id, origin, destination, flight_type, cabin, flights, passengers, payment_methods,
// total_baggages, nonfree_baggages, insurance
Value book_reservation(ToolScope& self, Arguments arguments);
Value cancel_reservation(ToolScope& self, Arguments arguments);  // reservation_id
Value send_certificate(ToolScope& self, Arguments arguments);    // user_id, amount
// reservation_id, total_baggages, nonfree_baggages, payment_id
Value update_reservation_baggages(ToolScope& self, Arguments arguments);
// reservation_id, cabin, flights, payment_id
Value update_reservation_flights(ToolScope& self, Arguments arguments);
Value update_reservation_passengers(ToolScope& self,
                                    Arguments arguments);  // reservation_id, passengers

}  // namespace unmask::airline
