// Numbers and texts of a digest as bytes, written and read by the same calls (job/digest_file.h tells how they look).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ridge {

inline std::uint64_t fold_sign(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
inline std::int64_t unfold_sign(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

class DigestWriter {
 public:
  static constexpr bool kReads = false;
  explicit DigestWriter(std::string* out) : out_(*out) {}

  bool good() const { return true; }
  void number(std::uint64_t& value) {
    std::uint64_t rest = value;
    for (; rest >= 0x80; rest >>= 7) out_ += static_cast<char>(rest | 0x80);
    out_ += static_cast<char>(rest);
  }
  void bytes(std::uint32_t& value) {
    for (int i = 0; i < 4; ++i) out_ += static_cast<char>(value >> (8 * i));
  }
  void text(std::string& value) {
    std::uint64_t size = value.size();
    number(size);
    out_ += value;
  }
  template <class Row>
  void count(std::vector<Row>& rows, std::size_t) {
    std::uint64_t size = rows.size();
    number(size);
  }

 private:
  std::string& out_;
};

// After the first thing that is wrong everything is 0, and good() says so.
class DigestReader {
 public:
  static constexpr bool kReads = true;
  explicit DigestReader(std::string_view bytes) : at_(bytes.data()), end_(at_ + bytes.size()) {}

  bool good() const { return good_; }
  bool at_end() const { return at_ == end_; }
  void number(std::uint64_t& value) {
    value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at_ == end_) break;
      const auto byte = static_cast<unsigned char>(*at_++);
      value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return;
    }
    fail_with(&value);
  }
  void bytes(std::uint32_t& value) {
    value = 0;
    if (end_ - at_ < 4) return fail_with(&value);
    for (int i = 0; i < 4; ++i) value |= static_cast<std::uint32_t>(static_cast<unsigned char>(*at_++)) << (8 * i);
  }
  void text(std::string& value) {
    std::uint64_t size = 0;
    number(size);
    if (size > static_cast<std::uint64_t>(end_ - at_)) return fail_with(&size);
    value.assign(at_, static_cast<std::size_t>(size));
    at_ += size;
  }
  // A row takes `least` bytes at least: no count makes more of them than the file can hold.
  template <class Row>
  void count(std::vector<Row>& rows, std::size_t least) {
    std::uint64_t size = 0;
    number(size);
    if (size > static_cast<std::uint64_t>(end_ - at_) / least) return fail_with(&size);
    rows.resize(static_cast<std::size_t>(size));
  }

 private:
  template <class Value>
  void fail_with(Value* value) {
    *value = 0;
    at_ = end_;
    good_ = false;
  }

  const char* at_;
  const char* end_;
  bool good_ = true;
};

}  // namespace ridge
