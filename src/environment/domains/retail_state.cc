#include "environment/domains/retail_state.h"

#include "environment/python.h"

namespace unmask::retail {

namespace {

using python::attribute;

FieldType table_of(const ModelClass& entries) {
  return type::dict(type::str(), type::model(entries));
}
FieldType texts() {
  return type::list(type::str());
}
FieldType options() {
  return type::dict(type::str(), type::str());
}

const ModelClass& variant_class() {
  static const ModelClass kClass("Variant", {{"item_id", type::str(), {}},
                                             {"options", options(), {}},
                                             {"available", type::boolean(), {}},
                                             {"price", type::number(), {}}});
  return kClass;
}

const ModelClass& product_class() {
  static const ModelClass kClass("Product", {{"name", type::str(), {}},
                                             {"product_id", type::str(), {}},
                                             {"variants", table_of(variant_class()), {}}});
  return kClass;
}

const ModelClass& name_class() {
  static const ModelClass kClass("UserName",
                                 {{"first_name", type::str(), {}}, {"last_name", type::str(), {}}});
  return kClass;
}

const ModelClass& credit_card_class() {
  static const ModelClass kClass("CreditCard", {{"source", type::literal({"credit_card"}), {}},
                                                {"id", type::str(), {}},
                                                {"brand", type::str(), {}},
                                                {"last_four", type::str(), {}}});
  return kClass;
}

const ModelClass& gift_card_class() {
  static const ModelClass kClass("GiftCard", {{"source", type::literal({"gift_card"}), {}},
                                              {"id", type::str(), {}},
                                              {"balance", type::number(), {}}});
  return kClass;
}

const ModelClass& paypal_class() {
  static const ModelClass kClass(
      "Paypal", {{"source", type::literal({"paypal"}), {}}, {"id", type::str(), {}}});
  return kClass;
}

const ModelClass& user_class() {
  static const ModelClass kClass(
      "User", {{"user_id", type::str(), {}},
               {"name", type::model(name_class()), {}},
               {"address", type::model(address_class()), {}},
               {"email", type::str(), {}},
               {"payment_methods",
                type::dict(type::str(), type::one_of({type::model(credit_card_class()),
                                                      type::model(gift_card_class()),
                                                      type::model(paypal_class())})),
                {}},
               {"orders", texts(), {}}});
  return kClass;
}

const ModelClass& fulfilment_class() {
  static const ModelClass kClass("OrderFullfilment",
                                 {{"tracking_id", texts(), {}}, {"item_ids", texts(), {}}});
  return kClass;
}

const ModelClass& order_item_class() {
  static const ModelClass kClass("OrderItem", {{"name", type::str(), {}},
                                               {"product_id", type::str(), {}},
                                               {"item_id", type::str(), {}},
                                               {"price", type::number(), {}},
                                               {"options", options(), {}}});
  return kClass;
}

FieldType order_status() {
  return type::literal({"processed", "pending", "pending (item modified)", "delivered", "cancelled",
                        "exchange requested", "return requested"});
}

const ModelClass& order_class() {
  static const FieldType kReason = type::literal({"no longer needed", "ordered by mistake"});
  static const ModelClass kClass(
      "Order", {{"order_id", type::str(), {}},
                {"user_id", type::str(), {}},
                {"address", type::model(address_class()), {}},
                {"items", type::list(type::model(order_item_class())), {}},
                {"status", order_status(), {}},
                {"fulfillments", type::list(type::model(fulfilment_class())), {}},
                {"payment_history", type::list(type::model(order_payment_class())), {}},
                {"cancel_reason", type::optional(kReason), Value()},
                {"exchange_items", type::optional(texts()), Value()},
                {"exchange_new_items", type::optional(texts()), Value()},
                {"exchange_payment_method_id", type::optional(type::str()), Value()},
                {"exchange_price_difference", type::optional(type::number()), Value()},
                {"return_items", type::optional(texts()), Value()},
                {"return_payment_method_id", type::optional(type::str()), Value()}});
  return kClass;
}

// An entry of a dict, or a ValueError that says `refusal`.
const Value& entry(const Value& table, const Value& id, const char* refusal) {
  const Value* found = python::lookup(table, id);
  if (!found) throw PythonError(refusal);
  return *found;
}

}  // namespace

const ModelClass& address_class() {
  static const ModelClass kClass("UserAddress", {{"address1", type::str(), {}},
                                                 {"address2", type::str(), {}},
                                                 {"city", type::str(), {}},
                                                 {"country", type::str(), {}},
                                                 {"state", type::str(), {}},
                                                 {"zip", type::str(), {}}});
  return kClass;
}

const ModelClass& order_payment_class() {
  static const ModelClass kClass("OrderPayment",
                                 {{"transaction_type", type::literal({"payment", "refund"}), {}},
                                  {"amount", type::number(), {}},
                                  {"payment_method_id", type::str(), {}}});
  return kClass;
}

const ModelClass& database_class() {
  static const ModelClass kClass("RetailDB",
                                 {{"products", table_of(product_class()), {}},
                                  {"users", table_of(user_class()), {}},
                                  {"orders", table_of(order_class()), {}}},
                                 ExtraFields::Forbidden);
  return kClass;
}

const Value& order(const Value& db, const Value& id) {
  return entry(attribute(db, "orders"), id, "Order not found");
}

const Value& user(const Value& db, const Value& id) {
  return entry(attribute(db, "users"), id, "User not found");
}

const Value& product(const Value& db, const Value& id) {
  return entry(attribute(db, "products"), id, "Product not found");
}

const Value& variant(const Value& db, const Value& product_id, const Value& variant_id) {
  return entry(attribute(product(db, product_id), "variants"), variant_id, "Variant not found");
}

const Value& item(const Value& db, const Value& id) {
  for (const Value& each : attribute(db, "products").items())
    if (const Value* found = python::lookup(attribute(each, "variants"), id)) return *found;
  throw PythonError("Item not found");
}

const Value& payment_method(const Value& db, const Value& user_id, const Value& id) {
  return entry(attribute(user(db, user_id), "payment_methods"), id, "Payment method not found");
}

bool is_gift_card(const Value& method) {
  return method.is_model(gift_card_class());
}

Value& edit_order(Value& db, std::string_view id) {
  return db.edit("orders").edit(id);
}
Value& edit_user(Value& db, std::string_view id) {
  return db.edit("users").edit(id);
}

Value& edit_payment_method(Value& db, std::string_view user_id, std::string_view id) {
  return edit_user(db, user_id).edit("payment_methods").edit(id);
}

}  // namespace unmask::retail
