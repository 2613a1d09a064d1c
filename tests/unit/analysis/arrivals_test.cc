// arrivals: what it lists one by one adds up to what `ranks` sums up, and one collective is found by when a rank began it.
#include <map>
#include <set>

#include <gtest/gtest.h>

#include <ridge/engine.h>

#include "support/files.h"

namespace ridge {
namespace {

Engine open_job() {
  std::vector<std::string> paths;
  for (int rank = 0; rank < 4; ++rank)
    paths.push_back(test::source_dir() + "/tests/fixtures/ddp_gloo_rank" + std::to_string(rank) + ".json.gz");
  auto engine = Engine::open(paths, {.digests_only = true});
  EXPECT_TRUE(engine);
  return std::move(*engine);
}

Table arrivals_of(const Engine& engine, const Arguments& arguments = {}) {
  auto report = engine.run("arrivals", arguments);
  EXPECT_TRUE(report);
  EXPECT_EQ(report->tables.front().name, "arrivals");
  return std::move(report->tables.front());
}

std::int64_t at(const Table& table, std::string_view column, std::size_t row) {
  return table.column(column).int64(row).value_or(-1);
}

TEST(Arrivals, WaitAndTransferAddUpToThoseOfRanks) {
  const Engine engine = open_job();
  const auto ranks = engine.run("ranks", {});
  ASSERT_TRUE(ranks);
  const Table& sums = ranks->tables.front();
  const Table table = arrivals_of(engine);
  ASSERT_GT(table.size(), 0U);
  std::map<std::int64_t, std::int64_t> wait, transfer;
  for (std::size_t row = 0; row < table.size(); ++row) {
    wait[at(table, "rank", row)] += at(table, "wait_ns", row);
    transfer[at(table, "rank", row)] += at(table, "transfer_ns", row);
  }
  for (std::size_t row = 0; row < sums.size(); ++row) {
    EXPECT_EQ(wait[at(sums, "rank", row)], at(sums, "wait_ns", row));
    EXPECT_EQ(transfer[at(sums, "rank", row)], at(sums, "transfer_ns", row));
  }
}

TEST(Arrivals, TheFirstOfEachCollectiveArrivesAtNothingAndWaitsLongest) {
  const Table table = arrivals_of(open_job());
  std::map<std::int64_t, std::int64_t> earliest, longest;
  for (std::size_t row = 0; row < table.size(); ++row) {
    const std::int64_t meeting = at(table, "meeting", row), after = at(table, "after_ns", row);
    EXPECT_GE(after, 0);
    earliest.try_emplace(meeting, after).first->second = std::min(earliest[meeting], after);
    longest[meeting] = std::max(longest[meeting], at(table, "wait_ns", row));
  }
  for (const auto& [meeting, after] : earliest) EXPECT_EQ(after, 0) << meeting;
  for (std::size_t row = 0; row < table.size(); ++row) {
    if (at(table, "after_ns", row) != 0) continue;
    EXPECT_EQ(at(table, "wait_ns", row), longest[at(table, "meeting", row)]);
  }
}

TEST(Arrivals, OneCollectiveIsFoundByWhenARankBeganIt) {
  const Engine engine = open_job();
  const Table all = arrivals_of(engine);
  const std::size_t row = all.size() / 2;
  const std::int64_t rank = at(all, "rank", row), start = at(all, "own_start_ns", row);
  const Table one = arrivals_of(engine, {{"rank", std::to_string(rank)}, {"at", std::to_string(start)}});
  std::set<std::int64_t> met;
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(at(one, "meeting", i), at(all, "meeting", row));
    met.insert(at(one, "rank", i));
  }
  EXPECT_EQ(met, (std::set<std::int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(arrivals_of(engine, {{"rank", std::to_string(rank)}, {"at", std::to_string(start + 1)}}).size(), 0U);
  EXPECT_EQ(arrivals_of(engine, {{"rank", "1"}}).size(), all.size());  // all take part in all
  EXPECT_FALSE(engine.run("arrivals", {{"rank", "4"}}));
  EXPECT_FALSE(engine.run("arrivals", {{"at", "5"}}));
  EXPECT_FALSE(engine.run("arrivals", {{"rank", "one"}}));
}

// A rank is told by the name that the report has for its trace, whatever the order.
TEST(Arrivals, RanksTellWhichTraceIsWhose) {
  std::vector<std::string> paths;
  for (const int rank : {2, 0, 3, 1})
    paths.push_back(test::source_dir() + "/tests/fixtures/ddp_gloo_rank" + std::to_string(rank) + ".json.gz");
  const auto engine = Engine::open(paths, {});
  ASSERT_TRUE(engine);
  const auto report = engine->run("ranks", {});
  ASSERT_TRUE(report);
  const Table& table = report->tables.front();
  const std::size_t expected[] = {1, 3, 0, 2};
  ASSERT_EQ(table.size(), 4U);
  for (std::size_t row = 0; row < table.size(); ++row) {
    const std::size_t trace = expected[static_cast<std::size_t>(at(table, "rank", row))];
    EXPECT_EQ(table.column("file").text(row), report->traces[trace].name);
  }
}

}  // namespace
}  // namespace ridge
