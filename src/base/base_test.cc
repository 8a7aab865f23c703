#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <set>

#include "base/check.h"
#include "base/file.h"
#include "base/json_writer.h"
#include "base/mapped_file.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "base/utf8.h"

namespace unmask {
namespace {

std::string temporary_folder() {
  std::string path = ::testing::TempDir() + "unmask_base_XXXXXX";
  EXPECT_NE(::mkdtemp(path.data()), nullptr);
  return path;
}

TEST(Rng, MatchesThePublishedGeneratorOfTheSameState) {
  // xoshiro256++ seeded through splitmix64: equal seeds give equal streams, others differ.
  Rng a(7), b(7), c(7, 1);
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t x = a.next();
    EXPECT_EQ(x, b.next());
    EXPECT_NE(x, c.next());
    EXPECT_TRUE(seen.insert(x).second);
  }
}

TEST(Rng, BelowIsUniformAndInRange) {
  Rng rng(3);
  int counts[7] = {};
  constexpr int kDraws = 70000;
  for (int i = 0; i < kDraws; ++i) ++counts[rng.below(7)];
  double chi2 = 0;
  for (const int count : counts) chi2 += (count - 10000.0) * (count - 10000.0) / 10000.0;
  EXPECT_LT(chi2, 22.5);  // 99.9 % point of chi-square with 6 df
}

TEST(JsonWriter, WritesStableText) {
  JsonWriter json;
  json.begin_object().field("a", 0.1).field("b", 3).key("c").begin_array().value(true).null();
  json.end_array().field("d", std::numeric_limits<double>::quiet_NaN()).field("e", -0.0);
  json.field("t", std::string("\x1b\"\xff\xc3\xa4")).end_object();
  EXPECT_EQ(json.text(),
            "{\"a\": 0.1, \"b\": 3, \"c\": [true, null], \"d\": null, \"e\": 0, "
            "\"t\": \"\\u001b\\\"\xEF\xBF\xBD\xc3\xa4\"}");
}

TEST(JsonWriter, IndentsObjectsButKeepsScalarArraysOnALine) {
  JsonWriter json(2);
  json.begin_object().key("ci").begin_array().value(0.5).value(1.0).end_array().key("list");
  json.begin_array().begin_object().field("k", 1).end_object().end_array().end_object();
  EXPECT_EQ(json.text(),
            "{\n  \"ci\": [0.5, 1],\n  \"list\": [\n    {\n      \"k\": 1\n    }\n  ]\n}");
}

TEST(JsonWriter, RefusesBadNesting) {
  JsonWriter json;
  json.begin_array();
  EXPECT_THROW(json.key("a"), InternalError);
  EXPECT_THROW(json.end_object(), InternalError);
}

TEST(Utf8, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(to_utf8("a\xC0\x80z"), "a\xEF\xBF\xBD\xEF\xBF\xBDz");
  EXPECT_EQ(to_utf8("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");  // a surrogate
  EXPECT_EQ(to_utf8("\xE2\x82"), "\xEF\xBF\xBD");                              // cut short
  EXPECT_TRUE(is_utf8("\xF0\x9F\x93\xB6 ok"));
  EXPECT_FALSE(is_utf8("\xF4\x90\x80\x80"));  // past U+10FFFF
}

TEST(JsonString, AsciiUsesSurrogatePairs) {
  std::string out;
  append_json_string(out, "\xF0\x9F\x93\xB6\x7f", true);
  EXPECT_EQ(out, "\"\\ud83d\\udcf6\\u007f\"");
}

TEST(WriteFile, KeepsTheOldContentWhenItCannotWrite) {
  const std::string folder = temporary_folder();
  const std::string path = folder + "/a.json";
  ASSERT_TRUE(write_file(path, "old"));
  ASSERT_TRUE(write_file(path, "new"));
  EXPECT_EQ(*read_file(path), "new");
  const Result<Done> bad = write_file(folder + "/missing/a.json", "x");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().kind, ErrorKind::NotFound);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder),
                          std::filesystem::directory_iterator()),
            1);
}

TEST(WriteFile, TakesTheLongestNameThereCanBe) {
  const std::string path = temporary_folder() + "/" + std::string(255, 'n');
  ASSERT_TRUE(write_file(path, "whole"));
  EXPECT_EQ(*read_file(path), "whole");
}

TEST(WriteFile, ReportsAFullDisk) {
  const Result<Done> full = write_file("/dev/full", "x");
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().kind, ErrorKind::Unavailable);
}

TEST(ReadFile, RefusesDirectoriesAndTooLong) {
  EXPECT_EQ(read_file("/").error().kind, ErrorKind::InvalidArgument);
  EXPECT_EQ(read_file("/nowhere/at/all").error().kind, ErrorKind::NotFound);
  const std::string path = temporary_folder() + "/a";
  ASSERT_TRUE(write_file(path, "12345"));
  EXPECT_FALSE(read_file(path, 4));
  EXPECT_TRUE(read_file(path, 5));
}

TEST(MappedFile, SurvivesAFileThatShrinks) {
  MappedFile::guard_reads();
  const std::string path = temporary_folder() + "/a";
  ASSERT_TRUE(write_file(path, std::string(1 << 20, 'x')));
  const Result<MappedFile> file = MappedFile::open(path);
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->still_whole());
  EXPECT_EQ(file->bytes()[900000], 'x');
  ASSERT_EQ(::truncate(path.c_str(), 10), 0);
  EXPECT_FALSE(file->still_whole());
  EXPECT_EQ(file->bytes()[500000], '\0');
}

// Not a multiple of any page, and different everywhere.
std::string large_text() {
  std::string text;
  for (int i = 0; text.size() < (std::size_t{21} << 20) + 12345; ++i)
    text += std::to_string(i) + " ";
  return text;
}

TEST(MappedFile, LargeFilesReadTheSameWhetherWindowsAreInPlaceOrNot) {
  const std::string path = temporary_folder() + "/a";
  const std::string text = large_text();
  ASSERT_TRUE(write_file(path, text));
  const Result<MappedFile> file = MappedFile::open(path);
  ASSERT_TRUE(file);
  std::atomic<bool> ended{false};
  std::atomic<long> differences{0};
  std::thread reader([&] {  // in step with nothing: what it reads never changes
    while (!ended)
      for (std::size_t at = 0; at < text.size(); at += 4093)
        if (file->bytes()[at] != text[at]) ++differences;
  });
  constexpr std::size_t kStep = std::size_t{3} << 20;
  for (std::size_t at = 0; at < text.size(); at += kStep) file->expect(at, kStep);
  EXPECT_EQ(file->bytes(), text);
  ended = true;
  reader.join();
  EXPECT_EQ(differences, 0);
  for (std::size_t at = 0; at < text.size(); at += kStep) {
    EXPECT_EQ(file->bytes().substr(at, kStep), text.substr(at, kStep));
    file->forget(at, kStep);
  }
}

TEST(MappedFile, LargeFilesSurviveShrinking) {
  MappedFile::guard_reads();
  const std::string path = temporary_folder() + "/a";
  ASSERT_TRUE(write_file(path, std::string(std::size_t{20} << 20, 'x')));
  const Result<MappedFile> file = MappedFile::open(path);
  ASSERT_TRUE(file);
  file->expect(0, std::size_t{4} << 20);
  ASSERT_EQ(::truncate(path.c_str(), 1000), 0);
  file->expect(std::size_t{4} << 20, std::size_t{16} << 20);
  EXPECT_FALSE(file->still_whole());
  EXPECT_EQ(file->bytes()[std::size_t{9} << 20], '\0');
}

TEST(MappedFile, ReadsAnEmptyFileAndMoves) {
  const std::string path = temporary_folder() + "/a";
  ASSERT_TRUE(write_file(path, ""));
  Result<MappedFile> file = MappedFile::open(path);
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->bytes().empty());
  ASSERT_TRUE(write_file(path, "abc"));
  Result<MappedFile> other = MappedFile::open(path);
  *file = std::move(*other);
  EXPECT_EQ(file->bytes(), "abc");
}

TEST(ParallelFor, VisitsEachIndexOnceAndRethrows) {
  std::vector<std::atomic<int>> visits(1000);
  parallel_for(visits.size(), 4, [&](std::size_t i) { ++visits[i]; });
  for (const std::atomic<int>& v : visits) EXPECT_EQ(v, 1);
  parallel_for(0, 4, [](std::size_t) { FAIL(); });
  EXPECT_THROW(parallel_for(10, 2,
                            [](std::size_t i) {
                              if (i == 3) throw std::runtime_error("x");
                            }),
               std::runtime_error);
}

}  // namespace
}  // namespace unmask
