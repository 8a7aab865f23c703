#include "ingest/tau2_file.h"

#include <utility>

#include "ingest/tau2_episode.h"

namespace unmask {
namespace {

constexpr std::string_view kTau2FailureRule =
    "A call failed when its tool message carries the flag \"error\": true.";

}  // namespace

std::optional<Error> Tau2File::open() {
  const std::size_t begin = skip_space(bytes_, 0);
  if (begin >= bytes_.size()) return Error{ErrorKind::Malformed, "is empty", source_.name()};
  if (bytes_[begin] != '{')
    return Error{ErrorKind::Malformed, "is not a JSON object, as tau2 results are",
                 source_.place(begin)};
  members_.emplace(bytes_, begin);
  scan_members(true);
  if (simulations_ && !(info_.known() && tasks_.known() && timestamp_.known())) {
    members_->resume(scan_value(bytes_, *simulations_).value_or(bytes_.size()));
    scan_members(false);
    scanned_ = true;
  }
  if (!simulations_ && !info_.known() && !tasks_.known())
    return Error{ErrorKind::Malformed,
                 "has neither info nor tasks nor simulations, which tau2 results have",
                 source_.place(begin)};
  if (simulations_) {
    const std::size_t first = skip_space(bytes_, *simulations_ + 1);
    empty_list_ = first < bytes_.size() && bytes_[first] == ']';
    records_.emplace(source_, *simulations_, "simulation");
  }
  return std::nullopt;
}

void Tau2File::scan_members(bool stop_at_simulations) {
  while (const std::optional<JsonWalk::Item> item = members_->next_unskipped()) {
    if (item->key == "simulations" && bytes_[item->begin] == '[' && !simulations_) {
      simulations_ = item->begin;
      if (stop_at_simulations) return;
    }
    const std::optional<std::size_t> end = scan_value(bytes_, item->begin);
    members_->resume(end.value_or(bytes_.size()));
    take(*item, end.has_value());
  }
  const std::string place = source_.place(members_->position());
  switch (members_->state()) {
    case JsonWalk::State::CutOff:
      notes_.warn("truncated_log", "the log ends before its top object does", place);
      break;
    case JsonWalk::State::Malformed:
      notes_.drop("malformed_log", "what follows is not JSON and was not read", place);
      break;
    case JsonWalk::State::Closed:
      if (skip_space(bytes_, members_->position()) < bytes_.size())
        notes_.drop("trailing_bytes", "something follows the end of the results", place);
      break;
    case JsonWalk::State::Open:
      break;
  }
}

void Tau2File::take(const JsonWalk::Item& item, bool whole) {
  Extent* target = nullptr;
  if (item.key == "info") target = &info_;
  if (item.key == "tasks") target = &tasks_;
  if (item.key == "timestamp") target = &timestamp_;
  if (item.key == "simulation_index") target = &index_;
  const bool second_list = item.key == "simulations" && simulations_ && *simulations_ != item.begin;
  if ((target != nullptr && target->known()) || second_list) {
    notes_.warn("duplicate_key",
                "'" + std::string(item.key) + "' occurs more than once, the first one counts",
                source_.place(item.begin));
    return;
  }
  if (item.key == "simulations" && !simulations_ && bytes_[item.begin] != 'n')
    notes_.warn("wrong_type", "'simulations' is not a list, ignored", source_.place(item.begin));
  if (target != nullptr && whole) *target = {item.begin, members_->position()};
}

RunInfo Tau2File::info() {
  RunInfo info;
  info.failure_rule = kTau2FailureRule;
  if (timestamp_.known() && bytes_[timestamp_.begin] == '"')
    info.timestamp = unescape_json(text(timestamp_));
  if (info_.known()) {
    parse_tau2_info(text(info_), source_.place(info_.begin), info, notes_);
  } else {
    notes_.warn("missing_info", "the results have no readable 'info'", source_.name());
  }
  if (tasks_.known()) parse_tau2_tasks(text(tasks_), source_.place(tasks_.begin), info, notes_);
  return info;
}

std::optional<std::set<std::string>> Tau2File::index() {
  if (!index_.known() || bytes_[index_.begin] != '[') return std::nullopt;
  return parse_tau2_index(text(index_), source_.place(index_.begin), notes_);
}

Notes Tau2File::finish() {
  if (records_) {
    const bool closed = records_->finish();
    const std::size_t end = records_->position();
    notes_.append(std::move(records_->notes()));
    if (closed && !scanned_) {
      members_->resume(end);
      scan_members(false);
    }
  }
  return std::move(notes_);
}

}  // namespace unmask
