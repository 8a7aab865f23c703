// pocket_telecom: a line without service, and a device whose switches are partly the agent's to
// reach and partly the user's, which differs by task.
#include "environment/pocket/telecom.h"

#include "environment/pocket/scene.h"
#include "environment/python.h"

namespace unmask::pocket {

namespace telecom_world {
namespace {

bool flag(const Value& db, std::string_view key) {
  return db.find(key)->as_bool();
}

const std::string& text(const Value& db, std::string_view key) {
  return db.find(key)->as_str();
}

// The agent names what it acts on; the user has no choice.
void check_id(const ToolScope& self, Arguments arguments, std::string_view key) {
  if (arguments.empty()) return;
  if (!python::equal(arguments[0], text(self.db, key)))
    throw PythonError(std::string(key) + " " + python::str(arguments[0]) + " not found");
}

void refuse(std::string reason) {
  throw PythonError(std::move(reason));
}

Value read_customer(ToolScope& self, Arguments arguments) {
  check_id(self, arguments, "customer");
  return text(self.db, "account");
}

Value read_line(ToolScope& self, Arguments arguments) {
  check_id(self, arguments, "account");
  return text(self.db, "line") + (flag(self.db, "suspended") ? " suspended" : " active") +
         " roam " + (flag(self.db, "roaming") ? "on" : "off") + " data " +
         (flag(self.db, "used_up") ? "out" : "left");
}

Value read_bill(ToolScope& self, Arguments arguments) {
  check_id(self, arguments, "account");
  return text(self.db, "bill") + (flag(self.db, "due") ? " due" : " paid");
}

Value request_payment(ToolScope& self, Arguments arguments) {
  check_id(self, arguments, "bill");
  if (!flag(self.db, "due")) refuse("bill is paid");
  self.db.set("requested", true);
  return "ok";
}

Value resume_service(ToolScope& self, Arguments arguments) {
  check_id(self, arguments, "line");
  if (!flag(self.db, "suspended")) refuse("line is active");
  if (flag(self.db, "due")) refuse("bill is due");
  self.db.set("suspended", false);
  return "ok";
}

Value enable_roaming(ToolScope& self, Arguments arguments) {
  check_id(self, arguments, "line");
  if (flag(self.db, "roaming")) refuse("roam is on");
  self.db.set("roaming", true);
  return "ok";
}

Value refill_data(ToolScope& self, Arguments arguments) {
  check_id(self, arguments, "line");
  if (!flag(self.db, "used_up")) refuse("data is left");
  self.db.set("used_up", false);
  return "ok";
}

Value end_case(ToolScope& self, Arguments arguments, const char* state) {
  check_id(self, arguments, "account");
  if (text(self.db, "case") != "open") refuse("case is closed");
  self.db.set("case", state);
  return state;
}

Value close_case(ToolScope& self, Arguments arguments) {
  return end_case(self, arguments, "closed");
}

Value hand_over(ToolScope& self, Arguments arguments) {
  return end_case(self, arguments, "moved");
}

Value accept_payment(ToolScope& self, Arguments) {
  if (!flag(self.db, "requested") || !flag(self.db, "due")) return "nothing due";
  self.db.set("due", false);
  return "bill paid";
}

template <std::size_t kFault>
Value read_fault(ToolScope& self, Arguments arguments) {
  check_id(self, arguments, "line");
  const Fault& fault = kFaults[kFault];
  return flag(self.db, fault.key) ? fault.bad : fault.good;
}

// Airplane mode and the tunnel are switches; what else is mended stays mended.
template <std::size_t kFault>
Value mend_fault(ToolScope& self, Arguments arguments) {
  check_id(self, arguments, "line");
  const Fault& fault = kFaults[kFault];
  const bool is_switch = fault.mend == Airplane || fault.mend == Tunnel;
  const bool was = flag(self.db, fault.key);
  self.db.set(fault.key, is_switch && !was);
  if (fault.mend == Profile) self.db.set("restart", true);
  return "ok";
}

Value restart_phone(ToolScope& self, Arguments arguments) {
  check_id(self, arguments, "line");
  self.db.set("restart", false);
  return "ok";
}

Value measure_speed(ToolScope& self, Arguments arguments) {
  check_id(self, arguments, "line");
  bool good = true;
  for (const std::string_view key : {"suspended", "used_up", "restart", "broken"})
    good = good && !flag(self.db, key);
  for (const Fault& fault : kFaults) good = good && !flag(self.db, fault.key);
  if (flag(self.db, "abroad")) good = good && flag(self.db, "roaming");
  return good ? "fast" : "slow";
}

// What is drawn before names and ids.
struct Trouble {
  std::size_t complaint = 0;
  bool suspended = false;
  bool due = false;
  bool roaming = false;
  bool used_up = false;
  bool broken = false;
  std::array<bool, kFaults.size()> faults{};
  std::array<Side, Speed + 1> owner{};
};

bool is_device(std::size_t topic) {
  return topic >= Signal;
}

// Topics the complaint may need; the others are there to be ignored.
std::vector<bool> needed_by(std::size_t complaint) {
  std::vector<bool> needed(Speed + 1, false);
  for (std::size_t topic = Customer; topic <= Wallet; ++topic)
    needed[topic] = topic != Roaming && topic != Data;
  needed[Roaming] = complaint == kAbroad;
  needed[Data] = complaint == kSlow;
  for (const std::size_t fault : faults_of(kComplaints[complaint])) {
    needed[kFaults[fault].read] = needed[kFaults[fault].mend] = true;
    if (kFaults[fault].mend == Profile) needed[Phone] = true;
  }
  needed[Speed] = true;
  return needed;
}

Trouble drawn_trouble(Rng& rng) {
  Trouble out;
  out.complaint = rng.below(kComplaints.size());
  out.suspended = rng.bernoulli(0.4);
  out.due = out.suspended && rng.bernoulli(0.7);
  out.roaming = rng.bernoulli(0.35);
  out.used_up = out.complaint == kSlow && rng.bernoulli(0.6);
  out.broken = rng.bernoulli(0.12);
  for (const std::size_t fault : faults_of(kComplaints[out.complaint]))
    out.faults[fault] = rng.bernoulli(0.5);
  for (std::size_t topic = 0; topic < out.owner.size(); ++topic)
    out.owner[topic] = is_device(topic) && rng.bernoulli(0.5) ? Side::User : Side::Agent;
  out.owner[Wallet] = Side::User;
  return out;
}

std::string structure_of(const Trouble& trouble) {
  std::string out(kComplaints[trouble.complaint].text);
  for (const bool each :
       {trouble.suspended, trouble.due, trouble.complaint == kAbroad && trouble.roaming,
        trouble.used_up, trouble.broken})
    out += each ? '+' : '-';
  for (const bool each : trouble.faults) out += each ? '+' : '-';
  const std::vector<bool> needed = needed_by(trouble.complaint);
  for (std::size_t topic = Signal; topic <= Speed; ++topic)
    if (needed[topic]) out += trouble.owner[topic] == Side::Agent ? 'a' : 'u';
  return out;
}

Value database_of(const Trouble& trouble, Rng& rng) {
  std::vector<std::string> taken;
  Value db = Value::dict({{"customer", drawn_id('P', rng, taken)},
                          {"account", drawn_id('C', rng, taken)},
                          {"line", drawn_id('L', rng, taken)},
                          {"bill", drawn_id('B', rng, taken)},
                          {"abroad", trouble.complaint == kAbroad},
                          {"suspended", trouble.suspended},
                          {"due", trouble.due},
                          {"requested", false},
                          {"roaming", trouble.roaming},
                          {"used_up", trouble.used_up},
                          {"broken", trouble.broken},
                          {"restart", false},
                          {"case", "open"}});
  for (std::size_t i = 0; i < kFaults.size(); ++i) db.set(kFaults[i].key, trouble.faults[i]);
  return db;
}

std::vector<SolutionStep> solution_of(const Trouble& trouble, const Value& db) {
  std::vector<SolutionStep> steps;
  const auto add = [&](std::size_t topic, std::string_view id_key) {
    steps.push_back({topic, {text(db, id_key)}});
  };
  if (trouble.due) {
    add(Payment, "bill");
    add(Wallet, "line");
  }
  if (trouble.suspended) add(Service, "line");
  if (trouble.complaint == kAbroad && !trouble.roaming) add(Roaming, "line");
  if (trouble.used_up) add(Data, "line");
  bool restart = false;
  for (const std::size_t fault : faults_of(kComplaints[trouble.complaint])) {
    if (!trouble.faults[fault]) continue;
    add(kFaults[fault].mend, "line");
    restart = restart || kFaults[fault].mend == Profile;
  }
  if (restart) add(Phone, "line");
  add(trouble.broken ? Human : Case, "account");
  return steps;
}

Scene draw(Rng& rng) {
  constexpr double kOfferedAnyway = 0.65;
  const Trouble trouble = drawn_trouble(rng);
  const std::vector<bool> needed = needed_by(trouble.complaint);
  Scene scene;
  scene.structure = structure_of(trouble);
  scene.database = database_of(trouble, rng);
  for (std::size_t topic = 0; topic <= Speed; ++topic) {
    const std::string name = drawn_name(telecom().topics[topic], rng);
    if (needed[topic] || rng.bernoulli(kOfferedAnyway))
      scene.tools.push_back({topic, trouble.owner[topic], name});
  }
  for (std::size_t i = scene.tools.size(); i > 1; --i)
    std::swap(scene.tools[i - 1], scene.tools[rng.below(static_cast<std::uint32_t>(i))]);
  const std::string complaint(kComplaints[trouble.complaint].text);
  const std::string& customer = text(scene.database, "customer");
  scene.opening = "hi " + customer + " " + complaint;
  scene.wish = "You are customer " + customer + ". Your phone has this trouble: " + complaint +
               ". Use your tools when you are asked to, and say what they show.";
  scene.solution = solution_of(trouble, scene.database);
  return scene;
}

PocketWorld made() {
  const std::vector<std::string> id = {"id"};
  PocketWorld world;
  world.name = "pocket_telecom";
  world.class_name = "PocketTelecom";
  world.sentence = "Serve the customer. Yours are call, theirs are ask.";
  world.draw = draw;
  world.topics = {
      {"customer", "Find", false, id, read_customer},
      {"line", "Get", false, id, read_line},
      {"bill", "List", false, id, read_bill},
      {"payment", "Send", true, id, request_payment},
      {"service", "Start", true, id, resume_service},
      {"roaming", "Set", true, id, enable_roaming},
      {"data", "Push", true, id, refill_data},
      {"case", "Close", true, id, close_case},
      {"human", "Send", true, id, hand_over},
      {"wallet", "Apply", true, id, accept_payment},
      {"signal", "Check", false, id, read_fault<0>},
      {"airplane", "Set", true, id, mend_fault<0>},
      {"sim", "Read", false, id, read_fault<1>},
      {"tray", "Push", true, id, mend_fault<1>},
      {"network", "View", false, id, read_fault<2>},
      {"band", "Fix", true, id, mend_fault<2>},
      {"apn", "Show", false, id, read_fault<3>},
      {"profile", "Make", true, id, mend_fault<3>},
      {"vpn", "Scan", false, id, read_fault<4>},
      {"tunnel", "Close", true, id, mend_fault<4>},
      {"phone", "Start", true, id, restart_phone},
      {"speed", "Check", false, id, measure_speed},
  };
  return world;
}

}  // namespace
}  // namespace telecom_world

const PocketWorld& telecom() {
  static const PocketWorld kWorld = telecom_world::made();
  return kWorld;
}

}  // namespace unmask::pocket
