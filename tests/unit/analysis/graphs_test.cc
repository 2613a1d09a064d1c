// Every piece of device work in one coverage part, busy shares computed by hand, fallbacks of recorded programs.
#include "analysis/graphs/graphs.h"

#include <gtest/gtest.h>

#include "support/loaded_trace.h"
#include "trace/vendor_work.h"

namespace ridge::test {
namespace {

Graphs graphs_of(const LoadedTrace& t) { return compute_graphs(Scope(*t.model)); }
const Coverage& part(const Graphs& graphs, CoveragePart p) { return graphs.coverage[static_cast<std::size_t>(p)]; }

std::int64_t device_time(const Trace& trace) {
  std::int64_t sum = 0;
  for (const EventId event : trace.of(EventClass::device_work)) {
    if (work_of(trace, event) != DeviceWork::none) sum += trace.events.dur_ns(event).value_or(0);
  }
  return sum;
}

std::string graph(std::string_view key, int ts, int dur) {
  return event({.name = "## Call CompiledFxGraph " + std::string(key) + " ##", .ts = ts, .dur = dur});
}

TEST(Graphs, EachPieceOfWorkIsInOnePart) {
  const LoadedTrace t = load_events(join({
      event({.name = "Torch-Compiled Region: 0/0", .ts = 0, .dur = 200}),
      launch(1, 5, 1, "prologue_copy", 10, 1),
      graph("a", 20, 100),
      launch(2, 30, 1, "gemm", 35, 10),
      event({.name = "CachingAutotuner.benchmark_all_configs", .ts = 50, .dur = 20}),
      launch(3, 55, 1, "triton_poi_fused_add_0", 60, 100),
      launch(4, 110, 1, "gemm", 165, 10),
      launch(5, 300, 1, "eager", 310, 1000),
      launch(6, 320, 1, "triton_poi_fused_add_0", 2000, 7),
      event({.name = "GraphLowering.run (dynamo_timed)", .ts = 400, .dur = 50}),
      launch(8, 410, 1, "folded", 5000, 11),
      launch(7, 330, 1, "replayed", 3000, 5, "cudaGraphLaunch"),
      event({.name = "earlier",
             .ts = 4000,
             .dur = 3,
             .cat = "kernel",
             .args = "\"correlation\": 99, \"device\": 0, \"stream\": 7",
             .tid = 7}),
  }));
  const Graphs graphs = graphs_of(t);
  EXPECT_EQ(part(graphs, CoveragePart::graph).gpu_ns, 20'000);
  EXPECT_EQ(part(graphs, CoveragePart::compiled_frame).gpu_ns, 1'000);
  EXPECT_EQ(part(graphs, CoveragePart::autotune).gpu_ns, 100'000);
  EXPECT_EQ(part(graphs, CoveragePart::eager).gpu_ns, 1'000'000);
  EXPECT_EQ(part(graphs, CoveragePart::inductor_kernel).gpu_ns, 7'000);
  EXPECT_EQ(part(graphs, CoveragePart::graph_replay).gpu_ns, 5'000);
  EXPECT_EQ(part(graphs, CoveragePart::compiler).gpu_ns, 11'000);
  EXPECT_EQ(part(graphs, CoveragePart::before_window).gpu_ns, 3'000);
  ASSERT_EQ(graphs.graphs.size(), 1U);
  EXPECT_EQ(graphs.graphs[0].launches, 2);
  EXPECT_EQ(graphs.graphs[0].kernels, 2);
  EXPECT_EQ(graphs.graphs[0].cpu_ns, 100'000);
  EXPECT_EQ(graphs.graphs[0].span_ns, 55'000);  // 20 to 175, less 100 of the tuner's kernel
  EXPECT_EQ(graphs.graphs[0].busy_ns, 20'000);
}

TEST(Graphs, ADeviceThatWaitsForTheCallIsNotBusy) {
  const LoadedTrace t = load_events(join({
      graph("a", 0, 100), launch(1, 10, 2, "k", 20, 1),     // 1 of 100
      graph("a", 200, 100), launch(2, 290, 2, "k", 300, 9)  // 9 of 109: the work goes on behind the call
  }));
  const Graphs graphs = graphs_of(t);
  EXPECT_EQ(graphs.graphs.at(0).span_ns, 209'000);
  EXPECT_EQ(graphs.graphs.at(0).busy_ns, 10'000);
}

TEST(Graphs, AHostThatIsAheadDoesNotMakeABusyDeviceLookIdle) {
  const LoadedTrace t = load_events(join({
      launch(1, 0, 1, "before", 5, 995),
      graph("a", 10, 10),
      launch(2, 12, 1, "k", 1000, 40),
      graph("a", 20, 10),
      launch(3, 22, 1, "k", 1050, 40),
  }));
  const Graphs graphs = graphs_of(t);
  EXPECT_EQ(graphs.graphs.at(0).span_ns, 90'000);  // 1000 to 1040, and on to 1090
  EXPECT_EQ(graphs.graphs.at(0).busy_ns, 80'000);
}

TEST(Graphs, WorkOfAnotherStreamIsNeitherBusyNorIdle) {
  const LoadedTrace t = load_events(join({
      event({.name = "cudaLaunchKernel", .ts = 0, .dur = 1, .cat = "cuda_runtime", .args = "\"correlation\": 1"}),
      event({.name = "other",
             .ts = 5,
             .dur = 75,
             .cat = "kernel",
             .args = "\"correlation\": 1, \"device\": 0, \"stream\": 8",
             .tid = 8}),
      graph("a", 10, 90),
      launch(2, 12, 1, "k", 20, 20),
  }));
  const Graphs graphs = graphs_of(t);
  EXPECT_EQ(graphs.graphs.at(0).busy_ns, 20'000);
  EXPECT_EQ(graphs.graphs.at(0).span_ns, 40'000);  // 20 to 100, less 40 to 80 of the other
}

TEST(Graphs, OneKernelOfALongCall) {
  const auto path = path_of("fault_recompile_limit");
  if (!path) GTEST_SKIP() << "no such trace here";
  const LoadedTrace t = load_file(*path);
  for (const GraphCost& g : graphs_of(t).graphs) {
    EXPECT_GE(g.span_ns, g.cpu_ns) << g.graph;  // nothing is queued before its calls
    EXPECT_EQ(g.busy_ns, g.gpu_ns) << g.graph;
  }
}

TEST(Graphs, CountTheRegionsOfTheScope) {
  const auto region = [](std::string_view id, int ts) {
    return event({.name = "Torch-Compiled Region: " + std::string(id), .ts = ts, .dur = 100});
  };
  const LoadedTrace t = load_events(join({region("0/0", 0), graph("a", 20, 10), launch(1, 22, 1, "k", 30, 10),  //
                                          region("0/0", 200), graph("a", 220, 10), launch(2, 222, 1, "k", 230, 10),
                                          region("1/0", 400), graph("b", 420, 10), launch(3, 422, 1, "k", 430, 10)}));
  const auto regions = [&](const Arguments& arguments) {
    return compute_graphs(*make_scope(*t.model, arguments)).region_calls;
  };
  EXPECT_EQ(regions({}), 3);
  EXPECT_EQ(regions({{"from", "0.1"}}), 2);
  EXPECT_EQ(regions({{"filter", "^a$"}}), 2);
  EXPECT_EQ(regions({{"filter", "nothing"}}), 0);
}

TEST(Graphs, TracesWithoutGraphCalls) {
  const LoadedTrace t = load_events(join({
      event({.name = "Torch-Compiled Region", .ts = 0, .dur = 100}),
      event({.name = "CompiledFunction", .ts = 10, .dur = 50}),
      launch(1, 20, 1, "k", 30, 4),
      launch(2, 70, 1, "copy", 75, 2),
      event({.name = "Torch-Compiled Region", .ts = 200, .dur = 100}),
      launch(3, 210, 1, "k", 220, 3),
      event({.name = "CompiledFunctionBackward", .ts = 0, .dur = 50, .tid = 2}),
      launch(4, 10, 1, "k", 300, 5, "cudaLaunchKernel", 2),
  }));
  const Graphs graphs = graphs_of(t);
  ASSERT_EQ(graphs.graphs.size(), 3U);
  EXPECT_EQ(graphs.graphs[0].graph, "CompiledFunctionBackward");
  EXPECT_TRUE(graphs.graphs[0].backward);
  EXPECT_EQ(graphs.graphs[1].graph, "CompiledFunction");
  EXPECT_EQ(graphs.graphs[2].graph, "Torch-Compiled Region");
  EXPECT_EQ(part(graphs, CoveragePart::graph).gpu_ns, 12'000);
  EXPECT_EQ(part(graphs, CoveragePart::compiled_frame).gpu_ns, 2'000);
}

TEST(Graphs, FallbacksAreOpsThatInductorDoesNotCallByDesign) {
  const LoadedTrace t = load_events(join({
      graph("a", 0, 1000),
      event({.name = "aten::mm", .ts = 10, .dur = 10}),
      event({.name = "triton_poi_fused_add_0", .ts = 30, .dur = 10}),
      event({.name = "aten::linalg_qr", .ts = 50, .dur = 100}),
      event({.name = "aten::triu", .ts = 60, .dur = 10}),
      launch(1, 62, 1, "k", 65, 5),
      event({.name = "mylib::attend", .ts = 200, .dur = 10}),
      event({.name = "aten::randint", .ts = 250, .dur = 10}),  // seeds
      event({.name = "aten::_scaled_dot_product_flash_attention", .ts = 300, .dur = 10}),
  }));
  const Graphs graphs = graphs_of(t);
  ASSERT_EQ(graphs.graphs.size(), 1U);
  const auto& fallbacks = graphs.graphs[0].fallbacks;
  ASSERT_EQ(fallbacks.size(), 2U);
  EXPECT_EQ(fallbacks[0].op, "aten::linalg_qr");
  EXPECT_EQ(fallbacks[0].gpu_ns, 5'000);
  EXPECT_EQ(fallbacks[1].op, "mylib::attend");
}

TEST(Graphs, QrFallsBackAndSortDoesNot) {
  const auto path = path_of("compiled_with_fallbacks");
  if (!path) GTEST_SKIP() << "no such trace here";
  const LoadedTrace t = load_file(*path);
  const Graphs graphs = graphs_of(t);
  ASSERT_EQ(graphs.graphs.size(), 1U);
  ASSERT_EQ(graphs.graphs[0].fallbacks.size(), 1U);
  EXPECT_EQ(graphs.graphs[0].fallbacks[0].op, "aten::linalg_qr");
  EXPECT_EQ(graphs.graphs[0].fallbacks[0].calls, 2);
}

TEST(Graphs, RecompileLimit) {
  const auto path = path_of("fault_recompile_limit");
  if (!path) GTEST_SKIP() << "no such trace here";
  const LoadedTrace t = load_file(*path);
  const Graphs graphs = graphs_of(t);
  ASSERT_EQ(graphs.lookups.size(), 2U);
  EXPECT_EQ(graphs.lookups[0].lookups, 6);  // hits
  EXPECT_EQ(graphs.lookups[1].outcome, LookupOutcome::not_compiled);
  EXPECT_EQ(graphs.lookups[1].lookups, 12);
  EXPECT_EQ(graphs.lookups[1].location, "gen7.py:5 (<lambda>)");
}

TEST(Graphs, ForwardAndBackwardOfOneFrame) {
  for (const char* name : {"resnet18_compiled", "resnet18_compiled_stack_mem", "gpt_compiled_train"}) {
    const auto path = path_of(name);
    if (!path) continue;
    const LoadedTrace t = load_file(*path);
    const Graphs graphs = graphs_of(t);
    ASSERT_EQ(graphs.graphs.size(), 2U) << name;
    EXPECT_NE(graphs.graphs[0].backward, graphs.graphs[1].backward);
    for (const GraphCost& g : graphs.graphs) {
      EXPECT_EQ(g.calls, 3) << name;
      EXPECT_EQ(text_of(g.id), "0/0") << name;
      EXPECT_TRUE(g.fallbacks.empty()) << name << ": " << g.fallbacks[0].op;
    }
  }
}

TEST(Graphs, CoverageClosesOnAllTraces) {
  for (const std::string& path : all_traces()) {
    const LoadedTrace t = load_file(path);
    const Graphs graphs = graphs_of(t);
    EXPECT_EQ(graphs.gpu_ns(), device_time(*t.trace)) << path;
    std::int64_t in_graphs = 0, categories = 0;
    for (const GraphCost& g : graphs.graphs) {
      in_graphs += g.gpu_ns;
      for (const std::int64_t ns : g.category_ns) categories += ns;
      EXPECT_LE(g.busy_ns, g.span_ns) << path;
      EXPECT_LE(g.busy_ns, g.gpu_ns) << path;
    }
    EXPECT_EQ(in_graphs, part(graphs, CoveragePart::graph).gpu_ns) << path;
    EXPECT_EQ(categories, in_graphs) << path;
  }
}

}  // namespace
}  // namespace ridge::test
