// Evidence from strongest to weakest, each level over what the ones before left over.
#include "analysis/diff/match.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/diff/regions.h"
#include "base/align.h"

namespace ridge::diff {

using alignment::align;
using alignment::AlignInput;
using alignment::Evidence;
using alignment::pair_by_occurrence;

namespace {

constexpr std::string_view kNames[] = {"kernel", "call", "shape", "anchor", "fused", "region", "moved", "family"};

std::uint64_t place_of(const CallKind& k) {
  return combine(static_cast<std::uint64_t>(k.phase), static_cast<std::uint64_t>(k.device));
}

std::uint64_t dims_of(const CallKind& k, const CommonEvidence& common) { return common.shapes ? k.dims : 0; }

// The op where one is known; the kernels' names, however they are tuned, elsewhere.
std::uint64_t name_of_call(const CallKind& k) { return k.op != kNoKey && !k.generated ? k.op : k.untuned_names; }

using KeyOf = std::uint64_t (*)(const CallKind&, const CommonEvidence&);

// Evidence by which calls of one mode pair, strongest first.
constexpr KeyOf kLevels[] = {
    // everything, with the module that made the call
    [](const CallKind& k, const CommonEvidence& c) {
      const std::uint64_t whole = combine(combine(combine(k.op, dims_of(k, c)), k.kernel_names), place_of(k));
      return combine(combine(whole, c.grids ? k.grids : 0), c.modules ? k.module : 0);
    },
    [](const CallKind& k, const CommonEvidence& c) {
      return combine(combine(combine(k.op, dims_of(k, c)), k.kernel_names), combine(place_of(k), c.modules ? k.module : 0));
    },
    // the op and its shapes
    [](const CallKind& k, const CommonEvidence& c) {
      return combine(combine(name_of_call(k), dims_of(k, c)), combine(place_of(k), c.modules ? k.module : 0));
    },
    [](const CallKind& k, const CommonEvidence& c) { return combine(combine(name_of_call(k), dims_of(k, c)), place_of(k)); },
    // the kernels and their shapes: an op renamed
    [](const CallKind& k, const CommonEvidence& c) { return combine(combine(k.kernel_names, dims_of(k, c)), place_of(k)); },
};

Evidence evidence(const TypicalIteration& a, const TypicalIteration& b, const CommonEvidence& common, KeyOf key) {
  Evidence out;
  for (std::size_t i = 0; i < a.positions.size(); ++i) out.a.push_back(key(a.kind(i), common));
  for (std::size_t j = 0; j < b.positions.size(); ++j) out.b.push_back(key(b.kind(j), common));
  return out;
}

// How well two calls pair that differ in name, shapes and kernels.
int likeness(const CallKind& a, const CallKind& b, const CommonEvidence& common) {
  if (a.heavy != b.heavy || a.phase != b.phase || a.device != b.device) return 0;
  const bool same_dims = common.shapes && a.dims != kNoKey && a.dims == b.dims;
  if (a.kernel_names == b.kernel_names) return 8;
  if (a.untuned_names == b.untuned_names) return 7;
  if (a.canonical != kNoKey && a.canonical == b.canonical) return a.op == b.op ? 6 : 5;
  if (a.heavy != Heavy::none) {
    if (a.sort != b.sort && a.sort != kNoKey && b.sort != kNoKey) return 0;
    return a.heavy_shape != 0 && a.heavy_shape == b.heavy_shape ? 7 : 2;
  }
  if (a.generated && b.generated && a.fused == b.fused && !a.fused.empty()) return 5;
  return same_dims && a.category == b.category ? 3 : 0;
}

std::vector<std::uint32_t> leftovers(const std::vector<std::uint8_t>& linked) {
  std::vector<std::uint32_t> left;
  for (std::uint32_t i = 0; i < linked.size(); ++i) {
    if (linked[i] == 0) left.push_back(i);
  }
  return left;
}

// Equal calls in a row, of which the other side has fewer, cannot be told apart: they are matched as one, so that the
// difference is the time of the call that is gone and no neighbour seems changed. `mine` and `other` pick the sides of a link.
void pool_equal_calls(const TypicalIteration& t, const TypicalIteration& other_side, std::uint32_t Link::* mine,
                      std::uint32_t Link::* other, Links& links) {
  constexpr std::uint32_t kNone = UINT32_MAX;
  std::vector<std::uint32_t> link_of(t.positions.size(), kNone);
  for (std::uint32_t l = 0; l < links.size(); ++l) link_of[links[l].*mine] = l;
  for (std::uint32_t first = 0, end = 0; first < t.positions.size(); first = end) {
    for (end = first + 1; end < t.positions.size() && t.positions[end].kind == t.positions[first].kind;) ++end;
    if (end - first < 2) continue;
    std::uint32_t hub = kNone;
    bool differ = false;
    for (std::uint32_t p = first; p < end; ++p) {
      if (link_of[p] == kNone) {
        differ = true;
        continue;
      }
      hub = std::min(hub, link_of[p]);
      differ = differ || t.count_of(t.positions[p]) != other_side.count_of(other_side.positions[links[link_of[p]].*other]);
    }
    if (!differ || hub == kNone) continue;
    for (std::uint32_t p = first; p < end; ++p) {
      if (link_of[p] == hub) continue;
      Link link = links[hub];
      link.*mine = p;
      links.push_back(link);
    }
  }
}

// Sorts of work that stand for each other in another mode.
std::uint32_t family_of(const CallKind& k) {
  if (k.heavy != Heavy::none) return 1 + static_cast<std::uint32_t>(k.heavy);
  switch (k.category) {
    case Category::comm: return 10;
    case Category::memcpy: return 11;
    case Category::memset: return 12;
    case Category::optimizer: return 13;
    default: return 0;  // all that a compiler fuses
  }
}

}  // namespace

std::string_view name_of(Match match) { return kNames[static_cast<std::size_t>(match)]; }

CommonEvidence common_evidence(const TypicalIteration& a, const TypicalIteration& b) {
  return {a.sequence.has_shapes && b.sequence.has_shapes, a.sequence.has_modules && b.sequence.has_modules,
          a.sequence.has_grids && b.sequence.has_grids};
}

Match evidence_of_pair(const CallKind& a, const CallKind& b) {
  if (a.kernel_names == b.kernel_names) return Match::kernel;
  const bool dims_differ = a.dims != kNoKey && b.dims != kNoKey && a.dims != b.dims;
  if (a.op != kNoKey && a.op == b.op && !dims_differ) return Match::call;
  if (a.untuned_names == b.untuned_names) return Match::kernel;
  if (a.heavy_shape != 0 && a.heavy_shape == b.heavy_shape) return Match::shape;
  if (a.canonical != kNoKey && a.canonical == b.canonical) return dims_differ ? Match::anchor : Match::call;
  return a.dims != kNoKey && a.dims == b.dims ? Match::shape : Match::anchor;
}

Links match_calls(const TypicalIteration& a, const TypicalIteration& b) {
  const CommonEvidence common = common_evidence(a, b);
  AlignInput input;
  for (const KeyOf key : kLevels) input.levels.push_back(evidence(a, b, common, key));
  input.score = [&](std::uint32_t i, std::uint32_t j) { return likeness(a.kind(i), b.kind(j), common); };
  Links links;
  Linked linked(a, b);
  for (const auto& [i, j] : align(input)) {
    links.push_back({i, j, evidence_of_pair(a.kind(i), b.kind(j))});
    linked.add(links.back());
  }
  for (const std::size_t level : {std::size_t{1}, std::size_t{3}}) {
    for (const auto& [i, j] : pair_by_occurrence(leftovers(linked.a), leftovers(linked.b), input.levels[level])) {
      if (a.kind(i).heavy != b.kind(j).heavy) continue;
      links.push_back({i, j, Match::moved});
      linked.add(links.back());
    }
  }
  pool_equal_calls(a, b, &Link::a, &Link::b, links);
  pool_equal_calls(b, a, &Link::b, &Link::a, links);
  return links;
}

void match_lists(const TypicalIteration& a, const TypicalIteration& b, Linked& linked, Links& links) {
  const auto one_way = [&](const TypicalIteration& lists, std::vector<std::uint8_t>& lists_linked,
                           const TypicalIteration& loops, std::vector<std::uint8_t>& loops_linked, std::uint32_t Link::* list,
                           std::uint32_t Link::* call) {
    using Family = std::tuple<Key, Phase, std::int64_t>;
    std::map<Family, std::vector<std::uint32_t>> calls;
    for (const std::uint32_t p : leftovers(loops_linked)) {
      const CallKind& k = loops.kind(p);
      if (k.canonical != kNoKey && !k.generated) calls[{k.canonical, k.phase, k.device}].push_back(p);
    }
    std::map<Family, std::uint32_t> first;  // list call of a family: the others join it
    for (const std::uint32_t p : leftovers(lists_linked)) {
      const CallKind& k = lists.kind(p);
      const Family family{k.list_of, k.phase, k.device};
      const auto it = k.list_of == kNoKey ? calls.end() : calls.find(family);
      if (it == calls.end() || it->second.size() < 2) continue;  // one call is no loop
      const bool is_first = first.try_emplace(family, p).second;
      for (const std::uint32_t member : it->second) {
        Link link;
        link.match = Match::fused;
        link.*list = p;
        link.*call = member;
        links.push_back(link);
        loops_linked[member] = 1;
        if (!is_first) break;
      }
      lists_linked[p] = 1;
    }
  };
  one_way(a, linked.a, b, linked.b, &Link::a, &Link::b);
  one_way(b, linked.b, a, linked.a, &Link::b, &Link::a);
}

void match_families(const TypicalIteration& a, const TypicalIteration& b, Linked& linked, Links& links) {
  using Family = std::tuple<Phase, std::int64_t, std::uint32_t>;
  const auto group = [](const TypicalIteration& t, std::span<const std::uint32_t> left) {
    std::map<Family, std::vector<std::uint32_t>> families;
    for (const std::uint32_t p : left) families[{t.kind(p).phase, t.kind(p).device, family_of(t.kind(p))}].push_back(p);
    return families;
  };
  const auto nameless = [](const TypicalIteration& t, std::uint32_t p) {
    return t.kind(p).op == kNoKey || t.kind(p).generated;
  };
  const auto of_a = group(a, leftovers(linked.a)), of_b = group(b, leftovers(linked.b));
  for (const auto& [family, in_a] : of_a) {
    const auto it = of_b.find(family);
    if (it == of_b.end()) continue;
    const std::vector<std::uint32_t>& in_b = it->second;
    // A named op pairs with nameless work only: two named ops that nothing else pairs are different work.
    const auto first_nameless = [&](const TypicalIteration& t, const std::vector<std::uint32_t>& list) {
      return std::find_if(list.begin(), list.end(), [&](std::uint32_t p) { return nameless(t, p); });
    };
    const auto hub_a = first_nameless(a, in_a), hub_b = first_nameless(b, in_b);
    const auto link = [&](std::uint32_t i, std::uint32_t j) {
      links.push_back({i, j, Match::family});
      linked.add(links.back());
    };
    if (hub_b != in_b.end()) {
      for (const std::uint32_t i : in_a) link(i, *hub_b);
      for (const std::uint32_t j : in_b) {
        if (nameless(b, j)) link(in_a.front(), j);
      }
    }
    if (hub_a != in_a.end()) {
      for (const std::uint32_t j : in_b) link(*hub_a, j);
      for (const std::uint32_t i : in_a) {
        if (nameless(a, i)) link(i, in_b.front());
      }
    }
  }
}

Links match(const TypicalIteration& a, const TypicalIteration& b, RunMode mode_a, RunMode mode_b) {
  Links links;
  const bool mixed = is_mixed(mode_a, mode_b);
  if (!mixed) {
    links = match_calls(a, b);
  } else if (mode_b.generated > mode_a.generated) {
    links = match_fused(a, b);
  } else {
    links = match_fused(b, a);
    for (Link& link : links) std::swap(link.a, link.b);
  }
  Linked linked(a, b);
  for (const Link& link : links) linked.add(link);
  match_lists(a, b, linked, links);
  match_regions(a, b, linked, links);
  if (mixed) match_families(a, b, linked, links);
  return links;
}

}  // namespace ridge::diff
