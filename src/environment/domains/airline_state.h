// The classes of the airline's database, and the ways its tools look things up in it.
#pragma once

#include <string>
#include <string_view>

#include "environment/schema.h"
#include "environment/value.h"

namespace unmask::airline {

const ModelClass& database_class();
const ModelClass& airport_class();
const ModelClass& certificate_class();
const ModelClass& direct_flight_class();
const ModelClass& flight_info_class();
const ModelClass& passenger_class();
const ModelClass& payment_class();
const ModelClass& reservation_class();
const ModelClass& reservation_flight_class();

FieldType cabin_type();
FieldType trip_type();
FieldType insurance_type();

// Each looks an entry up, or throws "User u not found" ... The reference is valid until the
// database is next written to.
const Value& user(const Value& db, const Value& id);
const Value& reservation(const Value& db, const Value& id);
const Value& flight(const Value& db, const Value& number);
const Value& flight_on(const Value& db, const Value& number, const Value& date);

bool is_available(const Value& flight_on_date);  // bookable on that date

// Slots for writing, of entries that are there.
Value& edit_user(Value& db, std::string_view id);
Value& edit_reservation(Value& db, std::string_view id);
Value& edit_flight_on(Value& db, std::string_view number, std::string_view date);

}  // namespace unmask::airline
