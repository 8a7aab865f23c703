#include "environment/domains/airline_booking.h"

#include "environment/domains/airline_state.h"
#include "environment/python.h"

namespace unmask::airline {

namespace {

using python::attribute;
using python::str;

constexpr int kInsurancePrice = 30;  // dollars a passenger
constexpr int kBagPrice = 50;

// A list of instances where every item is a dict; otherwise what was given, as it is.
Value as_models(const ModelClass& model_class, const Value& given) {
  std::vector<Value> items = python::iterate(given);
  for (const Value& item : items)
    if (!item.is_dict()) return given;
  for (Value& item : items) item = validated(model_class, item);
  return Value::list(std::move(items));
}

Value new_reservation_id(const Value& db) {
  for (const char* id : {"HATHAT", "HATHAU", "HATHAV"})
    if (!attribute(db, "reservations").find(id)) return id;
  throw PythonError("Too many reservations");
}

// A flight with enough seats as a part of a reservation; throws where it cannot be booked.
Value booked_flight(const Value& db, const Value& info, const Value& cabin, std::size_t seats) {
  const Value& number = attribute(info, "flight_number");
  const Value& found = flight(db, number);
  const Value& date = attribute(info, "date");
  const Value& on_date = flight_on(db, number, date);
  if (!is_available(on_date))
    throw PythonError("Flight " + str(number) + " not available on date " + str(date));
  if (python::less(python::item(attribute(on_date, "available_seats"), cabin), Value(seats)))
    throw PythonError("Not enough seats on flight " + str(number));
  return construct(reservation_flight_class(),
                   {{"flight_number", number},
                    {"date", date},
                    {"price", python::item(attribute(on_date, "prices"), cabin)},
                    {"origin", attribute(found, "origin")},
                    {"destination", attribute(found, "destination")}});
}

struct Booking {
  const Value& user_id;
  const Value& cabin;
  Value flights;
  Value passengers;
  Value payments;
};

void require_balances(const Value& owner, const Value& payments) {
  for (const Value& payment : payments.items()) {
    const Value& id = attribute(payment, "payment_id");
    const Value* method = python::lookup(attribute(owner, "payment_methods"), id);
    if (!method) throw PythonError("Payment method " + str(id) + " not found");
    const Value& source = attribute(*method, "source");
    const bool limited = python::equal(source, "gift_card") || python::equal(source, "certificate");
    if (limited && python::less(attribute(*method, "amount"), attribute(payment, "amount")))
      throw PythonError("Not enough balance in payment method " + str(id));
  }
}

void require_sum(const Value& payments, const Value& price) {
  Value paid = 0;
  for (const Value& payment : payments.items())
    paid = python::add(paid, attribute(payment, "amount"));
  if (!python::equal(paid, price))
    throw PythonError("Payment amount does not add up, total price is " + str(price) +
                      ", but paid " + str(paid));
}

// Gift cards lose what they pay; a certificate is used up whole. A certificate named twice fails
// the second time, after what came before it was taken.
void take_payments(Value& db, const Value& user_id, const Value& payments) {
  for (const Value& payment : payments.items()) {
    const Value& id = attribute(payment, "payment_id");
    const Value source =
        attribute(python::item(attribute(user(db, user_id), "payment_methods"), id), "source");
    if (python::equal(source, "gift_card")) {
      Value& card = edit_user(db, user_id.as_str()).edit("payment_methods").edit(id.as_str());
      card.set("amount",
               python::subtract(attribute(card, "amount"), attribute(payment, "amount"), "-="));
    } else if (python::equal(source, "certificate")) {
      edit_user(db, user_id.as_str()).edit("payment_methods").erase(id.as_str());
    }
  }
}

void take_seats(Value& db, const Value& flights, const Value& cabin, std::size_t seats) {
  for (const Value& info : flights.items()) {
    Value& on_date = edit_flight_on(db, attribute(info, "flight_number").as_str(),
                                    attribute(info, "date").as_str());
    Value& left = on_date.edit("available_seats").edit(cabin.as_str());
    left = python::subtract(left, Value(seats), "-=");
  }
}

// Pays the difference of an update; None where there is none to pay. A gift card is charged before
// the payment is checked.
Value payment_for_update(Value& db, const Value& user_id, const Value& payment_id,
                         const Value& price) {
  const Value* method = python::lookup(attribute(user(db, user_id), "payment_methods"), payment_id);
  if (!method) throw PythonError("Payment method not found");
  const Value source = attribute(*method, "source");
  if (python::equal(source, "certificate"))
    throw PythonError("Certificate cannot be used to update reservation");
  if (python::equal(source, "gift_card")) {
    if (python::less(attribute(*method, "amount"), price))
      throw PythonError("Gift card balance is not enough");
    Value& card = edit_user(db, user_id.as_str()).edit("payment_methods").edit(payment_id.as_str());
    card.set("amount", python::subtract(attribute(card, "amount"), price, "-="));
  }
  if (python::equal(price, Value(0))) return Value();
  return construct(payment_class(), {{"payment_id", payment_id}, {"amount", price}});
}

void append_payment(Value& changed, Value payment) {
  if (!payment.is_none()) changed.edit("payment_history").append(std::move(payment));
}

// The flight of the reservation that is already booked as wanted, or nullptr.
const Value* kept_flight(const Value& booked, const Value& info, const Value& cabin) {
  for (const Value& each : attribute(booked, "flights").items())
    if (python::equal(attribute(each, "flight_number"), attribute(info, "flight_number")) &&
        python::equal(attribute(each, "date"), attribute(info, "date")) &&
        python::equal(cabin, attribute(booked, "cabin")))
      return &each;
  return nullptr;
}

Value price_of_seats(const Value& flight, const Value& passengers) {
  return python::multiply(attribute(flight, "price"), Value(python::length(passengers)));
}

}  // namespace

Value book_reservation(ToolScope& self, Arguments arguments) {
  const Value& nonfree_baggages = arguments[9];
  const Value& insurance = arguments[10];
  Booking booking{arguments[0], arguments[4], as_models(flight_info_class(), arguments[5]),
                  as_models(passenger_class(), arguments[6]),
                  as_models(payment_class(), arguments[7])};
  const Value owner = user(self.db, booking.user_id);
  const Value id = new_reservation_id(self.db);
  Value reserved = construct(reservation_class(), {{"reservation_id", id},
                                                   {"user_id", booking.user_id},
                                                   {"origin", arguments[1]},
                                                   {"destination", arguments[2]},
                                                   {"flight_type", arguments[3]},
                                                   {"cabin", booking.cabin},
                                                   {"flights", Value::list()},
                                                   {"passengers", booking.passengers},
                                                   {"payment_history", booking.payments},
                                                   {"created_at", "2024-05-15T15:00:00"},
                                                   {"total_baggages", arguments[8]},
                                                   {"nonfree_baggages", nonfree_baggages},
                                                   {"insurance", insurance}});
  const std::size_t seats = python::length(booking.passengers);
  Value price = 0;
  for (const Value& info : python::iterate(booking.flights)) {
    Value part = booked_flight(self.db, info, booking.cabin, seats);
    price = python::add(price, price_of_seats(part, booking.passengers), "+=");
    reserved.edit("flights").append(std::move(part));
  }
  if (python::equal(insurance, "yes"))
    price = python::add(price, Value(kInsurancePrice * static_cast<int>(seats)), "+=");
  price = python::add(price, python::multiply(Value(kBagPrice), nonfree_baggages), "+=");
  require_balances(owner, booking.payments);
  require_sum(booking.payments, price);

  take_payments(self.db, booking.user_id, booking.payments);
  take_seats(self.db, booking.flights, booking.cabin, seats);
  self.db.edit("reservations").set(id.as_str(), reserved);
  edit_user(self.db, booking.user_id.as_str()).edit("reservations").append(id);
  return reserved;
}

Value cancel_reservation(ToolScope& self, Arguments arguments) {
  std::vector<Value> refunds;
  for (const Value& paid : attribute(reservation(self.db, arguments[0]), "payment_history").items())
    refunds.push_back(
        construct(payment_class(), {{"payment_id", attribute(paid, "payment_id")},
                                    {"amount", python::negative(attribute(paid, "amount"))}}));
  Value& cancelled = edit_reservation(self.db, arguments[0].as_str());
  for (Value& refund : refunds) append_payment(cancelled, std::move(refund));
  cancelled.set("status", "cancelled");
  return cancelled;
}

Value send_certificate(ToolScope& self, Arguments arguments) {
  const Value& user_id = arguments[0];
  const Value& owner = user(self.db, user_id);
  for (const char* id : {"certificate_3221322", "certificate_3221323", "certificate_3221324"}) {
    if (attribute(owner, "payment_methods").find(id)) continue;
    Value certificate = construct(
        certificate_class(), {{"id", id}, {"amount", arguments[1]}, {"source", "certificate"}});
    edit_user(self.db, user_id.as_str()).edit("payment_methods").set(id, std::move(certificate));
    return "Certificate " + std::string(id) + " added to user " + str(user_id) + " with amount " +
           str(arguments[1]) + ".";
  }
  throw PythonError("Too many certificates");
}

Value update_reservation_baggages(ToolScope& self, Arguments arguments) {
  const Value& nonfree_baggages = arguments[2];
  const Value found = reservation(self.db, arguments[0]);
  const Value& user_id = attribute(found, "user_id");
  user(self.db, user_id);
  const Value more = python::subtract(nonfree_baggages, attribute(found, "nonfree_baggages"));
  const Value price =
      python::multiply(Value(kBagPrice), python::greater(more, Value(0)) ? more : Value(0));
  Value payment = payment_for_update(self.db, user_id, arguments[3], price);

  Value& changed = edit_reservation(self.db, arguments[0].as_str());
  append_payment(changed, std::move(payment));
  changed.set("total_baggages", arguments[1]);
  changed.set("nonfree_baggages", nonfree_baggages);
  return changed;
}

Value update_reservation_flights(ToolScope& self, Arguments arguments) {
  const Value& cabin = arguments[1];
  const Value infos = as_models(flight_info_class(), arguments[2]);
  const Value found = reservation(self.db, arguments[0]);
  const Value& user_id = attribute(found, "user_id");
  user(self.db, user_id);
  const Value& passengers = attribute(found, "passengers");
  Value price = 0;
  std::vector<Value> flights;
  for (const Value& info : python::iterate(infos)) {
    const Value* kept = kept_flight(found, info, cabin);
    flights.push_back(kept ? *kept
                           : booked_flight(self.db, info, cabin, python::length(passengers)));
    price = python::add(price, price_of_seats(flights.back(), passengers), "+=");
  }
  Value paid = 0;
  for (const Value& each : attribute(found, "flights").items())
    paid = python::add(paid, attribute(each, "price"));
  paid = python::multiply(paid, Value(python::length(passengers)));
  price = python::subtract(price, paid, "-=");
  Value payment = payment_for_update(self.db, user_id, arguments[3], price);

  Value& changed = edit_reservation(self.db, arguments[0].as_str());
  append_payment(changed, std::move(payment));
  changed.set("flights", Value::list(std::move(flights)));
  changed.set("cabin", cabin);
  return changed;
}

Value update_reservation_passengers(ToolScope& self, Arguments arguments) {
  Value passengers = as_models(passenger_class(), arguments[1]);
  const Value& found = reservation(self.db, arguments[0]);
  if (python::length(passengers) != python::length(attribute(found, "passengers")))
    throw PythonError("Number of passengers does not match");
  Value& changed = edit_reservation(self.db, arguments[0].as_str());
  changed.set("passengers", std::move(passengers));
  return changed;
}

}  // namespace unmask::airline
