// base: what every room needs and no room owns; holds no noun of the field.
//
// Result<T> carries a value or the Error that prevented it. Malformed input and undefined numbers
// are findings to show, so they are in the signature; exceptions are left for bugs and bad_alloc.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace unmask {

enum class ErrorKind {
  NotFound,
  Malformed,
  Unsupported,
  InvalidArgument,
  Undefined,
  Unavailable,
};

struct Error {
  ErrorKind kind;
  std::string message;  // one sentence for a person
  std::string where;    // "run.jsonl:17"; empty when there is no place
};

// "where: message", or the message alone where there is no place.
inline std::string to_string(const Error& error) {
  return error.where.empty() ? error.message : error.where + ": " + error.message;
}

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }
  T& operator*() { return std::get<0>(state_); }
  const T& operator*() const { return std::get<0>(state_); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  T value_or(T other) const { return has_value() ? std::get<0>(state_) : std::move(other); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

struct Done {};  // Result<Done>: succeeded, nothing to return

}  // namespace unmask
