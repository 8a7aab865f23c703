#include "environment/domains/airline.h"

#include "environment/data_folder.h"
#include "environment/domains/airline_booking.h"
#include "environment/domains/airline_search.h"
#include "environment/domains/airline_state.h"
#include "environment/toolkit.h"

namespace unmask {

namespace {

using namespace airline;

Parameter text(std::string name, std::string description) {
  return {std::move(name), type::str(), {}, std::move(description)};
}

Parameter number(std::string name, std::string description) {
  return {std::move(name), type::integer(), {}, std::move(description)};
}

// A list whose items are instances of the class or any object.
Parameter models(std::string name, const ModelClass& model_class, std::string description) {
  return {std::move(name),
          type::list(type::one_of({type::model(model_class), type::dict()})),
          {},
          std::move(description)};
}

Parameter reservation_id() {
  return text("reservation_id", "The reservation, such as 'ZFA04Y'.");
}
Parameter user_id() {
  return text("user_id", "The user, such as 'sara_doe_496'.");
}
Parameter date() {
  return text("date", "Day of departure, such as '2024-05-01'.");
}
Parameter origin() {
  return text("origin", "Airport of departure, such as 'JFK'.");
}
Parameter destination() {
  return text("destination", "Airport of arrival, such as 'LAX'.");
}

Parameter payment_id() {
  return text("payment_id", "A payment method of the user, such as 'gift_card_7815826'.");
}

Parameter cabin() {
  return {"cabin", cabin_type(), {}, "Class of all seats of the reservation."};
}

Tool booking() {
  return {"book_reservation",
          "Books a trip.",
          ToolType::Write,
          true,
          {user_id(),
           origin(),
           destination(),
           {"flight_type", trip_type(), {}, "One way or there and back."},
           cabin(),
           models("flights", flight_info_class(), "Each flight of the trip, in order."),
           models("passengers", passenger_class(), "Who travels."),
           models("payment_methods", payment_class(), "What is paid how; adds up to the price."),
           number("total_baggages", "Bags in all."),
           number("nonfree_baggages", "Bags to pay for."),
           {"insurance", insurance_type(), {}, "Whether the trip is insured."}},
          book_reservation};
}

std::vector<Tool> reading_tools() {
  return {{"get_reservation_details",
           "Shows a reservation.",
           ToolType::Read,
           false,
           {reservation_id()},
           get_reservation_details},
          {"get_user_details",
           "Shows a user with payment methods and reservations.",
           ToolType::Read,
           false,
           {user_id()},
           get_user_details},
          {"list_all_airports",
           "Lists the airports with their cities.",
           ToolType::Read,
           false,
           {},
           list_all_airports},
          {"search_direct_flight",
           "Finds flights without a stop on a day.",
           ToolType::Read,
           false,
           {origin(), destination(), date()},
           search_direct_flight},
          {"search_onestop_flight",
           "Finds pairs of flights with one stop on a day.",
           ToolType::Read,
           false,
           {origin(), destination(), date()},
           search_onestop_flight}};
}

std::vector<Tool> changing_tools() {
  return {{"update_reservation_baggages",
           "Changes the number of bags of a reservation.",
           ToolType::Write,
           true,
           {reservation_id(), number("total_baggages", "Bags in all, from now on."),
            number("nonfree_baggages", "Bags to pay for, from now on."), payment_id()},
           update_reservation_baggages},
          {"update_reservation_flights",
           "Changes the flights or the cabin of a reservation.",
           ToolType::Write,
           true,
           {reservation_id(), cabin(),
            models("flights", flight_info_class(),
                   "Every flight of the changed reservation, those that stay included."),
            payment_id()},
           update_reservation_flights},
          {"update_reservation_passengers",
           "Changes who travels; their number stays.",
           ToolType::Write,
           true,
           {reservation_id(), models("passengers", passenger_class(), "Who travels from now on.")},
           update_reservation_passengers},
          {"get_flight_status",
           "Tells the status of a flight on a day.",
           ToolType::Read,
           false,
           {text("flight_number", "The flight, such as 'HAT001'."), date()},
           get_flight_status}};
}

std::vector<Tool> all_tools() {
  std::vector<Tool> tools = {booking(),
                             {"calculate",
                              "Computes an arithmetic expression.",
                              ToolType::Generic,
                              false,
                              {text("expression", "Numbers, + - * /, parentheses and blanks.")},
                              calculate_expression},
                             {"cancel_reservation",
                              "Cancels a whole reservation and refunds its payments.",
                              ToolType::Write,
                              true,
                              {reservation_id()},
                              cancel_reservation}};
  for (Tool& tool : reading_tools()) tools.push_back(std::move(tool));
  tools.push_back({"send_certificate",
                   "Gives a user a certificate. Use with care.",
                   ToolType::Write,
                   true,
                   {user_id(), number("amount", "Its worth in dollars.")},
                   send_certificate});
  tools.push_back({"transfer_to_human_agents",
                   "Hands the user over to a human, with a summary. Only where the user asks for a "
                   "human, or policy and tools cannot solve the problem.",
                   ToolType::Generic,
                   false,
                   {text("summary", "What the user needs, in short.")},
                   transfer_to_human});
  for (Tool& tool : changing_tools()) tools.push_back(std::move(tool));
  return tools;
}

}  // namespace

const Toolkit& airline_tools() {
  static const Toolkit kTools{"AirlineTools", all_tools(), {}};
  return kTools;
}

Result<Databases> airline_databases(const DataFolder& data) {
  const std::string file = "domains/airline/db.json";
  const Result<Value> json = data.json(file);
  if (!json) return json.error();
  Result<Value> database = checked_database(database_class(), *json, data.path(file));
  if (!database) return database.error();
  return Databases{std::move(*database), Value()};
}

Result<std::string> airline_policy(const DataFolder& data, bool) {
  return data.text("domains/airline/policy.md");
}

}  // namespace unmask
