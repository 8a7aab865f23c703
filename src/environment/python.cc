#include "environment/python.h"

#include <algorithm>
#include <utility>

#include "environment/schema.h"

namespace unmask::python {

void raise_type_error(std::string text) {
  throw PythonError(std::move(text), "TypeError");
}

void raise_attribute_error(const Value& object, std::string_view name) {
  throw PythonError(
      "'" + type_name(object) + "' object has no attribute '" + std::string(name) + "'",
      "AttributeError");
}

void raise_key_error(const Value& key) {
  throw PythonError(repr(key), "KeyError");
}

std::string type_name(const Value& v) {
  switch (v.kind()) {
    case Kind::None:
      return "NoneType";
    case Kind::Bool:
      return "bool";
    case Kind::Int:
    case Kind::BigInt:
      return "int";
    case Kind::Float:
      return "float";
    case Kind::Str:
      return "str";
    case Kind::List:
      return "list";
    case Kind::Dict:
      return "dict";
    case Kind::Model:
      return v.model_class().name;
    case Kind::Enum:
      return v.as_enum().class_name;
    case Kind::Date:
      return "datetime.date";
    case Kind::Datetime:
      return "datetime.datetime";
  }
  return "";
}

bool truthy(const Value& v) {
  switch (v.kind()) {
    case Kind::None:
      return false;
    case Kind::Bool:
      return v.as_bool();
    case Kind::Int:
      return v.as_int() != 0;
    case Kind::Float:
      return v.as_float() != 0;
    case Kind::Str:
    case Kind::Enum:
      return !v.as_str().empty();
    case Kind::List:
    case Kind::Dict:
      return v.size() != 0;
    default:
      return true;
  }
}

namespace {

bool equal_items(const Value& a, const Value& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!equal(a[i], b[i])) return false;
  return true;
}

// Dicts are equal whatever the order of their keys.
bool equal_dicts(const Value& a, const Value& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const Value* other = b.find(a.key(i));
    if (!other || !equal(a[i], *other)) return false;
  }
  return true;
}

}  // namespace

bool equal(const Value& a, const Value& b) {
  if (a.same_node(b)) return true;
  if (is_number(a) && is_number(b)) return compare_numbers(a, b) == 0;
  if (a.is_str() && b.is_str()) return a.as_str() == b.as_str();
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Kind::None:
      return true;
    case Kind::List:
      return equal_items(a, b);
    case Kind::Dict:
      return equal_dicts(a, b);
    case Kind::Model:
      return &a.model_class() == &b.model_class() && equal_items(a, b);
    default:
      return a.as_str() == b.as_str();
  }
}

namespace {

// Lists compare by their first different items. The answer is -1, 0 or 1; nullopt when a NaN is
// met.
std::optional<int> compare(const Value& a, const Value& b, std::string_view symbol);

std::optional<int> compare_lists(const Value& a, const Value& b, std::string_view symbol) {
  const std::size_t common = std::min(a.size(), b.size());
  for (std::size_t i = 0; i < common; ++i)
    if (!equal(a[i], b[i])) return compare(a[i], b[i], symbol);
  return a.size() < b.size() ? -1 : a.size() > b.size() ? 1 : 0;
}

std::optional<int> compare(const Value& a, const Value& b, std::string_view symbol) {
  if (is_number(a) && is_number(b)) return compare_numbers(a, b);
  const bool texts = a.is_str() && b.is_str();
  const bool dates = a.kind() == b.kind() && (a.kind() == Kind::Date || a.kind() == Kind::Datetime);
  if (texts || dates) {
    const int order = a.as_str().compare(b.as_str());
    return order < 0 ? -1 : order > 0 ? 1 : 0;
  }
  if (a.is_list() && b.is_list()) return compare_lists(a, b, symbol);
  raise_type_error("'" + std::string(symbol) + "' not supported between instances of '" +
                   type_name(a) + "' and '" + type_name(b) + "'");
}

}  // namespace

bool less(const Value& a, const Value& b) {
  return compare(a, b, "<") == -1;
}
bool greater(const Value& a, const Value& b) {
  return compare(a, b, ">") == 1;
}

bool less_equal(const Value& a, const Value& b) {
  const std::optional<int> order = compare(a, b, "<=");
  return order && *order <= 0;
}

bool greater_equal(const Value& a, const Value& b) {
  const std::optional<int> order = compare(a, b, ">=");
  return order && *order >= 0;
}

std::size_t length(const Value& v) {
  switch (v.kind()) {
    case Kind::Str:
    case Kind::Enum:
      return code_points(v.as_str()).size();
    case Kind::List:
    case Kind::Dict:
      return v.size();
    default:
      raise_type_error("object of type '" + type_name(v) + "' has no len()");
  }
}

std::vector<Value> iterate(const Value& v) {
  std::vector<Value> items;
  switch (v.kind()) {
    case Kind::Str:
    case Kind::Enum:
      for (const std::uint32_t c : code_points(v.as_str())) {
        std::string one;
        append_code_point(one, c);
        items.emplace_back(one);
      }
      return items;
    case Kind::List:
      items.assign(v.items().begin(), v.items().end());
      return items;
    case Kind::Dict:
      for (std::size_t i = 0; i < v.size(); ++i) items.emplace_back(v.key(i));
      return items;
    case Kind::Model:  // pydantic yields (name, value) pairs
      for (std::size_t i = 0; i < v.size(); ++i) items.push_back(Value::list({v.key(i), v[i]}));
      return items;
    default:
      raise_type_error("'" + type_name(v) + "' object is not iterable");
  }
}

void require_hashable(const Value& key) {
  if (key.is_list() || key.is_dict() || key.is_model())
    raise_type_error("unhashable type: '" + type_name(key) + "'");
}

const Value* lookup(const Value& dict, const Value& key) {
  require_hashable(key);
  return key.is_str() ? dict.find(key.as_str()) : nullptr;
}

bool contains(const Value& container, const Value& wanted) {
  if (container.is_dict()) return lookup(container, wanted) != nullptr;
  if (container.is_str()) {
    if (!wanted.is_str())
      raise_type_error("'in <string>' requires string as left operand, not " + type_name(wanted));
    return container.as_str().find(wanted.as_str()) != std::string::npos;
  }
  if (!container.is_list() && !container.is_model())
    raise_type_error("argument of type '" + type_name(container) + "' is not iterable");
  const std::vector<Value> items = iterate(container);
  return std::any_of(items.begin(), items.end(), [&](const Value& v) { return equal(v, wanted); });
}

namespace {

// The position that an index means, counted from the end where negative.
std::optional<std::size_t> position_of(const Value& index, std::size_t size) {
  if (index.kind() == Kind::BigInt) return std::nullopt;
  std::int64_t i = index.as_int();
  if (i < 0) i += static_cast<std::int64_t>(size);
  if (i < 0 || i >= static_cast<std::int64_t>(size)) return std::nullopt;
  return static_cast<std::size_t>(i);
}

bool is_index(const Value& v) {
  return is_number(v) && v.kind() != Kind::Float;
}

}  // namespace

Value item(const Value& container, const Value& key) {
  if (container.is_dict()) {
    const Value* found = lookup(container, key);
    if (!found) raise_key_error(key);
    return *found;
  }
  if (container.is_list()) {
    if (!is_index(key))
      raise_type_error("list indices must be integers or slices, not " + type_name(key));
    const std::optional<std::size_t> position = position_of(key, container.size());
    if (!position) throw PythonError("list index out of range", "IndexError");
    return container[*position];
  }
  if (container.is_str()) {
    if (!is_index(key))
      raise_type_error("string indices must be integers, not '" + type_name(key) + "'");
    const std::vector<Value> characters = iterate(container);
    const std::optional<std::size_t> position = position_of(key, characters.size());
    if (!position) throw PythonError("string index out of range", "IndexError");
    return characters[*position];
  }
  raise_type_error("'" + type_name(container) + "' object is not subscriptable");
}

const Value& attribute(const Value& object, std::string_view name) {
  const Value* found = object.is_model() ? object.find(name) : nullptr;
  if (!found) raise_attribute_error(object, name);
  return *found;
}

Value& edit_attribute(Value& object, std::string_view name) {
  attribute(object, name);
  return object.edit(name);
}

void set_attribute(Value& object, std::string_view name, Value value) {
  if (!object.is_model()) raise_attribute_error(object, name);
  if (!object.find(name))
    throw PythonError("\"" + type_name(object) + "\" object has no field \"" + std::string(name) +
                      "\"");
  object.set(name, std::move(value));
}

std::int64_t count(const Value& sequence, const Value& wanted) {
  if (sequence.is_list())
    return std::count_if(sequence.items().begin(), sequence.items().end(),
                         [&](const Value& v) { return equal(v, wanted); });
  if (!sequence.is_str()) raise_attribute_error(sequence, "count");
  if (!wanted.is_str()) raise_type_error("must be str, not " + type_name(wanted));
  const std::string& text = sequence.as_str();
  const std::string& part = wanted.as_str();
  if (part.empty()) return static_cast<std::int64_t>(code_points(text).size()) + 1;
  std::int64_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + part.size()))
    ++found;
  return found;
}

namespace {

// The length of the run that starts the list, made ascending; CPython's order of comparisons, which
// decides the text of the TypeError that a mixed list raises.
std::size_t first_run(std::vector<Value>& items) {
  std::size_t n = 2;
  if (less(items[1], items[0])) {
    while (n < items.size() && less(items[n], items[n - 1])) ++n;
    std::reverse(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(n));
  } else {
    while (n < items.size() && !less(items[n], items[n - 1])) ++n;
  }
  return n;
}

}  // namespace

std::vector<Value> sorted(const Value& iterable) {
  std::vector<Value> items = iterate(iterable);
  if (items.size() < 2) return items;
  for (std::size_t start = first_run(items); start < items.size(); ++start) {
    Value pivot = items[start];
    std::size_t left = 0;
    std::size_t right = start;
    while (left < right) {
      const std::size_t middle = left + (right - left) / 2;
      if (less(pivot, items[middle]))
        right = middle;
      else
        left = middle + 1;
    }
    std::rotate(items.begin() + static_cast<std::ptrdiff_t>(left),
                items.begin() + static_cast<std::ptrdiff_t>(start),
                items.begin() + static_cast<std::ptrdiff_t>(start) + 1);
  }
  return items;
}

Value lower(const Value& v) {
  if (!v.is_str()) raise_attribute_error(v, "lower");
  return lower_text(v.as_str());
}

bool starts_with(const Value& v, std::string_view prefix) {
  if (!v.is_str()) raise_attribute_error(v, "startswith");
  return v.as_str().starts_with(prefix);
}

}  // namespace unmask::python
