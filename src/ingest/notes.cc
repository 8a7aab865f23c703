#include "ingest/notes.h"

#include <algorithm>
#include <utility>

namespace unmask {
namespace {

// A hostile or utterly broken log has millions of records to drop; a list that long helps nobody.
constexpr std::size_t kMaxListed = 10000;
constexpr std::string_view kUnlistedCode = "more_dropped";
constexpr std::string_view kUnlisted = "further records were dropped and are not listed";

}  // namespace

void Notes::warn(std::string_view code, std::string_view message, std::string_view where) {
  for (Warning& known : warnings_) {
    if (known.code == code && known.message == message) {
      ++known.count;
      return;
    }
  }
  warnings_.push_back({std::string(code), std::string(message), std::string(where), 1});
}

void Notes::drop(std::string_view code, std::string_view reason, std::string_view where) {
  if (dropped_.size() >= kMaxListed) return warn(kUnlistedCode, kUnlisted, where);
  dropped_.push_back({std::string(code), std::string(reason), std::string(where)});
}

void Notes::append(Notes&& later) {
  for (Warning& warning : later.warnings_) {
    const auto known = std::find_if(warnings_.begin(), warnings_.end(), [&](const Warning& w) {
      return w.code == warning.code && w.message == warning.message;
    });
    if (known == warnings_.end()) {
      warnings_.push_back(std::move(warning));
    } else {
      known->count += warning.count;
    }
  }
  for (Dropped& dropped : later.dropped_) {
    if (dropped_.size() < kMaxListed) {
      dropped_.push_back(std::move(dropped));
    } else {
      warn(kUnlistedCode, kUnlisted, dropped.where);
    }
  }
  later = Notes();
}

}  // namespace unmask
