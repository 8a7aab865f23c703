// Eight bytes a step (little endian, the last step padded with zeros and the length mixed in), each
// multiplied by an odd constant and folded; the finish is the mixer of splitmix64 (Steele, Lea &
// Flood 2014). A policy of 10 KB stands in every simulation of a log, so byte-wise FNV would show.
#include "ingest/text_hash.h"

#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace unmask {
namespace {

std::uint64_t load(std::string_view bytes) {
  std::uint64_t word = 0;
  if (std::endian::native == std::endian::little && bytes.size() == sizeof word) {
    std::memcpy(&word, bytes.data(), sizeof word);  // one load; the loop below is the same, slower
    return word;
  }
  for (std::size_t i = 0; i < bytes.size(); ++i)
    word |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  return word;
}

}  // namespace

std::string text_hash(std::string_view text) {
  if (text.empty()) return "";
  std::uint64_t h = 0x9e3779b97f4a7c15ULL ^ text.size();
  while (!text.empty()) {
    const std::string_view step = text.substr(0, 8);
    text.remove_prefix(step.size());
    h = (h ^ load(step)) * 0xff51afd7ed558ccdULL;
    h ^= h >> 32;
  }
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ULL;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebULL;
  h ^= h >> 31;
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(h));
  return digits;
}

}  // namespace unmask
