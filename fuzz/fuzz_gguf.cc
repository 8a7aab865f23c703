// GGUF files, whatever the bytes; everything a reader may ask of one that was read.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "llm/gguf.h"

namespace {

std::size_t touch(std::string_view bytes) {
  std::size_t sum = 0;
  for (const char c : bytes) sum += static_cast<unsigned char>(c);
  return sum;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const unmask::Result<unmask::Gguf> file = unmask::Gguf::read(bytes, "model.gguf");
  if (!file) return 0;
  volatile std::size_t sum = touch(file->architecture());
  (void)file->of_architecture("context_length");
  for (const unmask::GgufEntry& entry : file->entries()) {
    for (const std::string_view text : entry.value.texts()) sum = sum + touch(text);
    if (entry.value.count > 0) (void)entry.value.at(entry.value.count - 1).value_or(entry.value);
    (void)entry.value.whole();
    (void)entry.value.number();
  }
  for (const unmask::GgufTensor& tensor : file->tensors()) sum = sum + touch(file->data(tensor));
  return 0;
}
