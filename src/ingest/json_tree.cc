#include "ingest/json_tree.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "base/json_writer.h"
#include "ingest/json_repair.h"

namespace unmask {

namespace dom = simdjson::dom;

struct JsonTree::State {
  dom::document document;
};

// The element behind a JsonNode: simdjson's is two words that refer to the document.
struct JsonNode::Access {
  static dom::element element(const JsonNode& value) {
    return std::bit_cast<dom::element>(value.element_);
  }
  // Only where the kind was looked at before.
  static dom::object object(const JsonNode& value) {
    return element(value).get_object().value_unsafe();
  }
  static dom::array array(const JsonNode& value) {
    return element(value).get_array().value_unsafe();
  }
  static JsonNode wrap(dom::element element) {
    static_assert(std::is_trivially_copyable_v<dom::element>);
    JsonNode value;
    value.present_ = true;
    value.element_ = std::bit_cast<decltype(value.element_)>(element);
    return value;
  }
};

namespace {

// A parser that grew beyond this is not kept for the next text of its thread.
constexpr std::size_t kKeptCapacity = std::size_t{32} << 20;

simdjson::error_code parse_into(dom::document& document, std::string_view text) {
  if (text.empty()) return simdjson::EMPTY;  // its data() may be null, which memcpy must not get
  thread_local dom::parser parser;
  const simdjson::error_code code =
      parser.parse_into_document(document, text.data(), text.size(), true).error();
  if (parser.capacity() > kKeptCapacity) parser = dom::parser();
  return code;
}

// Only looks for the place of the first error.
class Locator : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    position_ = position;
    return false;
  }
  // 1-based, as nlohmann counts; empty while no error was met.
  std::optional<std::size_t> position() const { return position_; }

 private:
  std::optional<std::size_t> position_;
};

std::string fault_of(std::string_view text, simdjson::error_code code) {
  if (code == simdjson::DEPTH_ERROR) return "is JSON that nests deeper than 1024 levels";
  if (code == simdjson::CAPACITY) return "is 4 GiB of JSON or more in one record";
  if (text.find_first_not_of(" \t\r\n") == text.npos) return "is empty where JSON is expected";
  Locator locator;
  nlohmann::json::sax_parse(text.begin(), text.end(), &locator);
  if (!locator.position()) return "is not JSON";
  const std::size_t position = *locator.position();
  if (position > text.size()) return fmt::format("is JSON cut short at byte {}", text.size());
  return fmt::format("is not JSON at byte {}", position - std::min<std::size_t>(position, 1));
}

void append_real(std::string& out, double value) {
  const std::string number = json_number(value);
  out += number;
  if (number.find_first_of(".en") == number.npos) out += ".0";
}

struct Rendering {
  const JsonNode::TextMap& replace;
  bool sorted;
};

void append_json(std::string& out, dom::element element, const Rendering& how);

void append_members(std::string& out, dom::object object, const Rendering& how) {
  std::vector<std::pair<std::string_view, dom::element>> members;
  for (const dom::key_value_pair field : object) members.emplace_back(field.key, field.value);
  if (how.sorted)
    std::stable_sort(members.begin(), members.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
  char separator = '{';
  for (const auto& [key, value] : members) {
    out += separator;
    append_json_string(out, key);
    out += ':';
    append_json(out, value, how);
    separator = ',';
  }
  out += members.empty() ? "{}" : "}";
}

void append_json(std::string& out, dom::element element, const Rendering& how) {
  switch (element.type()) {
    case dom::element_type::OBJECT:
      return append_members(out, element.get_object().value_unsafe(), how);
    case dom::element_type::ARRAY: {
      char separator = '[';
      const dom::array items = element.get_array().value_unsafe();
      for (const dom::element item : items) {
        out += separator;
        append_json(out, item, how);
        separator = ',';
      }
      out += separator == '[' ? "[]" : "]";
      return;
    }
    case dom::element_type::STRING: {
      const std::string_view text = element.get_string().value_unsafe();
      return append_json_string(out, how.replace ? how.replace(text) : text);
    }
    case dom::element_type::DOUBLE:
      return append_real(out, element.get_double().value_unsafe());
    case dom::element_type::INT64:
      out += std::to_string(element.get_int64().value_unsafe());
      return;
    case dom::element_type::UINT64:
      out += std::to_string(element.get_uint64().value_unsafe());
      return;
    case dom::element_type::BOOL:
      out += element.get_bool().value_unsafe() ? "true" : "false";
      return;
    case dom::element_type::NULL_VALUE:
      out += "null";
      return;
  }
}

}  // namespace

JsonNode::Kind JsonNode::kind() const {
  if (!present_) return Kind::Absent;
  switch (Access::element(*this).type()) {
    case dom::element_type::OBJECT:
      return Kind::Object;
    case dom::element_type::ARRAY:
      return Kind::Array;
    case dom::element_type::STRING:
      return Kind::Text;
    case dom::element_type::DOUBLE:
      return Kind::Real;
    case dom::element_type::INT64:
    case dom::element_type::UINT64:
      return Kind::Integer;
    case dom::element_type::BOOL:
      return Kind::Boolean;
    case dom::element_type::NULL_VALUE:
      return Kind::Null;
  }
  return Kind::Absent;
}

bool JsonNode::missing() const {
  const Kind what = kind();
  return what == Kind::Absent || what == Kind::Null;
}

JsonNode JsonNode::operator[](std::string_view key) const {
  if (kind() != Kind::Object) return {};
  JsonNode found;
  for (const dom::key_value_pair field : Access::object(*this))
    if (field.key == key) found = Access::wrap(field.value);
  return found;
}

std::optional<std::string_view> JsonNode::text() const {
  if (kind() != Kind::Text) return std::nullopt;
  return Access::element(*this).get_string().value_unsafe();
}

std::optional<bool> JsonNode::boolean() const {
  if (kind() != Kind::Boolean) return std::nullopt;
  return Access::element(*this).get_bool().value_unsafe();
}

std::optional<double> JsonNode::number() const {
  const Kind what = kind();
  if (what != Kind::Integer && what != Kind::Real) return std::nullopt;
  return Access::element(*this).get_double().value_unsafe();
}

std::optional<std::int64_t> JsonNode::integer() const {
  const Kind what = kind();
  if (what == Kind::Integer) {
    std::int64_t value = 0;
    if (Access::element(*this).get_int64().get(value) != simdjson::SUCCESS) return std::nullopt;
    return value;
  }
  if (what != Kind::Real) return std::nullopt;
  const double value = Access::element(*this).get_double().value_unsafe();
  if (value != std::trunc(value) || std::abs(value) > 9e15) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

bool JsonNode::truthy() const {
  switch (kind()) {
    case Kind::Absent:
    case Kind::Null:
      return false;
    case Kind::Boolean:
      return *boolean();
    case Kind::Integer:
    case Kind::Real:
      return *number() != 0;
    case Kind::Text:
      return !text()->empty();
    case Kind::Array:
      return Access::array(*this).size() > 0;
    case Kind::Object:
      return Access::object(*this).size() > 0;
  }
  return false;
}

std::vector<JsonNode> JsonNode::elements() const {
  std::vector<JsonNode> out;
  if (kind() != Kind::Array) return out;
  for (const dom::element item : Access::array(*this)) out.push_back(Access::wrap(item));
  return out;
}

std::vector<std::pair<std::string_view, JsonNode>> JsonNode::members() const {
  std::vector<std::pair<std::string_view, JsonNode>> out;
  if (kind() != Kind::Object) return out;
  for (const dom::key_value_pair field : Access::object(*this))
    out.emplace_back(field.key, Access::wrap(field.value));
  return out;
}

std::string JsonNode::to_json(const TextMap& replace) const {
  std::string out;
  if (present_) append_json(out, Access::element(*this), {replace, false});
  return out;
}

std::string JsonNode::to_sorted_json() const {
  std::string out;
  if (present_) append_json(out, Access::element(*this), {TextMap(), true});
  return out;
}

Result<JsonTree> JsonTree::parse(std::string_view text, JsonRepairs* repairs) {
  if (text.data() == nullptr) text = "";  // the parser copies from the pointer whatever the length
  std::unique_ptr<State> state = std::make_unique<State>();
  const simdjson::error_code first = parse_into(state->document, text);
  if (first == simdjson::SUCCESS) return JsonTree(std::move(state));
  if (first == simdjson::MEMALLOC) throw std::bad_alloc();
  if (first != simdjson::DEPTH_ERROR && first != simdjson::CAPACITY) {
    JsonRepairs needed;
    const std::string mended = repair_json(text, needed);
    if (needed.any() && parse_into(state->document, mended) == simdjson::SUCCESS) {
      if (repairs != nullptr) *repairs = needed;
      return JsonTree(std::move(state));
    }
  }
  return Error{ErrorKind::Malformed, fault_of(text, first), ""};
}

JsonTree::JsonTree(std::unique_ptr<State> state) : state_(std::move(state)) {}
JsonTree::JsonTree(JsonTree&&) noexcept = default;
JsonTree& JsonTree::operator=(JsonTree&&) noexcept = default;
JsonTree::~JsonTree() = default;

JsonNode JsonTree::root() const {
  return JsonNode::Access::wrap(state_->document.root());
}

}  // namespace unmask
