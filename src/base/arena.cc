// Anonymous mmap; chunks of 4 MiB and more ask for huge pages.
#include "base/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace ridge {
namespace {

constexpr std::size_t kLargestChunk = std::size_t{32} << 20;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

}  // namespace

void Arena::Unmap::operator()(std::byte* p) const noexcept { munmap(p, size); }

void Arena::add_chunk(std::size_t at_least) {
  std::size_t size = std::max(next_chunk_, at_least);
  size = (size + 4095) / 4096 * 4096;
  void* p = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) throw std::bad_alloc();
  if (size >= 2 * kHugePage) madvise(p, size, MADV_HUGEPAGE);
  chunks_.emplace_back(static_cast<std::byte*>(p), Unmap{size});
  next_ = static_cast<std::byte*>(p);
  end_ = next_ + size;
  next_chunk_ = std::min(next_chunk_ * 8, kLargestChunk);
}

void* Arena::allocate_bytes(std::size_t size, std::size_t alignment) {
  auto align = [&] {
    const auto address = reinterpret_cast<std::uintptr_t>(next_);
    return next_ + ((address + alignment - 1) / alignment * alignment - address);
  };
  if (next_ == nullptr || align() > end_ || static_cast<std::size_t>(end_ - align()) < size) add_chunk(size + alignment);
  std::byte* p = align();
  next_ = p + size;
  bytes_ += size;
  return p;
}

}  // namespace ridge
