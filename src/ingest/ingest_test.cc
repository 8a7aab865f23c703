#include "ingest/ingest.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>

#include "base/rng.h"
#include "base/utf8.h"
#include "ingest/testing.h"
#include "trace/native_writer.h"

namespace unmask {
namespace {

using namespace unmask::testing;

std::string many_simulations(int count) {
  std::vector<std::string> simulations;
  for (int i = 0; i < count; ++i)
    simulations.push_back(tau2_simulation("s" + std::to_string(i), std::to_string(i / 4), i % 4,
                                          i % 3 == 0 ? "1.0" : "0.0", i % 2 == 0));
  return tau2_log(simulations);
}

TEST(Compressed, IsReadWhateverTheNameSays) {
  const std::string log = many_simulations(20);
  const Result<IngestReport> plain = read_text(log);
  ASSERT_TRUE(plain);
  const std::string half = log.substr(0, log.size() / 2);
  const std::string rest = log.substr(log.size() / 2);
  const std::string skippable = std::string("\x50\x2a\x4d\x18\x03\x00\x00\x00xyz", 11);
  for (const std::string& bytes :
       {gzipped(log), zstd_compressed(log), gzipped(half) + gzipped(rest),
        zstd_compressed(half) + zstd_compressed(rest), gzipped(log) + std::string(512, '\0'),
        skippable + zstd_compressed(log)}) {
    const Result<IngestReport> report = read_text(bytes);
    ASSERT_TRUE(report) << to_string(report.error());
    EXPECT_EQ(report->run, plain->run);
    EXPECT_TRUE(report->dropped.empty());
    EXPECT_EQ(report->bytes, log.size());
  }
}

TEST(Compressed, GivesWhatCouldBeExpandedOfADamagedStream) {
  const std::string log = many_simulations(400);
  for (const std::string& bytes : {gzipped(log), zstd_compressed(log)}) {
    const Result<IngestReport> cut = read_text(std::string_view(bytes).substr(0, bytes.size() - 9));
    ASSERT_TRUE(cut) << to_string(cut.error());
    EXPECT_NE(find_dropped(*cut, "compressed_stream_damaged"), nullptr);
    std::string flipped = bytes;
    flipped[bytes.size() - 3] = static_cast<char>(flipped[bytes.size() - 3] ^ 0x55);
    const Result<IngestReport> corrupt = read_text(flipped);
    if (corrupt) {
      EXPECT_NE(find_dropped(*corrupt, "compressed_stream_damaged"), nullptr);
    }
    const Result<IngestReport> nothing = read_text(std::string_view(bytes).substr(0, 12));
    ASSERT_FALSE(nothing);
    EXPECT_EQ(nothing.error().kind, ErrorKind::Malformed);
    EXPECT_NE(nothing.error().message.find("cut short"), std::string::npos);
  }
  const Result<IngestReport> trailing = read_text(gzipped(log) + "garbage");
  ASSERT_TRUE(trailing);
  EXPECT_EQ(trailing->episodes, 400u);
  EXPECT_NE(find_dropped(*trailing, "compressed_stream_damaged"), nullptr);
}

TEST(Compressed, RefusesABomb) {
  const std::string zeros(2 << 20, ' ');
  for (const std::string& bytes : {gzipped(zeros), zstd_compressed(zeros)}) {
    ReadOptions options;
    options.max_expanded_bytes = 1 << 20;
    const Result<IngestReport> report = ingest_bytes(bytes, "bomb", options);
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().kind, ErrorKind::InvalidArgument);
    EXPECT_NE(report.error().message.find("bomb"), std::string::npos);
    EXPECT_EQ(report.error().where, "bomb");
  }
}

TEST(Compressed, LargeLogsGoThroughATemporaryFile) {
  // More than is kept in memory, so the mapped file is what is read.
  std::string log = many_simulations(10);
  log.insert(1, "\"padding\": \"" + std::string(std::size_t{9} << 20, 'x') + "\", ");
  const Result<IngestReport> report = read_text(zstd_compressed(log), "tau2");
  ASSERT_TRUE(report) << to_string(report.error());
  EXPECT_EQ(report->episodes, 10u);
  EXPECT_EQ(report->bytes, log.size());
}

TEST(Ingest, ReadsFilesAndPipes) {
  const TemporaryFolder folder;
  const std::string log = many_simulations(10);
  const Result<IngestReport> expected = read_text(log);
  ASSERT_TRUE(expected);
  for (const std::string& bytes : {log, "\xEF\xBB\xBF" + log, gzipped(log)}) {
    const std::string file = folder.write("log.json", bytes);
    const Result<IngestReport> from_file = ingest(file, {});
    ASSERT_TRUE(from_file) << to_string(from_file.error());
    const std::string pipe = folder.path() + "/pipe";
    ::unlink(pipe.c_str());
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    std::thread writer([&] { std::ofstream(pipe, std::ios::binary) << bytes; });
    const Result<IngestReport> from_pipe = ingest(pipe, {});
    writer.join();
    ASSERT_TRUE(from_pipe) << to_string(from_pipe.error());
    for (const Result<IngestReport>* report : {&from_file, &from_pipe}) {
      EXPECT_EQ((*report)->run.info, expected->run.info);
      ASSERT_EQ((*report)->episodes, 10u);
      for (std::size_t i = 0; i < 10; ++i)
        EXPECT_EQ((*report)->run.episodes[i].messages, expected->run.episodes[i].messages);
    }
  }
}

TEST(Ingest, RecognisesALogWhoseFirstMembersAreLong) {
  const std::string settings = "\"agent_notes\": \"" + std::string(350'000, 'x') + "\", ";
  std::string log = many_simulations(3);
  log.insert(1, settings);
  const Result<IngestReport> tau2 = read_text(log);
  ASSERT_TRUE(tau2) << to_string(tau2.error());
  EXPECT_EQ(tau2->run.info.format, "tau2");
  EXPECT_EQ(tau2->episodes, 3u);
  const Result<IngestReport> chat = read_text("{" + settings +
                                              R"("messages": [{"role": "user", "content": "hi"},)"
                                              R"( {"role": "assistant", "content": "hello"}]})");
  ASSERT_TRUE(chat) << to_string(chat.error());
  EXPECT_EQ(chat->run.info.format, "openai");
  EXPECT_FALSE(read_text("{" + settings + "\"nothing\": \"known\"}"));
}

TEST(Ingest, CountsTheByteOrderMarkInPlaces) {
  const std::string log = "\xEF\xBB\xBF" + tau2_log({"17"});
  const Result<IngestReport> report = read_text(log);
  ASSERT_TRUE(report);
  ASSERT_EQ(report->dropped.size(), 1u);
  EXPECT_NE(report->dropped[0].where.find("(byte " + std::to_string(log.find("17]")) + ")"),
            std::string::npos);
}

TEST(Ingest, RefusesWhatItCannotOpenOrRecognise) {
  const TemporaryFolder folder;
  EXPECT_EQ(ingest(folder.path() + "/none.json", {}).error().kind, ErrorKind::NotFound);
  const std::string loop = folder.path() + "/loop";
  ASSERT_EQ(::symlink(loop.c_str(), loop.c_str()), 0);
  EXPECT_EQ(ingest(loop, {}).error().kind, ErrorKind::Unavailable);
  EXPECT_EQ(ingest(folder.write("empty.json", ""), {}).error().kind, ErrorKind::Malformed);
  const Result<IngestReport> text = ingest(folder.write("a.txt", "hello"), {});
  EXPECT_EQ(text.error().kind, ErrorKind::Unsupported);
  EXPECT_NE(text.error().message.find("tau2"), std::string::npos);
  const Result<IngestReport> format = ingest(folder.write("b.json", "{}"), forced("tau3"));
  EXPECT_EQ(format.error().kind, ErrorKind::Unsupported);
  for (const FormatDescription& known : log_formats()) {
    EXPECT_FALSE(known.description.empty());
    EXPECT_FALSE(ingest(folder.path() + "/a.txt", forced(std::string(known.name)))) << known.name;
    EXPECT_FALSE(ingest(folder.path() + "/empty.json", forced(std::string(known.name))));
  }
}

TEST(Ingest, GivesTheSameReportAtAnyNumberOfThreads) {
  std::vector<std::string> simulations;
  for (int i = 0; i < 300; ++i) {
    std::string one = tau2_simulation("s" + std::to_string(i), "t", i, i % 5 == 0 ? "NaN" : "1.0");
    if (i % 7 == 0) one.insert(1, "\"id\": 3 3,");
    if (i % 11 == 0) one.replace(one.find("done"), 4, "d\xFFne");
    simulations.push_back(one);
  }
  const std::string log = tau2_log(simulations);
  const Result<IngestReport> one = ingest_bytes(log, "log", forced("tau2", 1));
  ASSERT_TRUE(one);
  EXPECT_EQ(one->dropped.size(), 43u);
  for (const int threads : {2, 3, 8}) {
    const Result<IngestReport> many = ingest_bytes(log, "log", forced("tau2", threads));
    ASSERT_TRUE(many);
    EXPECT_EQ(many->run, one->run);
    EXPECT_EQ(many->dropped, one->dropped);
    EXPECT_EQ(many->warnings, one->warnings);
  }
}

TEST(Ingest, GivesTheSinkDenseIndicesAndACompleteInfo) {
  // The info stands behind the simulations.
  const std::string simulations =
      joined({tau2_simulation("a", "0", 0), "5", tau2_simulation("b", "0", 1),
              tau2_simulation("c", "0", 2)});
  const std::string log = "{\"simulations\": [" + simulations + "], \"info\": " + tau2_info() + "}";
  std::mutex mutex;
  std::map<std::size_t, std::string> seen;
  const Result<IngestReport> report =
      ingest_bytes(log, "log", forced("tau2", 4),
                   [&](const RunInfo& info, std::size_t index, Episode&& episode) {
                     const std::lock_guard lock(mutex);
                     EXPECT_EQ(info.domain, "retail");
                     EXPECT_TRUE(seen.emplace(index, episode.id).second);
                   });
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->run.episodes.empty());
  EXPECT_EQ(report->episodes, 3u);
  EXPECT_EQ(seen, (std::map<std::size_t, std::string>{{0, "a"}, {1, "b"}, {2, "c"}}));
}

TEST(Ingest, PassesOnWhatTheSinkThrows) {
  const std::string log = many_simulations(200);
  for (const int threads : {1, 4}) {
    EXPECT_THROW((void)ingest_bytes(log, "log", forced("tau2", threads),
                                    [](const RunInfo&, std::size_t index, Episode&&) {
                                      if (index == 50) throw std::runtime_error("stop");
                                    }),
                 std::runtime_error);
  }
}

TEST(Ingest, ReportsProgressUpToTheEnd) {
  ReadOptions options;
  std::vector<std::uint64_t> done;
  std::uint64_t total = 0;
  options.progress = [&](std::uint64_t now, std::uint64_t all) {
    done.push_back(now);
    total = all;
  };
  const std::string log = many_simulations(8000);
  ASSERT_TRUE(ingest_bytes(log, "log", options));
  EXPECT_GE(done.size(), 2u);
  EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
  EXPECT_EQ(done.back(), total);
  EXPECT_EQ(total, log.size());
}

TEST(Ingest, SurvivesAFileThatShrinksWhileItIsRead) {
  const TemporaryFolder folder;
  const std::string path = folder.write("log.json", many_simulations(3000));
  std::atomic<bool> cut = false;
  const Result<IngestReport> report =
      ingest(path, forced("tau2", 1), [&](const RunInfo&, std::size_t, Episode&&) {
        if (cut.exchange(true)) return;
        EXPECT_EQ(::truncate(path.c_str(), 4096), 0);
      });
  ASSERT_TRUE(report) << to_string(report.error());
  EXPECT_NE(find_dropped(*report, "file_changed"), nullptr);
}

TEST(Ingest, NeverCrashesOnMutatedLogs) {
  const std::string tau2 = many_simulations(3);
  const Result<IngestReport> parsed = read_text(tau2);
  ASSERT_TRUE(parsed);
  const std::string native = write_native(parsed->run);
  const std::map<std::string, std::string> logs = {
      {"tau2", tau2}, {"native", native}, {"tau1", "[" + tau2_simulation("a", "0", 0) + "]"}};
  Rng rng(7);
  constexpr std::string_view kNasty = "\"\\{}[],:\0\xFF\n0-eN";
  for (int round = 0; round < 3000; ++round) {
    for (const auto& [format, log] : logs) {
      std::string mutated = log;
      for (std::uint32_t edits = 1 + rng.below(4); edits > 0; --edits) {
        const std::size_t at = rng.below(static_cast<std::uint32_t>(mutated.size()));
        const char nasty = kNasty[rng.below(static_cast<std::uint32_t>(kNasty.size()))];
        if (rng.bernoulli(0.5)) {
          mutated[at] = nasty;
        } else if (rng.bernoulli(0.5)) {
          mutated.insert(at, 1, nasty);
        } else {
          mutated.erase(at, 1 + rng.below(8));
        }
      }
      const Result<IngestReport> report = read_text(mutated, format);
      if (!report) {
        EXPECT_FALSE(report.error().message.empty());
        continue;
      }
      for (const Episode& episode : report->run.episodes) {
        EXPECT_FALSE(episode.task_id.empty());
        for (const Message& message : episode.messages) {
          EXPECT_TRUE(is_utf8(message.text));
          EXPECT_EQ(message.result.has_value(), message.role == Role::Tool);
        }
      }
    }
  }
}

struct Counts {
  std::size_t episodes = 0, graded = 0, successes = 0, messages = 0, agent_calls = 0,
              user_calls = 0, agent_failed = 0, user_failed = 0, tasks = 0, characters = 0;
  bool operator==(const Counts&) const = default;
};

std::size_t characters_of(std::string_view text) {
  std::size_t characters = 0;
  for (const char c : text) characters += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return characters;
}

Counts counts_of(const Run& run) {
  Counts c;
  std::set<std::string> tasks;
  for (const Episode& episode : run.episodes) {
    ++c.episodes;
    tasks.insert(episode.task_id);
    c.graded += episode.success.has_value();
    c.successes += episode.success.value_or(false);
    for (const Message& message : episode.messages) {
      ++c.messages;
      c.characters += characters_of(message.result ? message.result->text : message.text);
      for (const ToolCall& call : message.calls)
        ++(call.side == Side::Agent ? c.agent_calls : c.user_calls);
      if (message.result && message.result->failed)
        ++(message.result->side == Side::Agent ? c.agent_failed : c.user_failed);
    }
  }
  c.tasks = tasks.size();
  return c;
}

TEST(RealLogs, HoldWhatAnIndependentCountFinds) {
  // Made by tests/oracle/count_log.py.
  std::ifstream table(UNMASK_TEST_DATA "/ingest/real_log_counts.tsv");
  ASSERT_TRUE(table.good());
  int compared = 0;
  std::string line;
  while (std::getline(table, line)) {
    std::istringstream row(line);
    std::string name;
    Counts expected;
    row >> name >> expected.episodes >> expected.graded >> expected.successes >>
        expected.messages >> expected.agent_calls >> expected.user_calls >> expected.agent_failed >>
        expected.user_failed >> expected.tasks >> expected.characters;
    const std::string path = std::string(UNMASK_SHARED) + "/logs/" + name;
    if (!std::filesystem::exists(path)) continue;
    const Result<IngestReport> report = ingest(path, {});
    ASSERT_TRUE(report) << to_string(report.error());
    EXPECT_TRUE(counts_of(report->run) == expected) << name;
    EXPECT_TRUE(report->dropped.empty()) << name;
    ++compared;
  }
  if (compared == 0) GTEST_SKIP() << "the real logs are not here: " << UNMASK_SHARED << "/logs";
}

}  // namespace
}  // namespace unmask
