#include "metrics/arm_labels.h"

#include <gtest/gtest.h>

namespace unmask {
namespace {

LabelledArm named(std::string label, std::string domain, std::string file, std::string role) {
  const std::string own = label;
  return {std::move(label), own, false, std::move(domain), std::move(file), std::move(role)};
}

using Labels = std::vector<std::string>;

TEST(DistinctLabels, LeavesLabelsThatDiffer) {
  EXPECT_EQ(distinct_labels(
                {named("a", "telecom", "x", "baseline"), named("b", "telecom", "x", "candidate")}),
            (Labels{"a", "b"}));
  EXPECT_TRUE(distinct_labels({}).empty());
}

TEST(DistinctLabels, TakesTheFirstThatDiffersInAllOfThem) {
  EXPECT_EQ(distinct_labels({named("gpt", "telecom", "bf16", "baseline"),
                             named("gpt", "telecom", "int4", "candidate")}),
            (Labels{"gpt (bf16)", "gpt (int4)"}));
  EXPECT_EQ(distinct_labels({named("gpt", "telecom", "results", "baseline"),
                             named("gpt", "telecom", "results", "candidate")}),
            (Labels{"gpt (baseline)", "gpt (candidate)"}));
  EXPECT_EQ(distinct_labels({named("gpt", "telecom", "bf16", "baseline"),
                             named("gpt", "retail", "bf16", "baseline")}),
            (Labels{"gpt (telecom)", "gpt (retail)"}));
  // Neither domain, file nor role alone.
  EXPECT_EQ(
      distinct_labels(
          {named("gpt", "telecom", "log", "baseline"), named("gpt", "telecom", "log", "candidate"),
           named("gpt", "retail", "log", "baseline"), named("gpt", "retail", "log", "candidate")}),
      (Labels{"gpt (telecom, baseline)", "gpt (telecom, candidate)", "gpt (retail, baseline)",
              "gpt (retail, candidate)"}));
}

TEST(DistinctLabels, NumbersWhereNothingDiffersAndWhereAMadeLabelIsTaken) {
  EXPECT_EQ(distinct_labels({named("a", "", "", ""), named("a", "", "", ""),
                             named("a #2", "", "", ""), named("a", "", "", "")}),
            (Labels{"a", "a #3", "a #2", "a #4"}));
  EXPECT_EQ(
      distinct_labels({named("a (x)", "d", "z", "baseline"), named("a", "d", "x", "candidate"),
                       named("a", "d", "y", "candidate 2")}),
      (Labels{"a (x)", "a (x) #2", "a (y)"}));
}

TEST(FileLabel, IsTheNameWithoutFolderAndExtensions) {
  EXPECT_EQ(file_label("logs/int4.json"), "int4");
  EXPECT_EQ(file_label("int4.q4.json.gz"), "int4.q4");
  EXPECT_EQ(file_label("logs/folder/"), "folder");
  EXPECT_EQ(file_label("-"), "-");
}

TEST(LabelClash, RefusesAGivenLabelThatIsAnotherArmsLabelOrOwnName) {
  LabelledArm baseline = named("gpt", "telecom", "a", "baseline");
  LabelledArm candidate = named("gpt-int4", "telecom", "b", "candidate");
  EXPECT_FALSE(label_clash({baseline, candidate}));
  // Alike without being given: told apart, not refused.
  EXPECT_FALSE(label_clash({baseline, baseline}));

  baseline.label = "gpt-int4";
  baseline.given = true;
  const std::optional<Error> own = label_clash({baseline, candidate});
  ASSERT_TRUE(own);
  EXPECT_EQ(
      own->message,
      "the label 'gpt-int4' given to the baseline is also the candidate's own name: give each "
      "arm a label of its own");
  // The other's own name, although it has another label now.
  candidate.label = "INT4";
  candidate.given = true;
  EXPECT_TRUE(label_clash({baseline, candidate}));
  candidate.label = "gpt-int4";
  ASSERT_TRUE(label_clash({baseline, candidate}));
  EXPECT_NE(label_clash({baseline, candidate})->message.find("candidate's label"),
            std::string::npos);
}

TEST(LabelClash, LetsAnArmKeepTheNameBothHaveWhereTheOtherHasALabel) {
  LabelledArm baseline = named("gpt", "telecom", "a", "baseline");
  LabelledArm candidate = baseline;
  candidate.role = "candidate";
  baseline.given = true;
  EXPECT_TRUE(label_clash({baseline, candidate}));
  candidate.label = "gpt INT4";
  candidate.given = true;
  EXPECT_FALSE(label_clash({baseline, candidate}));
}

}  // namespace
}  // namespace unmask
