// What `unmask margins` says of one or more replays, and its renderings.
#pragma once

#include <string>
#include <vector>

#include "compare/mechanism.h"
#include "report/audit_report.h"
#include "report/html.h"
#include "report/render.h"

namespace unmask {

struct AnalysedReplay {
  std::string source;  // the file
  Mechanism mechanism;
};

struct MarginsReport {
  std::vector<AnalysedReplay> replays;
  MechanismOptions options;
  std::vector<Dropped> dropped;
  std::vector<Warning> warnings;  // of reading; a mechanism has its own
  Provenance provenance;          // filled by the caller
};

// unmask.margins/1 (docs/schema/margins.schema.json).
std::string to_json(const MarginsReport& report);
std::string to_terminal(const MarginsReport& report, const TerminalStyle& style);
std::string to_markdown(const MarginsReport& report);
std::string to_html(const MarginsReport& report, const ChartLibrary& charts);

// "whether to call", "which tool".
std::string_view decision_in_words(DecisionKind kind);

}  // namespace unmask
