#include "rollout/episode_store.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <thread>

#include "base/file.h"
#include "trace/native_writer.h"

namespace unmask {
namespace {

namespace fs = std::filesystem;

class EpisodeStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "unmask-store-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
    options_.folder = root_ + "/run";
    options_.settings = {{"arm 'A' model", "m"}, {"seed", "1"}};
  }
  void TearDown() override {
    ::chmod(options_.folder.c_str(), 0755);
    fs::remove_all(root_);
  }

  std::string file(const std::string& shard = "all", const std::string& arm = "A") const {
    return options_.folder + "/episodes/" + arm + "/mock/" + shard + ".jsonl";
  }

  // Opens, appends each, closes.
  void save(const std::vector<Episode>& episodes, const Shard& shard = {}) {
    StoreOptions options = options_;
    options.shard = shard;
    Result<EpisodeStore> store = EpisodeStore::open(options);
    ASSERT_TRUE(store) << to_string(store.error());
    for (const Episode& episode : episodes) {
      const Result<Done> done =
          store->append({"A", "mock", episode.task_id, episode.trial}, {}, episode);
      ASSERT_TRUE(done) << to_string(done.error());
    }
  }

  StoreContents contents() const {
    Result<StoreContents> read = read_store(options_.folder);
    EXPECT_TRUE(read) << to_string(read.error());
    return read ? *read : StoreContents{};
  }

  std::string root_;
  StoreOptions options_;
};

Episode episode(const std::string& task, int trial = 0, const std::string& text = "Hello") {
  Episode e;
  e.task_id = task;
  e.trial = trial;
  e.termination = Termination::UserStop;
  e.success = true;
  Message message;
  message.text = text;
  e.messages.push_back(message);
  return e;
}

Episode lost_to_server(const std::string& task) {
  Episode e = episode(task);
  e.termination = Termination::InfrastructureError;
  return e;
}

EpisodeKey key(const std::string& task, int trial = 0) {
  return {"A", "mock", task, trial};
}

std::string text_of(const StoreContents& contents) {
  return *stored_log(contents, {}, "A", "mock");
}

void append_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::app | std::ios::binary) << bytes;
}

TEST_F(EpisodeStoreTest, GivesBackWhatWasSavedInTheOrderOfTasksAndTrials) {
  save({episode("two", 1), episode("one"), episode("two", 0)});
  const StoreContents found = contents();
  EXPECT_EQ(found.episodes.size(), 3u);
  EXPECT_TRUE(found.done(key("two", 1)));
  EXPECT_FALSE(found.done(key("two", 2)));
  EXPECT_EQ(text_of(found), native_header({}) + native_episode(episode("one")) +
                                native_episode(episode("two", 0)) +
                                native_episode(episode("two", 1)));
  EXPECT_TRUE(found.warnings.empty());
}

TEST_F(EpisodeStoreTest, HoldsNothingWhereThereIsNoFolder) {
  EXPECT_TRUE(contents().episodes.empty());
}

TEST_F(EpisodeStoreTest, GoesOnInTheSameFile) {
  save({episode("one")});
  save({episode("two")});
  EXPECT_EQ(contents().episodes.size(), 2u);
  EXPECT_EQ(text_of(contents()), *read_file(file()));
}

// Any prefix of a file is what a killed runner may leave behind.
TEST_F(EpisodeStoreTest, MendsAFileTornAtAnyByte) {
  save({episode("one", 0, "a \"quoted\" text, \"messages\": ["), episode("two")});
  const std::string whole = *read_file(file());
  const std::string first =
      native_header({}) + native_episode(episode("one", 0, "a \"quoted\" text, \"messages\": ["));
  std::set<std::size_t> lengths = {native_header({}).size(), first.size(), whole.size() - 1};
  for (std::size_t length = 0; length < whole.size(); length += 5) lengths.insert(length);
  for (const std::size_t length : lengths) {
    std::ofstream(file(), std::ios::trunc | std::ios::binary) << whole.substr(0, length);
    const std::size_t kept = length >= first.size() ? 1 : 0;
    EXPECT_EQ(contents().episodes.size(), kept) << length;
    Result<EpisodeStore> store = EpisodeStore::open(options_);
    ASSERT_TRUE(store) << to_string(store.error());
    EXPECT_EQ(store->found().episodes.size(), kept) << length;
    const bool torn = length != 0 && length != native_header({}).size() && length != first.size();
    EXPECT_EQ(store->found().warnings.size(), torn ? 1u : 0u) << length;
    if (kept == 0) {
      ASSERT_TRUE(
          store->append(key("one"), {}, episode("one", 0, "a \"quoted\" text, \"messages\": [")));
    }
    ASSERT_TRUE(store->append(key("two"), {}, episode("two")));
    EXPECT_EQ(*read_file(file()), whole) << length;
  }
}

TEST_F(EpisodeStoreTest, TakesALastLineOfGarbageForTorn) {
  save({episode("one")});
  const std::string whole = *read_file(file());
  append_bytes(file(), std::string(64, '\0') + "\n");
  Result<EpisodeStore> store = EpisodeStore::open(options_);
  ASSERT_TRUE(store) << to_string(store.error());
  EXPECT_EQ(store->found().warnings.at(0).code, "torn_line");
  EXPECT_EQ(*read_file(file()), whole);
}

TEST_F(EpisodeStoreTest, PassesOverADamagedLineInTheMiddle) {
  save({episode("one")});
  append_bytes(file(), "not an episode\n");
  save({episode("two")});
  // The damaged line was the last when the second runner came: it was cut off.
  EXPECT_EQ(contents().episodes.size(), 2u);
  const std::string whole = *read_file(file());
  std::ofstream(file(), std::ios::trunc) << native_header({}) << "damaged\n"
                                         << native_episode(episode("two"));
  const StoreContents found = contents();
  EXPECT_EQ(found.episodes.size(), 1u);
  EXPECT_EQ(found.warnings.at(0).code, "unreadable_line");
}

TEST_F(EpisodeStoreTest, PassesOverALineWithZerosInItsMessages) {
  save({episode("one", 0, "a long message"), episode("two")});
  std::string text = *read_file(file());
  text.replace(text.find("long"), 4, 4, '\0');
  std::ofstream(file(), std::ios::trunc) << text;
  const StoreContents found = contents();
  EXPECT_FALSE(found.done(key("one")));
  EXPECT_TRUE(found.done(key("two")));
  EXPECT_EQ(found.warnings.at(0).code, "unreadable_line");
}

TEST_F(EpisodeStoreTest, PlaysInfrastructureFailuresAgainAndKeepsTheLastOutcome) {
  save({lost_to_server("one"), lost_to_server("two")});
  EXPECT_FALSE(contents().done(key("one")));
  EXPECT_EQ(contents().episodes.size(), 2u);
  save({episode("one")});
  EXPECT_TRUE(contents().done(key("one")));
  EXPECT_EQ(text_of(contents()), native_header({}) + native_episode(episode("one")) +
                                     native_episode(lost_to_server("two")));
  // An outcome stays one, whatever stands behind it.
  save({lost_to_server("one")});
  EXPECT_TRUE(contents().done(key("one")));
}

TEST_F(EpisodeStoreTest, ReadsTheFilesOfShardsAsTheirUnion) {
  save({episode("one")}, {1, 2});
  save({episode("two"), lost_to_server("three")}, {2, 2});
  save({episode("three")});
  EXPECT_EQ(contents().episodes.size(), 3u);
  EXPECT_TRUE(contents().done(key("three")));
  EXPECT_EQ(contents().files.size(), 3u);
}

TEST_F(EpisodeStoreTest, CollapsesIdenticalOutcomesAndNamesConflictingOnes) {
  save({episode("one")}, {1, 2});
  save({episode("one")}, {2, 2});
  EXPECT_EQ(contents().episodes.size(), 1u);
  save({episode("two", 3, "yes")}, {1, 2});
  save({episode("two", 3, "no")}, {2, 2});
  const Result<StoreContents> read = read_store(options_.folder);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("arm 'A', mock, task two, trial 3"), std::string::npos)
      << read.error().message;
}

TEST_F(EpisodeStoreTest, KeepsArmsOfAnyNameApart) {
  const std::vector<std::string> arms = {"a/b", "a b", "..", "%2E", "BF16", "ä", "."};
  {
    Result<EpisodeStore> store = EpisodeStore::open(options_);
    ASSERT_TRUE(store);
    for (const std::string& arm : arms)
      ASSERT_TRUE(store->append({arm, "mock", "one", 0}, {}, episode("one", 0, arm)));
  }
  const StoreContents found = contents();
  EXPECT_EQ(found.episodes.size(), arms.size());
  for (const std::string& arm : arms)
    EXPECT_EQ(*stored_log(found, {}, arm, "mock"),
              native_header({}) + native_episode(episode("one", 0, arm)));
}

// In a process of its own, for locks of one process do not keep it out of its own files.
int exit_of_runner(const StoreOptions& options, const std::function<bool(const Error&)>& expected) {
  const pid_t child = ::fork();
  if (child == 0) {
    const Result<EpisodeStore> store = EpisodeStore::open(options);
    ::_exit(store ? 1 : expected(store.error()) ? 0 : 2);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(EpisodeStoreTest, RefusesASecondRunnerAndNamesTheFirst) {
  std::optional<EpisodeStore> store(std::move(*EpisodeStore::open(options_)));
  const std::string pid = "process " + std::to_string(::getpid());
  const auto names_us = [&](const Error& error) {
    return error.message.find(pid) != std::string::npos;
  };
  StoreOptions shard = options_;
  shard.shard = {1, 2};
  EXPECT_EQ(exit_of_runner(options_, names_us), 0);
  EXPECT_EQ(exit_of_runner(shard, names_us), 0);
  store.reset();
  EXPECT_EQ(exit_of_runner(options_, names_us), 1) << "the lock outlived its holder";
}

TEST_F(EpisodeStoreTest, LetsShardsOfOneNumberWorkSideBySide) {
  StoreOptions first = options_;
  first.shard = {1, 2};
  const Result<EpisodeStore> store = EpisodeStore::open(first);
  ASSERT_TRUE(store) << to_string(store.error());
  const auto any = [](const Error&) { return true; };
  StoreOptions other = options_;
  other.shard = {2, 2};
  EXPECT_EQ(exit_of_runner(other, any), 1);
  EXPECT_EQ(exit_of_runner(first, any), 0) << "the same shard twice";
  EXPECT_EQ(exit_of_runner(options_, any), 0) << "the whole beside a shard";
  other.shard = {2, 3};
  EXPECT_EQ(exit_of_runner(other, any), 0) << "shards of another number";
}

TEST_F(EpisodeStoreTest, RefusesDriftByNameUnlessItIsAllowed) {
  save({episode("one")});
  options_.settings = {{"arm 'A' model", "other"}, {"arm 'B' model", "new"}, {"seed", "2"}};
  const Result<EpisodeStore> refused = EpisodeStore::open(options_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::InvalidArgument);
  EXPECT_NE(refused.error().message.find("arm 'A' model was 'm', is 'other'; seed was '1', is '2'"),
            std::string::npos)
      << refused.error().message;
  EXPECT_EQ(refused.error().message.find("arm 'B'"), std::string::npos) << "a new arm is no drift";
  options_.allow_drift = true;
  {
    const Result<EpisodeStore> allowed = EpisodeStore::open(options_);
    ASSERT_TRUE(allowed) << to_string(allowed.error());
    EXPECT_EQ(allowed->found().warnings.at(0).code, "settings_drifted");
  }
  options_.allow_drift = false;
  EXPECT_TRUE(EpisodeStore::open(options_)) << "what was allowed is the plan from then on";
}

TEST_F(EpisodeStoreTest, IsNotBoundByAPlanThatPlayedNothing) {
  save({});
  options_.settings = {{"arm 'A' model", "put right"}, {"seed", "1"}};
  EXPECT_TRUE(EpisodeStore::open(options_));
  EXPECT_EQ(*read_settings(options_.folder), options_.settings);
  options_.shard = {1, 2};  // another shard may be about to play by it
  options_.settings = {{"arm 'A' model", "other"}, {"seed", "1"}};
  EXPECT_FALSE(EpisodeStore::open(options_));
}

TEST_F(EpisodeStoreTest, SettlesWhatIsFoundOutLater) {
  save({episode("one")});
  const std::vector<Setting> strict = {{constraint_setting("A"), "strict tools"}};
  {
    Result<EpisodeStore> store = EpisodeStore::open(options_);
    ASSERT_TRUE(store);
    EXPECT_TRUE(store->settle(strict));
  }
  Result<EpisodeStore> again = EpisodeStore::open(options_);
  ASSERT_TRUE(again) << to_string(again.error());
  EXPECT_TRUE(again->settle(strict));
  const auto drifted = again->settle({{constraint_setting("A"), "structural tags"}});
  ASSERT_FALSE(drifted);
  EXPECT_NE(drifted.error().message.find("names constrained by was 'strict tools'"),
            std::string::npos)
      << drifted.error().message;
}

TEST_F(EpisodeStoreTest, SaysThatItsFileWasRemoved) {
  Result<EpisodeStore> store = EpisodeStore::open(options_);
  ASSERT_TRUE(store);
  const Episode first = episode("one");
  const EpisodeKey key{"A", "mock", first.task_id, first.trial};
  ASSERT_TRUE(store->append(key, {}, first));
  fs::remove_all(options_.folder + "/episodes");
  const Result<Done> lost = store->append({"A", "mock", "two", 0}, {}, episode("two"));
  ASSERT_FALSE(lost);
  EXPECT_NE(lost.error().message.find("was removed"), std::string::npos) << lost.error().message;
}

TEST_F(EpisodeStoreTest, RemembersArmsThatAPlanNoLongerHas) {
  save({episode("one")});
  const std::vector<Setting> before = options_.settings;
  options_.settings = {{"seed", "1"}};
  save({});
  options_.settings = {{"arm 'A' model", "other"}, {"seed", "1"}};
  EXPECT_FALSE(EpisodeStore::open(options_));
}

TEST_F(EpisodeStoreTest, SaysWhyAFolderCannotBeCreated) {
  std::ofstream(root_ + "/taken") << "a file";
  options_.folder = root_ + "/taken/run";
  const Result<EpisodeStore> store = EpisodeStore::open(options_);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().kind, ErrorKind::Unavailable);
  EXPECT_EQ(store.error().where, options_.folder);
}

TEST_F(EpisodeStoreTest, SaysWhyAFolderCannotBeWritten) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write anywhere";
  save({episode("one")});
  ASSERT_EQ(::chmod(options_.folder.c_str(), 0555), 0);
  options_.settings.emplace_back("new", "1");
  const Result<EpisodeStore> store = EpisodeStore::open(options_);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().kind, ErrorKind::Unavailable);
}

// A limit on the size of files stands for a full disk: a write is cut short in the same way.
TEST_F(EpisodeStoreTest, KeepsWhatWasSavedWhenTheDiskIsFull) {
  save({episode("one")});
  const std::string before = *read_file(file());
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    Result<EpisodeStore> store = EpisodeStore::open(options_);
    const rlimit limit{before.size() + 100, before.size() + 100};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const Result<Done> done =
        store->append(key("two"), {}, episode("two", 0, std::string(500, 'x')));
    ::_exit(!done && done.error().kind == ErrorKind::Unavailable ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(*read_file(file()), before);
}

TEST_F(EpisodeStoreTest, SavesFromManyThreadsAtOnce) {
  {
    Result<EpisodeStore> store = EpisodeStore::open(options_);
    ASSERT_TRUE(store);
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 25; ++i)
          EXPECT_TRUE(store->append(key(std::to_string(t), i), {}, episode(std::to_string(t), i)));
      });
  }
  const StoreContents found = contents();
  EXPECT_EQ(found.episodes.size(), 200u);
  EXPECT_TRUE(found.warnings.empty());
}

}  // namespace
}  // namespace unmask
