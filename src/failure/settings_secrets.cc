#include <nlohmann/json.hpp>

#include "failure/secret_values.h"
#include "failure/secrets.h"

namespace unmask {
namespace {

bool holds_something(const nlohmann::json& value) {
  if (value.is_string()) return !value.get_ref<const std::string&>().empty();
  return value.is_number() || (value.is_structured() && !value.empty());
}

// Whether anything was removed; text that was not stays byte for byte.
bool remove_secrets(nlohmann::json& value) {
  bool removed = false;
  if (value.is_object()) {
    for (auto& [name, inner] : value.items()) {
      if (!names_a_secret(name)) {
        removed |= remove_secrets(inner);
      } else if (holds_something(inner)) {
        inner = kRemoved;
        removed = true;
      }
    }
  } else if (value.is_array()) {
    for (nlohmann::json& inner : value) removed |= remove_secrets(inner);
  } else if (value.is_string()) {
    std::string& text = value.get_ref<std::string&>();
    std::string clean = without_secrets(text);
    removed = clean != text;
    text = std::move(clean);
  }
  return removed;
}

}  // namespace

std::string settings_without_secrets(std::string_view json) {
  nlohmann::json settings = nlohmann::json::parse(json, nullptr, false);
  if (settings.is_discarded()) return without_secrets(json);
  if (!remove_secrets(settings)) return std::string(json);
  return settings.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace unmask
