// GrowArray: a growable array of trivial values whose growth leaves new room uninitialised. For scratch columns that are filled in bulk.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <type_traits>

namespace ridge {

template <class T>
class GrowArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  std::size_t size() const { return size_; }
  std::size_t room() const { return capacity_ - size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& back() { return data_[size_ - 1]; }

  // Room for `extra` more values behind the last; their content is not defined until written and counted by set_size.
  void reserve_more(std::size_t extra) {
    if (capacity_ - size_ >= extra) return;
    const std::size_t capacity = std::max(size_ + extra, capacity_ * 2);
    auto grown = std::make_unique_for_overwrite<T[]>(capacity);
    if (size_ != 0) std::memcpy(static_cast<void*>(grown.get()), data(), size_ * sizeof(T));
    data_ = std::move(grown);
    capacity_ = capacity;
  }
  void push_back(T value) {
    reserve_more(1);
    data_[size_++] = value;
  }
  void push_reserved(T value) { data_[size_++] = value; }  // room was reserved
  void set_size(std::size_t size) { size_ = size; }
  void clear() { size_ = 0; }

 private:
  std::unique_ptr<T[]> data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace ridge
