// The layout (ggml's docs/gguf.md), all little-endian:
//
//   "GGUF"  u32 version  i64 tensors  i64 entries
//   entries times:  text key   u32 type   value
//   tensors times:  text name  u32 extents' number  i64 extents  u32 type  u64 offset
//   padding to the alignment, then the tensors' data, to which the offsets are relative
//
// A text is a u64 length and its bytes; an array a u32 element type, a u64 count and its elements.
#include "llm/gguf.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <set>
#include <type_traits>
#include <utility>

#include "base/mapped_file.h"
#include "llm/server_words.h"

namespace unmask {
namespace {

static_assert(std::endian::native == std::endian::little, "GGUF files are read as they lie");

constexpr std::uint64_t kMostExtents = 4;

constexpr GgufTensorType kTensorTypes[] = {
    {"f32", 0, 1, 4},         {"f16", 1, 1, 2},         {"q4_0", 2, 32, 18},
    {"q4_1", 3, 32, 20},      {"q5_0", 6, 32, 22},      {"q5_1", 7, 32, 24},
    {"q8_0", 8, 32, 34},      {"q8_1", 9, 32, 36},      {"q2_k", 10, 256, 84},
    {"q3_k", 11, 256, 110},   {"q4_k", 12, 256, 144},   {"q5_k", 13, 256, 176},
    {"q6_k", 14, 256, 210},   {"q8_k", 15, 256, 292},   {"iq2_xxs", 16, 256, 66},
    {"iq2_xs", 17, 256, 74},  {"iq3_xxs", 18, 256, 98}, {"iq1_s", 19, 256, 50},
    {"iq4_nl", 20, 32, 18},   {"iq3_s", 21, 256, 110},  {"iq2_s", 22, 256, 82},
    {"iq4_xs", 23, 256, 136}, {"i8", 24, 1, 1},         {"i16", 25, 1, 2},
    {"i32", 26, 1, 4},        {"i64", 27, 1, 8},        {"f64", 28, 1, 8},
    {"iq1_m", 29, 256, 56},   {"bf16", 30, 1, 2},       {"tq1_0", 34, 256, 54},
    {"tq2_0", 35, 256, 66},   {"mxfp4", 39, 32, 17},    {"nvfp4", 40, 64, 36},
    {"q1_0", 41, 128, 18},    {"q2_0", 42, 64, 18},
};

// Bytes of one value; 0 for Text and Array, whose size is in the file.
std::uint64_t size_of(GgufType type) {
  switch (type) {
    case GgufType::U8:
    case GgufType::I8:
    case GgufType::Bool:
      return 1;
    case GgufType::U16:
    case GgufType::I16:
      return 2;
    case GgufType::U32:
    case GgufType::I32:
    case GgufType::F32:
      return 4;
    case GgufType::U64:
    case GgufType::I64:
    case GgufType::F64:
      return 8;
    case GgufType::Text:
    case GgufType::Array:
      return 0;
  }
  return 0;
}

template <typename T>
T loaded(std::string_view bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

std::uint64_t padded(std::uint64_t offset, std::uint64_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

}  // namespace

const GgufTensorType* gguf_tensor_type(std::uint32_t id) {
  for (const GgufTensorType& type : kTensorTypes)
    if (type.id == id) return &type;
  return nullptr;
}

const GgufTensorType* gguf_tensor_type(std::string_view name) {
  for (const GgufTensorType& type : kTensorTypes)
    if (type.name == name) return &type;
  return nullptr;
}

std::optional<std::string_view> GgufValue::text() const {
  if (type != GgufType::Text) return std::nullopt;
  return bytes;
}

std::optional<std::int64_t> GgufValue::whole() const {
  switch (type) {
    case GgufType::U8:
    case GgufType::Bool:
      return loaded<std::uint8_t>(bytes);
    case GgufType::I8:
      return loaded<std::int8_t>(bytes);
    case GgufType::U16:
      return loaded<std::uint16_t>(bytes);
    case GgufType::I16:
      return loaded<std::int16_t>(bytes);
    case GgufType::U32:
      return loaded<std::uint32_t>(bytes);
    case GgufType::I32:
      return loaded<std::int32_t>(bytes);
    case GgufType::I64:
      return loaded<std::int64_t>(bytes);
    case GgufType::U64: {
      const auto value = loaded<std::uint64_t>(bytes);
      if (value > static_cast<std::uint64_t>(INT64_MAX)) return std::nullopt;
      return static_cast<std::int64_t>(value);
    }
    case GgufType::F32:
    case GgufType::F64:
    case GgufType::Text:
    case GgufType::Array:
      return std::nullopt;
  }
  return std::nullopt;
}

std::optional<double> GgufValue::number() const {
  if (type == GgufType::F32) return loaded<float>(bytes);
  if (type == GgufType::F64) return loaded<double>(bytes);
  if (type == GgufType::U64) return static_cast<double>(loaded<std::uint64_t>(bytes));
  const std::optional<std::int64_t> integer = whole();
  if (!integer) return std::nullopt;
  return static_cast<double>(*integer);
}

std::optional<GgufValue> GgufValue::at(std::uint64_t index) const {
  if (type != GgufType::Array || element == GgufType::Text || index >= count) return std::nullopt;
  const std::uint64_t size = size_of(element);
  return GgufValue{element, element, 1, bytes.substr(index * size, size)};
}

std::vector<std::string_view> GgufValue::texts() const {
  std::vector<std::string_view> out;
  if (type != GgufType::Array || element != GgufType::Text) return out;
  out.reserve(count);
  std::string_view rest = bytes;  // checked when it was read
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto length = loaded<std::uint64_t>(rest);
    out.push_back(rest.substr(sizeof length, length));
    rest.remove_prefix(sizeof length + length);
  }
  return out;
}

// Reads front to back. Every step returns false once something is wrong; the error is kept.
class GgufReader {
 public:
  GgufReader(std::string_view bytes, const std::string& name) : name_(name) {
    file_.bytes_ = bytes;
  }

  Result<Gguf> read() {
    if (read_head() && read_entries() && read_alignment() && read_tensors() && place_tensors())
      return std::move(file_);
    return *error_;
  }

 private:
  std::string_view all() const { return file_.bytes_; }
  std::uint64_t left() const { return all().size() - at_; }

  bool fail(ErrorKind kind, std::string message, std::optional<std::uint64_t> place = {}) {
    error_ =
        Error{kind, std::move(message), fmt::format("{}: byte {}", name_, place.value_or(at_))};
    return false;
  }
  bool malformed(std::string message) { return fail(ErrorKind::Malformed, std::move(message)); }
  bool cut(std::string_view in_what) {
    return fail(ErrorKind::Malformed,
                fmt::format("the file is cut short: it ends within {}", in_what), all().size());
  }

  bool take(std::uint64_t length, std::string_view& out, std::string_view of_what) {
    if (length > left()) return cut(of_what);
    out = all().substr(at_, length);
    at_ += length;
    return true;
  }

  template <typename T>
  bool take_number(T& out, std::string_view of_what) {
    std::string_view bytes;
    if (!take(sizeof(T), bytes, of_what)) return false;
    out = loaded<T>(bytes);
    return true;
  }

  bool take_text(std::string_view& out, std::string_view of_what) {
    std::uint64_t length = 0;
    return take_number(length, of_what) && take(length, out, of_what);
  }

  bool read_head() {
    constexpr std::string_view kMagic = "GGUF";
    if (all().empty()) return malformed("the file is empty, so it is no GGUF model");
    if (all().substr(0, kMagic.size()) != kMagic)
      return malformed("this is not a GGUF file: it does not begin with \"GGUF\"");
    at_ = kMagic.size();
    if (!take_number(file_.version_, "its head")) return false;
    if (file_.version_ > 0 && (file_.version_ & 0xffff) == 0)
      return fail(ErrorKind::Unsupported, "this GGUF file is big-endian");
    if (file_.version_ < 2 || file_.version_ > 3)
      return fail(ErrorKind::Unsupported,
                  fmt::format("this GGUF file has version {}; 2 and 3 are read", file_.version_));
    if (!take_number(tensor_count_, "its head") || !take_number(entry_count_, "its head"))
      return false;
    // The least an entry and a tensor's description take.
    if (entry_count_ > left() / 13 || tensor_count_ > left() / 32) return cut("its metadata");
    return true;
  }

  bool read_entries() {
    std::set<std::string_view> keys;
    for (std::uint64_t i = 0; i < entry_count_; ++i) {
      GgufEntry entry;
      if (!take_text(entry.key, "its metadata") || !read_value(entry)) return false;
      if (!keys.insert(entry.key).second)
        return malformed(fmt::format("the metadata has \"{}\" twice", printable(entry.key)));
      file_.entries_.push_back(entry);
    }
    return true;
  }

  bool read_type(GgufType& out, const GgufEntry& entry) {
    std::uint32_t type = 0;
    if (!take_number(type, "its metadata")) return false;
    if (type > static_cast<std::uint32_t>(GgufType::F64))
      return malformed(
          fmt::format("\"{}\" has a value of the unknown type {}", printable(entry.key), type));
    out = static_cast<GgufType>(type);
    return true;
  }

  bool read_value(GgufEntry& entry) {
    GgufValue& value = entry.value;
    if (!read_type(value.type, entry)) return false;
    value.element = value.type;
    if (value.type == GgufType::Text) return take_text(value.bytes, "its metadata");
    if (value.type != GgufType::Array)
      return take(size_of(value.type), value.bytes, "its metadata");
    if (!read_type(value.element, entry) || !take_number(value.count, "its metadata")) return false;
    if (value.element == GgufType::Array)
      return malformed(fmt::format("\"{}\" is an array of arrays", printable(entry.key)));
    if (value.element == GgufType::Text) return read_texts(value);
    const std::uint64_t size = size_of(value.element);
    if (value.count > left() / size) return cut("its metadata");
    return take(value.count * size, value.bytes, "its metadata");
  }

  bool read_texts(GgufValue& value) {
    const std::uint64_t begin = at_;
    std::string_view text;
    for (std::uint64_t i = 0; i < value.count; ++i)
      if (!take_text(text, "its metadata")) return false;
    value.bytes = all().substr(begin, at_ - begin);
    return true;
  }

  bool read_alignment() {
    const GgufValue* value = file_.find("general.alignment");
    if (!value) return true;
    const std::optional<std::int64_t> alignment = value->whole();
    if (!alignment || *alignment < 1 || *alignment > (1 << 20) ||
        !std::has_single_bit(static_cast<std::uint64_t>(*alignment)))
      return malformed("general.alignment is no power of two");
    file_.alignment_ = static_cast<std::uint64_t>(*alignment);
    return true;
  }

  bool read_tensors() {
    std::set<std::string_view> names;
    for (std::uint64_t i = 0; i < tensor_count_; ++i) {
      GgufTensor tensor;
      if (!take_text(tensor.name, "the list of its tensors") || !read_shape(tensor) ||
          !read_tensor_type(tensor) || !take_number(tensor.offset, "the list of its tensors"))
        return false;
      if (!names.insert(tensor.name).second)
        return malformed(fmt::format("the tensor {} is listed twice", printable(tensor.name)));
      file_.tensors_.push_back(std::move(tensor));
    }
    return true;
  }

  bool read_shape(GgufTensor& tensor) {
    std::uint32_t extents = 0;
    if (!take_number(extents, "the list of its tensors")) return false;
    if (extents < 1 || extents > kMostExtents)
      return malformed(
          fmt::format("the tensor {} has {} dimensions", printable(tensor.name), extents));
    std::uint64_t numbers = 1;
    for (std::uint32_t i = 0; i < extents; ++i) {
      std::uint64_t extent = 0;
      if (!take_number(extent, "the list of its tensors")) return false;
      if (extent == 0 || extent > (std::uint64_t{1} << 56) / numbers)
        return malformed(
            fmt::format("the tensor {} has an impossible shape", printable(tensor.name)));
      numbers *= extent;
      tensor.shape.push_back(extent);
    }
    tensor.bytes = numbers;  // until its type is known
    return true;
  }

  bool read_tensor_type(GgufTensor& tensor) {
    std::uint32_t id = 0;
    if (!take_number(id, "the list of its tensors")) return false;
    tensor.type = gguf_tensor_type(id);
    if (!tensor.type)
      return fail(ErrorKind::Unsupported,
                  fmt::format("the tensor {} has the unknown type {}", printable(tensor.name), id));
    if (tensor.shape[0] % tensor.type->numbers != 0)
      return malformed(fmt::format("the tensor {} has rows of {} numbers, which {} cannot keep",
                                   printable(tensor.name), tensor.shape[0], tensor.type->name));
    tensor.bytes = tensor.bytes / tensor.type->numbers * tensor.type->bytes;
    return true;
  }

  bool place_tensors() {
    file_.data_offset_ = padded(at_, file_.alignment_);
    const std::uint64_t size = all().size();
    for (GgufTensor& tensor : file_.tensors_) {
      if (tensor.offset % file_.alignment_ != 0)
        return malformed(
            fmt::format("the tensor {} does not begin where it may", printable(tensor.name)));
      if (file_.data_offset_ > size || tensor.offset > size - file_.data_offset_ ||
          tensor.bytes > size - file_.data_offset_ - tensor.offset)
        return cut(fmt::format("the tensor {}", printable(tensor.name)));
      tensor.offset += file_.data_offset_;
    }
    return true;
  }

  const std::string& name_;
  Gguf file_;
  std::uint64_t at_ = 0;
  std::uint64_t tensor_count_ = 0;
  std::uint64_t entry_count_ = 0;
  std::optional<Error> error_;
};

Result<Gguf> Gguf::read(std::string_view bytes, const std::string& name) {
  return GgufReader(bytes, name).read();
}

Result<Gguf> Gguf::open(const std::string& path) {
  Result<MappedFile> mapped = MappedFile::open(path);
  if (!mapped) return mapped.error();
  MappedFile::guard_reads();
  const auto file = std::make_shared<const MappedFile>(std::move(*mapped));
  Result<Gguf> gguf = read(file->bytes(), path);
  if (gguf) gguf->file_ = file;
  return gguf;
}

const GgufValue* Gguf::find(std::string_view key) const {
  for (const GgufEntry& entry : entries_)
    if (entry.key == key) return &entry.value;
  return nullptr;
}

const GgufTensor* Gguf::find_tensor(std::string_view name) const {
  for (const GgufTensor& tensor : tensors_)
    if (tensor.name == name) return &tensor;
  return nullptr;
}

const GgufValue* Gguf::of_architecture(std::string_view suffix) const {
  return find(fmt::format("{}.{}", architecture(), suffix));
}

std::string_view Gguf::architecture() const {
  const GgufValue* value = find("general.architecture");
  return value ? value->text().value_or("") : "";
}

}  // namespace unmask
