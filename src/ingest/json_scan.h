// Where JSON values begin and end, found without parsing them. Internal to ingest.
//
// A log of several gigabytes is cut into its records by looking at quotes, backslashes and brackets
// only, 64 bytes at a time; each record is then parsed on its own. Mismatched brackets ("[}") are
// not noticed here: the parser of the record finds them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace unmask {

struct ContainerEnd {
  std::size_t end = 0;    // one past the closing bracket; bytes.size() when it never closes
  bool closed = false;    // false: the bytes end inside the container
  std::size_t depth = 0;  // deepest nesting, counting the container itself; at most 64 too high
};

// The object or array that opens at bytes[begin].
ContainerEnd scan_container(std::string_view bytes, std::size_t begin);

// First position at or after `i` that is not JSON white space; bytes.size() when there is none.
std::size_t skip_space(std::string_view bytes, std::size_t i);

// One past the end of the value (of any kind) at bytes[begin], which is not white space; nullopt
// when the bytes end first. A bare word or number ends before the next ',', '}', ']' or space.
std::optional<std::size_t> scan_value(std::string_view bytes, std::size_t begin);

// One past the closing quote of the string at bytes[begin] == '"'; nullopt when it never closes.
std::optional<std::size_t> scan_string(std::string_view bytes, std::size_t begin);

// Walks the members of an object or the elements of an array, keeping nothing in memory.
class JsonWalk {
 public:
  // bytes[begin] is '{' or '['.
  JsonWalk(std::string_view bytes, std::size_t begin);

  struct Item {
    std::string_view key;   // the member's name as written, escapes and all; empty in an array
    std::size_t begin = 0;  // of the value
    std::size_t end = 0;    // one past it; bytes.size() when cut off
    bool whole = false;     // false: the bytes end inside the value
    std::size_t depth = 0;  // nesting of the value, see ContainerEnd
  };

  // The next member or element; nullopt at the end, see state().
  std::optional<Item> next();

  // The same, but the value is not looked at: end == begin. Continue with resume(). For an array
  // within the array or object, when its elements are walked instead of skipped.
  std::optional<Item> next_unskipped();
  void resume(std::size_t end) { position_ = end; }

  enum class State {
    Open,       // more may come
    Closed,     // the closing bracket was reached
    CutOff,     // the bytes ended first
    Malformed,  // something else than JSON at position()
  };
  State state() const { return state_; }
  std::size_t position() const { return position_; }  // where the walk stands

 private:
  std::optional<Item> stop(State state);

  std::string_view bytes_;
  std::size_t position_;
  bool object_;
  bool first_ = true;
  State state_ = State::Open;
};

}  // namespace unmask
