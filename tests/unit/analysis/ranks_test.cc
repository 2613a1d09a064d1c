// ranks, on jobs played by hand: clocks, waiting apart from transfer, stragglers of each cause with their cost, and jobs that
// are not whole.
#include "analysis/ranks/ranks.h"

#include <algorithm>
#include <numeric>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ridge/engine.h>

#include "analysis/catalog.h"
#include "ingest/reader.h"
#include "job/digest_file.h"
#include "job/make_digest.h"
#include "support/files.h"
#include "support/made_job.h"
#include "support/says.h"
#include "support/trace_lines.h"

namespace ridge {
namespace {

using test::MadeJob;
using test::MadeRank;

std::vector<Digest> digests_of(const MadeJob& job) {
  std::vector<Digest> digests;
  const std::vector<std::string> traces = test::made_traces(job);
  for (std::size_t r = 0; r < traces.size(); ++r) {
    const auto trace = read_trace_bytes(traces[r], "rank" + std::to_string(r) + ".json", {});
    EXPECT_TRUE(trace.has_value());
    digests.push_back(make_digest(Model(**trace)));
  }
  return digests;
}

// The answer refers to the digests.
struct Answer {
  explicit Answer(const MadeJob& made) : Answer(digests_of(made)) {}
  explicit Answer(std::vector<Digest> of) : digests(std::move(of)), job(assemble_job(digests)), ranks(compute_ranks(job)) {}
  const std::vector<Digest> digests;
  const Job job;
  const Ranks ranks;

  const Diagnostic* said(std::string_view code) const {
    const auto it = std::find_if(ranks.job.diagnostics.begin(), ranks.job.diagnostics.end(),
                                 [&](const Diagnostic& d) { return d.code == code; });
    return it == ranks.job.diagnostics.end() ? nullptr : &*it;
  }
};

MadeJob healthy(std::size_t ranks = 4) { return {.ranks = std::vector<MadeRank>(ranks)}; }

// What the step of a job takes more than that of the same job with the rank mended.
std::int64_t true_cost_ns(const MadeJob& job, const MadeJob& mended) {
  std::int64_t with = 0, without = 0;
  test::made_traces(job, &with);
  test::made_traces(mended, &without);
  return (with - without) * 1000;
}

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

TEST(Ranks, WhatChangedBetweenTwoRecordingsIsTold) {
  MadeJob slow = healthy();
  slow.ranks[2].kernel_us = 120;
  const std::vector<Digest> before = digests_of(healthy()), after = digests_of(slow);
  const Job assembled_before = assemble_job(before), assembled_after = assemble_job(after);
  const auto report = run_ranks(assembled_after, &assembled_before, {});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->tables[0].name, "ranks");
  for (std::size_t r = 0; r < 4; ++r) {
    EXPECT_EQ(report->tables[0].column("delta_ns").int64(r), 200'000);  // of a step
    EXPECT_EQ(report->tables[0].column("compute_delta_ns").int64(r), r == 2 ? 200'000 : 0);
    EXPECT_EQ(report->tables[0].column("wait_delta_ns").int64(r), r == 2 ? 0 : 200'000);
  }
  const Table& parts = report->tables[2];
  ASSERT_EQ(parts.name, "waterfall");
  ASSERT_TRUE(parts.total);
  for (const std::size_t column : {1U, 2U, 3U}) {
    std::int64_t sum = 0;
    for (std::size_t row = 0; row < parts.size(); ++row) sum += parts.columns[column].int64(row).value_or(0);
    EXPECT_EQ(sum, std::get<std::int64_t>((*parts.total)[column])) << parts.columns[column].name;
  }
  EXPECT_EQ(parts.column("delta_ns").int64(0), 50'000);  // computing, of the mean rank
  const Table& stragglers = report->tables[3];
  ASSERT_EQ(stragglers.size(), 1U);
  EXPECT_FALSE(stragglers.column("costs_a_ns").int64(0));
  EXPECT_NEAR(static_cast<double>(*stragglers.column("costs_b_ns").int64(0)), 200'000, 10'000);
}

TEST(Ranks, FindingsAreJoinedWithTheRanksTheyHoldFor) {
  std::vector<Digest> digests = digests_of(healthy());
  for (Digest& digest : digests) digest.knows_findings = true;
  digests[0].findings = {{"host_sync", "the host waits", "do not", 100, 200}};
  digests[1].findings = {{"host_sync", "the host waits", "do not", 300, 400},
                         {"tf32_off", "slow products", "allow it", {}, 10}};
  const Job job = assemble_job(digests);
  const Report report = report_ranks(compute_ranks(job));
  const Table& table = report.tables.back();
  ASSERT_EQ(table.name, "findings");
  ASSERT_EQ(table.size(), 2U);
  EXPECT_EQ(table.column("id").text(0), "host_sync");
  EXPECT_EQ(table.column("holds_for").int64(0), 2);
  EXPECT_EQ(table.column("saves_ns").int64(0), 200);
  EXPECT_EQ(table.column("ranks").text(0), "0, 1");
  EXPECT_FALSE(table.column("saves_ns").int64(1));
}

TEST(Ranks, OneTraceIsNoJob) {
  const std::vector<Digest> digests = digests_of(healthy(1));
  const auto report = run_ranks(assemble_job(digests), nullptr, {});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::usage);
}

// Of the traces in a folder of the repository; rows of `ranks`.
Table ranks_of(const std::vector<std::string>& paths) {
  auto report = Engine::open(paths, {.digests_only = true})->run("ranks", {});
  EXPECT_TRUE(report);
  return std::move(report->tables.front());
}

TEST(Ranks, CollectivesThatOverlapAreExposedOnce) {
  std::vector<std::string> paths;
  for (int rank = 0; rank < 8; ++rank)
    paths.push_back(test::source_dir() + "/examples/job/rank" + std::to_string(rank) + ".json.gz");
  const Table table = ranks_of(paths);
  for (std::size_t row = 0; row < table.size(); ++row) {
    // All work of these devices is computing or collectives.
    EXPECT_EQ(table.column("exposed_ns").int64(row),
              *table.column("busy_ns").int64(row) - *table.column("compute_ns").int64(row));
  }
}

// Collectives of the host (gloo) copy to and from the device; that is no computing, and the device is busy with it.
TEST(Ranks, BusyAndExposedOfCollectivesOnTheHost) {
  std::vector<std::string> paths;
  for (int rank = 0; rank < 4; ++rank)
    paths.push_back(test::source_dir() + "/tests/fixtures/ddp_gloo_rank" + std::to_string(rank) + ".json.gz");
  const Table table = ranks_of(paths);
  for (std::size_t row = 0; row < table.size(); ++row) {
    const auto gpu = Engine::open({paths[row]}, {})->run("gpu", {});
    ASSERT_TRUE(gpu);
    const auto busy = static_cast<double>(*gpu->tables.front().column("busy_ns").int64(0));
    EXPECT_NEAR(static_cast<double>(*table.column("busy_ns").int64(row)), busy, 0.01 * busy);
    const std::int64_t steps = *table.column("steps").int64(row) * *table.column("step_ns").int64(row);
    EXPECT_LE(*table.column("exposed_ns").int64(row), steps);
  }
}

TEST(Ranks, AGroupOfUnknownSizeHasNoBusBandwidth) {
  MadeJob made = healthy();
  std::vector<Digest> digests = digests_of(made);
  for (Digest& digest : digests) {
    for (DigestGroup& group : digest.groups) group.size.reset();
    digest.world_size = 64;
  }
  const Job job = assemble_job(digests);
  const Report unknown = report_ranks(compute_ranks(job));
  EXPECT_FALSE(unknown.tables[2].column("ranks").int64(0));
  EXPECT_TRUE(unknown.tables[2].column("algbw").number(0));
  EXPECT_FALSE(unknown.tables[2].column("busbw").number(0));
  // All ranks of the world took part: it is as large as that.
  for (Digest& digest : digests) digest.world_size = 4;
  const Job whole = assemble_job(digests);
  const Report known = report_ranks(compute_ranks(whole));
  EXPECT_EQ(known.tables[2].column("ranks").int64(0), 4);
  EXPECT_TRUE(known.tables[2].column("busbw").number(0));
}

TEST(Ranks, ALinkWithoutItsLikeIsSaidToBeUnjudged) {
  const Answer answer(healthy());
  const Report report = report_ranks(answer.ranks);
  const auto said = std::ranges::find(report.diagnostics, "link_unjudged", &Diagnostic::code);
  ASSERT_NE(said, report.diagnostics.end());
  EXPECT_TRUE(test::says(said->message, {"ranks 0-3", "30 GB/s"}));
  EXPECT_TRUE(test::says(report.headline, {"no straggler", "cannot be judged"}));
}

TEST(Ranks, BetweenNodesThePeakIsTheUsers) {
  MadeJob made = healthy();
  for (std::size_t r = 0; r < 4; ++r) made.ranks[r].host = r < 2 ? "a" : "b";
  const std::vector<Digest> digests = digests_of(made);
  const Job job = assemble_job(digests);
  const auto unknown = run_ranks(job, nullptr, {});
  ASSERT_TRUE(unknown);
  EXPECT_FALSE(unknown->tables[2].column("pct_peak_link").number(0));
  // 30 GB/s of the bus; two ranks a machine with 25 GB/s each.
  const auto known = run_ranks(job, nullptr, {{"network_gbps", "200"}});
  ASSERT_TRUE(known);
  EXPECT_NEAR(*known->tables[2].column("pct_peak_link").number(0), 60, 0.5);
  for (const char* wrong : {"fast", "0", "-1", "nan"}) EXPECT_FALSE(run_ranks(job, nullptr, {{"network_gbps", wrong}}));
}

TEST(Ranks, PlainDataParallelIsNoTensorGroup) {
  const Answer one(healthy(8));  // one bucket for all gradients, waited for at once
  ASSERT_EQ(one.job.groups.size(), 1U);
  EXPECT_EQ(one.job.groups[0].role, GroupRole::data);
}

TEST(Ranks, OneMachineIsNotToldWhereRanksOfTheGroupAreMissing) {
  MadeJob made = healthy();
  for (MadeRank& rank : made.ranks) rank.host = "a";
  EXPECT_TRUE(Answer(made).job.groups[0].one_host);
  std::vector<Digest> half = digests_of(made);
  half.resize(2);
  const Job job = assemble_job(half);
  EXPECT_FALSE(job.groups[0].one_host);
  EXPECT_FALSE(job.groups[0].hosts_known);
}

TEST(Ranks, GroupsOfOneNameAreToldApartByTheirRanks) {
  std::vector<Digest> digests = digests_of(healthy());
  for (std::size_t r = 0; r < 4; ++r) {
    for (DigestGroup& group : digests[r].groups) {
      group.ranks = r < 2 ? std::vector<std::int64_t>{0, 1} : std::vector<std::int64_t>{2, 3};
      group.size = 2;
    }
  }
  const Job job = assemble_job(digests);
  ASSERT_EQ(job.groups.size(), 2U);
  EXPECT_EQ(job.groups[0].label, "0 (0-1)");
  EXPECT_EQ(job.groups[1].label, "0 (2-3)");
  // Ranks that share no clock have no offset from each other.
  const Report report = report_ranks(compute_ranks(job));
  EXPECT_TRUE(report.tables[0].column("offset_ns").int64(1));
  EXPECT_FALSE(report.tables[0].column("offset_ns").int64(2));
  ASSERT_FALSE(job.diagnostics.empty());
  EXPECT_TRUE(test::says(job.diagnostics[0].message, {"ranks 2-3 share no collective"}));
}

TEST(Ranks, TheReportHasTheColumnsOfTheContract) {
  const Answer answer(healthy());
  const Report report = report_ranks(answer.ranks);
  const auto begins_with = [&](std::size_t table, std::vector<std::string> names) {
    const std::vector<Column>& columns = report.tables[table].columns;
    for (std::size_t i = 0; i < names.size(); ++i) EXPECT_EQ(columns[i].name, names[i]);
  };
  begins_with(
      0, {"rank", "file", "offset_ns", "step_ns", "busy_ns", "compute_ns", "comm_ns", "wait_ns", "transfer_ns", "late_ns"});
  begins_with(1, {"rank", "group", "cause", "costs_ns", "costs_pct", "evidence"});
  begins_with(2, {"name", "group", "ranks", "count", "bytes", "wait_ns", "transfer_ns", "algbw", "busbw"});
  // 4 MB in 200 us; 2 (n - 1) / n of it on the bus.
  EXPECT_NEAR(*report.tables[2].column("algbw").number(0), 4e6 / 200e-6, 1);
  EXPECT_NEAR(*report.tables[2].column("busbw").number(0), 1.5 * 4e6 / 200e-6, 1);
}

}  // namespace
}  // namespace ridge
