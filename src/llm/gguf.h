// Reads GGUF files, in which llama.cpp keeps models: the metadata and where every tensor is. Needs
// no llama.cpp and believes no byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace unmask {

// The numbers files use.
enum class GgufType : std::uint32_t {
  U8 = 0,
  I8 = 1,
  U16 = 2,
  I16 = 3,
  U32 = 4,
  I32 = 5,
  F32 = 6,
  Bool = 7,
  Text = 8,
  Array = 9,
  U64 = 10,
  I64 = 11,
  F64 = 12,
};

// A metadata value. Its bytes are the file's, little-endian: of a text without its length, of an
// array all elements one after another, texts among them with their 8-byte lengths.
struct GgufValue {
  GgufType type = GgufType::U8;
  GgufType element = GgufType::U8;  // of an Array; else as `type`
  std::uint64_t count = 1;          // of an Array
  std::string_view bytes;

  // nullopt: it is something else, or a whole number that does not fit.
  std::optional<std::string_view> text() const;
  std::optional<std::int64_t> whole() const;  // any integer type, Bool as 0 or 1
  std::optional<double> number() const;       // any number
  // Element `index` of an Array of numbers; nullopt also behind its end.
  std::optional<GgufValue> at(std::uint64_t index) const;
  // All of an Array of texts; empty where it is none.
  std::vector<std::string_view> texts() const;
};

struct GgufEntry {
  std::string_view key;
  GgufValue value;
};

// How a tensor type keeps its numbers: in blocks.
struct GgufTensorType {
  std::string_view name;      // "q4_k"
  std::uint32_t id = 0;       // in files; ggml's enumeration
  std::uint32_t numbers = 1;  // per block
  std::uint32_t bytes = 4;    // per block
};

// nullptr: no type that we know of.
const GgufTensorType* gguf_tensor_type(std::uint32_t id);
const GgufTensorType* gguf_tensor_type(std::string_view name);

struct GgufTensor {
  std::string_view name;
  std::vector<std::uint64_t> shape;  // 1 to 4 extents, fastest first; rows are shape[0] numbers
  const GgufTensorType* type = nullptr;
  std::uint64_t offset = 0;  // of its first byte in the file
  std::uint64_t bytes = 0;
};

// Views point into the file, which it keeps mapped while it or a copy lives.
//
// Threads  reading is free from any number.
class Gguf {
 public:
  // Versions 2 and 3, little-endian. Every tensor lies within the file.
  //
  // Errors   those of opening the file. Malformed: not a GGUF, cut short, or contradicting itself;
  //          `where` has the byte. Unsupported: another version or byte order, a tensor type that
  //          we do not know.
  static Result<Gguf> open(const std::string& path);
  // The same of bytes that outlive the value; `name` is what errors call them.
  static Result<Gguf> read(std::string_view bytes, const std::string& name);

  std::uint32_t version() const { return version_; }
  // In the file's order, keys and names unique.
  const std::vector<GgufEntry>& entries() const { return entries_; }
  const std::vector<GgufTensor>& tensors() const { return tensors_; }
  // nullptr: there is none.
  const GgufValue* find(std::string_view key) const;
  const GgufTensor* find_tensor(std::string_view name) const;
  // The key "ARCHITECTURE.suffix", as most settings of a model are named.
  const GgufValue* of_architecture(std::string_view suffix) const;
  // "general.architecture"; empty where there is none.
  std::string_view architecture() const;

  std::string_view bytes() const { return bytes_; }
  std::string_view data(const GgufTensor& tensor) const {
    return bytes_.substr(tensor.offset, tensor.bytes);
  }
  std::uint64_t data_offset() const { return data_offset_; }  // where tensors begin in the file
  std::uint64_t alignment() const { return alignment_; }      // of every tensor's beginning

 private:
  friend class GgufReader;
  std::shared_ptr<const void> file_;  // what `bytes_` lies in, where it is ours
  std::string_view bytes_;
  std::uint32_t version_ = 0;
  std::uint64_t data_offset_ = 0;
  std::uint64_t alignment_ = 32;
  std::vector<GgufEntry> entries_;
  std::vector<GgufTensor> tensors_;
};

}  // namespace unmask
