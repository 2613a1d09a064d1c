// kernels, ops, copies and collectives on traces made by hand, where every figure can be told beforehand.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "analysis/catalog.h"
#include "analysis/collectives/collectives.h"
#include "analysis/copies/copies.h"
#include "analysis/kernels/kernels.h"
#include "analysis/ops/ops.h"
#include "ingest/reader.h"
#include "support/files.h"
#include "support/table_rows.h"

namespace ridge {
namespace {

std::string slice(std::string_view cat, std::string_view name, int tid, int ts, int dur, std::string_view args = "") {
  return fmt::format(R"({{"ph":"X","cat":"{}","name":"{}","pid":9,"tid":{},"ts":{},"dur":{},"args":{{{}}}}})", cat, name, tid,
                     ts, dur, args);
}
std::string launch(int tid, int ts, int dur, int correlation) {
  return slice("cuda_runtime", "cudaLaunchKernel", tid, ts, dur, fmt::format(R"("correlation":{})", correlation));
}
std::string work(std::string_view cat, std::string_view name, int stream, int ts, int dur, int correlation,
                 std::string_view more = "") {
  return fmt::format(
      R"({{"ph":"X","cat":"{}","name":"{}","pid":0,"tid":{},"ts":{},"dur":{},"args":{{"device":0,"stream":{},"correlation":{}{}}}}})",
      cat, name, stream, ts, dur, stream, correlation, more);
}

struct Scoped {
  explicit Scoped(const std::vector<std::string>& events)
      : trace(read_trace_bytes("[" + fmt::format("{}", fmt::join(events, ",")) + "]", "t", {}).value()),
        model(*trace),
        scope(model) {}
  std::unique_ptr<Trace> trace;
  Model model;
  Scope scope;
};

const OpRow* find(const Ops& ops, std::string_view op, std::string_view detail = "") {
  for (const OpRow& row : ops.rows) {
    if (row.op == op && row.detail == detail) return &row;
  }
  return nullptr;
}

// outer 0-100: a frame 10-60 with inner 20-50 in it, which launches at 30-40 a call that holds a driver call; outer launches at
// 70-75.
std::vector<std::string> nested() {
  return {slice("cpu_op", "outer", 1, 0, 100),
          slice("python_function", "x.py(1): f", 1, 10, 50),
          slice("cpu_op", "inner", 1, 20, 30),
          launch(1, 30, 10, 5),
          slice("cuda_driver", "cuLaunchKernel", 1, 32, 4, R"("correlation":6)"),
          launch(1, 70, 5, 7),
          work("kernel", "k_inner", 7, 200, 40, 5),
          work("kernel", "k_outer", 7, 250, 8, 7),
          work("gpu_memset", "Memset (Device)", 7, 300, 2, 999),
          launch(1, 150, 3, 8),
          work("kernel", "k_free", 7, 310, 1, 8)};
}

TEST(Ops, CountSelfTimeAsPyTorchDoes) {
  const Scoped scoped(nested());
  const Ops ops = compute_ops(scoped.scope);
  const OpRow* outer = find(ops, "outer");
  const OpRow* inner = find(ops, "inner");
  ASSERT_TRUE(outer != nullptr && inner != nullptr);
  EXPECT_EQ(outer->cpu_total_ns, 100'000);
  EXPECT_EQ(outer->cpu_self_ns, 65'000);  // less inner (30) and its own launch (5); the frame is no child
  EXPECT_EQ(inner->cpu_self_ns, 20'000);  // less its launch (10); the driver call lies in that
  EXPECT_EQ(inner->device_self_ns, 40'000);
  EXPECT_EQ(outer->device_self_ns, 8'000);
  EXPECT_EQ(outer->device_total_ns, 48'000);
  EXPECT_EQ(outer->kernels, 1);
  ASSERT_NE(find(ops, "[no op]"), nullptr);
  EXPECT_EQ(find(ops, "[no op]")->device_self_ns, 1'000);
  ASSERT_NE(find(ops, "[launched before the window]"), nullptr);
  EXPECT_EQ(find(ops, "[launched before the window]")->device_self_ns, 2'000);
}

// The device runs behind the host: what runs in the scope was called before it.
TEST(Ops, HaveTheWorkOfTheScopeInAllTheirColumns) {
  const std::string_view shapes = R"("Input Dims":[[64,32],[32,16]],"Input type":["float","float"])";
  const Scoped scoped({slice("cpu_op", "aten::matmul", 1, 0, 50, shapes), slice("cpu_op", "aten::mm", 1, 10, 30, shapes),
                       launch(1, 20, 5, 1), work("kernel", "gemm", 7, 200, 40, 1),
                       slice("cpu_op", "aten::matmul", 1, 100, 50, shapes), slice("cpu_op", "aten::mm", 1, 110, 30, shapes),
                       launch(1, 120, 5, 2), work("kernel", "gemm", 7, 250, 8, 2)});
  const Ops ops = compute_ops(*make_scope(scoped.model, {{"from", "0.09"}}));
  const OpRow *mm = find(ops, "aten::mm"), *matmul = find(ops, "aten::matmul");
  ASSERT_TRUE(mm != nullptr && matmul != nullptr);
  EXPECT_EQ(mm->count, 1);
  EXPECT_EQ(mm->device_self_ns, 48'000);
  EXPECT_EQ(mm->device_total_ns, 48'000);
  EXPECT_EQ(matmul->device_total_ns, 48'000);
  EXPECT_EQ(mm->flops.value(), 2 * 2.0 * 64 * 32 * 16);  // both calls' work runs here
  EXPECT_EQ(mm->flops.value(), ops.flops.value());
}

// f does something else before it calls itself: two calls.
TEST(Ops, CountEachCallOfARecursiveOpWhole) {
  const Scoped scoped({slice("cpu_op", "f", 1, 0, 100), slice("cpu_op", "g", 1, 2, 5), slice("cpu_op", "f", 1, 10, 50)});
  const Ops ops = compute_ops(scoped.scope);
  EXPECT_EQ(find(ops, "f")->count, 2);
  EXPECT_EQ(find(ops, "f")->cpu_total_ns, 150'000);
  EXPECT_EQ(find(ops, "f")->cpu_self_ns, 95'000);
}

// aten::sum calls the overload with a list of dimensions, of the same name, and nothing else: one call, of which the inner
// one's children and kernels are.
TEST(Ops, AnOpThatOnlyCallsItselfIsOneCall) {
  const Scoped scoped({slice("cpu_op", "f", 1, 0, 100), slice("python_function", "x.py(1): f", 1, 5, 90),
                       slice("cpu_op", "f", 1, 10, 80), slice("cpu_op", "f", 1, 20, 60), slice("cpu_op", "g", 1, 22, 10),
                       launch(1, 40, 5, 3), work("kernel", "k", 7, 200, 40, 3), slice("cpu_op", "f", 1, 300, 7)});
  const Ops ops = compute_ops(scoped.scope);
  const OpRow* f = find(ops, "f");
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->count, 2);
  EXPECT_EQ(f->cpu_total_ns, 107'000);
  EXPECT_EQ(f->cpu_self_ns, 92'000);  // less g and the launch
  EXPECT_EQ(f->device_self_ns, 40'000);
  EXPECT_EQ(f->device_total_ns, 40'000);
  EXPECT_EQ(f->kernels, 1);
}

TEST(Ops, AnnotationsAreNotTheOpsOwnTime) {
  const Scoped scoped({slice("cpu_op", "CompiledFunction", 1, 0, 100), slice("user_annotation", "## Call graph ##", 1, 10, 80),
                       slice("cpu_op", "aten::mm", 1, 20, 30), slice("cpu_op", "aten::is_leaf", 1, 92, 3)});
  const Ops ops = compute_ops(scoped.scope);
  EXPECT_EQ(find(ops, "CompiledFunction")->cpu_self_ns, 20'000);
  EXPECT_EQ(find(ops, "aten::mm")->cpu_self_ns, 30'000);
  EXPECT_EQ(find(ops, "aten::is_leaf"), nullptr);  // PyTorch's table leaves it out
}

TEST(Ops, TellShapesAnnotationsAndPhasesApart) {
  const Scoped scoped({slice("user_annotation", "step", 1, 0, 50), slice("cpu_op", "f", 1, 1, 5, R"("Input Dims":[[2,3],[]])"),
                       slice("cpu_op", "f", 1, 60, 7, R"("Input Dims":[[4]])")});
  EXPECT_EQ(find(compute_ops(scoped.scope, OpsBy::shape), "f", "[[2, 3], []]")->cpu_total_ns, 5'000);
  EXPECT_EQ(find(compute_ops(scoped.scope, OpsBy::shape), "f", "[[4]]")->cpu_total_ns, 7'000);
  EXPECT_EQ(find(compute_ops(scoped.scope, OpsBy::annotation), "f", "step")->count, 1);
  EXPECT_EQ(find(compute_ops(scoped.scope, OpsBy::annotation), "f", "")->count, 1);
  EXPECT_EQ(find(compute_ops(scoped.scope, OpsBy::phase), "f", "forward")->count, 2);
}

TEST(Ops, RefuseAnUnknownBy) {
  const Scoped scoped(nested());
  const auto report = run_ops(scoped.scope, {{"by", "shap"}});
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().code, ErrorCode::usage);
  EXPECT_NE(report.error().hint.find("shape"), std::string::npos);
}

TEST(Kernels, KeepEqualNamesOfDifferentSourcesApart) {
  const std::string_view one = R"("kernel_hash":"c1","kernel_backend":"triton","kernel_kwargs":"XBLOCK=1")";
  const std::string_view two = R"("kernel_hash":"c2","kernel_backend":"triton")";
  const Scoped scoped(
      {slice("cpu_op", "triton_poi_fused_add_0", 1, 0, 10, one), launch(1, 2, 2, 1),
       slice("cpu_op", "triton_poi_fused_add_0", 1, 20, 10, two), launch(1, 22, 2, 2),
       slice("cpu_op", "triton_poi_fused_add_0", 1, 40, 10, one), launch(1, 42, 2, 3),
       work("kernel", "triton_poi_fused_add_0", 7, 100, 10, 1), work("kernel", "triton_poi_fused_add_0", 7, 120, 30, 2),
       work("kernel", "triton_poi_fused_add_0", 7, 160, 14, 3), work("gpu_memset", "Memset (Device)", 7, 200, 5, 4)});
  const Kernels kernels = compute_kernels(scoped.scope);
  ASSERT_EQ(kernels.rows.size(), 2U);
  EXPECT_EQ(kernels.time_ns, 54'000);  // no sets
  EXPECT_EQ(kernels.rows[0].kernel_hash, "c2");
  EXPECT_EQ(kernels.rows[1].kernel_hash, "c1");
  EXPECT_EQ(kernels.rows[1].kernel_kwargs, "XBLOCK=1");
  EXPECT_EQ(kernels.rows[1].count, 2);
  EXPECT_EQ(kernels.rows[1].min_ns, 10'000);
  EXPECT_EQ(kernels.rows[1].max_ns, 14'000);
  EXPECT_EQ(kernels.rows[1].op, "triton_poi_fused_add_0");
  EXPECT_EQ(kernels.rows[0].category, Category::triton_pointwise);
}

TEST(Kernels, RegroupAndListLaunches) {
  const Scoped scoped(nested());
  const Kernels by_op = compute_kernels(scoped.scope, KernelsBy::op);
  ASSERT_EQ(by_op.rows.size(), 3U);
  EXPECT_EQ(by_op.rows[0].key, "inner");
  EXPECT_EQ(by_op.rows[2].key, "[no op]");
  const Kernels launches = compute_kernels(scoped.scope, KernelsBy::launch);
  ASSERT_EQ(launches.rows.size(), 3U);
  EXPECT_EQ(launches.rows[0].kernel, "k_inner");
  EXPECT_EQ(launches.rows[0].start_ns, 200'000);
  const Report report = report_kernels(by_op);
  EXPECT_EQ(report.tables[0].columns[0].name, "op");
  for (const Row& row : rows_of(report.tables[0])) EXPECT_EQ(row.size(), report.tables[0].columns.size());
}

TEST(Kernels, HaveTheColumnsOfTheContract) {
  const Scoped scoped(nested());
  const Report report = report_kernels(compute_kernels(scoped.scope));
  std::string names;
  for (std::size_t i = 0; i < 27; ++i) names += report.tables[0].columns[i].name + " ";
  EXPECT_EQ(names,
            "kernel label category device count time_ns mean_ns min_ns max_ns pct_gpu_time flops flops_pointwise bytes_read "
            "bytes_written flops_per_s "
            "bytes_per_s pct_peak_flops pct_peak_bandwidth bound roof_ns headroom_ns dtype estimate op kernel_file kernel_hash "
            "kernel_kwargs ");
  for (const Row& row : rows_of(report.tables[0])) EXPECT_EQ(row.size(), report.tables[0].columns.size());
}

TEST(Kernels, TellAutotuningApart) {
  const Scoped scoped({slice("cpu_op", "CachingAutotuner.benchmark_all_configs (dynamo_timed)", 1, 0, 50), launch(1, 10, 2, 1),
                       launch(1, 60, 2, 2), work("kernel", "k", 7, 100, 10, 1), work("kernel", "k", 7, 120, 7, 2)});
  const Kernels kernels = compute_kernels(scoped.scope);
  ASSERT_EQ(kernels.rows.size(), 1U);
  EXPECT_EQ(kernels.rows[0].count, 2);
  EXPECT_EQ(kernels.rows[0].autotune_count, 1);
  EXPECT_EQ(kernels.rows[0].autotune_ns, 10'000);
}

// Durations that are missing or negative are not known: neither is what would follow from them, but for the category and the
// op.
TEST(Kernels, WithoutADurationHaveNoTimes) {
  const auto untimed = [](std::string_view name, int ts, std::string_view more) {
    return fmt::format(R"({{"ph":"X","cat":"kernel","name":"{}","pid":0,"tid":7,"ts":{}{},"args":{{"device":0}}}})", name, ts,
                       more);
  };
  const Scoped scoped({untimed("b", 20, ""), untimed("c", 30, R"(,"dur":-4)"), untimed("d", 40, R"(,"dur":2)"),
                       untimed("d", 50, ""), untimed("d", 60, R"(,"dur":4)")});
  const Kernels kernels = compute_kernels(scoped.scope);
  const Report report = report_kernels(kernels);
  const auto column = [&](std::string_view name) {
    const auto& columns = report.tables[0].columns;
    return static_cast<std::size_t>(std::ranges::find(columns, name, &Column::name) - columns.begin());
  };
  ASSERT_EQ(kernels.rows.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(kernels.rows[i].category, Category::other) << i;
    EXPECT_EQ(kernels.rows[i].op, "[no launches in the trace]") << i;
  }
  const Row timed = rows_of(report.tables[0])[0];
  EXPECT_EQ(timed[column("count")], Cell(std::int64_t{3}));
  EXPECT_EQ(timed[column("time_ns")], Cell(std::int64_t{6'000}));
  EXPECT_EQ(timed[column("mean_ns")], Cell(3'000.0));
  EXPECT_EQ(timed[column("min_ns")], Cell(std::int64_t{2'000}));
  for (const std::size_t i : {1U, 2U}) {
    for (const char* name : {"time_ns", "mean_ns", "min_ns", "max_ns", "pct_gpu_time"})
      EXPECT_EQ(rows_of(report.tables[0])[i][column(name)], Cell()) << name;
  }
  const auto detail = run_kernel(scoped.scope, {{"name", "b"}});
  ASSERT_TRUE(detail.has_value());
  const auto& columns = detail->tables[0].columns;
  for (const char* name : {"time_ns", "mean_ns", "min_ns", "p50_ns", "max_ns"}) {
    const auto at = std::ranges::find(columns, name, &Column::name) - columns.begin();
    EXPECT_EQ(rows_of(detail->tables[0]).at(0).at(static_cast<std::size_t>(at)), Cell()) << name;
  }
}

// They stand in no tree: what is around them says where they belong, and their shapes they have themselves.
TEST(Ops, WithoutADurationCountAndHaveNoTimes) {
  const auto untimed = [](std::string_view name, int ts, std::string_view more, int tid = 1) {
    return fmt::format(R"({{"ph":"X","cat":"cpu_op","name":"{}","pid":9,"tid":{},"ts":{}{},"args":{{"Input Dims":[[{}]]}}}})",
                       name, tid, ts, more, ts);
  };
  const Scoped scoped({slice("user_annotation", "step", 1, 0, 50), slice("cpu_op", "f", 1, 1, 5), untimed("f", 10, ""),
                       untimed("g", 20, ""), untimed("g", 60, R"(,"dur":-4)"), untimed("h", 20, "", 3)});
  const Ops ops = compute_ops(scoped.scope);
  ASSERT_EQ(ops.rows.size(), 3U);
  const Report report = report_ops(ops);
  const auto cells = [](const Row& row) { return std::vector<Cell>(row.begin(), row.begin() + 4); };
  using Cells = std::vector<Cell>;
  constexpr std::int64_t kOne = 1, kTwo = 2, kTime = 5'000;
  EXPECT_EQ(cells(rows_of(report.tables[0])[0]), (Cells{"f", kTwo, kTime, kTime}));
  EXPECT_EQ(cells(rows_of(report.tables[0])[1]), (Cells{"g", kTwo, Cell(), Cell()}));
  EXPECT_EQ(cells(rows_of(report.tables[0])[2]), (Cells{"h", kOne, Cell(), Cell()}));
  EXPECT_EQ(cells(*report.tables[0].total), (Cells{Cell(), std::int64_t{5}, Cell(), kTime}));
  EXPECT_EQ(find(compute_ops(scoped.scope, OpsBy::annotation), "g", "step")->count, 1);
  EXPECT_EQ(find(compute_ops(scoped.scope, OpsBy::annotation), "g", "")->count, 1);
  EXPECT_EQ(find(compute_ops(scoped.scope, OpsBy::shape), "g", "[[20]]")->count, 1);
  EXPECT_EQ(find(compute_ops(scoped.scope, OpsBy::phase), "h", "forward")->count, 1);
  EXPECT_EQ(find(compute_ops(scoped.scope, OpsBy::location), "h", "")->count, 1);
  const Ops part = compute_ops(*make_scope(scoped.model, {{"to", "0.015"}}));
  ASSERT_EQ(part.rows.size(), 1U);
  EXPECT_EQ(part.rows[0].count, 2);
  // Of no call the time is known: nor is the sum.
  const Scoped none({untimed("f", 10, "")});
  EXPECT_EQ(cells(*report_ops(compute_ops(none.scope)).tables[0].total), (Cells{Cell(), kOne, Cell(), Cell()}));
  EXPECT_EQ(rows_of(report_ops(compute_ops(none.scope, OpsBy::phase)).tables[1]).at(0).at(2), Cell());
}

TEST(Ops, OfATraceWithoutDeviceWorkHaveNoDeviceTimes) {
  const Scoped scoped({slice("cpu_op", "f", 1, 0, 10)});
  for (const std::optional<OpsBy> by : {std::optional<OpsBy>(), std::optional(OpsBy::phase)}) {
    const Report report = report_ops(compute_ops(scoped.scope, by));
    for (const Table& table : report.tables) {
      for (std::size_t i = 0; i < table.columns.size(); ++i) {
        const std::string& name = table.columns[i].name;
        const bool of_the_device = name.starts_with("device") || name == "kernels";
        if (!of_the_device) continue;
        EXPECT_EQ(rows_of(table).at(0).at(i), Cell()) << name;
        if (table.total) {
          EXPECT_EQ(table.total->at(i), Cell()) << name;
        }
      }
    }
  }
}

TEST(Copies, ReadDirectionAndMemory) {
  EXPECT_EQ(copy_kind("Memcpy HtoD (Pageable -> Device)", DeviceWork::copy), (CopyKind{"HtoD", false}));
  EXPECT_EQ(copy_kind("Memcpy DtoH (Device -> Pinned)", DeviceWork::copy), (CopyKind{"DtoH", true}));
  EXPECT_EQ(copy_kind("Memcpy DtoD (Device -> Device)", DeviceWork::copy), (CopyKind{"DtoD", std::nullopt}));
  EXPECT_EQ(copy_kind("CopyHostToDevice", DeviceWork::copy), (CopyKind{"HtoD", std::nullopt}));
  EXPECT_EQ(copy_kind("Memset (Device)", DeviceWork::set), (CopyKind{"set", std::nullopt}));
}

TEST(Copies, AddBytesOnlyWhereTheyAreSaid) {
  const Scoped scoped({work("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 7, 0, 10, 1, R"(,"bytes":1000)"),
                       work("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 7, 20, 10, 2),
                       work("gpu_memcpy", "Memcpy DtoD (Device -> Device)", 7, 40, 1, 3)});
  const Copies copies = compute_copies(scoped.scope);
  ASSERT_EQ(copies.rows.size(), 2U);
  EXPECT_EQ(copies.rows[0].time_ns, 20'000);
  EXPECT_EQ(copies.rows[0].bytes, 1000);
  EXPECT_EQ(std::get<double>(rows_of(report_copies(copies).tables[0])[0][6]), 1e8);  // 1000 bytes in the 10 us that they took
  EXPECT_FALSE(copies.rows[1].bytes.has_value());
}

TEST(Copies, WithoutADurationHaveNoRate) {
  const Scoped scoped({work("gpu_memcpy", "Memcpy DtoH (Device -> Pinned)", 7, 0, 10, 1, R"(,"bytes":1000)"),
                       work("gpu_memcpy", "Memcpy DtoH (Device -> Pinned)", 7, 20, 0, 2, R"(,"bytes":9000)")});
  const Copies copies = compute_copies(scoped.scope);
  ASSERT_EQ(copies.rows.size(), 1U);
  EXPECT_EQ(copies.rows[0].bytes, 10'000);
  const Table table = report_copies(copies).tables[0];
  EXPECT_EQ(std::get<double>(rows_of(table)[0][6]), 1e8);  // of the copy that took time: 1000 bytes in 10 us
  EXPECT_EQ(std::get<double>((*table.total)[6]), 1e8);
}

TEST(Collectives, FollowNcclTests) {
  EXPECT_DOUBLE_EQ(bus_factor("allreduce", 4).value(), 1.5);
  EXPECT_DOUBLE_EQ(bus_factor("_allgather_base", 4).value(), 0.75);
  EXPECT_DOUBLE_EQ(bus_factor("reduce_scatter_tensor_coalesced", 4).value(), 0.75);
  EXPECT_DOUBLE_EQ(bus_factor("all_to_all", 2).value(), 0.5);
  EXPECT_DOUBLE_EQ(bus_factor("broadcast", 8).value(), 1);
  EXPECT_FALSE(bus_factor("barrier", 8).has_value());
}

TEST(Collectives, AreExposedWhereNothingComputes) {
  const std::string_view args =
      R"(,"Collective name":"allreduce","dtype":"Float","In msg nelems":1000,"Out msg nelems":1000,"Group size":4,"Process Group Name":"0")";
  const Scoped scoped({work("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(int)", 20, 100, 40, 1, args),
                       work("kernel", "gemm", 7, 90, 20, 2), work("kernel", "gemm", 7, 130, 5, 3),
                       work("gpu_memcpy", "Memcpy DtoD (Device -> Device)", 8, 100, 40, 4)});
  const Collectives found = compute_collectives(scoped.scope);
  ASSERT_EQ(found.rows.size(), 1U);
  EXPECT_EQ(found.rows[0].name, "allreduce");
  EXPECT_EQ(found.rows[0].group, "0");
  EXPECT_EQ(found.rows[0].bytes, 4000);
  EXPECT_EQ(found.rows[0].exposed_ns, 25'000);  // 40 less 10 and 5; a copy hides nothing
  const Report report = report_collectives(found);
  EXPECT_DOUBLE_EQ(std::get<double>(rows_of(report.tables[0])[0][8]), 1e8);    // 4000 bytes in 40 us
  EXPECT_DOUBLE_EQ(std::get<double>(rows_of(report.tables[0])[0][9]), 1.5e8);  // times 2 * 3 / 4
}

TEST(Collectives, CountTheBytesOfACallOnceAndTakeThemFromItsOp) {
  const std::string_view args =
      R"("Collective name":"broadcast","dtype":"Half","In msg nelems":10,"Out msg nelems":10,"Group size":2)";
  const Scoped scoped({slice("cpu_op", "record_param_comms", 1, 0, 50, args), launch(1, 10, 2, 1), launch(1, 20, 2, 2),
                       work("kernel", "ncclKernel_Broadcast", 20, 100, 4, 1),
                       work("kernel", "ncclKernel_Broadcast", 20, 110, 4, 2),
                       slice("user_annotation", "gloo:all_reduce", 2, 0, 30)});
  const Collectives found = compute_collectives(scoped.scope);
  ASSERT_EQ(found.rows.size(), 1U);
  EXPECT_EQ(found.rows[0].count, 2);
  EXPECT_EQ(found.rows[0].bytes, 20);
  EXPECT_DOUBLE_EQ(std::get<double>(rows_of(report_collectives(found).tables[0])[0][8]),
                   20 / 8e-6);  // in the time of both kernels
  ASSERT_EQ(found.host.size(), 1U);
  EXPECT_EQ(found.host[0].cpu_ns, 30'000);
}

// PyTorch before 2.1 writes no collective's arguments: the shapes of the call tell what a rank gives and what it gets.
TEST(Collectives, TakeBytesFromTheShapesOfTheCall) {
  const auto call = [](std::string_view name, int ts, std::string_view dims, std::string_view types) {
    return slice("cpu_op", name, 1, ts, 50, fmt::format(R"("Input Dims":{},"Input type":{})", dims, types));
  };
  const auto annotation = [](std::string_view name, int ts, std::string_view dims, std::string_view type) {
    return slice("user_annotation", name, 1, ts, 40, fmt::format(R"("Input Dims":[{}],"Input type":["{}"])", dims, type));
  };
  const Scoped scoped(
      {call("c10d::_allgather_base_", 0, "[[800],[100],[]]", R"(["c10::BFloat16","c10::BFloat16",""])"),
       annotation("nccl:_all_gather_base", 5, "[100]", "c10::BFloat16"), launch(1, 10, 2, 1), launch(1, 20, 2, 2),
       call("c10d::allreduce_", 100, "[[],[],[]]", R"(["TensorList","","Scalar"])"),
       annotation("nccl:all_reduce", 105, "[30]", "float"), launch(1, 110, 2, 3),
       call("c10d::allreduce_", 200, "[[[5],[2,3]],[],[]]", R"(["TensorList","","Scalar"])"),
       annotation("nccl:all_reduce", 205, "[5]", "float"), launch(1, 210, 2, 4),
       call("c10d::allgather_", 300, "[[],[],[]]", R"(["TensorList","",""])"),
       annotation("nccl:all_gather", 305, "[7]", "float"), launch(1, 310, 2, 5),
       work("kernel", "ncclKernel_AllGather", 20, 500, 4, 1), work("kernel", "ncclKernel_AllGather", 20, 510, 4, 2),
       work("kernel", "ncclKernel_AllReduce", 20, 600, 4, 3), work("kernel", "ncclKernel_AllReduce", 20, 700, 4, 4),
       work("kernel", "ncclKernel_AllGather", 20, 800, 2, 5)});
  const Collectives found = compute_collectives(scoped.scope);
  const auto row = [&](std::string_view name) { return *std::ranges::find(found.rows, name, &CollectiveRow::name); };
  ASSERT_EQ(found.rows.size(), 3U);
  EXPECT_EQ(row("_all_gather_base").bytes, 1600);  // what it gets; two kernels, one call
  EXPECT_EQ(row("_all_gather_base").dtype, "BFloat16");
  EXPECT_EQ(row("all_reduce").bytes, 30 * 4 + 11 * 4);
  EXPECT_EQ(row("all_reduce").dtype, "Float");
  EXPECT_EQ(row("all_gather").bytes, std::nullopt);  // what it gets is not told
}

// An accelerator whose work is all of one category: executables, transfers with their size, and marks and waits of streams,
// which are no work.
TEST(Kernels, OfMtiaAreToldByName) {
  const auto ccp = [](std::string_view name, int ts, int dur, std::string_view args) {
    return fmt::format(
        R"({{"ph":"X","cat":"mtia_ccp_events","name":"{}","pid":17,"tid":3536,"ts":{},"dur":{},"args":{{"stream":101{}}}}})",
        name, ts, dur, args);
  };
  const Scoped scoped({ccp("event_wait", 0, 1000, R"(,"wait_on_stream":104)"),
                       ccp("dma_request", 1000, 10, R"(,"direction":"HOST_TO_DEVICE","size":4096)"),
                       ccp("dma_request", 1020, 10, R"(,"direction":"HOST_TO_DEVICE","size":1024)"),
                       ccp("remote", 1100, 200, R"(,"column":"0","row":"0")"), ccp("pe_exe", 1400, 50, R"(,"column":"0")"),
                       ccp("dma_request", 1500, 5, R"(,"direction":"DEVICE_TO_HOST","size":9216)"),
                       ccp("event_record", 1600, 1, R"(,"seq_num":1)")});
  const Kernels kernels = compute_kernels(scoped.scope);
  ASSERT_EQ(kernels.rows.size(), 2U);
  EXPECT_EQ(kernels.rows[0].kernel, "remote");
  EXPECT_EQ(kernels.rows[0].time_ns, 200'000);
  EXPECT_EQ(kernels.rows[0].device, 17);
  EXPECT_EQ(kernels.rows[1].kernel, "pe_exe");
  const Copies copies = compute_copies(scoped.scope);
  ASSERT_EQ(copies.rows.size(), 2U);
  EXPECT_EQ(copies.rows[0].kind.direction, "HtoD");
  EXPECT_EQ(copies.rows[0].bytes, 5120);
  EXPECT_EQ(copies.rows[1].kind.direction, "DtoH");
  EXPECT_EQ(copies.rows[1].bytes, 9216);
  const Device& device = scoped.model.timeline().devices.at(0);
  EXPECT_EQ(busy_time(device, {INT64_MIN, INT64_MAX}).length(), 275'000);  // no wait
}

TEST(Kernels, OfTheMtiaRecordingAreThere) {
  const std::string path = test::source_dir() + "/../shared/traces/public/mtia_inference.json.gz";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no mtia_inference.json.gz";
  const auto trace = read_trace(path, {});
  ASSERT_TRUE(trace.has_value());
  const Model model(**trace);
  const Scope scope(model);
  std::int64_t launches = 0, copied = 0, bytes = 0;
  for (const KernelRow& row : compute_kernels(scope).rows) launches += row.count;
  for (const CopyRow& row : compute_copies(scope).rows) {
    copied += row.count;
    bytes += row.bytes.value_or(0);
  }
  EXPECT_EQ(launches, 37 + 36 + 24);  // remote, merge, pe_exe
  EXPECT_EQ(copied, 877);             // dma_request
  EXPECT_EQ(bytes, 788'900'408);
}

}  // namespace
}  // namespace ridge
