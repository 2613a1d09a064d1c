// ranks, on jobs played by hand: clocks, waiting apart from transfer, stragglers of each cause with their cost.
#include "analysis/ranks/ranks.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "support/made_answer.h"
#include "support/says.h"

namespace ridge {
namespace {

using test::Answer;
using test::healthy;
using test::MadeJob;
using test::MadeRank;
using test::true_cost_ns;

void expect_straggler(const MadeJob& job, std::int64_t rank, StragglerCause cause) {
  const Answer answer(job);
  ASSERT_EQ(answer.ranks.stragglers.list.size(), 1U);
  const Straggler& found = answer.ranks.stragglers.list.front();
  ASSERT_TRUE(found.rank);
  EXPECT_EQ(answer.ranks.job.ranks[*found.rank].rank, rank);
  EXPECT_EQ(name_of(found.cause), name_of(cause));
  EXPECT_FALSE(found.evidence.empty());
  const auto truth = static_cast<double>(true_cost_ns(job, healthy(job.ranks.size())));
  EXPECT_NEAR(static_cast<double>(found.costs_ns), truth, 0.1 * truth);
}

TEST(Ranks, AHealthyJobHasNoStraggler) {
  const Answer answer(healthy());
  EXPECT_TRUE(answer.ranks.stragglers.list.empty());
  EXPECT_TRUE(answer.ranks.job.diagnostics.empty());
  EXPECT_EQ(answer.ranks.job.meetings.size(), 5U);
  for (const Meeting& meeting : answer.ranks.job.meetings) {
    EXPECT_TRUE(meeting.complete);
    EXPECT_EQ(meeting.transfer_ns, 200'000);
  }
  // Replayed with its own times the job is as recorded.
  EXPECT_NEAR(static_cast<double>(*answer.ranks.stragglers.replayed_ns), static_cast<double>(answer.ranks.step_ns), 20'000);
}

TEST(Ranks, ASlowDeviceIsFoundWithItsCost) {
  MadeJob job = healthy();
  job.ranks[2].kernel_us = 120;
  expect_straggler(job, 2, StragglerCause::device);
}

TEST(Ranks, MoreKernelsAreImbalance) {
  MadeJob job = healthy();
  job.ranks[1].kernels = 13;
  expect_straggler(job, 1, StragglerCause::imbalance);
}

TEST(Ranks, OtherGridsAreImbalance) {
  MadeJob job = healthy();
  job.ranks[1].kernel_us = 130;
  job.ranks[1].grid = 83;
  expect_straggler(job, 1, StragglerCause::imbalance);
}

TEST(Ranks, ASlowLoaderIsData) {
  MadeJob job = healthy();
  job.ranks[3].loader_us = 400;
  expect_straggler(job, 3, StragglerCause::data);
}

TEST(Ranks, LateLaunchesAreTheHosts) {
  MadeJob job = healthy();
  for (MadeRank& rank : job.ranks) rank.launch_us = 110;  // launch-bound
  job.ranks[0].launch_us = 150;
  const Answer answer(job);
  ASSERT_EQ(answer.ranks.stragglers.list.size(), 1U);
  EXPECT_EQ(answer.ranks.stragglers.list[0].cause, StragglerCause::host);
  EXPECT_EQ(answer.ranks.stragglers.list[0].rank, 0U);
}

// The device has enough to do for the launches behind the stall: what is too long is the stall alone, not each of them.
TEST(Ranks, AHostThatStandsStillCostsWhatItStandsStill) {
  MadeJob job = healthy();
  for (MadeRank& rank : job.ranks) rank.launch_us = 30;
  const MadeJob mended = job;
  job.ranks[1].stall_us = 600;
  const Answer answer(job);
  ASSERT_EQ(answer.ranks.stragglers.list.size(), 1U);
  const Straggler& found = answer.ranks.stragglers.list.front();
  EXPECT_EQ(found.cause, StragglerCause::host);
  EXPECT_EQ(found.rank, 1U);
  const auto truth = static_cast<double>(true_cost_ns(job, mended));
  EXPECT_NEAR(static_cast<double>(found.costs_ns), truth, 0.06 * truth);
}

TEST(Ranks, ASlowLinkIsItsGroups) {
  MadeJob job = healthy(6);
  for (std::size_t r = 0; r < 6; ++r) job.ranks[r].pg_name = std::to_string(r / 2);
  MadeJob mended = job;
  job.ranks[2].transfer_us = job.ranks[3].transfer_us = 500;
  const Answer answer(job);
  ASSERT_EQ(answer.ranks.stragglers.list.size(), 1U);
  const Straggler& found = answer.ranks.stragglers.list.front();
  EXPECT_FALSE(found.rank);
  ASSERT_TRUE(found.group);
  EXPECT_EQ(answer.ranks.job.groups[*found.group].ranks, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(found.cause, StragglerCause::link);
  const auto truth = static_cast<double>(true_cost_ns(job, mended));
  EXPECT_NEAR(static_cast<double>(found.costs_ns), truth, 0.1 * truth);
}

TEST(Ranks, SeveralStragglersAreTold) {
  MadeJob job = healthy(8);
  job.ranks[2].kernel_us = 130;
  job.ranks[5].loader_us = 800;
  const Answer answer(job);
  ASSERT_EQ(answer.ranks.stragglers.list.size(), 2U);
  std::vector<std::uint32_t> ranks;
  for (const Straggler& straggler : answer.ranks.stragglers.list) ranks.push_back(*straggler.rank);
  std::sort(ranks.begin(), ranks.end());
  EXPECT_EQ(ranks, (std::vector<std::uint32_t>{2, 5}));
}

// Either one mended alone gains nothing: the other still holds all up.
TEST(Ranks, StragglersThatHideEachOtherAreBothTold) {
  MadeJob job = healthy(8);
  job.ranks[2].kernel_us = job.ranks[5].kernel_us = 120;
  const Answer answer(job);
  ASSERT_EQ(answer.ranks.stragglers.list.size(), 2U);
  std::int64_t together = 0;
  for (const Straggler& straggler : answer.ranks.stragglers.list) {
    EXPECT_EQ(straggler.cause, StragglerCause::device);
    together += straggler.costs_ns;
  }
  const auto truth = static_cast<double>(true_cost_ns(job, healthy(8)));
  EXPECT_NEAR(static_cast<double>(together), truth, 0.1 * truth);
}

// Each of them costs under 2 %, as the others would still hold all up.
TEST(Ranks, AMachineThatIsSlowIsToldRankByRank) {
  for (const bool named : {true, false}) {
    MadeJob job = healthy(16);
    for (std::size_t r = 0; r < 16; ++r) job.ranks[r].host = named ? "node" + std::to_string(r / 4) : "";
    for (std::size_t r = 4; r < 8; ++r) job.ranks[r].kernel_us = 107;
    const Answer answer(job);
    ASSERT_EQ(answer.ranks.stragglers.list.size(), 4U);
    std::set<std::uint32_t> ranks;
    std::int64_t together = 0;
    for (const Straggler& straggler : answer.ranks.stragglers.list) {
      ranks.insert(*straggler.rank);
      together += straggler.costs_ns;
      EXPECT_EQ(straggler.cause, StragglerCause::device);
      EXPECT_EQ(straggler.host, named ? "node1" : "");
      EXPECT_LT(straggler.costs_pct, 2);
    }
    EXPECT_EQ(ranks, (std::set<std::uint32_t>{4, 5, 6, 7}));
    const auto truth = static_cast<double>(true_cost_ns(job, healthy(16)));
    EXPECT_NEAR(static_cast<double>(together), truth, 0.1 * truth);
    const Report report = report_ranks(answer.ranks);
    EXPECT_TRUE(test::says(report.headline, {"ranks 4-7", "device", named ? "node1" : "together"})) << report.headline;
  }
}

TEST(Ranks, CostsUnderTwoPercentAreNotReported) {
  MadeJob job = healthy();
  job.ranks[2].kernel_us = 101;
  EXPECT_TRUE(Answer(job).ranks.stragglers.list.empty());
}

TEST(Ranks, WaitAndTransferAddUpAndTheLateRankNeverWaits) {
  MadeJob job = healthy();
  job.ranks[2].kernel_us = 120;
  const Answer answer(job);
  for (const RankSums& sums : answer.ranks.ranks) {
    std::int64_t comm = 0;
    for (const DigestStep& step : sums.rank->digest->steps) comm += step.comm_ns;
    EXPECT_EQ(sums.total.wait_ns + sums.total.transfer_ns, comm);
    EXPECT_EQ(sums.total.transfer_ns, 5 * 200'000);
    const bool late = sums.rank->rank == 2;
    EXPECT_EQ(sums.total.wait_ns, late ? 0 : 5 * 200'000);  // ten kernels of 20 us more
    EXPECT_EQ(sums.total.late_ns, late ? 5 * 200'000 : 0);
  }
}

TEST(Ranks, ClocksThatDifferChangeNoAnswer) {
  MadeJob job = healthy();
  job.ranks[2].kernel_us = 120;
  const Answer plain(job);
  job.ranks[1].ahead_us = 250'000;
  job.ranks[2].ahead_us = -3'141'592;
  job.ranks[3].ahead_us = 1'234'567;
  const Answer skewed(job);
  ASSERT_EQ(skewed.ranks.stragglers.list.size(), 1U);
  EXPECT_EQ(skewed.ranks.stragglers.list[0].costs_ns, plain.ranks.stragglers.list[0].costs_ns);
  for (std::size_t r = 0; r < 4; ++r) {
    EXPECT_EQ(skewed.ranks.ranks[r].total.wait_ns, plain.ranks.ranks[r].total.wait_ns);
    EXPECT_EQ(skewed.ranks.job.ranks[r].offset_ns, -job.ranks[r].ahead_us * 1000);
  }
}

TEST(Ranks, WindowsThatBeginAtOtherCollectivesAreJoined) {
  for (const bool sequence : {true, false}) {
    MadeJob job = healthy();
    job.sequence = sequence;
    job.ranks[1].first_step = 2;
    job.ranks[3].last_step = 4;
    job.ranks[2].kernel_us = 120;
    const Answer answer(job);
    const auto complete = std::ranges::count_if(answer.ranks.job.meetings, &Meeting::complete);
    EXPECT_EQ(complete, 3) << sequence;
    ASSERT_EQ(answer.ranks.stragglers.list.size(), 1U) << sequence;
    EXPECT_EQ(answer.ranks.stragglers.list[0].rank, 2U);
    const auto truth = static_cast<double>(true_cost_ns(job, healthy()));
    EXPECT_NEAR(static_cast<double>(answer.ranks.stragglers.list[0].costs_ns), truth, 0.2 * truth) << sequence;
    ASSERT_NE(answer.said("steps_differ"), nullptr);
    EXPECT_TRUE(test::says(answer.said("steps_differ")->message, {"rank1.json", "rank3.json"}));
  }
}

}  // namespace
}  // namespace ridge
