// Writes GGUF: a head of metadata and tensor places, then each tensor's bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "llm/gguf.h"
#include "quantize/unfinished_file.h"

namespace unmask {

// A metadata value with its own bytes, laid out as GgufValue says.
struct GgufField {
  std::string key;
  GgufType type = GgufType::U8;
  GgufType element = GgufType::U8;  // of an Array
  std::uint64_t count = 1;          // of an Array
  std::string bytes;
};

GgufField gguf_field(const GgufEntry& entry);
GgufField gguf_text(std::string key, std::string_view text);
GgufField gguf_u32(std::string key, std::uint32_t value);
GgufField gguf_f32(std::string key, float value);
GgufField gguf_bool(std::string key, bool value);
GgufField gguf_texts(std::string key, const std::vector<std::string>& texts);
GgufField gguf_i32s(std::string key, const std::vector<std::int32_t>& values);

struct GgufPlannedTensor {
  std::string name;
  std::vector<std::uint64_t> shape;  // fastest first, as GgufTensor
  const GgufTensorType* type = nullptr;
};

// What a file will hold, in order.
struct GgufLayout {
  std::uint64_t alignment = 32;  // a power of two; must be what "general.alignment" says, if there
  std::vector<GgufField> fields;
  std::vector<GgufPlannedTensor> tensors;

  // The fields, tensors and alignment of a file that was read.
  static GgufLayout of(const Gguf& file);
  // Replaces the field of this key where it stands, or adds it at the end.
  void set(GgufField field);
};

// Bytes of a tensor's data, without padding.
std::uint64_t tensor_bytes(const GgufPlannedTensor& tensor);

// Everything before the first tensor's data, padded to the alignment. GGUF version 3.
std::string gguf_head(const GgufLayout& layout);

// Writes the head at once, then tensors in the layout's order.
class GgufWriter {
 public:
  // `file` must outlive the writer.
  // Errors   those of writing: Unavailable.
  static Result<GgufWriter> begin(const GgufLayout& layout, UnfinishedFile& file);

  // More bytes of the tensor at hand, in pieces of any size that never cross its end; the padding
  // behind it is written when it is complete.
  // Errors   Unavailable: disk full, file too large.
  Result<Done> append(std::string_view bytes);

  // All tensors were written in full.
  bool complete() const { return tensor_ == sizes_.size(); }

 private:
  GgufWriter(UnfinishedFile& file, std::uint64_t alignment) : file_(&file), alignment_(alignment) {}

  UnfinishedFile* file_;
  std::uint64_t alignment_;
  std::vector<std::uint64_t> sizes_;
  std::size_t tensor_ = 0;     // at hand
  std::uint64_t written_ = 0;  // of it
};

}  // namespace unmask
