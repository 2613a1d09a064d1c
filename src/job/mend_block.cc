// By factors: what an item is made of keeps its proportions.
#include "job/mend_block.h"

#include <algorithm>
#include <cmath>

namespace ridge {
namespace {

std::uint32_t scaled(std::uint32_t ns, double factor) {
  return static_cast<std::uint32_t>(std::clamp(std::round(ns * factor), 0.0, static_cast<double>(UINT32_MAX)));
}

// The host's time of a block as its peers have it. Where it stands still longer than they do, that goes first: what it needs to
// issue is no part of it.
void mend_host(const LaneBlock& block, const BlockMedians& typical, std::vector<LaneItem>* items) {
  const std::int64_t own = block.ns[static_cast<std::size_t>(BlockTime::host)], own_rest = own - block.pause_ns;
  const std::int64_t pause = std::min(block.pause_ns, typical.pause_ns);
  const std::int64_t rest = std::max<std::int64_t>(0, typical.ns[static_cast<std::size_t>(BlockTime::host)] - pause);
  const auto over = [](std::int64_t a, std::int64_t b) {
    return b > 0 ? static_cast<double>(a) / static_cast<double>(b) : 1.0;
  };
  for (std::uint32_t i = block.first; i < block.end; ++i) {
    LaneItem& item = (*items)[i];
    scale_item(BlockTime::host, item.kind == LaneItemKind::pause ? over(pause, block.pause_ns) : over(rest, own_rest), &item);
  }
}

}  // namespace

void scale_item(BlockTime time, double factor, LaneItem* item) {
  switch (time) {
    case BlockTime::device:
      if (item->kind != LaneItemKind::run) return;
      item->device_ns = scaled(item->device_ns, factor);
      item->late_rest_ns = scaled(item->late_rest_ns, factor);
      return;
    case BlockTime::host:
      item->host_ns = scaled(item->host_ns, factor);
      item->late_launch_ns = scaled(item->late_launch_ns, factor);
      return;
    case BlockTime::loader:
      if (item->kind == LaneItemKind::loader) item->device_ns = scaled(item->device_ns, factor);
      return;
  }
}

void mend_block(BlockTime time, const LaneBlock& block, const BlockMedians& typical, std::vector<LaneItem>* items) {
  const auto t = static_cast<std::size_t>(time);
  if (block.ns[t] == 0) return;
  if (time == BlockTime::host) return mend_host(block, typical, items);
  const double factor = static_cast<double>(typical.ns[t]) / static_cast<double>(block.ns[t]);
  for (std::uint32_t i = block.first; i < block.end; ++i) scale_item(time, factor, &(*items)[i]);
}

void mend_rank(const RankBlocks& rank, const std::vector<BlockMedians>& medians, std::vector<LaneItem>* items) {
  for (const LaneBlock& block : rank.blocks) {
    if (block.place >= medians.size() || medians[block.place].observed == 0) continue;
    for (const BlockTime time : {BlockTime::device, BlockTime::host, BlockTime::loader})
      mend_block(time, block, medians[block.place], items);
  }
}

}  // namespace ridge
