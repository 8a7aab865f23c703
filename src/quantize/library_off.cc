// Stands for llama.cpp where it is not built in.
#ifndef UNMASK_WITH_LLAMA
#include "quantize/library.h"

namespace unmask {
namespace {

Error missing(const std::string& what) {
  return Error{ErrorKind::Unavailable,
               what + " needs llama.cpp, without which this unmask was built (UNMASK_LLAMA=off)",
               ""};
}

}  // namespace

std::string library_version() {
  return "";
}

Result<Done> quantize_with_library(const LibraryJob&) {
  return missing("a type of llama.cpp");
}

Result<Done> read_quantized(std::string_view, const GgufTensorType&, std::span<float>) {
  return missing("reading a quantized tensor");
}

Result<Calibration> watch_inputs(const std::string&, const std::vector<std::string>&,
                                 const CalibrationOptions&, const std::stop_token&,
                                 const std::function<void(std::uint64_t, std::uint64_t)>&) {
  return missing("calibration");
}

}  // namespace unmask
#endif
