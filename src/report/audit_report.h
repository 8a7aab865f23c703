// report: one struct, several renderings. Computes nothing but text.
#pragma once

#include <string>
#include <vector>

#include "compare/comparison.h"
#include "ingest/ingest.h"
#include "verdict/verdict.h"

namespace unmask {

struct Provenance {
  std::string version;
  std::string command;   // as typed, shell-quoted
  std::uint64_t seed = 0;
  int bootstrap = 0;
};

struct AuditedCell {
  CellComparison comparison;
  Judgement judgement;
};

struct AuditReport {
  std::vector<AuditedCell> cells;
  CompareOptions options;
  std::vector<Dropped> dropped;
  std::vector<Warning> warnings;
  Provenance provenance;  // filled by the caller
};

struct InspectReport {
  ArmSummary arm;
  std::vector<FailedCall> failures;  // the agent's, in order, with evidence
  CompareOptions options;
  std::vector<Dropped> dropped;
  std::vector<Warning> warnings;
  Provenance provenance;
};

}  // namespace unmask
