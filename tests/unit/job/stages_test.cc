// Stages of a pipeline with different work, in digests made by hand: two stages, two replicas.
#include "job/stages.h"

#include <gtest/gtest.h>

namespace ridge {
namespace {

constexpr std::int64_t kStepNs = 10'000'000;

// Ranks 0 and 1 are the first stage, 2 and 3 the second.
std::vector<Digest> pipeline(std::uint32_t first_ns, std::uint32_t second_ns) {
  std::vector<Digest> digests(4);
  for (std::int64_t rank = 0; rank < 4; ++rank) {
    Digest& digest = digests[static_cast<std::size_t>(rank)];
    digest.path = "rank" + std::to_string(rank) + ".json";
    digest.rank = rank;
    digest.world_size = 4;
    digest.end_ns = kStepNs;
    digest.steps = {{.number = 1, .start_ns = 0, .end_ns = kStepNs}};
    digest.groups = {{std::to_string(rank % 2), "mesh_pp", 2, {rank % 2, rank % 2 + 2}}};
    digest.names = {rank < 2 ? "send" : "recv", "BFloat16"};
    DigestCollective& c = digest.collectives.emplace_back();
    c.start_ns = 4'000'000, c.end_ns = 4'100'000;
    c.dtype = 1;
    (rank < 2 ? c.destination : c.source) = rank < 2 ? rank + 2 : rank - 2;
    LaneItem& run = digest.items.emplace_back();
    run.kind = LaneItemKind::run;
    run.device_ns = rank < 2 ? first_ns : second_ns;
    run.kernels = 1;
    LaneItem& meets = digest.items.emplace_back();
    meets.kind = LaneItemKind::collective;
    meets.target = 0;
  }
  return digests;
}

TEST(Stages, TheLongerStageIsTold) {
  const std::vector<Digest> digests = pipeline(3'900'000, 2'900'000);
  const Job job = assemble_job(digests);
  const auto found = find_uneven_stages(job, kStepNs);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->stage, 0U);
  EXPECT_EQ(found->ranks, (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(found->longest_ns, 3'900'000);
  EXPECT_EQ(found->mean_ns, 3'400'000);
}

TEST(Stages, EvenOnesAreNotTold) {
  const std::vector<Digest> alike = pipeline(3'000'000, 3'050'000);
  EXPECT_FALSE(find_uneven_stages(assemble_job(alike), kStepNs));
  const std::vector<Digest> apart = pipeline(3'900'000, 2'900'000);  // and of no weight in such a step
  EXPECT_FALSE(find_uneven_stages(assemble_job(apart), 100 * kStepNs));
}

TEST(Stages, AStageWhoseRanksAreMissingIsNotHeldAgainstOthers) {
  std::vector<Digest> digests = pipeline(3'900'000, 2'900'000);
  digests.resize(2);
  EXPECT_FALSE(find_uneven_stages(assemble_job(digests), kStepNs));
}

}  // namespace
}  // namespace ridge
