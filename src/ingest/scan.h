// Byte searches of the hot path, 16 bytes at a time with the vectors that every x86-64 (SSE2) and arm64 (NEON) has.
// All of them may read up to kPadding bytes past `end`; the owner of the text provides these (their content does not matter).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/hash.h"
#include "ingest/visited.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

namespace ridge {

inline constexpr std::size_t kPadding = 64;

// A set of byte positions within 16 bytes: kBitsPerByte bits for each (1 on x86, 4 on arm64, 8 elsewhere in halves).
#if defined(__SSE2__)

inline constexpr int kBitsPerByte = 1;
using ByteSet = std::uint32_t;

struct Bytes16 {
  __m128i v;
  static Bytes16 load(const char* p) { return {_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))}; }
  ByteSet equal(char c) const { return static_cast<ByteSet>(_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_set1_epi8(c)))); }
  ByteSet equal(Bytes16 other) const { return static_cast<ByteSet>(_mm_movemask_epi8(_mm_cmpeq_epi8(v, other.v))); }
};
inline constexpr ByteSet kAllBytes = 0xFFFF;

#elif defined(__ARM_NEON)

inline constexpr int kBitsPerByte = 4;
using ByteSet = std::uint64_t;

struct Bytes16 {
  uint8x16_t v;
  static Bytes16 load(const char* p) { return {vld1q_u8(reinterpret_cast<const std::uint8_t*>(p))}; }
  static ByteSet set_of(uint8x16_t mask) {
    return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(mask), 4)), 0);
  }
  ByteSet equal(char c) const { return set_of(vceqq_u8(v, vdupq_n_u8(static_cast<std::uint8_t>(c)))); }
  ByteSet equal(Bytes16 other) const { return set_of(vceqq_u8(v, other.v)); }
};
inline constexpr ByteSet kAllBytes = ~std::uint64_t{0};

#else

inline constexpr int kBitsPerByte = 1;
using ByteSet = std::uint32_t;

struct Bytes16 {
  char v[16];
  static Bytes16 load(const char* p) {
    Bytes16 b;
    std::memcpy(b.v, p, 16);
    return b;
  }
  ByteSet equal(char c) const {
    ByteSet set = 0;
    for (int i = 0; i < 16; ++i) set |= static_cast<ByteSet>(v[i] == c) << i;
    return set;
  }
  ByteSet equal(const Bytes16& other) const {
    ByteSet set = 0;
    for (int i = 0; i < 16; ++i) set |= static_cast<ByteSet>(v[i] == other.v[i]) << i;
    return set;
  }
};
inline constexpr ByteSet kAllBytes = 0xFFFF;

#endif

inline int first_byte(ByteSet set) { return std::countr_zero(set) / kBitsPerByte; }

// Whether the `size` bytes at a and b are equal. Reads no further than these.
inline bool equal_bytes(const char* a, const char* b, std::size_t size) {
  if (size >= 16) {
    for (std::size_t i = 0; i + 16 < size; i += 16) {
      if (Bytes16::load(a + i).equal(Bytes16::load(b + i)) != kAllBytes) return false;
    }
    return Bytes16::load(a + size - 16).equal(Bytes16::load(b + size - 16)) == kAllBytes;
  }
  if (size >= 8) return load64(a) == load64(b) && load64(a + size - 8) == load64(b + size - 8);
  if (size >= 4) return load32(a) == load32(b) && load32(a + size - 4) == load32(b + size - 4);
  return size == 0 || (a[0] == b[0] && a[size / 2] == b[size / 2] && a[size - 1] == b[size - 1]);
}

// The first `"` or `\` at or after p; `end` when there is none.
inline const char* find_quote_or_backslash(const char* p, const char* end) {
  const char* const from = p;
  for (; p < end; p += 16) {
    const Bytes16 bytes = Bytes16::load(p);
    const ByteSet hits = bytes.equal('"') | bytes.equal('\\');
    if (hits != 0) {
      const char* hit = p + first_byte(hits);
      return visited(from, hit < end ? hit : end);
    }
  }
  return visited(from, end);
}

// Past the closing quote of a string whose first content byte is at p, backslashes escaping; nullptr when it does not close.
inline const char* skip_string(const char* p, const char* end) {
  for (;;) {
    p = find_quote_or_backslash(p, end);
    if (p >= end) return nullptr;
    if (*p == '"') return p + 1;
    if (end - p < 2) return nullptr;
    p += 2;
  }
}

// Past the list or object that opens at p, counting brackets of both sorts outside strings; nullptr when it does not close.
// Whether it is valid inside is for others to tell.
inline const char* skip_nested(const char* p, const char* end) {
  std::size_t depth = 0;
  while (p < end) {
    const Bytes16 bytes = Bytes16::load(p);
    ByteSet hits = bytes.equal('[') | bytes.equal(']') | bytes.equal('{') | bytes.equal('}') | bytes.equal('"');
    const char* block = p;
    p = visited(p, p + 16);
    while (hits != 0) {
      const char* hit = block + first_byte(hits);
      if (hit >= end) return nullptr;
      if (*hit == '"') {
        p = skip_string(hit + 1, end);
        if (p == nullptr) return nullptr;
        break;
      }
      if (*hit == '[' || *hit == '{') {
        ++depth;
      } else if (--depth == 0) {
        return hit + 1;
      }
      hits &= ~(((ByteSet{1} << kBitsPerByte) - 1) << ((hit - block) * kBitsPerByte));
    }
  }
  return nullptr;
}

inline bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

inline const char* skip_space(const char* p, const char* end) {
  const char* const from = p;
  while (p < end && is_space(*p)) ++p;
  return visited(from, p);
}

}  // namespace ridge
