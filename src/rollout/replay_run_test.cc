#include "rollout/replay_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include "base/file.h"
#include "llm/scripted_model.h"
#include "rollout/replay_tally.h"

namespace unmask {
namespace {

// Five episodes of four decisions, two arms.
class ReplayRun : public testing::Test, public ReplayObserver {
 protected:
  ReplayRun() {
    folder_ = std::filesystem::path(testing::TempDir()) /
              ("replay_" + std::to_string(::getpid()) + "_" +
               testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    for (int i = 0; i < 5; ++i) {
      Episode episode;
      episode.task_id = "t" + std::to_string(i);
      for (int turn = 0; turn < 4; ++turn)
        for (const Role role : {Role::User, Role::Agent}) {
          Message message;
          message.role = role;
          message.text = episode.task_id + " turn " + std::to_string(turn);
          episode.messages.push_back(std::move(message));
        }
      episodes_.push_back(std::move(episode));
    }
    AgentView view;
    view.prompt = "Rules.";
    view.tools = R"([{"type": "function", "function": {"name": "find"}}])";
    view.offered = {{"find", R"({"type": "object", "required": ["n"]})"}};
    const auto shared = std::make_shared<const AgentView>(view);
    for (const Episode& episode : episodes_) sources_.push_back({&episode, "retail", shared});
    contexts_ = prepared(sources_, all_decisions(sources_, 1), 1);
    head_.log = "log.json";
    head_.arms = {{"A", "", "a", "{}", true, ""}, {"B", "", "b", "{}", false, ""}};
    head_.eligible = head_.selected = static_cast<long>(contexts_.size());
  }
  ~ReplayRun() override { std::filesystem::remove_all(folder_); }

  void answered(std::size_t done) override { told_ = std::max(told_, done); }

  std::string path(const std::string& name = "replay.jsonl") const {
    return (folder_ / name).string();
  }

  // What an arm says depends on what it was asked alone; how long it takes does not.
  static Result<ChatReply> usual(const ChatRequest& request) {
    std::this_thread::sleep_for(std::chrono::microseconds(rand() % 300));
    const std::string& last = *request.messages.back().content;
    ChatReply reply;
    reply.message.role = ChatMessage::Role::Assistant;
    reply.message.content = "to " + last;
    if (request.messages.size() % 4 == 0)
      reply.message.calls.push_back({"x", last.ends_with("1") ? "fetch" : "find", "{\"n\": 1}"});
    reply.seconds = 1.5;
    return reply;
  }

  ReplayEnd replay(Answer a, Answer b, int slots = 3, ReplayControl control = {},
                   const std::string& name = "replay.jsonl") {
    const std::unique_ptr<ChatModel> first = scripted_model("a", std::move(a));
    const std::unique_ptr<ChatModel> second = scripted_model("b", std::move(b));
    Result<ReplayLock> lock = ReplayLock::take(path(name));
    if (!lock) return {0, 0, false, lock.error()};
    Result<std::unique_ptr<ReplayFile>> file = ReplayFile::open(std::move(*lock), head_, contexts_);
    if (!file) return {0, 0, false, file.error()};
    ReplayPlan plan{sources_, contexts_, {}, {slots, 1}};
    plan.arms = {{head_.arms[0], first.get(), false, 0, "arm 'A'"},
                 {head_.arms[1], second.get(), false, 1, "arm 'B'"}};
    plan.samples = head_.samples;
    plan.seed = 11;
    return replay_decisions(plan, **file, *this, control);
  }

  std::string whole() {
    const ReplayEnd end = replay(usual, usual, 1, {}, "whole.jsonl");
    EXPECT_FALSE(end.error) << to_string(*end.error);
    return *read_file(path("whole.jsonl"));
  }

  std::filesystem::path folder_;
  std::vector<Episode> episodes_;
  std::vector<ReplaySource> sources_;
  std::vector<PreparedContext> contexts_;
  ReplayHead head_;
  std::size_t told_ = 0;
};

Error gone() {
  return Error{ErrorKind::Unavailable, "nobody is there", "http://h"};
}

TEST_F(ReplayRun, WritesTheSameBytesAtAnyNumberOfSlots) {
  const std::string expected = whole();
  for (const int slots : {2, 4, 16}) {
    const std::string name = "slots" + std::to_string(slots);
    EXPECT_FALSE(replay(usual, usual, slots, {}, name).error);
    EXPECT_EQ(*read_file(path(name)), expected) << slots << " slots";
  }
  EXPECT_EQ(told_, 40u);
  EXPECT_EQ(std::count(expected.begin(), expected.end(), '\n'), 1 + 1 + 20 + 40);
  EXPECT_EQ(expected.find("seconds"), std::string::npos);
}

TEST_F(ReplayRun, GoesOnFromWhereverItWasCutOff) {
  const std::string expected = whole();
  for (std::size_t length = 0; length <= expected.size(); length += 97) {
    ASSERT_TRUE(write_file(path(), expected.substr(0, length)));
    const ReplayEnd end = replay(usual, usual);
    ASSERT_FALSE(end.error) << length << ": " << to_string(*end.error);
    ASSERT_EQ(*read_file(path()), expected) << "cut after " << length << " bytes";
  }
}

TEST_F(ReplayRun, GoesOnAfterALastLineOfZeros) {
  const std::string expected = whole();
  const std::size_t cut = expected.find('\n', expected.size() / 2) + 1;
  ASSERT_TRUE(write_file(path(), expected.substr(0, cut) + std::string(50, '\0') + "\n"));
  EXPECT_FALSE(replay(usual, usual).error);
  EXPECT_EQ(*read_file(path()), expected);
}

TEST_F(ReplayRun, AsksNothingAgain) {
  const std::string expected = whole();
  ASSERT_TRUE(write_file(path(), expected));
  const auto never = [](const ChatRequest&) -> Result<ChatReply> {
    ADD_FAILURE() << "asked";
    return gone();
  };
  const ReplayEnd end = replay(never, never);
  EXPECT_FALSE(end.error);
  EXPECT_EQ(end.written, 40u);
  EXPECT_EQ(*read_file(path()), expected);
}

TEST_F(ReplayRun, NamesWhatDiffersFromAnEarlierReplay) {
  const std::string expected = whole();
  ASSERT_TRUE(write_file(path(), expected));
  head_.seed = 7;
  head_.arms[1].settings = R"({"temperature": 1})";
  const ReplayEnd end = replay(usual, usual);
  ASSERT_TRUE(end.error);
  EXPECT_NE(end.error->message.find("arm 'B' settings was '{}', is '{\"temperature\": 1}'"),
            std::string::npos)
      << end.error->message;
  EXPECT_NE(end.error->message.find("seed was '0', is '7'"), std::string::npos);
  EXPECT_EQ(*read_file(path()), expected) << "nothing was touched";
}

TEST_F(ReplayRun, RefusesAFileOfSomethingElse) {
  for (const char* other : {"important\n", "important", "{\"schema\": \"unmask.log/1\"}\n"}) {
    ASSERT_TRUE(write_file(path(), other));
    const ReplayEnd end = replay(usual, usual);
    ASSERT_TRUE(end.error);
    EXPECT_EQ(end.error->kind, ErrorKind::Malformed);
    EXPECT_EQ(*read_file(path()), other);
  }
}

TEST_F(ReplayRun, RefusesAFileWhoseContextsAreNotThoseOfTheLog) {
  const std::string expected = whole();
  ASSERT_TRUE(write_file(path(), expected));
  episodes_[3].messages[0].text = "something else";
  contexts_ = prepared(sources_, all_decisions(sources_, 1), 1);
  const ReplayEnd end = replay(usual, usual);
  ASSERT_TRUE(end.error);
  EXPECT_EQ(end.error->where, path() + ":39");
  EXPECT_EQ(*read_file(path()), expected);
}

// Lines are 1-based; the file has 62: head, tools, and for each of 20 contexts its line and two
// replies.
TEST_F(ReplayRun, SaysWhichOfItsOwnLinesIsDamagedAndHow) {
  const std::string expected = whole();
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < expected.size(); at = expected.find('\n', at) + 1)
    lines.push_back(expected.substr(at, expected.find('\n', at) + 1 - at));
  ASSERT_EQ(lines.size(), 62u);
  using Lines = std::vector<std::string>;
  struct Damage {
    void (*done)(Lines&);
    int line;
    std::string said;
  };
  const Damage cases[] = {
      {[](Lines& l) { l[9][20] = '\0'; }, 10, "the file itself is damaged"},
      {[](Lines& l) { l[11] = "{\"kind\": \"song\"}\n"; }, 12, "the file itself is damaged"},
      {[](Lines& l) { l.erase(l.begin() + 10); }, 11, "where the reply of 'B', sample 0,"},
      {[](Lines& l) { std::swap(l[9], l[10]); }, 10, "missing, doubled or out of order"},
      {[](Lines& l) { l.insert(l.begin() + 10, l[9]); }, 11, "of the kind reply where the reply"},
      {[](Lines& l) { l.erase(l.begin() + 8); }, 9, "of the kind reply where a context is due"},
      {[](Lines& l) { l.push_back("more\n"); }, 63, "follows the last line"},
      {[](Lines& l) { l[2].insert(l[2].find("\"sha256\"") + 11, "0"); }, 3,
       "has another SHA-256 of its messages and tools than the context 'e0m1'"},
      {[](Lines& l) { l[2].insert(l[2].find("\"sha256\"") + 11, "0"); }, 3, "(head -n 2)"},
      {[](Lines& l) { l.erase(l.begin() + 1); }, 2, "the line of the tools is missing"},
      {[](Lines& l) { l[1].insert(l[1].find("\"names\"") + 10, "\"extra\", "); }, 2,
       "is not the list of tools that the log gives here"},
      {[](Lines& l) { l[2].insert(l[2].find("\"turns\"") + 9, "1"); }, 3,
       "is not written as the context"},
      {[](Lines& l) { l.erase(l.begin() + 7, l.begin() + 12); }, 8,
       "lines of the file are missing"},
      {[](Lines& l) {
         for (std::string& line : l) line.insert(line.size() - 1, "\r");
       },
       2, "ends with CR LF"},
  };
  for (const Damage& damage : cases) {
    Lines damaged = lines;
    damage.done(damaged);
    std::string text;
    for (const std::string& line : damaged) text += line;
    ASSERT_TRUE(write_file(path(), text));
    const ReplayEnd end = replay(usual, usual);
    ASSERT_TRUE(end.error) << damage.said;
    EXPECT_EQ(end.error->where, path() + ":" + std::to_string(damage.line)) << damage.said;
    EXPECT_NE(end.error->message.find(damage.said), std::string::npos) << end.error->message;
    EXPECT_EQ(*read_file(path()), text) << "nothing was touched";
  }
}

TEST_F(ReplayRun, RefusesARecordedReplyWhoseCallHasChanged) {
  const std::string expected = whole();
  for (const char* part : {"\"fetch\"", "\\\"n\\\": 1"}) {
    std::string changed = expected;
    const std::size_t at = changed.find(part, changed.find("\"kind\": \"reply\""));
    ASSERT_NE(at, std::string::npos) << part;
    changed[at + 2] = 'x';
    ASSERT_TRUE(write_file(path(), changed));
    const ReplayEnd end = replay(usual, usual);
    ASSERT_TRUE(end.error) << part;
    const auto line =
        1 + std::count(changed.begin(), changed.begin() + static_cast<long>(at), '\n');
    EXPECT_EQ(end.error->where, path() + ":" + std::to_string(line));
    EXPECT_NE(end.error->message.find("a reply that has changed since it was written"),
              std::string::npos)
        << end.error->message;
    EXPECT_EQ(*read_file(path()), changed) << "nothing was touched";
  }
}

// The file without the checks of its first `count` replies.
std::string without_checks(std::string text, int count) {
  std::size_t at = 0;
  for (int i = 0; i < count; ++i) {
    at = text.find(", \"check\": \"", at);
    text.erase(at, text.find('}', at) - at);
  }
  return text;
}

TEST_F(ReplayRun, RefusesARecordedReplyWhoseCheckIsGone) {
  const std::string changed = without_checks(whole(), 1);
  ASSERT_TRUE(write_file(path(), changed));
  const ReplayEnd end = replay(usual, usual);
  ASSERT_TRUE(end.error);
  EXPECT_EQ(end.error->where, path() + ":4");
  EXPECT_NE(end.error->message.find("it has no check, as other replies of the file have"),
            std::string::npos)
      << end.error->message;
  EXPECT_EQ(*read_file(path()), changed) << "nothing was touched";
}

TEST_F(ReplayRun, GoesOnWithoutChecksInAFileOfAnEarlierVersion) {
  const std::string earlier = without_checks(whole(), 40);
  const std::size_t cut = earlier.find('\n', earlier.size() / 2) + 1;
  ASSERT_TRUE(write_file(path(), earlier.substr(0, cut)));
  const ReplayEnd end = replay(usual, usual);
  ASSERT_FALSE(end.error) << to_string(*end.error);
  EXPECT_EQ(*read_file(path()), earlier);
}

TEST_F(ReplayRun, LetsNoSecondReplayAtTheSameFile) {
  {
    const Result<ReplayLock> held = ReplayLock::take(path());
    ASSERT_TRUE(held);
    const ReplayEnd end = replay(usual, usual);
    ASSERT_TRUE(end.error);
    EXPECT_NE(end.error->message.find("another replay"), std::string::npos);
    EXPECT_TRUE(std::filesystem::exists(path()));
  }
  EXPECT_FALSE(std::filesystem::exists(path())) << "nothing was asked";
  EXPECT_FALSE(replay(usual, usual).error);
  EXPECT_TRUE(ReplayLock::take(path()));
  EXPECT_TRUE(std::filesystem::exists(path())) << "what is in a file stays";
}

TEST_F(ReplayRun, AsksTheDecisionsOfAnEpisodeInTurn) {
  std::mutex mutex;
  std::map<std::string, std::vector<std::size_t>> lengths;
  const auto watching = [&](const ChatRequest& request) {
    const std::lock_guard<std::mutex> lock(mutex);
    lengths[request.messages[1].content->substr(0, 2)].push_back(request.messages.size());
    return usual(request);
  };
  EXPECT_FALSE(replay(watching, usual, 4).error);
  ASSERT_EQ(lengths.size(), 5u);
  for (const auto& [task, each] : lengths)
    EXPECT_EQ(each, (std::vector<std::size_t>{2, 4, 6, 8})) << task;
}

TEST_F(ReplayRun, StopsWhenItIsToldToAndKeepsWhatIsThere) {
  const std::string expected = whole();
  std::stop_source stop;
  std::atomic<int> asked = 0;
  const auto stopping = [&](const ChatRequest& request) {
    if (++asked == 9) stop.request_stop();
    return usual(request);
  };
  const ReplayEnd end = replay(stopping, usual, 2, {stop.get_token(), {}});
  EXPECT_TRUE(end.stopped);
  EXPECT_FALSE(end.error);
  EXPECT_GT(end.left, 0u);
  EXPECT_TRUE(expected.starts_with(*read_file(path())));
  EXPECT_FALSE(replay(usual, usual).error);
  EXPECT_EQ(*read_file(path()), expected);
}

TEST_F(ReplayRun, EndsAtAServerThatIsNotThere) {
  const auto dead = [](const ChatRequest&) -> Result<ChatReply> { return gone(); };
  const ReplayEnd end = replay(usual, dead);
  ASSERT_TRUE(end.error);
  EXPECT_EQ(end.error->where, "arm 'B'");
  EXPECT_NE(end.error->message.find("does not answer"), std::string::npos);
  EXPECT_EQ(read_file(path())->find("\"error\""), std::string::npos);
  const std::string expected = whole();
  EXPECT_FALSE(replay(usual, usual).error);
  EXPECT_EQ(*read_file(path()), expected) << "nothing of it stays";
}

TEST_F(ReplayRun, EndsAtAServerThatGoesAwayForTheLastReplies) {
  std::atomic<int> asked = 0;
  const auto leaving = [&](const ChatRequest& request) -> Result<ChatReply> {
    if (++asked > 18) return gone();
    return usual(request);
  };
  const ReplayEnd end = replay(usual, leaving);
  ASSERT_TRUE(end.error);
  EXPECT_EQ(end.left, 3u) << "with the other arm's reply after the first of them";
  const std::string expected = whole();
  EXPECT_FALSE(replay(usual, usual).error);
  EXPECT_EQ(*read_file(path()), expected);
}

TEST_F(ReplayRun, KeepsAsErrorsWhatAServerThatAnswersOthersCannotAnswer) {
  const auto broken_by = [](ErrorKind kind, std::string where) {
    return [=](const ChatRequest& request) -> Result<ChatReply> {
      if (request.messages.back().content->starts_with("t2")) return Error{kind, "no", where};
      return usual(request);
    };
  };
  for (const auto& [kind, where] :
       {std::pair<ErrorKind, std::string>{ErrorKind::Unavailable, "http://h"},
        {ErrorKind::InvalidArgument, ""},
        {ErrorKind::Malformed, ""},
        {ErrorKind::Unavailable, std::string(kContextWindow)}}) {
    std::filesystem::remove(path());
    const ReplayEnd end = replay(usual, broken_by(kind, where));
    ASSERT_FALSE(end.error) << to_string(*end.error);
    const Result<std::vector<ReplayTally>> tally = tally_replay(path());
    ASSERT_TRUE(tally);
    EXPECT_EQ((*tally)[1].errors, 4);
    EXPECT_EQ((*tally)[1].replies, 16);
    EXPECT_EQ((*tally)[1].compared, 16);
  }
}

TEST_F(ReplayRun, EndsAtAModelThatRefusesEverything) {
  const auto refusing = [](const ChatRequest&) -> Result<ChatReply> {
    return Error{ErrorKind::InvalidArgument, "no such model", ""};
  };
  const ReplayEnd end = replay(refusing, usual, 1);
  ASSERT_TRUE(end.error);
  EXPECT_NE(end.error->message.find("refuses every request"), std::string::npos);
  EXPECT_EQ(read_file(path())->find("\"reply\""), std::string::npos);
}

TEST_F(ReplayRun, GivesEverySampleASeedOfItsOwnAndAllArmsTheSame) {
  head_.samples = 3;
  head_.greedy = false;
  std::mutex mutex;
  std::vector<std::int64_t> seeds[2];
  const auto noting = [&](int arm) {
    return [&, arm](const ChatRequest& request) {
      const std::lock_guard<std::mutex> lock(mutex);
      seeds[arm].push_back(request.seed.value_or(-1));
      return usual(request);
    };
  };
  EXPECT_FALSE(replay(noting(0), noting(1), 1).error);
  ASSERT_EQ(seeds[0].size(), 60u);
  EXPECT_EQ(seeds[0], seeds[1]);
  std::sort(seeds[0].begin(), seeds[0].end());
  EXPECT_EQ(std::unique(seeds[0].begin(), seeds[0].end()), seeds[0].end());
  EXPECT_GE(seeds[0].front(), 0);
  head_.arms[1].repeats = "A";
  seeds[1].clear();
  EXPECT_FALSE(replay(noting(0), noting(1), 1, {}, "again.jsonl").error);
  std::sort(seeds[1].begin(), seeds[1].end());
  std::vector<std::int64_t> shared;
  std::set_intersection(seeds[0].begin(), seeds[0].end(), seeds[1].begin(), seeds[1].end(),
                        std::back_inserter(shared));
  EXPECT_TRUE(shared.empty()) << "asked once more, it is another draw";
}

TEST_F(ReplayRun, CountsWhatTheArmsSaid) {
  whole();
  const Result<std::vector<ReplayTally>> tally = tally_replay(path("whole.jsonl"));
  ASSERT_TRUE(tally);
  const ReplayTally& a = (*tally)[0];
  EXPECT_TRUE(a.baseline);
  EXPECT_EQ(a.replies, 20);
  EXPECT_EQ(a.calls, 10) << "at the second and the fourth decision";
  EXPECT_EQ(a.failures[1], 5) << "fetch, at the second";
  EXPECT_EQ((*tally)[1].same, 20);
}

TEST(ReplayReply, HasTheChannelOfItsFirstFailingCall) {
  const CallCheck check({{"find", R"({"type": "object", "required": ["n"]})"}}, {"toggle"});
  ChatReply said;
  said.message.calls = {{"a", "find", "{\"n\": 1}"}, {"b", "toggle", "{}"}, {"c", "find", "["}};
  said.usage = TokenUsage{9, 4};
  const ReplayReply reply = replay_reply(std::move(said), check);
  EXPECT_EQ(reply.channel, "tool_name");
  EXPECT_EQ(reply.sub_kind, "other_side");
  EXPECT_EQ(reply.calls.size(), 3u);
  EXPECT_EQ(reply.calls[2].arguments, "[");
  EXPECT_FALSE(reply.calls[2].arguments_are_object);
  EXPECT_EQ(reply.usage, (TokenUsage{9, 4}));
}

}  // namespace
}  // namespace unmask
