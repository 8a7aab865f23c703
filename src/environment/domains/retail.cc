#include "environment/domains/retail.h"

#include <span>

#include "environment/calculator.h"
#include "environment/data_folder.h"
#include "environment/domains/retail_state.h"
#include "environment/json.h"
#include "environment/python.h"
#include "environment/toolkit.h"

namespace unmask {

namespace {

using namespace retail;
using python::attribute;
using python::str;

// Arguments by position, as the table below declares them.
struct ItemChange {
  const Value& order_id;
  const Value& item_ids;
  const Value& new_item_ids;
  const Value& payment_method_id;
};

bool has_status(const Value& order, std::string_view status) {
  return python::equal(attribute(order, "status"), status);
}

bool is_pending(const Value& order) {
  return python::contains(attribute(order, "status"), "pending");
}

Value payment(std::string_view kind, const Value& amount, const Value& method_id) {
  return construct(
      order_payment_class(),
      {{"transaction_type", Value(kind)}, {"amount", amount}, {"payment_method_id", method_id}});
}

// balance += amount (or -= with a sign of -1), rounded to cents, where the method is a gift card.
void move_balance(Value& db, const Value& user_id, const Value& method_id, const Value& amount,
                  int sign) {
  if (!is_gift_card(payment_method(db, user_id, method_id))) return;
  Value& card = edit_payment_method(db, user_id.as_str(), method_id.as_str());
  const Value& balance = attribute(card, "balance");
  const Value moved =
      sign > 0 ? python::add(balance, amount, "+=") : python::subtract(balance, amount, "-=");
  card.set("balance", python::rounded(moved, 2));
}

bool gift_card_lacks(const Value& method, const Value& amount) {
  return is_gift_card(method) && python::less(attribute(method, "balance"), amount);
}

Value column(const Value& models, std::string_view field) {
  std::vector<Value> values;
  for (const Value& each : models.items()) values.push_back(attribute(each, field));
  return Value::list(std::move(values));
}

// Throws `refusal(item_id)` where item_ids names an item more often than the order has it.
template <typename Refusal>
void require_items(const Value& order, const Value& item_ids, Refusal refusal) {
  const Value owned = column(attribute(order, "items"), "item_id");
  for (const Value& id : python::iterate(item_ids))
    if (python::count(item_ids, id) > python::count(owned, id)) throw PythonError(refusal(id));
}

// The position of the first item of the order with this id.
std::size_t item_position(const Value& order, const Value& item_id) {
  const Value& items = attribute(order, "items");
  for (std::size_t i = 0; i < items.size(); ++i)
    if (python::equal(attribute(items[i], "item_id"), item_id)) return i;
  throw PythonError("Item " + str(item_id) + " not found");
}

struct Replacement {
  Value difference = 0;  // new prices minus old ones; an int where there are no items
  Value last_variant;
};

// What exchanging the items would cost. `refuse_same`: an item may not be replaced by itself.
Replacement priced_replacement(const Value& db, const Value& order, const ItemChange& change,
                               bool refuse_same) {
  Replacement out;
  const std::vector<Value> old_ids = python::iterate(change.item_ids);
  const std::vector<Value> new_ids = python::iterate(change.new_item_ids);
  for (std::size_t i = 0; i < old_ids.size(); ++i) {
    if (refuse_same && python::equal(old_ids[i], new_ids[i]))
      throw PythonError("The new item id should be different from the old item id");
    const Value& item = attribute(order, "items")[item_position(order, old_ids[i])];
    out.last_variant = variant(db, attribute(item, "product_id"), new_ids[i]);
    if (!python::truthy(attribute(out.last_variant, "available")))
      throw PythonError("New item " + str(new_ids[i]) + " not found or available");
    const Value step =
        python::subtract(attribute(out.last_variant, "price"), attribute(item, "price"));
    out.difference = python::add(out.difference, step, "+=");
  }
  return out;
}

Value calculate_tool(ToolScope&, Arguments arguments) {
  return calculate(arguments[0]);
}

Value cancel_pending_order(ToolScope& self, Arguments arguments) {
  const Value& reason = arguments[1];
  const Value found = order(self.db, arguments[0]);
  if (!has_status(found, "pending")) throw PythonError("Non-pending order cannot be cancelled");
  python::require_hashable(reason);
  if (!python::equal(reason, "no longer needed") && !python::equal(reason, "ordered by mistake"))
    throw PythonError("Invalid reason");

  std::vector<Value> refunds;
  for (const Value& paid : attribute(found, "payment_history").items()) {
    const Value& method_id = attribute(paid, "payment_method_id");
    const Value& amount = attribute(paid, "amount");
    refunds.push_back(payment("refund", amount, method_id));
    const Value user_id = attribute(user(self.db, attribute(found, "user_id")), "user_id");
    move_balance(self.db, user_id, method_id, amount, +1);
  }

  Value& cancelled = edit_order(self.db, arguments[0].as_str());
  cancelled.set("status", "cancelled");
  cancelled.set("cancel_reason", reason);
  for (Value& refund : refunds) cancelled.edit("payment_history").append(std::move(refund));
  return cancelled;
}

Value exchange_delivered_order_items(ToolScope& self, Arguments arguments) {
  const ItemChange change{arguments[0], arguments[1], arguments[2], arguments[3]};
  const Value& found = order(self.db, change.order_id);
  if (!has_status(found, "delivered")) throw PythonError("Non-delivered order cannot be exchanged");
  require_items(found, change.item_ids,
                [](const Value& id) { return "Number of " + str(id) + " not found."; });
  if (python::length(change.item_ids) != python::length(change.new_item_ids))
    throw PythonError("The number of items to be exchanged should match.");
  const Value difference =
      python::rounded(priced_replacement(self.db, found, change, false).difference, 2);
  const Value& method =
      payment_method(self.db, attribute(found, "user_id"), change.payment_method_id);
  if (gift_card_lacks(method, difference))
    throw PythonError("Insufficient gift card balance to pay for the price difference");

  Value& exchanged = edit_order(self.db, change.order_id.as_str());
  exchanged.set("status", "exchange requested");
  exchanged.set("exchange_items", Value::list(python::sorted(change.item_ids)));
  exchanged.set("exchange_new_items", Value::list(python::sorted(change.new_item_ids)));
  exchanged.set("exchange_payment_method_id", change.payment_method_id);
  exchanged.set("exchange_price_difference", difference);
  return exchanged;
}

Value find_user_id_by_name_zip(ToolScope& self, Arguments arguments) {
  const Value& users = attribute(self.db, "users");
  for (std::size_t i = 0; i < users.size(); ++i) {
    const Value& name = attribute(users[i], "name");
    const auto same = [&](std::string_view field, const Value& wanted) {
      return python::equal(python::lower(attribute(name, field)), python::lower(wanted));
    };
    if (same("first_name", arguments[0]) && same("last_name", arguments[1]) &&
        python::equal(attribute(attribute(users[i], "address"), "zip"), arguments[2]))
      return users.key(i);
  }
  throw PythonError("User not found");
}

Value find_user_id_by_email(ToolScope& self, Arguments arguments) {
  const Value& users = attribute(self.db, "users");
  for (std::size_t i = 0; i < users.size(); ++i)
    if (python::equal(python::lower(attribute(users[i], "email")), python::lower(arguments[0])))
      return users.key(i);
  throw PythonError("User not found");
}

Value get_order_details(ToolScope& self, Arguments arguments) {
  return order(self.db, arguments[0]);
}
Value get_product_details(ToolScope& self, Arguments a) {
  return product(self.db, a[0]);
}
Value get_item_details(ToolScope& self, Arguments arguments) {
  return item(self.db, arguments[0]);
}
Value get_user_details(ToolScope& self, Arguments arguments) {
  return user(self.db, arguments[0]);
}

Value list_all_product_types(ToolScope& self, Arguments) {
  Value names = Value::dict();
  for (const Value& each : attribute(self.db, "products").items())
    names.set(str(attribute(each, "name")), attribute(each, "product_id"));
  return dump_json(names, KeyOrder::Sorted);
}

// From the arguments address1, address2, city, state, country, zip.
Value address(Arguments parts) {
  return construct(address_class(), {{"address1", parts[0]},
                                     {"address2", parts[1]},
                                     {"city", parts[2]},
                                     {"state", parts[3]},
                                     {"country", parts[4]},
                                     {"zip", parts[5]}});
}

Value modify_pending_order_address(ToolScope& self, Arguments arguments) {
  if (!is_pending(order(self.db, arguments[0])))
    throw PythonError("Non-pending order cannot be modified");
  Value changed = address(arguments.subspan(1));
  Value& slot = edit_order(self.db, arguments[0].as_str());
  slot.set("address", std::move(changed));
  return slot;
}

// Every changed item gets the price and options of the last new variant, as upstream's code has it.
void replace_items(Value& order, const ItemChange& change, const Value& last_variant) {
  const std::vector<Value> old_ids = python::iterate(change.item_ids);
  const std::vector<Value> new_ids = python::iterate(change.new_item_ids);
  for (std::size_t i = 0; i < old_ids.size(); ++i) {
    const std::size_t position = item_position(order, old_ids[i]);
    Value& item = order.edit("items").edit(position);
    item.set("item_id", new_ids[i]);
    item.set("price", attribute(last_variant, "price"));
    item.set("options", attribute(last_variant, "options"));
  }
}

Value modify_pending_order_items(ToolScope& self, Arguments arguments) {
  const ItemChange change{arguments[0], arguments[1], arguments[2], arguments[3]};
  const Value found = order(self.db, change.order_id);
  if (!has_status(found, "pending")) throw PythonError("Non-pending order cannot be modified");
  require_items(found, change.item_ids, [](const Value& id) { return str(id) + " not found"; });
  if (python::length(change.item_ids) != python::length(change.new_item_ids))
    throw PythonError("The number of items to be exchanged should match");
  const Replacement replacement = priced_replacement(self.db, found, change, true);
  const Value& difference = replacement.difference;
  const Value& user_id = attribute(found, "user_id");
  if (gift_card_lacks(payment_method(self.db, user_id, change.payment_method_id), difference))
    throw PythonError("Insufficient gift card balance to pay for the new item");

  const char* kind = python::greater(difference, Value(0)) ? "payment" : "refund";
  Value paid = payment(kind, python::absolute(difference), change.payment_method_id);
  edit_order(self.db, change.order_id.as_str()).edit("payment_history").append(std::move(paid));
  move_balance(self.db, user_id, change.payment_method_id, difference, -1);
  Value& modified = edit_order(self.db, change.order_id.as_str());
  replace_items(modified, change, replacement.last_variant);
  modified.set("status", "pending (item modified)");
  return modified;
}

Value modify_pending_order_payment(ToolScope& self, Arguments arguments) {
  const Value& method_id = arguments[1];
  const Value found = order(self.db, arguments[0]);
  if (!is_pending(found)) throw PythonError("Non-pending order cannot be modified");
  const Value& user_id = attribute(found, "user_id");
  const Value method = payment_method(self.db, user_id, method_id);
  const Value& history = attribute(found, "payment_history");
  if (history.size() != 1 || !python::equal(attribute(history[0], "transaction_type"), "payment"))
    throw PythonError("There should be exactly one payment for a pending order");
  const Value& old_method_id = attribute(history[0], "payment_method_id");
  if (python::equal(old_method_id, method_id))
    throw PythonError("The new payment method should be different from the current one");
  const Value& amount = attribute(history[0], "amount");
  if (gift_card_lacks(method, amount))
    throw PythonError("Insufficient gift card balance to pay for the order");

  Value paid = payment("payment", amount, method_id);
  Value refunded = payment("refund", amount, old_method_id);
  Value& payments = edit_order(self.db, arguments[0].as_str()).edit("payment_history");
  payments.append(std::move(paid));
  payments.append(std::move(refunded));
  move_balance(self.db, user_id, method_id, amount, -1);
  move_balance(self.db, user_id, old_method_id, amount, +1);
  return order(self.db, arguments[0]);
}

Value modify_user_address(ToolScope& self, Arguments arguments) {
  user(self.db, arguments[0]);
  Value changed = address(arguments.subspan(1));
  Value& slot = edit_user(self.db, arguments[0].as_str());
  slot.set("address", std::move(changed));
  return slot;
}

Value return_delivered_order_items(ToolScope& self, Arguments arguments) {
  const Value& item_ids = arguments[1];
  const Value& method_id = arguments[2];
  const Value& found = order(self.db, arguments[0]);
  if (!has_status(found, "delivered")) throw PythonError("Non-delivered order cannot be returned");
  const Value& owner = user(self.db, attribute(found, "user_id"));
  const Value& method = payment_method(self.db, attribute(owner, "user_id"), method_id);
  if (!is_gift_card(method)) {
    const Value first = python::item(attribute(found, "payment_history"), Value(0));
    if (!python::equal(method_id, attribute(first, "payment_method_id")))
      throw PythonError("Payment method should be the original payment method");
  }
  require_items(found, item_ids, [](const Value&) { return "Some item not found"; });

  Value returned_items = Value::list(python::sorted(item_ids));
  Value& returned = edit_order(self.db, arguments[0].as_str());
  returned.set("status", "return requested");
  returned.set("return_items", std::move(returned_items));
  returned.set("return_payment_method_id", method_id);
  return returned;
}

Value transfer_to_human_agents(ToolScope&, Arguments) {
  return "Transfer successful";
}

// Parameters that several tools share, in our own words.
Parameter order_id() {
  return {"order_id", type::str(), {}, "The order, with its leading '#': '#W0000000'."};
}
Parameter user_id() {
  return {"user_id", type::str(), {}, "The user, such as 'sara_doe_496'."};
}

Parameter method_id(std::string description) {
  return {"payment_method_id", type::str(), {}, std::move(description)};
}

Parameter ids(std::string name, std::string description) {
  return {std::move(name), type::list(type::str()), {}, std::move(description)};
}

std::vector<Parameter> with_address(Parameter first) {
  return {std::move(first),
          {"address1", type::str(), {}, "First line, such as '123 Main St'."},
          {"address2", type::str(), {}, "Second line, such as 'Apt 1', or empty."},
          {"city", type::str(), {}, "City."},
          {"state", type::str(), {}, "State, such as 'CA'."},
          {"country", type::str(), {}, "Country, such as 'USA'."},
          {"zip", type::str(), {}, "Zip code, such as '12345'."}};
}

std::vector<Tool> reading_tools() {
  return {{"find_user_id_by_name_zip",
           "Finds a user by name and zip code. Try the email first.",
           ToolType::Read,
           false,
           {{"first_name", type::str(), {}, "First name."},
            {"last_name", type::str(), {}, "Last name."},
            {"zip", type::str(), {}, "Zip code."}},
           find_user_id_by_name_zip},
          {"find_user_id_by_email",
           "Finds a user by email address.",
           ToolType::Read,
           false,
           {{"email", type::str(), {}, "Email address."}},
           find_user_id_by_email},
          {"get_order_details",
           "Shows an order: items, status, payments, shipments.",
           ToolType::Read,
           false,
           {order_id()},
           get_order_details},
          {"get_product_details",
           "Shows a product with its variants and stock.",
           ToolType::Read,
           false,
           {{"product_id", type::str(), {}, "The product; not the id of an item."}},
           get_product_details},
          {"get_item_details",
           "Shows one variant of a product.",
           ToolType::Read,
           false,
           {{"item_id", type::str(), {}, "The item; not the id of a product."}},
           get_item_details},
          {"get_user_details",
           "Shows a user with address, payment methods and orders.",
           ToolType::Read,
           false,
           {user_id()},
           get_user_details},
          {"list_all_product_types",
           "Lists the names of all products with their ids.",
           ToolType::Read,
           false,
           {},
           list_all_product_types}};
}

std::vector<Tool> modifying_tools() {
  const std::string kPayer = "What pays or receives the difference in price.";
  const std::string kConfirm = " Explain it and have the user confirm first.";
  return {
      {"modify_pending_order_address", "Changes where a pending order is sent." + kConfirm,
       ToolType::Write, true, with_address(order_id()), modify_pending_order_address},
      {"modify_pending_order_items",
       "Replaces items of a pending order by others of the same product; once per order." +
           kConfirm,
       ToolType::Write,
       true,
       {order_id(), ids("item_ids", "Items to replace; an id may occur more than once."),
        ids("new_item_ids", "What replaces each of them, in the same order."), method_id(kPayer)},
       modify_pending_order_items},
      {"modify_pending_order_payment",
       "Changes how a pending order is paid." + kConfirm,
       ToolType::Write,
       true,
       {order_id(), method_id("What is to pay instead.")},
       modify_pending_order_payment},
      {"modify_user_address", "Changes a user's own address." + kConfirm, ToolType::Write, true,
       with_address(user_id()), modify_user_address},
      {"return_delivered_order_items",
       "Returns items of a delivered order." + kConfirm,
       ToolType::Write,
       true,
       {order_id(), ids("item_ids", "Items to return; an id may occur more than once."),
        method_id("What receives the refund.")},
       return_delivered_order_items},
      {"transfer_to_human_agents",
       "Hands the user over to a human, with a summary. Only where the user asks for a human, or "
       "policy and tools cannot solve the problem.",
       ToolType::Generic,
       false,
       {{"summary", type::str(), {}, "What the user needs, in short."}},
       transfer_to_human_agents}};
}

std::vector<Tool> all_tools() {
  std::vector<Tool> tools = {
      {"calculate",
       "Computes an arithmetic expression.",
       ToolType::Generic,
       false,
       {{"expression", type::str(), {}, "Numbers, + - * /, parentheses and blanks."}},
       calculate_tool},
      {"cancel_pending_order",
       "Cancels a pending order and refunds it. Explain it and have the user confirm first.",
       ToolType::Write,
       true,
       {order_id(),
        {"reason", type::str(), {}, "Either 'no longer needed' or 'ordered by mistake'."}},
       cancel_pending_order},
      {"exchange_delivered_order_items",
       "Exchanges items of a delivered order for others of the same product; once per order. "
       "Explain it and have the user confirm first.",
       ToolType::Write,
       true,
       {order_id(), ids("item_ids", "Items to exchange; an id may occur more than once."),
        ids("new_item_ids", "What replaces each of them, in the same order."),
        method_id("What pays or receives the difference in price.")},
       exchange_delivered_order_items}};
  for (Tool& tool : reading_tools()) tools.push_back(std::move(tool));
  for (Tool& tool : modifying_tools()) tools.push_back(std::move(tool));
  return tools;
}

}  // namespace

const Toolkit& retail_tools() {
  static const Toolkit kTools{"RetailTools", all_tools(), {}};
  return kTools;
}

Result<Databases> retail_databases(const DataFolder& data) {
  const std::string file = "domains/retail/db.json";
  const Result<Value> json = data.json(file);
  if (!json) return json.error();
  Result<Value> database = checked_database(database_class(), *json, data.path(file));
  if (!database) return database.error();
  return Databases{std::move(*database), Value()};
}

Result<std::string> retail_policy(const DataFolder& data, bool) {
  return data.text("domains/retail/policy.md");
}

}  // namespace unmask
