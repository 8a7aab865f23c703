// The gate in words, shared by the terminal and Markdown renderings. Texts from files are returned
// as they are; the renderings make them safe.
#pragma once

#include <string>
#include <vector>

#include "base/json_writer.h"
#include "report/audit_report.h"
#include "report/screen.h"

namespace unmask {

// "The gate says no", "The gate lets it pass", "The gate cannot say".
std::string gate_in_words(GateStatus status);

// The findings that do not pass, the worst first; `all`: then those that do.
std::vector<const GateFinding*> findings_to_show(const CellGate& gate, bool all);

// A sentence that several cells share, with their indices.
struct SharedFinding {
  const GateFinding* finding = nullptr;
  std::vector<std::size_t> cells;
};
// The findings that do not pass, the worst first, each sentence once.
std::vector<SharedFinding> shared_findings(const GateResult& gate);

// "no: ...", "cannot say: ...", "yes: ...".
std::string finding_in_words(const GateFinding& finding);

// The gate on a screen; nothing where there is none.
void show_gate(Screen& screen, const AuditReport& report);

// The "gate" member of the JSON contract; null where there is none.
void write_gate(JsonWriter& json, const AuditReport& report);

}  // namespace unmask
