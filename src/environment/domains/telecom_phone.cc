#include "environment/domains/telecom_phone.h"

#include <array>

#include "environment/domains/telecom_phone_state.h"
#include "environment/python.h"

namespace unmask::telecom {

using python::attribute;
using python::equal;
using python::truthy;

const Value& Phone::setting(std::string_view field) const {
  return attribute(attribute(db_, "device"), field);
}

bool Phone::on(std::string_view field) const {
  return truthy(setting(field));
}

void Phone::set(std::string_view field, Value value) {
  python::edit_attribute(db_, "device").set(field, std::move(value));
}

bool Phone::toggle(std::string_view field) {
  const bool state = !on(field);
  set(field, state);
  return state;
}

const Value& Phone::around(std::string_view field) const {
  return attribute(attribute(db_, "surroundings"), field);
}

bool Phone::is(std::string_view field) const {
  return truthy(around(field));
}

void Phone::set_around(std::string_view field, Value value) {
  python::edit_attribute(db_, "surroundings").set(field, std::move(value));
}

const Value& Phone::apn(std::string_view field) const {
  return attribute(setting("active_apn_settings"), field);
}

void Phone::set_apn(std::string_view field, Value value) {
  attribute(setting("active_apn_settings"), field);
  python::edit_attribute(db_, "device").edit("active_apn_settings").set(field, std::move(value));
}

namespace {

const char* signal_text(const Value& strength) {
  constexpr std::array<std::pair<const char*, const char*>, 4> kTexts{
      {{"poor", "📶¹ Poor"},
       {"fair", "📶² Fair"},
       {"good", "📶³ Good"},
       {"excellent", "📶⁴ Excellent"}}};
  for (const auto& [value, text] : kTexts)
    if (equal(strength, value)) return text;
  return "📵 No Signal";
}

}  // namespace

std::string Phone::status_bar() const {
  std::string bar;
  const auto show = [&](const std::string& indicator) {
    if (!bar.empty()) bar += " | ";
    bar += indicator;
  };
  if (on("airplane_mode")) {
    show("✈️ Airplane Mode");
  } else {
    const Value& technology = setting("network_technology_connected");
    const bool connected = !equal(technology, "none");
    show(signal_text(setting("network_signal_strength")));
    if (connected) show(technology.as_str());
    const bool data = connected && on("data_enabled");
    show(data ? "📱 Data Enabled" : "📵 Data Disabled");
    if (data && on("data_saver_mode")) show("🔽 Data Saver");
  }
  if (on("wifi_enabled") && on("wifi_connected"))
    show(on("wifi_ssid") ? "📡 Connected to " + python::str(setting("wifi_ssid")) : "📡 Enabled");
  if (on("vpn_connected")) show("🔒 VPN Connected");
  show("🔋 " + python::str(setting("battery_level")) + "%");
  return bar;
}

Value Phone::sim_status() const {
  return on("sim_card_missing") ? sim_statuses()("MISSING") : setting("sim_card_status");
}

Value Phone::signal_of(std::string_view technology) const {
  const Value* signal = around("signal_strength").find(technologies()(technology).as_str());
  return signal ? *signal : signal_strengths()("NONE");
}

void Phone::join(std::string_view technology) {
  set("network_connection_status", network_statuses()("CONNECTED"));
  set("network_technology_connected", technologies()(technology));
  set("network_signal_strength", signal_of(technology));
}

void Phone::lose_network() {
  set("network_connection_status", network_statuses()("NO_SERVICE"));
  set("network_technology_connected", technologies()("NONE"));
  set("network_signal_strength", signal_strengths()("NONE"));
}

void Phone::search_network() {
  const Value& mode = setting("network_mode_preference");
  if (!equal(sim_status(), "active"))
    lose_network();
  else if (equal(mode, "4g_5g_preferred"))
    join(equal(signal_of("FIVE_G"), "none") ? "FOUR_G" : "FIVE_G");
  else if (equal(mode, "3g_only"))
    join("THREE_G");
  else if (equal(mode, "2g_only"))
    join("TWO_G");
  else  // 4g_only, and whatever else a call has put there
    join("FOUR_G");
  if (on("airplane_mode")) lose_network();
  if (equal(apn("apn_name"), "broken")) lose_network();
  if (!is("line_active")) lose_network();
}

bool Phone::mobile_data_works() const {
  if (on("airplane_mode") || equal(setting("network_signal_strength"), "none")) return false;
  if (equal(setting("network_connection_status"), "no_service")) return false;
  if (is("is_abroad") && !(on("roaming_enabled") && is("roaming_allowed"))) return false;
  return on("data_enabled") && !is("mobile_data_usage_exceeded");
}

namespace {

// What a technology reaches at best and at worst, Mbit/s.
struct Range {
  const char* technology;
  double slowest;
  double fastest;
};
constexpr Range kRanges[] = {
    {"2G", 0.1, 0.4}, {"3G", 1.0, 5.0}, {"4G", 10.0, 100.0}, {"5G", 50.0, 500.0}};

double middle_speed(const Value& technology) {
  for (const Range& range : kRanges)
    if (equal(technology, range.technology)) return (range.slowest + range.fastest) / 2.0;
  return 0.0;
}

double signal_factor(const Value& strength) {
  constexpr std::pair<const char*, double> kFactors[] = {
      {"poor", 0.2}, {"fair", 0.5}, {"good", 0.8}, {"excellent", 1.0}};
  for (const auto& [value, factor] : kFactors)
    if (equal(strength, value)) return factor;
  return 0.0;
}

const char* speed_description(double mbps) {
  constexpr std::pair<double, const char*> kBelow[] = {
      {1, "Very Poor"}, {5, "Poor"}, {25, "Fair"}, {100, "Good"}};
  for (const auto& [limit, description] : kBelow)
    if (mbps < limit) return description;
  return "Excellent";
}

}  // namespace

std::optional<Speed> Phone::speed() const {
  if (!mobile_data_works()) return std::nullopt;
  const Value& vpn = setting("vpn_details");
  const bool slowed =
      on("vpn_connected") && truthy(vpn) && equal(attribute(vpn, "server_performance"), "poor");
  double factor = slowed ? 0.1 : 1.0;
  if (on("data_saver_mode")) factor *= 0.2;
  const double mbps =
      python::round_float(middle_speed(setting("network_technology_connected")) *
                              signal_factor(setting("network_signal_strength")) * factor,
                          2);
  return Speed{mbps, speed_description(mbps)};
}

bool Phone::can_send_mms() const {
  if (!mobile_data_works()) return false;
  if (equal(setting("network_technology_connected"), "2G")) return false;
  if (on("wifi_calling_enabled") && on("wifi_calling_mms_over_wifi")) return false;
  if (apn("mmsc_url").is_none()) return false;
  const Value* messaging = app("messaging");
  if (!messaging) return false;
  const Value& permissions = attribute(*messaging, "permissions");
  return truthy(attribute(permissions, "storage")) && truthy(attribute(permissions, "sms"));
}

void Phone::drop_wifi() {
  set("wifi_connected", false);
  set("wifi_ssid", Value());
  set("wifi_signal_strength", signal_strengths()("NONE"));
}

bool Phone::toggle_airplane_mode() {
  const bool now_on = toggle("airplane_mode");
  if (now_on) {
    drop_wifi();
    disconnect_vpn();
  } else {
    set("network_connection_status", network_statuses()("SEARCHING"));
    if (on("wifi_enabled")) drop_wifi();
  }
  search_network();
  return now_on;
}

bool Phone::connect_vpn(const Value& details) {
  if (on("vpn_connected")) return false;
  set("vpn_connected", true);
  set("vpn_details", details);
  return true;
}

bool Phone::disconnect_vpn() {
  if (!on("vpn_connected")) return false;
  set("vpn_connected", false);
  set("vpn_details", Value());
  return true;
}

const Value* Phone::app(const Value& name) const {
  return python::lookup(setting("app_statuses"), name);
}

void Phone::permit(const Value& app_name, std::string_view permission, bool granted) {
  Value& apps = python::edit_attribute(db_, "device").edit("app_statuses");
  apps.edit(app_name.as_str()).edit("permissions").set(permission, granted);
}

}  // namespace unmask::telecom
