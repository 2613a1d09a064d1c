// The slices of an area as a tree of calls: below each track what stands on its first row, below each slice what it encloses;
// slices of one name below one parent are one node. What a flame graph draws.
#include <algorithm>
#include <map>
#include <tuple>

#include "base/try.h"
#include "timeline/state.h"

namespace ridge {
namespace {

constexpr std::size_t kMostNodes = 3000;

std::int64_t flame_sum(std::int64_t a, std::int64_t b) {  // stops at what 64 bits hold
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

struct CallNode {
  std::size_t parent = 0;
  StringId name = {};
  std::uint8_t category = 0;
  std::int64_t count = 0, total_ns = 0, below_ns = 0;
};

// The tree of one track; the track itself is the first node. Parents stand before their children.
class FlameTree {
 public:
  explicit FlameTree(TimeRange range) : range_(range) { nodes_.emplace_back(); }

  void add(const Lane& lane) {
    above_.clear();
    for (const LaneRow& row : lane.rows) add(row);
    for (std::size_t i = nodes_.size(); i-- > 1;) {
      CallNode& parent = nodes_[nodes_[i].parent];
      parent.below_ns = flame_sum(parent.below_ns, nodes_[i].total_ns);
    }
    nodes_.front().total_ns = nodes_.front().below_ns;
  }

  const std::vector<CallNode>& nodes() const { return nodes_; }

 private:
  struct RowNodes {
    const LaneRow* row;
    std::size_t first;              // slice that `node` begins with
    std::vector<std::size_t> node;  // of each slice in the area
  };

  void add(const LaneRow& row) {
    const std::size_t last = row.first_from(range_.end_ns);
    std::size_t first = row.first_from(range_.start_ns);
    while (first > 0 && row.end_ns[first - 1] > range_.start_ns) --first;
    RowNodes here{&row, first, {}};
    for (std::size_t i = first; i < last; ++i) {
      const std::int64_t from = std::max(row.start_ns[i], range_.start_ns), to = std::min(row.end_ns[i], range_.end_ns);
      const std::size_t at = node_of(parent_of(row.start_ns[i], row.end_ns[i]), row.name[i], row.category[i]);
      nodes_[at].count += to < from ? 0 : 1;
      nodes_[at].total_ns = flame_sum(nodes_[at].total_ns, std::max<std::int64_t>(0, to - from));
      here.node.push_back(at);
    }
    above_.push_back(std::move(here));
  }

  // The innermost slice above that encloses it; the track where there is none.
  std::size_t parent_of(std::int64_t start_ns, std::int64_t end_ns) const {
    for (auto rows = above_.rbegin(); rows != above_.rend(); ++rows) {
      if (rows->row->overlapping) continue;
      const std::size_t after = rows->row->first_from(start_ns + 1);
      if (after <= rows->first || after - rows->first > rows->node.size()) continue;
      if (rows->row->end_ns[after - 1] >= end_ns) return rows->node[after - 1 - rows->first];
    }
    return 0;
  }

  std::size_t node_of(std::size_t parent, StringId name, std::uint8_t category) {
    const auto [found, is_new] = by_key_.try_emplace({parent, name.value, category}, nodes_.size());
    if (is_new) nodes_.push_back({parent, name, category});
    return found->second;
  }

  TimeRange range_;
  std::vector<CallNode> nodes_;
  std::map<std::tuple<std::size_t, std::uint32_t, std::uint8_t>, std::size_t> by_key_;
  std::vector<RowNodes> above_;
};

// The largest nodes with all that is above them, in the order in which they are. What is left out stays in its parent's total.
void cut_to(std::size_t most, Flame* flame) {
  std::vector<FlameNode>& nodes = flame->nodes;
  if (nodes.size() <= most) return;
  std::vector<std::int64_t> totals;
  for (const FlameNode& node : nodes) totals.push_back(node.total_ns);
  std::nth_element(totals.begin(), totals.begin() + static_cast<std::ptrdiff_t>(most), totals.end(), std::greater<>());
  const std::int64_t least = totals[most];
  std::vector<FlameNode> kept;
  std::vector<std::int64_t> place(nodes.size(), -1);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const bool below_kept = nodes[i].parent < 0 || place[static_cast<std::size_t>(nodes[i].parent)] >= 0;
    if (nodes[i].total_ns <= least || !below_kept) continue;
    place[i] = static_cast<std::int64_t>(kept.size());
    kept.push_back(std::move(nodes[i]));
    if (kept.back().parent >= 0) kept.back().parent = place[static_cast<std::size_t>(kept.back().parent)];
  }
  flame->left_out = static_cast<std::int64_t>(nodes.size() - kept.size());
  nodes = std::move(kept);
}

}  // namespace

Result<Flame> Timeline::flame(std::int64_t from_ns, std::int64_t to_ns,
                              const std::optional<std::vector<std::uint32_t>>& tracks) const {
  TRY(const TimeRange range, checked_range(from_ns, to_ns, state_->origin_ns()));
  const Lanes& lanes = state_->lanes();
  Flame flame;
  const auto add = [&](const Lane& lane) {
    FlameTree tree(range);
    tree.add(lane);
    if (tree.nodes().size() == 1) return;
    const auto begin = static_cast<std::int64_t>(flame.nodes.size());
    for (std::size_t i = 0; i < tree.nodes().size(); ++i) {
      const CallNode& node = tree.nodes()[i];
      FlameNode& out = flame.nodes.emplace_back();
      out.parent = i == 0 ? -1 : begin + static_cast<std::int64_t>(node.parent);
      out.track = lane.track.value;
      if (i > 0) out.name = state_->trace().text(node.name);
      if (i > 0) out.category = lanes.categories[node.category];
      out.count = node.count;
      out.total_ns = node.total_ns;
      out.self_ns = std::max<std::int64_t>(0, node.total_ns - node.below_ns);
    }
  };
  if (tracks) {
    for (const Lane& lane : lanes.lanes) {
      if (std::find(tracks->begin(), tracks->end(), lane.track.value) != tracks->end()) add(lane);
    }
    for (const std::uint32_t track : *tracks) {
      if (lanes.find(TrackId{track}) == nullptr)
        return fail(ErrorCode::usage, "there is no track " + std::to_string(track), "", "/api/v1/tracks lists them");
    }
  } else {
    for (const Lane& lane : lanes.lanes) add(lane);
  }
  cut_to(kMostNodes, &flame);
  return flame;
}

}  // namespace ridge
