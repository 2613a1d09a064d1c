// Levels of evidence for the aligner, and what is taken back of its answer because it could as well be another.
#include "model/graph_alignment.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/align.h"
#include "base/hash.h"

namespace ridge {
namespace {

constexpr std::uint32_t kNowhere = GraphAlignment::kNowhere;
constexpr std::uint32_t kNear = 16;  // items: records change places with those next to them (streams of one graph)

// Sorts as values that no name has: names are odd.
std::uint64_t key_of_kind(NodeKind kind) { return 2 + 2 * static_cast<std::uint64_t>(kind); }

bool is_anchor(NodeKind kind) { return kind != NodeKind::kernel; }

// The sort by which a node pairs with a launch that tells no name. A Triton kernel whose own op would have named it is any
// kernel; a short name is Triton's.
NodeKind kind_of_node(const LaunchSign& node) { return node.kind == NodeKind::short_triton ? NodeKind::triton : node.kind; }

class GraphAligner {
 public:
  GraphAligner(std::span<const LaunchSign> nodes, std::span<const LaunchItem> items, bool ran)
      : nodes_(nodes), items_(items), ran_(ran), place_(nodes.size(), kNowhere), how_(nodes.size(), How::in_order) {
    const auto tells = [](const LaunchSign& sign) { return sign.grid != 0; };
    grids_ = std::any_of(nodes.begin(), nodes.end(), tells) &&
             std::any_of(items.begin(), items.end(), [&](const LaunchItem& item) { return tells(item.sign); });
  }

  GraphAlignment run() {
    for (const auto& [i, j] : alignment::align(evidence())) place_[i] = j;
    close_up();
    settle_unnamed();
    take_back_ambiguous();
    find_moved();
    return result();
  }

 private:
  const LaunchSign& item(std::uint32_t j) const { return items_[j].sign; }
  bool same_name(std::size_t i, std::uint32_t j) const { return item(j).name != 0 && nodes_[i].name == item(j).name; }
  bool same_grid(std::size_t i, std::uint32_t j) const {
    return nodes_[i].grid == 0 || item(j).grid == 0 || nodes_[i].grid == item(j).grid;
  }
  // Whether nothing speaks against the pair.
  bool may_pair(std::size_t i, std::uint32_t j) const {
    if (same_name(i, j)) return !ran_ || same_grid(i, j);
    if (ran_) return false;
    const NodeKind node = kind_of_node(nodes_[i]), kind = item(j).kind;
    if (kind == NodeKind::triton) return node == NodeKind::triton;
    if (item(j).name != 0) return false;
    return node == kind || (node == NodeKind::kernel && kind == NodeKind::matrix);  // a product's helpers are plain kernels
  }

  alignment::AlignInput evidence() const {
    alignment::AlignInput in;
    const auto full = [&](const LaunchSign& s) {
      return s.name == 0 || !grids_ ? s.name : mix64(s.name, s.grid ^ 0x9E37) | 1U;
    };
    const auto level = [&](auto of_node, auto of_item) {
      alignment::Evidence& out = in.levels.emplace_back();
      for (const LaunchSign& node : nodes_) out.a.push_back(of_node(node));
      for (const LaunchItem& each : items_) out.b.push_back(of_item(each.sign));
    };
    level(full, full);
    if (!ran_) {
      const auto name = [](const LaunchSign& s) { return s.name; };
      if (grids_) level(name, name);
      level([](const LaunchSign& s) { return key_of_kind(kind_of_node(s)); },
            [](const LaunchSign& s) { return s.name == 0 || s.kind == NodeKind::triton ? key_of_kind(s.kind) : 0; });
    }
    in.score = [this](std::uint32_t i, std::uint32_t j) { return may_pair(i, j) ? 1 : 0; };
    return in;
  }

  // Of equal items the one next to the following node's: the aligner takes the first.
  void close_up() {
    for (std::size_t i = place_.size(); i-- > 1;) {
      const std::uint32_t next = place_[i];
      if (next == kNowhere || place_[i - 1] == kNowhere || place_[i - 1] + 1 >= next) continue;
      if (item(next - 1) == item(place_[i - 1])) place_[i - 1] = next - 1;
    }
  }

  bool is_strong(std::size_t i) const {
    return place_[i] != kNowhere && (same_name(i, place_[i]) || is_anchor(item(place_[i]).kind));
  }

  // Between two strong pairs, what has no name pairs place by place or not at all.
  void settle_unnamed() {
    if (ran_) return;
    std::size_t i = 0;
    std::uint32_t j = 0;
    for (std::size_t next = 0; next <= nodes_.size(); ++next) {
      if (next < nodes_.size() && !is_strong(next)) continue;
      const auto to = next < nodes_.size() ? place_[next] : static_cast<std::uint32_t>(items_.size());
      settle(i, next, j, to);
      i = next + 1;
      j = to + 1;
    }
  }
  void settle(std::size_t i, std::size_t i_end, std::uint32_t j, std::uint32_t j_end) {
    bool fits = i_end - i == j_end - j;
    for (std::size_t k = 0; fits && k < i_end - i; ++k) fits = may_pair(i + k, j + static_cast<std::uint32_t>(k));
    for (std::size_t k = 0; k < i_end - i; ++k) place_[i + k] = fits ? j + static_cast<std::uint32_t>(k) : kNowhere;
  }

  bool same_call(std::uint32_t a, std::uint32_t b) const { return items_[a].call == items_[b].call; }

  // A gap on one side can stand elsewhere where what it skips equals what stands beside it: the nodes in between could then
  // stand for the launch that many further on.
  void take_back_ambiguous() {
    std::vector<std::size_t> lost;
    std::size_t before = kNowhere;  // the last node that has a place
    for (std::size_t i = 0; i < place_.size(); ++i) {
      if (place_[i] == kNowhere) continue;
      if (before != kNowhere) {
        const std::size_t nodes = i - before - 1, items = place_[i] - place_[before] - 1;
        if (nodes == 0 && items != 0) slide(before, i, items, &lost);
        if (items == 0 && nodes != 0) slide_nodes(before, i, nodes, &lost);
      }
      before = i;
    }
    for (const std::size_t i : lost) {
      place_[i] = kNowhere;
      how_[i] = How::ambiguous;
    }
  }
  // Items were skipped between nodes `a` and `b`.
  void slide(std::size_t a, std::size_t b, std::size_t skipped, std::vector<std::size_t>* lost) const {
    const auto far = static_cast<std::uint32_t>(skipped);
    for (std::size_t i = a;; --i) {
      const std::uint32_t at = place_[i];
      if (at == kNowhere || at != place_[a] - (a - i) || !may_pair(i, at + far)) break;
      if (!same_call(at, at + far)) lost->push_back(i);
      if (i == 0) break;
    }
    for (std::size_t i = b; i < place_.size(); ++i) {
      const std::uint32_t at = place_[i];
      if (at == kNowhere || at != place_[b] + (i - b) || !may_pair(i, at - far)) break;
      if (!same_call(at, at - far)) lost->push_back(i);
    }
  }
  // Nodes have no place between `a` and `b`.
  void slide_nodes(std::size_t a, std::size_t b, std::size_t extra, std::vector<std::size_t>* lost) const {
    for (std::size_t i = a;; --i) {
      const std::uint32_t at = place_[i];
      if (at == kNowhere || at != place_[a] - (a - i) || !may_pair(i + extra, at)) break;
      if (at >= extra && !same_call(at, at - static_cast<std::uint32_t>(extra))) lost->push_back(i);
      if (i == 0) break;
    }
    for (std::size_t i = b; i < place_.size(); ++i) {
      const std::uint32_t at = place_[i];
      if (at == kNowhere || at != place_[b] + (i - b) || !may_pair(i - extra, at)) break;
      if (at + extra < items_.size() && !same_call(at, at + static_cast<std::uint32_t>(extra))) lost->push_back(i);
    }
  }

  // Records that changed places with a neighbour: a name that is left over on both sides, near each other.
  void find_moved() {
    std::unordered_map<std::uint64_t, std::set<std::uint32_t>> left;
    std::vector<bool> taken(items_.size());
    for (const std::uint32_t j : place_) {
      if (j != kNowhere) taken[j] = true;
    }
    for (std::uint32_t j = 0; j < items_.size(); ++j) {
      if (!taken[j] && item(j).name != 0) left[item(j).name].insert(j);
    }
    std::uint32_t expected = 0;
    for (std::size_t i = 0; i < place_.size(); ++i, ++expected) {
      if (place_[i] != kNowhere) {
        expected = place_[i];
        continue;
      }
      const auto it = left.find(nodes_[i].name);
      if (it == left.end() || how_[i] == How::ambiguous) continue;
      auto near = it->second.lower_bound(expected < kNear ? 0 : expected - kNear);
      while (near != it->second.end() && *near <= expected + kNear && !may_pair(i, *near)) ++near;
      if (near == it->second.end() || *near > expected + kNear) continue;
      place_[i] = *near;
      how_[i] = How::moved;
      it->second.erase(near);
    }
  }

  GraphAlignment result() {
    GraphAlignment out;
    std::uint32_t first = kNowhere, last = 0;
    for (std::size_t i = 0; i < place_.size(); ++i) {
      const std::uint32_t j = place_[i];
      if (j == kNowhere) continue;
      ++out.matched;
      first = std::min(first, j);
      last = std::max(last, j);
      out.moved += how_[i] == How::moved;
      if (how_[i] == How::moved) continue;
      const bool tells = same_name(i, j) && nodes_[i].kind != NodeKind::short_triton;
      out.named += tells;
      out.alike += !tells && is_anchor(item(j).kind);
    }
    if (out.matched > 0) out.skipped = last - first + 1 - out.matched;
    out.place = std::move(place_);
    return out;
  }

  std::span<const LaunchSign> nodes_;
  std::span<const LaunchItem> items_;
  bool ran_, grids_ = false;
  std::vector<std::uint32_t> place_;
  enum class How : std::uint8_t { in_order, moved, ambiguous };
  std::vector<How> how_;  // each node has its place, or why it has none
};

}  // namespace

GraphAlignment align_graph(std::span<const LaunchSign> nodes, std::span<const LaunchItem> items, bool ran) {
  return GraphAligner(nodes, items, ran).run();
}

bool is_exact(std::span<const LaunchSign> nodes, std::span<const LaunchItem> items, bool ran) {
  if (nodes.size() != items.size()) return false;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const LaunchSign &node = nodes[i], &sign = items[i].sign;
    if (sign.name == 0 || sign.name != node.name) return false;
    if (ran && node.grid != 0 && sign.grid != 0 && node.grid != sign.grid) return false;
  }
  return true;
}

std::size_t most_matches(std::span<const LaunchSign> nodes, std::span<const LaunchItem> items) {
  std::unordered_map<std::uint64_t, std::size_t> left;
  std::size_t unnamed = 0, matches = 0;
  for (const LaunchItem& item : items) {
    const bool by_kind = item.sign.name == 0 || item.sign.kind == NodeKind::triton;
    unnamed += by_kind;
    if (!by_kind) ++left[item.sign.name];
  }
  for (const LaunchSign& node : nodes) {
    const auto it = left.find(node.name);
    if (it != left.end() && it->second > 0) {
      --it->second;
      ++matches;
    }
  }
  return std::min(nodes.size(), matches + unnamed);
}

}  // namespace ridge
