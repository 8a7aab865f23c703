// The words of each domain. Tool names, argument names and error texts are the environments' own
// facts; a near miss stays within a quarter of its length of an offered name, an invention beyond.
#include "plant/wording.h"

namespace unmask {
namespace {

constexpr CallWords kTelecomOk[] = {
    {"get_customer_by_phone", R"({"phone_number": "555-123-20^"})",
     R"({"customer_id": "C10^", "full_name": "Planted Customer ^", "account_status": "Active", "line_ids": ["L10^"], "bill_ids": ["B10^"]})"},
    {"get_customer_by_id", R"({"customer_id": "C10^"})",
     R"({"customer_id": "C10^", "full_name": "Planted Customer ^", "account_status": "Active", "line_ids": ["L10^"], "bill_ids": ["B10^"]})"},
    {"get_details_by_id", R"({"id": "L10^"})",
     R"({"line_id": "L10^", "status": "Active", "plan_id": "P1002", "data_used_gb": 8.~, "roaming_enabled": false})"},
    {"get_data_usage", R"({"customer_id": "C10^", "line_id": "L10^"})",
     R"({"line_id": "L10^", "data_used_gb": "8.~", "data_limit_gb": "15.0"})"},
    {"get_bills_for_customer", R"({"customer_id": "C10^", "limit": ~})",
     R"([{"bill_id": "B10^", "total_due": 6~.0, "status": "Paid"}])"},
    {"enable_roaming", R"({"customer_id": "C10^", "line_id": "L10^"})",
     "Roaming enabled successfully"},
    {"refuel_data", R"({"customer_id": "C10^", "line_id": "L10^", "gb_amount": 1.~})",
     R"({"message": "Successfully added 1.~ GB of data for line L10^", "charge": "2.~"})"},
    {"resume_line", R"({"customer_id": "C10^", "line_id": "L10^"})",
     R"({"message": "Line resumed successfully", "line": {"line_id": "L10^", "status": "Active"}})"},
    {"send_payment_request", R"({"customer_id": "C10^", "bill_id": "B10^"})",
     "Payment request sent to the customer for bill B10^"},
};
constexpr CallWords kTelecomUser[] = {
    {"check_status_bar", "{}", "Status Bar: Excellent | 5G | Data Enabled | 8~%"},
    {"check_network_status", "{}", "Airplane Mode: OFF\nSIM Card Status: active"},
    {"run_speed_test", "{}", "Speed Test Result: 27~.00 Mbps (Excellent)."},
    {"toggle_airplane_mode", "{}", "Airplane Mode is now OFF."},
    {"check_vpn_status", "{}", "VPN is turned OFF."},
};
constexpr CallWords kTelecomSchema[] = {
    {"get_customer_by_id", "{}",
     "Error: TelecomTools.get_customer_by_id() missing 1 required positional argument: "
     "'customer_id'"},
    {"get_data_usage", R"({"customer_id": "C10^"})",
     "Error: TelecomTools.get_data_usage() missing 1 required positional argument: 'line_id'"},
    {"enable_roaming", R"({"customer_id": "C10^", "line_id": "L10^", "country": "FR"})",
     "Error: TelecomTools.enable_roaming() got an unexpected keyword argument 'country'"},
    {"refuel_data", R"({"line_id": "L10^"})",
     "Error: TelecomTools.refuel_data() missing 2 required positional arguments: 'customer_id' and "
     "'gb_amount'"},
};
constexpr CallWords kTelecomEntity[] = {
    {"get_customer_by_id", R"({"customer_id": "C999~"})",
     "Error: Customer with ID C999~ not found"},
    {"get_customer_by_phone", R"({"phone_number": "555-000-000~"})",
     "Error: Customer with phone number 555-000-000~ not found"},
    {"get_data_usage", R"({"customer_id": "C10^", "line_id": "L999~"})",
     "Error: Line L999~ not found for customer C10^"},
    {"send_payment_request", R"({"customer_id": "C10^", "bill_id": "B999~"})",
     "Error: Bill B999~ not found for customer C10^"},
};
constexpr CallWords kTelecomRejected[] = {
    {"resume_line", R"({"customer_id": "C10^", "line_id": "L10^"})",
     "Error: Line must be suspended to resume"},
    {"suspend_line", R"({"customer_id": "C10^", "line_id": "L10^", "reason": "lost phone"})",
     "Error: Line must be active to suspend"},
    {"send_payment_request", R"({"customer_id": "C10^", "bill_id": "B10^"})",
     "Error: A bill is already awaiting payment for this customer"},
    {"refuel_data", R"({"customer_id": "C10^", "line_id": "L10^", "gb_amount": 0})",
     "Error: Refuel amount must be positive"},
};
constexpr std::string_view kTelecomNearMiss[] = {
    "get_customer_by_ids",     "functions.get_data_usage", "enable-roaming",
    "get_bill_for_customer",   "sendPaymentRequest",       "suspend_lines",
    "default_api.resume_line", "get_detail_by_id",         "refuel_datas",
};
constexpr std::string_view kTelecomInvented[] = {
    "check_network_outage", "update_customer_address", "escalate_to_supervisor", "reset_voicemail",
    "list_available_plans", "verify_identity_pin",     "run_diagnostics",        "open_ticket",
    "change_plan",          "block_international",     "schedule_callback",      "port_number",
};
constexpr std::string_view kTelecomNovel[] = {
    "provision_esim_profile",
    "ping_tower",
    "audit_invoice_lines",
    "translate_message",
};

constexpr CallWords kRetailOk[] = {
    {"find_user_id_by_email", R"({"email": "planted.^@example.com"})", "planted_user_^"},
    {"get_user_details", R"({"user_id": "planted_user_^"})",
     R"({"name": {"first_name": "Planted", "last_name": "User"}, "orders": ["#W10000^"]})"},
    {"get_order_details", R"({"order_id": "#W10000^"})",
     R"({"order_id": "#W10000^", "user_id": "planted_user_^", "status": "pending"})"},
    {"get_product_details", R"({"product_id": "90000000^"})",
     R"({"name": "Desk Lamp", "product_id": "90000000^", "variants": {}})"},
    {"list_all_product_types", "{}", R"({"Desk Lamp": "90000000^"})"},
    {"calculate", R"({"expression": "5~ - 4"})", "5~.0"},
};
constexpr CallWords kRetailSchema[] = {
    {"get_order_details", "{}",
     "Error: RetailTools.get_order_details() missing 1 required positional argument: 'order_id'"},
    {"cancel_pending_order", R"({"order_id": "#W10000^"})",
     "Error: RetailTools.cancel_pending_order() missing 1 required positional argument: 'reason'"},
    {"get_user_details", R"({"user_id": "planted_user_^", "verbose": true})",
     "Error: RetailTools.get_user_details() got an unexpected keyword argument 'verbose'"},
};
constexpr CallWords kRetailEntity[] = {
    {"get_order_details", R"({"order_id": "#W999999~"})", "Error: Order not found"},
    {"get_user_details", R"({"user_id": "nobody_999~"})", "Error: User not found"},
    {"get_product_details", R"({"product_id": "100000000~"})", "Error: Product not found"},
};
constexpr CallWords kRetailRejected[] = {
    {"cancel_pending_order", R"({"order_id": "#W10000^", "reason": "no longer needed"})",
     "Error: Non-pending order cannot be cancelled"},
    {"return_delivered_order_items",
     R"({"order_id": "#W10000^", "item_ids": ["800000000~"], "payment_method_id": "card_1"})",
     "Error: Non-delivered order cannot be returned"},
    {"modify_pending_order_payment", R"({"order_id": "#W10000^", "payment_method_id": "card_1"})",
     "Error: The new payment method should be different from the current one"},
};
constexpr std::string_view kRetailNearMiss[] = {
    "get_order_detail",     "functions.get_user_details", "cancel-pending-order",
    "get_products_details", "findUserIdByEmail",          "list_all_products_types",
};
constexpr std::string_view kRetailInvented[] = {
    "track_shipment",   "apply_coupon",     "check_warehouse_stock", "issue_store_credit",
    "notify_warehouse", "print_label",      "verify_customer_pin",   "reschedule_delivery",
    "add_gift_wrap",    "review_sentiment", "merge_accounts",        "escalate_ticket",
};
constexpr std::string_view kRetailNovel[] = {
    "weigh_parcel",
    "audit_loyalty_points",
    "translate_receipt",
    "estimate_tax",
};

constexpr CallWords kAirlineOk[] = {
    {"get_user_details", R"({"user_id": "planted_user_^"})",
     R"({"user_id": "planted_user_^", "membership": "silver", "reservations": ["PLNT^"]})"},
    {"get_reservation_details", R"({"reservation_id": "PLNT^"})",
     R"({"reservation_id": "PLNT^", "cabin": "economy", "status": null})"},
    {"search_direct_flight", R"({"origin": "JFK", "destination": "SEA", "date": "2024-05-2~"})",
     R"([{"flight_number": "HAT0^", "status": "available"}])"},
    {"get_flight_status", R"({"flight_number": "HAT0^", "date": "2024-05-1~"})", "landed"},
    {"calculate", R"({"expression": "5~ - 4"})", "5~.0"},
};
constexpr CallWords kAirlineSchema[] = {
    {"get_reservation_details", "{}",
     "Error: AirlineTools.get_reservation_details() missing 1 required positional argument: "
     "'reservation_id'"},
    {"get_flight_status", R"({"flight_number": "HAT0^"})",
     "Error: AirlineTools.get_flight_status() missing 1 required positional argument: 'date'"},
    {"get_user_details", R"({"user_id": "planted_user_^", "verbose": true})",
     "Error: AirlineTools.get_user_details() got an unexpected keyword argument 'verbose'"},
};
constexpr CallWords kAirlineEntity[] = {
    {"get_reservation_details", R"({"reservation_id": "NONE0~"})",
     "Error: Reservation NONE0~ not found"},
    {"get_user_details", R"({"user_id": "nobody_999~"})", "Error: User nobody_999~ not found"},
    {"get_flight_status", R"({"flight_number": "HAT99~", "date": "2024-05-10"})",
     "Error: Flight HAT99~ not found"},
};
constexpr CallWords kAirlineRejected[] = {
    {"update_reservation_passengers", R"({"reservation_id": "PLNT^", "passengers": []})",
     "Error: Number of passengers does not match"},
    {"update_reservation_baggages",
     R"({"reservation_id": "PLNT^", "total_baggages": ~, "nonfree_baggages": 0, "payment_id": "certificate_1"})",
     "Error: Certificate cannot be used to update reservation"},
    {"update_reservation_flights",
     R"({"reservation_id": "PLNT^", "cabin": "economy", "flights": [], "payment_id": "certificate_1"})",
     "Error: Certificate cannot be used to update reservation"},
};
constexpr std::string_view kAirlineNearMiss[] = {
    "get_reservations_details", "functions.get_user_details",
    "cancel-reservation",       "search_direct_flights",
    "getFlightStatus",          "list_all_airport",
};
constexpr std::string_view kAirlineInvented[] = {
    "check_weather",   "upgrade_membership", "hold_seat",          "request_wheelchair",
    "verify_passport", "order_meal",         "file_lost_baggage",  "notify_gate_agent",
    "estimate_delay",  "assign_lounge_pass", "escalate_complaint", "rebook_automatically",
};
constexpr std::string_view kAirlineNovel[] = {
    "convert_currency",
    "audit_miles",
    "translate_itinerary",
    "page_captain",
};

constexpr DomainWords kDomains[] = {
    {"telecom", "Hello, my mobile service on line ^ is not working as it should. Can you help?",
     kTelecomOk, kTelecomUser, kTelecomSchema, kTelecomEntity, kTelecomRejected, kTelecomNearMiss,
     kTelecomInvented, kTelecomNovel},
    {"retail",
     "Hello, I have a question about my order, number ^ in my list. Can you help?",
     kRetailOk,
     {},
     kRetailSchema,
     kRetailEntity,
     kRetailRejected,
     kRetailNearMiss,
     kRetailInvented,
     kRetailNovel},
    {"airline",
     "Hello, I would like to change reservation ^ of mine. Can you help?",
     kAirlineOk,
     {},
     kAirlineSchema,
     kAirlineEntity,
     kAirlineRejected,
     kAirlineNearMiss,
     kAirlineInvented,
     kAirlineNovel},
};

}  // namespace

Result<const DomainWords*> domain_words(std::string_view domain) {
  std::string names;
  for (const DomainWords& words : kDomains) {
    if (words.domain == domain) return &words;
    names += (names.empty() ? "" : ", ") + std::string(words.domain);
  }
  return Error{ErrorKind::InvalidArgument,
               "domain must be one of " + names + ", not \"" + std::string(domain) + "\"", ""};
}

std::vector<std::string> planted_domains() {
  std::vector<std::string> names;
  for (const DomainWords& words : kDomains) names.emplace_back(words.domain);
  return names;
}

}  // namespace unmask
