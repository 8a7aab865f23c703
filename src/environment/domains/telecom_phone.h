// The user's phone, and what it does.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "environment/value.h"

namespace unmask::telecom {

struct Speed {
  double mbps;  // rounded to two places
  std::string description;
};

// The user's database, seen as the thing in their hand. Fields are named as the classes name them.
// Errors   all throw PythonError where upstream raises; what they changed before stays changed.
class Phone {
 public:
  explicit Phone(Value& user_db) : db_(user_db) {}

  const Value& setting(std::string_view field) const;  // of the device
  bool on(std::string_view field) const;
  void set(std::string_view field, Value value);
  bool toggle(std::string_view field);  // the new state

  const Value& around(std::string_view field) const;  // of the user's surroundings
  bool is(std::string_view field) const;              // the same, as a truth value
  void set_around(std::string_view field, Value value);

  const Value& apn(std::string_view field) const;  // of the active APN settings
  void set_apn(std::string_view field, Value value);

  // "📶⁴ Excellent | 5G | ...", what the top of the screen shows.
  std::string status_bar() const;
  Value sim_status() const;  // MISSING where the card is out, whatever its own status

  // Looks for a network: what there is depends on the SIM card, the preferred mode, the signal
  // here, airplane mode, the APN and the line, asked in this order.
  void search_network();

  bool mobile_data_works() const;
  std::optional<Speed> speed() const;  // nullopt: no connection
  bool can_send_mms() const;

  bool toggle_airplane_mode();  // on ends the VPN, and both end the wifi connection
  void drop_wifi();
  bool connect_vpn(const Value& details);  // false: there is a connection already
  bool disconnect_vpn();                   // false: there was none

  // An installed app; nullptr: none of that name. Throws for a name that is a list or dict.
  const Value* app(const Value& name) const;
  void permit(const Value& app_name, std::string_view permission, bool granted);

 private:
  void join(std::string_view technology);
  void lose_network();
  Value signal_of(std::string_view technology) const;

  Value& db_;
};

}  // namespace unmask::telecom
