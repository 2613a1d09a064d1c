// Alignment, and allocations that do not overlap.
#include "base/arena.h"

#include <cstring>

#include <gtest/gtest.h>

namespace ridge {
namespace {

TEST(Arena, AlignedAndApart) {
  Arena arena;
  std::vector<std::pair<char*, std::size_t>> given;
  std::size_t sum = 0;
  for (std::size_t i = 1; i < 2000; ++i) {
    char* bytes = arena.allocate<char>(i);
    std::memset(bytes, static_cast<int>(i & 0x7F), i);
    given.emplace_back(bytes, i);
    auto* number = arena.allocate<std::uint64_t>(1);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(number) % alignof(std::uint64_t), 0U);
    *number = UINT64_MAX;
    sum += i + sizeof(std::uint64_t);
  }
  EXPECT_EQ(arena.bytes(), sum);
  for (const auto& [bytes, size] : given) {
    EXPECT_EQ(bytes[0], static_cast<char>(size & 0x7F));
    EXPECT_EQ(bytes[size - 1], static_cast<char>(size & 0x7F));
  }
}

TEST(Arena, LargerThanAChunk) {
  Arena arena;
  char* large = arena.allocate<char>(std::size_t{40} << 20);
  large[0] = large[(std::size_t{40} << 20) - 1] = 'x';
  EXPECT_NE(arena.allocate<char>(0), nullptr);
}

}  // namespace
}  // namespace ridge
