// What the carrier's agent can do.
#include <algorithm>
#include <cstdio>

#include "environment/domains/telecom.h"
#include "environment/domains/telecom_state.h"
#include "environment/python.h"
#include "environment/toolkit.h"

namespace unmask {

namespace {

using namespace telecom;
using python::attribute;
using python::str;

// In this world it is always 2025-02-25; what upstream computes from that:
constexpr char kToday[] = "2025-02-25";
constexpr char kCycleEnd[] = "2025-02-28";
struct BillingPeriod {
  const char* start;  // also the day of issue
  const char* end;
  const char* due;
};
constexpr BillingPeriod kLastMonth{"2025-01-01", "2025-01-31", "2025-01-15"};
constexpr BillingPeriod kNextMonth{"2025-03-01", "2025-03-31", "2025-03-15"};

Value new_bill(const Value& bill_id, const Value& customer_id, const BillingPeriod& period,
               const Value& status) {
  return construct(bill_class(), {{"bill_id", bill_id},
                                  {"customer_id", customer_id},
                                  {"period_start", Value::date(period.start)},
                                  {"period_end", Value::date(period.end)},
                                  {"issue_date", Value::date(period.start)},
                                  {"total_due", 0},
                                  {"due_date", Value::date(period.due)},
                                  {"status", status}});
}

void add_charge(Value& bill, const std::string& description, const Value& amount,
                const char* item_type) {
  Value item = construct(line_item_class(), {{"description", description},
                                             {"amount", amount},
                                             {"date", Value::date(kToday)},
                                             {"item_type", item_type}});
  bill.edit("line_items").append(std::move(item));
  bill.set("total_due", python::add(attribute(bill, "total_due"), amount, "+="));
}

// The bill becomes the last of all bills and of the customer's.
void file_bill(Value& db, const Value& customer_id, Value bill) {
  const Value bill_id = attribute(bill, "bill_id");
  db.edit("bills").append(std::move(bill));
  edit_entry(db, kCustomers, customer_id).edit("bill_ids").append(bill_id);
}

Value get_customer_by_phone(ToolScope& self, Arguments arguments) {
  return customer_by_phone(self.db, arguments[0]);
}

Value get_customer_by_id(ToolScope& self, Arguments arguments) {
  return entry(self.db, kCustomers, arguments[0]);
}

Value get_customer_by_name(ToolScope& self, Arguments arguments) {
  Value matching = Value::list();
  for (const Value& customer : attribute(self.db, "customers").items()) {
    const Value name = python::lower(attribute(customer, "full_name"));
    if (python::equal(name, python::lower(arguments[0])) &&
        python::equal(attribute(customer, "date_of_birth"), arguments[1]))
      matching.append(customer);
  }
  return matching;
}

Value get_details_by_id(ToolScope& self, Arguments arguments) {
  struct Prefix {
    std::string_view letter;
    const Index& index;
  };
  constexpr Prefix kPrefixes[] = {
      {"L", kLines}, {"D", kDevices}, {"B", kBills}, {"C", kCustomers}, {"P", kPlans}};
  const Value& id = arguments[0];
  for (const Prefix& prefix : kPrefixes)
    if (python::starts_with(id, prefix.letter)) return entry(self.db, prefix.index, id);
  throw PythonError("Unknown ID format or type: " + str(id));
}

Value message_and_line(const char* message, const Value& line) {
  return Value::dict({{"message", message}, {"line", line}});
}

Value suspend_line(ToolScope& self, Arguments arguments) {
  if (!has_status(customer_line(self.db, arguments[0], arguments[1]), "Active"))
    throw PythonError("Line must be active to suspend");
  Value& line = edit_entry(self.db, kLines, arguments[1]);
  line.set("status", line_status("SUSPENDED"));
  line.set("suspension_start_date", Value::date(kToday));
  return message_and_line("Line suspended successfully. $5/month holding fee will apply.", line);
}

Value resume_line(ToolScope& self, Arguments arguments) {
  const Value& found = customer_line(self.db, arguments[0], arguments[1]);
  if (!has_status(found, "Suspended") && !has_status(found, "Pending Activation"))
    throw PythonError("Line must be suspended to resume");
  Value& line = edit_entry(self.db, kLines, arguments[1]);
  line.set("status", line_status("ACTIVE"));
  line.set("suspension_start_date", Value());
  return message_and_line("Line resumed successfully", line);
}

// items[:limit]
std::vector<Value> first_items(std::vector<Value> items, const Value& limit) {
  if (limit.is_none()) return items;
  if (limit.kind() == Kind::BigInt) {
    if (limit.as_str().front() == '-') items.clear();
    return items;
  }
  if (!limit.is_bool() && limit.kind() != Kind::Int)
    python::raise_type_error("slice indices must be integers or None or have an __index__ method");
  const auto size = static_cast<std::int64_t>(items.size());
  const std::int64_t wanted = limit.is_bool() ? (limit.as_bool() ? 1 : 0) : limit.as_int();
  const std::int64_t kept = wanted < 0 ? std::max<std::int64_t>(0, size + wanted) : wanted;
  if (kept < size) items.resize(static_cast<std::size_t>(kept));
  return items;
}

Value get_bills_for_customer(ToolScope& self, Arguments arguments) {
  std::vector<Value> bills;
  const Value& customer = entry(self.db, kCustomers, arguments[0]);
  for (const Value& bill_id : attribute(customer, "bill_ids").items())
    bills.push_back(entry(self.db, kBills, bill_id));
  std::stable_sort(bills.begin(), bills.end(), [](const Value& a, const Value& b) {
    return python::greater(attribute(a, "issue_date"), attribute(b, "issue_date"));
  });
  return Value::list(first_items(std::move(bills), arguments[1]));
}

Value send_payment_request(ToolScope& self, Arguments arguments) {
  const Value& customer = entry(self.db, kCustomers, arguments[0]);
  const Value& bill_id = arguments[1];
  if (first_bill(self.db, customer, "Awaiting Payment", Scan::All))
    throw PythonError("A bill is already awaiting payment for this customer");
  if (!python::contains(attribute(customer, "bill_ids"), bill_id))
    throw PythonError("Bill " + str(bill_id) + " not found for customer " + str(arguments[0]));
  edit_entry(self.db, kBills, bill_id).set("status", bill_status("AWAITING_PAYMENT"));
  return "Payment request sent to the customer for bill " + str(bill_id);
}

Value get_data_usage(ToolScope& self, Arguments arguments) {
  const Value& line = customer_line(self.db, arguments[0], arguments[1]);
  const Value& plan = entry(self.db, kPlans, attribute(line, "plan_id"));
  return Value::dict({{"line_id", arguments[1]},
                      {"data_used_gb", attribute(line, "data_used_gb")},
                      {"data_limit_gb", attribute(plan, "data_limit_gb")},
                      {"data_refueling_gb", attribute(line, "data_refueling_gb")},
                      {"cycle_end_date", Value::date(kCycleEnd)}});
}

bool roams(ToolScope& self, Arguments arguments) {
  return python::truthy(
      attribute(customer_line(self.db, arguments[0], arguments[1]), "roaming_enabled"));
}

Value enable_roaming(ToolScope& self, Arguments arguments) {
  if (roams(self, arguments)) return "Roaming was already enabled";
  edit_entry(self.db, kLines, arguments[1]).set("roaming_enabled", true);
  return "Roaming enabled successfully";
}

Value disable_roaming(ToolScope& self, Arguments arguments) {
  if (!roams(self, arguments)) return "Roaming was already disabled";
  edit_entry(self.db, kLines, arguments[1]).set("roaming_enabled", false);
  return "Roaming disabled successfully";
}

Value transfer_to_human_agents(ToolScope&, Arguments) {
  return "Transfer successful";
}

// The customer's draft bill, made where there is none. Upstream names it at random; we count, so
// that equal episodes have equal hashes.
Value& draft_bill(ToolScope& self, const Value& customer_id) {
  const Value& customer = entry(self.db, kCustomers, customer_id);
  const Value* draft = first_bill(self.db, customer, "Draft", Scan::UntilFound);
  if (draft) return edit_entry(self.db, kBills, Value(attribute(*draft, "bill_id")));
  char bill_id[24];
  std::snprintf(bill_id, sizeof bill_id, "B%08d", ++self.generated_ids);
  file_bill(self.db, customer_id, new_bill(bill_id, customer_id, kNextMonth, bill_status("DRAFT")));
  Value& bills = self.db.edit("bills");
  return bills.edit(bills.size() - 1);
}

Value refuel_data(ToolScope& self, Arguments arguments) {
  const Value& customer_id = arguments[0];
  const Value& line_id = arguments[1];
  const Value& amount = arguments[2];
  const Value& plan_id = attribute(customer_line(self.db, customer_id, line_id), "plan_id");
  if (python::less_equal(amount, 0)) throw PythonError("Refuel amount must be positive");
  const Value price = attribute(entry(self.db, kPlans, plan_id), "data_refueling_price_per_gb");
  const Value charge = python::multiply(amount, price);
  Value& line = edit_entry(self.db, kLines, line_id);
  const Value refueled = python::add(attribute(line, "data_refueling_gb"), amount, "+=");
  line.set("data_refueling_gb", refueled);
  add_charge(draft_bill(self, customer_id),
             "Data refueling: " + str(amount) + " GB at $" + str(price) + "/GB", charge,
             python::less(charge, 0) ? "Credit" : "Charge");
  return Value::dict({{"message", "Successfully added " + str(amount) + " GB of data for line " +
                                      str(line_id) + " for $" + python::fixed(charge, 2)},
                      {"new_data_refueling_gb", refueled},
                      {"charge", charge}});
}

// Functions of initialization actions.

Value get_available_plan_ids(ToolScope& self, Arguments) {
  Value ids = Value::list();
  for (const Value& plan : attribute(self.db, "plans").items())
    ids.append(attribute(plan, "plan_id"));
  return ids;
}

Value set_data_usage(ToolScope& self, Arguments arguments) {
  edit_customer_line(self.db, arguments[0], arguments[1]).set("data_used_gb", arguments[2]);
  return "Data usage set to " + str(arguments[2]) + " GB for line " + str(arguments[1]);
}

Value suspend_line_for_overdue_bill(ToolScope& self, Arguments arguments) {
  const Value& customer_id = arguments[0];
  const Value& line_id = arguments[1];
  const Value& bill_id = arguments[2];
  const Value& found = entry(self.db, kLines, line_id);
  if (!has_status(found, "Active"))
    throw PythonError("Line must be active to suspend for unpaid bill");
  const Value amount =
      attribute(entry(self.db, kPlans, attribute(found, "plan_id")), "price_per_month");
  if (python::less_equal(amount, 0)) throw PythonError("Amount must be positive for overdue bill");
  const Value& customer = entry(self.db, kCustomers, customer_id);
  if (first_bill(self.db, customer, "Overdue", Scan::All))
    throw PythonError("Customer already has an overdue bill");
  Value bill = new_bill(bill_id, customer_id, kLastMonth, bill_status("OVERDUE"));
  add_charge(bill, "Charge for line " + str(line_id), amount, "Charge");
  file_bill(self.db, customer_id, std::move(bill));
  Value& line = edit_entry(self.db, kLines, line_id);
  line.set("status", line_status("SUSPENDED"));
  line.set("suspension_start_date", Value::date(kToday));
  if (python::truthy(arguments[3])) line.set("contract_end_date", Value::date(kLastMonth.end));
  return "Line " + str(line_id) + " suspended for unpaid bill " + str(bill_id) +
         ". Contract ended: " + str(arguments[3]);
}

// Assertions.

Value assert_data_refueling_amount(ToolScope& self, Arguments arguments) {
  const Value& line = customer_line(self.db, arguments[0], arguments[1]);
  const Value difference = python::subtract(attribute(line, "data_refueling_gb"), arguments[2]);
  return python::less(python::absolute(difference), 1e-6);
}

Value assert_line_status(ToolScope& self, Arguments arguments) {
  const Value& line = customer_line(self.db, arguments[0], arguments[1]);
  return python::equal(attribute(line, "status"), arguments[2]);
}

Value assert_overdue_bill_exists(ToolScope& self, Arguments arguments) {
  const Value& customer = entry(self.db, kCustomers, arguments[0]);
  const std::string bill = "Overdue bill " + str(arguments[1]);
  if (!python::contains(attribute(customer, "bill_ids"), arguments[1]))
    throw PythonError(bill + " not found");
  if (!has_status(entry(self.db, kBills, arguments[1]), "Overdue"))
    throw PythonError(bill + " is not overdue");
  return true;
}

Value assert_no_overdue_bill(ToolScope& self, Arguments arguments) {
  for (const Value& bill : attribute(self.db, "bills").items())
    if (python::equal(attribute(bill, "bill_id"), arguments[0])) return has_status(bill, "Paid");
  return true;
}

Parameter text(std::string name, std::string description) {
  return {std::move(name), type::str(), {}, std::move(description)};
}
Parameter number(std::string name, std::string description) {
  return {std::move(name), type::number(), {}, std::move(description)};
}
Parameter customer_id() {
  return text("customer_id", "Whose line or bill it is.");
}
Parameter line_id() {
  return text("line_id", "Which of the customer's lines.");
}

std::vector<Tool> looking_up() {
  constexpr ToolType kRead = ToolType::Read;
  return {{"get_customer_by_phone",
           "Finds the customer whose contact number or line has this number.",
           kRead,
           false,
           {text("phone_number", "The number.")},
           get_customer_by_phone},
          {"get_customer_by_id",
           "Shows a customer.",
           kRead,
           false,
           {text("customer_id", "Which customer.")},
           get_customer_by_id},
          {"get_customer_by_name",
           "Lists the customers with this name and day of birth.",
           kRead,
           false,
           {text("full_name", "First and last name, in any case."),
            text("dob", "The day of birth, YYYY-MM-DD.")},
           get_customer_by_name},
          {"get_details_by_id",
           "Shows a customer, line, device, bill or plan.",
           kRead,
           false,
           {text("id", "Its id; the first letter tells which of them it is.")},
           get_details_by_id}};
}

std::vector<Tool> lines_and_bills() {
  return {{"suspend_line",
           "Suspends an active line, for six months at most.",
           ToolType::Write,
           true,
           {customer_id(), line_id(), text("reason", "Why it is suspended.")},
           suspend_line},
          {"resume_line",
           "Makes a line active that is suspended or was never activated.",
           ToolType::Write,
           true,
           {customer_id(), line_id()},
           resume_line},
          {"get_bills_for_customer",
           "Lists a customer's bills, the newest first.",
           ToolType::Read,
           false,
           {text("customer_id", "Whose bills."),
            {"limit", type::integer(), Value(12), "How many at most."}},
           get_bills_for_customer},
          {"send_payment_request",
           "Asks the customer to pay a bill. Only one request may be open, and whether the bill is "
           "paid already is not checked here: look before.",
           ToolType::Write,
           true,
           {customer_id(), text("bill_id", "Which of the customer's bills.")},
           send_payment_request}};
}

std::vector<Tool> data_and_roaming() {
  return {{"get_data_usage",
           "Shows what a line has used of its data in this billing cycle, its limit, what was "
           "added, and when the cycle ends.",
           ToolType::Read,
           false,
           {customer_id(), line_id()},
           get_data_usage},
          {"enable_roaming",
           "Lets a line be used abroad.",
           ToolType::Write,
           true,
           {customer_id(), line_id()},
           enable_roaming},
          {"disable_roaming",
           "Ends a line's use abroad.",
           ToolType::Write,
           true,
           {customer_id(), line_id()},
           disable_roaming},
          {"transfer_to_human_agents",
           "Hands the user over to a human, with a summary. Only where the user asks for a human, "
           "or policy and tools cannot solve the problem.",
           ToolType::Generic,
           false,
           {text("summary", "What the user needs, in short.")},
           transfer_to_human_agents},
          {"refuel_data",
           "Adds data to a line and its price, by the plan's rate, to the customer's next bill.",
           ToolType::Write,
           true,
           {customer_id(), line_id(), number("gb_amount", "How many gigabytes.")},
           refuel_data}};
}

std::vector<Tool> functions() {
  constexpr ToolType kRead = ToolType::Read;
  constexpr ToolType kWrite = ToolType::Write;
  const Parameter bill = text("overdue_bill_id", "");
  return {{"get_available_plan_ids", "", kRead, false, {}, get_available_plan_ids},
          {"set_data_usage",
           "",
           kWrite,
           true,
           {customer_id(), line_id(), number("data_used_gb", "")},
           set_data_usage},
          {"suspend_line_for_overdue_bill",
           "",
           kWrite,
           true,
           {customer_id(),
            line_id(),
            text("new_bill_id", ""),
            {"contract_ended", type::boolean(), {}, ""}},
           suspend_line_for_overdue_bill},
          {"assert_data_refueling_amount",
           "",
           kRead,
           false,
           {customer_id(), line_id(), number("expected_amount", "")},
           assert_data_refueling_amount},
          {"assert_line_status",
           "",
           kRead,
           false,
           {customer_id(), line_id(), text("expected_status", "")},
           assert_line_status},
          {"assert_overdue_bill_exists",
           "",
           kRead,
           false,
           {customer_id(), bill},
           assert_overdue_bill_exists},
          {"assert_no_overdue_bill", "", kRead, false, {bill}, assert_no_overdue_bill}};
}

}  // namespace

const Toolkit& telecom_tools() {
  static const Toolkit kTools = [] {
    Toolkit kit{"TelecomTools", looking_up(), functions()};
    for (Tool& tool : lines_and_bills()) kit.tools.push_back(std::move(tool));
    for (Tool& tool : data_and_roaming()) kit.tools.push_back(std::move(tool));
    return kit;
  }();
  return kTools;
}

}  // namespace unmask
