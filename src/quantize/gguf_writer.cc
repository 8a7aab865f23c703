#include "quantize/gguf_writer.h"

#include <bit>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace unmask {
namespace {

static_assert(std::endian::native == std::endian::little, "GGUF files are written as they lie");

constexpr std::uint32_t kVersion = 3;

template <typename T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void put_text(std::string& out, std::string_view text) {
  put<std::uint64_t>(out, text.size());
  out += text;
}

std::uint64_t padded(std::uint64_t size, std::uint64_t alignment) {
  return (size + alignment - 1) / alignment * alignment;
}

void put_field(std::string& out, const GgufField& field) {
  put_text(out, field.key);
  put(out, field.type);
  if (field.type == GgufType::Text) return put_text(out, field.bytes);
  if (field.type == GgufType::Array) {
    put(out, field.element);
    put(out, field.count);
  }
  out += field.bytes;
}

template <typename T>
GgufField number_field(std::string key, GgufType type, T value) {
  GgufField field{std::move(key), type, type, 1, ""};
  put(field.bytes, value);
  return field;
}

}  // namespace

GgufField gguf_field(const GgufEntry& entry) {
  return {std::string(entry.key), entry.value.type, entry.value.element, entry.value.count,
          std::string(entry.value.bytes)};
}

GgufField gguf_text(std::string key, std::string_view text) {
  return {std::move(key), GgufType::Text, GgufType::Text, 1, std::string(text)};
}

GgufField gguf_u32(std::string key, std::uint32_t value) {
  return number_field(std::move(key), GgufType::U32, value);
}

GgufField gguf_f32(std::string key, float value) {
  return number_field(std::move(key), GgufType::F32, value);
}

GgufField gguf_bool(std::string key, bool value) {
  return number_field<std::uint8_t>(std::move(key), GgufType::Bool, value ? 1 : 0);
}

GgufField gguf_texts(std::string key, const std::vector<std::string>& texts) {
  GgufField field{std::move(key), GgufType::Array, GgufType::Text, texts.size(), ""};
  for (const std::string& text : texts) put_text(field.bytes, text);
  return field;
}

GgufField gguf_i32s(std::string key, const std::vector<std::int32_t>& values) {
  GgufField field{std::move(key), GgufType::Array, GgufType::I32, values.size(), ""};
  for (const std::int32_t value : values) put(field.bytes, value);
  return field;
}

GgufLayout GgufLayout::of(const Gguf& file) {
  GgufLayout layout;
  layout.alignment = file.alignment();
  for (const GgufEntry& entry : file.entries()) layout.fields.push_back(gguf_field(entry));
  for (const GgufTensor& tensor : file.tensors())
    layout.tensors.push_back({std::string(tensor.name), tensor.shape, tensor.type});
  return layout;
}

void GgufLayout::set(GgufField field) {
  for (GgufField& there : fields) {
    if (there.key != field.key) continue;
    there = std::move(field);
    return;
  }
  fields.push_back(std::move(field));
}

std::uint64_t tensor_bytes(const GgufPlannedTensor& tensor) {
  std::uint64_t numbers = 1;
  for (const std::uint64_t extent : tensor.shape) numbers *= extent;
  return numbers / tensor.type->numbers * tensor.type->bytes;
}

std::string gguf_head(const GgufLayout& layout) {
  std::string out = "GGUF";
  put(out, kVersion);
  put<std::uint64_t>(out, layout.tensors.size());
  put<std::uint64_t>(out, layout.fields.size());
  for (const GgufField& field : layout.fields) put_field(out, field);
  std::uint64_t offset = 0;
  for (const GgufPlannedTensor& tensor : layout.tensors) {
    UNMASK_CHECK(tensor.type != nullptr && !tensor.shape.empty());
    put_text(out, tensor.name);
    put<std::uint32_t>(out, static_cast<std::uint32_t>(tensor.shape.size()));
    for (const std::uint64_t extent : tensor.shape) put(out, extent);
    put(out, tensor.type->id);
    put(out, offset);
    offset += padded(tensor_bytes(tensor), layout.alignment);
  }
  out.resize(padded(out.size(), layout.alignment));
  return out;
}

Result<GgufWriter> GgufWriter::begin(const GgufLayout& layout, UnfinishedFile& file) {
  GgufWriter writer(file, layout.alignment);
  for (const GgufPlannedTensor& tensor : layout.tensors)
    writer.sizes_.push_back(tensor_bytes(tensor));
  const Result<Done> written = file.write(gguf_head(layout));
  if (!written) return written.error();
  return writer;
}

Result<Done> GgufWriter::append(std::string_view bytes) {
  UNMASK_CHECK(!complete() && bytes.size() <= sizes_[tensor_] - written_);
  Result<Done> done = file_->write(bytes);
  if (!done) return done;
  written_ += bytes.size();
  if (written_ < sizes_[tensor_]) return done;
  const std::uint64_t padding = padded(written_, alignment_) - written_;
  ++tensor_;
  written_ = 0;
  return file_->write(std::string(padding, '\0'));
}

}  // namespace unmask
