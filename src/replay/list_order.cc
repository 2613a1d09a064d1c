// Exchanges two tensors at a time, each time those that bring the launches nearest to the trace's.
#include "replay/list_order.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <utility>

namespace ridge {
namespace {

constexpr double kChunk = 65536;                                       // elements
constexpr std::int64_t kMostBlocks = 320;                              // of a launch
constexpr std::array<int, 5> kTensorsByLists = {110, 64, 48, 36, 30};  // by how many lists go side by side
constexpr std::size_t kMostOrdered = 200, kMostLaunches = 128;         // all pairs are tried, each over all launches
constexpr int kMostExchanges = 8;

std::int64_t blocks_apart(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  std::int64_t out = 0;
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i)
    out += std::abs((i < a.size() ? a[i] : 0) - (i < b.size() ? b[i] : 0));
  return out;
}

class TensorOrdering {
 public:
  TensorOrdering(const std::vector<double>& sizes, const std::vector<std::int64_t>& blocks, int most)
      : blocks_(blocks), most_(most), places_(sizes.size()) {
    std::iota(places_.begin(), places_.end(), std::size_t{0});
    for (const double size : sizes) chunks_.push_back(static_cast<std::int64_t>(chunks_of(size)));
  }

  // Whether an order was found that gives these launches.
  bool find() {
    std::int64_t best = off();
    for (int i = 0; i < kMostExchanges && best > 0; ++i) {
      const std::int64_t before = best;
      best = exchange(best);
      if (best == before) return false;
    }
    return best == 0;
  }
  const std::vector<std::size_t>& places() const { return places_; }

 private:
  std::int64_t off() const { return blocks_apart(launches_over(chunks_, most_), blocks_); }

  void swap(std::size_t i, std::size_t j) {
    std::swap(chunks_[i], chunks_[j]);
    std::swap(places_[i], places_[j]);
  }

  // The best of all exchanges, made; how far off it leaves the launches.
  std::int64_t exchange(std::int64_t best) {
    std::pair<std::size_t, std::size_t> chosen = {0, 0};
    for (std::size_t i = 0; i < chunks_.size(); ++i) {
      for (std::size_t j = i + 1; j < chunks_.size(); ++j) {
        if (chunks_[i] == chunks_[j]) continue;
        swap(i, j);
        if (const std::int64_t now = off(); now < best) best = now, chosen = {i, j};
        swap(i, j);
      }
    }
    swap(chosen.first, chosen.second);
    return best;
  }

  const std::vector<std::int64_t>& blocks_;
  int most_;
  std::vector<std::size_t> places_;  // where each stood before
  std::vector<std::int64_t> chunks_;
};

}  // namespace

double chunks_of(double elements) { return std::max(1.0, std::ceil(elements / kChunk)); }

int most_tensors(std::string_view kernel) {
  constexpr std::string_view kLists = "FusedOptimizerTensorListMetadata<";
  const std::size_t at = kernel.find(kLists);
  if (at == std::string_view::npos) return 0;
  int lists = 0;
  const char* begin = kernel.data() + at + kLists.size();
  const auto [end, error] = std::from_chars(begin, kernel.data() + kernel.size(), lists);
  if (error != std::errc() || lists < 1 || lists > static_cast<int>(kTensorsByLists.size())) return 0;
  return kTensorsByLists[static_cast<std::size_t>(lists) - 1];
}

std::vector<std::int64_t> launches_over(const std::vector<std::int64_t>& chunks, int most_tensors) {
  std::vector<std::int64_t> out;
  std::int64_t blocks = 0;
  int tensors = 0;
  for (std::int64_t left : chunks) {
    ++tensors;
    while (left > 0) {
      const std::int64_t taken = std::min(left, kMostBlocks - blocks);
      blocks += taken;
      left -= taken;
      if (blocks < kMostBlocks && (left > 0 || tensors < most_tensors)) continue;
      out.push_back(blocks);
      blocks = 0;
      tensors = left > 0 ? 1 : 0;  // what is left of it begins the next launch
    }
  }
  if (blocks > 0) out.push_back(blocks);
  return out;
}

std::vector<double> order_for(std::vector<double> sizes, const std::vector<std::int64_t>& blocks, int most_tensors) {
  double chunks = 0;
  for (const double size : sizes) chunks += chunks_of(size);
  const bool few = sizes.size() <= kMostOrdered && blocks.size() <= kMostLaunches;
  if (most_tensors <= 0 || !few || chunks > static_cast<double>(kMostLaunches * kMostBlocks)) return sizes;
  TensorOrdering ordering(sizes, blocks, most_tensors);
  if (!ordering.find()) return sizes;
  std::vector<double> out;
  for (const std::size_t place : ordering.places()) out.push_back(sizes[place]);
  return out;
}

}  // namespace ridge
