// What a reader has to tell besides the episodes: warnings, gathered, and records that were
// dropped. Internal to ingest.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ingest/ingest.h"
#include "trace/episode.h"

namespace unmask {

// Notes of one record or of a whole log. Not shared between threads: one per record, joined with
// append() in the log's order, so that the outcome does not depend on the number of threads.
class Notes {
 public:
  // Warnings with the same code and message are one warning with a count and the first place;
  // `message` must therefore come from a small set (name the field, not the record or the value).
  void warn(std::string_view code, std::string_view message, std::string_view where);
  // Of very many dropped records only the first 10,000 are listed; a warning counts the others.
  void drop(std::string_view code, std::string_view reason, std::string_view where);

  void append(Notes&& later);
  bool empty() const { return warnings_.empty() && dropped_.empty(); }

  std::vector<Warning> take_warnings() { return std::move(warnings_); }
  std::vector<Dropped> take_dropped() { return std::move(dropped_); }
  const std::vector<Dropped>& dropped() const { return dropped_; }

 private:
  std::vector<Warning> warnings_;
  std::vector<Dropped> dropped_;
};

}  // namespace unmask
