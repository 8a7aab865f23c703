// The classes of retail's database, and the ways its tools look things up in it.
#pragma once

#include <string>
#include <string_view>

#include "environment/schema.h"
#include "environment/value.h"

namespace unmask::retail {

const ModelClass& database_class();
const ModelClass& address_class();
const ModelClass& order_payment_class();

// Each looks an entry up, or throws "Order not found", "User not found" ... The reference is valid
// until the database is next written to.
const Value& order(const Value& db, const Value& id);
const Value& user(const Value& db, const Value& id);
const Value& product(const Value& db, const Value& id);
const Value& variant(const Value& db, const Value& product_id, const Value& variant_id);
const Value& item(const Value& db, const Value& id);  // a variant of any product
const Value& payment_method(const Value& db, const Value& user_id, const Value& id);

bool is_gift_card(const Value& payment_method);

// Slots for writing, of entries that are there.
Value& edit_order(Value& db, std::string_view id);
Value& edit_user(Value& db, std::string_view id);
Value& edit_payment_method(Value& db, std::string_view user_id, std::string_view id);

}  // namespace unmask::retail
