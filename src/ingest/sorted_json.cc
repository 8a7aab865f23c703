#include "ingest/sorted_json.h"

#include <nlohmann/json.hpp>

namespace unmask {

std::string sorted_json(std::string_view text) {
  const nlohmann::json value = nlohmann::json::parse(text, nullptr, false);
  if (value.is_discarded()) return "";
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace unmask
