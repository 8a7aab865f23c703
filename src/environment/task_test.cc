#include "environment/task.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "environment/data_folder.h"
#include "environment/domain.h"
#include "environment/json.h"

namespace unmask {
namespace {

DataFolder small_data() {
  const Result<DataFolder> data = DataFolder::open(UNMASK_TEST_DATA "/environment/tau2");
  EXPECT_TRUE(data) << to_string(data.error());
  return *data;
}

// A folder of its own with the given files below domains/mock.
class Folder {
 public:
  Folder() {
    std::string name = testing::TempDir() + "unmask_data_XXXXXX";
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
    std::filesystem::create_directories(root_ / "domains/mock");
    for (const char* file :
         {"db.json", "user_db.json", "policy.md", "policy_solo.md", "tasks.json"})
      std::filesystem::copy(UNMASK_TEST_DATA "/environment/tau2/domains/mock/" + std::string(file),
                            root_ / "domains/mock" / file);
  }
  ~Folder() { std::filesystem::remove_all(root_); }
  void write(const std::string& file, const std::string& text) {
    std::ofstream(root_ / "domains/mock" / file) << text;
  }
  void remove(const std::string& file) { std::filesystem::remove(root_ / "domains/mock" / file); }
  std::string path(const std::string& file) { return root_ / "domains/mock" / file; }
  DataFolder open() { return *DataFolder::open(root_); }

 private:
  std::filesystem::path root_;
};

std::string domain_error(Folder& folder) {
  const Result<std::shared_ptr<const Domain>> domain = load_domain(folder.open(), "mock");
  return domain ? "" : to_string(domain.error());
}

TEST(DataFolder, TellsWhatToDownloadWhereThereIsNothing) {
  const Result<DataFolder> data = DataFolder::open("/nonexistent");
  ASSERT_FALSE(data);
  EXPECT_EQ(
      to_string(data.error()),
      "/nonexistent: no τ²-bench data here: get https://github.com/sierra-research/tau2-bench "
      "and give its folder with --tau2 DIR or TAU2_DATA_DIR");
}

TEST(LoadDomain, ListsTheDomainsWhenTheNameIsUnknown) {
  const Result<std::shared_ptr<const Domain>> domain = load_domain(small_data(), "banking");
  ASSERT_FALSE(domain);
  EXPECT_EQ(domain.error().kind, ErrorKind::NotFound);
  EXPECT_NE(domain.error().message.find("no domain is called 'banking'; there are: mock, retail"),
            std::string::npos);
}

TEST(LoadDomain, NamesAMissingFile) {
  Folder folder;
  folder.remove("policy_solo.md");
  EXPECT_EQ(domain_error(folder), folder.path("policy_solo.md") +
                                      ": this file of τ²-bench is missing: get "
                                      "https://github.com/sierra-research/tau2-bench and give its "
                                      "folder with --tau2 DIR or TAU2_DATA_DIR");
}

TEST(LoadDomain, NamesThePlaceInACorruptDatabase) {
  Folder folder;
  folder.write("db.json", "{\"tasks\": {},\n");
  EXPECT_EQ(domain_error(folder),
            folder.path("db.json") + ": line 2, byte 14: not JSON: an object needs a key here");
  folder.write("db.json",
               R"({"tasks": {}, "users": {"u": {"user_id": "u", "name": 5, "tasks": []}}})");
  EXPECT_EQ(domain_error(folder),
            folder.path("db.json") +
                ": not a database of this domain: users.u.name: Input should be a valid string");
  folder.write("db.json", "[]");
  EXPECT_EQ(domain_error(folder), folder.path("db.json") +
                                      ": not a database of this domain: Input should be a valid "
                                      "dictionary or instance of MockDB");
  folder.write("db.json", "{\"tasks\": {\"a\\n\": 5}, \"users\": {}}");
  EXPECT_NE(domain_error(folder).find("tasks.a\n: Input should be a valid dictionary"),
            std::string::npos);
  folder.write("db.json", "\xff\xfe");
  EXPECT_EQ(domain_error(folder), folder.path("db.json") + ": not UTF-8");
}

TEST(LoadTasks, ReadsEveryPartOfATask) {
  const Result<std::vector<Task>> tasks = load_tasks(small_data(), *find_domain("mock"));
  ASSERT_TRUE(tasks) << to_string(tasks.error());
  ASSERT_EQ(tasks->size(), 2u);
  const Task& one = tasks->at(0);
  EXPECT_EQ(
      one.user_scenario,
      "Persona:\n\tCalm.\n\tTerse.\nInstructions:\n\tDomain: mock\n\tReason for call:\n\t\tA "
      "plant.\n\tKnown info:\n\t\tYou are Ana.\n\tTask instructions:\n\t\tAsk once.\n\n\t\tThen "
      "stop.");
  ASSERT_TRUE(one.criteria && one.criteria->actions && one.criteria->assertions);
  EXPECT_EQ(one.criteria->actions->at(0).compare_arguments, std::vector<std::string>{"user_id"});
  EXPECT_FALSE(one.criteria->assertions->at(0).expected);
  EXPECT_EQ(one.criteria->assertions->at(0).side, Side::User);
  EXPECT_TRUE(one.criteria->communicate && one.criteria->communicate->empty());
  EXPECT_FALSE(one.criteria->nl_assertions);
  EXPECT_EQ(one.criteria->basis, (std::vector{RewardPart::Db, RewardPart::EnvAssertion}));
  const Task& two = tasks->at(1);
  EXPECT_EQ(two.ticket, "Please.");
  EXPECT_EQ(two.user_scenario, "Instructions:\n\tJust ask.");
  EXPECT_FALSE(two.criteria);
  ASSERT_TRUE(two.initial_state && two.initial_state->agent_data);
  EXPECT_EQ(two.initial_state->actions.at(0).name, "update_task_status");
}

TEST(LoadTasks, KeepsTheTasksOfASplitAndListsTheSplits) {
  const Result<std::vector<Task>> other = load_tasks(small_data(), *find_domain("mock"), "other");
  ASSERT_TRUE(other);
  ASSERT_EQ(other->size(), 1u);
  EXPECT_EQ(other->at(0).id, "two");
  const Result<std::vector<Task>> none = load_tasks(small_data(), *find_domain("mock"), "hard");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "no split is called 'hard'; there are: base, other");
}

std::string task_error(std::string_view json) {
  const Result<Task> task = read_task(*parse_json(json));
  return task ? "" : task.error().message;
}

TEST(ReadTask, NamesTheTaskAndTheFieldThatIsWrong) {
  EXPECT_EQ(task_error("[]"), "a task is not an object");
  EXPECT_EQ(task_error(R"({"user_scenario": {}})"), "task without id: id is missing");
  EXPECT_EQ(task_error(R"({"id": "t"})"), "task 't': user_scenario is missing");
  EXPECT_EQ(
      task_error(R"({"id": "t", "user_scenario": {}, "evaluation_criteria": {"actions": [5]}})"),
      "task 't': actions has an item that is not an object");
  EXPECT_EQ(task_error(R"({"id": "t", "user_scenario": {}, "evaluation_criteria":
                           {"actions": [{"action_id": "a", "name": "n", "arguments": []}]}})"),
            "task 't': arguments is not an object");
  EXPECT_EQ(
      task_error(
          R"({"id": "t", "user_scenario": {}, "evaluation_criteria": {"reward_basis": ["XP"]}})"),
      "task 't': reward_basis names 'XP', which is no part of a reward");
  EXPECT_EQ(
      task_error(R"({"id": "t", "user_scenario": {}, "initial_state": {"initialization_actions":
                           [{"env_type": "agent", "func_name": "f", "arguments": {}}]}})"),
      "task 't': env_type is neither 'assistant' nor 'user'");
}

TEST(ParseToml, ReadsDatesAndSaysWhereItStops) {
  const Result<Value> value =
      parse_toml("day = 2025-02-25\nat = 2025-01-12T13:45:00\nn = 5\nx = [1.5, true]\n");
  ASSERT_TRUE(value) << to_string(value.error());
  EXPECT_EQ(value->find("day")->kind(), Kind::Date);
  EXPECT_EQ(dump_json(*value, KeyOrder::Sorted),
            R"({"at": "2025-01-12 13:45:00", "day": "2025-02-25", "n": 5, "x": [1.5, true]})");
  const Result<Value> broken = parse_toml("a = 1\nb = \n");
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().where.substr(0, 6), "line 2");
  EXPECT_FALSE(parse_toml("a = \"\xff\""));
}

}  // namespace
}  // namespace unmask
