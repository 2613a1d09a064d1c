// Dictionary: each distinct text once, known by a 32-bit code in order of first arrival. A value: a copy holds texts of its
// own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ridge {

class Dictionary {
 public:
  // The code of a text, which is added where it is new.
  std::uint32_t add(std::string_view text);
  // Valid until the next add().
  std::string_view text(std::uint32_t code) const {
    const std::size_t begin = code == 0 ? 0 : ends_[code - 1];
    return std::string_view(bytes_).substr(begin, ends_[code] - begin);
  }
  std::size_t size() const { return ends_.size(); }
  // All texts, one behind the other in order of their codes, and where each ends; valid until the next add().
  std::string_view bytes() const { return bytes_; }
  std::span<const std::size_t> ends() const { return ends_; }
  std::uint64_t heap_bytes() const;  // what it holds on the heap

 private:
  void grow();
  std::size_t slot_of(std::string_view text) const;

  std::string bytes_;                 // the texts, one behind the other
  std::vector<std::size_t> ends_;     // of each in bytes_
  std::vector<std::uint32_t> slots_;  // open addressing: code + 1, 0 where free; a power of two, at most half full
};

}  // namespace ridge
