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

#if defined(__SSE2__)
#include <emmintrin.h>
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

#if defined(__SSE2__)
std::uint64_t bits_equal(const __m128i (&v)[4], char c) {
  const __m128i wanted = _mm_set1_epi8(c);
  std::uint64_t bits = 0;
  for (int i = 0; i < 4; ++i) {
    const auto part = static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(v[i], wanted)));
    bits |= static_cast<std::uint64_t>(part) << (16 * i);
  }
  return bits;
}

Masks masks_of(const char* block) {
  __m128i v[4];
  for (int i = 0; i < 4; ++i)
    v[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + 16 * i));
  Masks masks;
  masks.quotes = bits_equal(v, '"');
  masks.backslashes = bits_equal(v, '\\');
  const __m128i bit = _mm_set1_epi8(kBracketBit);
  for (__m128i& part : v) part = _mm_or_si128(part, bit);
  masks.opens = bits_equal(v, '{');
  masks.closes = bits_equal(v, '}');
  return masks;
}
#else
Masks masks_of(const char* block) {
  Masks masks;
  for (std::size_t i = 0; i < kBlock; ++i) {
    const char c = block[i];
    const char bracket = static_cast<char>(c | kBracketBit);
    masks.quotes |= static_cast<std::uint64_t>(c == '"') << i;
    masks.backslashes |= static_cast<std::uint64_t>(c == '\\') << i;
    masks.opens |= static_cast<std::uint64_t>(bracket == '{') << i;
    masks.closes |= static_cast<std::uint64_t>(bracket == '}') << i;
  }
  return masks;
}
#endif

std::uint64_t prefix_xor(std::uint64_t bits) {
  for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

// State carried from block to block.
struct Carry {
  bool escaped = false;         // the next block's first byte is escaped
  std::uint64_t in_string = 0;  // all ones when the next block starts inside a string
};

// Bytes that a backslash before them escapes.
std::uint64_t escaped_bytes(std::uint64_t backslashes, Carry& carry) {
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
void mask_strings(Masks& masks, Carry& carry) {
  const std::uint64_t escaped =
      masks.backslashes == 0 && !carry.escaped ? 0 : escaped_bytes(masks.backslashes, carry);
  const std::uint64_t in_string = prefix_xor(masks.quotes & ~escaped) ^ carry.in_string;
  carry.in_string = (in_string >> 63) != 0 ? ~std::uint64_t{0} : 0;
  masks.opens &= ~in_string;
  masks.closes &= ~in_string;
}

}  // namespace

ContainerEnd scan_container(std::string_view bytes, std::size_t begin) {
  Carry carry;
  std::size_t open = 0;
  ContainerEnd result;
  for (std::size_t at = begin; at < bytes.size(); at += kBlock) {
    const char* block = bytes.data() + at;
    char last[kBlock];
    if (bytes.size() - at < kBlock) {
      std::memset(last, ' ', kBlock);
      std::memcpy(last, block, bytes.size() - at);
      block = last;
    }
    Masks masks = masks_of(block);
    mask_strings(masks, carry);
    const auto opening = static_cast<std::size_t>(std::popcount(masks.opens));
    const auto closing = static_cast<std::size_t>(std::popcount(masks.closes));
    result.depth = std::max(result.depth, open + opening);
    if (closing < open) {
      open += opening - closing;
      continue;
    }
    for (std::uint64_t left = masks.opens | masks.closes; left != 0; left &= left - 1) {
      if ((masks.opens & left & (~left + 1)) != 0) {
        ++open;
      } else if (--open == 0) {
        result.end = at + static_cast<std::size_t>(std::countr_zero(left)) + 1;
        result.closed = true;
        return result;
      }
    }
  }
  result.end = bytes.size();
  return result;
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
    while (bytes[i - 1 - backslashes] == '\\') ++backslashes;  // the opening quote stops it
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
