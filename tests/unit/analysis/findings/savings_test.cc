// What findings save: hand-made programs whose mended step is known, and recorded pairs with their real steps.
#include <gtest/gtest.h>

#include "analysis/catalog.h"
#include "support/files.h"
#include "support/says.h"
#include "unit/analysis/findings/found.h"
#include "unit/analysis/findings/program.h"

namespace ridge {
namespace {

using test::Found;
using test::found_in;
using test::kUs;
using test::TraceText;

// Steps of 1 ms, or as many, on a host that waits for the data loader in each, from 1 us on, and then launches a kernel, which
// takes the rest of the step but for 20 us.
TraceText starved(const std::string& loader, std::int64_t wait_us = 600, int ms = 1) {
  TraceText text;
  for (int i = 0; i < 6; ++i) {
    const std::int64_t length = ms * 1'000 * kUs, at = i * length, from = at + (wait_us + 1) * kUs;
    text.annotation("ProfilerStep#" + std::to_string(i + 1), at, at + length - kUs);
    text.annotation("enumerate(DataLoader)#" + loader + ".__next__", at + kUs, from);
    text.op("aten::mm", from + kUs, from + 19 * kUs).call("cudaLaunchKernel", from + 9 * kUs, from + 14 * kUs, i + 1);
    text.kernel("gemm", from + 19 * kUs, at + length - 20 * kUs, i + 1);
  }
  return text;
}

// Steps of 1.9 ms on a device that is busy for 1.8 ms of each, most of it with two kernels that could be one. The host
// waits for it.
TraceText unfused() {
  constexpr std::string_view kProductOfTwo =
      "void at::native::vectorized_elementwise_kernel<4, at::native::MulFunctor<float>>()";
  constexpr std::string_view kSumOfTwo =
      "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>()";
  TraceText text;
  int id = 0;
  for (int i = 0; i < 6; ++i) {
    std::int64_t at = i * 1'900 * kUs, work = at + 60 * kUs;
    text.annotation("ProfilerStep#" + std::to_string(i + 1), at, at + 1'899 * kUs);
    const auto op = [&](std::string_view name, std::string_view kernel, std::int64_t us) {
      text.op(name, at + kUs, at + 11 * kUs).call("cudaLaunchKernel", at + 3 * kUs, at + 8 * kUs, ++id);
      text.kernel(kernel, work, work + us * kUs, id);
      at += 12 * kUs;
      work += us * kUs;
    };
    op("aten::mm", "gemm", 200);
    op("aten::mul", kProductOfTwo, 700);
    op("aten::add", kSumOfTwo, 700);
    op("aten::mm", "gemm", 200);
    text.call("cudaDeviceSynchronize", at + kUs, work + 20 * kUs);  // the host does not decide how long a step is
  }
  return text;
}

TEST(Savings, OfADataLoaderAreItsWaits) {
  const Found found = found_in(starved("_SingleProcessDataLoaderIter"));
  const RankedFinding* row = found.find("dataloader");
  ASSERT_NE(row, nullptr) << found.ids();
  ASSERT_TRUE(row->savings.saves_pct);
  EXPECT_NEAR(*row->savings.saves_pct, 60, 6);
  EXPECT_LE(*row->savings.low_pct, *row->savings.saves_pct);
  EXPECT_GE(*row->savings.high_pct, *row->savings.saves_pct);
  EXPECT_LE(*row->savings.saves_ns, *row->at_most_ns);
}

// Workers that are too slow are not gone with more of them: of what is waited for them 0.85, and all of it at most. Of what the
// recorder costs the host a part may be waiting, too.
TEST(Savings, OfMoreWorkersArePartOfTheWaits) {
  const Found found = found_in(starved("_MultiProcessingDataLoaderIter"));
  const RankedFinding* row = found.find("dataloader");
  ASSERT_NE(row, nullptr) << found.ids();
  ASSERT_TRUE(row->savings.saves_pct);
  EXPECT_NEAR(*row->savings.saves_pct, 56, 5);  // of 60, and what is hidden
  EXPECT_GE(*row->savings.high_pct, 60);
  EXPECT_LE(*row->savings.low_pct, 40) << "a third of it may not come";
  EXPECT_GE(*row->at_most_ns, 590 * kUs);
  EXPECT_TRUE(test::says(row->finding.action, {"num_workers", "more workers"})) << row->finding.action;
  EXPECT_FALSE(
      test::says(found_in(starved("_SingleProcessDataLoaderIter")).find("dataloader")->finding.action, {"more workers"}));
}

// How long a step takes without the profiler is known to a factor. Where the device may be busy for all of the shortest, what
// the host holds up may be the recorder's doing alone: that is the low end, whoever is blamed. Not where less is busy, where
// the step was measured, or of work that goes, which nobody's recording made.
TEST(Savings, OfTheHostMayBeNoneWhereTheRecorderMayExplainAllOfThem) {
  const std::string loader = "_SingleProcessDataLoaderIter";
  const auto row_of = [](const Found& found, std::string_view id) {
    const RankedFinding* row = found.find(id);
    EXPECT_NE(row, nullptr) << id << " of " << found.ids();
    return row == nullptr ? RankedFinding{} : *row;
  };
  const Found busy = found_in(starved(loader, 260, 2));  // for 1'700 us of a step
  const Savings explained = row_of(busy, "dataloader").savings;
  EXPECT_GT(explained.saves_pct.value_or(0), 5);
  EXPECT_EQ(explained.low_pct, 0);
  EXPECT_FALSE(busy.findings.recorder_may_explain) << "which is said of late launches alone";

  const Found idle = found_in(starved(loader, 700, 2));
  EXPECT_GT(row_of(idle, "dataloader").savings.low_pct.value_or(0), 1);

  const Scope scope(*busy.loaded.model);
  const SavingsOnce measured(scope, WhatIf::From::without_profiler, 2'000 * kUs);
  const Findings known = compute_findings(scope, {}, {.savings = &measured});
  const auto same = std::ranges::find(known.rows, "dataloader", &RankedFinding::id);
  ASSERT_NE(same, known.rows.end());
  EXPECT_GT(same->savings.low_pct.value_or(0), 1);

  const Found work = found_in(unfused());
  const Savings fused = row_of(work, "unfused_pointwise").savings;
  EXPECT_GT(fused.low_pct.value_or(0), 1) << fused.saves_pct.value_or(-1) << " up to " << fused.high_pct.value_or(-1);
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
        Pair{"pair_dataloader_fault", "dataloader", 82.8, 5}, Pair{"pair_casts_fault", "repeated_casts", 46.7, 8},
        Pair{"pair_strided_softmax_fault", "memory_bound_inefficient", 63.4, 5},
        Pair{"pair_layout_fault", "layout_transforms", 38.4, 8}, Pair{"pair_metrics_fault", "host_sync", 11.5, 5},
        Pair{"pair_empty_cache_fault", "allocator", 17.8, 11}, Pair{"pair_tokenised_fault", "preprocessing", 36.6, 12},
        Pair{"pair_weights_fault", "repeated_casts", 30.9, 8}, Pair{"pair_norm_loop_fault", "tiny_kernels", 77.2, 8},
        Pair{"pair_tf32_fault", "tf32_off", 81.9, 5}, Pair{"pair_breaks_fault", "graph_breaks", 12.7, 4},
        Pair{"pair_two_attentions_fault", "unfused_attention", 69.1, 8},
        Pair{"pair_across_fault", "memory_bound_inefficient", 64.3, 5},
        Pair{"pair_normalise_fault", "preprocessing", 97.2, 5}}) {
    const auto path = test::path_of(pair.trace);
    if (!path) continue;
    const Found found(test::load_file(*path));
    const RankedFinding* row = found.find(pair.finding);
    ASSERT_NE(row, nullptr) << pair.trace << ": " << found.ids();
    ASSERT_TRUE(row->savings.saves_pct) << pair.trace;
    EXPECT_NEAR(*row->savings.saves_pct, pair.real_pct, pair.off) << pair.trace;
  }
}

// Whose interval holds a notable share says that it is not known well enough, and not that it saves nothing.
TEST(Savings, OfNothingAreNotCertainWhereTheIntervalIsWide) {
  const Found found(test::load_file(*test::path_of("gpt_compiled_train")));
  std::size_t uncertain = 0;
  for (const RankedFinding& row : found.findings.rows) {
    const bool nothing = row.finding.finding.find("saves nothing") != std::string::npos;
    EXPECT_LE(nothing ? row.savings.high_pct.value_or(0) : 0, 5) << row.id;
    uncertain += row.finding.finding.find("not known well enough") != std::string::npos ? 1U : 0U;
  }
  EXPECT_GT(uncertain, 0U);
}

// CUDA graphs that may bring something, or nothing: the row says why it tells nothing, and what would tell it.
TEST(Savings, OfGraphsSayWhatIsNotKnown) {
  const auto path = test::path_of("gpt_eager_train");
  if (!path) GTEST_SKIP() << "no such trace here";
  const Found found(test::load_file(*path));
  const RankedFinding* row = found.find("launch_bound");
  ASSERT_NE(row, nullptr) << found.ids();
  EXPECT_EQ(row->savings.saves_ns, 0);
  EXPECT_FALSE(row->finding.changes.empty());
  EXPECT_TRUE(test::says(row->finding.finding, {"not known well enough", "--step-time"})) << row->finding.finding;
}

// Who prepares batches ahead copies them ahead: without the copies the bound would be 94 %, and 97 were saved.
TEST(Savings, OfPreparationAreBoundedByWhatTheDeviceComputes) {
  const Found found(test::load_file(*test::path_of("pair_normalise_fault")));
  const RankedFinding* row = found.find("preprocessing");
  ASSERT_NE(row, nullptr) << found.ids();
  EXPECT_GE(row->at_most_pct.value_or(0), 97.2);
  EXPECT_LT(row->at_most_ns.value_or(INT64_MAX), found.findings.time.mean_ns());
}

struct Gain {
  const char* trace;
  const char* finding;
  std::int64_t real_us;  // that mending saved of a step
};

// A bound in time holds against what was measured: also where the host no longer waits and is ahead, where kernels beside the
// mended ones become faster, and where pauses go with the kernels behind them.
TEST(Savings, StayBelowTheBoundInRecordedPairs) {
  for (const Gain& gain :
       {Gain{"pair_launch_encoder_fault", "launch_bound", 4'442}, Gain{"pair_pointwise_fault", "unfused_pointwise", 1'715},
        Gain{"pair_casts_fault", "repeated_casts", 561}, Gain{"pair_strided_softmax_fault", "memory_bound_inefficient", 980},
        Gain{"pair_layout_fault", "layout_transforms", 1'323}, Gain{"pair_metrics_fault", "host_sync", 216},
        Gain{"pair_empty_cache_fault", "allocator", 261}, Gain{"pair_tokenised_fault", "preprocessing", 565},
        Gain{"pair_weights_fault", "repeated_casts", 108}, Gain{"pair_norm_loop_fault", "tiny_kernels", 1'427},
        Gain{"pair_tf32_fault", "tf32_off", 11'704}}) {
    const auto path = test::path_of(gain.trace);
    ASSERT_TRUE(path) << gain.trace;
    const Found found(test::load_file(*path));
    const RankedFinding* row = found.find(gain.finding);
    ASSERT_NE(row, nullptr) << gain.trace << ": " << found.ids();
    EXPECT_GE(row->at_most_ns.value_or(INT64_MAX), gain.real_us * kUs) << gain.trace;
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

// A step that no cost of the profiler explains is said: a thousand times as long, as one given in us is.
TEST(Savings, AnImpossibleStepTimeIsSaid) {
  const auto path = test::path_of("pair_sync_mask_fault");
  ASSERT_TRUE(path);
  const test::LoadedTrace loaded = test::load_file(*path);
  const auto said = [&](const std::string& ms) {
    const auto report = run_findings(Scope(*loaded.model), {{"step_time", ms}});
    return report &&
           std::ranges::find(report->diagnostics, "step_time_unexplained", &Diagnostic::code) != report->diagnostics.end();
  };
  EXPECT_TRUE(said("870"));
  EXPECT_FALSE(said("0.87"));
  EXPECT_TRUE(unexplained_text(390'000'000, 428'000).ends_with("is it in ms?"));
  EXPECT_FALSE(unexplained_text(390'000, 428'000).ends_with("is it in ms?"));
}

}  // namespace
}  // namespace ridge
