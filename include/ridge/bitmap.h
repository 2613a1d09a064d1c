// Bitmap: one bit per row, 64 to a word, the first row in the lowest bit; bits behind the last row are 0. Arrow keeps its masks
// the same way, so that others read them where they lie.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace ridge {

class Bitmap {
 public:
  static constexpr std::size_t kBits = 64;  // of a word

  std::size_t size() const { return size_; }
  bool operator[](std::size_t row) const { return ((words_[row / kBits] >> (row % kBits)) & 1U) != 0; }

  void push_back(bool bit) {
    if (size_ % kBits == 0) words_.push_back(0);
    words_.back() |= std::uint64_t{bit} << (size_ % kBits);
    ++size_;
  }

  // One bit per byte, set where that is not 0.
  void append(std::span<const std::uint8_t> bytes) {
    std::size_t i = 0;
    for (; i < bytes.size() && size_ % kBits != 0; ++i) push_back(bytes[i] != 0);
    if (i == bytes.size()) return;
    const std::size_t word = words_.size();
    append_unset(bytes.size() - i);
    pack(bytes.subspan(i), std::span(words_).subspan(word));
  }

  // Bytes to the bits of words, from the lowest of the first on; what is left of the last is 0.
  static void pack(std::span<const std::uint8_t> bytes, std::span<std::uint64_t> words) {
    for (std::size_t i = 0, to = 0; i < bytes.size(); i += kBits, ++to) {
      const std::size_t count = std::min(kBits, bytes.size() - i);
      std::uint64_t word = 0;
      std::size_t bit = 0;
      for (; bit + 8 <= count; bit += 8) word |= bits_of(bytes.data() + i + bit) << bit;
      for (; bit < count; ++bit) word |= std::uint64_t{bytes[i + bit] != 0} << bit;
      words[to] = word;
    }
  }

  void append_unset(std::size_t rows) {
    size_ += rows;
    words_.resize((size_ + kBits - 1) / kBits);
  }

  void reserve(std::size_t rows) { words_.reserve((rows + kBits - 1) / kBits); }

  // No more than `rows`.
  void truncate(std::size_t rows) {
    if (rows >= size_) return;
    words_.resize((rows + kBits - 1) / kBits);
    if (rows % kBits != 0) words_.back() &= (std::uint64_t{1} << (rows % kBits)) - 1;
    size_ = rows;
  }

  std::size_t set_bits() const {
    std::size_t count = 0;
    for (const std::uint64_t word : words_) count += static_cast<std::size_t>(std::popcount(word));
    return count;
  }

  std::span<const std::uint64_t> words() const { return words_; }
  std::span<std::uint64_t> words_to_write() { return words_; }  // bits behind the last row stay 0
  std::uint64_t heap_bytes() const { return words_.capacity() * sizeof(std::uint64_t); }

 private:
  // Eight bytes to as many bits, the first to the lowest. A product gathers the low bits of all bytes in its highest byte.
  static std::uint64_t bits_of(const std::uint8_t* bytes) {
    static_assert(std::endian::native == std::endian::little);
    std::uint64_t eight = 0;
    std::memcpy(&eight, bytes, sizeof eight);
    constexpr std::uint64_t kLowBits = 0x0101010101010101, kSevenBits = 0x7F7F7F7F7F7F7F7F;
    const std::uint64_t not_zero = ((((eight & kSevenBits) + kSevenBits) | eight) >> 7) & kLowBits;
    return (not_zero * 0x0102040810204080) >> 56;
  }

  std::vector<std::uint64_t> words_;
  std::size_t size_ = 0;
};

}  // namespace ridge
