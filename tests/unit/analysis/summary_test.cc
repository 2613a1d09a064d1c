// summary on traces made by hand: what it says of compiled code, of the autotuner and of the compiler's own work.
#include "analysis/summary/summary.h"

#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "analysis/catalog.h"
#include "analysis/categories/categories.h"
#include "support/host_device_trace.h"
#include "support/loaded_trace.h"
#include "support/says.h"
#include "support/table_rows.h"
#include "support/trace_lines.h"

namespace ridge::test {
namespace {

const Table& table(const Report& report, std::string_view name) {
  return *std::find_if(report.tables.begin(), report.tables.end(), [&](const Table& t) { return t.name == name; });
}

Cell cell(const Table& table, std::string_view column, std::size_t row = 0) {
  const auto at = std::find_if(table.columns.begin(), table.columns.end(), [&](const Column& c) { return c.name == column; });
  return rows_of(table).at(row).at(static_cast<std::size_t>(at - table.columns.begin()));
}

struct Answers {
  explicit Answers(const std::string& events)
      : loaded(load_events(events)), summary(report_summary(compute_summary(Scope(*loaded.model)))) {
    graphs = *run_graphs(Scope(*loaded.model), {});
  }
  LoadedTrace loaded;
  Report summary, graphs;

  Cell in_summary() const { return cell(table(summary, "summary"), "compiled_pct_gpu_time"); }
  Cell in_graphs() const { return cell(table(graphs, "torch_compile"), "pct_gpu_time_compiled"); }
};

TEST(Summary, SaysOfCompiledCodeWhatGraphsSays) {
  // Generated kernels without a recorded call: whether the gemm beside them is compiled code's cannot be told.
  const Answers unknown(
      join({launch(1, 10, 2, "triton_poi_fused_add_0", 20, 5), launch(2, 30, 2, "sm90_xmma_gemm_f32", 40, 5)}));
  EXPECT_EQ(unknown.in_summary(), Cell());
  EXPECT_EQ(unknown.in_graphs(), Cell());
  const Answers known(
      join({event({.name = "## Call CompiledFxGraph abc ##", .ts = 5, .dur = 20}),
            launch(1, 10, 2, "triton_poi_fused_add_0", 20, 5), launch(2, 30, 2, "sm90_xmma_gemm_f32", 40, 15)}));
  EXPECT_EQ(known.in_summary(), Cell(25.0));
  EXPECT_EQ(known.in_graphs(), Cell(25.0));
}

// A kernel is recorded longer than it is without the recorder: where kernels of 1 us fill the step, their recorded time is more
// than the step without it.
TEST(Summary, ADeviceIsNotBusyForMoreThanTheStep) {
  std::string events;
  for (int step = 0; step < 3; ++step) {
    const int start = 1000 + step * 100;
    const std::string name = "ProfilerStep#" + std::to_string(step);
    events += (step == 0 ? "" : ", ") + event({.name = name, .ts = start, .dur = 99, .cat = "user_annotation"});
    for (int i = 0; i < 100; ++i)
      events +=
          ", " +
          event({.name = "k", .ts = start + i, .dur = 1, .cat = "kernel", .args = R"("device": 0, "stream": 7)", .tid = 7});
    events += ", " + launch(step + 1, start + 5, 5, "gemm", start + 30, 30);
  }
  const LoadedTrace t = load_events(events);
  const Report report = report_summary(compute_summary(Scope(*t.model)));
  const Table& summary = table(report, "summary");
  EXPECT_EQ(cell(summary, "gpu_busy_pct"), Cell(100.0));
  EXPECT_EQ(cell(summary, "gpu_busy_pct_of_step"), Cell(100.0));
}

TEST(Summary, AFilterChoosesWhatIsListedAndNotWhatTheProgramIs) {
  const LoadedTrace t = load_events(join({
      event({.name = "Torch-Compiled Region: 0/0", .ts = 0, .dur = 100}),
      event({.name = "## Call CompiledFxGraph a ##", .ts = 10, .dur = 20}),
      launch(1, 15, 5, "k", 20, 5),
      event({.name = "Torch-Compiled Region: 1/0", .ts = 38, .dur = 60}),
      event({.name = "## Call CompiledFxGraph b ##", .ts = 50, .dur = 40}),
      launch(2, 60, 5, "k", 66, 5),
  }));
  for (const char* filter : {"k", "zzz"}) {
    const auto scope = make_scope(*t.model, {{"filter", filter}});
    EXPECT_EQ(cell(table(*run_summary(*scope, {}), "summary"), "graph_breaks"), Cell(std::int64_t{1})) << filter;
  }
}

TEST(Summary, KnowsTheTimeOfCompilingWhateverIsListed) {
  const LoadedTrace t =
      load_events(join({event({.name = "GraphLowering.run (dynamo_timed)", .ts = 0, .dur = 100}),
                        event({.name = "CachingAutotuner.benchmark_all_configs (dynamo_timed)", .ts = 200, .dur = 30}),
                        event({.name = "aten::mm", .ts = 300, .dur = 20}), launch(1, 310, 5, "k", 320, 5)}));
  for (const Arguments& arguments : {Arguments{}, Arguments{{"filter", "k"}}, Arguments{{"filter", "zzz"}}}) {
    const Report report = *run_summary(*make_scope(*t.model, arguments), {});
    EXPECT_EQ(cell(table(report, "summary"), "compile_ns"), Cell(std::int64_t{100'000}));
    EXPECT_EQ(cell(table(report, "summary"), "autotune_ns"), Cell(std::int64_t{30'000}));
  }
  const LoadedTrace device_alone = load_events(launch(1, 10, 2, "k", 20, 5));
  const Report report = report_summary(compute_summary(Scope(*device_alone.model)));
  EXPECT_EQ(cell(table(report, "summary"), "compile_ns"), Cell());
  EXPECT_EQ(cell(table(report, "summary"), "autotune_ns"), Cell());
}

TEST(Filter, IsToldWhereItNarrowsLittleOrNothing) {
  const LoadedTrace t =
      load_events(join({event({.name = "aten::mm", .ts = 5, .dur = 20}), launch(1, 10, 2, "gemm", 20, 5),
                        event({.name = "aten::relu", .ts = 45, .dur = 20}), launch(2, 50, 2, "relu", 60, 5)}));
  using Answer = Result<Report> (*)(const Scope&, const Arguments&);
  const auto said = [&](Answer run, const char* filter) {
    std::vector<std::string> codes;
    const Report report = *run(*make_scope(*t.model, {{"filter", filter}}), {});
    for (const Diagnostic& d : report.diagnostics) {
      if (d.code.starts_with("filter_") && d.severity == "warning") codes.push_back(d.code);
    }
    return codes;
  };
  using Codes = std::vector<std::string>;
  for (const Answer run : {run_gpu, run_summary}) {
    EXPECT_EQ(said(run, "gemm"), Codes{"filter_not_used"});
    EXPECT_EQ(said(run, "aten::relu"), Codes{"filter_not_used"});
    EXPECT_EQ(said(run, "zzz"), Codes{"filter_matches_nothing"});
  }
  EXPECT_EQ(said(run_launches, "Launch"), Codes{"filter_not_used"});
  EXPECT_EQ(said(run_launches, "gemm"), Codes{"filter_matches_nothing"});  // it lists calls
}

// Where ops were recorded and none of them is compiled code's, there is none: 0, not unknown.
TEST(Summary, KnowsThatEagerCodeIsNotCompiled) {
  const Answers eager(join({event({.name = "aten::mm", .ts = 5, .dur = 20}), launch(1, 10, 2, "sm90_xmma_gemm_f32", 20, 5)}));
  EXPECT_EQ(eager.in_summary(), Cell(0.0));
  EXPECT_EQ(eager.in_graphs(), Cell(0.0));
  EXPECT_EQ(cell(table(eager.summary, "summary"), "graph_breaks"), Cell(std::int64_t{0}));
  EXPECT_EQ(cell(table(eager.summary, "summary"), "recompiles"), Cell(std::int64_t{0}));
  const Answers device_alone(launch(1, 10, 2, "sm90_xmma_gemm_f32", 20, 5));
  EXPECT_EQ(cell(table(device_alone.summary, "summary"), "graph_breaks"), Cell());
}

// Two devices that are busy for 20 and 40 us of 100.
TEST(Summary, OfSeveralDevicesIsTheirMeanAndSaysSo) {
  TraceText text;
  text.op("aten::mm", 0, 100'000);
  text.call("cudaLaunchKernel", 1'000, 2'000, 1).kernel("a", 10'000, 30'000, 1, 7, 0);
  text.call("cudaLaunchKernel", 3'000, 4'000, 2).kernel("b", 10'000, 50'000, 2, 7, 1);
  const LoadedTrace loaded(text.read());
  const Report report = report_summary(compute_summary(Scope(*loaded.model)));
  EXPECT_EQ(cell(table(report, "summary"), "gpu_busy_pct"), Cell(30.0));
  EXPECT_EQ(cell(table(report, "summary"), "gpu_busy_per_iteration_ns"), Cell(std::int64_t{30'000}));
  EXPECT_TRUE(std::any_of(report.diagnostics.begin(), report.diagnostics.end(), [](const Diagnostic& d) {
    return d.code == "several_devices" && d.message.find("2 devices") != d.message.npos && d.severity == "warning";
  }));
}

// A file joined with itself looks like a program with twice the work.
TEST(Summary, SaysThatWorkStandsThereTwice) {
  const std::string once = join({launch(1, 2, 5, "k", 10, 100), launch(2, 200, 5, "k", 210, 100)});
  const auto copies = [](const std::string& events) {
    const Answers answers(events);
    const auto at = std::ranges::find(answers.summary.diagnostics, "recorded_twice", &Diagnostic::code);
    return at == answers.summary.diagnostics.end() ? 0 : at->count;
  };
  EXPECT_EQ(copies(once), 0);
  EXPECT_EQ(copies(once + ", " + once), 2);
}

// 20 us of a kernel beside 60 us of a copy: a quarter of the time, in whichever table.
TEST(Summary, SharesOfGpuTimeAreOfOneWhole) {
  TraceText text;
  text.op("aten::mm", 0, 10'000).call("cudaLaunchKernel", 1'000, 2'000, 1).kernel("sm90_xmma_gemm_f32", 10'000, 30'000, 1);
  text.call("cudaMemcpyAsync", 3'000, 4'000, 2).copy("Memcpy HtoD (Pinned -> Device)", 30'000, 90'000, 2);
  const LoadedTrace loaded(text.read());
  const Report report = report_summary(compute_summary(Scope(*loaded.model)));
  const Table& categories = table(report, "categories");
  ASSERT_EQ(rows_of(categories).size(), 2U);
  EXPECT_EQ(cell(categories, "category", 1), Cell(std::string("gemm")));
  EXPECT_EQ(cell(categories, "pct_gpu_time", 1), Cell(25.0));
  EXPECT_EQ(cell(table(report, "top_kernels"), "pct_gpu_time"), Cell(25.0));
}

TEST(Summary, LeavesTheAutotunerOut) {
  const Answers tuned(
      join({event({.name = "CachingAutotuner.benchmark_all_configs", .ts = 100, .dur = 100}),
            launch(1, 150, 5, "void fill_kernel(int)", 300, 90),
            event({.name = "## Call CompiledFxGraph abc ##", .ts = 400, .dur = 50}),
            launch(2, 410, 5, "triton_poi_fused_add_0", 420, 5), launch(3, 500, 5, "sm90_xmma_gemm_f32", 510, 5)}));
  const Table& top = table(tuned.summary, "top_kernels");
  ASSERT_EQ(rows_of(top).size(), 2U);
  EXPECT_EQ(cell(top, "pct_gpu_time"), Cell(50.0));
  EXPECT_EQ(rows_of(table(tuned.summary, "categories")).size(), 2U);
  EXPECT_EQ(cell(table(tuned.summary, "top_ops"), "device_self_ns"), Cell(std::int64_t{5'000}));  // each of the two
  EXPECT_EQ(tuned.in_summary(), Cell(50.0));
  const auto said = std::find_if(tuned.summary.diagnostics.begin(), tuned.summary.diagnostics.end(),
                                 [](const Diagnostic& d) { return d.code == "autotuning"; });
  ASSERT_NE(said, tuned.summary.diagnostics.end());
  EXPECT_EQ(said->count, 1);
  EXPECT_NE(said->message.find("90.0 %"), std::string::npos) << said->message;
  EXPECT_EQ(compute_categories(Scope(*tuned.loaded.model)).time_ns, 100'000);  // accounting elsewhere holds all
}

// Inductor times patterns of its passes on the device while it compiles: 2 ms here beside 10 us of the program's.
TEST(Summary, LeavesOutWhatTheCompilerRunsForItself) {
  const Answers compiling(
      join({event({.name = "pass.joint_graph_passes.pass_pattern_0 (dynamo_timed)", .ts = 100, .dur = 100}),
            launch(1, 150, 5, "sm90_xmma_gemm_f32", 300, 1900),
            event({.name = "CachingAutotuner.benchmark_all_configs (dynamo_timed)", .ts = 250, .dur = 100}),
            launch(4, 260, 5, "triton_poi_fused_add_0", 2250, 90),
            event({.name = "## Call CompiledFxGraph abc ##", .ts = 400, .dur = 50}),
            launch(2, 410, 5, "triton_poi_fused_add_0", 2400, 5), launch(3, 500, 5, "sm90_xmma_gemm_f32", 2510, 5)}));
  EXPECT_EQ(compiling.in_summary(), Cell(50.0));
  EXPECT_EQ(compiling.in_graphs(), Cell(50.0));
  const Table& top = table(compiling.summary, "top_kernels");
  ASSERT_EQ(rows_of(top).size(), 2U);
  EXPECT_EQ(cell(top, "time_ns"), Cell(std::int64_t{5'000}));
  EXPECT_EQ(cell(table(compiling.summary, "categories"), "launches"), Cell(std::int64_t{1}));
  EXPECT_EQ(cell(table(compiling.summary, "top_ops"), "device_self_ns"), Cell(std::int64_t{5'000}));
  EXPECT_EQ(cell(table(compiling.summary, "summary"), "autotune_ns"), Cell(std::int64_t{100'000}));  // spans of the tuner alone
  EXPECT_EQ(cell(table(compiling.summary, "summary"), "compile_ns"), Cell(std::int64_t{100'000}));
  std::string said;
  for (const Diagnostic& d : compiling.summary.diagnostics) {
    if (d.code == "compiling" || d.code == "autotuning") said += fmt::format("{} {}: {}\n", d.code, d.count, d.message);
  }
  EXPECT_TRUE(test::says(said, {"autotuning 1: ", "90.000 us", "4.5 %", "compiling 1: ", "1.900 ms", "95.0 %"}));
}

// Three calls of one op, of which the compiler makes two. What it does inside an op of the program's takes no time of that op's
// own, written as an op or as an annotation.
TEST(Summary, CountsTheProgramsOwnCallsOfAnOp) {
  const Answers answers(join({
      event({.name = "pass.joint_graph_passes.pass_pattern_0 (dynamo_timed)", .ts = 100, .dur = 100}),
      event({.name = "aten::mm", .ts = 110, .dur = 30}),
      launch(1, 120, 5, "gemm", 130, 70),
      event({.name = "aten::mm", .ts = 300, .dur = 40}),
      launch(2, 310, 5, "gemm", 320, 7),
      event({.name = "CompiledFunctionBackward", .ts = 1000, .dur = 100}),
      event({.name = "backward._backward_impl (dynamo_timed)", .ts = 1010, .dur = 50, .cat = "user_annotation"}),
      event({.name = "aten::mm", .ts = 1020, .dur = 10}),
      launch(3, 1025, 2, "gemm", 1030, 3),
      event({.name = "CachingAutotuner.benchmark_all_configs (dynamo_timed)", .ts = 1070, .dur = 10}),
      event({.name = "triton_poi_fused_add_0", .ts = 1071, .dur = 5}),
      launch(4, 1072, 2, "triton_poi_fused_add_0", 1075, 3),
  }));
  std::string rows;
  for (const Row& row : rows_of(table(answers.summary, "top_ops")))
    rows += fmt::format("{} {} {} {}\n", std::get<std::string>(row[3]), std::get<std::int64_t>(row[0]),
                        std::get<std::int64_t>(row[1]), std::get<std::int64_t>(row[2]));
  EXPECT_EQ(rows,
            "aten::mm 1 7000 35000\n"                 // less its launch
            "CompiledFunctionBackward 1 0 40000\n");  // less 50 and 10 of the compiler's
}

// Over every trace: what summary lists and what it leaves out is all device work, and `graphs` divides it in the same way.
TEST(Summary, AndGraphsLeaveOutTheSameWork) {
  for (const std::string& path : all_traces()) {
    SCOPED_TRACE(path);
    const LoadedTrace t = load_file(path);
    const Scope scope(*t.model);
    const Categories own = compute_categories(scope, CompilerWorkFilter::without);
    const Graphs graphs = compute_graphs(scope);
    const auto part = [&](CoveragePart p) { return graphs.coverage[static_cast<std::size_t>(p)]; };
    EXPECT_EQ(own.autotune_ns, part(CoveragePart::autotune).gpu_ns);
    EXPECT_EQ(own.autotune_launches, part(CoveragePart::autotune).events);
    EXPECT_EQ(own.compiler_ns, part(CoveragePart::compiler).gpu_ns);
    EXPECT_EQ(own.compiler_launches, part(CoveragePart::compiler).events);
    EXPECT_EQ(own.time_ns + own.autotune_ns + own.compiler_ns, compute_categories(scope).time_ns);
  }
}

}  // namespace
}  // namespace ridge::test
