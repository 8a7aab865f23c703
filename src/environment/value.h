// environment: the simulated worlds of τ²-bench (mock, retail, telecom, airline) and what they
// answer. Deterministic: the same state and the same call give the same bytes.
//
// Value is a value of Python, because upstream's tools are Python and keep whatever a call gave
// them: a list may come to sit where a model declares a number. States, arguments and results are
// all Values. Lists, dicts and models are shared until written to (copy on write), so copying a
// whole database costs one reference count and an episode pays only for what it changes.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace unmask {

enum class Kind : std::uint8_t {
  None,
  Bool,
  Int,     // fits 64 bits
  BigInt,  // beyond 64 bits, held as decimal text
  Float,
  Str,  // UTF-8; lone surrogates as their three-byte form
  List,
  Dict,      // keys are strings, in insertion order
  Model,     // an instance of a ModelClass: a dict with a class
  Enum,      // a member of a class of string enumerators
  Date,      // held as str(date), "2025-02-25"
  Datetime,  // held as str(datetime), "2025-01-12 13:45:00"
};

struct ModelClass;  // schema.h

struct EnumMember {
  std::string name;   // "ACTIVE"
  std::string value;  // "Active"
  std::string class_name;
};

// The keys of a dict with their positions. Shared between dicts, and by all instances of a model,
// until a key is added or removed.
class DictKeys {
 public:
  static constexpr std::size_t kAbsent = static_cast<std::size_t>(-1);

  std::size_t size() const { return names_.size(); }
  const std::string& name(std::size_t i) const { return names_[i]; }
  std::size_t find(std::string_view name) const;
  void append(std::string_view name);  // must be absent
  void erase(std::size_t position);

 private:
  void index_all();
  std::vector<std::string> names_;
  std::vector<std::uint32_t> slots_;  // open addressing, position + 1; empty below nine keys
};

namespace detail {
struct Node {
  std::atomic<std::uint32_t> references{1};
};
struct KeysNode : Node {
  DictKeys keys;
};
struct StrNode;
struct ListNode;
struct DictNode;
}  // namespace detail

// Shape    16 bytes; copying bumps a reference count.
// Errors   the as_ and edit members check the kind with UNMASK_CHECK; python.h has the operations
//          that fail as Python's do.
// Threads  values may be shared and copied across threads freely; one Value object itself must not
//          be written by one thread while another uses it.
// A reference returned by edit() or an item of one must not be kept across a copy of the root: the
// copy would see later writes.
class Value {
 public:
  Value() : kind_(Kind::None) { payload_.integer = 0; }
  Value(std::nullptr_t) : Value() {}
  Value(bool v) : kind_(Kind::Bool) { payload_.integer = v ? 1 : 0; }
  template <std::integral T>
  requires(!std::same_as<T, bool>) Value(T v) : kind_(Kind::Int) {
    payload_.integer = static_cast<std::int64_t>(v);
  }
  Value(double v) : kind_(Kind::Float) { payload_.real = v; }
  Value(std::string_view text);
  Value(const char* text) : Value(std::string_view(text)) {}
  Value(const std::string& text) : Value(std::string_view(text)) {}
  // `member` must live as long as the program (they are in the static tables of schema.h).
  explicit Value(const EnumMember& member) : kind_(Kind::Enum) { payload_.member = &member; }

  static Value list(std::vector<Value> items = {});
  static Value dict();
  static Value dict(std::vector<std::pair<std::string, Value>> items);
  // values[i] belongs to the model's field i.
  static Value model(const ModelClass& model_class, std::vector<Value> values);
  // Decimal digits with an optional minus; becomes an Int where it fits.
  static Value integer(std::string_view decimal);
  static Value date(std::string_view text);
  static Value datetime(std::string_view text);

  Value(const Value& other) : kind_(other.kind_), payload_(other.payload_) { retain(); }
  Value(Value&& other) noexcept : kind_(other.kind_), payload_(other.payload_) {
    other.kind_ = Kind::None;
  }
  Value& operator=(const Value& other) {
    Value copy(other);
    swap(copy);
    return *this;
  }
  Value& operator=(Value&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Value() { release(); }

  Kind kind() const { return kind_; }
  bool is_none() const { return kind_ == Kind::None; }
  bool is_bool() const { return kind_ == Kind::Bool; }
  bool is_str() const { return kind_ == Kind::Str || kind_ == Kind::Enum; }  // enums are strings
  bool is_list() const { return kind_ == Kind::List; }
  bool is_dict() const { return kind_ == Kind::Dict; }
  bool is_model() const { return kind_ == Kind::Model; }
  bool is_model(const ModelClass& model_class) const;

  bool as_bool() const;
  std::int64_t as_int() const;
  double as_float() const;
  // Str, Enum (its value), and the held text of BigInt, Date and Datetime.
  const std::string& as_str() const;
  const EnumMember& as_enum() const;
  const ModelClass& model_class() const;

  // List: items. Dict and Model: values, in the order of their keys. Anything else: empty.
  std::span<const Value> items() const;
  std::size_t size() const { return items().size(); }
  const Value& operator[](std::size_t i) const { return items()[i]; }
  const std::string& key(std::size_t i) const;  // Dict, Model

  // Dict, Model: nullptr when absent, also for any other kind.
  const Value* find(std::string_view key) const;

  // Writing. Each of these makes this value unshared first.
  void append(Value item);                      // List
  Value& edit(std::size_t i);                   // List, Dict, Model
  Value& edit(std::string_view key);            // Dict, Model; the key must be there
  void set(std::string_view key, Value value);  // Dict: adds or replaces; Model: replaces
  bool erase(std::string_view key);             // Dict; false: was not there

  // Same object in memory: a cheap sufficient test of equality.
  bool same_node(const Value& other) const;

  // A text derived from a Dict or Model (its JSON, its hash), kept with the shared object until it
  // is written to. cached() is nullptr until keep() was called; keep() may be called by any thread.
  const std::string* cached() const;
  const std::string& keep(std::string text) const;

  void swap(Value& other) noexcept {
    std::swap(kind_, other.kind_);
    std::swap(payload_, other.payload_);
  }

 private:
  union Payload {
    std::int64_t integer;
    double real;
    detail::Node* node;
    const EnumMember* member;
  };
  bool counted() const {
    return kind_ >= Kind::BigInt && kind_ != Kind::Float && kind_ != Kind::Enum;
  }
  void retain() const {
    if (counted()) payload_.node->references.fetch_add(1, std::memory_order_relaxed);
  }
  void release() {
    if (counted() && payload_.node->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
      destroy();
  }
  void destroy();
  static Value text_of(Kind kind, std::string_view text);
  detail::StrNode& str_node() const;
  detail::ListNode& list_node() const;
  detail::DictNode& dict_node() const;
  void unshare();

  Kind kind_;
  Payload payload_;
};

}  // namespace unmask
