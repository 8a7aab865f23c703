#include "ingest/format.h"

namespace unmask {
namespace {

constexpr LogFormat kLogFormats[] = {
    {"native", "unmask's own JSON Lines, one episode a line", looks_like_native, read_native},
    {"tau2", "\xCF\x84\xC2\xB2-bench results: results.json, or a folder with simulations/",
     looks_like_tau2, read_tau2},
    {"inspect", "Inspect AI logs: .eval archives or .json", looks_like_inspect, read_inspect},
    {"tau1", "\xCF\x84-bench (v1) results: one list of trajectories", looks_like_tau1, read_tau1},
    {"openai", "OpenAI chat messages, one episode a line, with field_map for your own fields",
     looks_like_openai, read_openai},
};

}  // namespace

std::span<const LogFormat> format_table() {
  return kLogFormats;
}

}  // namespace unmask
