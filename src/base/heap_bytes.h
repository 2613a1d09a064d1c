// heap_bytes: what values hold on the heap: the room of their vectors and texts, and of those inside them. What an allocator
// adds is left out. A type with a heap of its own has an overload in its namespace, or a member of that name.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace ridge {

template <class T>
std::uint64_t heap_bytes(const T& value) {
  if constexpr (requires { value.heap_bytes(); }) {
    return value.heap_bytes();
  } else {
    static_assert(std::is_trivially_copyable_v<T>, "say what it holds");
    return 0;
  }
}

inline std::uint64_t heap_bytes(const std::string& text) {
  return text.capacity() > std::string().capacity() ? text.capacity() + 1 : 0;
}

template <class Allocator>
std::uint64_t heap_bytes(const std::vector<bool, Allocator>& bits) {
  return bits.capacity() / 8;
}

template <class T, class Allocator>
std::uint64_t heap_bytes(const std::vector<T, Allocator>& values) {
  std::uint64_t bytes = values.capacity() * sizeof(T);
  if constexpr (!std::is_trivially_copyable_v<T>) {
    for (const T& value : values) bytes += heap_bytes(value);
  }
  return bytes;
}

template <class First, class Second, class... More>
std::uint64_t heap_bytes(const First& first, const Second& second, const More&... more) {
  return heap_bytes(first) + (heap_bytes(second) + ... + heap_bytes(more));
}

}  // namespace ridge
