// Small logs made up for the tests of ingest. Included by tests only.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/ingest.h"

namespace unmask::testing {

inline std::string tau2_info() {
  return R"({"git_commit": "abc", "num_trials": 2, "max_steps": 30, "max_errors": 10, "seed": 300,
    "user_info": {"implementation": "user_simulator", "llm": "user-model", "llm_args": {"b": 1, "a": 0.5}},
    "agent_info": {"implementation": "llm_agent", "llm": "agent-model", "llm_args": {"temperature": 0.0}},
    "environment_info": {"domain_name": "retail", "policy": "Be kind."}})";
}

// One agent call with its result, then a text.
inline std::string tau2_messages(bool error) {
  return R"([{"role": "user", "content": "hi"},
    {"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "name": "get_order",
       "arguments": {"order_id": "#W1"}, "requestor": "assistant"}], "cost": 0.25,
       "usage": {"prompt_tokens": 7, "completion_tokens": 3}, "generation_time_seconds": 1.5},
    {"role": "tool", "id": "c1", "content": "Error: x", "requestor": "assistant", "error": )" +
         std::string(error ? "true" : "false") + R"(},
    {"role": "assistant", "content": "done"}])";
}

inline std::string tau2_simulation(const std::string& id, const std::string& task, int trial,
                                   const std::string& reward = "1.0", bool error = true) {
  return R"({"id": ")" + id + R"(", "task_id": ")" + task + R"(", "trial": )" +
         std::to_string(trial) + R"(, "seed": 5, "termination_reason": "user_stop", "duration": 2.5,
    "agent_cost": 0.5, "user_cost": null, "reward_info": {"reward": )" +
         reward + R"(}, "messages": )" + tau2_messages(error) + R"(, "policy": "Be kind."})";
}

inline std::string joined(const std::vector<std::string>& parts) {
  std::string all;
  for (const std::string& part : parts) all += (all.empty() ? "" : ",\n") + part;
  return all;
}

inline std::string tau2_log(const std::vector<std::string>& simulations) {
  return R"({"timestamp": "2026-05-31T21:12:23", "info": )" + tau2_info() +
         R"(, "tasks": [{"id": "0"}, {"id": "1"}], "simulations": [)" + joined(simulations) +
         R"(], "simulation_index": null})";
}

// Defined in compressing_test.cc, since the codecs' headers belong in .cc files.
std::string gzipped(std::string_view bytes);
std::string zstd_compressed(std::string_view bytes);

inline ReadOptions forced(const std::string& format, int threads = 1) {
  ReadOptions options;
  options.format = format;
  options.threads = threads;
  return options;
}

inline Result<IngestReport> read_text(std::string_view bytes, const std::string& format = "") {
  return ingest_bytes(bytes, "log.json", forced(format));
}

inline const Warning* find_warning(const IngestReport& report, std::string_view code) {
  for (const Warning& warning : report.warnings)
    if (warning.code == code) return &warning;
  return nullptr;
}

inline const Dropped* find_dropped(const IngestReport& report, std::string_view code) {
  for (const Dropped& dropped : report.dropped)
    if (dropped.code == code) return &dropped;
  return nullptr;
}

// A folder of its own that is gone afterwards.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "unmask-ingest-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string write(const std::string& name, std::string_view bytes) const {
    const std::filesystem::path file = std::filesystem::path(path_) / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << bytes;
    return file.string();
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace unmask::testing
