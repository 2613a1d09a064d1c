// What is replayed of a pipeline, whose receives are not always waited for, and of a job with a rank missing.
#include "job/compared_job.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "job/replay.h"

namespace ridge {
namespace {

constexpr int kSteps = 6;
constexpr std::uint32_t kWorkNs = 1'000'000, kPauseNs = 5'000'000, kTransferNs = 50'000;

// A stage that sends, and one that receives and computes. In the second half of the steps the receiver comes late: what it
// waits for has come.
std::vector<Digest> two_stages() {
  std::vector<Digest> digests(2);
  for (std::int64_t r = 0; r < 2; ++r) {
    Digest& digest = digests[static_cast<std::size_t>(r)];
    digest.path = "rank" + std::to_string(r) + ".json";
    digest.rank = r;
    digest.world_size = 2;
    digest.iterations = "profiler_step";
    digest.groups = {{"1", "pp", 2, {0, 1}}};
    digest.names = {r == 0 ? "send" : "recv", "Float"};
  }
  const auto item = [](Digest* digest, LaneItemKind kind) -> LaneItem& {
    LaneItem& added = digest->items.emplace_back();
    added.kind = kind;
    return added;
  };
  std::int64_t sender = 0, receiver = 0, host = 0;
  for (std::uint32_t s = 0; s < kSteps; ++s) {
    const bool late = s >= kSteps / 2;
    item(&digests[0], LaneItemKind::run).device_ns = kWorkNs;
    sender += kWorkNs;
    if (late) item(&digests[1], LaneItemKind::pause).host_ns = kPauseNs;
    if (late) host += kPauseNs;
    const std::int64_t begin = std::max(host, s == 0 ? 0 : digests[1].collectives.back().end_ns);
    const std::int64_t end = std::max(sender, begin) + kTransferNs;
    for (std::size_t r = 0; r < 2; ++r) {
      DigestCollective& c = digests[r].collectives.emplace_back();
      c.start_ns = r == 0 ? sender : begin;
      c.end_ns = end;
      c.step = s;
      c.dtype = 1;
      c.bytes = 1'000;
      (r == 0 ? c.destination : c.source) = r == 0 ? 1 : 0;
      LaneItem& issued = item(&digests[r], LaneItemKind::collective);
      issued.target = s;
      issued.after_lane = r == 0;
    }
    sender = std::max(sender, end);
    if (!late) item(&digests[1], LaneItemKind::wait).target = s;
    LaneItem& run = item(&digests[1], LaneItemKind::run);
    run.device_ns = kWorkNs;
    if (late) run.late_rest_ns = kTransferNs + kWorkNs;  // by its launch, which was the last to hold it up
    receiver = std::max(receiver, end) + kWorkNs;
    for (std::size_t r = 0; r < 2; ++r)
      digests[r].steps.push_back({.number = s, .start_ns = static_cast<std::int64_t>(s) * kWorkNs, .end_ns = end});
  }
  for (Digest& digest : digests) digest.end_ns = receiver;
  return digests;
}

TEST(ComparedJob, AStageWaitsForAllThatItReceives) {
  const std::vector<Digest> digests = two_stages();
  const Job job = assemble_job(digests);
  const std::optional<Job> compared = compared_job(job);
  ASSERT_TRUE(compared);
  ASSERT_EQ(compared->ranks.size(), 2U);
  const std::vector<LaneItem>& items = compared->ranks[1].digest->items;
  EXPECT_EQ(std::ranges::count(items, LaneItemKind::wait, &LaneItem::kind), kSteps);
  for (std::size_t i = 0; i + 1 < items.size(); ++i) {
    if (items[i].kind != LaneItemKind::wait) continue;
    EXPECT_EQ(items[i - 1].target, items[i].target);
    EXPECT_EQ(items[i + 1].kind, LaneItemKind::run);
  }
  EXPECT_EQ(digests[1].items.size() + kSteps / 2, items.size());
}

TEST(ComparedJob, WhereReceivesAreWaitedForLaterNothingIsAdded) {
  std::vector<Digest> digests = two_stages();
  for (Digest& digest : digests) {
    // Each wait behind the work that follows it.
    for (std::size_t i = 0; i + 1 < digest.items.size(); ++i) {
      if (digest.items[i].kind == LaneItemKind::wait) std::swap(digest.items[i], digest.items[i + 1]), ++i;
    }
  }
  EXPECT_FALSE(compared_job(assemble_job(digests)));
}

}  // namespace
}  // namespace ridge
