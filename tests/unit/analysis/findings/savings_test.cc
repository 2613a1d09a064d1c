// What findings save: hand-made programs whose mended step is known, and recorded pairs with their real steps.
#include <gtest/gtest.h>

#include "support/files.h"
#include "unit/analysis/findings/found.h"
#include "unit/analysis/findings/program.h"

namespace ridge {
namespace {

using test::Found;
using test::found_in;
using test::kUs;
using test::TraceText;

// Steps of 1 ms on a host that sleeps in the data loader for 600 us of each.
TEST(Savings, OfADataLoaderAreItsWaits) {
  TraceText text;
  for (int i = 0; i < 6; ++i) {
    const std::int64_t at = i * 1'000 * kUs;
    text.annotation("ProfilerStep#" + std::to_string(i + 1), at, at + 999 * kUs);
    text.annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", at + kUs, at + 601 * kUs);
    text.op("aten::mm", at + 602 * kUs, at + 620 * kUs).call("cudaLaunchKernel", at + 610 * kUs, at + 615 * kUs, i + 1);
    text.kernel("gemm", at + 620 * kUs, at + 980 * kUs, i + 1);
  }
  const Found found = found_in(text);
  const RankedFinding* row = found.find("dataloader");
  ASSERT_NE(row, nullptr) << found.ids();
  ASSERT_TRUE(row->savings.saves_pct);
  EXPECT_NEAR(*row->savings.saves_pct, 60, 6);
  EXPECT_LE(*row->savings.low_pct, *row->savings.saves_pct);
  EXPECT_GE(*row->savings.high_pct, *row->savings.saves_pct);
  EXPECT_LE(*row->savings.saves_ns, *row->at_most_ns);
}

struct Pair {
  const char* trace;
  const char* finding;
  double real_pct;  // that mending saved of the real step
  double off;       // points that the answer may be off
};

// The programs that prices were read from; docs/accuracy.md has the others.
TEST(Savings, OfRecordedPairsAreNearTheTruth) {
  for (const Pair& pair :
       {Pair{"pair_launch_encoder_fault", "launch_bound", 91.9, 5}, Pair{"pair_pointwise_fault", "unfused_pointwise", 92.6, 5},
        Pair{"pair_dataloader_fault", "dataloader", 82.8, 5}, Pair{"pair_casts_fault", "repeated_casts", 46.7, 8}}) {
    const auto path = test::path_of(pair.trace);
    if (!path) continue;
    const Found found(test::load_file(*path));
    const RankedFinding* row = found.find(pair.finding);
    ASSERT_NE(row, nullptr) << pair.trace << ": " << found.ids();
    ASSERT_TRUE(row->savings.saves_pct) << pair.trace;
    EXPECT_NEAR(*row->savings.saves_pct, pair.real_pct, pair.off) << pair.trace;
  }
}

// No finding brings more than its bound, the whole is no more than the step, and never less than the best of its parts.
TEST(Savings, KeepToTheirBounds) {
  std::size_t seen = 0;
  for (const std::string& path : test::own_traces()) {
    const Found found(test::load_file(path));
    for (const RankedFinding& row : found.findings.rows) {
      if (!row.savings.saves_ns) continue;
      ++seen;
      EXPECT_LE(*row.savings.saves_ns, row.at_most_ns.value_or(INT64_MAX)) << path << " " << row.id;
      EXPECT_LE(*row.savings.saves_pct, 100.0) << path << " " << row.id;
      EXPECT_LE(*row.savings.low_pct, *row.savings.high_pct) << path << " " << row.id;
      ASSERT_TRUE(found.findings.all.saves_pct) << path;
    }
    EXPECT_LE(found.findings.all.saves_pct.value_or(0), 100.0) << path;
  }
  EXPECT_GE(seen, 30U);
}

// A replay keeps waits for other processes as they were: what their end would bring is not known, and not 0.
TEST(Savings, OfWhatAReplayCannotTellAreUnknown) {
  std::size_t seen = 0;
  for (const std::string& path : test::own_traces()) {
    const Found found(test::load_file(path));
    const RankedFinding* row = found.find("exposed_communication");
    if (row == nullptr || !row->remedy.removal.empty()) continue;
    ++seen;
    EXPECT_FALSE(row->savings.saves_ns) << path;
    EXPECT_FALSE(row->savings.low_pct) << path;
  }
  EXPECT_GE(seen, 1U);
}

}  // namespace
}  // namespace ridge
