// GrowArray: a growable array of trivial values whose growth leaves new room uninitialised. For columns that are filled in
// bulk. It grows by realloc, which moves a large one by its page table and copies nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace ridge {

template <class T>
class GrowArray {
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= alignof(std::max_align_t));

 public:
  std::size_t size() const { return size_; }
  std::size_t room() const { return capacity_ - size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  const T& operator[](std::size_t i) const { return data()[i]; }
  T& operator[](std::size_t i) { return data()[i]; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& back() { return data()[size_ - 1]; }

  // Room for `extra` more values behind the last; their content is not defined until written and counted by set_size.
  void reserve_more(std::size_t extra) {
    if (capacity_ - size_ >= extra) return;
    const std::size_t capacity = std::max(size_ + extra, capacity_ * 2);
    if (capacity > static_cast<std::size_t>(PTRDIFF_MAX) / sizeof(T)) throw std::bad_alloc();
    void* grown = std::realloc(static_cast<void*>(data_.get()), capacity * sizeof(T));
    if (grown == nullptr) throw std::bad_alloc();
    static_cast<void>(data_.release());  // realloc has freed it
    data_.reset(static_cast<T*>(grown));
    capacity_ = capacity;
  }
  void push_back(T value) {
    reserve_more(1);
    push_reserved(value);
  }
  void push_reserved(T value) { data()[size_++] = value; }  // room was reserved
  void set_size(std::size_t size) { size_ = size; }
  void clear() { size_ = 0; }
  // Nothing more will come: the spare room goes back to the allocator.
  void fit() {
    if (capacity_ == size_ || size_ == 0) return;
    void* fitted = std::realloc(static_cast<void*>(data_.get()), size_ * sizeof(T));
    if (fitted == nullptr) return;  // it stays where it is
    static_cast<void>(data_.release());
    data_.reset(static_cast<T*>(fitted));
    capacity_ = size_;
  }

 private:
  struct Free {
    void operator()(T* p) const noexcept { std::free(p); }
  };

  std::unique_ptr<T, Free> data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace ridge
