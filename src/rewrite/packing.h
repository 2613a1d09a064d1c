// Packing: how the bytes of an output are compressed. Blocks are packed apart, so that threads can share the work, and written
// one after another: a single gzip member whose blocks end at byte boundaries, or one zstd frame per block.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <ridge/result.h>

namespace ridge {

enum class Packing : std::uint8_t { none, gzip, zstd };

// By the name's ending: .gz, .zst; anything else is plain.
Packing packing_of(std::string_view path);

// Appends one block, packed, to `out`.
Result<void> pack(Packing packing, std::string_view block, std::string* out);

// What stands around the blocks. Feed it the unpacked blocks in order.
class PackingFrame {
 public:
  explicit PackingFrame(Packing packing) : packing_(packing) {}

  std::string head() const;
  void add(std::string_view block);
  std::string tail() const;

 private:
  Packing packing_;
  std::uint32_t crc_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace ridge
