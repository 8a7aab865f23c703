#include "app/chart_library.h"

#ifdef UNMASK_CHARTS_FOLDER

#include "quantize/sha256.h"

// One text: the licences, the libraries, each of which ends in no line break, and the script that
// draws.
asm(".section .rodata\n"
    "unmask_begin_charts:\n"
    ".incbin \"" UNMASK_CHARTS_FOLDER
    "/notices.js\"\n"
    ".incbin \"" UNMASK_CHARTS_FOLDER
    "/vega.min.js\"\n"
    ".ascii \"\\n\"\n"
    ".incbin \"" UNMASK_CHARTS_FOLDER
    "/vega-lite.min.js\"\n"
    ".ascii \"\\n\"\n"
    ".incbin \"" UNMASK_CHARTS_FOLDER
    "/vega-embed.min.js\"\n"
    ".ascii \"\\n\"\n"
    ".incbin \"" UNMASK_CHART_SCRIPT
    "\"\n"
    "unmask_end_charts:\n"
    ".previous\n");

extern "C" const char unmask_begin_charts[];
extern "C" const char unmask_end_charts[];

namespace unmask {
namespace {

int digit_of(char c) {
  return c <= '9' ? c - '0' : c - 'a' + 10;
}

// Base64 (RFC 4648) of bytes given as hexadecimal digits, as a page's policy writes a hash.
std::string base64_of_hex(std::string_view hex) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  unsigned bits = 0;
  int count = 0;
  for (const char c : hex) {
    bits = (bits << 4) | static_cast<unsigned>(digit_of(c));
    count += 4;
    if (count < 6) continue;
    count -= 6;
    out += kDigits[(bits >> count) & 63U];
  }
  if (count > 0) out += kDigits[(bits << (6 - count)) & 63U];
  while (out.size() % 4 != 0) out += '=';
  return out;
}

}  // namespace

ChartLibrary chart_library() {
  const std::string_view script(unmask_begin_charts,
                                static_cast<std::size_t>(unmask_end_charts - unmask_begin_charts));
  return {script, base64_of_hex(sha256_hex(script))};
}

}  // namespace unmask

#else

namespace unmask {

ChartLibrary chart_library() {
  return {};
}

}  // namespace unmask

#endif
