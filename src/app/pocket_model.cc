#include "app/pocket_model.h"

// The files' bytes, put in by the assembler.
#define UNMASK_BYTES_OF(name, file) \
  asm(".section .rodata\n"          \
      ".balign 64\n"                \
      "unmask_begin_" name          \
      ":\n"                         \
      ".incbin \"" file             \
      "\"\n"                        \
      "unmask_end_" name            \
      ":\n"                         \
      ".previous\n")

UNMASK_BYTES_OF("model", UNMASK_POCKET_MODEL);
UNMASK_BYTES_OF("calibration", UNMASK_POCKET_CALIBRATION);

extern "C" const char unmask_begin_model[];
extern "C" const char unmask_end_model[];
extern "C" const char unmask_begin_calibration[];
extern "C" const char unmask_end_calibration[];

namespace unmask {

std::string_view pocket_model() {
  return {unmask_begin_model, static_cast<std::size_t>(unmask_end_model - unmask_begin_model)};
}

std::string_view pocket_calibration() {
  return {unmask_begin_calibration,
          static_cast<std::size_t>(unmask_end_calibration - unmask_begin_calibration)};
}

}  // namespace unmask
