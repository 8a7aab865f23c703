// The topics of pocket_retail, by their index in its table, and what its texts are made of.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace unmask::pocket::retail_world {

enum : std::size_t {
  Customer,
  History,
  Order,
  Stock,
  Return,
  Exchange,
  Cancel,
  Address,
  Case,
  Human,
  Points,
  Card,
};
inline constexpr std::size_t kTopicCount = Card + 1;

// What the user may wish for, by topic: "return shirt", "exchange shirt red", "cancel shirt",
// "address shirt A63".
inline constexpr std::array<std::size_t, 4> kWishes = {Return, Exchange, Cancel, Address};

// Orders go back once they have come, and are changed before they have.
inline constexpr bool needs_delivery(std::size_t wish) {
  return wish == Return || wish == Exchange;
}

inline constexpr std::array<std::string_view, 9> kGoods = {
    "boots", "chair", "clock", "hat", "lamp", "mug", "shirt", "tent", "watch"};
inline constexpr std::array<std::string_view, 4> kColors = {"black", "blue", "green", "red"};

}  // namespace unmask::pocket::retail_world
