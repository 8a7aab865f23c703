#include "llm/slots.h"

#include <algorithm>

#include "base/check.h"

namespace unmask {
namespace {

// What waiting must save; less is evaluated sooner than waited for.
constexpr std::size_t kWorthWaiting = 16;

std::size_t common_prefix(std::span<const Token> a, std::span<const Token> b) {
  const std::size_t most = std::min(a.size(), b.size());
  return static_cast<std::size_t>(
      std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(most), b.begin()).first -
      a.begin());
}

}  // namespace

SlotTable::SlotTable(int slots, std::size_t step)
    : step_(step), slots_(static_cast<std::size_t>(slots)) {
  UNMASK_CHECK(slots > 0 && step > 0);
}

std::size_t SlotTable::reusable(const Slot& slot, std::span<const Token> prompt) const {
  const std::size_t shared =
      std::min({common_prefix(slot.tokens, prompt), slot.reusable, prompt.size() - 1});
  return shared / step_ * step_;
}

// shared: of each slot. -1: all are busy.
int SlotTable::target(std::span<const std::size_t> shared, std::size_t best) const {
  int continued = -1;
  int empty = -1;
  int departed = -1;
  int oldest = -1;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    if (slot.busy) continue;
    const int index = static_cast<int>(i);
    if (slot.tokens.empty()) {
      if (empty < 0) empty = index;
      continue;
    }
    if (shared[i] == best && best == slot.tokens.size()) continued = index;
    if (shared[i] == best && std::count(shared.begin(), shared.end(), best) == 1) departed = index;
    if (oldest < 0 || slot.used < slots_[static_cast<std::size_t>(oldest)].used) oldest = index;
  }
  for (const int index : {continued, empty, departed})
    if (index >= 0) return index;
  return oldest;
}

std::optional<Placement> SlotTable::place(std::span<const Token> prompt) {
  UNMASK_CHECK(!prompt.empty());
  std::vector<std::size_t> shared;
  for (const Slot& slot : slots_) shared.push_back(reusable(slot, prompt));
  const auto best = std::max_element(shared.begin(), shared.end());
  for (const Slot& slot : slots_) {
    if (!slot.busy) continue;
    const std::size_t soon =
        std::min(common_prefix(slot.planned, prompt), prompt.size() - 1) / step_ * step_;
    if (soon >= *best + kWorthWaiting && slot.tokens.size() < slot.planned.size())
      return std::nullopt;
  }
  const int index = target(shared, *best);
  if (index < 0) return std::nullopt;
  Placement placement{index, static_cast<int>(best - shared.begin()), *best};
  Slot& slot = slots_[static_cast<std::size_t>(index)];
  if (shared[static_cast<std::size_t>(index)] == *best) placement.from = index;
  slot.tokens.assign(prompt.begin(), prompt.begin() + static_cast<std::ptrdiff_t>(*best));
  slot.reusable = *best;
  slot.planned.assign(prompt.begin(), prompt.end());
  slot.busy = true;
  slot.used = ++uses_;
  return placement;
}

void SlotTable::evaluated(int slot, std::span<const Token> tokens) {
  Slot& at = slots_[static_cast<std::size_t>(slot)];
  const bool whole = at.reusable == at.tokens.size();
  at.tokens.insert(at.tokens.end(), tokens.begin(), tokens.end());
  if (whole) at.reusable = at.tokens.size() / step_ * step_;
}

void SlotTable::generated(int slot, Token token) {
  Slot& at = slots_[static_cast<std::size_t>(slot)];
  at.tokens.push_back(token);
  if (step_ == 1) at.reusable = at.tokens.size();
}

void SlotTable::forget(int slot) {
  Slot& at = slots_[static_cast<std::size_t>(slot)];
  at.tokens.clear();
  at.reusable = 0;
}

void SlotTable::release(int slot) {
  Slot& at = slots_[static_cast<std::size_t>(slot)];
  at.busy = false;
  at.planned.clear();
  at.used = ++uses_;
}

std::span<const Token> SlotTable::tokens(int slot) const {
  return slots_[static_cast<std::size_t>(slot)].tokens;
}

}  // namespace unmask
