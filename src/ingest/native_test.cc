#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "base/rng.h"
#include "ingest/testing.h"
#include "trace/native_writer.h"

namespace unmask {
namespace {

using namespace unmask::testing;

// Random runs in which every member takes its default and other values.
class RandomRun {
 public:
  explicit RandomRun(std::uint64_t seed) : rng_(seed) {}

  Run make() {
    Run run;
    RunInfo& info = run.info;
    info.format = rng_.bernoulli(0.5) ? "tau2" : "inspect";
    for (std::string* text :
         {&info.domain, &info.model, &info.user_model, &info.agent_implementation,
          &info.user_implementation, &info.agent_settings, &info.user_settings, &info.git_commit,
          &info.timestamp, &info.policy_hash, &info.failure_rule})
      *text = text_or_empty();
    info.seed = maybe<std::int64_t>(number());
    info.num_trials = maybe(small());
    info.max_steps = maybe(small());
    info.max_errors = maybe(small());
    for (int i = small() % 3; i > 0; --i) info.task_ids.push_back(text());
    for (int i = 0; i < 5; ++i) run.episodes.push_back(episode());
    return run;
  }

 private:
  std::string text() {
    static const std::vector<std::string> kTexts = {
        "plain",      "quote\" and \\",        "line\nend\r\t", "é ह 😀",
        "{\"a\": 1}", std::string("nul\0", 4), "\x01\x1f",      "<tool_call>"};
    return kTexts[rng_.below(static_cast<std::uint32_t>(kTexts.size()))];
  }
  std::string text_or_empty() { return rng_.bernoulli(0.5) ? text() : ""; }
  int small() { return static_cast<int>(rng_.below(100)); }
  std::int64_t number() { return static_cast<std::int64_t>(rng_.next()); }
  double real() { return (rng_.uniform() - 0.5) * (rng_.bernoulli(0.5) ? 1e-9 : 1e12); }
  template <typename T>
  std::optional<T> maybe(T value) {
    return rng_.bernoulli(0.5) ? std::optional<T>(value) : std::nullopt;
  }
  Side side() { return rng_.bernoulli(0.5) ? Side::Agent : Side::User; }

  Attempt attempt() {
    Attempt a;
    a.text = text_or_empty();
    for (int i = small() % 3; i > 0; --i) {
      const bool object = rng_.bernoulli(0.5);
      a.calls.push_back({text_or_empty(), text_or_empty(), object ? R"({"a": [1]})" : "[\"é",
                         object, "", side()});
    }
    a.refused = static_cast<std::size_t>(small());
    a.channel = text();
    a.feedback = text_or_empty();
    a.empty_text = rng_.bernoulli(0.2);
    a.reasoning = text_or_empty();
    a.spends_budget = rng_.bernoulli(0.5);
    if (rng_.bernoulli(0.5)) a.usage = TokenUsage{number(), number()};
    return a;
  }

  Message message() {
    Message m;
    m.role = static_cast<Role>(rng_.below(4));
    m.text = text_or_empty();
    m.empty_text = rng_.bernoulli(0.2);
    m.reasoning = text_or_empty();
    for (int i = small() % 3; i > 0; --i) {
      const bool object = rng_.bernoulli(0.5);
      m.calls.push_back({text_or_empty(), text_or_empty(), object ? R"({"a": [1]})" : text(),
                         object, text_or_empty(), side()});
    }
    if (m.role == Role::Tool)
      m.result = ToolResult{text_or_empty(), text_or_empty(), rng_.bernoulli(0.5), text_or_empty(),
                            side()};
    m.raw_text = text_or_empty();
    m.raw_calls = maybe(small());
    m.raw_data = text_or_empty();
    for (int i = small() % 3; i > 0; --i) m.attempts.push_back(attempt());
    if (rng_.bernoulli(0.5)) m.decision = R"({"first": {"token": "é", "top": [["x", -1.5]]}})";
    if (rng_.bernoulli(0.5)) m.usage = TokenUsage{number(), number()};
    m.cost_usd = maybe(real());
    m.seconds = maybe(real());
    return m;
  }

  std::optional<std::vector<OfferedTool>> tools() {
    if (rng_.bernoulli(0.5)) return std::nullopt;
    std::vector<OfferedTool> offered;
    for (int i = small() % 3; i > 0; --i)
      offered.push_back({text(), text_or_empty(), text_or_empty()});
    return offered;
  }

  Episode episode() {
    Episode e;
    e.id = text_or_empty();
    e.task_id = text();
    e.domain = text_or_empty();
    e.trial = small();
    e.seed = maybe<std::int64_t>(number());
    e.termination = static_cast<Termination>(rng_.below(11));
    e.termination_text = text_or_empty();
    e.reward = maybe(real());
    e.success = maybe(rng_.bernoulli(0.5));
    for (int i = small() % 4; i > 0; --i) e.messages.push_back(message());
    e.agent_tools = tools();
    e.user_tools = tools();
    e.duration_seconds = maybe(std::fabs(real()));
    e.agent_cost_usd = maybe(std::fabs(real()));
    e.user_cost_usd = maybe(std::fabs(real()));
    e.model = text_or_empty();
    e.policy_hash = text_or_empty();
    e.reward_info = text_or_empty();
    e.grade_evidence = text_or_empty();
    e.where = text();
    return e;
  }

  Rng rng_;
};

TEST(Native, GivesBackEveryRunExactly) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const unmask::Run run = RandomRun(seed).make();
    const Result<IngestReport> report = read_text(write_native(run));
    ASSERT_TRUE(report) << to_string(report.error());
    EXPECT_TRUE(report->warnings.empty()) << report->warnings[0].message;
    EXPECT_TRUE(report->dropped.empty()) << report->dropped[0].reason;
    ASSERT_TRUE(report->run == run) << "seed " << seed;
  }
}

TEST(Native, CountsLinesAndSurvivesBadOnes) {
  const std::string log =
      "\xEF\xBB\xBF{\"schema\": \"unmask.log/1\", \"domain\": \"mock\"}\r\n\r\n"
      "{\"task_id\": \"a\", \"trial\": 1, \"messages\": []}\r\n"
      "{\"trial\": 1}\n"
      "not json\n"
      "{\"task_id\": \"b\", \"trial\": 0, \"messages\": [{\"role\": \"tool\"}, {\"role\": "
      "\"x\"}]}\n"
      "{\"task_id\": \"c\", \"mess";
  const Result<IngestReport> report = read_text(log);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->run.info.domain, "mock");
  ASSERT_EQ(report->episodes, 2u);
  EXPECT_EQ(report->run.episodes[0].where, "log.json:3");
  ASSERT_EQ(report->dropped.size(), 3u);
  EXPECT_EQ(report->dropped[0].where, "log.json:4");
  EXPECT_EQ(report->dropped[0].code, "missing_task_id");
  EXPECT_EQ(report->dropped[1].where, "log.json:5");
  EXPECT_EQ(report->dropped[2].code, "truncated_record");
  EXPECT_NE(find_warning(*report, "inconsistent_message"), nullptr);
  EXPECT_NE(find_warning(*report, "unknown_word"), nullptr);
}

TEST(Native, RefusesOtherSchemas) {
  const Result<IngestReport> later = read_text("{\"schema\": \"unmask.log/9\"}\n");
  ASSERT_FALSE(later);
  EXPECT_EQ(later.error().kind, ErrorKind::Unsupported);
  EXPECT_EQ(read_text("{\"a\": 1}\n", "native").error().kind, ErrorKind::Malformed);
  EXPECT_EQ(read_text("{\"sch", "native").error().kind, ErrorKind::Malformed);
}

TEST(Native, DoesNotTrustTheArgumentsFlag) {
  const Result<IngestReport> report = read_text(
      "{\"schema\": \"unmask.log/1\"}\n{\"task_id\": \"a\", \"messages\": [{\"role\": \"agent\", "
      "\"calls\": [{\"name\": \"x\", \"arguments\": \"{oops\"}]}]}\n");
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->run.episodes.at(0).messages.at(0).calls.at(0).arguments_are_object);
  EXPECT_NE(find_warning(*report, "unreadable_arguments"), nullptr);
}

}  // namespace
}  // namespace unmask
