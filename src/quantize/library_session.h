// llama.cpp made ready: its processor code loaded, its log kept instead of printed.
#pragma once

#include <string>

namespace unmask {

// Everything llama.cpp logs while one lives is kept here. Threads  one at a time in a process.
class LibrarySession {
 public:
  LibrarySession();
  ~LibrarySession();
  LibrarySession(const LibrarySession&) = delete;
  LibrarySession& operator=(const LibrarySession&) = delete;

  // The first complaint, as one line without its function's name; `otherwise` if there was none.
  std::string complaint(const std::string& otherwise) const;
};

}  // namespace unmask
