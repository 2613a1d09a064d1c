// Findings against programs whose faults are known (recorded on an H200), and against their twins without. Traces that are not
// in the repository are skipped where the folder beside it is absent.
#include <gtest/gtest.h>

#include <set>

#include "analysis/findings/catalog.h"
#include "support/edited_trace.h"
#include "support/files.h"
#include "support/table_rows.h"
#include "unit/analysis/findings/found.h"

namespace ridge {
namespace {

using test::Found;

struct Fault {
  std::string_view trace;
  std::string_view id;
  std::size_t rank;            // at most; 0: must not be there
  std::string_view says = {};  // in its evidence or finding
};

constexpr std::size_t kAnywhere = 99;

constexpr Fault kFaults[] = {
    {"fault_item_sync", "host_sync", 2, "aten::item"},
    {"clean_no_sync", "host_sync", 0},
    {"fault_pageable_copy", "pageable_copy", 2, "HtoD"},
    {"clean_pinned_copy", "pageable_copy", 0},
    {"fault_optimizer_loop", "optimizer_not_fused", 2, "aten::"},
    {"clean_optimizer_fused", "optimizer_not_fused", 0},
    {"fault_channels_first", "layout_transforms", 2, "nchwToNhwc"},
    {"clean_channels_last", "layout_transforms", 0},
    {"fault_fp32_no_tf32", "tf32_off", 2, "sm80_xmma_gemm_f32f32"},
    {"clean_tf32", "tf32_off", 0},
    {"fault_unfused_pointwise", "unfused_pointwise", 2, "aten::"},
    {"clean_fused_pointwise", "unfused_pointwise", 0},
    {"fault_double_casts", "duplicate_casts", 2, "aten::to"},
    {"fault_double_casts", "duplicate_casts", 2, ": 6 round trips per iteration"},  // cast, multiply, cast back, six times
    {"fault_tiny_kernels", "tiny_kernels", 2, "aten::add_"},
    {"fault_recompile_in_window", "recompiles", 2, "gen5.py:89"},
    {"fault_recompile_in_window", "compile_in_window", 2},
    {"fault_recompile_limit", "recompile_limit", 2},
    {"fault_uncached_allocator", "allocator", 2, "cuda"},
    // the other way round: what these programs do not do
    {"clean_no_sync", "tiny_kernels", 0},
    {"clean_optimizer_fused", "tiny_kernels", 0},
    {"clean_fused_pointwise", "recompile_limit", 0},
    {"clean_fused_pointwise", "recompiles", 0},
    {"clean_fused_pointwise", "compile_in_window", 0},
    {"clean_channels_last", "allocator", 0},
    {"gpt_eager_train_stack_mem", "duplicate_casts", 0},
    {"fault_unfused_pointwise", "duplicate_casts", 0},
    // models
    {"densenet121_bs1_eager", "launch_bound", 1, "aten::batch_norm"},
    {"densenet121_bs1_compiled", "launch_bound", 1},
    {"densenet121_bs1_cudagraph", "launch_bound", 0},
    {"gpt_cudagraph_infer", "launch_bound", 0},
    {"densenet121_bs1_eager", "tiny_kernels", 0},
    {"graph_breaks_stack", "graph_breaks", kAnywhere, ".py:"},
    {"graph_breaks", "graph_breaks", kAnywhere},
    {"graph_breaks_inference", "graph_breaks", kAnywhere},
    {"nested_disabled_not_a_plain_break", "graph_breaks", kAnywhere, "disabled function"},
    {"break_datadep_recompile", "graph_breaks", kAnywhere, "item"},
    {"break_datadep_recompile", "recompiles", kAnywhere},
    {"gpt_compiled_train", "graph_breaks", 0},
    {"opzoo_eager", "layout_transforms", kAnywhere},
    {"compiled_with_fallbacks", "inductor_fallback", kAnywhere, "linalg_qr"},
    {"clean_fused_pointwise", "inductor_fallback", 0},
    {"clean_fused_pointwise", "guard_overhead", kAnywhere, "Cache Lookup"},
    {"fault_tiny_kernels", "guard_overhead", 0},
    {"ddp_gloo_rank0", "exposed_communication", 1, "gloo"},
    {"fault_item_sync", "exposed_communication", 0},
    {"resnet18_compile_time", "autotune_in_window", kAnywhere},
    {"resnet18_compile_time", "compile_in_window", 1},
    {"autotune_own", "autotune_in_window", 1, "scaled_add"},  // triton.autotune has no span; its waits are not the program's
    {"autotune_own", "host_sync", 0},
    {"fault_recompile_in_window", "autotune_in_window", 0},
    {"fault_tiny_kernels", "autotune_in_window", 0},
    {"fault_optimizer_loop", "first_iteration_outlier", 0},
    // recorded for these rules
    {"fault_dataloader", "dataloader", 1},
    {"fault_item_sync", "dataloader", 0},
    {"fault_unfused_attention", "unfused_attention", 2, "softmax"},
    {"gpt_eager_train_stack_mem", "unfused_attention", 0},
    {"gpt_compiled_train", "unfused_attention", 0},
    {"fault_gemm_misaligned", "gemm_alignment", 1, "4097x4097x4097"},
    {"clean_busy_gemm", "gemm_alignment", 0},
    {"fault_transposed_copy", "memory_bound_inefficient", 1, "of peak bandwidth"},
    {"clean_fused_pointwise", "memory_bound_inefficient", 0},
    {"pair_sync_mask_fault", "host_sync", 1, "aten::index"},  // hidden by the recorder's own cost
    {"pair_sync_mask_mended", "host_sync", 0},
    {"fault_casts", "repeated_casts", 2, "aten::to"},
    {"clean_casts", "repeated_casts", 0},
    {"fault_preprocess", "preprocessing", 1},
    {"clean_preprocess", "preprocessing", 0},
    {"fault_cpu_kernel_break", "cpu_kernels", 2, "<built-in function kernel>"},
    {"graph_breaks_calls", "cpu_kernels", 0},
    {"graph_breaks_calls", "graph_breaks", kAnywhere, "calls <built-in function print>"},
};

TEST(FindingsOfRealTraces, AreThoseOfTheirPrograms) {
  std::string last;
  std::unique_ptr<Found> found;
  for (const Fault& c : kFaults) {
    const auto path = test::path_of(std::string(c.trace));
    if (!path) continue;
    if (last != c.trace) found = std::make_unique<Found>(test::load_file(*path));
    last = c.trace;
    const std::size_t rank = found->rank(c.id);
    EXPECT_EQ(rank == 0, c.rank == 0) << c.trace << ": " << c.id << " in " << found->ids();
    EXPECT_LE(rank, c.rank) << c.trace << ": " << c.id << " in " << found->ids();
    if (rank == 0 || c.says.empty()) continue;
    const Finding& finding = found->find(c.id)->finding;
    EXPECT_NE((finding.finding + " | " + finding.evidence).find(c.says), std::string::npos)
        << c.trace << ": " << finding.evidence;
  }
}

// What a finding names for whatif's --do saves there what it promises: not all of a change is promised where not all is
// certain.
TEST(FindingsOfRealTraces, ChangesSaveWhatFindingsPromise) {
  std::size_t whole = 0, in_part = 0;
  for (const char* name : {"gpt_eager_train_stack_mem", "gpt_compiled_train", "densenet121_bs1_eager", "pair_optimizer_fault",
                           "fault_optimizer_loop", "fault_tiny_kernels", "omni_eager_double"}) {
    const auto path = test::path_of(name);
    if (!path) continue;
    const Found found(test::load_file(*path));
    const Scope scope(*found.loaded.model);
    const StepSavings savings(scope);
    for (const RankedFinding& row : found.findings.rows) {
      if (row.finding.changes.empty()) continue;
      const std::string text = change_text(row);
      ++(text.starts_with("finding:") ? in_part : whole);
      if (text.starts_with("finding:")) continue;
      const Remedy remedy{.changes = {parse_change(text).value()}};
      const Remedy* const one = &remedy;
      EXPECT_EQ(savings.of({&one, 1}, {}).saves_ns, row.savings.saves_ns) << name << ": " << row.id;
    }
  }
  EXPECT_GT(whole, 0U);
  EXPECT_GT(in_part, 0U);
}

TEST(FindingsOfRealTraces, AreNoneWhereNothingIsWrong) {
  const auto path = test::path_of("clean_busy_gemm");
  ASSERT_TRUE(path);
  const Found found(test::load_file(*path));
  EXPECT_EQ(found.ids(), "");
  const Report report = report_findings(found.findings);
  EXPECT_TRUE(rows_of(report.tables.front()).empty());
  ASSERT_EQ(report.diagnostics.size(), 1U);
  EXPECT_EQ(report.diagnostics.front().code, "no_findings");
}

// Without stacks nothing marks the iterations of this loop.
TEST(FindingsOfRealTraces, ALoopIsFoundWithoutStacksToo) {
  const Found found(test::LoadedTrace(test::read_ok(test::without_stacks(test::fixture("fault_tiny_kernels")))));
  EXPECT_EQ(found.rank("tiny_kernels"), 1U) << found.ids();
  EXPECT_FALSE(found.has("first_iteration_outlier")) << found.ids();
}

// What the remedy leaves: the twin that copies from pinned memory takes 5.06 ms an iteration, the same bytes at the peak of
// PCIe 5 4.19 ms; and a loop over tensors at least its longest kernel.
TEST(FindingsOfRealTraces, SaveNoMoreThanTheRemedyCould) {
  const auto left_ns = [](const std::string& name, std::string_view id) {
    const auto path = test::path_of(name);
    const Found found(test::load_file(path.value_or("")));
    const RankedFinding* row = found.find(id);
    if (row == nullptr) return std::int64_t{-1};
    return found.findings.time.mean_ns() - row->at_most_ns.value_or(0);
  };
  const std::int64_t copy = left_ns("fault_pageable_copy", "pageable_copy");
  EXPECT_GE(copy, 0.95 * 4'190'000);  // work that is left may be a little faster than recorded
  EXPECT_LE(copy, 5'060'000);
  EXPECT_GE(left_ns("fault_tiny_kernels", "tiny_kernels"), 831);  // the shortest of its kernels
}

// What the findings of a trace with one device take never adds up to more than the time there is.
TEST(FindingsOfRealTraces, ClaimNoTimeTwice) {
  for (const std::string& path : test::all_traces()) {
    const Found found(test::load_file(path));
    std::int64_t sum = 0;
    for (const RankedFinding& row : found.findings.rows) {
      sum += row.taken_ns;
      EXPECT_LE(row.taken_ns, row.finding.at_most_ns.value_or(INT64_MAX)) << path << " " << row.id;
      EXPECT_FALSE(row.finding.finding.empty() || row.finding.evidence.empty() || row.finding.action.empty())
          << path << " " << row.id;
    }
    if (found.loaded.model->timeline().devices.size() == 1) {
      EXPECT_LE(sum, found.findings.time.total_ns()) << path << ": " << found.ids();
    }
  }
}

TEST(FindingsOfRealTraces, IgnoredOnesKeepTheirTime) {
  const auto path = test::path_of("fault_tiny_kernels");
  ASSERT_TRUE(path);
  const Found found(test::load_file(*path));
  ASSERT_TRUE(found.has("tiny_kernels")) << found.ids();
  const Findings without = compute_findings(Scope(*found.loaded.model), {"tiny_kernels"});
  ASSERT_EQ(without.rows.size() + 1, found.findings.rows.size());
  for (const RankedFinding& row : without.rows) EXPECT_EQ(row.at_most_ns, found.find(row.id)->at_most_ns) << row.id;
}

// Every id is shown to be found, and shown not to be, here or in {host,device}_findings_test.cc, by what the repository itself
// holds.
TEST(FindingsOfRealTraces, CoverTheCatalog) {
  std::set<std::string_view> positive = {"profiler_overhead", "host_pause",  "first_iteration_outlier",
                                         "recompiles",        "slow_kernel", "remade_constants"},
                             negative = positive;  // {host,device}_findings_test.cc, chains_test.cc
  positive.insert({"autotune_in_window", "compile_in_window", "launch_bound"});
  negative.insert("optimizer_not_fused");
  for (const Fault& c : kFaults) {
    const auto path = test::path_of(std::string(c.trace));
    if (path && path->find("/tests/fixtures/") != std::string::npos) (c.rank == 0 ? negative : positive).insert(c.id);
  }
  for (const FindingRow& rule : finding_catalog()) {
    EXPECT_TRUE(positive.contains(rule.id)) << rule.id;
    EXPECT_TRUE(negative.contains(rule.id)) << rule.id;
  }
}

}  // namespace
}  // namespace ridge
