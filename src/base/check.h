// UNMASK_CHECK: a broken invariant of our own code. On in every build.
#pragma once

#include <stdexcept>
#include <string>

namespace unmask {

class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] inline void check_failed(const char* condition, const char* file, int line) {
  throw InternalError(std::string("internal error: ") + condition + " does not hold at " + file +
                      ":" + std::to_string(line));
}

}  // namespace unmask

#define UNMASK_CHECK(condition)                                               \
  do {                                                                        \
    if (!(condition)) ::unmask::check_failed(#condition, __FILE__, __LINE__); \
  } while (false)
