// What CPython 3.12 knows of Unicode 15.0, as sorted tables (generated; see the .cc file).
#pragma once

#include <cstddef>
#include <cstdint>

namespace unmask::python {

struct CodePointRange {  // both ends included
  std::uint32_t first;
  std::uint32_t last;
};

// Every `step`th character from first to last has its other case `difference` away.
struct CaseRun {
  std::uint32_t first;
  std::uint32_t last;
  std::uint32_t step;
  std::int32_t difference;
};

extern const CodePointRange kUnprintable[];  // str.isprintable() is false
extern const std::size_t kUnprintableCount;
extern const CodePointRange kCased[];  // these two decide the form of a small sigma
extern const std::size_t kCasedCount;
extern const CodePointRange kCaseIgnorable[];
extern const std::size_t kCaseIgnorableCount;
extern const CaseRun kLower[];
extern const std::size_t kLowerCount;

}  // namespace unmask::python
