// pocket_retail: one or two wishes about orders that have to be found first; whatever is written
// names orders and items by ids that were read before.
#include "environment/pocket/retail.h"

#include <algorithm>

#include "environment/pocket/scene.h"
#include "environment/python.h"

namespace unmask::pocket {

namespace retail_world {
namespace {

constexpr std::string_view kDelivered = "delivered";
constexpr std::string_view kPending = "pending";

const std::string& text(const Value& owner, std::string_view key) {
  return owner.find(key)->as_str();
}

[[noreturn]] void not_found(std::string_view noun, const Value& id) {
  throw PythonError(std::string(noun) + " " + python::str(id) + " not found");
}

// The entry of a table of the database under an id of the call.
const Value& entry(const Value& table, std::string_view noun, const Value& id) {
  const Value* found = id.is_str() ? table.find(id.as_str()) : nullptr;
  if (!found) not_found(noun, id);
  return *found;
}

const Value& order_of(const ToolScope& self, const Value& id) {
  return entry(*self.db.find("orders"), "order", id);
}

const Value& item_of(const Value& order, const Value& id) {
  return entry(*order.find("items"), "item", id);
}

void check_status(const Value& order, const Value& id, std::string_view wanted) {
  if (!python::equal(*order.find("status"), wanted))
    throw PythonError("order " + id.as_str() + " is " + text(order, "status"));
}

void check_own(const ToolScope& self, const Value& id, std::string_view key) {
  if (!python::equal(id, text(self.db, key))) not_found(key, id);
}

Value& edit_order(ToolScope& self, const Value& id) {
  return self.db.edit("orders").edit(id.as_str());
}

Value read_customer(ToolScope& self, Arguments arguments) {
  check_own(self, arguments[0], "customer");
  return text(self.db, "account");
}

Value read_history(ToolScope& self, Arguments arguments) {
  check_own(self, arguments[0], "account");
  const Value& orders = *self.db.find("orders");
  std::string out;
  for (std::size_t i = 0; i < orders.size(); ++i) out += (i ? " " : "") + orders.key(i);
  return out;
}

Value read_order(ToolScope& self, Arguments arguments) {
  const Value& order = order_of(self, arguments[0]);
  std::string out = arguments[0].as_str() + " " + text(order, "status");
  const Value& items = *order.find("items");
  for (std::size_t i = 0; i < items.size(); ++i)
    out += " " + text(items[i], "good") + " " + items.key(i);
  const Value& orders = *self.db.find("orders");
  for (std::size_t i = 0; i + 1 < orders.size(); ++i)
    if (orders.key(i) == arguments[0].as_str()) out += " next " + orders.key(i + 1);
  return out;
}

Value read_stock(ToolScope& self, Arguments arguments) {
  const Value& good = entry(*self.db.find("goods"), "item", arguments[0]);
  const Value& offers = *self.db.find("stock")->find(good.as_str());
  std::string out;
  for (std::size_t i = 0; i < offers.size(); ++i)
    out += (i ? " " : "") + text(offers[i], "color") + " " + offers.key(i) +
           (offers[i].find("left")->as_bool() ? " left" : " out");
  return out;
}

void set_item_state(ToolScope& self, Arguments arguments, const Value& state) {
  Value& items = edit_order(self, arguments[0]).edit("items");
  items.edit(arguments[1].as_str()).set("state", state);
}

Value return_item(ToolScope& self, Arguments arguments) {
  const Value& order = order_of(self, arguments[0]);
  item_of(order, arguments[1]);
  check_status(order, arguments[0], kDelivered);
  set_item_state(self, arguments, "returned");
  return "ok";
}

Value exchange_item(ToolScope& self, Arguments arguments) {
  const Value& order = order_of(self, arguments[0]);
  const Value& item = item_of(order, arguments[1]);
  const Value& offers = *self.db.find("stock")->find(text(item, "good"));
  const Value& offer = entry(offers, "item", arguments[2]);
  check_status(order, arguments[0], kDelivered);
  if (!offer.find("left")->as_bool())
    throw PythonError("item " + arguments[2].as_str() + " is out");
  set_item_state(self, arguments, arguments[2]);
  return "ok";
}

Value cancel_order(ToolScope& self, Arguments arguments) {
  check_status(order_of(self, arguments[0]), arguments[0], kPending);
  edit_order(self, arguments[0]).set("status", "cancelled");
  return "ok";
}

Value change_address(ToolScope& self, Arguments arguments) {
  const Value& order = order_of(self, arguments[0]);
  const std::span<const Value> known = self.db.find("addresses")->items();
  if (std::none_of(known.begin(), known.end(),
                   [&](const Value& each) { return python::equal(each, arguments[1]); }))
    not_found("address", arguments[1]);
  check_status(order, arguments[0], kPending);
  edit_order(self, arguments[0]).set("address", arguments[1]);
  return "ok";
}

Value end_case(ToolScope& self, Arguments arguments, const char* state) {
  check_own(self, arguments[0], "account");
  if (text(self.db, "case") != "open") throw PythonError("case is closed");
  self.db.set("case", state);
  return state;
}

Value close_case(ToolScope& self, Arguments arguments) {
  return end_case(self, arguments, "closed");
}

Value hand_over(ToolScope& self, Arguments arguments) {
  return end_case(self, arguments, "moved");
}

Value read_points(ToolScope& self, Arguments arguments) {
  check_own(self, arguments[0], "account");
  return text(self.db, "points");
}

Value read_card(ToolScope& self, Arguments arguments) {
  check_own(self, arguments[0], "account");
  return text(self.db, "card");
}

struct Offer {
  std::string id;
  std::string_view color;
  bool left = true;
};

struct Item {
  std::string id;
  std::string_view good;
  std::vector<Offer> offers;
};

struct OrderDrawn {
  std::string id;
  bool delivered = false;
  std::vector<Item> items;
};

struct Wish {
  std::size_t topic = Return;
  std::size_t order = 0;  // where the good is
  std::size_t item = 0;
  std::size_t offer = 0;  // Exchange: the wanted one
  std::string address;    // Address
  bool possible = true;   // policy and stock allow it
};

struct Errand {
  std::vector<OrderDrawn> orders;
  std::vector<Wish> wishes;  // of different orders
};

std::uint32_t narrow(std::size_t n) {
  return static_cast<std::uint32_t>(n);
}

template <typename T>
void shuffle(T& items, Rng& rng) {
  for (std::size_t i = items.size(); i > 1; --i)
    std::swap(items[i - 1], items[rng.below(narrow(i))]);
}

Errand drawn_errand(Rng& rng) {
  constexpr double kPossible = 0.85;
  Errand errand;
  errand.orders.resize(1 + rng.below(2));
  for (OrderDrawn& order : errand.orders) {
    order.delivered = rng.bernoulli(0.5);
    order.items.resize(1 + rng.below(2));
    for (Item& item : order.items) item.offers.resize(2 + rng.below(2));
  }
  errand.wishes.resize(errand.orders.size() > 1 && rng.bernoulli(0.3) ? 2 : 1);
  const std::size_t first = rng.below(narrow(errand.orders.size()));
  for (std::size_t i = 0; i < errand.wishes.size(); ++i) {
    Wish& wish = errand.wishes[i];
    wish.topic = kWishes[rng.below(kWishes.size())];
    const std::size_t others = errand.orders.size() - 1;
    wish.order = i == 0 ? first : (first + 1 + rng.below(narrow(others))) % errand.orders.size();
    OrderDrawn& order = errand.orders[wish.order];
    wish.item = rng.below(narrow(order.items.size()));
    wish.possible = rng.bernoulli(kPossible);
    order.delivered = needs_delivery(wish.topic) == wish.possible;
    if (wish.topic != Exchange) continue;
    std::vector<Offer>& offers = order.items[wish.item].offers;
    wish.offer = rng.below(narrow(offers.size()));
    offers[wish.offer].left = rng.bernoulli(kPossible);
    wish.possible = wish.possible && offers[wish.offer].left;
  }
  return errand;
}

std::string structure_of(const Errand& errand) {
  std::string out;
  for (const OrderDrawn& order : errand.orders)
    out += (order.delivered ? "d" : "p") + std::to_string(order.items.size());
  for (const Wish& wish : errand.wishes) {
    const Item& item = errand.orders[wish.order].items[wish.item];
    out += " " + std::to_string(wish.topic) + "." + std::to_string(wish.order) + "." +
           std::to_string(wish.item) + (wish.possible ? "+" : "-");
    if (wish.topic == Exchange)
      out += std::to_string(item.offers.size()) + "." + std::to_string(wish.offer);
  }
  return out;
}

// Goods, colors and ids. No good comes twice, so that a wish names one item.
void fill_in(Errand& errand, Rng& rng, std::vector<std::string>& taken) {
  std::array<std::string_view, kGoods.size()> goods = kGoods;
  shuffle(goods, rng);
  std::size_t next = 0;
  for (OrderDrawn& order : errand.orders) {
    order.id = drawn_id('O', rng, taken);
    for (Item& item : order.items) {
      item.id = drawn_id('I', rng, taken);
      item.good = goods[next++];
      std::array<std::string_view, kColors.size()> colors = kColors;
      shuffle(colors, rng);
      for (std::size_t i = 0; i < item.offers.size(); ++i) {
        item.offers[i].id = drawn_id('I', rng, taken);
        item.offers[i].color = colors[i];
      }
    }
  }
  for (Wish& wish : errand.wishes)
    if (wish.topic == Address) wish.address = drawn_id('A', rng, taken);
}

Value database_of(const Errand& errand, Rng& rng, std::vector<std::string>& taken) {
  Value orders = Value::dict();
  Value stock = Value::dict();
  Value goods = Value::dict();
  for (const OrderDrawn& order : errand.orders) {
    Value items = Value::dict();
    for (const Item& item : order.items) {
      items.set(item.id, Value::dict({{"good", item.good}, {"state", "kept"}}));
      goods.set(item.id, item.good);
      Value offers = Value::dict();
      for (const Offer& offer : item.offers)
        offers.set(offer.id, Value::dict({{"color", offer.color}, {"left", offer.left}}));
      stock.set(item.good, std::move(offers));
    }
    orders.set(order.id, Value::dict({{"status", order.delivered ? kDelivered : kPending},
                                      {"address", "home"},
                                      {"items", std::move(items)}}));
  }
  Value addresses = Value::list({drawn_id('A', rng, taken)});
  for (const Wish& wish : errand.wishes)
    if (wish.topic == Address) addresses.append(wish.address);
  return Value::dict({{"customer", drawn_id('P', rng, taken)},
                      {"account", drawn_id('C', rng, taken)},
                      {"orders", std::move(orders)},
                      {"goods", std::move(goods)},
                      {"stock", std::move(stock)},
                      {"addresses", std::move(addresses)},
                      {"points", rng.bernoulli(0.5) ? "gold" : "silver"},
                      {"card", rng.bernoulli(0.5) ? "card new" : "card old"},
                      {"case", "open"}});
}

std::string wish_text(const Errand& errand, const Wish& wish) {
  const Item& item = errand.orders[wish.order].items[wish.item];
  std::string out = std::string(retail().topics[wish.topic].noun) + " " + std::string(item.good);
  if (wish.topic == Exchange) out += " " + std::string(item.offers[wish.offer].color);
  if (wish.topic == Address) out += " " + wish.address;
  return out;
}

std::vector<SolutionStep> solution_of(const Errand& errand, const std::string& account) {
  std::vector<SolutionStep> steps;
  bool all_possible = true;
  for (const Wish& wish : errand.wishes) {
    all_possible = all_possible && wish.possible;
    if (!wish.possible) continue;
    const OrderDrawn& order = errand.orders[wish.order];
    const Item& item = order.items[wish.item];
    SolutionStep step{wish.topic, {order.id}};
    if (needs_delivery(wish.topic)) step.arguments.push_back(item.id);
    if (wish.topic == Exchange) step.arguments.push_back(item.offers[wish.offer].id);
    if (wish.topic == Address) step.arguments.push_back(wish.address);
    steps.push_back(std::move(step));
  }
  steps.push_back({all_possible ? Case : Human, {account}});
  return steps;
}

std::vector<bool> needed_by(const Errand& errand) {
  std::vector<bool> needed(kTopicCount, false);
  for (const std::size_t topic : {Customer, History, Order, Case, Human}) needed[topic] = true;
  for (const Wish& wish : errand.wishes) {
    needed[wish.topic] = true;
    if (wish.topic == Exchange) needed[Stock] = true;
  }
  return needed;
}

Scene draw(Rng& rng) {
  constexpr double kOfferedAnyway = 0.65;
  Errand errand = drawn_errand(rng);
  std::vector<std::string> taken;
  fill_in(errand, rng, taken);
  Scene scene;
  scene.structure = structure_of(errand);
  scene.database = database_of(errand, rng, taken);
  const std::vector<bool> needed = needed_by(errand);
  for (std::size_t topic = 0; topic < kTopicCount; ++topic) {
    const std::string name = drawn_name(retail().topics[topic], rng);
    if (needed[topic] || rng.bernoulli(kOfferedAnyway))
      scene.tools.push_back({topic, Side::Agent, name});
  }
  shuffle(scene.tools, rng);
  std::string wishes;
  for (const Wish& wish : errand.wishes)
    wishes += (wishes.empty() ? "" : " and ") + wish_text(errand, wish);
  const std::string& customer = text(scene.database, "customer");
  scene.opening = "hi " + customer + " " + wishes;
  scene.wish = "You are customer " + customer + ". You want: " + wishes + ".";
  scene.solution = solution_of(errand, text(scene.database, "account"));
  return scene;
}

PocketWorld made() {
  PocketWorld world;
  world.name = "pocket_retail";
  world.class_name = "PocketRetail";
  world.sentence = "Serve the shopper. Yours are call.";
  world.draw = draw;
  world.topics = {
      {"customer", "Find", false, {"id"}, read_customer},
      {"history", "List", false, {"id"}, read_history},
      {"order", "Get", false, {"order"}, read_order},
      {"stock", "Check", false, {"item"}, read_stock},
      {"return", "Make", true, {"order", "item"}, return_item},
      {"exchange", "Set", true, {"order", "item", "new"}, exchange_item},
      {"cancel", "Send", true, {"order"}, cancel_order},
      {"address", "Push", true, {"order", "address"}, change_address},
      {"case", "Close", true, {"id"}, close_case},
      {"human", "Send", true, {"id"}, hand_over},
      {"points", "Show", false, {"id"}, read_points},
      {"card", "View", false, {"id"}, read_card},
  };
  return world;
}

}  // namespace
}  // namespace retail_world

const PocketWorld& retail() {
  static const PocketWorld kWorld = retail_world::made();
  return kWorld;
}

}  // namespace unmask::pocket
