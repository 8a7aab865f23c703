// What the user can do with the phone.
#include "environment/domains/telecom_user_tools.h"

#include "environment/domains/telecom.h"
#include "environment/domains/telecom_phone.h"
#include "environment/domains/telecom_phone_state.h"
#include "environment/python.h"

namespace unmask {

namespace telecom {

namespace {

using python::attribute;
using python::str;

std::string with_status_bar(const Phone& phone, const std::string& text) {
  return text + "\nStatus Bar: " + phone.status_bar();
}

const char* on_or_off(bool on) {
  return on ? "ON" : "OFF";
}
const char* yes_or_no(bool yes) {
  return yes ? "Yes" : "No";
}

// enum.value, where a call may have put something that is no enumerator.
const std::string& value_of(const Value& v) {
  if (v.kind() != Kind::Enum) python::raise_attribute_error(v, "value");
  return v.as_str();
}

std::string or_not_set(const Value& text) {
  return python::truthy(text) ? str(text) : "Not Set";
}

Value check_status_bar(ToolScope& self, Arguments) {
  return "Status Bar: " + Phone(self.db).status_bar();
}

Value check_network_status(ToolScope& self, Arguments) {
  const Phone phone(self.db);
  std::string out;
  const auto line = [&](const char* label, const std::string& value) {
    out += (out.empty() ? "" : "\n") + std::string(label) + ": " + value;
  };
  line("Airplane Mode", on_or_off(phone.on("airplane_mode")));
  line("SIM Card Status", value_of(phone.sim_status()));
  line("Cellular Connection", value_of(phone.setting("network_connection_status")));
  line("Cellular Signal", value_of(phone.setting("network_signal_strength")));
  line("Cellular Network Type", value_of(phone.setting("network_technology_connected")));
  line("Mobile Data Enabled", yes_or_no(phone.on("data_enabled")));
  line("Data Roaming Enabled", yes_or_no(phone.on("roaming_enabled")));
  line("Wi-Fi Radio", on_or_off(phone.on("wifi_enabled")));
  line("Wi-Fi Connected", yes_or_no(phone.on("wifi_connected")));
  if (phone.on("wifi_connected")) line("Connected Wi-Fi Network", str(phone.setting("wifi_ssid")));
  return out;
}

Value check_network_mode_preference(ToolScope& self, Arguments) {
  return "Network Mode Preference: " + value_of(Phone(self.db).setting("network_mode_preference"));
}

// What is no text is taken as it is; a mode that is None counts as no valid one afterwards.
Value set_network_mode_preference(ToolScope& self, Arguments arguments) {
  Phone phone(self.db);
  const Value& given = arguments[0];
  Value mode = given;
  if (given.is_str()) {
    const EnumMember* member = network_modes().find_value(given.as_str());
    mode = member ? Value(*member) : Value();
  }
  if (!given.is_str() || !mode.is_none()) {
    phone.set("network_mode_preference", mode);
    phone.search_network();
  }
  if (!mode.is_none())
    return with_status_bar(phone, "Preferred Network Mode set to: " + value_of(mode));
  std::string valid;
  for (const EnumMember& member : network_modes().members)
    valid += (valid.empty() ? "" : ", ") + member.value;
  return with_status_bar(phone, "Failed to set network mode: '" + str(given) +
                                    "' is not a valid option. Please use one of: " + valid);
}

Value run_speed_test(ToolScope& self, Arguments) {
  constexpr std::pair<const char*, const char*> kAdvice[] = {
      {"Very Poor", "Connection is very slow. Basic web browsing might be difficult."},
      {"Poor", "Connection is slow. Web browsing may be sluggish, streaming difficult."},
      {"Fair", "Connection is okay for web browsing and some standard definition streaming."},
      {"Good", "Connection is good for most activities, including HD streaming."},
      {"Excellent", "Connection is very fast."}};
  const std::optional<Speed> speed = Phone(self.db).speed();
  if (!speed) return "Speed test failed: No Connection.";
  std::string out = "Speed Test Result: " + python::fixed(speed->mbps, 2) + " Mbps (" +
                    speed->description + "). ";
  for (const auto& [description, advice] : kAdvice)
    if (speed->description == description) out += advice;
  return out;
}

Value toggle_airplane_mode(ToolScope& self, Arguments) {
  Phone phone(self.db);
  const bool on = phone.toggle_airplane_mode();
  return with_status_bar(phone, std::string("Airplane Mode is now ") + on_or_off(on) + ".");
}

Value check_sim_status(ToolScope& self, Arguments) {
  constexpr std::pair<const char*, const char*> kTexts[] = {
      {"active", "Your SIM card is active and working."},
      {"missing", "No SIM card detected in the phone."},
      {"locked_pin", "The SIM card is locked with a PIN code."},
      {"locked_puk", "The SIM card is locked with a PUK code."}};
  const Value status = Phone(self.db).sim_status();
  for (const auto& [value, text] : kTexts)
    if (python::equal(status, value)) return text;
  return "Unknown SIM status: " + value_of(status);
}

// An assert statement without a message.
void require(bool condition) {
  if (!condition) throw PythonError("", "AssertionError");
}

Value reseat_sim_card(ToolScope& self, Arguments) {
  Phone phone(self.db);
  phone.set("sim_card_missing", false);
  phone.search_network();
  require(!python::equal(phone.sim_status(), "missing"));
  return with_status_bar(phone, "SIM card re-seated successfully.");
}

Value toggle_data(ToolScope& self, Arguments) {
  Phone phone(self.db);
  const bool on = phone.toggle("data_enabled");
  phone.search_network();
  return with_status_bar(phone, std::string("Mobile Data is now ") + on_or_off(on) + ".");
}

Value toggle_roaming(ToolScope& self, Arguments) {
  Phone phone(self.db);
  const bool on = phone.toggle("roaming_enabled");
  phone.search_network();
  return with_status_bar(phone, std::string("Data Roaming is now ") + on_or_off(on) + ".");
}

Value check_data_restriction_status(ToolScope& self, Arguments) {
  return Phone(self.db).on("data_saver_mode") ? "Data Saver mode is ON (limits data usage)."
                                              : "Data Saver mode is OFF.";
}

Value toggle_data_saver_mode(ToolScope& self, Arguments) {
  Phone phone(self.db);
  const bool on = phone.toggle("data_saver_mode");
  return with_status_bar(phone, std::string("Data Saver Mode is now ") + on_or_off(on) + ".");
}

Value check_apn_settings(ToolScope& self, Arguments) {
  const Phone phone(self.db);
  const Value& settings = phone.setting("active_apn_settings");
  if (!settings.is_model()) python::raise_attribute_error(settings, "model_copy");
  const std::string& name = value_of(attribute(settings, "apn_name"));
  return "Current APN Name: " + or_not_set(name) +
         "\nMMSC URL (for picture messages): " + or_not_set(attribute(settings, "mmsc_url")) +
         "\n(These are technical settings, usually best left unchanged.)";
}

// Settings that are no dict are taken as they are, and only then found to be none.
Value set_apn_settings(ToolScope& self, Arguments arguments) {
  Phone phone(self.db);
  const Value& given = arguments[0];
  phone.set("active_apn_settings",
            given.is_dict() ? validated(apn_settings_class(), given) : given);
  const std::string text = "APN settings set to: " + value_of(phone.apn("apn_name"));
  phone.search_network();
  return with_status_bar(phone, text);
}

Value reset_apn_settings(ToolScope& self, Arguments) {
  Phone phone(self.db);
  phone.set_apn("reset_at_reboot", true);
  phone.search_network();
  return with_status_bar(phone, "APN settings will reset at reboot.");
}

Value check_wifi_status(ToolScope& self, Arguments) {
  const Phone phone(self.db);
  if (!phone.on("wifi_enabled")) return "Wi-Fi is turned OFF.";
  if (!phone.on("wifi_connected")) return "Wi-Fi is ON but not connected to any network.";
  return "Wi-Fi is ON and connected to '" + str(phone.setting("wifi_ssid")) +
         "'. Signal strength: " + value_of(phone.setting("wifi_signal_strength")) + ".";
}

Value toggle_wifi(ToolScope& self, Arguments) {
  Phone phone(self.db);
  if (phone.on("airplane_mode"))
    return with_status_bar(phone, "Cannot change Wi-Fi settings while Airplane Mode is ON.");
  const bool on = phone.toggle("wifi_enabled");
  if (!on) phone.drop_wifi();
  return with_status_bar(phone, std::string("Wi-Fi is now ") + on_or_off(on) + ".");
}

Value check_wifi_calling_status(ToolScope& self, Arguments) {
  return std::string("Wi-Fi Calling is currently turned ") +
         on_or_off(Phone(self.db).on("wifi_calling_enabled")) + ".";
}

Value toggle_wifi_calling(ToolScope& self, Arguments) {
  Phone phone(self.db);
  const bool on = phone.toggle("wifi_calling_enabled");
  return with_status_bar(phone, std::string("Wi-Fi Calling is now ") + on_or_off(on) + ".");
}

Value check_vpn_status(ToolScope& self, Arguments) {
  const Phone phone(self.db);
  if (phone.on("vpn_connected")) {
    const Value& details = phone.setting("vpn_details");
    return python::truthy(details) ? "VPN is ON and connected. Details: " + str(dumped(details))
                                   : "VPN is ON and connected (no specific details available).";
  }
  return phone.on("vpn_enabled_setting")
             ? "VPN is turned ON in settings, but currently not connected."
             : "VPN is turned OFF.";
}

Value connect_vpn(ToolScope& self, Arguments) {
  Phone phone(self.db);
  if (!phone.connect_vpn(next_vpn(self))) return "VPN already connected.";
  return with_status_bar(phone, "VPN connected successfully.");
}

Value disconnect_vpn(ToolScope& self, Arguments) {
  Phone phone(self.db);
  return phone.disconnect_vpn() ? with_status_bar(phone, "VPN disconnected successfully.")
                                : with_status_bar(phone, "No active VPN connection to disconnect.");
}

Value check_installed_apps(ToolScope& self, Arguments) {
  const Value& apps = Phone(self.db).setting("app_statuses");
  std::string names;
  for (std::size_t i = 0; i < apps.size(); ++i) names += (i ? ", " : "") + apps.key(i);
  return "The following apps are installed on the phone: " + names;
}

std::vector<std::string> granted_permissions(const Value& app) {
  const Value& permissions = attribute(app, "permissions");
  std::vector<std::string> names;
  for (std::size_t i = 0; i < permissions.size(); ++i)
    if (python::truthy(permissions[i])) names.push_back(permissions.key(i));
  return names;
}

std::string not_on_this_phone(const Value& app_name) {
  return "App '" + str(app_name) + "' not found on this phone.";
}

Value check_app_status(ToolScope& self, Arguments arguments) {
  const Value* app = Phone(self.db).app(arguments[0]);
  if (!app) return not_on_this_phone(arguments[0]);
  const std::vector<std::string> granted = granted_permissions(*app);
  std::string out = "Status for App: " + str(arguments[0]);
  out += granted.empty() ? "\n - Permissions: None granted." : "\n - Permissions Granted:";
  for (const std::string& name : granted) out += "\n   - " + name;
  return out;
}

Value check_app_permissions(ToolScope& self, Arguments arguments) {
  const Value* app = Phone(self.db).app(arguments[0]);
  if (!app) return not_on_this_phone(arguments[0]);
  const std::vector<std::string> granted = granted_permissions(*app);
  const std::string name = "App '" + str(arguments[0]) + "'";
  if (granted.empty()) return name + " currently has no permissions granted.";
  std::string list;
  for (const std::string& each : granted) list += (list.empty() ? "" : ", ") + each;
  return name + " has permission for: " + list + ".";
}

Value grant_app_permission(ToolScope& self, Arguments arguments) {
  Phone phone(self.db);
  const Value& name = arguments[0];
  const Value* app = phone.app(name);
  const std::string permission = python::lower(arguments[1]).as_str();
  const auto refused = [&](const std::string& why) {
    return with_status_bar(phone, "Error. " + why);
  };
  if (!app) return refused("App '" + str(name) + "' not found. Cannot grant permission.");
  const Value& permissions = attribute(*app, "permissions");
  if (!permissions.find(permission)) {
    std::vector<Value> known;
    for (std::size_t i = 0; i < permissions.size(); ++i) known.emplace_back(permissions.key(i));
    return refused("Permission '" + permission + "' not tracked for app '" + str(name) +
                   "', available permissions: " + str(Value::list(std::move(known))));
  }
  phone.permit(name, permission, true);
  return with_status_bar(
      phone, "Success. Permission '" + permission + "' granted to app '" + str(name) + "'.");
}

Value can_send_mms(ToolScope& self, Arguments) {
  return Phone(self.db).can_send_mms() ? "Your messaging app can send MMS messages."
                                       : "Your messaging app cannot send MMS messages.";
}

Value reboot_device(ToolScope& self, Arguments) {
  Phone phone(self.db);
  std::string text;
  if (python::truthy(phone.apn("reset_at_reboot"))) {
    text = "Resetting APN settings...\n";
    phone.set("active_apn_settings", construct(apn_settings_class(), {}));
  }
  text += "Restarting network services...";
  phone.set("network_connection_status", network_statuses()("SEARCHING"));
  phone.search_network();
  return with_status_bar(phone, text);
}

Value check_payment_request(ToolScope& self, Arguments) {
  const Value& request = Phone(self.db).around("payment_request");
  if (request.is_none()) return "No payment request has been made.";
  return "You have a payment request for bill " + str(attribute(request, "bill_id")) + " of " +
         str(attribute(request, "amount_due")) + " USD.";
}

Value make_payment(ToolScope& self, Arguments) {
  Phone phone(self.db);
  Value request = phone.around("payment_request");
  if (request.is_none()) return "You do not have a payment request.";
  request.set("paid", true);
  phone.set_around("payment_request", request);
  return "Payment of " + str(attribute(request, "amount_due")) + " USD has been made for bill " +
         str(attribute(request, "bill_id")) + ".";
}

Tool reads(std::string name, std::string description, ToolFunction run,
           std::vector<Parameter> parameters = {}) {
  return {std::move(name), std::move(description), ToolType::Read,
          false,           std::move(parameters),  run};
}
Tool writes(std::string name, std::string description, ToolFunction run,
            std::vector<Parameter> parameters = {}) {
  return {
      std::move(name), std::move(description), ToolType::Write, true, std::move(parameters), run};
}

std::vector<Tool> network_tools() {
  const FieldType mode = type::one_of({type::enumeration(network_modes()), type::str()});
  return {
      reads("check_status_bar", "Shows the phone's status bar.", check_status_bar),
      reads("check_network_status",
            "Shows the connections of the phone: airplane mode, SIM card, signal, network, "
            "data, roaming and Wi-Fi.",
            check_network_status),
      reads("check_network_mode_preference", "Shows which kind of network the phone prefers.",
            check_network_mode_preference),
      writes("set_network_mode_preference", "Sets which kind of network the phone prefers.",
             set_network_mode_preference, {{"mode", mode, {}, "The kind of network."}}),
      reads("run_speed_test", "Measures how fast the mobile internet is.", run_speed_test),
      writes("toggle_airplane_mode", "Turns airplane mode on or off.", toggle_airplane_mode),
      reads("check_sim_status", "Shows whether the SIM card works, is missing or locked.",
            check_sim_status),
      writes("reseat_sim_card", "Takes the SIM card out and puts it back.", reseat_sim_card),
      writes("toggle_data", "Turns mobile data on or off.", toggle_data),
      writes("toggle_roaming", "Turns data roaming on or off.", toggle_roaming),
      reads("check_data_restriction_status", "Shows whether the data saver is on.",
            check_data_restriction_status),
      writes("toggle_data_saver_mode", "Turns the data saver on or off.", toggle_data_saver_mode)};
}

std::vector<Tool> connection_tools() {
  const FieldType settings = type::one_of({type::model(apn_settings_class()), type::dict()});
  return {
      reads("check_apn_settings", "Shows the access point the phone uses.", check_apn_settings),
      writes("set_apn_settings", "Sets the access point the phone uses.", set_apn_settings,
             {{"apn_settings", settings, {}, "The new settings."}}),
      writes("reset_apn_settings", "Has the access point set back at the next restart.",
             reset_apn_settings),
      reads("check_wifi_status", "Shows whether Wi-Fi is on and connected.", check_wifi_status),
      writes("toggle_wifi", "Turns Wi-Fi on or off.", toggle_wifi),
      reads("check_wifi_calling_status", "Shows whether calls may go over Wi-Fi.",
            check_wifi_calling_status),
      writes("toggle_wifi_calling", "Turns calls over Wi-Fi on or off.", toggle_wifi_calling),
      reads("check_vpn_status", "Shows whether a VPN is connected, and which.", check_vpn_status),
      writes("connect_vpn", "Connects the VPN.", connect_vpn),
      writes("disconnect_vpn", "Ends the VPN connection.", disconnect_vpn)};
}

std::vector<Tool> app_tools() {
  const Parameter app{"app_name", type::str(), {}, "Which app."};
  const Parameter permission{"permission", type::str(), {}, "Which permission, in lower case."};
  return {reads("check_installed_apps", "Lists the apps on the phone.", check_installed_apps),
          reads("check_app_status", "Shows an app and what it may do.", check_app_status, {app}),
          reads("check_app_permissions", "Shows what an app may do.", check_app_permissions, {app}),
          writes("grant_app_permission", "Lets an app do something.", grant_app_permission,
                 {app, permission}),
          reads("can_send_mms", "Shows whether picture messages can be sent.", can_send_mms),
          writes("reboot_device", "Restarts the phone.", reboot_device),
          reads("check_payment_request", "Shows whether you are asked to pay a bill.",
                check_payment_request),
          writes("make_payment", "Pays the bill you are asked to pay.", make_payment)};
}

}  // namespace

const Value& next_vpn(const ToolScope& self) {
  return self.class_state.is_none() ? usual_vpn() : self.class_state;
}

std::vector<Tool> phone_tools() {
  std::vector<Tool> tools = network_tools();
  for (Tool& tool : connection_tools()) tools.push_back(std::move(tool));
  for (Tool& tool : app_tools()) tools.push_back(std::move(tool));
  return tools;
}

}  // namespace telecom

const Toolkit* telecom_user_tools() {
  static const Toolkit kTools{"TelecomUserTools", telecom::phone_tools(),
                              telecom::phone_functions()};
  return &kTools;
}

}  // namespace unmask
