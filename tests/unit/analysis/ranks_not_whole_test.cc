// ranks of jobs that are not whole: ranks missing, twice, of another job, cut off, without steps or numbers.
#include "analysis/ranks/ranks.h"

#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/made_answer.h"
#include "support/says.h"

namespace ridge {
namespace {

using test::Answer;
using test::digests_of;
using test::healthy;
using test::MadeJob;
using test::MadeRank;
using test::true_cost_ns;

TEST(Ranks, MissingRanksAreSaidAndTheRestIsAnswered) {
  MadeJob job = healthy();
  job.world_size = 16;
  job.ranks[1].kernel_us = 120;
  const Answer answer(job);
  ASSERT_NE(answer.said("ranks_missing"), nullptr);
  EXPECT_TRUE(test::says(answer.said("ranks_missing")->message, {"12 of 16", "4-15"}));
  EXPECT_EQ(answer.ranks.stragglers.list.size(), 1U);
}

// As where nothing but the window tells: one step that is as long as all.
void unmark(Digest* digest) {
  DigestStep whole = digest->steps.front();
  for (std::size_t i = 1; i < digest->steps.size(); ++i) {
    const DigestStep& step = digest->steps[i];
    whole.end_ns = step.end_ns;
    whole.busy_ns += step.busy_ns;
    whole.compute_ns += step.compute_ns;
    whole.comm_ns += step.comm_ns;
  }
  digest->steps = {whole};
  digest->iterations = "whole_window";
  for (DigestCollective& c : digest->collectives) c.step = 0;
}

TEST(Ranks, ARankWithoutMarksOfStepsHasThoseOfTheOthers) {
  MadeJob made = healthy();
  made.ranks[2].kernel_us = 120;
  made.ranks[2].ahead_us = 40'000;
  const Answer marked(made);
  for (const std::size_t which : {1U, 2U}) {
    std::vector<Digest> digests = digests_of(made);
    unmark(&digests[which]);
    const Answer answer(std::move(digests));
    ASSERT_EQ(answer.ranks.stragglers.list.size(), 1U);
    EXPECT_EQ(answer.ranks.stragglers.list[0].rank, 2U);
    EXPECT_EQ(answer.ranks.stragglers.list[0].cause, StragglerCause::device);
    EXPECT_EQ(answer.ranks.stragglers.list[0].evidence, marked.ranks.stragglers.list[0].evidence);
    EXPECT_NEAR(static_cast<double>(answer.ranks.stragglers.list[0].costs_ns),
                static_cast<double>(marked.ranks.stragglers.list[0].costs_ns), 10'000);
    ASSERT_NE(answer.said("steps_by_others"), nullptr);
    const RankSums& sums = answer.ranks.ranks[which];
    EXPECT_EQ(sums.steps.size(), 5U);
    EXPECT_EQ(sums.total.busy_ns, marked.ranks.ranks[which].total.busy_ns);
    EXPECT_EQ(sums.total.compute_ns, marked.ranks.ranks[which].total.compute_ns);
    EXPECT_NEAR(static_cast<double>(sums.step_ns), static_cast<double>(marked.ranks.ranks[which].step_ns), 60'000);
  }
}

// A trace that is cut off after so many collectives: the marks of its steps are all there, as the host's events come first.
void cut_off(std::size_t collectives, Digest* digest) {
  digest->damaged = true;
  digest->collectives.resize(collectives);
  std::size_t items = 0, met = 0;
  while (items < digest->items.size() && met < collectives) met += digest->items[items++].kind == LaneItemKind::collective;
  digest->items.resize(items);
}

TEST(Ranks, ATraceThatIsCutOffEndsWithItsLastWholeStep) {
  MadeJob made = healthy();
  made.ranks[2].kernel_us = 120;
  made.ranks[1].ahead_us = made.ranks[2].ahead_us = 200'000;
  const auto truth = static_cast<double>(true_cost_ns(made, healthy()));
  for (const std::size_t which : {1U, 2U}) {
    for (const std::size_t collectives : {4U, 3U, 1U, 0U}) {
      std::vector<Digest> digests = digests_of(made);
      cut_off(collectives, &digests[which]);
      const Answer answer(std::move(digests));
      SCOPED_TRACE(fmt::format("rank {} after {} collectives", which, collectives));
      EXPECT_EQ(answer.job.ranks[which].digest->steps.size(), collectives);
      ASSERT_NE(answer.said("rank_damaged"), nullptr);
      ASSERT_TRUE(answer.ranks.stragglers.replayed_ns);
      EXPECT_NEAR(static_cast<double>(*answer.ranks.stragglers.replayed_ns), static_cast<double>(answer.ranks.step_ns),
                  0.02 * static_cast<double>(answer.ranks.step_ns));
      if (which == 2 && collectives == 0) continue;  // of the slow one nothing is known
      ASSERT_EQ(answer.ranks.stragglers.list.size(), 1U);
      EXPECT_EQ(answer.ranks.stragglers.list[0].rank, 2U);
      EXPECT_EQ(answer.ranks.stragglers.list[0].cause, StragglerCause::device);
      EXPECT_NEAR(static_cast<double>(answer.ranks.stragglers.list[0].costs_ns), truth, 0.1 * truth);
    }
  }
}

TEST(Ranks, AnAllClearHoldsForThoseThatAreThere) {
  MadeJob made = healthy();
  made.world_size = 5;
  const Answer answer(made);
  const Report report = report_ranks(answer.ranks);
  EXPECT_TRUE(test::says(report.headline, {"4 of 5"}));
}

TEST(Ranks, ARankThatIsGivenTwiceCountsOnce) {
  MadeJob job = healthy();
  job.ranks[3].rank = 1;
  const Answer answer(job);
  ASSERT_NE(answer.said("rank_twice"), nullptr);
  EXPECT_TRUE(test::says(answer.said("rank_twice")->message, {"rank 1", "rank3.json"}));
  EXPECT_EQ(answer.ranks.ranks.size(), 3U);
}

TEST(Ranks, WithoutRanksTheNamesOfTheFilesTell) {
  MadeJob job = healthy();
  for (MadeRank& rank : job.ranks) rank.tells_rank = false;
  std::vector<Digest> digests = digests_of(job);
  std::reverse(digests.begin(), digests.end());
  const Job named = assemble_job(digests);
  EXPECT_EQ(named.ranks[3].file, "rank3.json");
  EXPECT_EQ(named.ranks[3].rank, 3);
  for (Digest& digest : digests) digest.path = "trace.json";
  const Job ordered = assemble_job(digests);
  EXPECT_EQ(ordered.ranks.size(), 4U);
  ASSERT_EQ(ordered.diagnostics.size(), 1U);
  EXPECT_EQ(ordered.diagnostics[0].code, "rank_unknown");
}

TEST(Ranks, RanksOfAnotherJobAreLeftOut) {
  std::vector<Digest> digests = digests_of(healthy());
  MadeJob other = healthy(2);
  other.world_size = 64;
  for (Digest& digest : digests_of(other)) digests.push_back(std::move(digest));
  MadeJob later = healthy(1);
  later.world_size = 4;
  later.base_ns += 3'600'000'000'000;
  for (Digest& digest : digests_of(later)) digests.push_back(std::move(digest));
  const Job job = assemble_job(digests);
  EXPECT_EQ(job.ranks.size(), 4U);
  EXPECT_EQ(std::ranges::count(job.diagnostics, "other_job", &Diagnostic::code), 2);
}

TEST(Ranks, GroupsThatNeverMeetHaveNoCommonClock) {
  MadeJob job = healthy();
  job.sequence = false;
  job.ranks[2].pg_name = job.ranks[3].pg_name = "7";
  const Answer answer(job);
  ASSERT_NE(answer.said("groups_apart"), nullptr);
  EXPECT_EQ(answer.ranks.ranks.size(), 4U);
}

}  // namespace
}  // namespace ridge
