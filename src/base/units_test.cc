#include "base/units.h"

#include <gtest/gtest.h>

namespace unmask {
namespace {

TEST(CountText, GroupsThousandsOfEitherSign) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(1000), "1,000");
  EXPECT_EQ(count_text(470001), "470,001");
  EXPECT_EQ(count_text(-1234567), "−1,234,567");
}

TEST(Counted, HasOneOfThemInTheSingular) {
  EXPECT_EQ(counted(1, "task"), "1 task");
  EXPECT_EQ(counted(0, "task"), "0 tasks");
  EXPECT_EQ(counted(2000, "failed call"), "2,000 failed calls");
}

}  // namespace
}  // namespace unmask
