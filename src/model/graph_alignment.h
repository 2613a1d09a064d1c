// Which launch of a sequence each node of a replayed graph is. The two are aligned (base/align.h): a record that is missing,
// added or damaged on either side leaves only its own node unknown.
//
// Names pair with equal names, and where both sides tell grids, with equal grids. Launches that tell no name (CUDA's captures)
// pair by their sort: products, copies and sets anchor the rest, and what stands between two anchors pairs only where both
// sides have as many. A node that could as well stand for its neighbour's launch, because a record among equals is missing,
// keeps its place only if both launches are the same call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/launch_sequence.h"

namespace ridge {

struct GraphAlignment {
  static constexpr std::uint32_t kNowhere = UINT32_MAX;

  std::vector<std::uint32_t> place;  // of each node: index into the items, or kNowhere
  std::size_t matched = 0;           // nodes that have a place
  std::size_t moved = 0;             // of these, those that changed places with a neighbour: no evidence
  std::size_t named = 0;             // of the others, by a name that tells something ("triton_" does not)
  std::size_t alike = 0;             // of the others, not by name: copies, sets, products
  std::size_t skipped = 0;           // items between the first and the last place that no node has

  bool whole() const { return matched == place.size(); }
};

GraphAlignment align_graph(std::span<const LaunchSign> nodes, std::span<const LaunchItem> items, bool ran);

// Every node on the item of its own index.
bool is_exact(std::span<const LaunchSign> nodes, std::span<const LaunchItem> items, bool ran);

// No more nodes than this can have a place: a cheap bound, before an alignment is worth its time.
std::size_t most_matches(std::span<const LaunchSign> nodes, std::span<const LaunchItem> items);

}  // namespace ridge
