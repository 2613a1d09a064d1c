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

// Tensor parallel within a machine, data parallel between two: most of a rank's ends are shared with its own machine's, which
// run away together.
TEST(FitClocks, DriftBetweenMachinesIsToldByTheGroupsThatJoinThem) {
  constexpr double kGains = 20e-6;
  constexpr int kOfSteps = 60, kTensor = 16;
  std::vector<Digest> digests;
  for (std::int64_t r = 0; r < 8; ++r) {
    const TrueClock clock{r < 4 ? 0 : 300'000'000, r < 4 ? 0 : kGains};
    std::mt19937 random(static_cast<unsigned>(5 + r));
    std::uniform_int_distribution<std::int64_t> late(0, 1'500);
    Digest& digest = digests.emplace_back();
    digest.path = "rank" + std::to_string(r) + ".json";
    digest.rank = r;
    digest.world_size = 8;
    digest.base_time_ns = 1'700'000'000'000'000'000;
    const std::int64_t host = r / 4 * 4, place = r % 4;
    digest.groups = {{std::to_string(r / 4), "tp", 4, {host, host + 1, host + 2, host + 3}},
                     {std::to_string(2 + place), "dp", 2, {place, place + 4}}};
    digest.names = {"allreduce", "Float"};
    std::int64_t now = 0, sequence[2] = {};
    for (int i = 0; i < kOfSteps * (kTensor + 1); ++i) {
      const std::uint32_t group = i % (kTensor + 1) == kTensor ? 1 : 0;
      now += kEveryNs;
      const std::int64_t end = now + late(random);
      DigestCollective& c = digest.collectives.emplace_back();
      c.start_ns = clock.shows(end - 200'000);
      c.end_ns = clock.shows(end);
      c.sequence = sequence[group]++;
      c.group = group;
      c.dtype = 1;
    }
    digest.start_ns = clock.shows(0);
    digest.end_ns = clock.shows(now + kEveryNs);
    digest.steps = {{.number = 1, .start_ns = digest.start_ns, .end_ns = digest.end_ns}};
  }
  const Job job = assemble_job(digests);
  for (std::size_t r = 4; r < 8; ++r) {
    EXPECT_NEAR((job.ranks[r].drift - job.ranks[0].drift) * 1e6, -kGains * 1e6, 0.6) << r;
    EXPECT_LT(job.ranks[r].error_ns, 2'000);
  }
  for (const Meeting& meeting : job.meetings) EXPECT_NEAR(static_cast<double>(meeting.transfer_ns), 200'000, 4'000);
  // An error that is told holds where it is largest: between the machines.
  Job off = job;
  std::vector<Digest> walking = digests;
  for (std::size_t r = 4; r < 8; ++r) {
    for (DigestCollective& c : walking[r].collectives) c.end_ns += c.group == 1 && *c.sequence % 2 == 0 ? 100'000 : 0;
  }
  off = assemble_job(walking);
  EXPECT_GT(off.ranks[5].error_ns, 40'000);
}

}  // namespace
}  // namespace ridge
