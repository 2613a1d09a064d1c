// Sixteen bytes at a time, following quotes and depth; gives up at the first backslash.
#include "rewrite/args_end.h"

#include <cstring>

#include "ingest/scan.h"

namespace ridge {
namespace {

constexpr char kKey[] = "\"args\"";
constexpr std::ptrdiff_t kKeySize = sizeof kKey - 1;

// The bytes behind an odd number of quotes, an opening one included: each is the sum of all before it, by doubling.
ByteSet between_quotes(ByteSet quotes) {
  for (int shift = kBitsPerByte; shift < 16 * kBitsPerByte; shift *= 2) quotes ^= quotes << shift;
  return quotes & kAllBytes;
}

const char* back_over_space(const char* p, const char* begin) {
  while (p > begin && is_space(p[-1])) --p;
  return p;
}

// Whether the value at p is that of "args". No quote before it is escaped.
bool follows_args_key(const char* p, const char* begin) {
  p = back_over_space(p, begin);
  if (p == begin || p[-1] != ':') return false;
  p = back_over_space(p - 1, begin);
  return p - begin >= kKeySize && std::memcmp(p - kKeySize, kKey, kKeySize) == 0;
}

// `open` and `close`: the braces of the event's last object or list, `end` at the event's own.
ArgsEnd end_of_args(const char* begin, const char* open, const char* close, const char* end) {
  if (open == nullptr || *open != '{' || skip_space(close + 1, end) != end || !follows_args_key(open, begin)) return {};
  const char* last = back_over_space(close, open + 1);
  return {last == open + 1 ? open + 1 : last, last == open + 1};
}

}  // namespace

ArgsEnd find_args_end(const char* p, const char* end) {
  const char* const begin = p;
  const char* open = nullptr;   // of the last value of the event that has brackets: the one
  const char* close = nullptr;  // and the other
  int depth = 0;
  ByteSet in_string = 0;  // all bytes or none: whether the block before ended inside a string
  for (; p < end; p += 16) {
    const Bytes16 bytes = Bytes16::load(p);
    if (bytes.equal('\\') != 0) return {};
    const ByteSet inside = between_quotes(bytes.equal('"')) ^ in_string;
    in_string = inside >> (15 * kBitsPerByte) != 0 ? kAllBytes : 0;
    ByteSet hits = (bytes.equal('{') | bytes.equal('}') | bytes.equal('[') | bytes.equal(']')) & ~inside;
    while (hits != 0) {
      const int byte = first_byte(hits);
      const char* hit = p + byte;
      if (*hit == '{' || *hit == '[') {
        if (++depth == 2) open = hit;
      } else if (--depth == 1) {
        close = hit;
      } else if (depth == 0) {
        return hit < end ? end_of_args(begin, open, close, hit) : ArgsEnd{};
      }
      hits &= ~(((ByteSet{1} << kBitsPerByte) - 1) << (byte * kBitsPerByte));
    }
  }
  return {};
}

}  // namespace ridge
