#include "base/units.h"

namespace unmask {

std::string count_text(long n) {
  std::string digits = std::to_string(n < 0 ? -n : n);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return n < 0 ? "−" + digits : digits;
}

std::string counted(long n, const std::string& noun) {
  return count_text(n) + " " + noun + (n == 1 ? "" : "s");
}

}  // namespace unmask
