#include "app/shell_quote.h"

namespace unmask {

std::string quoted_command(const std::vector<std::string>& arguments) {
  std::string out = "unmask";
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--threads") {
      ++i;
      continue;
    }
    if (arguments[i].rfind("--threads=", 0) == 0) continue;
    out += " " + shell_quoted(arguments[i]);
  }
  return out;
}

}  // namespace unmask
