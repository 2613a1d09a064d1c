// Arena: memory that lives as long as its trace. Chunks grow from 64 KiB to 32 MiB, so that a small trace stays small and a
// large one is backed by huge pages (fresh 4 KiB pages arrive several times slower). Not thread-safe: its owner locks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace ridge {

class Arena {
 public:
  // Uninitialised storage for `count` objects of a trivial type, aligned for it. Valid until the arena is destroyed.
  template <class T>
  T* allocate(std::size_t count) {
    static_assert(std::is_trivially_destructible_v<T>);
    return static_cast<T*>(allocate_bytes(count * sizeof(T), alignof(T)));
  }

  std::uint64_t bytes() const { return bytes_; }  // handed out so far

 private:
  struct Unmap {
    std::size_t size = 0;
    void operator()(std::byte* p) const noexcept;
  };
  using Chunk = std::unique_ptr<std::byte, Unmap>;

  void* allocate_bytes(std::size_t size, std::size_t alignment);
  void add_chunk(std::size_t at_least);

  std::vector<Chunk> chunks_;
  std::byte* next_ = nullptr;
  std::byte* end_ = nullptr;
  std::size_t next_chunk_ = std::size_t{64} << 10;
  std::uint64_t bytes_ = 0;
};

}  // namespace ridge
