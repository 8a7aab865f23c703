// Which of an engine's sequences a request is evaluated in, and what it need not evaluate again.
// Knows no model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace unmask {

using Token = std::int32_t;

// Where a request goes. Its first `reused` tokens are those of slot `from`: where that is another
// slot they are copied, then whatever `slot` held is gone.
struct Placement {
  int slot = 0;
  int from = 0;
  std::size_t reused = 0;

  bool operator==(const Placement&) const = default;
};

// Idea. Copying a prefix costs little and evaluating it costs all there is, so the longest
// prefix that any slot holds is used, and the choice of a slot only decides what is forgotten: a
// slot that the request merely continues loses nothing; then an empty one; then the one that the
// request departs from; then the least recently used.
//
// A request waits where another in progress will soon hold more of its prefix than any slot does
// now: the system prompt that all conversations begin with is evaluated once.
//
// Threads  guard it.
class SlotTable {
 public:
  // step: prefixes are reused in multiples of it, of what was evaluated in whole steps.
  SlotTable(int slots, std::size_t step);

  // Makes the slot busy, its tokens the reused ones. At least the prompt's last token is never
  // reused. nullopt: wait.
  std::optional<Placement> place(std::span<const Token> prompt);

  // The slot now holds these tokens as well.
  void evaluated(int slot, std::span<const Token> tokens);
  // The same of a token of the reply. Not reused where steps count.
  void generated(int slot, Token token);
  // The slot holds nothing after all: what was to be reused could not be kept.
  void forget(int slot);
  void release(int slot);

  std::span<const Token> tokens(int slot) const;

 private:
  struct Slot {
    std::vector<Token> tokens;
    std::size_t reusable = 0;    // of these
    std::vector<Token> planned;  // the whole prompt while busy
    bool busy = false;
    std::uint64_t used = 0;
  };
  std::size_t reusable(const Slot& slot, std::span<const Token> prompt) const;
  int target(std::span<const std::size_t> shared, std::size_t best) const;

  std::size_t step_;
  std::vector<Slot> slots_;
  std::uint64_t uses_ = 0;
};

}  // namespace unmask
