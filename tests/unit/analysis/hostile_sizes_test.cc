// Traces with sizes that no memory has: bytes are unknown, or their sum stops at the largest value; none is below zero.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "analysis/collectives/collectives.h"
#include "analysis/copies/copies.h"
#include "support/loaded_trace.h"

namespace ridge {
namespace {

constexpr std::int64_t kMostBytes = std::numeric_limits<std::int64_t>::max();

std::string copy(std::string_view name, int ts, std::int64_t bytes) {
  return test::event({.name = name,
                      .ts = ts,
                      .dur = 2,
                      .cat = "gpu_memcpy",
                      .args = fmt::format(R"("device": 0, "stream": 7, "bytes": {})", bytes),
                      .tid = 7});
}

TEST(HostileSizes, OfCopiesStopAtTheLargestValue) {
  const auto loaded = test::load_events(
      test::join({copy("Memcpy HtoD (Pinned -> Device)", 0, kMostBytes), copy("Memcpy HtoD (Pinned -> Device)", 10, kMostBytes),
                  copy("Memcpy DtoH (Device -> Pinned)", 20, kMostBytes)}));
  const Report report = report_copies(compute_copies(Scope(*loaded.model)));
  EXPECT_EQ(report.tables.at(0).total->at(4), Cell(kMostBytes));
}

TEST(HostileSizes, OfCopiesBelowZeroAreUnknown) {
  const auto loaded = test::load_events(
      test::join({copy("Memcpy HtoD (Pinned -> Device)", 0, -5), copy("Memcpy DtoH (Device -> Pinned)", 20, 7),
                  copy("Memcpy DtoH (Device -> Pinned)", 30, std::numeric_limits<std::int64_t>::min())}));
  const Copies copies = compute_copies(Scope(*loaded.model));
  ASSERT_EQ(copies.rows.size(), 2U);
  for (const CopyRow& row : copies.rows)
    EXPECT_EQ(row.bytes, row.kind.direction == "HtoD" ? std::nullopt : std::optional<std::int64_t>(7));
}

std::string all_reduce(int i, std::int64_t elements, std::int64_t ranks) {
  return test::event({.name = "ncclDevKernel_AllReduce_Sum_f64_RING_LL(int)",
                      .ts = 10 * i,
                      .dur = 5,
                      .cat = "kernel",
                      .args = fmt::format(R"("device": 0, "stream": 7, "Collective name": "allreduce", "dtype": "Double", )"
                                          R"("In msg nelems": {0}, "Out msg nelems": {0}, "Group size": {1})",
                                          elements, ranks),
                      .tid = 7});
}

// 8 bytes an element: 2^63 - 1 of them wrap around to -8 bytes.
TEST(HostileSizes, OfCollectivesAreUnknown) {
  for (const std::int64_t elements :
       {kMostBytes, kMostBytes / 8 + 1, std::int64_t{-1}, std::numeric_limits<std::int64_t>::min()}) {
    const auto loaded = test::load_events(all_reduce(0, elements, -3));
    const Scope scope(*loaded.model);
    const CollectiveRow row = compute_collectives(scope).rows.at(0);
    EXPECT_FALSE(row.bytes) << elements;
    EXPECT_FALSE(row.ranks) << elements;
    EXPECT_FALSE(scope.costs()[0].bytes_read) << elements;
    EXPECT_FALSE(scope.costs()[0].bytes_written) << elements;
  }
}

TEST(HostileSizes, OfCollectivesStopAtTheLargestValue) {
  std::string events = all_reduce(0, 125'000'000'000'000'000, 4);
  for (int i = 1; i < 12; ++i) events += ", " + all_reduce(i, 125'000'000'000'000'000, 4);
  const auto loaded = test::load_events(events);
  EXPECT_EQ(compute_collectives(Scope(*loaded.model)).rows.at(0).bytes, kMostBytes);
}

}  // namespace
}  // namespace ridge
