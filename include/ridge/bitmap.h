// Bitmap: one bit per row, 64 to a word, the first row in the lowest bit; bits behind the last row are 0. Arrow keeps its masks
// the same way, so that others read them where they lie.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace ridge {

class Bitmap {
 public:
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
    for (; i + kBits <= bytes.size(); i += kBits) {
      std::uint64_t word = 0;
      for (std::size_t bit = 0; bit < kBits; bit += 8) word |= bits_of(bytes.data() + i + bit) << bit;
      words_.push_back(word);
      size_ += kBits;
    }
    for (; i < bytes.size(); ++i) push_back(bytes[i] != 0);
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
  std::uint64_t heap_bytes() const { return words_.capacity() * sizeof(std::uint64_t); }

 private:
  static constexpr std::size_t kBits = 64;

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
