#include "trace/known_tools.h"

#include <algorithm>
#include <iterator>

namespace unmask {
namespace {

constexpr std::string_view kMockAgent[] = {"create_task", "get_users", "update_task_status",
                                           "transfer_to_human_agents"};

constexpr std::string_view kMockUser[] = {"check_notifications", "dismiss_notification"};

constexpr std::string_view kAirlineAgent[] = {
    "book_reservation",
    "calculate",
    "cancel_reservation",
    "get_reservation_details",
    "get_user_details",
    "list_all_airports",
    "search_direct_flight",
    "search_onestop_flight",
    "send_certificate",
    "transfer_to_human_agents",
    "update_reservation_baggages",
    "update_reservation_flights",
    "update_reservation_passengers",
    "get_flight_status",
};

constexpr std::string_view kRetailAgent[] = {
    "calculate",
    "cancel_pending_order",
    "exchange_delivered_order_items",
    "find_user_id_by_name_zip",
    "find_user_id_by_email",
    "get_order_details",
    "get_product_details",
    "get_item_details",
    "get_user_details",
    "list_all_product_types",
    "modify_pending_order_address",
    "modify_pending_order_items",
    "modify_pending_order_payment",
    "modify_user_address",
    "return_delivered_order_items",
    "transfer_to_human_agents",
};

constexpr std::string_view kTelecomAgent[] = {
    "get_customer_by_phone",
    "get_customer_by_id",
    "get_customer_by_name",
    "get_details_by_id",
    "suspend_line",
    "resume_line",
    "get_bills_for_customer",
    "send_payment_request",
    "get_data_usage",
    "enable_roaming",
    "disable_roaming",
    "transfer_to_human_agents",
    "refuel_data",
};

constexpr std::string_view kTelecomUser[] = {
    "check_status_bar",
    "check_network_status",
    "check_network_mode_preference",
    "set_network_mode_preference",
    "run_speed_test",
    "toggle_airplane_mode",
    "check_sim_status",
    "reseat_sim_card",
    "toggle_data",
    "toggle_roaming",
    "check_data_restriction_status",
    "toggle_data_saver_mode",
    "check_apn_settings",
    "set_apn_settings",
    "reset_apn_settings",
    "check_wifi_status",
    "toggle_wifi",
    "check_wifi_calling_status",
    "toggle_wifi_calling",
    "check_vpn_status",
    "connect_vpn",
    "disconnect_vpn",
    "check_installed_apps",
    "check_app_status",
    "check_app_permissions",
    "grant_app_permission",
    "can_send_mms",
    "reboot_device",
    "check_payment_request",
    "make_payment",
};

// tau-bench v1 offers think() and lacks one tool that each of its domains got later.
constexpr std::string_view kAirlineV1[] = {
    "book_reservation",           "calculate",
    "cancel_reservation",         "get_reservation_details",
    "get_user_details",           "list_all_airports",
    "search_direct_flight",       "search_onestop_flight",
    "send_certificate",           "think",
    "transfer_to_human_agents",   "update_reservation_baggages",
    "update_reservation_flights", "update_reservation_passengers",
};

constexpr std::string_view kRetailV1[] = {
    "calculate",
    "cancel_pending_order",
    "exchange_delivered_order_items",
    "find_user_id_by_email",
    "find_user_id_by_name_zip",
    "get_order_details",
    "get_product_details",
    "get_user_details",
    "list_all_product_types",
    "modify_pending_order_address",
    "modify_pending_order_items",
    "modify_pending_order_payment",
    "modify_user_address",
    "return_delivered_order_items",
    "think",
    "transfer_to_human_agents",
};

struct Domain {
  std::string_view name;
  std::span<const std::string_view> agent;
  std::span<const std::string_view> user;
};

constexpr Domain kDomains[] = {
    {"mock", kMockAgent, kMockUser},
    {"airline", kAirlineAgent, {}},
    {"retail", kRetailAgent, {}},
    {"telecom", kTelecomAgent, kTelecomUser},
};

// Words that name another policy text or task set of the same environment. A word outside the list
// may be somebody's own environment with other tools, of which nothing is known.
constexpr std::string_view kVariantWords[] = {"workflow", "manual", "solo",  "full",
                                              "small",    "base",   "train", "test"};

// True for "", "-workflow", "_workflow_solo" ...
bool only_variant_words(std::string_view rest) {
  while (!rest.empty()) {
    if (rest.front() != '-' && rest.front() != '_') return false;
    rest.remove_prefix(1);
    const std::string_view word = rest.substr(0, rest.find_first_of("-_"));
    if (std::find(std::begin(kVariantWords), std::end(kVariantWords), word) ==
        std::end(kVariantWords)) {
      return false;
    }
    rest.remove_prefix(word.size());
  }
  return true;
}

const Domain* find_domain(std::string_view domain) {
  const std::string_view name = base_domain(domain);
  for (const Domain& row : kDomains) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

}  // namespace

std::string_view base_domain(std::string_view domain) {
  for (const Domain& row : kDomains) {
    if (!domain.starts_with(row.name)) continue;
    if (only_variant_words(domain.substr(row.name.size()))) return row.name;
  }
  return domain;
}

std::span<const std::string_view> known_tools(std::string_view domain, Side side) {
  const Domain* row = find_domain(domain);
  if (row == nullptr) return {};
  return side == Side::Agent ? row->agent : row->user;
}

std::span<const std::string_view> tau1_tools(std::string_view domain) {
  if (domain == "airline") return kAirlineV1;
  if (domain == "retail") return kRetailV1;
  return {};
}

bool known_domain(std::string_view domain) {
  return find_domain(domain) != nullptr;
}

}  // namespace unmask
