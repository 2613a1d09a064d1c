// What lies between two collectives of a rank, with its times as its peers have them there: for the replay.
#pragma once

#include <vector>

#include "job/digest.h"
#include "job/peers.h"

namespace ridge {

// An item's time of one sort, so many times as long.
void scale_item(BlockTime time, double factor, LaneItem* item);

// A block's time of one sort as its peers have it.
void mend_block(BlockTime time, const LaneBlock& block, const BlockMedians& typical, std::vector<LaneItem>* items);

// All times of a rank as its peers have them; `medians` by place.
void mend_rank(const RankBlocks& rank, const std::vector<BlockMedians>& medians, std::vector<LaneItem>* items);

}  // namespace ridge
