// The scan of quotes and brackets, 64 bytes at a time.
//
// For each block four bit masks are made, one bit a byte: quotes, backslashes, opening and closing
// brackets. A quote counts unless an odd run of backslashes stands before it; the prefix xor of the
// counted quotes is 1 exactly inside strings (from the opening quote to just before the closing
// one), and brackets there are dropped. As long as a block holds fewer closing brackets than levels
// are open the container cannot end in it, and two population counts settle the block; only blocks
// in which it may end are looked at bracket by bracket.
//
//   {"a":"}\"","b":[1]}
//   ^                 ^   brackets that count: the '}' within the string does not
//
// The idea of masks and prefix xor is that of Langdale & Lemire, "Parsing Gigabytes of JSON per
// Second" (VLDB Journal 28, 2019).
#include "ingest/json_scan.h"

#include <algorithm>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace unmask {
namespace {

constexpr std::size_t kBlock = 64;

struct Masks {
  std::uint64_t quotes = 0;
  std::uint64_t backslashes = 0;
  std::uint64_t opens = 0;
  std::uint64_t closes = 0;
};

// '{' and '[' differ in one bit, as do '}' and ']': with it set they are '{' and '}'.
constexpr char kBracketBit = 0x20;

// Makes the masks of `blocks` whole blocks.
using MaskMaker = void (*)(const char* bytes, std::size_t blocks, Masks* masks);

#if defined(__x86_64__)
std::uint64_t bits_equal(const __m128i (&v)[4], char c) {
  const __m128i wanted = _mm_set1_epi8(c);
  std::uint64_t bits = 0;
  for (int i = 0; i < 4; ++i) {
    const auto part = static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(v[i], wanted)));
    bits |= static_cast<std::uint64_t>(part) << (16 * i);
  }
  return bits;
}

void make_masks_sse2(const char* bytes, std::size_t blocks, Masks* masks) {
  const __m128i bit = _mm_set1_epi8(kBracketBit);
  for (std::size_t b = 0; b < blocks; ++b) {
    __m128i v[4];
    for (std::size_t i = 0; i < 4; ++i)
      v[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + kBlock * b + 16 * i));
    masks[b].quotes = bits_equal(v, '"');
    masks[b].backslashes = bits_equal(v, '\\');
    for (__m128i& part : v) part = _mm_or_si128(part, bit);
    masks[b].opens = bits_equal(v, '{');
    masks[b].closes = bits_equal(v, '}');
  }
}

__attribute__((target("avx2"))) inline std::uint64_t bits_equal(__m256i low, __m256i high, char c) {
  const __m256i wanted = _mm256_set1_epi8(c);
  const auto first =
      static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, wanted)));
  const auto second =
      static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, wanted)));
  return static_cast<std::uint64_t>(second) << 32 | first;
}

// How far ahead of the scan memory is asked for: the scan is the first to touch a log's bytes.
constexpr std::size_t kAhead = 2048;

__attribute__((target("avx2"))) void make_masks_avx2(const char* bytes, std::size_t blocks,
                                                     Masks* masks) {
  const __m256i bit = _mm256_set1_epi8(kBracketBit);
  for (std::size_t b = 0; b < blocks; ++b) {
    const auto* block = reinterpret_cast<const __m256i*>(bytes + kBlock * b);
    _mm_prefetch(bytes + kBlock * b + kAhead, _MM_HINT_T0);
    __m256i low = _mm256_loadu_si256(block);
    __m256i high = _mm256_loadu_si256(block + 1);
    masks[b].quotes = bits_equal(low, high, '"');
    masks[b].backslashes = bits_equal(low, high, '\\');
    low = _mm256_or_si256(low, bit);
    high = _mm256_or_si256(high, bit);
    masks[b].opens = bits_equal(low, high, '{');
    masks[b].closes = bits_equal(low, high, '}');
  }
}

MaskMaker best_mask_maker() {
  return __builtin_cpu_supports("avx2") ? make_masks_avx2 : make_masks_sse2;
}
#else
void make_masks_portable(const char* bytes, std::size_t blocks, Masks* masks) {
  for (std::size_t b = 0; b < blocks; ++b) {
    masks[b] = Masks();
    for (std::size_t i = 0; i < kBlock; ++i) {
      const char c = bytes[kBlock * b + i];
      const char bracket = static_cast<char>(c | kBracketBit);
      masks[b].quotes |= static_cast<std::uint64_t>(c == '"') << i;
      masks[b].backslashes |= static_cast<std::uint64_t>(c == '\\') << i;
      masks[b].opens |= static_cast<std::uint64_t>(bracket == '{') << i;
      masks[b].closes |= static_cast<std::uint64_t>(bracket == '}') << i;
    }
  }
}

MaskMaker best_mask_maker() {
  return make_masks_portable;
}
#endif

void make_masks(const char* bytes, std::size_t blocks, Masks* masks) {
  static const MaskMaker best = best_mask_maker();
  best(bytes, blocks, masks);
}

inline std::uint64_t prefix_xor(std::uint64_t bits) {
  for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

// State carried from block to block.
struct Carry {
  bool escaped = false;         // the next block's first byte is escaped
  std::uint64_t in_string = 0;  // all ones when the next block starts inside a string
};

// Bytes that a backslash before them escapes.
inline std::uint64_t escaped_bytes(std::uint64_t backslashes, Carry& carry) {
  std::uint64_t escaped = carry.escaped ? 1 : 0;
  std::uint64_t left = backslashes & ~escaped;
  carry.escaped = false;
  while (left != 0) {
    const std::uint64_t escape = left & (~left + 1);
    const std::uint64_t target = escape << 1;
    if (target == 0) carry.escaped = true;
    escaped |= target;
    left &= ~(escape | target);
  }
  return escaped;
}

// Leaves only the brackets outside strings.
inline void mask_strings(Masks& masks, Carry& carry) {
  const std::uint64_t escaped =
      masks.backslashes == 0 && !carry.escaped ? 0 : escaped_bytes(masks.backslashes, carry);
  const std::uint64_t in_string = prefix_xor(masks.quotes & ~escaped) ^ carry.in_string;
  carry.in_string = (in_string >> 63) != 0 ? ~std::uint64_t{0} : 0;
  masks.opens &= ~in_string;
  masks.closes &= ~in_string;
}

// Where the scan of one container stands.
struct Standing {
  Carry carry;
  std::size_t open = 0;  // levels
  ContainerEnd result;
};

// Goes through `count` blocks that start at byte `at`. True when the container ends in one of them.
inline __attribute__((always_inline)) bool pass_blocks(Masks* blocks, std::size_t count,
                                                       std::size_t at, Standing& standing) {
  for (std::size_t b = 0; b < count; ++b) {
    Masks& masks = blocks[b];
    mask_strings(masks, standing.carry);
    if ((masks.opens | masks.closes) == 0) continue;
    const auto opening = static_cast<std::size_t>(std::popcount(masks.opens));
    const auto closing = static_cast<std::size_t>(std::popcount(masks.closes));
    standing.result.depth = std::max(standing.result.depth, standing.open + opening);
    if (closing < standing.open) {
      standing.open += opening - closing;
      continue;
    }
    for (std::uint64_t left = masks.opens | masks.closes; left != 0; left &= left - 1) {
      if ((masks.opens & left & (~left + 1)) != 0) {
        ++standing.open;
      } else if (--standing.open == 0) {
        standing.result.end =
            at + kBlock * b + static_cast<std::size_t>(std::countr_zero(left)) + 1;
        standing.result.closed = true;
        return true;
      }
    }
  }
  return false;
}

using BlockPasser = bool (*)(Masks* blocks, std::size_t count, std::size_t at, Standing& standing);

bool pass_blocks_plain(Masks* blocks, std::size_t count, std::size_t at, Standing& standing) {
  return pass_blocks(blocks, count, at, standing);
}

#if defined(__x86_64__)
// The same with the processor's own bit counting.
__attribute__((target("popcnt,bmi"))) bool pass_blocks_bmi(Masks* blocks, std::size_t count,
                                                           std::size_t at, Standing& standing) {
  return pass_blocks(blocks, count, at, standing);
}

BlockPasser best_block_passer() {
  return __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("bmi") ? pass_blocks_bmi
                                                                           : pass_blocks_plain;
}
#else
BlockPasser best_block_passer() {
  return pass_blocks_plain;
}
#endif

}  // namespace

ContainerEnd scan_container(std::string_view bytes, std::size_t begin) {
  static const BlockPasser pass = best_block_passer();
  constexpr std::size_t kStep = 16;  // blocks at a time
  Masks blocks[kStep];
  Standing standing;
  std::size_t at = begin;
  while (bytes.size() - at >= kBlock) {
    const std::size_t count = std::min(kStep, (bytes.size() - at) / kBlock);
    make_masks(bytes.data() + at, count, blocks);
    if (pass(blocks, count, at, standing)) return standing.result;
    at += count * kBlock;
  }
  char last[kBlock];
  std::memset(last, ' ', kBlock);
  std::memcpy(last, bytes.data() + at, bytes.size() - at);
  make_masks(last, 1, blocks);
  if (pass(blocks, 1, at, standing)) return standing.result;
  standing.result.end = bytes.size();
  return standing.result;
}

std::size_t skip_space(std::string_view bytes, std::size_t i) {
  while (i < bytes.size() &&
         (bytes[i] == ' ' || bytes[i] == '\n' || bytes[i] == '\r' || bytes[i] == '\t'))
    ++i;
  return i;
}

std::optional<std::size_t> scan_string(std::string_view bytes, std::size_t begin) {
  std::size_t i = begin + 1;
  while (true) {
    i = bytes.find('"', i);
    if (i == std::string_view::npos) return std::nullopt;
    std::size_t backslashes = 0;
    while (i > begin + 1 + backslashes && bytes[i - 1 - backslashes] == '\\') ++backslashes;
    ++i;
    if (backslashes % 2 == 0) return i;
  }
}

std::optional<std::size_t> scan_value(std::string_view bytes, std::size_t begin) {
  if (begin >= bytes.size()) return std::nullopt;
  const char first = bytes[begin];
  if (first == '"') return scan_string(bytes, begin);
  if (first == '{' || first == '[') {
    const ContainerEnd container = scan_container(bytes, begin);
    if (!container.closed) return std::nullopt;
    return container.end;
  }
  const std::size_t end = bytes.find_first_of(",}] \n\r\t", begin);
  if (end == std::string_view::npos) return std::nullopt;
  return end;
}

JsonWalk::JsonWalk(std::string_view bytes, std::size_t begin)
    : bytes_(bytes), position_(begin + 1), object_(bytes[begin] == '{') {}

std::optional<JsonWalk::Item> JsonWalk::stop(State state) {
  state_ = state;
  return std::nullopt;
}

std::optional<JsonWalk::Item> JsonWalk::next_unskipped() {
  if (state_ != State::Open) return std::nullopt;
  position_ = skip_space(bytes_, position_);
  if (position_ >= bytes_.size()) return stop(State::CutOff);
  const char closing = object_ ? '}' : ']';
  if (bytes_[position_] == closing) {
    ++position_;
    return stop(State::Closed);
  }
  if (!first_) {
    if (bytes_[position_] != ',') return stop(State::Malformed);
    position_ = skip_space(bytes_, position_ + 1);
    if (position_ >= bytes_.size()) return stop(State::CutOff);
  }
  first_ = false;
  Item item;
  if (object_) {
    if (bytes_[position_] != '"') return stop(State::Malformed);
    const std::optional<std::size_t> key_end = scan_string(bytes_, position_);
    if (!key_end) return stop(State::CutOff);
    item.key = bytes_.substr(position_ + 1, *key_end - position_ - 2);
    position_ = skip_space(bytes_, *key_end);
    if (position_ >= bytes_.size()) return stop(State::CutOff);
    if (bytes_[position_] != ':') return stop(State::Malformed);
    position_ = skip_space(bytes_, position_ + 1);
    if (position_ >= bytes_.size()) return stop(State::CutOff);
  }
  const char c = bytes_[position_];
  if (c == ',' || c == ':' || c == '}' || c == ']') return stop(State::Malformed);
  item.begin = item.end = position_;
  return item;
}

std::optional<JsonWalk::Item> JsonWalk::next() {
  std::optional<Item> item = next_unskipped();
  if (!item) return item;
  const char c = bytes_[item->begin];
  if (c == '{' || c == '[') {
    const ContainerEnd container = scan_container(bytes_, item->begin);
    item->end = container.end;
    item->whole = container.closed;
    item->depth = container.depth;
  } else if (const std::optional<std::size_t> end = scan_value(bytes_, item->begin)) {
    item->end = *end;
    item->whole = true;
  } else {
    item->end = bytes_.size();
  }
  position_ = item->end;
  return item;
}

}  // namespace unmask
