// report: one struct, several renderings. Computes nothing but text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare/comparison.h"
#include "compare/mechanism.h"
#include "failure/excerpt.h"
#include "ingest/ingest.h"
#include "verdict/gate.h"
#include "verdict/verdict.h"

namespace unmask {

struct Provenance {
  std::string version;
  std::string command;  // as typed, shell-quoted
  std::uint64_t seed = 0;
  int bootstrap = 0;
};

// Where a cell stands in a grid; all empty where it is none's.
struct CellPlace {
  std::string family;
  std::string architecture;
  std::string domain;
  std::string precision;

  bool operator==(const CellPlace&) const = default;
};

// How the candidate's log is read once more by `unmask inspect`.
struct Reading {
  std::vector<std::string> options = {};  // as words: "--format", "tau1"
  bool again = true;                      // false: it came by standard input or a pipe
};

struct AuditedCell {
  CellComparison comparison;
  Judgement judgement;
  std::size_t baseline_arm = 0;  // indices into AuditReport::arms
  std::size_t candidate_arm = 0;
  CellPlace place = {};
  // Failed calls with the conversation around them, where asked for; of paired tasks.
  std::vector<Excerpt> baseline_excerpts = {};
  std::vector<Excerpt> candidate_excerpts = {};
  // Where both logs keep log-probabilities; its one candidate is the cell's.
  std::optional<Mechanism> mechanism = {};
  Reading candidate_reading = {};  // filled by the caller
};

struct AuditReport {
  std::vector<AuditedCell> cells;
  std::vector<Arm> arms;  // as read, each once, with the episodes that no cell pairs too
  CompareOptions options;
  std::vector<Dropped> dropped;
  std::vector<Warning> warnings;
  std::optional<GateResult> gate;  // nullopt: not asked for
  Provenance provenance;           // filled by the caller
};

// A failed agent call with the episode it happened in.
struct FailureRow {
  std::string task;
  int trial = 0;
  std::string where;  // place of the episode in the log
  FailedCall call;
};

struct InspectReport {
  ArmSummary arm;
  Arm read;                            // the same arm, episode by episode
  std::vector<FailureRow> failures;    // the agent's, by task and trial, of episodes that ran
  std::vector<Excerpt> excerpts = {};  // a few of them with the conversation, where asked for
  CompareOptions options;
  std::vector<Dropped> dropped;
  std::vector<Warning> warnings;
  Provenance provenance;
};

}  // namespace unmask
