// What a persistent kernel of a matrix product reads again of its operands, followed wave by wave over the tiles of the result.
#pragma once

#include <optional>

namespace ridge {

// The tiles of a result, in groups of `group` along one side, each group along the whole other side, and within it across the
// group first. `blocks` tiles are worked on at a time: a wave.
struct TileWalk {
  double along = 0, across = 0;  // tiles of the side that a group goes along, and of the side that is grouped
  double group = 8;
  double blocks = 0;
  double along_bytes = 0, across_bytes = 0;  // of both operands, what one tile takes
  double result_bytes = 0;                   // of a tile
  double at_turn = 0;                        // bytes along that are still there when the next group begins
  // Bytes since the last use of a panel, of an H200: up to `kept` it is still there, from `lost` on it is gone; and how much of
  // what is written counts.
  double kept = 20e6, lost = 48e6, of_written = 0.6;
};

// `cache`: the device's, in units of an H200's. Nothing when there are too many tiles to follow.
std::optional<double> reread_by_walk(const TileWalk& walk, double cache);

}  // namespace ridge
