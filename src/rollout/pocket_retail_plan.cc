// Find the orders, read them one by one until the one with the wanted good turns up, and do what
// its status allows; a wish that cannot be met sends the case to a human.
#include <algorithm>
#include <map>

#include "environment/pocket/retail.h"
#include "rollout/pocket_plan.h"

namespace unmask {

namespace pocket::retail_world {
namespace {

struct Wish {
  std::size_t topic = Return;
  std::string good;
  std::string detail;  // a color, an address
  bool done = false;
};

struct SeenOrder {
  std::string status;
  std::map<std::string, std::string> items;  // good to id
};

// "hi P42 return shirt and address lamp A63"
std::vector<Wish> wishes_in(const std::vector<std::string>& words) {
  std::vector<Wish> wishes;
  for (std::size_t i = 2; i + 1 < words.size(); ++i) {
    for (const std::size_t topic : kWishes) {
      if (pocket::retail().topics[topic].noun != words[i]) continue;
      Wish wish{topic, words[i + 1], "", false};
      const bool has_detail = topic == Exchange || topic == Address;
      if (has_detail && i + 2 < words.size()) wish.detail = words[i + 2];
      wishes.push_back(std::move(wish));
    }
  }
  return wishes;
}

class RetailPlan : public PocketPlan {
 public:
  RetailPlan(const pocket::Scene& scene, std::string_view opening) : scene_(scene) {
    const std::vector<std::string> words = words_of(opening);
    if (words.size() > 1) customer_ = words[1];
    wishes_ = wishes_in(words);
  }

  std::optional<PocketStep> next() const override {
    if (ended_) return std::nullopt;
    if (account_.empty()) return PocketStep{Customer, {customer_}};
    if (orders_.empty()) return PocketStep{History, {account_}};
    bool all_met = true;
    for (const Wish& wish : wishes_) {
      if (wish.done) continue;
      if (std::optional<PocketStep> step = towards(wish)) return step;
      all_met = false;
    }
    return PocketStep{all_met ? Case : Human, {account_}};
  }

  void learn(const PocketStep& step, std::string_view reply) override {
    const std::vector<std::string> words = words_of(reply);
    if (words.empty()) return;
    if (step.topic == Customer) account_ = words[0];
    if (step.topic == History) orders_ = words;
    if (step.topic == Order) learn_order(seen_[step.arguments[0]], words);
    if (step.topic == Stock) stock_[step.arguments[0]] = words;
    if (step.topic == Case || step.topic == Human) ended_ = true;
    for (Wish& wish : wishes_) {
      const std::optional<PocketStep> due = wish.done ? std::nullopt : towards(wish);
      if (!due || wish.topic != step.topic || due->topic != step.topic) continue;
      if (due->arguments == step.arguments) wish.done = true;
    }
  }

  std::optional<PocketStep> detour(Rng& rng) const override {
    const std::optional<PocketStep> planned = next();
    if (account_.empty() || !planned) return std::nullopt;
    std::vector<std::size_t> choices;
    for (const std::size_t topic : {History, Points, Card})
      if (topic != planned->topic && scene_.find_tool(topic)) choices.push_back(topic);
    if (choices.empty()) return std::nullopt;
    return PocketStep{choices[rng.below(static_cast<std::uint32_t>(choices.size()))], {account_}};
  }

  // Another order in a return or exchange, an item of elsewhere, an offer of another good: none
  // can do harm, since order, item and offer have to belong together.
  std::vector<std::string> misplaced(const PocketStep& step, std::size_t argument) const override {
    std::vector<std::string> ids;
    if (step.topic != Return && step.topic != Exchange) return ids;
    if (argument == 0) {
      for (const std::string& order : orders_)
        if (order != step.arguments[0]) ids.push_back(order);
      return ids;
    }
    const SeenOrder& own = seen_.at(step.arguments[0]);
    for (const auto& [order, seen] : seen_)
      for (const auto& [good, id] : seen.items)
        if (argument == 2 || &seen != &own) ids.push_back(id);
    if (argument == 1)
      for (const auto& [item, offers] : stock_)
        for (std::size_t i = 1; i < offers.size(); i += 3) ids.push_back(offers[i]);
    return ids;
  }

 private:
  // "O51 delivered shirt I48 lamp I31 next O77"
  static void learn_order(SeenOrder& order, const std::vector<std::string>& words) {
    if (words.size() > 1) order.status = words[1];
    for (std::size_t i = 2; i + 1 < words.size() && words[i] != "next"; i += 2)
      order.items[words[i]] = words[i + 1];
  }

  // nullopt: it cannot be met.
  std::optional<PocketStep> towards(const Wish& wish) const {
    for (const std::string& id : orders_) {
      const auto seen = seen_.find(id);
      if (seen == seen_.end()) return PocketStep{Order, {id}};
      const auto item = seen->second.items.find(wish.good);
      if (item != seen->second.items.end()) return towards(wish, id, seen->second, item->second);
    }
    return std::nullopt;
  }

  std::optional<PocketStep> towards(const Wish& wish, const std::string& order,
                                    const SeenOrder& seen, const std::string& item) const {
    if (seen.status != (needs_delivery(wish.topic) ? "delivered" : "pending")) return std::nullopt;
    const std::string& good = wish.good;
    if (wish.topic == Cancel) return PocketStep{Cancel, {order}, good};
    if (wish.topic == Address) return PocketStep{Address, {order, wish.detail}, good};
    if (wish.topic == Return) return PocketStep{Return, {order, item}, good};
    const auto offers = stock_.find(item);
    if (offers == stock_.end()) return PocketStep{Stock, {item}, good};
    const std::vector<std::string>& words = offers->second;  // "red I77 left blue I52 out"
    for (std::size_t i = 0; i + 2 < words.size(); i += 3)
      if (words[i] == wish.detail && words[i + 2] == "left")
        return PocketStep{Exchange, {order, item, words[i + 1]}, good + " " + wish.detail};
    return std::nullopt;
  }

  const pocket::Scene& scene_;
  std::string customer_;
  std::vector<Wish> wishes_;
  std::string account_;
  std::vector<std::string> orders_;
  std::map<std::string, SeenOrder> seen_;                  // by order
  std::map<std::string, std::vector<std::string>> stock_;  // by item
  bool ended_ = false;
};

}  // namespace
}  // namespace pocket::retail_world

std::unique_ptr<PocketPlan> retail_plan(const pocket::Scene& scene, std::string_view opening) {
  return std::make_unique<pocket::retail_world::RetailPlan>(scene, opening);
}

}  // namespace unmask
