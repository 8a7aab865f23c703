#include "environment/domains/telecom_state.h"

#include <optional>
#include <string>

#include "environment/python.h"

namespace unmask::telecom {

namespace {

using python::attribute;

// A field that must be given, one that may be absent or null, and one with a default.
Field required(std::string name, FieldType kind) {
  return {std::move(name), std::move(kind), {}};
}
Field nullable(std::string name, FieldType kind) {
  return {std::move(name), type::optional(std::move(kind)), Value()};
}
Field defaulted(std::string name, FieldType kind, Value fallback) {
  return {std::move(name), std::move(kind), std::move(fallback)};
}
Field listed(std::string name, FieldType item) {
  return {std::move(name), type::list(std::move(item)), Value::list()};
}

const ModelClass& address_class() {
  static const ModelClass kClass(
      "Address",
      {required("street", type::str()), required("city", type::str()),
       required("state", type::str()), required("zip_code", type::str())},
      ExtraFields::Forbidden);
  return kClass;
}

const ModelClass& plan_class() {
  static const ModelClass kClass(
      "Plan",
      {required("plan_id", type::str()), required("name", type::str()),
       required("data_limit_gb", type::number()), required("price_per_month", type::number()),
       required("data_refueling_price_per_gb", type::number())},
      ExtraFields::Forbidden);
  return kClass;
}

const EnumClass& device_types() {
  static const EnumClass kTypes("DeviceType", {{"PHONE", "phone"},
                                               {"ROUTER", "router"},
                                               {"TABLET", "tablet"},
                                               {"WATCH", "watch"},
                                               {"OTHER", "other"}});
  return kTypes;
}

const ModelClass& device_class() {
  static const ModelClass kClass(
      "Device",
      {required("device_id", type::str()),
       required("device_type", type::enumeration(device_types())), required("model", type::str()),
       nullable("imei", type::str()), required("is_esim_capable", type::boolean()),
       defaulted("activated", type::boolean(), false),
       nullable("activation_date", type::datetime()),
       nullable("last_esim_transfer_date", type::datetime())},
      ExtraFields::Forbidden);
  return kClass;
}

const EnumClass& line_statuses() {
  static const EnumClass kStatuses("LineStatus", {{"ACTIVE", "Active"},
                                                  {"SUSPENDED", "Suspended"},
                                                  {"PENDING_ACTIVATION", "Pending Activation"},
                                                  {"CLOSED", "Closed"}});
  return kStatuses;
}

const ModelClass& line_class() {
  static const ModelClass kClass(
      "Line",
      {required("line_id", type::str()), required("phone_number", type::str()),
       defaulted("status", type::enumeration(line_statuses()), line_status("PENDING_ACTIVATION")),
       required("plan_id", type::str()), nullable("device_id", type::str()),
       defaulted("data_used_gb", type::number(), 0.0),
       defaulted("data_refueling_gb", type::number(), 0.0),
       defaulted("roaming_enabled", type::boolean(), false),
       nullable("contract_end_date", type::date()), nullable("last_plan_change_date", type::date()),
       nullable("last_sim_replacement_date", type::date()),
       nullable("suspension_start_date", type::date())},
      ExtraFields::Forbidden);
  return kClass;
}

const EnumClass& bill_statuses() {
  static const EnumClass kStatuses("BillStatus", {{"DRAFT", "Draft"},
                                                  {"ISSUED", "Issued"},
                                                  {"AWAITING_PAYMENT", "Awaiting Payment"},
                                                  {"PAID", "Paid"},
                                                  {"OVERDUE", "Overdue"},
                                                  {"DISPUTED", "Disputed"}});
  return kStatuses;
}

const EnumClass& account_statuses() {
  static const EnumClass kStatuses("AccountStatus",
                                   {{"ACTIVE", "Active"},
                                    {"SUSPENDED", "Suspended"},
                                    {"PENDING_VERIFICATION", "Pending Verification"},
                                    {"CLOSED", "Closed"}});
  return kStatuses;
}

const EnumClass& payment_method_types() {
  static const EnumClass kTypes(
      "PaymentMethodType",
      {{"CREDIT_CARD", "Credit Card"}, {"DEBIT_CARD", "Debit Card"}, {"PAYPAL", "PayPal"}});
  return kTypes;
}

const ModelClass& payment_method_class() {
  static const ModelClass kClass(
      "PaymentMethod",
      {required("method_type", type::enumeration(payment_method_types())),
       required("account_number_last_4", type::str()), required("expiration_date", type::str())},
      ExtraFields::Forbidden);
  return kClass;
}

// created_at falls back on a date, not a date with a time: upstream's defaults are not converted.
const ModelClass& customer_class() {
  static const ModelClass kClass(
      "Customer",
      {required("customer_id", type::str()), required("full_name", type::str()),
       required("date_of_birth", type::str()), required("email", type::str()),
       required("phone_number", type::str()), required("address", type::model(address_class())),
       defaulted("account_status", type::enumeration(account_statuses()),
                 account_statuses()("PENDING_VERIFICATION")),
       listed("payment_methods", type::model(payment_method_class())),
       listed("line_ids", type::str()), listed("bill_ids", type::str()),
       defaulted("created_at", type::datetime(), Value::date("2025-01-01")),
       nullable("last_extension_date", type::date()),
       defaulted("goodwill_credit_used_this_year", type::number(), 0.0)},
      ExtraFields::Forbidden);
  return kClass;
}

std::optional<std::size_t> position(const Value& db, const Index& index, const Value& id) {
  const std::span<const Value> entries = attribute(db, index.list).items();
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (python::equal(attribute(entries[i], index.key), id)) return i;
  return std::nullopt;
}

std::size_t known_position(const Value& db, const Index& index, const Value& id) {
  const std::optional<std::size_t> found = position(db, index, id);
  if (!found) throw PythonError(std::string(index.noun) + " " + python::str(id) + " not found");
  return *found;
}

void require_line_of(const Value& db, const Value& customer_id, const Value& line_id) {
  if (!python::contains(attribute(entry(db, kCustomers, customer_id), "line_ids"), line_id))
    throw PythonError("Line " + python::str(line_id) + " not found for customer " +
                      python::str(customer_id));
}

}  // namespace

Value line_status(std::string_view member_name) {
  return line_statuses()(member_name);
}
Value bill_status(std::string_view member_name) {
  return bill_statuses()(member_name);
}

const ModelClass& line_item_class() {
  static const ModelClass kClass(
      "LineItem",
      {required("description", type::str()), required("amount", type::number()),
       required("date", type::date()), required("item_type", type::str())},
      ExtraFields::Forbidden);
  return kClass;
}

const ModelClass& bill_class() {
  static const ModelClass kClass(
      "Bill",
      {required("bill_id", type::str()), required("customer_id", type::str()),
       required("period_start", type::date()), required("period_end", type::date()),
       required("issue_date", type::date()), required("total_due", type::number()),
       required("due_date", type::date()), listed("line_items", type::model(line_item_class())),
       defaulted("status", type::enumeration(bill_statuses()), bill_status("DRAFT"))},
      ExtraFields::Forbidden);
  return kClass;
}

const ModelClass& database_class() {
  static const ModelClass kClass(
      "TelecomDB",
      {listed("plans", type::model(plan_class())),
       listed("customers", type::model(customer_class())),
       listed("lines", type::model(line_class())), listed("bills", type::model(bill_class())),
       listed("devices", type::model(device_class()))},
      ExtraFields::Forbidden);
  return kClass;
}

const Value& entry(const Value& db, const Index& index, const Value& id) {
  return attribute(db, index.list)[known_position(db, index, id)];
}

Value& edit_entry(Value& db, const Index& index, const Value& id) {
  const std::size_t found = known_position(db, index, id);
  return db.edit(index.list).edit(found);
}

const Value& customer_line(const Value& db, const Value& customer_id, const Value& line_id) {
  require_line_of(db, customer_id, line_id);
  return entry(db, kLines, line_id);
}

Value& edit_customer_line(Value& db, const Value& customer_id, const Value& line_id) {
  require_line_of(db, customer_id, line_id);
  return edit_entry(db, kLines, line_id);
}

const Value& customer_by_phone(const Value& db, const Value& phone_number) {
  for (const Value& customer : attribute(db, "customers").items()) {
    if (python::equal(attribute(customer, "phone_number"), phone_number)) return customer;
    for (const Value& line_id : attribute(customer, "line_ids").items())
      if (python::equal(attribute(entry(db, kLines, line_id), "phone_number"), phone_number))
        return customer;
  }
  throw PythonError("Customer with phone number " + python::str(phone_number) + " not found");
}

bool has_status(const Value& entry, std::string_view value) {
  return python::equal(attribute(entry, "status"), value);
}

const Value* first_bill(const Value& db, const Value& customer, std::string_view status,
                        Scan scan) {
  const Value* first = nullptr;
  for (const Value& bill_id : attribute(customer, "bill_ids").items()) {
    const Value& bill = entry(db, kBills, bill_id);
    if (first || !has_status(bill, status)) continue;
    first = &bill;
    if (scan == Scan::UntilFound) break;
  }
  return first;
}

}  // namespace unmask::telecom
