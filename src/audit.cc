#include "audit.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "base/rng.h"
#include "compare/evidence.h"
#include "compare/log_replay.h"
#include "compare/same_text.h"
#include "facts_collector.h"
#include "failure/excerpt.h"
#include "metrics/excerpt_shelf.h"

namespace unmask {
namespace {

void report_step(const AuditOptions& options, const std::string& step) {
  if (options.progress) options.progress(step);
}

// What must agree between the pieces of one arm, with the word a reader knows it by.
std::vector<std::pair<std::string, std::string>> settings_of(const RunInfo& info) {
  const auto text = [](const std::optional<int>& n) {
    return n ? std::to_string(*n) : std::string("none");
  };
  return {{"model", info.model},
          {"user model", info.user_model},
          {"agent settings", info.agent_settings},
          {"user settings", info.user_settings},
          {"git commit", info.git_commit},
          {"max_errors", text(info.max_errors)},
          {"max_steps", text(info.max_steps)},
          {"format", info.format}};
}

void warn_where_pieces_differ(const RunInfo& first, const RunInfo& other, const std::string& path,
                              std::vector<Warning>& warnings) {
  const std::vector<std::pair<std::string, std::string>> a = settings_of(first);
  const std::vector<std::pair<std::string, std::string>> b = settings_of(other);
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i].second != b[i].second)
      warnings.push_back({"mixed_settings",
                          "pieces of one arm differ in " + a[i].first + ": '" + a[i].second +
                              "' in the first, '" + b[i].second + "' here",
                          path, 1});
}

bool is_same_episode(const EpisodeFacts& a, const EpisodeFacts& b) {
  return a.id == b.id && a.trajectory_hash == b.trajectory_hash && a.trial == b.trial &&
         a.task_id == b.task_id && a.domain == b.domain;
}

// Pieces that overlap bring the same episode twice; the first one counts.
std::size_t drop_identical_episodes(std::vector<EpisodeList::Shared>& episodes) {
  std::vector<std::pair<std::uint64_t, std::size_t>> by_hash;
  by_hash.reserve(episodes.size());
  for (std::size_t i = 0; i < episodes.size(); ++i)
    if (!episodes[i]->id.empty())
      by_hash.emplace_back(episodes[i]->trajectory_hash ^ Rng::hash(episodes[i]->id), i);
  std::sort(by_hash.begin(), by_hash.end());
  std::vector<bool> repeats(episodes.size());
  for (std::size_t i = 1; i < by_hash.size(); ++i)
    for (std::size_t j = i; j > 0 && by_hash[j - 1].first == by_hash[i].first; --j)
      if (is_same_episode(*episodes[by_hash[j - 1].second], *episodes[by_hash[i].second])) {
        repeats[by_hash[i].second] = true;
        break;
      }
  std::size_t i = 0;
  return std::erase_if(episodes, [&](const EpisodeList::Shared&) { return repeats[i++]; });
}

std::string default_label(const ArmSource& source, const RunInfo& info) {
  if (!source.label.empty()) return source.label;
  if (!info.model.empty()) return info.model;
  return std::filesystem::path(source.paths.front()).stem().string();
}

// Settings go into every output, and logs keep keys and passwords in them.
void hide_secrets(RunInfo& info) {
  info.agent_settings = without_secrets(info.agent_settings);
  info.user_settings = without_secrets(info.user_settings);
}

// A budget stated by the user for a format that has none.
void assume_budget(RunInfo& info, const AuditOptions& options, std::vector<Warning>& warnings) {
  if (info.max_errors || options.compare.assumed_max_errors <= 0) return;
  info.max_errors = options.compare.assumed_max_errors;
  warnings.push_back({"budget_assumed",
                      "the log states no error budget; " + std::to_string(*info.max_errors) +
                          " is assumed as asked",
                      "", 1});
}

void append(std::vector<Warning>& to, std::vector<Warning> from, const std::string& where) {
  for (Warning& warning : from) {
    if (!where.empty())
      warning.where = warning.where.empty() ? where : where + ": " + warning.where;
    to.push_back(std::move(warning));
  }
}

// Arms already read, so that a baseline shared by several cells is read once.
class ArmShelf {
 public:
  explicit ArmShelf(const AuditOptions& options) : options_(options) {}

  Result<const LoadedArm*> get(const ArmSource& source) {
    const std::pair<std::vector<std::string>, std::string> key(source.paths, source.label);
    const auto found = arms_.find(key);
    if (found != arms_.end()) return found->second.get();
    Result<LoadedArm> loaded = load_arm(source, options_);
    if (!loaded) return loaded.error();
    order_.push_back(key);
    return (arms_[key] = std::make_unique<LoadedArm>(std::move(*loaded))).get();
  }

  // The place of an arm among those read, of which it must be one.
  std::size_t index_of(const ArmSource& source) const {
    const std::pair<std::vector<std::string>, std::string> key(source.paths, source.label);
    return static_cast<std::size_t>(std::find(order_.begin(), order_.end(), key) - order_.begin());
  }

  // The arms, and what reading and evidence checks said, once an arm, in the order the arms were
  // first read.
  void collect(AuditReport& report) const {
    for (const auto& key : order_) {
      const LoadedArm& loaded = *arms_.at(key);
      report.arms.push_back(loaded.arm);
      append(report.warnings, loaded.warnings, loaded.arm.label);
      report.dropped.insert(report.dropped.end(), loaded.dropped.begin(), loaded.dropped.end());
    }
  }

 private:
  const AuditOptions& options_;
  std::map<std::pair<std::vector<std::string>, std::string>, std::unique_ptr<LoadedArm>> arms_;
  std::vector<std::pair<std::vector<std::string>, std::string>> order_;
};

struct CellArms {
  std::string name;
  Arm baseline;
  Arm candidate;
};

bool has_excluded(const Arm& arm) {
  return std::any_of(arm.episodes.begin(), arm.episodes.end(),
                     [](const EpisodeFacts& episode) { return episode.excluded; });
}

// An arm under one reading of its excluded episodes; the arm itself, not a copy, where they stay
// out.
struct ReadArm {
  ReadArm(const Arm& as_is, ExcludedAs outcome)
      : changed(outcome == ExcludedAs::LeftOut ? Arm{} : with_excluded_as(as_is, outcome)),
        arm(outcome == ExcludedAs::LeftOut ? as_is : changed) {}
  const Arm changed;
  const Arm& arm;
};

// Compares every cell under one reading of the excluded episodes, then judges with Holm across
// cells.
Result<std::vector<AuditedCell>> judge_cells(const std::vector<CellArms>& cells,
                                             ExcludedAs baseline, ExcludedAs candidate,
                                             const CompareOptions& options) {
  std::vector<CellComparison> comparisons;
  for (const CellArms& cell : cells) {
    const ReadArm before(cell.baseline, baseline);
    const ReadArm after(cell.candidate, candidate);
    Result<CellComparison> comparison = compare_arms(before.arm, after.arm, options);
    if (!comparison) {
      Error error = comparison.error();
      if (error.where.empty()) error.where = cell.name;
      return error;
    }
    comparison->cell = cell.name;
    comparison->same_episodes =
        std::any_of(comparison->warnings.begin(), comparison->warnings.end(),
                    [](const Warning& warning) { return warning.code == "same_episodes"; });
    comparisons.push_back(std::move(*comparison));
  }
  apply_multiplicity(comparisons);
  std::vector<AuditedCell> judged;
  for (CellComparison& comparison : comparisons) {
    Judgement judgement = judge(comparison);
    judged.push_back({std::move(comparison), std::move(judgement)});
  }
  return judged;
}

// METHOD 1: would the verdict change with excluded episodes as best case, worst case or all failed?
Result<Done> mark_fragile(const std::vector<CellArms>& cells, const CompareOptions& options,
                          std::vector<AuditedCell>& judged) {
  const bool any = std::any_of(cells.begin(), cells.end(), [](const CellArms& cell) {
    return has_excluded(cell.baseline) || has_excluded(cell.candidate);
  });
  if (!any) return Done{};
  constexpr std::pair<ExcludedAs, ExcludedAs> kReadings[] = {
      {ExcludedAs::Failed, ExcludedAs::Failed},
      {ExcludedAs::Failed, ExcludedAs::Passed},
      {ExcludedAs::Passed, ExcludedAs::Failed}};
  for (const auto& [baseline, candidate] : kReadings) {
    const Result<std::vector<AuditedCell>> other = judge_cells(cells, baseline, candidate, options);
    if (!other) return other.error();
    for (std::size_t i = 0; i < judged.size(); ++i)
      if ((*other)[i].judgement.verdict != judged[i].judgement.verdict)
        judged[i].judgement.fragile = true;
  }
  return Done{};
}

std::string stem(const ArmSource& source) {
  return std::filesystem::path(source.paths.front()).stem().string();
}

// Labels must tell the arms apart; where the logs name the same model, the files do.
void make_labels_differ(const CellSources& sources, CellArms& cell) {
  if (cell.baseline.label != cell.candidate.label) return;
  const bool stems_differ = stem(sources.baseline) != stem(sources.candidate);
  cell.baseline.label += " (" + (stems_differ ? stem(sources.baseline) : "baseline") + ")";
  cell.candidate.label += " (" + (stems_differ ? stem(sources.candidate) : "candidate") + ")";
}

Result<Done> add_noise_floor(ArmShelf& shelf, const std::string& which, const Arm& arm,
                             const std::optional<ArmSource>& rerun, CellComparison& comparison) {
  if (!rerun) return Done{};
  const Result<const LoadedArm*> loaded = shelf.get(*rerun);
  if (!loaded) return loaded.error();
  if (std::optional<Warning> repeats = rerun_warning(which, arm, (*loaded)->arm)) {
    comparison.warnings.push_back(std::move(*repeats));
    return Done{};
  }
  comparison.noise.push_back(noise_floor(which, arm, (*loaded)->arm));
  return Done{};
}

// The excerpts of tasks that were compared; others fail outside the numbers beside them.
std::vector<Excerpt> of_paired_tasks(const std::vector<Excerpt>& excerpts,
                                     const std::vector<TaskRow>& tasks) {
  std::vector<Excerpt> paired;
  for (const Excerpt& excerpt : excerpts)
    if (std::any_of(tasks.begin(), tasks.end(), [&](const TaskRow& row) {
          return row.task == excerpt.task && row.domain == excerpt.domain;
        }))
      paired.push_back(excerpt);
  return paired;
}

Result<Done> add_excerpts(ArmShelf& shelf, const CellSources& sources, AuditedCell& cell) {
  cell.place = sources.place;
  for (const auto& [source, arm, excerpts] :
       {std::tuple(&sources.baseline, &cell.comparison.baseline, &cell.baseline_excerpts),
        std::tuple(&sources.candidate, &cell.comparison.candidate, &cell.candidate_excerpts)}) {
    const Result<const LoadedArm*> loaded = shelf.get(*source);
    if (!loaded) return loaded.error();
    *excerpts = of_paired_tasks((*loaded)->excerpts, arm->by_task);
  }
  return Done{};
}

std::string cell_name(const CellSources& sources, const CellArms& cell) {
  if (!sources.cell.empty()) return sources.cell;
  const std::string& domain = cell.baseline.info.domain;
  return domain.empty() ? "cell" : domain;
}

}  // namespace

Result<LoadedArm> load_arm(const ArmSource& source, const AuditOptions& options) {
  if (source.paths.empty())
    return Error{ErrorKind::InvalidArgument, "no log is named for an arm", ""};
  LoadedArm loaded;
  std::optional<RunInfo> info;
  std::vector<EpisodeList::Shared> episodes;
  ExcerptShelf shelf(static_cast<std::size_t>(options.excerpts_per_channel));
  for (const std::string& path : source.paths) {
    report_step(options, "reading " + path);
    FactsCollector collector(options.tools ? &*options.tools : nullptr, options);
    const EpisodeSink sink = [&](const RunInfo& run, std::size_t index, Episode&& episode) {
      collector.take(run, index, episode);
    };
    Result<IngestReport> read = ingest(path, options.read, sink);
    if (!read) return read.error();
    hide_secrets(read->run.info);
    // Facts of this piece are complete; merge them into the arm.
    std::vector<EpisodeList::Shared> facts = collector.take_all();
    UNMASK_CHECK(facts.size() == read->episodes);
    append(loaded.warnings, decision_warnings(facts), "");
    std::move(facts.begin(), facts.end(), std::back_inserter(episodes));
    shelf.take(collector.take_excerpts());
    append(loaded.warnings, std::move(read->warnings), "");
    loaded.dropped.insert(loaded.dropped.end(), read->dropped.begin(), read->dropped.end());
    loaded.bytes += read->bytes;
    if (info)
      warn_where_pieces_differ(*info, read->run.info, path, loaded.warnings);
    else
      info = read->run.info;
  }
  if (episodes.empty())
    return Error{ErrorKind::Undefined, "holds no episode that could be read", source.paths.front()};
  const std::size_t identical = drop_identical_episodes(episodes);
  if (identical > 0)
    loaded.warnings.push_back({"identical_episodes",
                               "episodes that stand in the arm more than once were counted once",
                               "", static_cast<std::int64_t>(identical)});
  assume_budget(*info, options, loaded.warnings);
  loaded.arm = make_arm(default_label(source, *info), source.paths, *info, std::move(episodes));
  append(loaded.warnings, evidence_warnings(loaded.arm), "");
  loaded.excerpts = shelf.take_all();
  return loaded;
}

Result<AuditReport> audit(const std::vector<CellSources>& sources, const AuditOptions& options) {
  UNMASK_CHECK(!sources.empty());
  AuditReport report;
  report.options = options.compare;
  ArmShelf shelf(options);

  // Read both arms of every cell.
  std::vector<CellArms> cells;
  for (const CellSources& cell : sources) {
    const Result<const LoadedArm*> baseline = shelf.get(cell.baseline);
    if (!baseline) return baseline.error();
    const Result<const LoadedArm*> candidate = shelf.get(cell.candidate);
    if (!candidate) return candidate.error();
    CellArms arms{"", (*baseline)->arm, (*candidate)->arm};
    arms.name = cell_name(cell, arms);
    make_labels_differ(cell, arms);
    cells.push_back(std::move(arms));
  }

  // Compare and judge, then ask whether excluded episodes could change a verdict.
  report_step(options, "comparing");
  Result<std::vector<AuditedCell>> judged =
      judge_cells(cells, ExcludedAs::LeftOut, ExcludedAs::LeftOut, options.compare);
  if (!judged) return judged.error();
  const Result<Done> marked = mark_fragile(cells, options.compare, *judged);
  if (!marked) return marked.error();
  report.cells = std::move(*judged);

  // Where both logs keep log-probabilities, the arms are compared decision by decision.
  for (std::size_t i = 0; i < cells.size(); ++i)
    report.cells[i].mechanism =
        mechanism_of_logs(cells[i].baseline, cells[i].candidate, options.compare);

  // Noise floors, warnings and excerpts stand beside the verdicts.
  for (std::size_t i = 0; i < sources.size(); ++i) {
    CellComparison& comparison = report.cells[i].comparison;
    const Result<Done> shown = add_excerpts(shelf, sources[i], report.cells[i]);
    if (!shown) return shown.error();
    const std::string where = sources.size() > 1 ? comparison.cell : "";
    report.cells[i].baseline_arm = shelf.index_of(sources[i].baseline);
    report.cells[i].candidate_arm = shelf.index_of(sources[i].candidate);
    for (const auto& [which, arm, rerun] :
         {std::tuple("baseline", &cells[i].baseline, &sources[i].baseline_rerun),
          std::tuple("candidate", &cells[i].candidate, &sources[i].candidate_rerun)}) {
      const Result<Done> added = add_noise_floor(shelf, which, *arm, *rerun, comparison);
      if (!added) return added.error();
    }
    append(report.warnings, std::move(comparison.warnings), where);
    comparison.warnings.clear();
  }
  shelf.collect(report);
  return report;
}

GateResult gate(const AuditReport& report, const GateCriteria& criteria) {
  std::vector<CellGate> cells;
  for (const AuditedCell& cell : report.cells)
    cells.push_back(gate_of_cell(cell.comparison, cell.judgement, criteria));
  return gate_of_cells(criteria, std::move(cells));
}

Result<InspectReport> inspect(const ArmSource& source, const AuditOptions& options) {
  AuditOptions of_one_arm = options;
  of_one_arm.keep_decisions = false;  // they are compared between arms
  Result<LoadedArm> loaded = load_arm(source, of_one_arm);
  if (!loaded) return loaded.error();
  report_step(options, "measuring");
  InspectReport report;
  report.options = options.compare;
  report.arm = summarize_arm(loaded->arm, options.compare);
  for (const EpisodeFacts& episode : loaded->arm.episodes) {
    if (episode.excluded) continue;
    for (const FailedCall& call : episode.failures)
      if (call.side == Side::Agent)
        report.failures.push_back({episode.task_id, episode.trial, episode.where, call});
  }
  report.excerpts = std::move(loaded->excerpts);
  report.dropped = std::move(loaded->dropped);
  report.warnings = std::move(loaded->warnings);
  report.read = std::move(loaded->arm);
  return report;
}

}  // namespace unmask
