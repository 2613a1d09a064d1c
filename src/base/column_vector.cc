// Rooms are mapped, aligned to huge pages, and go back to the system at once.
#include <ridge/column_vector.h>

#include <sys/mman.h>

#include <cstdlib>
#include <limits>
#include <new>

namespace ridge {
namespace {

constexpr std::size_t kRoomPage = ColumnRoom::kLarge;
constexpr std::size_t kRoomUnit = std::size_t{64} << 10;  // the largest of arm64

constexpr std::size_t round_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

// Whole huge pages, where that takes at most an eighth more: no small ones are needed then.
std::size_t mapped_bytes(std::size_t bytes) {
  const std::size_t whole = round_up(bytes, kRoomPage);
  return whole - bytes <= bytes / 8 ? whole : round_up(bytes, kRoomUnit);
}

}  // namespace

ColumnRoom::ColumnRoom(std::size_t bytes) {
  if (bytes > std::numeric_limits<std::size_t>::max() / 4) throw std::bad_alloc();
  size_ = mapped_bytes(bytes);
  void* const mapped = mmap(nullptr, size_ + kRoomPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  // What lies before and behind the aligned part goes back.
  const auto at = reinterpret_cast<std::uintptr_t>(mapped);
  const std::size_t before = round_up(at, kRoomPage) - at;
  auto* const from = static_cast<std::byte*>(mapped);
  begin_ = from + before;
  if (before != 0) munmap(from, before);
  if (before != kRoomPage) munmap(begin_ + size_, kRoomPage - before);
  madvise(begin_, size_, MADV_HUGEPAGE);  // a wish: what it answers does not matter
}

ColumnRoom::~ColumnRoom() { munmap(begin_, size_); }

void* ColumnRoom::take(std::size_t bytes) {
  if (bytes > size_ - taken_) return nullptr;
  void* const taken = begin_ + taken_;
  taken_ = std::min(size_, taken_ + round_up(bytes, kAlignment));
  return taken;
}

void* column_memory(std::size_t bytes, std::shared_ptr<ColumnRoom>* room) {
  if (*room != nullptr) {
    if (void* const taken = (*room)->take(bytes)) return taken;
  }
  if (bytes >= ColumnRoom::kLarge) {
    *room = std::make_shared<ColumnRoom>(bytes);
    return (*room)->take(bytes);
  }
  room->reset();
  void* const memory = std::calloc(bytes, 1);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void free_column_memory(void* memory, const std::shared_ptr<ColumnRoom>& room) noexcept {
  if (room == nullptr) std::free(memory);
}

}  // namespace ridge
