// One record of a log, parsed on demand. Internal to ingest; hides the JSON library.
//
// A record is loaded as a private padded copy: the mapped file may change under us, and a parser's
// index into changed bytes would run out of them. Nothing is built: values are visited in the order
// they stand, and what no visitor asks for is skipped unread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "ingest/json_tree.h"

namespace unmask {

// A reference to something callable, for visitors that do not outlive the call.
template <typename Signature>
class Visitor;
template <typename... Arguments>
class Visitor<void(Arguments...)> {
 public:
  template <typename F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, Visitor>) Visitor(F&& callable)
      : callable_(const_cast<void*>(static_cast<const void*>(&callable))),
        call_([](void* f, Arguments... arguments) {
          (*static_cast<std::remove_reference_t<F>*>(f))(arguments...);
        }) {}
  void operator()(Arguments... arguments) const { call_(callable_, arguments...); }

 private:
  void* callable_;
  void (*call_)(void*, Arguments...);
};

enum class LazyKind {
  Null,
  Bool,
  Number,
  NotFinite,  // NaN, Infinity, -Infinity: not JSON, but Python's json writes them
  String,
  Array,
  Object,
  Invalid,
};

class LazyRecord;

// A value of the record being visited; valid until the visitor it was passed to returns. Each value
// may be consumed once, by one of the functions below other than kind() and token().
class LazyValue {
 public:
  LazyKind kind() const;

  // The text of a scalar as it stands, with quotes; of an array or object only the bracket. A view
  // into the record: valid until the next load().
  std::string_view token() const;

  // Members or elements in order; nothing when it is no object or no array.
  void each_member(Visitor<void(std::string_view key, LazyValue value)> visit);
  void each_element(Visitor<void(LazyValue value)> visit);

  // Text of a string with escapes resolved, always UTF-8; what stands for no character (a lone
  // surrogate, an unknown escape) becomes U+FFFD and is counted in the record. nullopt: no string.
  std::optional<std::string> string();

  std::optional<bool> boolean();
  std::optional<double> number();         // finite
  std::optional<std::int64_t> integer();  // also "3.0"; nullopt out of range

  // The whole value's JSON text as it stands. A view into the record.
  std::string_view text();

 private:
  friend class LazyRecord;
  LazyValue(LazyRecord& record, void* value) : record_(&record), value_(value) {}
  LazyRecord* record_;
  void* value_;
};

// Reuse one per thread: its buffers grow to the largest record.
class LazyRecord {
 public:
  LazyRecord();
  ~LazyRecord();
  LazyRecord(const LazyRecord&) = delete;
  LazyRecord& operator=(const LazyRecord&) = delete;

  // Copies and indexes `text`, which is one JSON object or array. False: error() says why.
  // What only broken UTF-8 or raw control characters within strings make unreadable is mended.
  bool load(std::string_view text);

  // Visits the record's value. False when it turned out malformed on the way: what the visitor saw
  // until then is not the whole record. error() says why.
  bool visit(Visitor<void(LazyValue value)> visit);

  // One sentence without place; empty when nothing is wrong.
  const std::string& error() const { return error_; }

  // What load() had to mend, and the escapes met since that stand for no character.
  struct Repairs {
    JsonRepairs text;
    int escapes = 0;  // became U+FFFD
  };
  const Repairs& repairs() const { return repairs_; }

 private:
  friend class LazyValue;
  struct Parser;
  void fail(std::string_view what);
  bool index(std::string_view text);

  std::unique_ptr<Parser> parser_;
  std::string error_;
  Repairs repairs_;
};

// Resolves the escapes of a JSON string token (with its quotes). Never fails: see
// LazyValue::string.
std::string unescape_json(std::string_view token, int* replaced = nullptr);

}  // namespace unmask
