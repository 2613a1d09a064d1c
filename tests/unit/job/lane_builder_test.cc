// What held up a piece of work or a collective, of several collectives that ended meanwhile.
#include "job/lane_builder.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace ridge {
namespace {

constexpr std::int64_t kUs = 1'000;
constexpr std::int64_t kCompute = 7, kGather = 20, kScatter = 24, kReduce = 28;

class MadeWork {
 public:
  void kernel(std::int64_t issued_us, std::int64_t start_us, std::int64_t end_us) {
    add(issued_us, start_us, end_us, kCompute, UINT32_MAX);
  }
  std::uint32_t collective(std::int64_t issued_us, std::int64_t start_us, std::int64_t end_us, std::int64_t stream) {
    RankCollective& made = work_.collectives.emplace_back();
    made.start_ns = start_us * kUs;
    made.end_ns = end_us * kUs;
    const auto index = static_cast<std::uint32_t>(work_.collectives.size() - 1);
    add(issued_us, start_us, end_us, stream, index);
    return index;
  }

  std::vector<LaneItem> items() const {
    const std::vector<std::uint32_t> hashes(work_.issued.size(), 1);
    return build_lane(work_, hashes).items;
  }

 private:
  void add(std::int64_t issued_us, std::int64_t start_us, std::int64_t end_us, std::int64_t stream, std::uint32_t collective) {
    work_.issued.push_back({.issued_ns = issued_us * kUs,
                            .start_ns = start_us * kUs,
                            .end_ns = end_us * kUs,
                            .stream = stream,
                            .row = static_cast<std::uint32_t>(work_.issued.size()),
                            .collective = collective,
                            .launched = true});
  }

  RankWork work_;
};

// What the items of this kind have for their target, in order.
std::vector<std::uint32_t> targets(const std::vector<LaneItem>& items, LaneItemKind kind) {
  std::vector<std::uint32_t> found;
  for (const LaneItem& item : items) {
    if (item.kind == kind) found.push_back(item.target);
  }
  return found;
}

// Shards within a machine, replicas between: the gradients of a layer are scattered, then summed over replicas on another
// stream, while the next layer's weights are gathered. Scatter and gather begin and end together; only the first of them had
// been issued when the sum was.
TEST(LaneBuilder, ACollectiveWaitsForNoneThatIsIssuedLater) {
  MadeWork work;
  work.kernel(0, 10, 500);
  const std::uint32_t scatter = work.collective(20, 501, 600, kScatter);
  work.collective(30, 601, 900, kReduce);
  const std::uint32_t gather = work.collective(40, 501, 601, kGather);
  work.kernel(50, 602, 1000);
  const std::vector<LaneItem> items = work.items();
  EXPECT_EQ(targets(items, LaneItemKind::after), (std::vector{scatter}));
  EXPECT_EQ(targets(items, LaneItemKind::wait), (std::vector{gather}));
}

// Weights that are gathered without limit: those of the third layer are there before the second one's kernels begin, and the
// kernels of the first wait for theirs.
TEST(LaneBuilder, WorkWaitsForNoCollectiveThatIsIssuedLater) {
  MadeWork work;
  const std::uint32_t first = work.collective(10, 15, 300, kGather);
  work.kernel(20, 301, 400);
  const std::uint32_t other = work.collective(30, 35, 302, kScatter);
  work.kernel(40, 401, 500);
  EXPECT_EQ(targets(work.items(), LaneItemKind::wait), (std::vector{first}));
  EXPECT_NE(first, other);
}

TEST(LaneBuilder, OfTwoThatEndTogetherTheLastIssuedIsWaitedFor) {
  MadeWork work;
  work.collective(10, 15, 301, kScatter);
  const std::uint32_t last = work.collective(20, 25, 300, kGather);
  work.kernel(30, 302, 400);
  EXPECT_EQ(targets(work.items(), LaneItemKind::wait), (std::vector{last}));
}

}  // namespace
}  // namespace ridge
