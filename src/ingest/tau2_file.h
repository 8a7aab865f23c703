// The top object of a τ²-bench results file: its members, and where its simulations are. Internal
// to ingest.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ingest/json_scan.h"
#include "ingest/log_records.h"
#include "ingest/source.h"
#include "trace/episode.h"

namespace unmask {

class Tau2File {
 public:
  explicit Tau2File(const Source& source) : source_(source), bytes_(source.bytes()) {}

  // Scans up to the simulations; to the end when something else may still follow them.
  // Errors   Malformed: no object, or one without info, tasks and simulations.
  std::optional<Error> open();

  // The run, as far as the file tells it.
  RunInfo info();

  // The ids listed in simulation_index; nullopt when the file has none.
  std::optional<std::set<std::string>> index();

  // The file has a list of simulations, with at least one in it.
  bool has_simulations() const { return simulations_.has_value() && !empty_list_; }
  // The next simulation; false at the end.
  bool next(PipelineRecord& record) { return records_ && records_->next(record); }

  // Scans what comes after the simulations, and gives everything there is to tell.
  Notes finish();

 private:
  struct Extent {
    std::size_t begin = 0;
    std::size_t end = 0;
    bool known() const { return end > begin; }
  };
  void scan_members(bool stop_at_simulations);
  void take(const JsonWalk::Item& item, bool whole);
  std::string_view text(const Extent& extent) const {
    return bytes_.substr(extent.begin, extent.end - extent.begin);
  }

  const Source& source_;
  std::string_view bytes_;
  Notes notes_;
  std::optional<JsonWalk> members_;
  std::optional<ArrayRecords> records_;
  std::optional<std::size_t> simulations_;  // where their '[' is
  bool empty_list_ = false;
  bool scanned_ = false;  // the members after the simulations are known already
  Extent info_;
  Extent tasks_;
  Extent timestamp_;
  Extent index_;
};

}  // namespace unmask
