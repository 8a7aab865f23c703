#include "environment/domains/telecom_phone_state.h"

namespace unmask::telecom {

namespace {

Field flag(std::string name, bool fallback) {
  return {std::move(name), type::boolean(), Value(fallback)};
}
Field nullable(std::string name, FieldType kind, Value fallback = Value()) {
  return {std::move(name), type::optional(std::move(kind)), std::move(fallback)};
}
Field choice(std::string name, const EnumClass& choices, std::string_view fallback) {
  return {std::move(name), type::enumeration(choices), choices(fallback)};
}

// An instance with all fields at their defaults.
Value fresh(const ModelClass& model_class) {
  return construct(model_class, {});
}
Field nested(std::string name, const ModelClass& model_class) {
  return {std::move(name), type::model(model_class), fresh(model_class)};
}

const ModelClass& vpn_details_class() {
  static const ModelClass kClass(
      "VpnDetails",
      {nullable("server_address", type::str()), nullable("protocol", type::str()),
       choice("server_performance", performance_levels(), "UNKNOWN")},
      ExtraFields::Forbidden);
  return kClass;
}

const ModelClass& permissions_class() {
  static const ModelClass kClass(
      "AppPermissions",
      {flag("sms", false), flag("storage", false), flag("phone", false), flag("network", false)},
      ExtraFields::Forbidden);
  return kClass;
}

const ModelClass& app_class() {
  static const ModelClass kClass(
      "AppStatus", {{"app_name", type::str(), {}}, nested("permissions", permissions_class())},
      ExtraFields::Forbidden);
  return kClass;
}

Value installed_apps() {
  const auto app = [](const char* name, std::vector<std::pair<std::string, Value>> granted) {
    return construct(app_class(),
                     {{"app_name", name}, {"permissions", Value::dict(std::move(granted))}});
  };
  return Value::dict(
      {{"messaging", app("messaging", {{"sms", true}, {"storage", true}, {"phone", true}})},
       {"browser", app("browser", {{"network", true}, {"storage", true}})}});
}

const ModelClass& device_class() {
  static const ModelClass kClass(
      "MockPhoneAttributes",
      {choice("sim_card_status", sim_statuses(), "ACTIVE"),
       flag("sim_card_missing", false),
       flag("airplane_mode", false),
       choice("network_signal_strength", signal_strengths(), "GOOD"),
       choice("network_technology_connected", technologies(), "FIVE_G"),
       choice("network_connection_status", network_statuses(), "CONNECTED"),
       {"battery_level", type::integer(), Value(80)},
       flag("data_enabled", true),
       flag("roaming_enabled", false),
       choice("network_mode_preference", network_modes(), "FOUR_G_5G_PREFERRED"),
       nested("active_apn_settings", apn_settings_class()),
       flag("wifi_enabled", false),
       flag("wifi_connected", false),
       nullable("wifi_ssid", type::str()),
       choice("wifi_signal_strength", signal_strengths(), "NONE"),
       flag("wifi_calling_enabled", false),
       flag("wifi_calling_mms_over_wifi", false),
       flag("data_saver_mode", false),
       flag("vpn_enabled_setting", false),
       flag("vpn_connected", false),
       nullable("vpn_details", type::model(vpn_details_class())),
       {"app_statuses", type::dict(type::str(), type::model(app_class())), installed_apps()}},
      ExtraFields::Forbidden);
  return kClass;
}

Value usual_signals() {
  Value signals = Value::dict();
  const auto set = [&](std::string_view technology, std::string_view strength) {
    signals.set(technologies()(technology).as_str(), signal_strengths()(strength));
  };
  set("TWO_G", "POOR");
  set("THREE_G", "FAIR");
  set("FOUR_G", "GOOD");
  set("FIVE_G", "EXCELLENT");
  return signals;
}

const ModelClass& surroundings_class() {
  static const ModelClass kClass(
      "UserSurroundings",
      {nullable("name", type::str()),
       nullable("phone_number", type::str()),
       flag("is_abroad", false),
       flag("roaming_allowed", false),
       {"signal_strength",
        type::dict(type::enumeration(technologies()), type::enumeration(signal_strengths())),
        usual_signals()},
       flag("mobile_data_usage_exceeded", false),
       flag("line_active", true),
       nullable("payment_request", type::model(payment_request_class()))},
      ExtraFields::Forbidden);
  return kClass;
}

}  // namespace

const EnumClass& sim_statuses() {
  static const EnumClass kClass("SimStatus", {{"ACTIVE", "active"},
                                              {"MISSING", "missing"},
                                              {"LOCKED_PIN", "locked_pin"},
                                              {"LOCKED_PUK", "locked_puk"}});
  return kClass;
}

const EnumClass& technologies() {
  static const EnumClass kClass(
      "NetworkTechnology",
      {{"NONE", "none"}, {"TWO_G", "2G"}, {"THREE_G", "3G"}, {"FOUR_G", "4G"}, {"FIVE_G", "5G"}});
  return kClass;
}

const EnumClass& network_modes() {
  static const EnumClass kClass("NetworkModePreference",
                                {{"FOUR_G_5G_PREFERRED", "4g_5g_preferred"},
                                 {"FOUR_G_ONLY", "4g_only"},
                                 {"THREE_G_ONLY", "3g_only"},
                                 {"TWO_G_ONLY", "2g_only"}});
  return kClass;
}

const EnumClass& signal_strengths() {
  static const EnumClass kClass("SignalStrength", {{"NONE", "none"},
                                                   {"POOR", "poor"},
                                                   {"FAIR", "fair"},
                                                   {"GOOD", "good"},
                                                   {"EXCELLENT", "excellent"}});
  return kClass;
}

const EnumClass& performance_levels() {
  static const EnumClass kClass("PerformanceLevel", {{"UNKNOWN", "unknown"},
                                                     {"POOR", "poor"},
                                                     {"FAIR", "fair"},
                                                     {"GOOD", "good"},
                                                     {"EXCELLENT", "excellent"}});
  return kClass;
}

const EnumClass& network_statuses() {
  static const EnumClass kClass("NetworkStatus", {{"CONNECTED", "connected"},
                                                  {"SEARCHING", "searching"},
                                                  {"NO_SERVICE", "no_service"},
                                                  {"EMERGENCY_ONLY", "emergency_only"}});
  return kClass;
}

const EnumClass& apn_names() {
  static const EnumClass kClass("APNNames", {{"INTERNET", "internet"}, {"BROKEN", "broken"}});
  return kClass;
}

const ModelClass& apn_settings_class() {
  static const ModelClass kClass(
      "APNSettings",
      {choice("apn_name", apn_names(), "INTERNET"), flag("reset_at_reboot", false),
       nullable("mms_apn", type::str(), "mms"),
       nullable("mmsc_url", type::str(), "http://mms.carrier.com/mms/wapenc"),
       nullable("mms_proxy", type::str()), nullable("mms_port", type::integer())},
      ExtraFields::Forbidden);
  return kClass;
}

const ModelClass& payment_request_class() {
  static const ModelClass kClass(
      "PaymentRequest",
      {{"bill_id", type::str(), {}}, {"amount_due", type::number(), {}}, flag("paid", false)},
      ExtraFields::Forbidden);
  return kClass;
}

const ModelClass& user_database_class() {
  static const ModelClass kClass(
      "TelecomUserDB",
      {nested("device", device_class()), nested("surroundings", surroundings_class())},
      ExtraFields::Forbidden);
  return kClass;
}

const Value& usual_vpn() {
  static const Value kDetails =
      construct(vpn_details_class(), {{"server_address", "192.168.1.1"},
                                      {"protocol", "OpenVPN"},
                                      {"server_performance", performance_levels()("EXCELLENT")}});
  return kDetails;
}

}  // namespace unmask::telecom
