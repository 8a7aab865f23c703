// Nothing is looked up: with the identifiers in the state files changed, the same calls give the
// same contents with the identifiers changed.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "base/file.h"
#include "environment/environment.h"
#include "environment/json.h"
#include "parity.h"

namespace unmask::parity {
namespace {

struct Renaming {
  const char* domain;
  std::vector<std::pair<const char*, const char*>> rules;  // pattern, replacement
};

const std::vector<Renaming>& renamings() {
  static const std::vector<Renaming> kRenamings = {
      {"retail",
       {{"#W(\\d)", "#Q$1"}, {"gift_card_(\\d)", "gift_card_9$1"}, {"_(\\d{4})\\b", "_7$1"}}},
      {"airline", {{"HAT(\\d)", "ZED$1"}, {"credit_card_(\\d)", "credit_card_8$1"}}},
      {"telecom", {{"\\b([CLBD])(\\d{4})\\b", "$019$2"}, {"555-123", "555-321"}}},
  };
  return kRenamings;
}

std::string renamed(std::string text, const Renaming& renaming) {
  for (const auto& [pattern, replacement] : renaming.rules)
    text = std::regex_replace(text, std::regex(pattern), replacement);
  return text;
}

// The domain's folder with every file renamed, below a temporary one.
class RenamedData {
 public:
  explicit RenamedData(const Renaming& renaming) {
    std::string name = testing::TempDir() + "unmask_renamed_XXXXXX";
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
    const Result<DataFolder> data = DataFolder::open(data_folder_path());
    EXPECT_TRUE(data) << to_string(data.error());
    const std::string below = "domains/" + std::string(renaming.domain);
    std::filesystem::create_directories(root_ / below);
    for (const auto& entry : std::filesystem::directory_iterator(data->path(below))) {
      const std::string text = read_file(entry.path().string()).value_or("");
      const std::string target = root_ / below / entry.path().filename();
      EXPECT_TRUE(write_file(target, renamed(text, renaming)));
    }
  }
  ~RenamedData() { std::filesystem::remove_all(root_); }
  std::shared_ptr<const Domain> domain(const std::string& name) const {
    const Result<std::shared_ptr<const Domain>> domain =
        load_domain(*DataFolder::open(root_), name);
    EXPECT_TRUE(domain) << to_string(domain.error());
    return domain ? *domain : nullptr;
  }

 private:
  std::filesystem::path root_;
};

// Replays one recorded episode without an initial task; the number of contents compared.
int compare(const std::shared_ptr<const Domain>& domain, const Renaming& renaming,
            const Value& line) {
  Result<Environment> environment = Environment::start(domain);
  EXPECT_TRUE(environment);
  if (!environment) return 0;
  int compared = 0;
  for (const Value& step : line.find("steps")->items()) {
    const Result<Value> arguments =
        parse_json(renamed(dump_json(*step.find("arguments")), renaming));
    EXPECT_TRUE(arguments);
    const bool user = step.find("requestor")->as_str() == "user";
    const ToolReply reply = environment->respond(
        {"", step.find("name")->as_str(), *arguments, user ? Side::User : Side::Agent});
    EXPECT_EQ(reply.content, renamed(step.find("content")->as_str(), renaming));
    ++compared;
  }
  return compared;
}

TEST(Renamed, StateFilesOtherThanUpstreamsGiveTheirOwnContents) {
  std::string absent;
  const std::vector<std::string> folders = golden_folders(absent);
  if (folders.empty()) GTEST_SKIP() << "no golden transcripts at " << absent;
  for (const Renaming& renaming : renamings()) {
    const RenamedData data(renaming);
    const std::shared_ptr<const Domain> domain = data.domain(renaming.domain);
    ASSERT_NE(domain, nullptr);
    int compared = 0;
    for (const GoldenFile& file : golden_files(folders.front(), "")) {
      if (file.domain != renaming.domain) continue;
      for (const Value& line : file.lines) {
        const Task* task = loaded(file.domain)->find(line.find("task_id")->as_str());
        if (task && !task->initial_state) compared += compare(domain, renaming, line);
      }
    }
    for (const GoldenFile& file : golden_files(folders.front(), "fuzz")) {
      if (file.domain != renaming.domain) continue;
      for (const Value& line : file.lines)
        if (line.find("task_id")->is_none()) compared += compare(domain, renaming, line);
    }
    std::printf("%s: %d contents equal but for the names\n", renaming.domain, compared);
    EXPECT_GT(compared, 50) << renaming.domain;
  }
}

}  // namespace
}  // namespace unmask::parity
