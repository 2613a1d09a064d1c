// Work that a graph replayed, attributed to ops that an eager run or the capture of the same kernels shows: kernels and ops, on
// traces made by hand. What the trace itself tells and what was recovered stay apart, and nothing is counted twice.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "analysis/kernels/kernels.h"
#include "analysis/ops/ops.h"
#include "analysis/roofline/roofline.h"
#include "support/loaded_trace.h"
#include "support/table_rows.h"

namespace ridge {
namespace {

using test::event;
using test::join;
using test::LoadedTrace;

std::string on_device(std::string_view name, int correlation, int ts, int dur, std::string_view grid = "[8, 1, 1]") {
  return event({.name = name,
                .ts = ts,
                .dur = dur,
                .cat = "kernel",
                .args = fmt::format(R"("correlation": {}, "device": 0, "stream": 7, "grid": {})", correlation, grid),
                .tid = 7});
}
std::string call(std::string_view name, int ts, int correlation) {
  return event(
      {.name = name, .ts = ts, .dur = 2, .cat = "cuda_runtime", .args = fmt::format(R"("correlation": {})", correlation)});
}
std::string op(std::string_view name, int ts, int dur, std::string_view dims) {
  return event({.name = name, .ts = ts, .dur = dur, .args = fmt::format(R"("Input Dims": {})", dims)});
}

// aten::linear (with aten::addmm in it) and aten::relu run eagerly, 10 and 4 us; a graph of both is replayed twice under
// CompiledFunction, 11 + 5 and 12 + 6 us. A set of 1 us runs under no op.
std::string eager_and_replays(std::string_view replayed_grid = "[8, 1, 1]") {
  return join({op("aten::linear", 0, 20, "[[4, 8], [8, 8]]"), op("aten::addmm", 2, 16, "[[8], [4, 8], [8, 8]]"),
               call("cudaLaunchKernel", 5, 1), on_device("gemm", 1, 30, 10), op("aten::relu", 22, 10, "[[4, 8]]"),
               call("cudaLaunchKernel", 24, 2), on_device("relu", 2, 45, 4),
               event({.name = "CompiledFunction", .ts = 100, .dur = 20}), call("cudaGraphLaunch", 105, 3),
               on_device("gemm", 3, 120, 11, replayed_grid), on_device("relu", 3, 135, 5),
               event({.name = "CompiledFunction", .ts = 200, .dur = 20}), call("cudaGraphLaunch", 205, 4),
               on_device("gemm", 4, 220, 12, replayed_grid), on_device("relu", 4, 235, 6)});
}

const OpRow* find_op(const Ops& ops, std::string_view name) {
  for (const OpRow& row : ops.rows) {
    if (row.op == name) return &row;
  }
  return nullptr;
}

TEST(RecoveredOps, AreTheOpsOfReplayedKernels) {
  const LoadedTrace t = test::load_events(eager_and_replays());
  const Kernels kernels = compute_kernels(Scope(*t.model));
  ASSERT_EQ(kernels.rows.size(), 2U);
  EXPECT_EQ(kernels.rows[0].kernel, "gemm");
  EXPECT_EQ(kernels.rows[0].op, "aten::addmm");
  EXPECT_EQ(kernels.rows[0].count, 3);
  EXPECT_EQ(kernels.rows[0].recovered_ns, 23'000);
  EXPECT_EQ(kernels.rows[0].op_from, OpSource::eager_run);
  EXPECT_EQ(kernels.time_ns, 48'000);

  const Kernels by_op = compute_kernels(Scope(*t.model), KernelsBy::op);
  ASSERT_EQ(by_op.rows.size(), 2U);
  EXPECT_EQ(by_op.rows[0].key, "aten::addmm");
  EXPECT_EQ(by_op.rows[0].time_ns, 33'000);
  EXPECT_EQ(by_op.rows[1].key, "aten::relu");
  EXPECT_EQ(by_op.rows[1].recovered_ns, 11'000);
  const Kernels by_shape = compute_kernels(Scope(*t.model), KernelsBy::shape);
  ASSERT_EQ(by_shape.rows.size(), 2U);
  EXPECT_EQ(by_shape.rows[0].key, "aten::addmm [[8],[4,8],[8,8]]");
  // A launch says for itself: the eager one was not recovered.
  const Kernels launches = compute_kernels(Scope(*t.model), KernelsBy::launch);
  ASSERT_EQ(launches.rows.size(), 6U);
  EXPECT_EQ(launches.rows[0].op_from, OpSource::none);
  EXPECT_EQ(launches.rows[2].op, "aten::addmm");
  EXPECT_EQ(launches.rows[2].op_from, OpSource::eager_run);

  const Report report = report_kernels(kernels);
  const Table& table = report.tables.front();
  ASSERT_EQ(table.columns.back().name, "op_from");
  EXPECT_EQ(rows_of(table)[0].back(), Cell("eager_run"));
  EXPECT_EQ((*table.total)[table.columns.size() - 2], Cell(std::int64_t{34'000}));
}

TEST(RecoveredOps, HaveTheTimeThatReplaysTookForThem) {
  const LoadedTrace t = test::load_events(eager_and_replays());
  const Ops ops = compute_ops(Scope(*t.model));
  const OpRow *addmm = find_op(ops, "aten::addmm"), *linear = find_op(ops, "aten::linear"),
              *compiled = find_op(ops, "CompiledFunction");
  ASSERT_TRUE(addmm != nullptr && linear != nullptr && compiled != nullptr);
  EXPECT_EQ(addmm->count, 1);  // a replay calls no op
  EXPECT_EQ(addmm->device_self_ns, 33'000);
  EXPECT_EQ(addmm->device_total_ns, 33'000);
  EXPECT_EQ(addmm->recovered_ns, 23'000);
  EXPECT_EQ(addmm->kernels, 3);
  EXPECT_EQ(addmm->op_from, OpSource::eager_run);
  // What held the op when it ran eagerly did not launch the replays; what launched them has their time, but not as its own.
  EXPECT_EQ(linear->device_total_ns, 10'000);
  EXPECT_EQ(linear->op_from, OpSource::none);
  EXPECT_EQ(compiled->device_self_ns, 0);
  EXPECT_EQ(compiled->device_total_ns, 34'000);
  EXPECT_EQ(compiled->kernels, 0);
  std::int64_t self = 0, launched = 0;
  for (const OpRow& row : ops.rows) self += row.device_self_ns, launched += row.kernels;
  EXPECT_EQ(self, 48'000);
  EXPECT_EQ(launched, 6);
  const Ops by_shape = compute_ops(Scope(*t.model), OpsBy::shape);
  EXPECT_EQ(find_op(by_shape, "aten::addmm")->detail, "[[8], [4, 8], [8, 8]]");
  EXPECT_EQ(find_op(by_shape, "aten::addmm")->device_self_ns, 33'000);
}

TEST(RecoveredOps, AreNoneWhereTheKernelsRanOnAnotherShape) {
  const LoadedTrace t = test::load_events(eager_and_replays("[16, 1, 1]"));
  EXPECT_EQ(find_op(compute_ops(Scope(*t.model)), "CompiledFunction")->device_self_ns, 34'000);
  for (const KernelRow& row : compute_kernels(Scope(*t.model)).rows) EXPECT_EQ(row.recovered_ns, 0);
}

// Recorded on an H200: two eager runs of four layers, their capture, and three replays of 16 nodes.
TEST(RecoveredOps, OfARealWarmUp) {
  const LoadedTrace t(test::read_ok(test::fixture("cudagraph_with_warmup")));
  const GraphReplays& replays = t.model->graph_replays();
  ASSERT_EQ(replays.graphs.size(), 1U);
  EXPECT_EQ(replays.graphs[0].replays, 3);
  EXPECT_EQ(replays.graphs[0].source, OpSource::eager_run);
  std::int64_t recovered = 0;
  for (const KernelRow& row : compute_kernels(Scope(*t.model), KernelsBy::op).rows) {
    if (row.recovered_ns == 0) continue;
    recovered += row.recovered_ns;
    // Two linears and a gelu per layer, two eager runs and three replays.
    EXPECT_EQ(row.count, row.key == "aten::addmm" ? 8 * 5 : 4 * 5) << row.key;
    EXPECT_TRUE(row.key == "aten::addmm" || row.key == "aten::gelu") << row.key;
  }
  EXPECT_GT(recovered, 0);
  const Ops ops = compute_ops(Scope(*t.model));
  ASSERT_NE(find_op(ops, "aten::gelu"), nullptr);
  EXPECT_EQ(find_op(ops, "aten::gelu")->kernels, 4 * 5);
  EXPECT_EQ(find_op(ops, "[no op]"), nullptr);  // replays are under no op, and all of them were recovered
}

// Unique kernel names are off: every generated kernel is `triton_`, and the op around its launch has the name.
TEST(RecoveredOps, NameShortTritonKernels) {
  const LoadedTrace t =
      test::load_events(join({op("triton_poi_fused_add_0", 0, 10, "[[4]]"), call("cuLaunchKernel", 2, 1),
                              on_device("triton_", 1, 20, 5), op("aten::mm", 12, 10, "[[4, 4], [4, 4]]"),
                              call("cudaLaunchKernel", 14, 2), on_device("gemm", 2, 30, 5), op("aten::relu", 24, 10, "[[4]]"),
                              call("cudaLaunchKernel", 26, 3), on_device("relu", 3, 40, 5), call("cudaGraphLaunch", 100, 4),
                              on_device("triton_", 4, 110, 5), on_device("gemm", 4, 120, 5), on_device("relu", 4, 130, 5)}));
  const Kernels launches = compute_kernels(Scope(*t.model), KernelsBy::launch);
  ASSERT_EQ(launches.rows.size(), 6U);
  EXPECT_EQ(launches.rows[3].kernel, "triton_");
  EXPECT_EQ(launches.rows[3].op, "triton_poi_fused_add_0");
  EXPECT_EQ(launches.rows[3].label, launches.rows[0].label);
  EXPECT_EQ(launches.rows[3].category, Category::triton_pointwise);
}

}  // namespace
}  // namespace ridge
