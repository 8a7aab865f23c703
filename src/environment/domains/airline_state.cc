#include "environment/domains/airline_state.h"

#include "environment/python.h"

namespace unmask::airline {

namespace {

using python::attribute;
using python::str;

FieldType table_of(const ModelClass& entries) {
  return type::dict(type::str(), type::model(entries));
}

// A map from cabin to a number of seats or dollars.
FieldType by_cabin() {
  return type::dict(cabin_type(), type::integer());
}

const ModelClass& name_class() {
  static const ModelClass kClass("Name",
                                 {{"first_name", type::str(), {}}, {"last_name", type::str(), {}}});
  return kClass;
}

const ModelClass& address_class() {
  static const ModelClass kClass("Address", {{"address1", type::str(), {}},
                                             {"address2", type::optional(type::str()), Value()},
                                             {"city", type::str(), {}},
                                             {"country", type::str(), {}},
                                             {"state", type::str(), {}},
                                             {"zip", type::str(), {}}});
  return kClass;
}

const ModelClass& credit_card_class() {
  static const ModelClass kClass("CreditCard", {{"source", type::literal({"credit_card"}), {}},
                                                {"id", type::str(), {}},
                                                {"brand", type::str(), {}},
                                                {"last_four", type::str(), {}}});
  return kClass;
}

const ModelClass& gift_card_class() {
  static const ModelClass kClass("GiftCard", {{"source", type::literal({"gift_card"}), {}},
                                              {"id", type::str(), {}},
                                              {"amount", type::number(), {}}});
  return kClass;
}

const ModelClass& available_class() {
  static const ModelClass kClass("FlightDateStatusAvailable",
                                 {{"status", type::literal({"available"}), {}},
                                  {"available_seats", by_cabin(), {}},
                                  {"prices", by_cabin(), {}}});
  return kClass;
}

const ModelClass& landed_class() {
  static const ModelClass kClass("FlightDateStatusLanded",
                                 {{"status", type::literal({"landed"}), {}},
                                  {"actual_departure_time_est", type::str(), {}},
                                  {"actual_arrival_time_est", type::str(), {}}});
  return kClass;
}

const ModelClass& cancelled_class() {
  static const ModelClass kClass("FlightDateStatusCancelled",
                                 {{"status", type::literal({"cancelled"}), {}}});
  return kClass;
}

const ModelClass& delayed_class() {
  static const ModelClass kClass("FlightDateStatusDelayed",
                                 {{"status", type::literal({"delayed"}), {}},
                                  {"estimated_departure_time_est", type::str(), {}},
                                  {"estimated_arrival_time_est", type::str(), {}}});
  return kClass;
}

const ModelClass& flying_class() {
  static const ModelClass kClass("FlightDataStatusFlying",
                                 {{"status", type::literal({"flying"}), {}},
                                  {"actual_departure_time_est", type::str(), {}},
                                  {"estimated_arrival_time_est", type::str(), {}}});
  return kClass;
}

const ModelClass& on_time_class() {
  static const ModelClass kClass("FlightDataStatusOnTime",
                                 {{"status", type::literal({"on time"}), {}},
                                  {"estimated_departure_time_est", type::str(), {}},
                                  {"estimated_arrival_time_est", type::str(), {}}});
  return kClass;
}

const ModelClass& flight_class() {
  static const FieldType kStatus = type::one_of(
      {type::model(available_class()), type::model(landed_class()), type::model(cancelled_class()),
       type::model(delayed_class()), type::model(flying_class()), type::model(on_time_class())});
  static const ModelClass kClass("Flight", {{"flight_number", type::str(), {}},
                                            {"origin", type::str(), {}},
                                            {"destination", type::str(), {}},
                                            {"scheduled_departure_time_est", type::str(), {}},
                                            {"scheduled_arrival_time_est", type::str(), {}},
                                            {"dates", type::dict(type::str(), kStatus), {}}});
  return kClass;
}

const ModelClass& user_class() {
  static const FieldType kMethod =
      type::one_of({type::model(credit_card_class()), type::model(gift_card_class()),
                    type::model(certificate_class())});
  static const ModelClass kClass(
      "User", {{"user_id", type::str(), {}},
               {"name", type::model(name_class()), {}},
               {"address", type::model(address_class()), {}},
               {"email", type::str(), {}},
               {"dob", type::str(), {}},
               {"payment_methods", type::dict(type::str(), kMethod), {}},
               {"saved_passengers", type::list(type::model(passenger_class())), {}},
               {"membership", type::literal({"gold", "silver", "regular"}), {}},
               {"reservations", type::list(type::str()), {}}});
  return kClass;
}

const Value& entry(const Value& db, std::string_view table, std::string_view noun,
                   const Value& id) {
  const Value* found = python::lookup(attribute(db, table), id);
  if (!found) throw PythonError(std::string(noun) + " " + str(id) + " not found");
  return *found;
}

}  // namespace

FieldType cabin_type() {
  return type::literal({"business", "economy", "basic_economy"});
}
FieldType trip_type() {
  return type::literal({"round_trip", "one_way"});
}
FieldType insurance_type() {
  return type::literal({"yes", "no"});
}

const ModelClass& airport_class() {
  static const ModelClass kClass("AirportCode",
                                 {{"iata", type::str(), {}}, {"city", type::str(), {}}});
  return kClass;
}

const ModelClass& certificate_class() {
  static const ModelClass kClass("Certificate", {{"source", type::literal({"certificate"}), {}},
                                                 {"id", type::str(), {}},
                                                 {"amount", type::number(), {}}});
  return kClass;
}

const ModelClass& direct_flight_class() {
  static const ModelClass kClass("DirectFlight", {{"flight_number", type::str(), {}},
                                                  {"origin", type::str(), {}},
                                                  {"destination", type::str(), {}},
                                                  {"status", type::literal({"available"}), {}},
                                                  {"scheduled_departure_time_est", type::str(), {}},
                                                  {"scheduled_arrival_time_est", type::str(), {}},
                                                  {"date", type::optional(type::str()), Value()},
                                                  {"available_seats", by_cabin(), {}},
                                                  {"prices", by_cabin(), {}}});
  return kClass;
}

const ModelClass& flight_info_class() {
  static const ModelClass kClass("FlightInfo",
                                 {{"flight_number", type::str(), {}}, {"date", type::str(), {}}});
  return kClass;
}

const ModelClass& passenger_class() {
  static const ModelClass kClass(
      "Passenger",
      {{"first_name", type::str(), {}}, {"last_name", type::str(), {}}, {"dob", type::str(), {}}});
  return kClass;
}

const ModelClass& payment_class() {
  static const ModelClass kClass(
      "Payment", {{"payment_id", type::str(), {}}, {"amount", type::integer(), {}}});
  return kClass;
}

const ModelClass& reservation_flight_class() {
  static const ModelClass kClass("ReservationFlight", {{"flight_number", type::str(), {}},
                                                       {"origin", type::str(), {}},
                                                       {"destination", type::str(), {}},
                                                       {"date", type::str(), {}},
                                                       {"price", type::integer(), {}}});
  return kClass;
}

const ModelClass& reservation_class() {
  static const ModelClass kClass(
      "Reservation", {{"reservation_id", type::str(), {}},
                      {"user_id", type::str(), {}},
                      {"origin", type::str(), {}},
                      {"destination", type::str(), {}},
                      {"flight_type", trip_type(), {}},
                      {"cabin", cabin_type(), {}},
                      {"flights", type::list(type::model(reservation_flight_class())), {}},
                      {"passengers", type::list(type::model(passenger_class())), {}},
                      {"payment_history", type::list(type::model(payment_class())), {}},
                      {"created_at", type::str(), {}},
                      {"total_baggages", type::integer(), {}},
                      {"nonfree_baggages", type::integer(), {}},
                      {"insurance", insurance_type(), {}},
                      {"status", type::optional(type::literal({"cancelled"})), Value()}});
  return kClass;
}

const ModelClass& database_class() {
  static const ModelClass kClass("FlightDB",
                                 {{"flights", table_of(flight_class()), {}},
                                  {"users", table_of(user_class()), {}},
                                  {"reservations", table_of(reservation_class()), {}}},
                                 ExtraFields::Forbidden);
  return kClass;
}

const Value& user(const Value& db, const Value& id) {
  return entry(db, "users", "User", id);
}

const Value& reservation(const Value& db, const Value& id) {
  return entry(db, "reservations", "Reservation", id);
}

const Value& flight(const Value& db, const Value& number) {
  return entry(db, "flights", "Flight", number);
}

const Value& flight_on(const Value& db, const Value& number, const Value& date) {
  const Value* found = python::lookup(attribute(flight(db, number), "dates"), date);
  if (!found) throw PythonError("Flight " + str(number) + " not found on date " + str(date));
  return *found;
}

bool is_available(const Value& flight_on_date) {
  return flight_on_date.is_model(available_class());
}

Value& edit_user(Value& db, std::string_view id) {
  return db.edit("users").edit(id);
}

Value& edit_reservation(Value& db, std::string_view id) {
  return db.edit("reservations").edit(id);
}

Value& edit_flight_on(Value& db, std::string_view number, std::string_view date) {
  return db.edit("flights").edit(number).edit("dates").edit(date);
}

}  // namespace unmask::airline
