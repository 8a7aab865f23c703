// Seeded random numbers, the same on every machine and compiler.
//
// xoshiro256++ (Blackman & Vigna 2019), seeded by splitmix64. The distributions of <random> are
// left alone because their output differs between standard libraries.
#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>

namespace unmask {

class Rng {
 public:
  // Streams of one seed are independent: Rng(seed, 0), Rng(seed, 1) ...
  explicit Rng(std::uint64_t seed, std::uint64_t stream = 0) {
    std::uint64_t x = seed ^ mix(stream * 0x9e3779b97f4a7c15ULL + 0x632be59bd9b4e019ULL);
    for (std::uint64_t& word : state_) {
      x += 0x9e3779b97f4a7c15ULL;
      word = mix(x);
    }
  }

  // A stream named by a text, so that adding a consumer never moves the others.
  Rng(std::uint64_t seed, std::string_view stream) : Rng(seed, hash(stream)) {}

  std::uint64_t next() {
    const std::uint64_t result = rotate(state_[0] + state_[3], 23) + state_[0];
    const std::uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = rotate(state_[3], 45);
    return result;
  }

  // Uniform in [0, 1), 53 bits.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

  // Uniform in [0, n); n >= 1. Lemire's multiply-and-reject, without bias.
  std::uint32_t below(std::uint32_t n) {
    std::uint64_t m = (next() >> 32) * n;
    auto low = static_cast<std::uint32_t>(m);
    if (low < n) {
      const std::uint32_t threshold = static_cast<std::uint32_t>(-n) % n;
      while (low < threshold) {
        m = (next() >> 32) * n;
        low = static_cast<std::uint32_t>(m);
      }
    }
    return static_cast<std::uint32_t>(m >> 32);
  }

  bool bernoulli(double p) { return uniform() < p; }

  // Standard normal, Marsaglia's polar method.
  double normal() {
    while (true) {
      const double u = 2 * uniform() - 1;
      const double v = 2 * uniform() - 1;
      const double s = u * u + v * v;
      if (s > 0 && s < 1) return u * std::sqrt(-2 * std::log(s) / s);
    }
  }

  static std::uint64_t hash(std::string_view text) {  // FNV-1a, 64 bits
    std::uint64_t h = 0xcbf29ce484222325ULL;
    for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    return h;
  }

 private:
  static std::uint64_t rotate(std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
  static std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  std::uint64_t state_[4];
};

}  // namespace unmask
