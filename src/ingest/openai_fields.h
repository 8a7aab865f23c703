// Where a line of OpenAI chat JSONL keeps each field. Internal to ingest.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ingest/json_tree.h"

namespace unmask {

inline constexpr std::array<std::string_view, 12> kOpenaiFields = {
    "id",     "task_id", "trial", "reward",   "success", "termination",
    "domain", "model",   "seed",  "messages", "tools",   "policy"};

class OpenaiFields {
 public:
  // `map`: our field -> the user's field, or a JSON pointer with or without its first slash. A
  // field that is not mapped has its own name. Errors   InvalidArgument: a key that is none of
  // kOpenaiFields, naming the nearest; an empty value.
  static Result<OpenaiFields> from(const std::map<std::string, std::string>& map);

  // The value in `line`; absent where there is none. The literal name is tried before the pointer.
  JsonNode find(const JsonNode& line, std::string_view field) const;

  // How the user's file names it: "meta/id".
  const std::string& name_of(std::string_view field) const;

 private:
  std::map<std::string, std::string, std::less<>> names_;
};

// RFC 6901, the first slash optional; absent where it leads nowhere.
JsonNode json_at(const JsonNode& node, std::string_view pointer);

}  // namespace unmask
