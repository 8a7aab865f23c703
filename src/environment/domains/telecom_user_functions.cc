// What tasks do to the user's phone before an episode, and ask of it after.
#include "environment/domains/telecom_phone.h"
#include "environment/domains/telecom_phone_state.h"
#include "environment/domains/telecom_user_tools.h"
#include "environment/python.h"

namespace unmask::telecom {

namespace {

using python::equal;
using python::str;

Value set_user_info(ToolScope& self, Arguments arguments) {
  Phone phone(self.db);
  phone.set_around("name", arguments[0]);
  phone.set_around("phone_number", arguments[1]);
  return Value();
}

Value set_user_location(ToolScope& self, Arguments arguments) {
  Phone(self.db).set_around("is_abroad", arguments[0]);
  return Value();
}

Value simulate_network_search(ToolScope& self, Arguments) {
  Phone(self.db).search_network();
  return Value();
}

// Toggling until it is so, as the user would: a toggle has effects of its own.
void turn_airplane_mode(Value& db, bool on) {
  Phone phone(db);
  if (phone.toggle_airplane_mode() != on) phone.toggle_airplane_mode();
}

void turn_setting(Value& db, std::string_view field, bool on, bool searches) {
  Phone phone(db);
  do {
    phone.toggle(field);
    if (searches) phone.search_network();
  } while (phone.on(field) != on);
}

Value turn_airplane_mode_on(ToolScope& self, Arguments) {
  turn_airplane_mode(self.db, true);
  return "Airplane Mode is now ON.";
}
Value turn_airplane_mode_off(ToolScope& self, Arguments) {
  turn_airplane_mode(self.db, false);
  return "Airplane Mode is now OFF.";
}
Value turn_data_on(ToolScope& self, Arguments) {
  Phone(self.db).set("data_enabled", true);
  return "Data connection restored.";
}
Value turn_data_off(ToolScope& self, Arguments) {
  turn_setting(self.db, "data_enabled", false, true);
  return "Data connection broken.";
}
Value turn_roaming_on(ToolScope& self, Arguments) {
  turn_setting(self.db, "roaming_enabled", true, true);
  return "Data Roaming is now ON.";
}
Value turn_roaming_off(ToolScope& self, Arguments) {
  turn_setting(self.db, "roaming_enabled", false, true);
  return "Data Roaming is now OFF.";
}
Value turn_data_saver_mode_on(ToolScope& self, Arguments) {
  turn_setting(self.db, "data_saver_mode", true, false);
  return "Data Saver Mode is now ON.";
}
Value turn_data_saver_mode_off(ToolScope& self, Arguments) {
  turn_setting(self.db, "data_saver_mode", false, false);
  return "Data Saver Mode is now OFF.";
}

Value unseat_sim_card(ToolScope& self, Arguments) {
  Phone phone(self.db);
  phone.set("sim_card_missing", true);
  phone.search_network();
  return "SIM card un-seated successfully.";
}

Value lock_sim_card(ToolScope& self, Arguments arguments) {
  Phone phone(self.db);
  if (equal(arguments[0], "pin")) phone.set("sim_card_status", sim_statuses()("LOCKED_PIN"));
  if (equal(arguments[0], "puk")) phone.set("sim_card_status", sim_statuses()("LOCKED_PUK"));
  phone.search_network();
  return "SIM card locked successfully in " + str(arguments[0]) + " mode.";
}

Value break_apn_settings(ToolScope& self, Arguments) {
  Phone phone(self.db);
  phone.set_apn("apn_name", apn_names()("BROKEN"));
  phone.search_network();
  return "APN settings broken. Please call reset_apn_settings() to fix.";
}

Value break_apn_mms_setting(ToolScope& self, Arguments) {
  Phone(self.db).set_apn("mmsc_url", Value());
  return "APN MMS setting broken. Please call reset_apn_settings() to fix.";
}

Value set_wifi_calling(ToolScope& self, Arguments arguments) {
  Phone phone(self.db);
  const auto state = [](const Value& on) { return python::truthy(on) ? "ON." : "OFF."; };
  if (!equal(phone.setting("wifi_calling_enabled"), arguments[0]))
    phone.toggle("wifi_calling_enabled");
  std::string text = std::string("Wi-Fi Calling is now ") + state(arguments[0]);
  if (!arguments[1].is_none()) {
    phone.set("wifi_calling_mms_over_wifi", arguments[1]);
    text += std::string("\nMMS over Wi-Fi is now ") + state(arguments[1]);
  }
  return text;
}

Value break_vpn(ToolScope& self, Arguments) {
  Phone phone(self.db);
  phone.connect_vpn(next_vpn(self));
  Value details = phone.setting("vpn_details");
  const bool is_next = details.same_node(next_vpn(self));
  python::set_attribute(details, "server_performance", performance_levels()("POOR"));
  if (is_next) self.class_state = details;
  phone.set("vpn_details", std::move(details));
  return "VPN connection broken.";
}

// Upstream answers a pair: whether it could, and a message.
Value remove_app_permission(ToolScope& self, Arguments arguments) {
  Phone phone(self.db);
  const Value& name = arguments[0];
  const Value* app = phone.app(name);
  const std::string permission = python::lower(arguments[1]).as_str();
  const auto answer = [](bool done, const std::string& message) {
    return Value::list({done, message});
  };
  if (!app) return answer(false, "App '" + str(name) + "' not found. Cannot remove permission.");
  const std::string which = "Permission '" + permission + "' ";
  if (!python::attribute(*app, "permissions").find(permission))
    return answer(false, which + "not tracked for app '" + str(name) + "'.");
  phone.permit(name, permission, false);
  return answer(true, which + "removed from app '" + str(name) + "'.");
}

// Assertions.

Value assert_airplane_mode_status(ToolScope& self, Arguments arguments) {
  return equal(Phone(self.db).setting("airplane_mode"), arguments[0]);
}

Value assert_service_status(ToolScope& self, Arguments arguments) {
  if (!arguments[0].is_str() || !network_statuses().find_value(arguments[0].as_str()))
    throw PythonError(python::repr(arguments[0]) + " is not a valid NetworkStatus");
  return equal(Phone(self.db).setting("network_connection_status"), arguments[0]);
}

Value assert_mobile_data_status(ToolScope& self, Arguments arguments) {
  return equal(Phone(self.db).mobile_data_works(), arguments[0]);
}

Value assert_mobile_roaming_status(ToolScope& self, Arguments arguments) {
  return equal(Phone(self.db).setting("roaming_enabled"), arguments[0]);
}

Value assert_mobile_data_saver_mode_status(ToolScope& self, Arguments arguments) {
  return equal(Phone(self.db).setting("data_saver_mode"), arguments[0]);
}

Value assert_internet_speed(ToolScope& self, Arguments arguments) {
  const std::optional<Speed> measured = Phone(self.db).speed();
  const Speed speed = measured.value_or(Speed{0.0, "No Connection"});
  if (!python::greater_equal(speed.mbps, arguments[0])) return false;
  return arguments[1].is_none() ||
         equal(python::lower(arguments[1]), python::lower_text(speed.description));
}

Value assert_internet_not_excellent(ToolScope& self, Arguments) {
  const std::optional<Speed> speed = Phone(self.db).speed();
  return !speed || speed->description != "Excellent";
}

Value assert_can_send_mms(ToolScope& self, Arguments arguments) {
  return equal(Phone(self.db).can_send_mms(), arguments[0]);
}

Value assert_mobile_data_usage_exceeded(ToolScope& self, Arguments arguments) {
  return equal(Phone(self.db).around("mobile_data_usage_exceeded"), arguments[0]);
}

Tool changes(std::string name, ToolFunction run, std::vector<Parameter> parameters = {}) {
  return {std::move(name), "", ToolType::Write, true, std::move(parameters), run};
}
Tool asserts(std::string name, ToolFunction run, std::vector<Parameter> parameters = {}) {
  return {std::move(name), "", ToolType::Read, false, std::move(parameters), run};
}

Parameter text(std::string name) {
  return {std::move(name), type::str(), {}, ""};
}
Parameter flag(std::string name) {
  return {std::move(name), type::boolean(), {}, ""};
}

std::vector<Tool> changing_functions() {
  const Parameter mms{"mms_over_wifi", type::optional(type::boolean()), Value(), ""};
  return {
      changes("set_user_info", set_user_info, {text("name"), text("phone_number")}),
      changes("set_user_location", set_user_location, {flag("abroad")}),
      changes("turn_airplane_mode_on", turn_airplane_mode_on),
      changes("turn_airplane_mode_off", turn_airplane_mode_off),
      changes("unseat_sim_card", unseat_sim_card),
      changes("lock_sim_card", lock_sim_card, {{"mode", type::literal({"pin", "puk"}), {}, ""}}),
      changes("turn_data_on", turn_data_on),
      changes("turn_data_off", turn_data_off),
      changes("turn_roaming_on", turn_roaming_on),
      changes("turn_roaming_off", turn_roaming_off),
      changes("turn_data_saver_mode_on", turn_data_saver_mode_on),
      changes("turn_data_saver_mode_off", turn_data_saver_mode_off),
      changes("break_apn_settings", break_apn_settings),
      changes("break_apn_mms_setting", break_apn_mms_setting),
      changes("set_wifi_calling", set_wifi_calling, {flag("enabled"), mms}),
      changes("break_vpn", break_vpn),
      changes("remove_app_permission", remove_app_permission,
              {text("app_name"), text("permission")}),
      changes("simulate_network_search", simulate_network_search)};
}

std::vector<Tool> asserting_functions() {
  const Parameter expected = flag("expected_status");
  const Parameter speed{"expected_speed", type::number(), {}, ""};
  const Parameter description{"expected_desc", type::optional(type::str()), Value(), ""};
  return {
      asserts("assert_airplane_mode_status", assert_airplane_mode_status, {expected}),
      asserts("assert_service_status", assert_service_status, {text("expected_status")}),
      asserts("assert_mobile_data_status", assert_mobile_data_status, {expected}),
      asserts("assert_mobile_roaming_status", assert_mobile_roaming_status, {expected}),
      asserts("assert_mobile_data_saver_mode_status", assert_mobile_data_saver_mode_status,
              {expected}),
      asserts("assert_internet_speed", assert_internet_speed, {speed, description}),
      asserts("assert_internet_not_excellent", assert_internet_not_excellent),
      asserts("assert_can_send_mms", assert_can_send_mms, {expected}),
      asserts("assert_mobile_data_usage_exceeded", assert_mobile_data_usage_exceeded, {expected})};
}

}  // namespace

std::vector<Tool> phone_functions() {
  std::vector<Tool> functions = changing_functions();
  for (Tool& function : asserting_functions()) functions.push_back(std::move(function));
  return functions;
}

}  // namespace unmask::telecom
