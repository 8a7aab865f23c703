// The topics of pocket_telecom, by their index in its table.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace unmask::pocket::telecom_world {

enum : std::size_t {
  Customer,  // the agent's
  Line,
  Bill,
  Payment,
  Service,
  Roaming,
  Data,
  Case,
  Human,
  Wallet,  // the user's
  Signal,  // the device's: the agent's or the user's, as the task has it
  Airplane,
  Sim,
  Tray,
  Network,
  Band,
  Apn,
  Profile,
  Vpn,
  Tunnel,
  Phone,
  Speed,
};

// A thing on the device that can be wrong: the topic that reads it, the one that mends it, and what
// reading says.
struct Fault {
  std::size_t read;
  std::size_t mend;
  std::string_view key;  // in the database
  std::string_view bad;
  std::string_view good;
};

inline constexpr std::array<Fault, 5> kFaults = {{
    {Signal, Airplane, "airplane", "airplane on", "airplane off"},
    {Sim, Tray, "sim", "sim loose", "sim fine"},
    {Network, Band, "network", "mode old", "mode new"},
    {Apn, Profile, "apn", "apn bad", "apn good"},
    {Vpn, Tunnel, "vpn", "vpn on", "vpn off"},
}};

// What the user may complain of, and the faults to look for, in this order.
struct Complaint {
  std::string_view text;
  std::array<std::size_t, 3> faults;  // indices of kFaults
  std::size_t count;
};

inline constexpr std::size_t kAbroad = 3;
inline constexpr std::size_t kSlow = 1;

inline constexpr std::array<Complaint, 4> kComplaints = {{
    {"no service", {0, 1, 2}, 3},
    {"slow data", {4, 2}, 2},
    {"no pictures", {3, 1}, 2},
    {"trouble abroad", {2, 3}, 2},
}};

inline std::span<const std::size_t> faults_of(const Complaint& complaint) {
  return {complaint.faults.data(), complaint.count};
}

}  // namespace unmask::pocket::telecom_world
