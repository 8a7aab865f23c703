// telecom on a small carrier of our own (tests/data/environment/tau2): ids and values that
// upstream's data does not have.
#include <gtest/gtest.h>

#include "environment/environment.h"
#include "environment/json.h"

namespace unmask {
namespace {

class Telecom : public testing::Test {
 protected:
  void SetUp() override { start("telecom", false); }

  void start(std::string_view name, bool solo) {
    const Result<DataFolder> data = DataFolder::open(UNMASK_TEST_DATA "/environment/tau2");
    ASSERT_TRUE(data) << to_string(data.error());
    const Result<std::shared_ptr<const Domain>> domain = load_domain(*data, name);
    ASSERT_TRUE(domain) << to_string(domain.error());
    Result<Environment> started = Environment::start(*domain, solo);
    ASSERT_TRUE(started) << to_string(started.error());
    world_ = std::make_unique<Environment>(std::move(*started));
  }

  std::string call(Side side, const std::string& name, const std::string& json) {
    return world_->respond({"", name, parse_json(json).value_or(Value::dict()), side}).content;
  }
  std::string agent(const std::string& name, const std::string& json = "{}") {
    return call(Side::Agent, name, json);
  }
  std::string user(const std::string& name, const std::string& json = "{}") {
    return call(Side::User, name, json);
  }

  // What a task's initialization does: "ok", or the exception.
  std::string prepare(const std::string& name, const std::string& json = "{}",
                      Side side = Side::User) {
    const Result<Value> done =
        world_->run_function({side, name, parse_json(json).value_or(Value::dict())});
    return done ? "ok" : to_string(done.error());
  }
  void hold_phone_of_ada() {
    ASSERT_EQ(prepare("set_user_info", R"({"name": "Ada Ruiz", "phone_number": "555-0171"})"),
              "ok");
  }

  bool holds(Side side, const std::string& name, const std::string& json) {
    EnvironmentAssertion assertion;
    assertion.side = side;
    assertion.name = name;
    assertion.arguments = parse_json(json).value_or(Value::dict());
    const Result<bool> met = world_->holds(assertion);
    EXPECT_TRUE(met) << to_string(met.error());
    return met && *met;
  }

  const Value& field(const Value& database, std::string_view list, std::size_t i,
                     std::string_view name) {
    return *database.find(list)->items()[i].find(name);
  }
  const Value& agent_field(std::string_view list, std::size_t i, std::string_view name) {
    return field(world_->world().agent_db(), list, i, name);
  }
  const Value& device(std::string_view name) {
    return *world_->world().user_db().find("device")->find(name);
  }

  std::unique_ptr<Environment> world_;
};

std::string bar(const std::string& text, const std::string& indicators) {
  return text + "\nStatus Bar: " + indicators + " | 🔋 61%";
}

// The hashes are those of Python's json.dumps(sort_keys=True) of the files read with tomllib, the
// defaults filled in by hand.
TEST_F(Telecom, HashesTheDatabasesWithTheirDefaults) {
  EXPECT_EQ(world_->agent_hash(),
            "fb0a1af58a002291f91fcb593383b5743d29b27b56a359e25737f31940b635c6");
  EXPECT_EQ(world_->user_hash(),
            "282240823e2c92246c153366f4cf3a9145e3bd3024db1c3e43b2caad17223046");
}

TEST_F(Telecom, FindsACustomerByTheirOwnAndByTheirLinesNumber) {
  const std::string ada = agent("get_customer_by_id", R"({"customer_id": "C70"})");
  EXPECT_NE(ada.find(R"("full_name": "Ada Ruiz")"), std::string::npos);
  EXPECT_EQ(agent("get_customer_by_phone", R"({"phone_number": "555-0170"})"), ada);
  EXPECT_EQ(agent("get_customer_by_phone", R"({"phone_number": "555-0172"})"), ada);
  EXPECT_EQ(agent("get_customer_by_name", R"({"full_name": "aDA ruiz", "dob": "1991-02-03"})"),
            "[" + ada + "]");
  EXPECT_EQ(agent("get_customer_by_name", R"({"full_name": "Ada Ruiz", "dob": "1991-02-04"})"),
            "[]");
  EXPECT_EQ(agent("get_customer_by_phone", R"({"phone_number": 5})"),
            "Error: Customer with phone number 5 not found");
  EXPECT_EQ(agent("get_customer_by_name", R"({"full_name": null, "dob": 1})"),
            "Error: 'NoneType' object has no attribute 'lower'");
}

TEST_F(Telecom, ShowsDetailsByTheFirstLetterOfAnId) {
  EXPECT_EQ(agent("get_details_by_id", R"({"id": "P8"})"),
            R"({"plan_id": "P8", "name": "Large", "data_limit_gb": 50.0, "price_per_month": 80.0, )"
            R"("data_refueling_price_per_gb": 1.5})");
  EXPECT_EQ(agent("get_details_by_id", R"({"id": "D70"})"),
            R"({"device_id": "D70", "device_type": "phone", "model": "Pebble", "imei": null, )"
            R"("is_esim_capable": true, "activated": false, )"
            R"("activation_date": "2024-06-01 08:00:00", "last_esim_transfer_date": null})");
  EXPECT_EQ(agent("get_details_by_id", R"({"id": "L9"})"), "Error: Line with ID L9 not found");
  EXPECT_EQ(agent("get_details_by_id", R"({"id": "x"})"), "Error: Unknown ID format or type: x");
  EXPECT_EQ(agent("get_details_by_id", R"({"id": [1]})"),
            "Error: 'list' object has no attribute 'startswith'");
}

TEST_F(Telecom, SuspendsOnlyActiveLinesAndResumesOthers) {
  EXPECT_EQ(agent("resume_line", R"({"customer_id": "C70", "line_id": "L71"})"),
            "Error: Line must be suspended to resume");
  EXPECT_NE(agent("suspend_line", R"({"customer_id": "C70", "line_id": "L71", "reason": "lost"})")
                .find(R"("status": "Suspended")"),
            std::string::npos);
  EXPECT_EQ(agent_field("lines", 0, "suspension_start_date").as_str(), "2025-02-25");
  EXPECT_EQ(agent("suspend_line", R"({"customer_id": "C70", "line_id": "L71", "reason": "lost"})"),
            "Error: Line must be active to suspend");
  agent("resume_line", R"({"customer_id": "C70", "line_id": "L71"})");
  EXPECT_TRUE(agent_field("lines", 0, "suspension_start_date").is_none());
  EXPECT_NE(agent("resume_line", R"({"customer_id": "C70", "line_id": "L72"})").find("resumed"),
            std::string::npos)
      << "a line that was never activated";
  EXPECT_EQ(agent("resume_line", R"({"customer_id": "C70", "line_id": "L81"})"),
            "Error: Line L81 not found for customer C70");
}

TEST_F(Telecom, ListsBillsNewestFirstUpToALimitAsPythonSlices) {
  const auto ids = [&](const std::string& limit) {
    const Result<Value> bills = parse_json(
        agent("get_bills_for_customer", R"({"customer_id": "C70", "limit": )" + limit + "}"));
    std::string out;
    if (!bills) return std::string("no JSON");
    for (const Value& bill : bills->items()) out += bill.find("bill_id")->as_str() + " ";
    return out;
  };
  EXPECT_EQ(ids("12"), "B702 B701 ");
  EXPECT_EQ(ids("null"), "B702 B701 ");
  EXPECT_EQ(ids("true"), "B702 ");
  EXPECT_EQ(ids("-1"), "B702 ");
  EXPECT_EQ(ids("-5"), "");
  EXPECT_EQ(ids("99999999999999999999"), "B702 B701 ");
  EXPECT_EQ(ids("-99999999999999999999"), "");
  EXPECT_EQ(agent("get_bills_for_customer", R"({"customer_id": "C70", "limit": 1.0})"),
            "Error: slice indices must be integers or None or have an __index__ method");
}

TEST_F(Telecom, ChargesARefuelToANewDraftBillOnceAndThenToTheSame) {
  EXPECT_EQ(agent("refuel_data", R"({"customer_id": "C70", "line_id": "L71", "gb_amount": 2})"),
            R"({"message": "Successfully added 2 GB of data for line L71 for $8.00", )"
            R"("new_data_refueling_gb": "2.0", "charge": "8.0"})");
  agent("refuel_data", R"({"customer_id": "C70", "line_id": "L72", "gb_amount": 0.5})");
  ASSERT_EQ(world_->world().agent_db().find("bills")->size(), 4u);
  EXPECT_EQ(agent("get_details_by_id", R"({"id": "B00000001"})"),
            R"({"bill_id": "B00000001", "customer_id": "C70", "period_start": "2025-03-01", )"
            R"("period_end": "2025-03-31", "issue_date": "2025-03-01", "total_due": 8.75, )"
            R"("due_date": "2025-03-15", "line_items": [)"
            R"({"description": "Data refueling: 2 GB at $4.0/GB", "amount": 8.0, )"
            R"("date": "2025-02-25", "item_type": "Charge"}, )"
            R"({"description": "Data refueling: 0.5 GB at $1.5/GB", "amount": 0.75, )"
            R"("date": "2025-02-25", "item_type": "Charge"}], "status": "Draft"})");
  agent("refuel_data", R"({"customer_id": "C80", "line_id": "L81", "gb_amount": 1})");
  EXPECT_EQ(world_->world().agent_db().find("bills")->size(), 4u) << "C80 has a draft bill";
  EXPECT_EQ(agent_field("bills", 2, "total_due").as_float(), 1.5);
}

TEST_F(Telecom, RefusesARefuelOfNothingOrOfNoNumber) {
  const std::string before = world_->agent_hash();
  EXPECT_EQ(agent("refuel_data", R"({"customer_id": "C70", "line_id": "L71", "gb_amount": 0})"),
            "Error: Refuel amount must be positive");
  EXPECT_EQ(agent("refuel_data", R"({"customer_id": "C70", "line_id": "L71", "gb_amount": "2"})"),
            "Error: '<=' not supported between instances of 'str' and 'int'");
  EXPECT_EQ(world_->agent_hash(), before);
}

TEST_F(Telecom, CarriesAPaymentFromTheAgentToTheUserAndBack) {
  hold_phone_of_ada();
  EXPECT_EQ(user("check_payment_request"), "No payment request has been made.");
  EXPECT_EQ(user("make_payment"), "You do not have a payment request.");
  EXPECT_EQ(agent("send_payment_request", R"({"customer_id": "C70", "bill_id": "B801"})"),
            "Error: Bill B801 not found for customer C70");
  EXPECT_EQ(agent("send_payment_request", R"({"customer_id": "C70", "bill_id": "B702"})"),
            "Payment request sent to the customer for bill B702");
  EXPECT_EQ(agent("send_payment_request", R"({"customer_id": "C70", "bill_id": "B701"})"),
            "Error: A bill is already awaiting payment for this customer");
  EXPECT_EQ(user("check_payment_request"), "You have a payment request for bill B702 of 34.5 USD.");
  EXPECT_EQ(user("make_payment"), "Payment of 34.5 USD has been made for bill B702.");
  EXPECT_EQ(agent_field("bills", 1, "status").as_str(), "Paid");
  EXPECT_EQ(user("check_payment_request"), "No payment request has been made.");
}

TEST_F(Telecom, StopsMobileDataWhenTheLineHasUsedItsOwnUntilItIsRefueled) {
  hold_phone_of_ada();
  EXPECT_TRUE(
      holds(Side::User, "assert_mobile_data_usage_exceeded", R"({"expected_status": false})"));
  ASSERT_EQ(prepare("set_data_usage",
                    R"({"customer_id": "C70", "line_id": "L71", "data_used_gb": 3})", Side::Agent),
            "ok");
  EXPECT_EQ(agent("get_data_usage", R"({"customer_id": "C70", "line_id": "L71"})"),
            R"({"line_id": "L71", "data_used_gb": "3", "data_limit_gb": "2.5", )"
            R"("data_refueling_gb": "0.0", "cycle_end_date": "2025-02-28"})");
  EXPECT_EQ(user("run_speed_test"), "Speed test failed: No Connection.");
  agent("refuel_data", R"({"customer_id": "C70", "line_id": "L71", "gb_amount": 1})");
  EXPECT_EQ(user("run_speed_test"),
            "Speed Test Result: 220.00 Mbps (Excellent). Connection is very fast.");
  EXPECT_TRUE(
      holds(Side::Agent, "assert_data_refueling_amount",
            R"({"customer_id": "C70", "line_id": "L71", "expected_amount": 1.0000000001})"));
}

TEST_F(Telecom, RoamsOnlyWherePhoneAndLineAllowIt) {
  hold_phone_of_ada();
  ASSERT_EQ(prepare("set_user_location", R"({"abroad": true})"), "ok");
  const auto online = [&] {
    return holds(Side::User, "assert_mobile_data_status", R"({"expected_status": true})");
  };
  EXPECT_FALSE(online());
  user("toggle_roaming");
  EXPECT_FALSE(online());
  EXPECT_EQ(agent("enable_roaming", R"({"customer_id": "C70", "line_id": "L71"})"),
            "Roaming enabled successfully");
  EXPECT_TRUE(online());
  EXPECT_EQ(agent("enable_roaming", R"({"customer_id": "C70", "line_id": "L71"})"),
            "Roaming was already enabled");
  agent("disable_roaming", R"({"customer_id": "C70", "line_id": "L71"})");
  EXPECT_FALSE(online());
}

TEST_F(Telecom, LosesTheNetworkWithTheLine) {
  hold_phone_of_ada();
  agent("suspend_line", R"({"customer_id": "C70", "line_id": "L71", "reason": "lost"})");
  EXPECT_EQ(user("toggle_data_saver_mode"),
            bar("Data Saver Mode is now ON.", "📶³ Good | 5G | 📱 Data Enabled | 🔽 Data Saver"))
      << "until the phone looks for a network again";
  EXPECT_EQ(user("reboot_device"),
            bar("Restarting network services...", "📵 No Signal | 📵 Data Disabled"));
  EXPECT_TRUE(holds(Side::User, "assert_service_status", R"({"expected_status": "no_service"})"));
}

// Here 5G gives no signal: the surroundings in the file do not list it.
TEST_F(Telecom, JoinsTheNetworkThatTheModeAllowsAndTheSignalGives) {
  const struct {
    const char* mode;
    const char* shown;
  } kModes[] = {{"4g_5g_preferred", "📶⁴ Excellent | 4G | 📱 Data Enabled"},
                {"4g_only", "📶⁴ Excellent | 4G | 📱 Data Enabled"},
                {"3g_only", "📶² Fair | 3G | 📱 Data Enabled"},
                {"2g_only", "📶¹ Poor | 2G | 📱 Data Enabled"}};
  for (const auto& [mode, shown] : kModes)
    EXPECT_EQ(user("set_network_mode_preference", std::string(R"({"mode": ")") + mode + "\"}"),
              bar(std::string("Preferred Network Mode set to: ") + mode, shown));
  EXPECT_EQ(user("run_speed_test"),
            "Speed Test Result: 0.05 Mbps (Very Poor). Connection is very slow. Basic web browsing "
            "might be difficult.")
      << "(0.1 + 0.4) / 2 * 0.2";
  EXPECT_EQ(user("can_send_mms"), "Your messaging app cannot send MMS messages.");
}

TEST_F(Telecom, KeepsAModeThatIsNoText) {
  EXPECT_EQ(user("set_network_mode_preference", R"({"mode": 5})"),
            "Error: 'int' object has no attribute 'value'");
  EXPECT_EQ(device("network_mode_preference").as_int(), 5);
  EXPECT_EQ(device("network_technology_connected").as_str(), "4G");
  EXPECT_EQ(user("set_network_mode_preference", R"({"mode": null})"),
            bar("Failed to set network mode: 'None' is not a valid option. Please use one of: "
                "4g_5g_preferred, 4g_only, 3g_only, 2g_only",
                "📶⁴ Excellent | 4G | 📱 Data Enabled"));
  EXPECT_TRUE(device("network_mode_preference").is_none());
  user("set_network_mode_preference", R"({"mode": "LTE"})");
  EXPECT_TRUE(device("network_mode_preference").is_none()) << "an unknown name changes nothing";
}

TEST_F(Telecom, KeepsApnSettingsThatAreNoneAndFailsOnThemLater) {
  EXPECT_EQ(user("set_apn_settings", R"({"apn_settings": [1]})"),
            "Error: 'list' object has no attribute 'apn_name'");
  EXPECT_EQ(dump_json(device("active_apn_settings")), "[1]");
  EXPECT_EQ(user("check_apn_settings"), "Error: 'list' object has no attribute 'model_copy'");
  EXPECT_EQ(user("reset_apn_settings"), "Error: 'list' object has no attribute 'reset_at_reboot'");
  EXPECT_EQ(user("reboot_device"), "Error: 'list' object has no attribute 'reset_at_reboot'");
  EXPECT_EQ(user("can_send_mms"), "Error: 'list' object has no attribute 'mmsc_url'");
  EXPECT_EQ(user("toggle_airplane_mode"), "Error: 'list' object has no attribute 'apn_name'");
  EXPECT_TRUE(device("airplane_mode").as_bool()) << "what it had done stays done";
}

TEST_F(Telecom, SetsApnSettingsFromADictAndResetsThemAtARestart) {
  EXPECT_EQ(
      user("set_apn_settings", R"({"apn_settings": {"apn_name": "broken", "mms_port": "80"}})"),
      bar("APN settings set to: broken", "📵 No Signal | 📵 Data Disabled"));
  EXPECT_EQ(device("active_apn_settings").find("mms_port")->as_int(), 80);
  EXPECT_EQ(user("reset_apn_settings"),
            bar("APN settings will reset at reboot.", "📵 No Signal | 📵 Data Disabled"));
  EXPECT_EQ(user("reboot_device"), bar("Resetting APN settings...\nRestarting network services...",
                                       "📶⁴ Excellent | 4G | 📱 Data Enabled"));
  EXPECT_EQ(user("check_apn_settings"),
            "Current APN Name: internet\nMMSC URL (for picture messages): "
            "http://mms.carrier.com/mms/wapenc\n(These are technical settings, usually best left "
            "unchanged.)");
  ASSERT_EQ(prepare("break_apn_mms_setting"), "ok");
  EXPECT_NE(user("check_apn_settings").find("messages): Not Set\n"), std::string::npos);
}

TEST_F(Telecom, EndsWifiAndVpnInAirplaneMode) {
  user("toggle_wifi");
  user("connect_vpn");
  EXPECT_EQ(user("connect_vpn"), "VPN already connected.");
  EXPECT_EQ(user("toggle_airplane_mode"),
            "Airplane Mode is now ON.\nStatus Bar: ✈️ Airplane Mode | 🔋 61%");
  EXPECT_EQ(user("check_vpn_status"), "VPN is turned OFF.");
  EXPECT_EQ(
      user("toggle_wifi"),
      "Cannot change Wi-Fi settings while Airplane Mode is ON.\nStatus Bar: ✈️ Airplane Mode | "
      "🔋 61%");
  EXPECT_EQ(user("toggle_airplane_mode"),
            bar("Airplane Mode is now OFF.", "📶⁴ Excellent | 4G | 📱 Data Enabled"));
  EXPECT_EQ(user("check_wifi_status"), "Wi-Fi is ON but not connected to any network.");
}

TEST_F(Telecom, KnowsTheStatesOfASimCard) {
  ASSERT_EQ(prepare("lock_sim_card", R"({"mode": "puk"})"), "ok");
  ASSERT_EQ(prepare("unseat_sim_card"), "ok");
  EXPECT_EQ(user("check_sim_status"), "No SIM card detected in the phone.");
  EXPECT_EQ(user("reseat_sim_card"),
            bar("SIM card re-seated successfully.", "📵 No Signal | 📵 Data Disabled"));
  EXPECT_EQ(user("check_sim_status"), "The SIM card is locked with a PUK code.");
}

TEST_F(Telecom, GrantsPermissionsThatAnAppHas) {
  EXPECT_EQ(user("check_installed_apps"),
            "The following apps are installed on the phone: messaging, camera");
  EXPECT_EQ(user("check_app_status", R"({"app_name": "camera"})"),
            "Status for App: camera\n - Permissions: None granted.");
  EXPECT_EQ(
      user("grant_app_permission", R"({"app_name": "camera", "permission": "SMS"})"),
      bar("Success. Permission 'sms' granted to app 'camera'.", "📶³ Good | 5G | 📱 Data Enabled"));
  EXPECT_EQ(user("check_app_permissions", R"({"app_name": "camera"})"),
            "App 'camera' has permission for: sms.");
  EXPECT_EQ(user("grant_app_permission", R"({"app_name": "camera", "permission": "gps"})"),
            bar("Error. Permission 'gps' not tracked for app 'camera', available permissions: "
                "['sms', 'storage', 'phone', 'network']",
                "📶³ Good | 5G | 📱 Data Enabled"));
  EXPECT_EQ(user("grant_app_permission", R"({"app_name": "maps", "permission": 1})"),
            "Error: 'int' object has no attribute 'lower'");
  EXPECT_EQ(user("check_app_status", R"({"app_name": []})"), "Error: unhashable type: 'list'");
  EXPECT_EQ(user("check_app_permissions", R"({"app_name": 7})"),
            "App '7' not found on this phone.");
}

TEST_F(Telecom, SendsPictureMessagesOnlyWithBothPermissions) {
  const auto sends = [&] {
    return holds(Side::User, "assert_can_send_mms", R"({"expected_status": true})");
  };
  EXPECT_TRUE(sends());
  ASSERT_EQ(prepare("remove_app_permission", R"({"app_name": "messaging", "permission": "SMS"})"),
            "ok");
  EXPECT_FALSE(sends());
  user("grant_app_permission", R"({"app_name": "messaging", "permission": "sms"})");
  EXPECT_TRUE(sends());
  ASSERT_EQ(prepare("set_wifi_calling", R"({"enabled": true, "mms_over_wifi": true})"), "ok");
  EXPECT_FALSE(sends());
}

TEST_F(Telecom, LeavesABrokenVpnToTheNextConnectionButNotToAnotherEpisode) {
  const auto server = [&] { return user("check_vpn_status"); };
  user("connect_vpn");
  EXPECT_EQ(server(),
            "VPN is ON and connected. Details: {'server_address': '192.168.1.1', 'protocol': "
            "'OpenVPN', 'server_performance': <PerformanceLevel.EXCELLENT: 'excellent'>}");
  ASSERT_EQ(prepare("break_vpn"), "ok");
  EXPECT_NE(server().find("POOR"), std::string::npos);
  user("disconnect_vpn");
  user("connect_vpn");
  EXPECT_NE(server().find("POOR"), std::string::npos);
  EXPECT_EQ(user("run_speed_test"),
            "Speed Test Result: 22.00 Mbps (Fair). Connection is okay for web browsing and some "
            "standard definition streaming.");

  const Value left = world_->left_behind();
  start("telecom", false);
  user("connect_vpn");
  EXPECT_NE(server().find("EXCELLENT"), std::string::npos);
  start("telecom", false);
  world_->inherit(left);
  user("connect_vpn");
  EXPECT_NE(server().find("POOR"), std::string::npos);
}

TEST_F(Telecom, SuspendsALineForAnOverdueBillThatATaskMakes) {
  const std::string arguments =
      R"({"customer_id": "C70", "line_id": "L71", "new_bill_id": "B799", "contract_ended": true})";
  ASSERT_EQ(prepare("suspend_line_for_overdue_bill", arguments, Side::Agent), "ok");
  EXPECT_EQ(agent_field("lines", 0, "contract_end_date").as_str(), "2025-01-31");
  EXPECT_EQ(agent_field("bills", 3, "total_due").as_float(), 30.0);
  EXPECT_TRUE(holds(Side::Agent, "assert_overdue_bill_exists",
                    R"({"customer_id": "C70", "overdue_bill_id": "B799"})"));
  EXPECT_FALSE(holds(Side::Agent, "assert_no_overdue_bill", R"({"overdue_bill_id": "B799"})"));
  EXPECT_TRUE(holds(Side::Agent, "assert_no_overdue_bill", R"({"overdue_bill_id": "B1"})"));
  EXPECT_TRUE(holds(Side::Agent, "assert_line_status",
                    R"({"customer_id": "C70", "line_id": "L71", "expected_status": "Suspended"})"));
  EXPECT_EQ(prepare("suspend_line_for_overdue_bill", arguments, Side::Agent),
            "ValueError: Line must be active to suspend for unpaid bill");
}

TEST_F(Telecom, FailsEveryCallOncePhoneNumberIsUnknownToTheCarrier) {
  EXPECT_EQ(prepare("set_user_info", R"({"name": "Cy", "phone_number": "555-9999"})"),
            "ValueError: Line with phone number 555-9999 not found");
  EXPECT_EQ(user("check_sim_status"), "Error: Line with phone number 555-9999 not found");
}

TEST_F(Telecom, OffersNoFunctionOfTasksAsATool) {
  EXPECT_EQ(user("break_vpn"), "Error: Tool 'break_vpn' not found.");
  EXPECT_EQ(agent("set_data_usage"), "Error: Tool 'set_data_usage' not found.");
  EXPECT_EQ(agent("toggle_data"), "Error: Tool 'toggle_data' not found.");
  EXPECT_EQ(world_->domain().agent_tools->tools.size(), 13u);
  EXPECT_EQ(world_->domain().user_tools->tools.size(), 30u);
}

TEST_F(Telecom, MakesItsPolicyOfTwoTexts) {
  EXPECT_EQ(world_->policy(),
            "<main_policy>\nThis is main_policy.\n\n</main_policy>\n<tech_support_policy>\nThis is "
            "tech_support_manual.\n\n</tech_support_policy>");
  start("telecom-workflow", true);
  EXPECT_EQ(world_->policy(),
            "<main_policy>\nThis is main_policy_solo.\n\n</main_policy>\n<tech_support_policy>\n"
            "This is tech_support_workflow_solo.\n\n</tech_support_policy>");
  EXPECT_EQ(agent("toggle_data"),
            bar("Mobile Data is now OFF.", "📶⁴ Excellent | 4G | 📵 Data Disabled"))
      << "alone, the agent holds the phone";
}

}  // namespace
}  // namespace unmask
