#include "environment/value.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <memory>

#include "base/check.h"
#include "environment/schema.h"

namespace unmask {

namespace {

constexpr std::size_t kScanBelow = 9;  // this few keys are found by scanning

// Drops one reference; true: it was the last.
bool drop(detail::Node* node) {
  return node->references.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

bool shared(const detail::Node* node) {
  return node->references.load(std::memory_order_acquire) != 1;
}

}  // namespace

std::size_t DictKeys::find(std::string_view name) const {
  if (slots_.empty()) {
    for (std::size_t i = 0; i < names_.size(); ++i)
      if (names_[i] == name) return i;
    return kAbsent;
  }
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t slot = std::hash<std::string_view>{}(name)&mask;; slot = (slot + 1) & mask) {
    if (slots_[slot] == 0) return kAbsent;
    if (names_[slots_[slot] - 1] == name) return slots_[slot] - 1;
  }
}

void DictKeys::append(std::string_view name) {
  names_.emplace_back(name);
  if (names_.size() < kScanBelow) return;
  if (names_.size() * 2 > slots_.size()) return index_all();
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = std::hash<std::string_view>{}(name)&mask;
  while (slots_[slot] != 0) slot = (slot + 1) & mask;
  slots_[slot] = static_cast<std::uint32_t>(names_.size());
}

void DictKeys::erase(std::size_t position) {
  names_.erase(names_.begin() + static_cast<std::ptrdiff_t>(position));
  slots_.clear();
  if (names_.size() >= kScanBelow) index_all();
}

void DictKeys::index_all() {
  std::size_t wanted = 16;
  while (wanted < names_.size() * 4) wanted *= 2;
  slots_.assign(wanted, 0);
  for (std::size_t i = 0; i < names_.size(); ++i) {
    std::size_t slot = std::hash<std::string_view>{}(names_[i]) & (wanted - 1);
    while (slots_[slot] != 0) slot = (slot + 1) & (wanted - 1);
    slots_[slot] = static_cast<std::uint32_t>(i + 1);
  }
}

namespace detail {

struct StrNode : Node {
  std::string text;
};

struct ListNode : Node {
  std::vector<Value> items;
};

struct DictNode : Node {
  explicit DictNode(KeysNode* shared_keys) : keys(shared_keys) {
    keys->references.fetch_add(1, std::memory_order_relaxed);
  }
  DictNode() : keys(new KeysNode) {}
  DictNode(const DictNode& other)
      : Node(), keys(other.keys), values(other.values), model_class(other.model_class) {
    keys->references.fetch_add(1, std::memory_order_relaxed);
  }
  DictNode& operator=(const DictNode&) = delete;
  ~DictNode() {
    if (drop(keys)) delete keys;
    forget();
  }
  void forget() { delete cache.exchange(nullptr, std::memory_order_acq_rel); }
  DictKeys& own_keys() {
    if (shared(keys)) {
      auto copy = std::make_unique<KeysNode>();
      copy->keys = keys->keys;
      if (drop(keys)) delete keys;
      keys = copy.release();
    }
    return keys->keys;
  }

  KeysNode* keys;
  std::vector<Value> values;
  const ModelClass* model_class = nullptr;
  std::atomic<const std::string*> cache{nullptr};
};

}  // namespace detail

using detail::DictNode;
using detail::ListNode;
using detail::StrNode;

void Value::destroy() {
  if (kind_ == Kind::List)
    delete static_cast<ListNode*>(payload_.node);
  else if (kind_ == Kind::Dict || kind_ == Kind::Model)
    delete static_cast<DictNode*>(payload_.node);
  else
    delete static_cast<StrNode*>(payload_.node);
}

Value Value::text_of(Kind kind, std::string_view text) {
  Value value;
  auto node = std::make_unique<StrNode>();
  node->text = text;
  value.kind_ = kind;
  value.payload_.node = node.release();
  return value;
}

Value::Value(std::string_view text) : Value() {
  *this = text_of(Kind::Str, text);
}
Value Value::date(std::string_view text) {
  return text_of(Kind::Date, text);
}
Value Value::datetime(std::string_view text) {
  return text_of(Kind::Datetime, text);
}

Value Value::integer(std::string_view decimal) {
  const bool negative = decimal.starts_with('-');
  if (negative) decimal.remove_prefix(1);
  while (decimal.size() > 1 && decimal[0] == '0') decimal.remove_prefix(1);
  const std::string text = (negative ? "-" : "") + std::string(decimal);
  std::int64_t small = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), small);
  if (error == std::errc()) return Value(small);
  return text_of(Kind::BigInt, text);
}

Value Value::list(std::vector<Value> items) {
  Value value;
  auto node = std::make_unique<ListNode>();
  node->items = std::move(items);
  value.kind_ = Kind::List;
  value.payload_.node = node.release();
  return value;
}

Value Value::dict() {
  Value value;
  value.payload_.node = new DictNode;
  value.kind_ = Kind::Dict;
  return value;
}

Value Value::dict(std::vector<std::pair<std::string, Value>> items) {
  Value value = dict();
  for (std::pair<std::string, Value>& item : items) value.set(item.first, std::move(item.second));
  return value;
}

Value Value::model(const ModelClass& model_class, std::vector<Value> values) {
  UNMASK_CHECK(values.size() == model_class.fields.size());
  Value value;
  auto node = std::make_unique<DictNode>(model_class.keys);
  node->values = std::move(values);
  node->model_class = &model_class;
  value.kind_ = Kind::Model;
  value.payload_.node = node.release();
  return value;
}

StrNode& Value::str_node() const {
  return *static_cast<StrNode*>(payload_.node);
}
ListNode& Value::list_node() const {
  return *static_cast<ListNode*>(payload_.node);
}
DictNode& Value::dict_node() const {
  return *static_cast<DictNode*>(payload_.node);
}

bool Value::is_model(const ModelClass& wanted) const {
  return kind_ == Kind::Model && dict_node().model_class == &wanted;
}

bool Value::as_bool() const {
  UNMASK_CHECK(kind_ == Kind::Bool);
  return payload_.integer != 0;
}

std::int64_t Value::as_int() const {
  UNMASK_CHECK(kind_ == Kind::Int || kind_ == Kind::Bool);
  return payload_.integer;
}

double Value::as_float() const {
  UNMASK_CHECK(kind_ == Kind::Float);
  return payload_.real;
}

const std::string& Value::as_str() const {
  if (kind_ == Kind::Enum) return payload_.member->value;
  UNMASK_CHECK(kind_ == Kind::Str || kind_ == Kind::BigInt || kind_ == Kind::Date ||
               kind_ == Kind::Datetime);
  return str_node().text;
}

const EnumMember& Value::as_enum() const {
  UNMASK_CHECK(kind_ == Kind::Enum);
  return *payload_.member;
}

const ModelClass& Value::model_class() const {
  UNMASK_CHECK(kind_ == Kind::Model);
  return *dict_node().model_class;
}

std::span<const Value> Value::items() const {
  if (kind_ == Kind::List) return list_node().items;
  if (kind_ == Kind::Dict || kind_ == Kind::Model) return dict_node().values;
  return {};
}

const std::string& Value::key(std::size_t i) const {
  UNMASK_CHECK(kind_ == Kind::Dict || kind_ == Kind::Model);
  return dict_node().keys->keys.name(i);
}

const Value* Value::find(std::string_view key) const {
  if (kind_ != Kind::Dict && kind_ != Kind::Model) return nullptr;
  const DictNode& node = dict_node();
  const std::size_t position = node.keys->keys.find(key);
  return position == DictKeys::kAbsent ? nullptr : &node.values[position];
}

void Value::unshare() {
  UNMASK_CHECK(kind_ == Kind::List || kind_ == Kind::Dict || kind_ == Kind::Model);
  if (!shared(payload_.node)) {
    if (kind_ != Kind::List) dict_node().forget();
    return;
  }
  detail::Node* copy = nullptr;
  if (kind_ == Kind::List) {
    auto list_copy = std::make_unique<ListNode>();
    list_copy->items = list_node().items;
    copy = list_copy.release();
  } else {
    copy = new DictNode(dict_node());
  }
  release();
  payload_.node = copy;
}

void Value::append(Value item) {
  UNMASK_CHECK(kind_ == Kind::List);
  unshare();
  list_node().items.push_back(std::move(item));
}

Value& Value::edit(std::size_t i) {
  unshare();
  std::vector<Value>& values = kind_ == Kind::List ? list_node().items : dict_node().values;
  UNMASK_CHECK(i < values.size());
  return values[i];
}

Value& Value::edit(std::string_view key) {
  unshare();
  UNMASK_CHECK(kind_ != Kind::List);
  const std::size_t position = dict_node().keys->keys.find(key);
  UNMASK_CHECK(position != DictKeys::kAbsent);
  return dict_node().values[position];
}

void Value::set(std::string_view key, Value value) {
  unshare();
  UNMASK_CHECK(kind_ != Kind::List);
  DictNode& node = dict_node();
  const std::size_t position = node.keys->keys.find(key);
  if (position != DictKeys::kAbsent) {
    node.values[position] = std::move(value);
    return;
  }
  UNMASK_CHECK(kind_ == Kind::Dict);
  node.own_keys().append(key);
  node.values.push_back(std::move(value));
}

bool Value::erase(std::string_view key) {
  UNMASK_CHECK(kind_ == Kind::Dict);
  const std::size_t position = dict_node().keys->keys.find(key);
  if (position == DictKeys::kAbsent) return false;
  unshare();
  dict_node().own_keys().erase(position);
  dict_node().values.erase(dict_node().values.begin() + static_cast<std::ptrdiff_t>(position));
  return true;
}

bool Value::same_node(const Value& other) const {
  return kind_ == other.kind_ && counted() && payload_.node == other.payload_.node;
}

const std::string* Value::cached() const {
  if (kind_ != Kind::Dict && kind_ != Kind::Model) return nullptr;
  return dict_node().cache.load(std::memory_order_acquire);
}

const std::string& Value::keep(std::string text) const {
  UNMASK_CHECK(kind_ == Kind::Dict || kind_ == Kind::Model);
  auto fresh = std::make_unique<const std::string>(std::move(text));
  const std::string* expected = nullptr;
  if (dict_node().cache.compare_exchange_strong(expected, fresh.get(), std::memory_order_acq_rel))
    return *fresh.release();
  return *expected;
}

}  // namespace unmask
