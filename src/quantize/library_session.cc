#ifdef UNMASK_WITH_LLAMA
#include "quantize/library_session.h"

#include <ggml-backend.h>
#include <llama.h>

#include <algorithm>
#include <mutex>

#include "llm/llama_folder.h"

namespace unmask {
namespace {

std::mutex session_mutex;
std::mutex log_mutex;
std::string error_log;

void keep_errors(ggml_log_level level, const char* text, void*) {
  if (level != GGML_LOG_LEVEL_ERROR) return;
  const std::lock_guard<std::mutex> lock(log_mutex);
  error_log += text;
}

void drop_all(ggml_log_level, const char*, void*) {}

void load_library() {
  static std::once_flag loaded;
  std::call_once(loaded, [] {
    ggml_backend_load_all_from_path(llama_folder().c_str());
    llama_backend_init();
  });
}

// "f: failed to load: the reason\n" -> "the reason". llama.cpp begins with the function's name.
std::string without_function(std::string line) {
  const std::size_t colon = line.find(": ");
  const std::size_t blank = line.find(' ');
  if (colon != std::string::npos && colon < blank) line.erase(0, colon + 2);
  return line;
}

}  // namespace

LibrarySession::LibrarySession() {
  session_mutex.lock();
  error_log.clear();
  llama_log_set(keep_errors, nullptr);
  load_library();
}

LibrarySession::~LibrarySession() {
  llama_log_set(drop_all, nullptr);
  session_mutex.unlock();
}

// The first line that says something: what follows are its consequences ("failed to load model").
std::string LibrarySession::complaint(const std::string& otherwise) const {
  const std::lock_guard<std::mutex> lock(log_mutex);
  std::size_t begin = 0;
  while (begin < error_log.size()) {
    const std::size_t end = std::min(error_log.find('\n', begin), error_log.size());
    std::string line = error_log.substr(begin, end - begin);
    begin = end + 1;
    if (line.find_first_not_of("= \t") != std::string::npos) return without_function(line);
  }
  return otherwise;
}

}  // namespace unmask
#endif
