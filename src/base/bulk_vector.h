// BulkVector: a vector of plain values for millions of rows. resize() leaves new values as they are, so that whoever fills them
// is the first to touch their memory. Huge pages, which help the reader's arena, showed no gain for the model's tables on a
// noisy machine, and are not asked for.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace ridge {

template <class T>
struct BulkAllocator : std::allocator<T> {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

  template <class U>
  struct rebind {
    using other = BulkAllocator<U>;
  };

  template <class U>
  void construct(U*) noexcept {}
  template <class U, class... Arguments>
  void construct(U* at, Arguments&&... arguments) {
    std::construct_at(at, std::forward<Arguments>(arguments)...);
  }
};

template <class T>
using BulkVector = std::vector<T, BulkAllocator<T>>;

}  // namespace ridge
