// What the tables of ranks say: columns, bandwidths, groups and links, findings, what changed between two recordings.
#include "analysis/ranks/ranks.h"

#include <algorithm>

#include <gtest/gtest.h>

#include <ridge/engine.h>

#include "analysis/catalog.h"
#include "support/files.h"
#include "support/made_answer.h"
#include "support/says.h"

namespace ridge {
namespace {

using test::Answer;
using test::digests_of;
using test::healthy;
using test::MadeJob;
using test::MadeRank;

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
