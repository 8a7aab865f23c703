// The carrier's database: its classes, and the ways the tools look things up in it.
#pragma once

#include <string_view>

#include "environment/schema.h"
#include "environment/value.h"

namespace unmask::telecom {

const ModelClass& database_class();
const ModelClass& bill_class();
const ModelClass& line_item_class();

Value line_status(std::string_view member_name);  // "ACTIVE"
Value bill_status(std::string_view member_name);  // "DRAFT"

// A list of the database and the field its entries are looked up by.
struct Index {
  std::string_view list;
  std::string_view key;
  std::string_view noun;  // the refusal is "<noun> <key> not found"
};
inline constexpr Index kCustomers{"customers", "customer_id", "Customer with ID"};
inline constexpr Index kLines{"lines", "line_id", "Line with ID"};
inline constexpr Index kLinesByPhone{"lines", "phone_number", "Line with phone number"};
inline constexpr Index kPlans{"plans", "plan_id", "Plan with ID"};
inline constexpr Index kDevices{"devices", "device_id", "Device with ID"};
inline constexpr Index kBills{"bills", "bill_id", "Bill with ID"};

// The first entry whose key equals `id`.
// Errors   throws the refusal. The reference is valid until the database is next written to.
const Value& entry(const Value& db, const Index& index, const Value& id);
// Its slot for writing.
Value& edit_entry(Value& db, const Index& index, const Value& id);

// A line that belongs to the customer, or the refusals of both.
const Value& customer_line(const Value& db, const Value& customer_id, const Value& line_id);
Value& edit_customer_line(Value& db, const Value& customer_id, const Value& line_id);

// By the customer's own number or that of one of their lines.
const Value& customer_by_phone(const Value& db, const Value& phone_number);

bool has_status(const Value& entry, std::string_view value);  // of a line or bill: "Active"

// The first of the customer's bills in this status; nullptr: none. Throws at a bill that the
// database lacks: upstream looks at all of them, or stops at the one it wants.
enum class Scan { All, UntilFound };
const Value* first_bill(const Value& db, const Value& customer, std::string_view status, Scan scan);

}  // namespace unmask::telecom
