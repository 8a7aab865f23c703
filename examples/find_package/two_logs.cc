// Audits two logs and prints, for each channel that fails more often, how much more.
//
//   two_logs BASELINE CANDIDATE      exit status: 0 the gate lets it pass, 1 it does not, 2 error
#include <audit.h>
#include <base/units.h>

#include <cstdio>
#include <string>

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: two_logs BASELINE CANDIDATE\n");
    return 2;
  }
  unmask::CellSources cell;
  cell.baseline.paths = {argv[1]};
  cell.candidate.paths = {argv[2]};
  unmask::AuditOptions options;
  options.compare.resamples = 1000;
  const unmask::Result<unmask::AuditReport> report = unmask::audit({cell}, options);
  if (!report) {
    std::fprintf(stderr, "two_logs: %s\n", unmask::to_string(report.error()).c_str());
    return 2;
  }
  const unmask::AuditedCell& audited = report->cells.front();
  const std::string verdict(unmask::to_string(audited.judgement.verdict));
  std::printf("verdict: %s\n", verdict.c_str());
  for (const auto& [channel, comparison] : audited.comparison.channels) {
    if (!comparison.amplified || !comparison.difference) continue;
    std::printf("%s: %+.1f points per call\n", std::string(unmask::to_string(channel)).c_str(),
                unmask::points(*comparison.difference));
  }
  const unmask::GateResult gate = unmask::gate(*report, unmask::GateCriteria{});
  return gate.status == unmask::GateStatus::Pass ? 0 : 1;
}
