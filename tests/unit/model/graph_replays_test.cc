// Replays grouped into graphs, and their ops recovered from eager runs and captures, or left unknown.
#include "model/graph_replays.h"

#include <gtest/gtest.h>

#include "support/loaded_trace.h"

namespace ridge::test {
namespace {

std::string kernel(std::string_view name, int correlation, int ts, int dur, std::string_view more = "") {
  return event(
      {.name = name,
       .ts = ts,
       .dur = dur,
       .cat = "kernel",
       .args = "\"correlation\": " + std::to_string(correlation) + ", \"device\": 0, \"stream\": 7" + std::string(more),
       .tid = 7});
}
std::string graph_launch(int correlation, int ts) {
  return event({.name = "cudaGraphLaunch",
                .ts = ts,
                .dur = 5,
                .cat = "cuda_runtime",
                .args = "\"correlation\": " + std::to_string(correlation)});
}

TEST(GraphReplays, GroupedBySequenceAndId) {
  const LoadedTrace t = load_events(join({
      graph_launch(1, 0), kernel("b", 1, 30, 5), kernel("a", 1, 20, 5), graph_launch(2, 100), kernel("a", 2, 120, 5),
      kernel("b", 2, 130, 5), graph_launch(3, 200), kernel("b", 3, 220, 5), kernel("a", 3, 230, 5),  // another order
      graph_launch(4, 300), kernel("a", 4, 320, 5, ", \"graph id\": 9"),
      kernel("b", 4, 330, 5, ", \"graph id\": 9"),  // another id
  }));
  const GraphReplays& replays = t.model->graph_replays();
  ASSERT_EQ(replays.replays.size(), 4U);
  ASSERT_EQ(replays.graphs.size(), 3U);
  EXPECT_EQ(replays.graphs[0].replays, 2);
  EXPECT_EQ(t.trace->text(replays.graphs[0].nodes[0]), "a");
  EXPECT_EQ(replays.graphs[2].id, 9);
  EXPECT_EQ(replays.graphs[0].source, OpSource::none);
}

TEST(GraphReplays, OpsFromAnEagerRunOfTheSameKernels) {
  const LoadedTrace t = load_events(join({
      event({.name = "aten::noise", .ts = 0, .dur = 10}), launch(10, 2, 2, "a", 5, 1),
      event({.name = "aten::first", .ts = 20, .dur = 10}), launch(11, 22, 2, "a", 25, 1),
      event({.name = "aten::second", .ts = 40, .dur = 10}), launch(12, 42, 2, "b", 45, 1), graph_launch(1, 100),
      kernel("a", 1, 120, 5), kernel("b", 1, 130, 5), graph_launch(2, 200), kernel("b", 2, 220, 5),
      kernel("a", 2, 230, 5),  // never ran eager in this order
  }));
  const GraphReplays& replays = t.model->graph_replays();
  ASSERT_EQ(replays.graphs.size(), 2U);
  ASSERT_EQ(replays.graphs[0].source, OpSource::eager_run);
  const CallTree& tree = t.model->tree();
  EXPECT_EQ(t.trace->text(t.trace->events.name(tree.event[replays.graphs[0].ops[0].value])), "aten::first");
  EXPECT_EQ(t.trace->text(t.trace->events.name(tree.event[replays.graphs[0].ops[1].value])), "aten::second");
  EXPECT_EQ(replays.graphs[1].source, OpSource::none);
}

// Two eager runs of the same kernels that disagree about one of the ops.
TEST(GraphReplays, AnOpThatRunsDisagreeAboutStaysUnknown) {
  const LoadedTrace t = load_events(join({
      event({.name = "aten::first", .ts = 0, .dur = 10}),
      launch(10, 2, 2, "a", 5, 1),
      event({.name = "aten::second", .ts = 20, .dur = 10}),
      launch(11, 22, 2, "b", 25, 1),
      event({.name = "aten::other", .ts = 40, .dur = 10}),
      launch(12, 42, 2, "a", 45, 1),
      event({.name = "aten::second", .ts = 60, .dur = 10}),
      launch(13, 62, 2, "b", 65, 1),
      graph_launch(1, 100),
      kernel("a", 1, 120, 5),
      kernel("b", 1, 130, 5),
  }));
  const GraphReplays& replays = t.model->graph_replays();
  ASSERT_EQ(replays.graphs.size(), 1U);
  EXPECT_EQ(replays.graphs[0].source, OpSource::eager_run);
  EXPECT_EQ(replays.graphs[0].ops.at(0), kNoNode);
  EXPECT_NE(replays.graphs[0].ops.at(1), kNoNode);
  std::size_t known = 0;
  for (const RecoveredOp& op : replays.recovered) known += op.op != kNoNode;
  EXPECT_EQ(known, 1U);
}

// The same names on other grids are another graph, and no run of this one; `triton_` is the name of any generated kernel.
TEST(GraphReplays, GridsAndNamesMustTell) {
  const auto grid = [](int blocks) { return ", \"grid\": [" + std::to_string(blocks) + ", 1, 1]"; };
  const auto trace = [&](std::string_view name, int eager_grid) {
    return load_events(join({
        event({.name = "aten::first", .ts = 0, .dur = 10}),
        event({.name = "cudaLaunchKernel", .ts = 2, .dur = 2, .cat = "cuda_runtime", .args = "\"correlation\": 10"}),
        event({.name = "aten::second", .ts = 20, .dur = 10}),
        event({.name = "cudaLaunchKernel", .ts = 22, .dur = 2, .cat = "cuda_runtime", .args = "\"correlation\": 11"}),
        kernel(name, 10, 5, 1, grid(eager_grid)),
        kernel(name, 11, 25, 1, grid(4)),
        graph_launch(1, 100),
        kernel(name, 1, 120, 5, grid(8)),
        kernel(name, 1, 130, 5, grid(4)),
        graph_launch(2, 200),
        kernel(name, 2, 220, 5, grid(16)),
        kernel(name, 2, 230, 5, grid(4)),
    }));
  };
  const LoadedTrace same = trace("a", 8);
  ASSERT_EQ(same.model->graph_replays().graphs.size(), 2U);
  EXPECT_EQ(same.model->graph_replays().graphs[0].source, OpSource::eager_run);
  EXPECT_EQ(same.model->graph_replays().graphs[1].source, OpSource::none);
  EXPECT_EQ(trace("a", 2).model->graph_replays().graphs[0].source, OpSource::none);
  EXPECT_EQ(trace("triton_", 8).model->graph_replays().graphs[0].source, OpSource::none);
}

TEST(GraphReplays, OpsFromTheCapture) {
  const auto call = [](std::string_view name, int ts) {
    return event({.name = name, .ts = ts, .dur = 1, .cat = "cuda_runtime"});
  };
  const auto trace = [&](std::string_view captured) {
    return load_events(join({
        call("cudaStreamBeginCapture", 0),
        event({.name = captured, .ts = 10, .dur = 10}),
        call("cuLaunchKernel", 12),
        event({.name = "aten::mm", .ts = 30, .dur = 10}),
        call("cudaLaunchKernel", 32),
        call("cudaStreamEndCapture", 50),
        graph_launch(1, 100),
        kernel("triton_poi_fused_add_0", 1, 120, 5),
        kernel("gemm", 1, 130, 5),
    }));
  };
  const LoadedTrace same = trace("triton_poi_fused_add_0");
  const ReplayedGraph& graph = same.model->graph_replays().graphs.at(0);
  ASSERT_EQ(graph.source, OpSource::capture);
  EXPECT_EQ(same.trace->text(same.trace->events.name(same.model->tree().event[graph.ops[1].value])), "aten::mm");
  // A capture whose kernels have other names, or that names none, is no proof.
  EXPECT_EQ(trace("triton_poi_fused_mul_0").model->graph_replays().graphs.at(0).source, OpSource::none);
  EXPECT_EQ(trace("aten::add").model->graph_replays().graphs.at(0).source, OpSource::none);
}

// Nothing names the kernels of this capture, but products and sets stand where the graph has them.
TEST(GraphReplays, OpsFromACaptureOfTheSamePattern) {
  const auto call = [](std::string_view name, int ts) {
    return event({.name = name, .ts = ts, .dur = 1, .cat = "cuda_runtime"});
  };
  const auto capture = [&](int ts, std::string_view third, std::string_view dims) {
    const std::string shape = "\"Input Dims\": " + std::string(dims);
    return join({call("cudaStreamBeginCapture", ts), event({.name = "aten::addmm", .ts = ts + 10, .dur = 10, .args = shape}),
                 call("cudaMemsetAsync", ts + 11), call("cuLaunchKernelEx", ts + 13),
                 event({.name = "aten::gelu", .ts = ts + 30, .dur = 10, .args = shape}), call("cudaLaunchKernel", ts + 32),
                 event({.name = third, .ts = ts + 50, .dur = 10, .args = shape}), call("cuLaunchKernelEx", ts + 52),
                 call("cudaStreamEndCapture", ts + 70)});
  };
  const std::string replay =
      join({graph_launch(1, 1000), kernel("Memset (Device)", 1, 1020, 1), kernel("nvjet_sm90_tst_128x64", 1, 1030, 5),
            kernel("gelu_kernel", 1, 1040, 5), kernel("nvjet_sm90_tst_128x64", 1, 1050, 5)});
  const auto name = [](const LoadedTrace& t, std::size_t node) {
    const ReplayedGraph& graph = t.model->graph_replays().graphs.at(0);
    if (graph.ops.empty() || graph.ops[node] == kNoNode) return std::string();
    return std::string(t.trace->text(t.trace->events.name(t.model->tree().event[graph.ops[node].value])));
  };
  const LoadedTrace one = load_events(join({capture(0, "aten::mm", "[[4, 4]]"), replay}));
  EXPECT_EQ(one.model->graph_replays().graphs[0].source, OpSource::capture);
  EXPECT_EQ(name(one, 0), "aten::addmm");
  EXPECT_EQ(name(one, 2), "aten::gelu");
  EXPECT_EQ(name(one, 3), "aten::mm");
  // No product where the graph has one.
  EXPECT_EQ(name(load_events(join({capture(0, "aten::relu", "[[4, 4]]"), replay})), 0), "");
  // Captured for two shapes: which of them is replayed here is not known.
  EXPECT_EQ(name(load_events(join({capture(0, "aten::mm", "[[4, 4]]"), capture(200, "aten::mm", "[[8, 8]]"), replay})), 0), "");
  EXPECT_EQ(name(load_events(join({capture(0, "aten::mm", "[[4, 4]]"), capture(200, "aten::mm", "[[4, 4]]"), replay})), 0),
            "aten::addmm");
}

TEST(GraphReplays, DenseNetReplaysOneGraphFiveTimes) {
  const auto path = path_of("densenet121_bs1_cudagraph");
  if (!path) GTEST_SKIP() << "no such trace here";
  const LoadedTrace t = load_file(*path);
  const GraphReplays& replays = t.model->graph_replays();
  EXPECT_EQ(replays.replays.size(), 5U);
  ASSERT_EQ(replays.graphs.size(), 1U);
  EXPECT_GT(replays.graphs[0].nodes.size(), 100U);
}

}  // namespace
}  // namespace ridge::test
