// Union-find over the links, then a name, its times and a verdict for each set.
#include "analysis/diff/groups.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "base/saturating.h"
#include "facts/scoped_work.h"

namespace ridge::diff {
namespace {

// Sets of positions that links join, by path halving.
class Union {
 public:
  explicit Union(std::size_t size) : parent_(size) { std::iota(parent_.begin(), parent_.end(), 0U); }
  std::uint32_t root(std::uint32_t x) {
    while (parent_[x] != x) x = parent_[x] = parent_[parent_[x]];
    return x;
  }
  void join(std::uint32_t x, std::uint32_t y) {
    x = root(x);
    y = root(y);
    if (x != y) parent_[std::max(x, y)] = std::min(x, y);  // the first position names the group
  }

 private:
  std::vector<std::uint32_t> parent_;
};

std::string_view name_of_position(const TypicalIteration& t, std::uint32_t p) {
  const CallKind& kind = t.kind(p);
  if (!kind.op_text.empty() && !kind.generated) return kind.op_text;
  return kind.kernels.empty() ? kind.op_text : std::string_view(kind.kernels.front().identity->label);
}

bool is_matrix_work(const SlotTime& slot) {
  const Category c = slot.category;
  return !slot.kernel.identity->helper &&
         (c == Category::gemm || c == Category::conv || c == Category::attention || c == Category::triton_template);
}

// The kernel that a side goes by: its matrix work, however long a bias or a layout takes beside it; else the one that took most
// time.
const SlotTime* main_slot(const TypicalIteration& t, std::span<const std::uint32_t> positions) {
  const SlotTime* most = nullptr;
  const auto rank = [](const SlotTime& slot) { return std::pair(is_matrix_work(slot), slot.per_iteration_ns); };
  for (const std::uint32_t p : positions) {
    for (const SlotTime& slot : t.positions[p].slots) {
      if (most == nullptr || rank(slot) > rank(*most)) most = &slot;
    }
  }
  return most;
}

// "aten::add x2 + aten::relu_": each name once, in order of first call.
std::string side_text(const TypicalIteration& t, std::span<const std::uint32_t> positions) {
  constexpr std::size_t kMostNames = 4;
  std::vector<std::pair<std::string_view, int>> names;
  for (const std::uint32_t p : positions) {
    const std::string_view name = name_of_position(t, p);
    const auto known = std::find_if(names.begin(), names.end(), [&](const auto& n) { return n.first == name; });
    if (known != names.end()) {
      ++known->second;
    } else {
      names.emplace_back(name, 1);
    }
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMostNames); ++i) {
    text += (i == 0 ? "" : " + ") + std::string(names[i].first);
    if (names[i].second > 1) text += " x" + std::to_string(names[i].second);
  }
  if (names.size() > kMostNames) text += " + " + std::to_string(names.size() - kMostNames) + " more";
  return text;
}

bool has_op(const TypicalIteration& t, std::span<const std::uint32_t> positions) {
  return std::any_of(positions.begin(), positions.end(), [&](std::uint32_t p) { return !t.kind(p).op_text.empty(); });
}

// Which sides say something by their name: a replay that knows kernels only has nothing to add to the op that launched the same
// kernels elsewhere.
std::vector<bool> telling_sides(std::span<const TypicalIteration> typical, const Group& group) {
  std::vector<bool> known, present;
  for (std::size_t t = 0; t < typical.size(); ++t) {
    present.push_back(!group.sides[t].positions.empty());
    known.push_back(has_op(typical[t], group.sides[t].positions));
  }
  const bool by_kernel = group.match == Match::kernel;
  return by_kernel && std::find(known.begin(), known.end(), true) != known.end() ? known : present;
}

std::string group_text(std::span<const TypicalIteration> typical, const Group& group) {
  const auto first =
      std::find_if(group.sides.begin(), group.sides.end(), [](const GroupSide& s) { return !s.positions.empty(); });
  if (first == group.sides.end()) return {};
  const TypicalIteration& t = typical[static_cast<std::size_t>(first - group.sides.begin())];
  const Position& position = t.positions[first->positions[0]];
  const auto region = t.sequence.region_names.find(position.region);
  if (group.match == Match::region && region != t.sequence.region_names.end()) return "[" + region->second + "]";
  std::string text;
  std::string last;
  const std::vector<bool> telling = telling_sides(typical, group);
  for (std::size_t side = 0; side < typical.size(); ++side) {
    if (!telling[side]) continue;
    std::string words = side_text(typical[side], group.sides[side].positions);
    if (words == last) continue;
    text += (text.empty() ? "" : " -> ") + words;
    last = std::move(words);
  }
  if (position.orphan) text += " " + std::string(kBeforeWindow);
  return text;
}

// One call on every side, by ops of different names on good evidence. Generated kernels are no ops, and replays know none.
bool is_renamed(std::span<const TypicalIteration> typical, const Group& group) {
  if (!group.match || *group.match > Match::shape) return false;
  bool differ = false;
  std::string_view name;
  for (std::size_t t = 0; t < typical.size(); ++t) {
    if (group.sides[t].positions.size() != 1) return false;
    const CallKind& kind = typical[t].kind(group.sides[t].positions[0]);
    if (kind.op_text.empty() || kind.generated) return false;
    differ = differ || (t > 0 && kind.op_text != name);
    name = kind.op_text;
  }
  return differ;
}

// Calls of the forward pass on the first side, and of the backward pass too on another.
bool is_recomputed(std::span<const TypicalIteration> typical, const Group& group) {
  const auto has = [&](std::size_t t, Phase phase) {
    const std::vector<std::uint32_t>& positions = group.sides[t].positions;
    return std::any_of(positions.begin(), positions.end(), [&](std::uint32_t p) { return typical[t].kind(p).phase == phase; });
  };
  for (std::size_t t = 0; t < typical.size(); ++t) {
    for (std::size_t other = 0; other < typical.size(); ++other) {
      if (has(t, Phase::forward) && !has(t, Phase::backward) && has(other, Phase::backward)) return true;
    }
  }
  return false;
}

// How many equal calls stand in a row around a position: which of them is meant cannot be told.
std::int64_t equal_neighbours(const TypicalIteration& t, std::uint32_t p) {
  const std::uint32_t kind = t.positions[p].kind;
  std::uint32_t first = p, end = p + 1;
  while (first > 0 && t.positions[first - 1].kind == kind) --first;
  while (end < t.positions.size() && t.positions[end].kind == kind) ++end;
  return end - first;
}

void measure(const TypicalIteration& t, GroupSide& side) {
  side.estimate.count = t.iterations;
  for (const std::uint32_t p : side.positions) {
    const Position& position = t.positions[p];
    saturating_add(&side.time_ns, position.per_iteration_ns());
    side.calls += t.count_of(position);
    for (const SlotTime& slot : position.slots) {
      side.count += static_cast<double>(slot.launches) /
                    static_cast<double>(std::max<std::int64_t>(1, t.iterations + slot.extra_iterations));
    }
    side.estimate.variance += position.observed.variance();
  }
  side.estimate.mean = static_cast<double>(side.time_ns);
}

// Calls that one side lacks in some or all iterations: no matter of chance.
bool is_structural(const Group& group, std::size_t t) {
  const GroupSide &a = group.sides[0], &b = group.sides[t];
  if (a.positions.empty() || b.positions.empty()) return true;
  if (*group.match > Match::call) return false;
  return std::abs(a.calls - b.calls) > 1e-9;
}

void compare(const Thresholds& thresholds, Group& group) {
  group.changes.resize(group.sides.size());
  for (std::size_t t = 1; t < group.sides.size(); ++t) {
    const GroupSide &a = group.sides[0], &b = group.sides[t];
    GroupChange& change = group.changes[t];
    change.delta_ns = b.time_ns - a.time_ns;
    if (a.time_ns > 0) change.delta_pct = 100.0 * static_cast<double>(change.delta_ns) / static_cast<double>(a.time_ns);
    if (!is_structural(group, t)) change.interval = interval_of_change(a.estimate, b.estimate);
    change.significant =
        is_changed(static_cast<double>(a.time_ns), static_cast<double>(b.time_ns), change.interval, thresholds);
  }
}

// The matrix work among a side's calls.
Heavy heavy_of_side(const TypicalIteration& t, std::span<const std::uint32_t> positions) {
  Heavy heavy = Heavy::none;
  for (const std::uint32_t p : positions) heavy = std::max(heavy, t.kind(p).heavy);
  return heavy;
}

void describe(std::span<const TypicalIteration> typical, Group& group) {
  for (std::size_t t = 0; t < typical.size(); ++t) {
    group.heavy.push_back(heavy_of_side(typical[t], group.sides[t].positions));
    const SlotTime* slot = main_slot(typical[t], group.sides[t].positions);
    if (slot != nullptr) group.sides[t].event = slot->event;
  }
  for (std::size_t t = 0; t < typical.size(); ++t) {
    const std::vector<std::uint32_t>& positions = group.sides[t].positions;
    if (positions.empty()) continue;
    const CallKind& kind = typical[t].kind(positions[0]);
    const SlotTime* slot = main_slot(typical[t], positions);
    group.category = slot == nullptr ? kind.category : slot->category;
    group.phase = typical[t].sequence.has_phases ? name_of(kind.phase) : "";
    group.shape = positions.size() == 1 ? std::string(kind.dims_text) : "";
    group.kernel = slot == nullptr ? "" : std::string(slot->kernel.identity->label);
    if (!group.match) group.equal_calls = equal_neighbours(typical[t], positions[0]);
    break;
  }
  if (group.match && *group.match <= Match::call) {  // several positions of one call are equal neighbours
    for (const GroupSide& side : group.sides)
      group.equal_calls = std::max(group.equal_calls, static_cast<std::int64_t>(side.positions.size()));
  }
  group.renamed = is_renamed(typical, group);
  group.recomputed = group.match == Match::fused && is_recomputed(typical, group);
  group.name = group.title = group_text(typical, group);
}

// Groups of one name get a number, in order of call.
void number_names(std::vector<Group>& groups) {
  std::unordered_map<std::string, std::pair<int, int>> seen;  // how many there are, how many were numbered
  for (const Group& group : groups) ++seen[group.name].first;
  for (Group& group : groups) {
    auto& [count, next] = seen[group.name];
    if (count > 1) group.name += " #" + std::to_string(++next);
  }
}

std::int64_t largest_change(const Group& group) {
  std::int64_t largest = 0;
  for (const GroupChange& change : group.changes) largest = std::max(largest, std::abs(change.delta_ns));
  return largest;
}

}  // namespace

std::vector<Group> build_groups(std::span<const TypicalIteration> typical, std::span<const Links> links,
                                const Thresholds& thresholds) {
  std::vector<std::uint32_t> offset{0};
  for (const TypicalIteration& t : typical) offset.push_back(offset.back() + static_cast<std::uint32_t>(t.positions.size()));
  Union sets(offset.back());
  for (std::size_t t = 1; t < typical.size(); ++t) {
    for (const Link& link : links[t]) sets.join(link.a, offset[t] + link.b);
  }
  std::vector<Group> groups;
  std::vector<std::uint32_t> group_of(offset.back(), UINT32_MAX);  // by root
  for (std::size_t t = 0; t < typical.size(); ++t) {
    for (std::uint32_t p = 0; p < typical[t].positions.size(); ++p) {
      std::uint32_t& group = group_of[sets.root(offset[t] + p)];
      if (group == UINT32_MAX) {
        group = static_cast<std::uint32_t>(groups.size());
        groups.emplace_back().sides.resize(typical.size());
      }
      groups[group].sides[t].positions.push_back(p);
    }
  }
  for (std::size_t t = 1; t < typical.size(); ++t) {
    for (const Link& link : links[t]) {
      std::optional<Match>& match = groups[group_of[sets.root(link.a)]].match;
      match = match ? std::max(*match, link.match) : link.match;
    }
  }
  for (Group& group : groups) {
    for (std::size_t t = 0; t < typical.size(); ++t) measure(typical[t], group.sides[t]);
    describe(typical, group);
    compare(thresholds, group);
  }
  number_names(groups);
  std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) {
    const std::int64_t x = largest_change(a), y = largest_change(b);
    return x != y ? x > y : a.sides[0].time_ns > b.sides[0].time_ns;
  });
  return groups;
}

}  // namespace ridge::diff
