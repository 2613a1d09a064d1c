// WantedWindows of launches are compared by a rolling hash; only those of queued launches are kept.
#include "replay/queued_launches.h"

#include <algorithm>
#include <array>
#include <span>
#include <unordered_map>

#include "base/hash.h"

namespace ridge {
namespace {

constexpr std::array<std::size_t, 4> kNeighbours = {64, 32, 16, 8};
constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15;  // odd: multiplying loses nothing

// The calls that were seen behind one window.
struct WindowCalls {
  std::optional<std::uint32_t> call;
  bool several = false;

  void add(const std::optional<std::uint32_t>& one) {
    several = several || !one || (call && *call != *one);
    if (!call) call = one;
  }
  bool is_one() const { return call.has_value() && !several; }
};

using WantedWindows = std::unordered_map<std::uint64_t, std::optional<WindowCalls>>;  // nothing: wanted, and not seen

// Sums of hashes from the start on, of which the hash of any window is made.
class RollingHash {
 public:
  template <class Items>
  explicit RollingHash(const Items& items) : sums_(1), powers_(1, 1) {
    for (const auto& item : items) {
      sums_.push_back(sums_.back() * kFactor + mix64(item.kernel + 1, kFactor));
      powers_.push_back(powers_.back() * kFactor);
    }
  }
  std::uint64_t of(std::size_t first, std::size_t length) const {
    return sums_[first + length] - sums_[first] * powers_[length];
  }

 private:
  std::vector<std::uint64_t> sums_, powers_;
};

}  // namespace

void QueuedLaunches::add(std::pair<std::int64_t, std::int64_t> stream, std::uint32_t kernel, bool queued,
                         std::optional<std::uint32_t> call) {
  items_.push_back({stream, static_cast<std::uint32_t>(items_.size()), kernel, queued, call});
}

std::vector<std::optional<std::uint32_t>> QueuedLaunches::calls() const {
  std::vector<std::optional<std::uint32_t>> found(items_.size());
  std::vector<Item> sorted = items_;
  std::ranges::stable_sort(sorted, {}, &Item::stream);
  for (std::size_t begin = 0, end = 0; begin < sorted.size(); begin = end) {
    while (end < sorted.size() && sorted[end].stream == sorted[begin].stream) ++end;
    const std::span<const Item> stream(sorted.data() + begin, end - begin);
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < stream.size(); ++i) {
      if (stream[i].queued) open.push_back(i);
    }
    if (open.empty()) continue;
    const RollingHash hash(stream);
    for (const std::size_t length : kNeighbours) {
      // The window that begins with a launch, and the one that ends with it.
      const auto behind = [&](std::size_t i) {
        return i + length <= stream.size() ? std::optional(hash.of(i, length)) : std::nullopt;
      };
      const auto before = [&](std::size_t i) {
        return i + 1 >= length ? std::optional(hash.of(i + 1 - length, length)) : std::nullopt;
      };
      std::array<WantedWindows, 2> windows;
      for (const std::size_t i : open) {
        if (const auto key = behind(i)) windows[0].try_emplace(*key);
        if (const auto key = before(i)) windows[1].try_emplace(*key);
      }
      const auto look = [](WantedWindows* all, const std::optional<std::uint64_t>& key) -> std::optional<WindowCalls>* {
        const auto it = key ? all->find(*key) : all->end();
        return it == all->end() ? nullptr : &it->second;
      };
      for (std::size_t i = 0; i < stream.size(); ++i) {
        if (stream[i].queued) continue;
        for (std::optional<WindowCalls>* seen : {look(&windows[0], behind(i)), look(&windows[1], before(i))}) {
          if (seen == nullptr) continue;
          if (!*seen) seen->emplace();
          (*seen)->add(stream[i].call);
        }
      }
      std::erase_if(open, [&](std::size_t i) {
        const std::optional<WindowCalls>*after = look(&windows[0], behind(i)), *ahead = look(&windows[1], before(i));
        const bool has_after = after != nullptr && *after, has_ahead = ahead != nullptr && *ahead;
        if (!has_after && !has_ahead) return false;
        const bool one_after = has_after && (*after)->is_one(), one_ahead = has_ahead && (*ahead)->is_one();
        const bool differ = one_after && one_ahead && (*after)->call != (*ahead)->call;
        if (!differ && (one_after || one_ahead)) found[stream[i].place] = one_after ? (*after)->call : (*ahead)->call;
        return true;
      });
    }
  }
  std::vector<std::optional<std::uint32_t>> out;
  for (const Item& item : items_) {
    if (item.queued) out.push_back(found[item.place]);
  }
  return out;
}

}  // namespace ridge
