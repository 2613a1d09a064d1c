// A fast hash for short texts and small keys. Not for adversaries: tables that use it stay correct, only slower, under
// collisions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace ridge {

__extension__ using Uint128 = unsigned __int128;

inline std::uint64_t mix64(std::uint64_t a, std::uint64_t b) {
  const auto product = static_cast<Uint128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

inline std::uint64_t load64(const char* p) {
  std::uint64_t v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

inline std::uint32_t load32(const char* p) {
  std::uint32_t v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

// `seed` makes the hash of one process differ from the next, so that no file can be made to collide on purpose.
inline std::uint64_t hash_text(std::string_view text, std::uint64_t seed = 0) {
  constexpr std::uint64_t k0 = 0x9E3779B97F4A7C15, k1 = 0xD6E8FEB86659FD93;
  const char* p = text.data();
  std::size_t n = text.size();
  std::uint64_t h = (seed ^ k0) + n;
  if (n > 32) {  // two lanes, so that their multiplications overlap
    std::uint64_t g = h ^ k1;
    do {
      h = mix64(load64(p) ^ h, load64(p + 8) ^ k1);
      g = mix64(load64(p + 16) ^ g, load64(p + 24) ^ k0);
      p += 32;
      n -= 32;
    } while (n > 32);
    h ^= g;
  }
  if (n > 16) {
    h = mix64(load64(p) ^ h, load64(p + 8) ^ k1);
    p += 16;
    n -= 16;
  }
  std::uint64_t a = 0, b = 0;
  if (n >= 8) {
    a = load64(p);
    b = load64(p + n - 8);
  } else if (n >= 4) {
    a = load32(p);
    b = load32(p + n - 4);
  } else if (n > 0) {
    a = static_cast<unsigned char>(p[0]) | static_cast<std::uint64_t>(static_cast<unsigned char>(p[n / 2])) << 8 |
        static_cast<std::uint64_t>(static_cast<unsigned char>(p[n - 1])) << 16;
  }
  return mix64(mix64(a ^ h, b ^ k1), k0);
}

}  // namespace ridge
