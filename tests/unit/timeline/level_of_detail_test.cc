// The picture of a row against one made slice by slice, on random rows; the layout of slices that overlap.
#include "timeline/level_of_detail.h"

#include <algorithm>
#include <map>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/files.h"
#include "support/loaded_trace.h"
#include "timeline/lanes.h"

namespace ridge {
namespace {

struct RowPiece {
  std::int64_t start, end;
};

LaneRow row_of(const std::vector<RowPiece>& pieces) {
  LaneRow row;
  for (const RowPiece& p : pieces) {
    row.start_ns.push_back(p.start);
    row.end_ns.push_back(p.end);
    row.event.push_back(EventId{row.event.size()});
  }
  row.mipmap.build(row.start_ns, row.end_ns);
  return row;
}

unsigned below(std::mt19937& random, unsigned end) { return static_cast<unsigned>(random() % end); }

std::vector<RowPiece> random_row(std::mt19937& random, std::size_t slices, unsigned longest_gap, unsigned longest_slice) {
  std::vector<RowPiece> pieces;
  std::int64_t at = -500;
  for (std::size_t i = 0; i < slices; ++i) {
    at += static_cast<std::int64_t>(random() % (longest_gap + 1));
    // Most are short; one in sixteen is long, and some have no length at all.
    const unsigned most = random() % 16 == 0 ? longest_slice * 20 : longest_slice;
    const auto length = static_cast<std::int64_t>(random() % (most + 1));
    pieces.push_back({at, at + length});
    at += length;
  }
  return pieces;
}

struct Expected {
  std::vector<std::size_t> exact;
  std::map<std::int64_t, std::int64_t> count, covered, longest;
};

// Slice by slice, bucket by bucket.
Expected plain_view(const std::vector<RowPiece>& pieces, const Grid& grid) {
  Expected out;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const auto [start, end] = pieces[i];
    const bool starts_inside = start >= grid.start_ns && start < grid.end_ns();
    if (!starts_inside && (start >= grid.end_ns() || end <= grid.start_ns)) continue;
    if (end - start >= grid.width_ns) {
      out.exact.push_back(i);
      continue;
    }
    if (starts_inside) {
      const std::int64_t bucket = (start - grid.start_ns) / grid.width_ns;
      ++out.count[bucket];
      out.longest[bucket] = std::max(out.longest[bucket], end - start);
    }
    for (std::int64_t b = 0; b < grid.count; ++b) {
      const std::int64_t from = grid.start_ns + b * grid.width_ns, to = from + grid.width_ns;
      const std::int64_t inside = std::min(end, to) - std::max(start, from);
      if (inside > 0) out.covered[b] += inside;
    }
  }
  return out;
}

TEST(LevelOfDetail, EqualsThePlainOneOnRandomRows) {
  std::mt19937 random(11);
  for (int round = 0; round < 600; ++round) {
    const auto pieces = random_row(random, below(random, 300), 1 + below(random, 30), 1 + below(random, 20));
    const LaneRow row = row_of(pieces);
    const auto from = static_cast<std::int64_t>(random() % 3000) - 600;
    const auto length = static_cast<std::int64_t>(1 + random() % 4000);
    const Grid grid = grid_for(from, from + length, 1 + below(random, 200));
    ASSERT_LE(grid.start_ns, from);
    ASSERT_GE(grid.end_ns(), from + length);
    const DepthSlices view = view_of(row, grid);
    const Expected expected = plain_view(pieces, grid);

    std::vector<std::size_t> exact(view.slices.id.begin(), view.slices.id.end());
    EXPECT_EQ(exact, expected.exact) << "round " << round;
    std::int64_t counted = 0;
    for (std::size_t i = 0; i < view.buckets.at.size(); ++i) {
      const std::int64_t b = view.buckets.at[i];
      EXPECT_TRUE(i == 0 || view.buckets.at[i - 1] < view.buckets.at[i]);
      const auto count = expected.count.find(b);
      EXPECT_EQ(view.buckets.count[i], count == expected.count.end() ? 0 : count->second) << "round " << round;
      const auto covered = expected.covered.find(b);
      EXPECT_EQ(view.buckets.busy[i], share_of(covered == expected.covered.end() ? 0 : covered->second, grid.width_ns))
          << "round " << round << " bucket " << b;
      EXPECT_TRUE(view.buckets.count[i] == 0 || row.duration_ns(view.buckets.id[i]) == expected.longest.at(b));
      counted += view.buckets.count[i];
    }
    std::int64_t all = 0;
    for (const auto& [b, n] : expected.count) all += n;
    EXPECT_EQ(counted, all) << "round " << round;
    for (const auto& [b, ns] : expected.covered) {
      EXPECT_TRUE(std::binary_search(view.buckets.at.begin(), view.buckets.at.end(), static_cast<std::uint32_t>(b)));
    }
  }
}

TEST(LevelOfDetail, AnswersAreBoundedByBucketsNotBySlices) {
  std::mt19937 random(3);
  const LaneRow row = row_of(random_row(random, 200'000, 5, 10));
  const std::int64_t end = row.end_ns.back();
  for (const std::uint32_t px : {1U, 7U, 100U, 1000U}) {
    const Grid grid = grid_for(-500, end, px);
    EXPECT_LE(grid.count, px + 1);
    const DepthSlices view = view_of(row, grid);
    EXPECT_LE(view.buckets.at.size(), static_cast<std::size_t>(grid.count));
    EXPECT_LE(view.slices.id.size(), static_cast<std::size_t>(grid.count) + 1);
  }
}

TEST(LevelOfDetail, AStreamNeverLooksBusierThanItIs) {
  // 1 us of work every 10 us: each bucket is a tenth busy at any zoom.
  std::vector<RowPiece> pieces;
  for (std::int64_t i = 0; i < 100'000; ++i) pieces.push_back({i * 10'000, i * 10'000 + 1000});
  const DepthSlices view = view_of(row_of(pieces), grid_of_width(0, 1 << 29, 1 << 20));
  for (const std::uint8_t busy : view.buckets.busy) EXPECT_NEAR(busy, 25.5, 1.0);
  EXPECT_EQ(view.buckets.at.size(), 512U);
}

TEST(LevelOfDetail, CoverageOfARangeIsExact) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    const auto pieces = random_row(random, random() % 200, 10, 20);
    const LaneRow row = row_of(pieces);
    const auto from = static_cast<std::int64_t>(random() % 2000) - 600;
    const std::int64_t to = from + 1 + static_cast<std::int64_t>(random() % 2000);
    std::int64_t covered = 0;
    for (const RowPiece& p : pieces) covered += std::max<std::int64_t>(std::min(p.end, to) - std::max(p.start, from), 0);
    EXPECT_EQ(row.covered_ns(from, to), covered);
  }
}

TEST(LevelOfDetail, SharesAreNeverRoundedToNothingNorToAll) {
  EXPECT_EQ(share_of(0, 1 << 30), 0);
  EXPECT_EQ(share_of(1, 1 << 30), 1);
  EXPECT_EQ(share_of((1 << 30) - 1, 1 << 30), 254);
  EXPECT_EQ(share_of(1 << 30, 1 << 30), 255);
  EXPECT_EQ(share_of(5, 1), 255);
}

}  // namespace
}  // namespace ridge
