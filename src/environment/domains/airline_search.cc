#include "environment/domains/airline_search.h"

#include <utility>

#include "environment/calculator.h"
#include "environment/domains/airline_state.h"
#include "environment/python.h"

namespace unmask::airline {

namespace {

using python::attribute;

// None means any.
struct Wanted {
  const Value& date;
  Value origin;
  Value destination;
  Value leave_after;
};

bool fits(const Value& flight, const Wanted& wanted) {
  const auto same = [&](const Value& place, std::string_view field) {
    return place.is_none() || python::equal(attribute(flight, field), place);
  };
  if (!same(wanted.origin, "origin") || !same(wanted.destination, "destination")) return false;
  const Value* on_date = python::lookup(attribute(flight, "dates"), wanted.date);
  if (!on_date || !python::equal(attribute(*on_date, "status"), "available")) return false;
  return wanted.leave_after.is_none() ||
         python::greater_equal(attribute(flight, "scheduled_departure_time_est"),
                               wanted.leave_after);
}

std::vector<Value> direct_flights(const Value& db, const Wanted& wanted) {
  std::vector<Value> found;
  for (const Value& flight : attribute(db, "flights").items()) {
    if (!fits(flight, wanted)) continue;
    const Value& on_date = *attribute(flight, "dates").find(wanted.date.as_str());
    std::vector<std::pair<std::string, Value>> fields;
    for (const char* field : {"flight_number", "origin", "destination",
                              "scheduled_departure_time_est", "scheduled_arrival_time_est"})
      fields.emplace_back(field, attribute(flight, field));
    for (const char* field : {"status", "available_seats", "prices"})
      fields.emplace_back(field, attribute(on_date, field));
    found.push_back(construct(direct_flight_class(), std::move(fields)));
  }
  return found;
}

// The day after, as upstream writes it: in May 2024 and without a leading zero.
std::string next_day(const std::string& date) {
  const std::string day = date.size() < 2 ? date : date.substr(date.size() - 2);
  if (day.empty() || day.find_first_not_of("0123456789") != std::string::npos)
    throw PythonError("invalid literal for int() with base 10: " + python::repr_of_text(day));
  return "2024-05-" + std::to_string(std::stoi(day) + 1);
}

}  // namespace

Value calculate_expression(ToolScope&, Arguments arguments) {
  return calculate(arguments[0]);
}

Value get_reservation_details(ToolScope& self, Arguments arguments) {
  return reservation(self.db, arguments[0]);
}

Value get_user_details(ToolScope& self, Arguments arguments) {
  return user(self.db, arguments[0]);
}

Value list_all_airports(ToolScope&, Arguments) {
  constexpr std::pair<const char*, const char*> kAirports[] = {
      {"SFO", "San Francisco"}, {"JFK", "New York"}, {"LAX", "Los Angeles"},  {"ORD", "Chicago"},
      {"DFW", "Dallas"},        {"DEN", "Denver"},   {"SEA", "Seattle"},      {"ATL", "Atlanta"},
      {"MIA", "Miami"},         {"BOS", "Boston"},   {"PHX", "Phoenix"},      {"IAH", "Houston"},
      {"LAS", "Las Vegas"},     {"MCO", "Orlando"},  {"EWR", "Newark"},       {"CLT", "Charlotte"},
      {"MSP", "Minneapolis"},   {"DTW", "Detroit"},  {"PHL", "Philadelphia"}, {"LGA", "LaGuardia"}};
  std::vector<Value> airports;
  for (const auto& [code, city] : kAirports)
    airports.push_back(construct(airport_class(), {{"iata", code}, {"city", city}}));
  return Value::list(std::move(airports));
}

Value search_direct_flight(ToolScope& self, Arguments arguments) {
  return Value::list(direct_flights(self.db, {arguments[2], arguments[0], arguments[1], Value()}));
}

Value search_onestop_flight(ToolScope& self, Arguments arguments) {
  const Value& date = arguments[2];
  std::vector<Value> pairs;
  for (Value& first : direct_flights(self.db, {date, arguments[0], Value(), Value()})) {
    first.set("date", date);
    const Value& arrival = attribute(first, "scheduled_arrival_time_est");
    const Value second_date =
        python::contains(arrival, "+1") ? Value(next_day(date.as_str())) : date;
    const Wanted wanted{second_date, attribute(first, "destination"), arguments[1], arrival};
    for (Value& second : direct_flights(self.db, wanted)) {
      second.set("date", second_date);
      pairs.push_back(Value::list({first, second}));
    }
  }
  return Value::list(std::move(pairs));
}

Value get_flight_status(ToolScope& self, Arguments arguments) {
  return attribute(flight_on(self.db, arguments[0], arguments[1]), "status");
}

Value transfer_to_human(ToolScope&, Arguments) {
  return "Transfer successful";
}

}  // namespace unmask::airline
