// The library's front door: the whole offline flow, in order.
//
//   logs -> ingest -> failure -> metrics -> compare -> verdict
//
// Pure but for reading the files it is given; never prints.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "compare/comparison.h"
#include "failure/classify.h"
#include "ingest/ingest.h"
#include "metrics/arm.h"
#include "report/audit_report.h"
#include "verdict/gate.h"
#include "verdict/verdict.h"

namespace unmask {

// What to read as one arm.
struct ArmSource {
  std::vector<std::string> paths;  // shards or pieces of one arm
  std::string label;               // empty: taken from the log's model or the file name
  // The label was given to this arm alone: where another goes by it, that is an error. Other labels
  // that are alike are told apart (metrics/arm_labels.h).
  bool label_is_exclusive = false;
};

struct AuditOptions {
  ReadOptions read;
  CompareOptions compare;
  std::optional<ToolsFile> tools;
  bool keep_calls = false;  // every call of every episode stays, for tables of calls
  // Decisions whose log-probabilities are in the log stay, for AuditedCell::mechanism.
  bool keep_decisions = true;
  int excerpts_per_channel = 0;  // failed calls kept with the conversation around them
  std::function<void(const std::string& step)> progress;  // may be empty
};

// An arm and everything reading it brought up.
struct LoadedArm {
  Arm arm;
  std::vector<Dropped> dropped;
  std::vector<Warning> warnings;
  std::uint64_t bytes = 0;
  std::vector<Excerpt> excerpts;  // as ExcerptShelf chooses them; empty unless asked for
};

// Reads, classifies and measures one arm. Texts are dropped episode by episode.
// Errors   those of ingest; Undefined: no episode at all.
Result<LoadedArm> load_arm(const ArmSource& source, const AuditOptions& options);

struct CellSources {
  std::string cell;
  ArmSource baseline;
  ArmSource candidate;
  std::optional<ArmSource> baseline_rerun;
  std::optional<ArmSource> candidate_rerun;
  CellPlace place = {};
};

// What an arm goes by where it is given no label.
std::string own_name(const ArmSource& source, const RunInfo& info);

// One or many cells -> comparisons with Holm across them -> judgements. No two arms of a report
// have one label. Errors   those of load_arm and compare_arms; InvalidArgument: an exclusive label
// is also another
//          arm's.
Result<AuditReport> audit(const std::vector<CellSources>& cells, const AuditOptions& options);

// Holds every cell of a report against criteria fixed beforehand.
GateResult gate(const AuditReport& report, const GateCriteria& criteria);

// One arm on its own.
Result<InspectReport> inspect(const ArmSource& source, const AuditOptions& options);

}  // namespace unmask
