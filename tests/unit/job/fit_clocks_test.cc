// Clocks of ranks against the truth: digests of collectives that end together, by clocks that are ahead and gain or lose.
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "job/job.h"

namespace ridge {
namespace {

struct TrueClock {
  std::int64_t ahead_ns = 0;
  double gains = 0;  // of each nanosecond

  std::int64_t shows(std::int64_t ns) const {
    return ns + ahead_ns + static_cast<std::int64_t>(std::llround(gains * static_cast<double>(ns)));
  }
};

constexpr std::int64_t kEveryNs = 5'000'000;

// All-reduces of all ranks, each `late_ns` at most behind the first to be done, one in twenty a good deal later.
std::vector<Digest> recorded(const std::vector<TrueClock>& clocks, int collectives, double late_ns) {
  std::vector<Digest> digests;
  for (std::size_t r = 0; r < clocks.size(); ++r) {
    std::mt19937 random(static_cast<unsigned>(17 + r));
    std::uniform_real_distribution<double> part(0, 1);
    Digest& digest = digests.emplace_back();
    digest.path = "rank" + std::to_string(r) + ".json";
    digest.rank = static_cast<std::int64_t>(r);
    digest.world_size = static_cast<std::int64_t>(clocks.size());
    digest.base_time_ns = 1'700'000'000'000'000'000;
    digest.groups = {{"0", "default_pg", static_cast<std::int64_t>(clocks.size()), {}}};
    digest.names = {"allreduce", "Float"};
    digest.start_ns = clocks[r].shows(0);
    digest.end_ns = clocks[r].shows((collectives + 1) * kEveryNs);
    digest.steps = {{.number = 1, .start_ns = digest.start_ns, .end_ns = digest.end_ns}};
    for (int i = 0; i < collectives; ++i) {
      const double late = part(random) < 0.05 ? 40 * late_ns : part(random) * late_ns;
      const std::int64_t end = (i + 1) * kEveryNs + static_cast<std::int64_t>(late);
      DigestCollective& c = digest.collectives.emplace_back();
      c.start_ns = clocks[r].shows(end - 200'000 - static_cast<std::int64_t>(r) * 10'000);
      c.end_ns = clocks[r].shows(end);
      c.sequence = i;
      c.dtype = 1;
    }
  }
  return digests;
}

TEST(FitClocks, OffsetAndDriftAreThoseOfTheClocks) {
  const std::vector<TrueClock> clocks = {
      {0, 0}, {250'000'000, 0}, {-3'000'000'000, 40e-6}, {7'654'321, 0}, {120'000'000, -25e-6}, {1, 0}, {-1, 0}, {5, 0}};
  const std::vector<Digest> digests = recorded(clocks, 120, 900);
  const Job job = assemble_job(digests);
  ASSERT_EQ(job.ranks.size(), clocks.size());
  for (std::size_t r = 0; r < clocks.size(); ++r) {
    ASSERT_TRUE(job.ranks[r].aligned);
    // To be taken off what its clock gained.
    EXPECT_NEAR((job.ranks[r].drift - job.ranks[0].drift) * 1e6, -clocks[r].gains * 1e6, 1) << r;
    for (const std::int64_t ns : {0 * kEveryNs, 60 * kEveryNs, 120 * kEveryNs}) {
      const std::int64_t common = job.ranks[r].common(clocks[r].shows(ns)), first = job.ranks[0].common(clocks[0].shows(ns));
      EXPECT_NEAR(static_cast<double>(common - first), 0, 1'000) << "rank " << r << " at " << ns;
    }
    EXPECT_LT(job.ranks[r].error_ns, 1'000);
  }
}

TEST(FitClocks, EndsThatScatterAreNoDrift) {
  for (const int collectives : {12, 15, 24, 60}) {
    const std::vector<Digest> digests = recorded(std::vector<TrueClock>(16), collectives, 900);
    const Job job = assemble_job(digests);
    for (const JobRank& rank : job.ranks) EXPECT_EQ(rank.drift, 0) << "rank " << rank.rank << " of " << collectives;
  }
}

}  // namespace
}  // namespace ridge
