// Eager ops against generated kernels. Matrix work is called in both modes and is aligned first; it divides a phase into gaps.
// An eager op then belongs to the nearest kernel, a few gaps away at most, that fuses an op of its name, one of the same shape
// rather than another. Generated kernels that name no op of their own lay data out for matrix work and belong to it. Links that
// share a position make one group.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "analysis/diff/match.h"
#include "analysis/diff/matrix_work.h"
#include "base/align.h"

namespace ridge::diff {

using alignment::Evidence;
using alignment::pair_by_occurrence;

namespace {

constexpr std::int32_t kMostGaps = 3;
constexpr std::size_t kMostKernels = 1024;  // that are searched for a fitting shape

class FusedMatcher {
 public:
  FusedMatcher(const TypicalIteration& eager, const TypicalIteration& compiled)
      : a_(eager), b_(compiled), shapes_(common_evidence(eager, compiled).shapes), linked_(eager, compiled) {}

  Links run() {
    for (const Link& l : match_matrix_work(a_, b_, shapes_)) link(l.a, l.b, l.match);
    place_in_gaps();
    match_unfused();
    match_single_kernels();
    link_ops_to_kernels();
    link_kernels_back();
    link_recomputed();
    attach_layout_kernels();
    attach_loose_ends();
    return std::move(links_);
  }

 private:
  void link(std::uint32_t a, std::uint32_t b, Match match) {
    links_.push_back({a, b, match});
    linked_.add(links_.back());
  }

  // ---- gaps between matrix work
  // -------------------------------------------------------------------------------------------------

  // How many linked heavy calls of `a` stand before each position; on the other side, the number of the partner. A sixteenth
  // tells places within a gap apart.
  void place_in_gaps() {
    std::vector<std::int32_t> partner(b_.positions.size(), -1);
    std::vector<std::int32_t> rank(a_.positions.size(), -1);
    std::vector<std::uint32_t> heavy;
    for (const Link& l : links_) heavy.push_back(l.a);
    std::sort(heavy.begin(), heavy.end());
    for (std::size_t i = 0; i < heavy.size(); ++i) rank[heavy[i]] = static_cast<std::int32_t>(i + 1);
    for (const Link& l : links_) partner[l.b] = rank[l.a];
    gap_a_ = gaps(a_, rank);
    gap_b_ = gaps(b_, partner);
  }

  static std::vector<std::int32_t> gaps(const TypicalIteration& t, const std::vector<std::int32_t>& rank) {
    std::vector<std::int32_t> gap(t.positions.size());
    std::int32_t last = 0;
    for (std::size_t p = 0; p < gap.size(); ++p) {
      if (rank[p] >= 0) last = rank[p];
      gap[p] = last;
    }
    return gap;
  }

  // ---- ops that stay ops
  // --------------------------------------------------------------------------------------------------------

  void pair_leftovers(std::uint64_t (*key_a)(const CallKind&), std::uint64_t (*key_b)(const CallKind&), Match match) {
    Evidence evidence;
    std::vector<std::uint32_t> left_a, left_b;
    for (std::uint32_t p = 0; p < a_.positions.size(); ++p) {
      evidence.a.push_back(linked_.a[p] != 0 ? 0 : key_a(a_.kind(p)));
      left_a.push_back(p);
    }
    for (std::uint32_t p = 0; p < b_.positions.size(); ++p) {
      evidence.b.push_back(linked_.b[p] != 0 ? 0 : key_b(b_.kind(p)));
      left_b.push_back(p);
    }
    for (const auto& [i, j] : pair_by_occurrence(left_a, left_b, evidence))
      link(i, j, match == Match::call ? evidence_of_pair(a_.kind(i), b_.kind(j)) : match);
  }

  // Gradients that accumulate, the loss, the optimizer: the same op on both sides, anywhere in the phase.
  void match_unfused() {
    const auto exact = [](const CallKind& k) {
      if (k.generated || k.canonical == kNoKey || k.heavy != Heavy::none || k.dims == kNoKey) return std::uint64_t{0};
      return combine(combine(k.canonical, k.dims), place_key(k));
    };
    const auto by_name = [](const CallKind& k) {
      if (k.generated || k.canonical == kNoKey || k.heavy != Heavy::none) return std::uint64_t{0};
      return combine(combine(k.canonical, k.kernel_names), place_key(k));
    };
    pair_leftovers(exact, exact, Match::call);
    pair_leftovers(by_name, by_name, Match::call);
    if (shapes_) return;
    const auto by_op = [](const CallKind& k) {
      if (k.generated || k.canonical == kNoKey || k.heavy != Heavy::none) return std::uint64_t{0};
      return combine(k.op, place_key(k));
    };
    pair_leftovers(by_op, by_op, Match::call);
  }

  // A generated kernel that fuses one op is that op: by its largest tensor, then by the number of elements.
  void match_single_kernels() {
    const auto op_dims = [](const CallKind& k) { return single_op_key(k, k.shapes.largest); };
    const auto op_numel = [](const CallKind& k) { return single_op_key(k, k.shapes.numel); };
    const auto kernel_dims = [](const CallKind& k) { return single_kernel_key(k, k.shapes.largest); };
    const auto kernel_numel = [](const CallKind& k) { return single_kernel_key(k, k.shapes.numel); };
    pair_leftovers(op_dims, kernel_dims, Match::shape);
    pair_leftovers(op_numel, kernel_numel, Match::shape);
  }
  static std::uint64_t single_op_key(const CallKind& k, std::uint64_t shape) {
    return k.generated || k.canonical == kNoKey || k.heavy != Heavy::none || shape == 0
               ? 0
               : combine(combine(k.canonical, shape), place_key(k));
  }
  static std::uint64_t single_kernel_key(const CallKind& k, std::uint64_t shape) {
    return !k.generated || k.fused.size() != 1 || shape == 0 ? 0 : combine(combine(k.fused[0], shape), place_key(k));
  }

  // ---- fusion
  // -------------------------------------------------------------------------------------------------------------------

  struct Entry {
    std::int32_t gap;
    std::uint32_t position;
  };
  using Index = std::unordered_map<std::uint64_t, std::vector<Entry>>;  // by phase and canonical name, in order of gap

  static std::uint64_t index_key(const CallKind& k, Key canonical) {
    return combine(canonical, static_cast<std::uint64_t>(k.phase) << 32 | static_cast<std::uint64_t>(k.device));
  }

  static void in_order(Index& index) {
    for (auto& [key, entries] : index) {
      std::stable_sort(entries.begin(), entries.end(), [](const Entry& x, const Entry& y) { return x.gap < y.gap; });
    }
  }

  // 0: the op's tensor is among the kernel's; 1: one of as many elements is, or nothing is known; 2: neither.
  static int shape_distance(const CallKind& op, const CallKind& kernel) {
    if (op.dims == kNoKey || kernel.dims == kNoKey) return 1;
    if (op.shapes.numel == 0) return kernel.shapes.numel == 0 ? 0 : 2;  // a scalar
    if (kernel.shapes.holds_dims(op.shapes.largest)) return 0;
    return kernel.shapes.holds_numel(op.shapes.numel) ? 1 : 2;
  }

  // The best entry within reach: shape first, then the fewest gaps.
  template <class ShapeDistance>
  static const Entry* nearest(const std::vector<Entry>& entries, std::int32_t gap, std::int32_t reach, ShapeDistance distance) {
    const Entry* best = nullptr;
    std::int64_t best_cost = INT64_MAX;
    auto it =
        std::lower_bound(entries.begin(), entries.end(), gap - reach, [](const Entry& e, std::int32_t g) { return e.gap < g; });
    for (; it != entries.end() && it->gap <= gap + reach; ++it) {
      const std::int64_t gaps = std::abs(std::int64_t{it->gap} - gap);
      const std::int64_t cost = distance(it->position) * 2 + gaps * 3;
      if (cost < best_cost) {
        best_cost = cost;
        best = &*it;
      }
    }
    return best;
  }

  // The nearest of equal shape, however far.
  template <class ShapeDistance>
  static const Entry* nearest_fitting(const std::vector<Entry>& entries, std::int32_t gap, ShapeDistance distance) {
    const Entry* best = nullptr;
    for (const Entry& entry : entries) {
      if (distance(entry.position) != 0) continue;
      if (best == nullptr || std::abs(std::int64_t{entry.gap} - gap) < std::abs(std::int64_t{best->gap} - gap)) best = &entry;
    }
    return best;
  }

  Index kernels_by_op() const {
    Index index;
    for (std::uint32_t p = 0; p < b_.positions.size(); ++p) {
      const CallKind& k = b_.kind(p);
      if (!k.generated) continue;
      for (const Key op : k.fused) index[index_key(k, op)].push_back({gap_b_[p], p});
    }
    in_order(index);
    return index;
  }

  void link_ops_to_kernels() {
    const Index kernels = kernels_by_op();
    std::vector<Link> found;
    for (std::uint32_t p = 0; p < a_.positions.size(); ++p) {
      const CallKind& k = a_.kind(p);
      if (linked_.a[p] != 0 || k.canonical == kNoKey || k.heavy != Heavy::none) continue;
      const auto it = kernels.find(index_key(k, k.canonical));
      if (it == kernels.end()) continue;
      const auto distance = [&](std::uint32_t j) { return shape_distance(k, b_.kind(j)); };
      const Entry* best = nearest(it->second, gap_a_[p], kMostGaps, distance);
      // A compiler moves work that nothing waits for: the right shape farther away is better than a wrong one nearby.
      if (best == nullptr || distance(best->position) == 2) {
        const Entry* fitting = it->second.size() <= kMostKernels ? nearest_fitting(it->second, gap_a_[p], distance) : nullptr;
        if (fitting != nullptr) best = fitting;
      }
      if (best == nullptr) best = closest(it->second, gap_a_[p]);
      if (best != nullptr) found.push_back({p, best->position, Match::fused});
    }
    for (const Link& l : found) link(l.a, l.b, l.match);
  }

  void link_kernels_back() {
    Index ops;
    for (std::uint32_t p = 0; p < a_.positions.size(); ++p) {
      const CallKind& k = a_.kind(p);
      if (k.canonical != kNoKey && k.heavy == Heavy::none) ops[index_key(k, k.canonical)].push_back({gap_a_[p], p});
    }
    in_order(ops);
    constexpr std::int32_t kAnywhere = 1 << 29;
    for (const std::int32_t reach : {kMostGaps, kAnywhere}) {
      for (std::uint32_t p = 0; p < b_.positions.size(); ++p) {
        const CallKind& k = b_.kind(p);
        if (linked_.b[p] != 0 || !k.generated) continue;
        const Entry* best = nullptr;
        std::int64_t best_gaps = INT64_MAX;
        for (const Key op : k.fused) {
          const auto it = ops.find(index_key(k, op));
          if (it == ops.end()) continue;
          const auto distance = [&](std::uint32_t i) { return shape_distance(a_.kind(i), k); };
          const Entry* entry =
              reach == kAnywhere ? closest(it->second, gap_b_[p]) : nearest(it->second, gap_b_[p], reach, distance);
          if (entry == nullptr || std::abs(std::int64_t{entry->gap} - gap_b_[p]) >= best_gaps) continue;
          best_gaps = std::abs(std::int64_t{entry->gap} - gap_b_[p]);
          best = entry;
        }
        if (best != nullptr) link(best->position, p, Match::fused);
      }
    }
  }

  // A compiler may compute part of the forward pass again in the backward pass instead of keeping it: such a kernel names ops
  // of the forward pass alone. It belongs to the last of them that has its shape.
  void link_recomputed() {
    if (!shapes_) return;
    Index ops;
    for (std::uint32_t p = 0; p < a_.positions.size(); ++p) {
      const CallKind& k = a_.kind(p);
      const bool forward = k.phase == Phase::forward && k.canonical != kNoKey && k.heavy == Heavy::none;
      if (forward) ops[recomputed_key(k, k.canonical)].push_back({gap_a_[p], p});
    }
    for (std::uint32_t p = 0; p < b_.positions.size(); ++p) {
      const CallKind& k = b_.kind(p);
      if (linked_.b[p] != 0 || !k.generated || k.phase != Phase::backward) continue;
      const auto distance = [&](std::uint32_t i) { return shape_distance(a_.kind(i), k); };
      for (const Key op : k.fused) {
        const auto it = ops.find(recomputed_key(k, op));
        if (it == ops.end() || it->second.size() > kMostKernels) continue;
        const Entry* entry = nearest_fitting(it->second, gap_b_[p], distance);
        if (entry == nullptr) continue;
        link(entry->position, p, Match::fused);
        break;
      }
    }
  }
  static std::uint64_t recomputed_key(const CallKind& k, Key canonical) {
    return combine(canonical, static_cast<std::uint64_t>(k.device));
  }

  static const Entry* closest(const std::vector<Entry>& entries, std::int32_t gap) {
    auto it = std::lower_bound(entries.begin(), entries.end(), gap, [](const Entry& e, std::int32_t g) { return e.gap < g; });
    if (it == entries.end()) return entries.empty() ? nullptr : &entries.back();
    if (it != entries.begin() && gap - (it - 1)->gap < it->gap - gap) --it;
    return &*it;
  }

  // ---- layout
  // -------------------------------------------------------------------------------------------------------------------

  // A generated kernel that fuses nothing lays an operand out: for the matrix call behind it that has such an operand and none
  // yet.
  void attach_layout_kernels() {
    std::vector<std::uint32_t> heavy;
    std::vector<std::int64_t> partner(b_.positions.size(), -1);
    for (const Link& l : links_) {
      if (b_.kind(l.b).heavy != Heavy::none) partner[l.b] = l.a;
    }
    for (std::uint32_t p = 0; p < b_.positions.size(); ++p) {
      if (partner[p] >= 0) heavy.push_back(p);
    }
    if (heavy.empty()) return;
    std::map<std::pair<std::uint32_t, std::uint64_t>, bool> served;  // (call, operand)
    for (std::uint32_t p = 0; p < b_.positions.size(); ++p) {
      const CallKind& k = b_.kind(p);
      if (linked_.b[p] != 0 || !k.generated || !k.fused.empty()) continue;
      const std::uint32_t target = served_call(heavy, p, k, served);
      link(static_cast<std::uint32_t>(partner[target]), p, Match::fused);
    }
  }

  std::uint32_t served_call(const std::vector<std::uint32_t>& heavy, std::uint32_t p, const CallKind& k,
                            std::map<std::pair<std::uint32_t, std::uint64_t>, bool>& served) const {
    const auto next = std::lower_bound(heavy.begin(), heavy.end(), p);
    if (k.dims != kNoKey) {
      constexpr std::ptrdiff_t kFarthest = 4096;
      const auto end = heavy.end() - next > kFarthest ? next + kFarthest : heavy.end();
      for (auto it = next; it != end; ++it) {
        const CallKind& call = b_.kind(*it);
        for (const TensorDims& tensor : k.shapes.tensors) {
          if (!call.shapes.holds_dims(tensor.dims) || served.contains({*it, tensor.dims})) continue;
          served[{*it, tensor.dims}] = true;
          return *it;
        }
      }
    }
    if (next == heavy.end()) return heavy.back();
    return *next;
  }

  // ---- loose ends
  // -----------------------------------------------------------------------------------------------------------------

  // Copies and casts that a compiler folds into whatever is beside them: with the matrix call behind them in eager mode.
  void attach_loose_ends() {
    std::vector<std::uint32_t> behind(a_.positions.size(), UINT32_MAX);
    std::unordered_map<std::uint32_t, std::uint32_t> partner;
    for (const Link& l : links_) {
      if (a_.kind(l.a).heavy != Heavy::none) partner.try_emplace(l.a, l.b);
    }
    std::uint32_t next = UINT32_MAX;
    for (std::uint32_t p = static_cast<std::uint32_t>(a_.positions.size()); p-- > 0;) {
      if (partner.contains(p)) next = p;
      behind[p] = next;
    }
    for (std::uint32_t p = 0; p < a_.positions.size(); ++p) {
      const CallKind& k = a_.kind(p);
      const bool moves_data = k.category == Category::layout || k.category == Category::memset;
      if (linked_.a[p] != 0 || !moves_data || k.phase == Phase::optimizer || behind[p] == UINT32_MAX) continue;
      if (a_.kind(behind[p]).phase != k.phase) continue;
      link(p, partner.at(behind[p]), Match::fused);
    }
  }

  const TypicalIteration& a_;
  const TypicalIteration& b_;
  bool shapes_;  // both sides tell shapes
  Linked linked_;
  Links links_;
  std::vector<std::int32_t> gap_a_, gap_b_;
};

}  // namespace

Links match_fused(const TypicalIteration& eager, const TypicalIteration& compiled) {
  return FusedMatcher(eager, compiled).run();
}

}  // namespace ridge::diff
