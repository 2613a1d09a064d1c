// All blocks of a wave go along the depth of their sums at about the same pace, so that a wave brings each panel (the rows or
// columns of one tile) once. A panel that a later wave takes again is found in the cache as far as what was read and written
// since its last use leaves it there: that is the whole of a wave where the next one takes it.
//
// What is read again are misses of the L2 for want of room, by counters of an H200:
// - Nothing else reads the memory: its reads are the multiprocessors' reads that missed the near half of the L2, less those
// that
//   the far half had. That is within 10 % in 92 of 95 products, whether they read their operands once or 6 times; the other
//   three complete sectors of their result or add slices of k to it.
// - The same kernel on the same product reads more when part of the L2 is set aside (8192 x 5120 x 2048: 132 MB, then 172, 193
//   and 199 with 8, 16 and 24 MiB less), up to what this walk gives where all is lost, beyond which no size of cache matters.
// Of 153 products of persistent kernels that tell their tiles, 143 are within 10 % when nothing is lost up to 20 MB and all
// from 48 MB on, 0.6 of what is written counted in: data that both halves use lies in both. Nothing is lost before as much has
// gone through an empty cache.
#include "cost/library/product_waves.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "cost/library/call_parts.h"

namespace ridge {
namespace {

// Tiles of one group that a wave takes; `last` is beyond.
struct Run {
  std::int64_t group = 0;
  std::int64_t first_along = 0, last_along = 0;
  std::int64_t first_across = 0, last_across = 0;
};
struct Wave {
  std::vector<Run> runs;
  double bytes = 0;   // read once by it, and written
  double before = 0;  // of all waves before
};

class Walk {
 public:
  Walk(const TileWalk& walk, double cache)
      : walk_(walk),
        cache_(cache),
        along_(static_cast<std::int64_t>(walk.along)),
        across_(static_cast<std::int64_t>(walk.across)),
        group_(static_cast<std::int64_t>(walk.group)),
        seen_along_(static_cast<std::size_t>(along_), -1),
        seen_across_(static_cast<std::size_t>(across_), -1),
        along_again_(static_cast<std::size_t>((across_ + group_ - 1) / group_), 0.0) {}

  double reread() {
    const auto blocks = static_cast<std::int64_t>(walk_.blocks);
    for (std::int64_t tile = 0; tile < along_ * across_; tile += blocks)
      add_wave(tile, std::min(tile + blocks, along_ * across_));
    std::fill(seen_along_.begin(), seen_along_.end(), -1);
    double bytes = 0;
    for (std::size_t w = 0; w < waves_.size(); ++w) bytes += reread_of(w);
    const double gone = std::max(1 - walk_.at_turn * cache_ / (walk_.along * walk_.along_bytes), 0.0);
    for (std::size_t g = 0; g < along_again_.size(); ++g) bytes += along_again_[g] * (g > 0 ? gone : 1);
    return bytes;
  }

 private:
  void add_wave(std::int64_t tile, std::int64_t end) {
    Wave wave;
    const auto index = static_cast<std::int64_t>(waves_.size());
    if (index > 0) wave.before = waves_.back().before + waves_.back().bytes;
    wave.bytes = static_cast<double>(end - tile) * walk_.result_bytes * walk_.of_written;
    while (tile < end) {
      const std::int64_t group = tile / (along_ * group_), start = group * along_ * group_;
      const std::int64_t height = std::min(group_, across_ - group * group_);
      const std::int64_t stop = std::min(end, start + along_ * height);
      Run run{group, (tile - start) / height, (stop - start - 1) / height + 1, group * group_, group * group_ + height};
      if (run.last_along - run.first_along == 1) {  // a part of one row across the group
        run.last_across = run.first_across + (stop - start - 1) % height + 1;
        run.first_across += (tile - start) % height;
      }
      wave.bytes += static_cast<double>(run.last_across - run.first_across) * walk_.across_bytes;
      wave.bytes += static_cast<double>(take(run, index)) * walk_.along_bytes;
      wave.runs.push_back(run);
      tile = stop;
    }
    waves_.push_back(std::move(wave));
  }
  // How many of its panels no other run of the wave takes.
  std::int64_t take(const Run& run, std::int64_t wave) {
    std::int64_t taken = 0;
    for (std::int64_t i = run.first_along; i < run.last_along; ++i) {
      std::int64_t& seen = seen_along_[static_cast<std::size_t>(i)];
      taken += seen != wave ? 1 : 0;
      seen = wave;
    }
    return taken;
  }

  // The share of a panel, last taken in one wave, that is not there in another.
  double lost(std::int64_t last, std::size_t w) const {
    const Wave& from = waves_[static_cast<std::size_t>(last)];
    const Wave& to = waves_[w];
    const double since = (to.bytes - from.bytes) / 2 + to.before - from.before;
    return share_lost(since, walk_.kept * cache_, walk_.lost * cache_) *
           share_lost(to.before + to.bytes / 2, 20e6 * cache_, 40e6 * cache_);
  }
  // Of the panels across; those along are summed up by groups.
  double reread_of(std::size_t w) {
    const auto wave = static_cast<std::int64_t>(w);
    double bytes = 0;
    const auto take_again = [&](std::int64_t& seen, double panel, double* sum) {
      if (seen >= 0 && seen != wave) *sum += panel * lost(seen, w);
      seen = wave;
    };
    for (const Run& run : waves_[w].runs) {
      double& along = along_again_[static_cast<std::size_t>(run.group)];
      for (std::int64_t i = run.first_along; i < run.last_along; ++i)
        take_again(seen_along_[static_cast<std::size_t>(i)], walk_.along_bytes, &along);
      for (std::int64_t i = run.first_across; i < run.last_across; ++i)
        take_again(seen_across_[static_cast<std::size_t>(i)], walk_.across_bytes, &bytes);
    }
    return bytes;
  }

  const TileWalk& walk_;
  double cache_;
  std::int64_t along_, across_, group_;
  std::vector<Wave> waves_;
  std::vector<std::int64_t> seen_along_, seen_across_;  // the last wave that took each panel
  std::vector<double> along_again_;                     // by groups
};

}  // namespace

std::optional<double> reread_by_walk(const TileWalk& walk, double cache) {
  // Twice the tiles of 8,192 tokens and a vocabulary of 128 thousand. A trace may claim any size, for every launch another one.
  constexpr double kMostTiles = 1 << 16;
  const bool sane = walk.along >= 1 && walk.across >= 1 && walk.group >= 1 && walk.blocks >= 1;
  if (!sane || !(walk.along * walk.across <= kMostTiles)) return std::nullopt;
  return Walk(walk, cache).reread();
}

}  // namespace ridge
