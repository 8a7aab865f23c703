#include "app/run_results.h"

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/json_writer.h"
#include "ingest/ingest.h"
#include "trace/tau2_writer.h"

namespace unmask {
namespace {

namespace fs = std::filesystem;

std::string results_name(const std::string& arm, const std::string& domain) {
  return "results/" + file_name_of(arm) + "_" + file_name_of(domain) + ".json";
}

bool same_cell(const GridArm& a, const GridArm& b) {
  return a.family == b.family && a.architecture == b.architecture && a.domain == b.domain;
}

// A JSON string is a TOML string.
void append_key(std::string& out, std::string_view key, std::string_view value) {
  if (value.empty()) return;
  out += std::string(key) + " = ";
  append_json_string(out, value);
  out += '\n';
}

std::string arms_toml(const RunPlan& plan, const std::vector<GridArm>& arms) {
  std::string out = "# Written by unmask run; for unmask audit --grid.\n";
  for (const GridArm& arm : arms) {
    out += "\n[[arm]]\n";
    append_key(out, "label", arm.label);
    append_key(out, "family", arm.family);
    append_key(out, "architecture", arm.architecture);
    append_key(out, "domain", arm.domain);
    append_key(out, "precision", arm.precision);
    append_key(out, "file", fs::path(arm.files.front()).lexically_relative(plan.out).string());
    if (arm.baseline) out += "baseline = true\n";
  }
  return out;
}

const ArmPlan& plan_of(const RunPlan& plan, const GridArm& arm) {
  return *std::find_if(plan.arms.begin(), plan.arms.end(),
                       [&](const ArmPlan& each) { return each.label == arm.label; });
}

}  // namespace

std::vector<GridArm> planned_grid(const RunPlan& plan) {
  std::vector<GridArm> arms;
  for (const std::string& domain : plan.domains)
    for (const ArmPlan& arm : plan.arms) {
      GridArm grid;
      grid.label = arm.label;
      grid.family = arm.family;
      grid.architecture = arm.architecture;
      grid.domain = domain;
      grid.precision = arm.precision;
      grid.files = {(fs::path(plan.out) / results_name(arm.label, domain)).string()};
      grid.baseline = arm.baseline;
      grid.where = arm.where;
      arms.push_back(std::move(grid));
    }
  return arms;
}

std::vector<GridArm> comparable(const std::vector<GridArm>& arms) {
  std::vector<GridArm> compared;
  for (const GridArm& arm : arms)
    if (std::count_if(arms.begin(), arms.end(),
                      [&](const GridArm& other) { return same_cell(arm, other); }) > 1)
      compared.push_back(arm);
  return compared;
}

Result<Done> check_baselines(const RunPlan& plan) {
  const Result<std::vector<CellSources>> cells = cells_of_grid(comparable(planned_grid(plan)));
  if (!cells) return cells.error();
  return Done{};
}

Result<Run> stored_run(const StoreContents& contents, const RunInfo& info, const std::string& arm,
                       const std::string& domain) {
  const Result<std::string> log = stored_log(contents, info, arm, domain);
  if (!log) return log.error();
  ReadOptions options;
  options.format = "native";
  Result<IngestReport> report = ingest_bytes(*log, "the episodes of arm '" + arm + "'", options);
  if (!report) return report.error();
  if (!report->dropped.empty())
    return Error{ErrorKind::Malformed, report->dropped.front().reason,
                 report->dropped.front().where};
  return std::move(report->run);
}

Result<RunResults> write_results(const RunPlan& plan, const StoreContents& contents) {
  RunResults results;
  std::error_code error;
  fs::create_directories(fs::path(plan.out) / "results", error);
  if (error)
    return Error{ErrorKind::Unavailable, "cannot be created: " + error.message(),
                 plan.out + "/results"};
  for (const GridArm& arm : planned_grid(plan)) {
    const RunInfo info = run_info(plan, plan_of(plan, arm), arm.domain);
    Result<Run> run = stored_run(contents, info, arm.label, arm.domain);
    if (!run) return run.error();
    if (run->episodes.empty()) continue;
    const Result<Done> written = write_tau2_file(*run, arm.files.front());
    if (!written) return written.error();
    results.written.push_back(arm);
  }
  const std::vector<GridArm> compared = comparable(results.written);
  results.has_grid = !compared.empty();
  const std::string toml = (fs::path(plan.out) / "arms.toml").string();
  if (!results.has_grid) {
    fs::remove(toml, error);  // of an earlier plan
    return results;
  }
  const Result<Done> written = write_file(toml, arms_toml(plan, compared));
  if (!written) return written.error();
  return results;
}

}  // namespace unmask
