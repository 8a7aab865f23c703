#include "ingest/format.h"

namespace unmask {
namespace {

constexpr LogFormat kLogFormats[] = {
    {"tau2", "\xCF\x84\xC2\xB2-bench results: results.json, or a folder with simulations/",
     looks_like_tau2, read_tau2},
};

}  // namespace

std::span<const LogFormat> format_table() {
  return kLogFormats;
}

}  // namespace unmask
