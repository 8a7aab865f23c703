#include "app/gate_flag.h"

#include <CLI/CLI.hpp>

#include "app/gate_toml.h"

namespace unmask {

void add_gate_flag(CLI::App& app, GateFlag& flag) {
  app.add_flag("--gate", flag.given,
               "exit with 1 where a verdict or number fails, 4 where the evidence does not\n"
               "settle it; by the criteria of a file (docs/gate.md) or the default ones")
      ->type_name("[CRITERIA.toml]")
      ->group("gate");
}

Result<std::optional<GateCriteria>> gate_criteria(const GateFlag& flag) {
  if (flag.given.empty()) return std::optional<GateCriteria>();
  if (flag.given == kDefaultGate) return std::optional<GateCriteria>(GateCriteria{});
  Result<GateCriteria> criteria = read_gate(flag.given);
  if (!criteria && criteria.error().kind == ErrorKind::NotFound) {
    Error error = criteria.error();
    // As typed: the command line has put "./" before what would be no name of a file.
    if (flag.given == "./true" || flag.given == "./{}") error.where = flag.given.substr(2);
    error.message += " (--gate takes a file of criteria; without one it takes the default ones)";
    return error;
  }
  if (!criteria) return criteria.error();
  return std::optional<GateCriteria>(std::move(*criteria));
}

ExitStatus exit_status(GateStatus status) {
  switch (status) {
    case GateStatus::Pass:
      return ExitStatus::Done;
    case GateStatus::Inconclusive:
      return ExitStatus::GateInconclusive;
    case GateStatus::Fail:
      return ExitStatus::GateFails;
  }
  return ExitStatus::GateFails;
}

}  // namespace unmask
