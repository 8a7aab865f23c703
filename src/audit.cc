#include "audit.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "arm_shelf.h"
#include "base/check.h"
#include "base/rng.h"
#include "compare/evidence.h"
#include "compare/log_replay.h"
#include "compare/same_text.h"
#include "facts_collector.h"
#include "failure/secrets.h"
#include "fragility.h"
#include "metrics/arm_labels.h"
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

// Settings go into every output, and logs keep keys and passwords in them.
void hide_secrets(RunInfo& info) {
  info.agent_settings = settings_without_secrets(info.agent_settings);
  info.user_settings = settings_without_secrets(info.user_settings);
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

// What an arm's log lacks, as far as it shows.
LogGaps gaps_of(const LoadedArm& loaded, const std::vector<TaskTrial>& missing) {
  LogGaps gaps;
  gaps.missing = static_cast<long>(missing.size());
  gaps.cut_short =
      std::any_of(loaded.warnings.begin(), loaded.warnings.end(),
                  [](const Warning& warning) { return warning.code == "truncated_log"; });
  for (const Warning& warning : loaded.warnings)
    if (warning.code == "more_dropped") gaps.unread += warning.count;
  for (const EpisodeFacts& episode : loaded.arm.episodes) {
    gaps.calls += episode.agent_calls + episode.unanswered;
    gaps.unanswered += episode.unanswered;
    gaps.accepted += episode.not_offered_ok;
  }
  for (const Dropped& dropped : loaded.dropped) {
    if (dropped.code == "malformed_log" || dropped.code == "truncated_record")
      gaps.cut_short = true;
    else if (dropped.code != "trailing_bytes")
      ++gaps.unread;
  }
  return gaps;
}

// Reads every arm once, baselines and candidates in the order of the cells, then second runs.
Result<Done> read_arms(const std::vector<CellSources>& sources, ArmShelf& shelf) {
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::string number = sources.size() > 1 ? " " + std::to_string(i + 1) : "";
    const Result<Done> baseline = shelf.read(sources[i].baseline, "baseline");
    if (!baseline) return baseline.error();
    const Result<Done> candidate = shelf.read(sources[i].candidate, "candidate" + number);
    if (!candidate) return candidate.error();
  }
  for (const CellSources& cell : sources)
    for (const auto& [rerun, arm, role] :
         {std::tuple(&cell.baseline_rerun, &cell.baseline, "baseline rerun"),
          std::tuple(&cell.candidate_rerun, &cell.candidate, "candidate rerun")}) {
      if (!*rerun) continue;
      const Result<Done> again = shelf.read(**rerun, role, arm);
      if (!again) return again.error();
    }
  return Done{};
}

void add_noise_floor(const ArmShelf& shelf, const std::string& which, const Arm& arm,
                     const std::optional<ArmSource>& rerun, CellComparison& comparison) {
  if (!rerun) return;
  const Arm& again = shelf.at(*rerun).arm;
  if (std::optional<Warning> repeats = rerun_warning(which, arm, again)) {
    comparison.warnings.push_back(std::move(*repeats));
    return;
  }
  comparison.noise.push_back(noise_floor(which, arm, again));
}

std::optional<Warning> resamples_of_cells(const std::vector<AuditedCell>& cells, int resamples) {
  std::vector<const CellComparison*> comparisons;
  for (const AuditedCell& cell : cells) comparisons.push_back(&cell.comparison);
  return resamples_warning(comparisons, resamples);
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

void add_excerpts(const ArmShelf& shelf, const CellSources& sources, AuditedCell& cell) {
  cell.place = sources.place;
  for (const auto& [source, arm, excerpts] :
       {std::tuple(&sources.baseline, &cell.comparison.baseline, &cell.baseline_excerpts),
        std::tuple(&sources.candidate, &cell.comparison.candidate, &cell.candidate_excerpts)})
    *excerpts = of_paired_tasks(shelf.at(*source).excerpts, arm->by_task);
}

std::string cell_name(const CellSources& sources, const CellArms& cell) {
  if (!sources.cell.empty()) return sources.cell;
  const std::string& domain = cell.baseline.info.domain;
  return domain.empty() ? "cell" : domain;
}

// Tables join by the cell's name; two of one place and precision are told apart by the candidate.
void name_cells_apart(std::vector<CellArms>& cells) {
  std::map<std::string, int> times;
  for (const CellArms& cell : cells) ++times[cell.name];
  for (CellArms& cell : cells)
    if (times[cell.name] > 1) cell.name += ": " + cell.candidate.label;
}

}  // namespace

std::string own_name(const ArmSource& source, const RunInfo& info) {
  return info.model.empty() ? file_label(source.paths.front()) : info.model;
}

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
  const std::string label = source.label.empty() ? own_name(source, *info) : source.label;
  loaded.arm = make_arm(label, source.paths, *info, std::move(episodes));
  append(loaded.warnings, evidence_warnings(loaded.arm), "");
  loaded.excerpts = shelf.take_all();
  return loaded;
}

Result<AuditReport> audit(const std::vector<CellSources>& sources, const AuditOptions& options) {
  UNMASK_CHECK(!sources.empty());
  AuditReport report;
  report.options = options.compare;
  ArmShelf shelf(options);

  // Read all arms; from here on no two of them have one label.
  const Result<Done> read = read_arms(sources, shelf);
  if (!read) return read.error();
  if (const std::optional<Error> clash = shelf.tell_apart()) return *clash;
  std::vector<CellArms> cells;
  for (const CellSources& cell : sources) {
    CellArms arms{"", shelf.at(cell.baseline).arm, shelf.at(cell.candidate).arm, {}, {}};
    arms.missing_baseline = missing_beside(arms.baseline, arms.candidate);
    arms.missing_candidate = missing_beside(arms.candidate, arms.baseline);
    arms.name = cell_name(cell, arms);
    cells.push_back(std::move(arms));
  }
  name_cells_apart(cells);

  // Compare and judge, then ask whether episodes of unknown outcome could change a verdict.
  report_step(options, "comparing");
  Result<std::vector<AuditedCell>> judged = judge_cells(cells, options.compare);
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
    comparison.baseline_gaps = gaps_of(shelf.at(sources[i].baseline), cells[i].missing_baseline);
    comparison.candidate_gaps = gaps_of(shelf.at(sources[i].candidate), cells[i].missing_candidate);
    add_excerpts(shelf, sources[i], report.cells[i]);
    const std::string where = sources.size() > 1 ? comparison.cell : "";
    report.cells[i].baseline_arm = shelf.index_of(sources[i].baseline);
    report.cells[i].candidate_arm = shelf.index_of(sources[i].candidate);
    for (const auto& [which, arm, rerun] :
         {std::tuple("baseline", &cells[i].baseline, &sources[i].baseline_rerun),
          std::tuple("candidate", &cells[i].candidate, &sources[i].candidate_rerun)})
      add_noise_floor(shelf, which, *arm, *rerun, comparison);
    append(report.warnings, std::move(comparison.warnings), where);
    comparison.warnings.clear();
  }
  if (std::optional<Warning> too_few = resamples_of_cells(report.cells, options.compare.resamples))
    report.warnings.push_back(std::move(*too_few));
  // The arms, and what reading and evidence checks said of them, once an arm.
  for (const ShelvedArm& shelved : shelf.arms()) {
    const LoadedArm& loaded = shelved.loaded;
    report.arms.push_back(loaded.arm);
    append(report.warnings, loaded.warnings, loaded.arm.label);
    report.dropped.insert(report.dropped.end(), loaded.dropped.begin(), loaded.dropped.end());
  }
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
