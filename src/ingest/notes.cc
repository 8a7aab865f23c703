#include "ingest/notes.h"

#include <algorithm>
#include <utility>

namespace unmask {

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
  std::move(later.dropped_.begin(), later.dropped_.end(), std::back_inserter(dropped_));
  later = Notes();
}

}  // namespace unmask
