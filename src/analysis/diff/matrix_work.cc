// Passes over matrix work, each over what the one before left: in order, crossing, then by place behind a matched call.
#include "analysis/diff/matrix_work.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include "base/align.h"

namespace ridge::diff {

using alignment::align;
using alignment::AlignInput;
using alignment::Evidence;
using alignment::pair_by_occurrence;

namespace {

// The kernel that does the matrix work, without its helpers.
const KernelSlot* main_kernel(const CallKind& k) {
  for (const KernelSlot& slot : k.kernels) {
    const Category c = slot.identity->category;
    if (!slot.identity->helper && (c == Category::gemm || c == Category::conv || c == Category::attention)) return &slot;
  }
  return nullptr;
}
std::uint64_t kernel_and_grid(const CallKind& k) {
  const KernelSlot* slot = main_kernel(k);
  return slot == nullptr ? 0 : combine(combine(slot->name, slot->grid), place_key(k));
}

std::vector<std::uint32_t> matrix_work_of(const TypicalIteration& t) {
  std::vector<std::uint32_t> heavy;
  for (std::uint32_t p = 0; p < t.positions.size(); ++p) {
    if (t.kind(p).heavy != Heavy::none) heavy.push_back(p);
  }
  return heavy;
}

int likeness(const CallKind& a, const CallKind& b) {
  if (a.heavy != b.heavy || a.phase != b.phase || a.device != b.device) return 0;
  if (a.sort != kNoKey && b.sort != kNoKey && a.sort != b.sort) return 0;
  if (a.heavy_shape != 0 && b.heavy_shape != 0) return 0;  // known, and they differ
  const KernelSlot *ka = main_kernel(a), *kb = main_kernel(b);
  const bool same_kernel = ka != nullptr && kb != nullptr && ka->name == kb->name;
  if (same_kernel) return ka->grid == kb->grid ? 16 : 8;
  return a.canonical == b.canonical ? 4 : 3;
}

class MatrixMatcher {
 public:
  MatrixMatcher(const TypicalIteration& a, const TypicalIteration& b, bool shapes)
      : a_(a), b_(b), shapes_(shapes), linked_(a, b) {}

  Links run() {
    const std::vector<std::uint32_t> ha = matrix_work_of(a_), hb = matrix_work_of(b_);
    if (ha.empty() || hb.empty()) return {};
    AlignInput input;
    input.levels.resize(2);
    const auto shape_key = [](const CallKind& k) {
      return k.heavy_shape == 0 ? 0 : combine(combine(k.heavy_shape, k.sort), place_key(k));
    };
    const auto exact_key = [&](const CallKind& k) {
      const std::uint64_t shape = shape_key(k), kernel = kernel_and_grid(k);
      return shape == 0 || kernel == 0 ? 0 : combine(shape, kernel);
    };
    for (const std::uint32_t p : ha) {
      input.levels[0].a.push_back(exact_key(a_.kind(p)));
      input.levels[1].a.push_back(shape_key(a_.kind(p)));
    }
    for (const std::uint32_t p : hb) {
      input.levels[0].b.push_back(exact_key(b_.kind(p)));
      input.levels[1].b.push_back(shape_key(b_.kind(p)));
    }
    input.score = [&](std::uint32_t i, std::uint32_t j) { return likeness(a_.kind(ha[i]), b_.kind(hb[j])); };
    for (const auto& [i, j] : align(input)) link(ha[i], hb[j]);
    // A compiler may swap the two products of a backward: what crosses pairs with the nearest of its kind.
    match_crossing(ha, hb, exact_key);
    match_crossing(ha, hb, shape_key);
    match_crossing(ha, hb, kernel_and_grid);
    // Where a side has no shapes, nothing but the sort is left to go by.
    if (!shapes_)
      match_crossing(ha, hb, [](const CallKind& k) { return k.sort != kNoKey ? combine(k.sort, place_key(k)) : 0; });
    match_by_place(ha, hb);
    return std::move(links_);
  }

 private:
  void link(std::uint32_t i, std::uint32_t j) {
    links_.push_back({i, j, evidence_of_pair(a_.kind(i), b_.kind(j))});
    linked_.add(links_.back());
  }

  // Shapes that differ (padded to a tile, a cache of another length) leave the place: behind the same matched call, of the same
  // sort, in order.
  void match_by_place(const std::vector<std::uint32_t>& ha, const std::vector<std::uint32_t>& hb) {
    std::vector<std::uint32_t> partner(b_.positions.size());
    for (const Link& l : links_) partner[l.b] = l.a;
    Evidence places;
    std::vector<std::uint32_t> left_a, left_b;
    const auto place = [](const CallKind& k, std::uint64_t before) {
      return k.sort == kNoKey ? 0 : combine(combine(k.sort, place_key(k)), before);
    };
    places.a.resize(a_.positions.size());
    places.b.resize(b_.positions.size());
    std::uint64_t before = 0;
    for (const std::uint32_t p : ha) {
      if (linked_.a[p] != 0) {
        before = p + 1;
        continue;
      }
      places.a[p] = place(a_.kind(p), before);
      left_a.push_back(p);
    }
    before = 0;
    for (const std::uint32_t p : hb) {
      if (linked_.b[p] != 0) {
        before = partner[p] + 1;
        continue;
      }
      places.b[p] = place(b_.kind(p), before);
      left_b.push_back(p);
    }
    for (const auto& [i, j] : pair_by_occurrence(left_a, left_b, places)) link(i, j);
  }

  template <class KeyFunction>
  void match_crossing(const std::vector<std::uint32_t>& ha, const std::vector<std::uint32_t>& hb, KeyFunction key) {
    std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> free;  // indexes into hb
    for (std::uint32_t j = 0; j < hb.size(); ++j) {
      const std::uint64_t k = linked_.b[hb[j]] != 0 ? 0 : key(b_.kind(hb[j]));
      if (k != 0) free[k].push_back(j);
    }
    if (free.empty()) return;
    const double scale = static_cast<double>(hb.size()) / static_cast<double>(ha.size());
    for (std::uint32_t i = 0; i < ha.size(); ++i) {
      const std::uint64_t k = linked_.a[ha[i]] != 0 ? 0 : key(a_.kind(ha[i]));
      const auto it = k == 0 ? free.end() : free.find(k);
      if (it == free.end() || it->second.empty()) continue;
      const double wanted = scale * static_cast<double>(i);
      const auto nearest = std::min_element(it->second.begin(), it->second.end(), [&](std::uint32_t x, std::uint32_t y) {
        return std::abs(static_cast<double>(x) - wanted) < std::abs(static_cast<double>(y) - wanted);
      });
      link(ha[i], hb[*nearest]);
      it->second.erase(nearest);
    }
  }

  const TypicalIteration& a_;
  const TypicalIteration& b_;
  bool shapes_;
  Linked linked_;
  Links links_;
};

}  // namespace

std::uint64_t place_key(const CallKind& k) {
  return combine(static_cast<std::uint64_t>(k.phase) << 8 | static_cast<std::uint64_t>(k.heavy),
                 static_cast<std::uint64_t>(k.device));
}

Links match_matrix_work(const TypicalIteration& a, const TypicalIteration& b, bool shapes) {
  return MatrixMatcher(a, b, shapes).run();
}

}  // namespace ridge::diff
