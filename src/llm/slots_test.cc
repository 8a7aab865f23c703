#include "llm/slots.h"

#include <gtest/gtest.h>

#include <numeric>

namespace unmask {
namespace {

std::vector<Token> counted(int from, int count) {
  std::vector<Token> tokens(static_cast<std::size_t>(count));
  std::iota(tokens.begin(), tokens.end(), from);
  return tokens;
}

std::vector<Token> joined(std::vector<Token> a, const std::vector<Token>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Evaluates the rest of the prompt and lets go of the slot.
void play(SlotTable& table, const Placement& at, const std::vector<Token>& prompt) {
  table.evaluated(at.slot, std::span(prompt).subspan(at.reused));
  table.release(at.slot);
}

TEST(SlotTable, ContinuesTheConversationItHolds) {
  SlotTable table(3, 1);
  const std::vector<Token> first = counted(0, 50);
  play(table, *table.place(first), first);
  const std::vector<Token> second = joined(first, counted(900, 10));
  EXPECT_EQ(table.place(second), (Placement{0, 0, 50}));
}

TEST(SlotTable, CopiesASharedBeginningIntoAnEmptySlot) {
  SlotTable table(2, 1);
  const std::vector<Token> system = counted(0, 40);
  const std::vector<Token> one = joined(system, counted(100, 10));
  const std::vector<Token> other = joined(system, counted(200, 10));
  play(table, *table.place(one), one);
  EXPECT_EQ(table.place(other), (Placement{1, 0, 40}));
}

TEST(SlotTable, EvaluatesTheLastTokenOfAPromptItHoldsWholly) {
  SlotTable table(1, 1);
  const std::vector<Token> prompt = counted(0, 20);
  play(table, *table.place(prompt), prompt);
  EXPECT_EQ(table.place(prompt)->reused, 19u);
}

TEST(SlotTable, WaitsForAPrefixThatIsBeingEvaluated) {
  SlotTable table(2, 1);
  const std::vector<Token> system = counted(0, 40);
  const std::vector<Token> one = joined(system, counted(100, 10));
  const std::vector<Token> other = joined(system, counted(200, 10));
  const Placement at = *table.place(one);
  EXPECT_EQ(table.place(other), std::nullopt);
  table.evaluated(at.slot, std::span(one).first(40));
  EXPECT_EQ(table.place(other), (Placement{1, 0, 40})) << "while the first goes on";
}

TEST(SlotTable, DoesNotWaitForAPrefixOfAFewTokens) {
  SlotTable table(2, 1);
  const std::vector<Token> one = counted(0, 50);
  ASSERT_TRUE(table.place(one));
  EXPECT_EQ(table.place(joined(counted(0, 10), counted(500, 40))), (Placement{1, 1, 0}));
}

TEST(SlotTable, RecyclesTheLeastRecentlyUsed) {
  SlotTable table(2, 1);
  const std::vector<Token> a = counted(0, 30);
  const std::vector<Token> b = counted(1000, 30);
  play(table, *table.place(a), a);
  play(table, *table.place(b), b);
  const std::vector<Token> c = counted(2000, 30);
  EXPECT_EQ(table.place(c)->slot, 0);
  EXPECT_EQ(table.place(joined(b, c))->slot, 1);
  EXPECT_EQ(table.place(counted(3000, 5)), std::nullopt) << "all are busy";
}

TEST(SlotTable, TakesTheSlotThatTheConversationDepartedFrom) {
  SlotTable table(2, 1);
  const std::vector<Token> system = counted(0, 20);
  const std::vector<Token> a = joined(system, counted(100, 30));
  const std::vector<Token> b = joined(system, counted(200, 30));
  play(table, *table.place(b), b);
  play(table, *table.place(a), a);
  // b's last tokens are written otherwise in its next prompt.
  std::vector<Token> next(b.begin(), b.end() - 3);
  EXPECT_EQ(table.place(joined(next, counted(900, 20))), (Placement{0, 0, 47}));
}

TEST(SlotTable, ReusesWholeStepsOfPromptsOnly) {
  SlotTable table(1, 16);
  const std::vector<Token> prompt = counted(0, 40);
  const Placement at = *table.place(prompt);
  table.evaluated(at.slot, std::span(prompt).first(16));
  table.evaluated(at.slot, std::span(prompt).subspan(16, 16));
  table.evaluated(at.slot, std::span(prompt).subspan(32));
  for (Token token = 40; token < 60; ++token) table.generated(at.slot, token);
  table.release(at.slot);
  EXPECT_EQ(table.place(counted(0, 80))->reused, 32u);
}

TEST(SlotTable, ForgetsWhatCouldNotBeKept) {
  SlotTable table(1, 1);
  const std::vector<Token> prompt = counted(0, 40);
  play(table, *table.place(prompt), prompt);
  const Placement again = *table.place(prompt);
  table.forget(again.slot);
  table.release(again.slot);
  EXPECT_EQ(table.place(prompt)->reused, 0u);
}

}  // namespace
}  // namespace unmask
