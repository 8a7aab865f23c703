#include "ingest/format.h"

namespace unmask {
namespace {

constexpr LogFormat kLogFormats[] = {
    {"native", "unmask's own JSON Lines, one episode a line", looks_like_native, read_native},
    {"tau2", "\xCF\x84\xC2\xB2-bench results: results.json, or a folder with simulations/",
     looks_like_tau2, read_tau2},
    {"tau1", "\xCF\x84-bench (v1) results: one list of trajectories", looks_like_tau1, read_tau1},
};

}  // namespace

std::span<const LogFormat> format_table() {
  return kLogFormats;
}

}  // namespace unmask
