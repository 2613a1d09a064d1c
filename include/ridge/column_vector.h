// ColumnVector: the values of a column, one behind the other, in memory that is 0 before it is written: a column of which
// nothing is known takes none. Columns of one table lie in one ColumnRoom where they are large, on huge pages: a first touch of
// a small page costs more than filling it, above all in a virtual machine.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace ridge {

// Memory that is 0, given out piece by piece and never taken back: it goes when the last goes that holds the room.
class ColumnRoom {
 public:
  static constexpr std::size_t kLarge = std::size_t{2} << 20;  // a huge page; nobody needs a room for less

  explicit ColumnRoom(std::size_t bytes);  // throws std::bad_alloc
  ColumnRoom(const ColumnRoom&) = delete;
  ColumnRoom& operator=(const ColumnRoom&) = delete;
  ~ColumnRoom();

  // At a multiple of kAlignment; null where not so much is left.
  void* take(std::size_t bytes);
  static constexpr std::size_t kAlignment = 64;

 private:
  std::byte* begin_;
  std::size_t size_, taken_ = 0;
};

// Memory that is 0: of the room, where that has so much; else of one of its own, which `room` then is, or of the heap, and
// `room` is none.
void* column_memory(std::size_t bytes, std::shared_ptr<ColumnRoom>* room);  // throws std::bad_alloc
void free_column_memory(void* memory, const std::shared_ptr<ColumnRoom>& room) noexcept;

template <class T>
class ColumnVector {
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= ColumnRoom::kAlignment);

 public:
  ColumnVector() = default;
  ColumnVector(const ColumnVector& other) { append({other.data_, other.size_}); }
  ColumnVector(ColumnVector&& other) noexcept { swap(other); }
  ColumnVector& operator=(ColumnVector other) noexcept {
    swap(other);
    return *this;
  }
  ~ColumnVector() { free_column_memory(data_, room_); }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T* data() const { return data_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  std::uint64_t heap_bytes() const { return capacity_ * sizeof(T); }
  bool operator==(std::span<const T> other) const { return std::ranges::equal(*this, other); }

  void push_back(T value) {
    if (size_ == capacity_) grow(size_ + 1);
    data_[size_++] = value;
    written_ = std::max(written_, size_);
  }

  void append(std::span<const T> values) {
    if (values.empty()) return;
    if (values.size() > capacity_ - size_) grow(size_ + values.size());
    std::memcpy(data_ + size_, values.data(), values.size() * sizeof(T));
    size_ += values.size();
    written_ = std::max(written_, size_);
  }

  // Without a touch of memory that was never written.
  void append_zeros(std::size_t count) {
    if (count > capacity_ - size_) grow(size_ + count);
    if (written_ > size_) std::memset(data_ + size_, 0, std::min(count, written_ - size_) * sizeof(T));
    size_ += count;
  }

  // `room`: where it may lie; then `room` has less left.
  void reserve(std::size_t count, std::shared_ptr<ColumnRoom> room = nullptr) {
    if (count <= capacity_) return;
    void* const memory = column_memory(count * sizeof(T), &room);
    if (size_ != 0) std::memcpy(memory, data_, size_ * sizeof(T));
    free_column_memory(data_, room_);
    data_ = static_cast<T*>(memory);
    room_ = std::move(room);
    capacity_ = count;
    written_ = size_;
  }

  // All of them, to be written.
  std::span<T> to_write() {
    written_ = std::max(written_, size_);
    return {data_, size_};
  }

  // No more than `count`.
  void truncate(std::size_t count) { size_ = std::min(size_, count); }

 private:
  void grow(std::size_t least) { reserve(std::max({least, 2 * capacity_, std::size_t{8}})); }
  void swap(ColumnVector& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    std::swap(written_, other.written_);
    room_.swap(other.room_);
  }

  T* data_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
  std::size_t written_ = 0;           // behind it everything is 0
  std::shared_ptr<ColumnRoom> room_;  // where it lies; none: on the heap
};

}  // namespace ridge
