// kernels, ops, roofline and the utilisation on traces made by hand: FLOPs, bytes and percentages worked out beside the checks.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "analysis/kernels/kernels.h"
#include "analysis/ops/ops.h"
#include "analysis/roofline/roofline.h"
#include "analysis/summary/summary.h"
#include "facts/iteration_time.h"
#include "facts/utilisation.h"
#include "support/files.h"
#include "support/host_device_trace.h"
#include "support/loaded_trace.h"
#include "support/table_rows.h"
#include "unit/analysis/products.h"

namespace ridge {
namespace {

using test::event;
using test::join;
using test::kGemm;
using test::launch;
using test::load_events;
using test::LoadedTrace;
using test::mm;
using test::OnDevice;

// A product of 1024 x 1024 matrices in bfloat16: 2 x 1024^3 FLOP, two operands of 2 MiB read, one written.
constexpr double kFlops = 2147483648.0, kOperand = 2097152.0;

// Two launches whose work is known, of 10 and 30 us, and one of the same kernel under no op, of 20 us.
std::string three_products() {
  return join({mm(0, 10), launch(1, 1, 2, kGemm, 100, 10), mm(20, 10), launch(2, 21, 2, kGemm, 200, 30),
               launch(3, 40, 2, kGemm, 300, 20)});
}

TEST(Roof, RatesAreSumsOverSumsOfWhatIsKnown) {
  const OnDevice h200(three_products(), "h200");
  const Kernels kernels = compute_kernels(h200.scope);
  ASSERT_EQ(kernels.rows.size(), 1U);
  const CostSum& cost = kernels.rows[0].cost;
  EXPECT_DOUBLE_EQ(cost.flops.value().value(), 2 * kFlops);
  EXPECT_DOUBLE_EQ(cost.bytes_read.value().value(), 4 * kOperand);
  EXPECT_DOUBLE_EQ(cost.bytes_written.value().value(), 2 * kOperand);
  EXPECT_NEAR(cost.flops.per_second().value(), 2 * kFlops / 40e-6, 1);  // the mean of both rates would be a third more
  EXPECT_NEAR(cost.bytes.per_second().value(), 6 * kOperand / 40e-6, 1);
  EXPECT_NEAR(cost.peak_flops_ns.pct_of_time().value(), 100 * 2 * kFlops / 40e-6 / 989.4e12, 1e-6);
  EXPECT_NEAR(cost.peak_bytes_ns.pct_of_time().value(), 100 * 6 * kOperand / 40e-6 / 4.8e12, 1e-6);
  EXPECT_NEAR(cost.roof_ns.value().value(), 2e9 * kFlops / 989.4e12, 1e-3);
  EXPECT_NEAR(cost.headroom_ns.value().value(), 40'000 - 2e9 * kFlops / 989.4e12, 1e-3);
  EXPECT_NEAR(cost.flops_known_pct().value(), 100.0 * 40 / 60, 1e-9);
  EXPECT_EQ(cost.dtype_text(), "bfloat16");
  EXPECT_EQ(cost.estimate, Estimate::exact);
}

TEST(Roof, AnUnknownDeviceHasFlopsAndBytesButNoPercentages) {
  const OnDevice unknown(three_products(), nullptr);
  const Kernels kernels = compute_kernels(unknown.scope);
  const CostSum& cost = kernels.rows.at(0).cost;
  EXPECT_DOUBLE_EQ(cost.flops.value().value(), 2 * kFlops);
  EXPECT_FALSE(cost.peak_flops_ns.pct_of_time().has_value());
  EXPECT_FALSE(cost.roof_ns.value().has_value());
  EXPECT_EQ(cost.bound(), Bound::unknown);
  ASSERT_EQ(kernels.diagnostics.size(), 1U);
  EXPECT_EQ(kernels.diagnostics[0].code, "unknown_device");
  EXPECT_NE(kernels.diagnostics[0].message.find("--device-file"), std::string::npos);
}

// A job's combined trace may have hundreds.
TEST(Roof, OfManyUnknownDevicesAFewAreNamed) {
  test::TraceText text;
  for (int i = 0; i < 20; ++i)
    text.call("cudaLaunchKernel", 1'000 * i, 1'000 * i + 500, i + 1).kernel("k", 50'000, 60'000, i + 1, 7, i);
  const auto trace = text.read();
  const Model model(*trace);
  const Scope scope(model, std::make_shared<const CostModel>(model, CostOptions{}));
  const std::vector<Diagnostic> said = compute_kernels(scope).diagnostics;
  const auto unknown = std::ranges::find(said, "unknown_device", &Diagnostic::code);
  ASSERT_NE(unknown, said.end());
  EXPECT_EQ(unknown->count, 20);
  EXPECT_NE(unknown->message.find("device 0, device 1, device 2, "), std::string::npos) << unknown->message;
  EXPECT_NE(unknown->message.find("device 7 and 12 more: "), std::string::npos) << unknown->message;
}

// The table has no bfloat16 for a V100: what ran is known, its share of a peak is not.
TEST(Roof, ATypeWithoutAPeakIsNamedOnce) {
  const OnDevice v100(three_products(), "v100 sxm 16gb");
  const Kernels kernels = compute_kernels(v100.scope);
  EXPECT_DOUBLE_EQ(kernels.cost.flops.value().value(), 2 * kFlops);
  EXPECT_FALSE(kernels.cost.peak_flops_ns.pct_of_time().has_value());
  ASSERT_EQ(kernels.diagnostics.size(), 1U);
  EXPECT_EQ(kernels.diagnostics[0].code, "no_peak");
  EXPECT_NE(kernels.diagnostics[0].message.find("bfloat16 on '" + (*find_device("v100 sxm 16gb"))->name + "'"),
            std::string::npos)
      << kernels.diagnostics[0].message;
}

TEST(Roof, AClockThatScalesNothingIsSaid) {
  const LoadedTrace loaded = load_events(three_products());
  const auto is_said = [&](const char* device) {
    CostOptions options = OnDevice::options(device);
    options.clock_mhz = 500;
    const Scope scope(*loaded.model, std::make_shared<const CostModel>(*loaded.model, options));
    const std::vector<Diagnostic> said = compute_kernels(scope).diagnostics;
    return std::ranges::count(said, "clock_without_effect", &Diagnostic::code) == 1;
  };
  EXPECT_TRUE(is_said("a10g"));
  EXPECT_FALSE(is_said("h200"));
}

TEST(Roof, NoShapesIsSaid) {
  const OnDevice h200(launch(1, 1, 2, kGemm, 100, 10), "h200");
  const Kernels kernels = compute_kernels(h200.scope);
  EXPECT_FALSE(kernels.cost.flops.value().has_value());
  ASSERT_EQ(kernels.diagnostics.size(), 1U);
  EXPECT_EQ(kernels.diagnostics[0].code, "no_costs");
  EXPECT_NE(kernels.diagnostics[0].message.find("record_shapes=True"), std::string::npos);
}

// Shapes are there; what is missing is a formula.
TEST(Roof, AMissingFormulaIsNotAskedForAsShapes) {
  const std::string op =
      test::event({.name = "mine::op", .ts = 0, .dur = 20, .args = R"("Input Dims": [[64, 64]], "Input type": ["float"])"});
  const OnDevice h200(join({op, launch(1, 1, 2, "my_kernel<int>()", 100, 10)}), "h200");
  const Kernels kernels = compute_kernels(h200.scope);
  ASSERT_EQ(kernels.diagnostics.size(), 1U);
  EXPECT_EQ(kernels.diagnostics[0].code, "no_costs");
  EXPECT_EQ(kernels.diagnostics[0].message.find("record_shapes"), std::string::npos);
  EXPECT_NE(kernels.diagnostics[0].message.find("formula"), std::string::npos);
}

TEST(Roof, ThePointOfAKernel) {
  const OnDevice h200(join({mm(0, 10), launch(1, 1, 2, kGemm, 100, 10)}), "h200");
  const RoofPoint point = roof_point(compute_kernels(h200.scope).rows.at(0).cost);
  EXPECT_NEAR(point.intensity.value(), kFlops / (3 * kOperand), 1e-9);  // 341: over the ridge at 206, so the roof is the peak
  EXPECT_NEAR(point.flops_per_s.value(), kFlops / 10e-6, 1);
  EXPECT_NEAR(point.roof_flops_per_s.value() / 989.4e12, 1, 1e-9);
  EXPECT_NEAR(point.pct_of_roof.value(), 100 * kFlops / 10e-6 / 989.4e12, 1e-6);
}

// A kernel of 10 us with shapes beside one of 90 us without: the utilisation is not known, and not nearly 0.
TEST(Roof, UtilisationIsNotKnownFromAFewKernels) {
  const OnDevice h200(join({mm(1, 10), launch(1, 2, 2, kGemm, 20, 10), launch(2, 30, 2, "unknown_kernel", 40, 90)}), "h200");
  const Roofline roofline = compute_roofline(h200.scope);
  EXPECT_FALSE(mfu_pct(roofline.use.all, roofline.use.devices));
  EXPECT_FALSE(bandwidth_pct(roofline.use.all, roofline.use.devices));
  EXPECT_NEAR(roofline.use.all.cost.flops_known_pct().value(), 10, 1e-9);
}

TEST(Roof, UtilisationOfAnIterationCountsItsIdleTime) {
  const OnDevice h200(
      join({event({.name = "ProfilerStep#3", .ts = 0, .dur = 100, .cat = "user_annotation"}), mm(1, 10),
            launch(1, 2, 2, kGemm, 20, 10), event({.name = "ProfilerStep#4", .ts = 100, .dur = 50, .cat = "user_annotation"}),
            mm(101, 10), launch(2, 102, 2, kGemm, 120, 180)}),
      "h200");
  const Roofline roofline = compute_roofline(h200.scope);
  ASSERT_EQ(roofline.use.iterations.size(), 2U);
  const double peak_ns = 1e9 * kFlops / 989.4e12;
  EXPECT_EQ(roofline.use.iterations[0].iteration, 3);
  EXPECT_EQ(roofline.use.iterations[0].duration_ns, 100'000);
  EXPECT_NEAR(mfu_pct(roofline.use.iterations[0], roofline.use.devices).value(), 100 * peak_ns / 100'000, 1e-6);
  // The host of the last step ran ahead: it is done after 50 us, the device after 200.
  EXPECT_EQ(roofline.use.iterations[1].duration_ns, 200'000);
  EXPECT_NEAR(mfu_pct(roofline.use.iterations[1], roofline.use.devices).value(), 100 * peak_ns / 200'000, 1e-6);
  EXPECT_EQ(roofline.use.all.duration_ns, 300'000);
  EXPECT_NEAR(mfu_pct(roofline.use.all, roofline.use.devices).value(), 100 * 2 * peak_ns / 300'000, 1e-6);
  EXPECT_NEAR(bandwidth_pct(roofline.use.all, roofline.use.devices).value(), 100 * 6 * kOperand / 4.8e12 * 1e9 / 300'000, 1e-6);
  const Report report = report_roofline(roofline);
  ASSERT_EQ(report.plots.size(), 1U);
  EXPECT_EQ(report.plots[0].points.size(), 1U);
  EXPECT_FALSE(report.plots[0].lines.empty());
}

// A product, a copy that has bytes and no FLOPs, and a kernel of which nothing is known: each has its place, and the shares of
// the time add up.
TEST(Roof, EveryKernelHasItsPlaceInThePictures) {
  const std::string copy =
      event({.name = "aten::copy_",
             .ts = 20,
             .dur = 8,
             .args = "\"Input Dims\": [[1024, 1024], [1024, 1024], []], \"Input type\": [\"float\", \"float\", "
                     "\"Scalar\"], \"Input Strides\": [[1024, 1], [1024, 1], []]"});
  const OnDevice h200(join({mm(0, 10), launch(1, 1, 2, kGemm, 100, 60), copy,
                            launch(2, 21, 2, "direct_copy_kernel_cuda", 200, 30), launch(3, 40, 2, "unknown_kernel", 240, 10)}),
                      "h200");
  const Report report = report_roofline(compute_roofline(h200.scope));
  ASSERT_EQ(report.plots.size(), 2U);
  EXPECT_EQ(report.plots[0].points.size(), 1U);
  EXPECT_NE(report.plots[0].note.find("60"), std::string::npos) << report.plots[0].note;
  EXPECT_EQ(report.plots[1].points.size(), 1U);
  EXPECT_EQ(report.plots[1].points[0].x, 30'000);
  ASSERT_EQ(report.plots[1].lines.size(), 1U);
  EXPECT_EQ(report.plots[1].lines[0].points[0].second, 4.8e12);
  EXPECT_NE(report.plots[1].note.find("30"), std::string::npos) << report.plots[1].note;
  EXPECT_NE(report.plots[1].note.find("1 kernel (10"), std::string::npos) << report.plots[1].note;
  EXPECT_NE(report.plots[1].note.find("unknown_kernel"), std::string::npos) << report.plots[1].note;
}

// The time that shares of a peak are of is the iterations' as everywhere, with a compilation before the first launch.
TEST(Roof, UtilisationIsOfTheIterationsTime) {
  for (const char* name :
       {"flex_attention_compiled", "triton_short_names", "compiled_with_fallbacks", "fault_uncached_allocator"}) {
    const auto path = test::path_of(name);
    ASSERT_TRUE(path) << name;
    const LoadedTrace loaded = test::load_file(*path);
    const Scope scope(*loaded.model);
    EXPECT_EQ(compute_utilisation(scope).all.duration_ns, iteration_time(scope).total_ns()) << name;
  }
}

TEST(Roof, SummaryHasTheUtilisationOfRoofline) {
  const std::string events = join({event({.name = "ProfilerStep#3", .ts = 0, .dur = 100, .cat = "user_annotation"}), mm(1, 10),
                                   launch(1, 2, 2, kGemm, 20, 10)});
  const auto cell = [](const Report& report, std::string_view name) {
    const Table& table = report.tables.front();
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      if (table.columns[i].name == name) return rows_of(table).front()[i];
    }
    ADD_FAILURE() << name;
    return Cell();
  };
  const auto says_unknown = [](const Report& report) {
    return std::ranges::count(report.diagnostics, "unknown_device", &Diagnostic::code);
  };
  const OnDevice h200(events, "h200");
  const Report known = report_summary(compute_summary(h200.scope));
  const Utilisation use = compute_utilisation(h200.scope);
  EXPECT_EQ(cell(known, "mfu_pct"), Cell(mfu_pct(use.all, use.devices).value()));
  EXPECT_EQ(cell(known, "bandwidth_pct"), Cell(bandwidth_pct(use.all, use.devices).value()));
  EXPECT_EQ(cell(known, "flops_known_pct"), Cell(100.0));
  EXPECT_EQ(says_unknown(known), 0);
  // Whose peaks these are is not known: what ran is, its share of a peak is not, and that is said.
  const OnDevice unknown(events, nullptr);
  const Report bare = report_summary(compute_summary(unknown.scope));
  EXPECT_EQ(cell(bare, "mfu_pct"), Cell());
  EXPECT_EQ(cell(bare, "bandwidth_pct"), Cell());
  EXPECT_EQ(cell(bare, "flops_known_pct"), Cell(100.0));
  EXPECT_EQ(says_unknown(bare), 1);
  // Of half of the time it is not known what ran: what is known of the other half is no share of the whole.
  const OnDevice half(join({events, launch(2, 40, 2, kGemm, 50, 10)}), "h200");
  const Report partly = report_summary(compute_summary(half.scope));
  EXPECT_EQ(cell(partly, "mfu_pct"), Cell());
  EXPECT_EQ(cell(partly, "flops_known_pct"), Cell(50.0));
}

TEST(Roof, OpsHaveTheFlopsOfWhatTheyLaunchAndTheTotalCountsThemOnce) {
  const OnDevice h200(join({event({.name = "aten::linear", .ts = 0, .dur = 20}), mm(1, 10), launch(1, 2, 2, kGemm, 100, 10)}),
                      "h200");
  const Ops ops = compute_ops(h200.scope);
  ASSERT_EQ(ops.rows.size(), 2U);
  for (const OpRow& row : ops.rows) EXPECT_DOUBLE_EQ(row.flops.value().value(), kFlops) << row.op;
  EXPECT_DOUBLE_EQ(ops.flops.value().value(), kFlops);
}

// Autocast calls an op again with its arguments cast: one product, though both calls have it below them.
TEST(Roof, OpsThatCallThemselvesCountFlopsOnce) {
  const OnDevice h200(join({event({.name = "aten::linear", .ts = 0, .dur = 40}), event({.name = "aten::to", .ts = 1, .dur = 2}),
                            event({.name = "aten::linear", .ts = 5, .dur = 30}), mm(10, 10), launch(1, 11, 2, kGemm, 100, 10)}),
                      "h200");
  for (const std::optional<OpsBy> by : {std::optional<OpsBy>(), std::optional(OpsBy::shape), std::optional(OpsBy::phase)}) {
    const Ops ops = compute_ops(h200.scope, by);
    ASSERT_EQ(ops.rows.size(), 3U);
    for (const OpRow& row : ops.rows) {
      if (row.op == "aten::to") continue;
      EXPECT_DOUBLE_EQ(row.flops.value().value(), kFlops) << row.op;
    }
    const auto linear = std::ranges::find(ops.rows, "aten::linear", &OpRow::op);
    EXPECT_EQ(linear->device_total_ns, 20'000);  // as PyTorch's table has it
    EXPECT_EQ(linear->count, 2);
  }
}

// Of one row each: an op of the same name with other shapes is another row, and has its own FLOPs.
TEST(Roof, OpsThatCallThemselvesWithOtherShapesCountFlopsInBothRows) {
  const OnDevice h200(join({event({.name = "aten::mm", .ts = 0, .dur = 40, .args = "\"Input Dims\": [[7, 7]]"}),
                            event({.name = "aten::to", .ts = 1, .dur = 2}), mm(10, 10), launch(1, 11, 2, kGemm, 100, 10)}),
                      "h200");
  const Ops ops = compute_ops(h200.scope, OpsBy::shape);
  ASSERT_EQ(ops.rows.size(), 3U);
  for (const OpRow& row : ops.rows) {
    if (row.op == "aten::to") continue;
    EXPECT_DOUBLE_EQ(row.flops.value().value(), kFlops) << row.detail;
  }
}

// An addition of 10 us that is known to have no FLOPs, beside a product of 90 us without shapes: together they do not have 0.
std::string addition(int ts, int correlation, int kernel_ts, int kernel_us) {
  return join(
      {event({.name = "aten::add",
              .ts = ts,
              .dur = 10,
              .args = "\"Input Dims\": [[1024], [1024]], \"Input type\": [\"float\", \"float\"], "
                      "\"Input Strides\": [[1], [1]]"}),
       launch(correlation, ts + 1, 2, "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>",
              kernel_ts, kernel_us)});
}
std::string unknown_product(int ts, int correlation, int kernel_ts, int kernel_us) {
  return join({event({.name = "aten::mm", .ts = ts, .dur = 10}), launch(correlation, ts + 1, 2, kGemm, kernel_ts, kernel_us)});
}

Cell total(const Report& report, std::string_view column, std::size_t table = 0) {
  const Table& t = report.tables.at(table);
  const auto at = std::ranges::find(t.columns, column, &Column::name);
  EXPECT_NE(at, t.columns.end()) << column;
  return t.total.value().at(static_cast<std::size_t>(at - t.columns.begin()));
}

TEST(Roof, AZeroBesideWhatIsNotKnownIsNotKnown) {
  const OnDevice h200(join({addition(0, 1, 100, 10), unknown_product(20, 2, 200, 90)}), "h200");
  const Kernels kernels = compute_kernels(h200.scope);
  ASSERT_EQ(kernels.cost.flops.value(), 0.0);  // of the addition
  const Report report = report_kernels(kernels);
  for (const char* column : {"flops", "flops_per_s", "pct_peak_flops"}) EXPECT_EQ(total(report, column), Cell()) << column;
  EXPECT_NE(total(report, "bytes_read"), Cell());  // of a tenth of the time, which is told
  EXPECT_EQ(total(report, "flops_known_pct"), Cell(10.0));
  EXPECT_EQ(report.diagnostics.at(0).code, "costs_partly_known");
  EXPECT_NE(report.diagnostics.at(0).message.find("10.0 %"), std::string::npos);
  const Report roofline = report_roofline(compute_roofline(h200.scope));
  EXPECT_EQ(total(roofline, "flops_per_s"), Cell());
  EXPECT_EQ(total(roofline, "flops", 1), Cell());  // of the iterations
  EXPECT_EQ(total(report_ops(compute_ops(h200.scope)), "flops"), Cell());
  // All of it known: a 0 is one.
  const OnDevice known(addition(0, 1, 100, 10), "h200");
  EXPECT_EQ(total(report_kernels(compute_kernels(known.scope)), "flops"), Cell(0.0));
  EXPECT_EQ(total(report_ops(compute_ops(known.scope)), "flops"), Cell(0.0));
}

TEST(Roof, WhatIsKnownOfHardlyAnyTimeSaysNothingOfAll) {
  const OnDevice h200(
      join({addition(0, 1, 100, 1), mm(20, 10), launch(3, 21, 2, kGemm, 150, 1), unknown_product(40, 2, 200, 900)}), "h200");
  const Report report = report_kernels(compute_kernels(h200.scope));
  for (const char* column : {"flops", "flops_per_s", "pct_peak_flops", "bytes_read", "bytes_written", "bytes_per_s",
                             "pct_peak_bandwidth", "roof_ns", "headroom_ns"})
    EXPECT_EQ(total(report, column), Cell()) << column;
  EXPECT_NEAR(std::get<double>(total(report, "flops_known_pct")), 100.0 * 2 / 902, 1e-9);
}

}  // namespace
}  // namespace ridge
