// Forward, backward, optimizer; modules and source lines, also through the forward op.
#include "model/phases.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "ingest/reader.h"
#include "model/locations.h"
#include "model/model.h"

namespace ridge {
namespace {

std::string slice(std::string_view cat, std::string_view name, int tid, int ts, int dur, std::string_view args = "") {
  return fmt::format(R"({{"ph":"X","cat":"{}","name":"{}","pid":9,"tid":{},"ts":{},"dur":{},"args":{{{}}}}})", cat, name, tid,
                     ts, dur, args);
}

struct Built {
  explicit Built(const std::vector<std::string>& events)
      : trace(read_trace_bytes("[" + fmt::format("{}", fmt::join(events, ",")) + "]", "t", {}).value()), model(*trace) {}
  NodeId node(std::string_view name) const {
    for (std::uint32_t n = 0; n < model.tree().size(); ++n) {
      if (trace->text(trace->events.name(model.tree().event[n])) == name) return NodeId{n};
    }
    return kNoNode;
  }
  std::unique_ptr<Trace> trace;
  Model model;
};

TEST(Phases, FollowTheSlicesThatSaySo) {
  const Built built({slice("cpu_op", "aten::linear", 1, 0, 10), slice("user_annotation", "Optimizer.step#SGD.step", 1, 20, 30),
                     slice("cpu_op", "aten::_foreach_add_", 1, 25, 10),
                     slice("cpu_op", "autograd::engine::evaluate_function: AddmmBackward0", 2, 0, 50),
                     slice("cpu_op", "aten::mm", 2, 5, 10),
                     slice("cpu_op", "aten::sum", 3, 0, 10, R"("Fwd thread id":1,"Sequence number":4)"),
                     slice("cpu_op", "aten::_fused_adamw_", 4, 0, 5), slice("cpu_op", "CompiledFunctionBackward", 5, 0, 5)});
  const std::vector<Phase> phases = build_phases(*built.trace, built.model.tree());
  const auto phase = [&](std::string_view name) { return name_of(phases[built.node(name).value]); };
  EXPECT_EQ(phase("aten::linear"), "forward");
  EXPECT_EQ(phase("aten::_foreach_add_"), "optimizer");
  EXPECT_EQ(phase("aten::mm"), "backward");
  EXPECT_EQ(phase("aten::sum"), "backward");
  EXPECT_EQ(phase("aten::_fused_adamw_"), "optimizer");
  EXPECT_EQ(phase("CompiledFunctionBackward"), "backward");
}

TEST(Locations, AreTheModulesAndTheUsersFrame) {
  const Built built(
      {slice("python_function", "train.py(10): main", 1, 0, 100), slice("python_function", "nn.Module: Net_0", 1, 5, 80),
       slice("python_function", "torch/nn/modules/module.py(1): _call_impl", 1, 6, 70),
       slice("python_function", "model.py(20): forward", 1, 7, 60), slice("python_function", "nn.Module: Linear_1", 1, 8, 50),
       slice("python_function", "/x/torch/nn/linear.py(3): forward", 1, 9, 40), slice("cpu_op", "aten::linear", 1, 10, 20),
       slice("cpu_op", "aten::zeros", 1, 90, 5), slice("cpu_op", "aten::ones", 1, 200, 5)});
  const Locations locations(*built.trace, built.model.tree(), {});
  EXPECT_EQ(locations.module_path(built.node("aten::linear")), "Net_0.Linear_1");
  EXPECT_EQ(locations.location(built.node("aten::linear")), "model.py:20 (forward)");
  EXPECT_EQ(locations.module_path(built.node("aten::zeros")), "");
  EXPECT_EQ(locations.location(built.node("aten::zeros")), "train.py:10 (main)");
  EXPECT_EQ(locations.location(built.node("aten::ones")), "");
}

TEST(Locations, OfABackwardOpAreItsForwardOps) {
  const Built built({slice("python_function", "nn.Module: Net_0", 1, 0, 50), slice("cpu_op", "aten::addmm", 1, 10, 20),
                     slice("cpu_op", "AddmmBackward0", 2, 100, 20), slice("cpu_op", "aten::mm", 2, 105, 5)});
  ForwardBackward links;
  links.links.push_back({built.node("AddmmBackward0"), built.node("aten::addmm")});
  const Locations locations(*built.trace, built.model.tree(), links);
  EXPECT_EQ(locations.module_path(built.node("AddmmBackward0")), "Net_0");
  EXPECT_EQ(locations.module_path(built.node("aten::mm")), "Net_0");
}

// Of what it has itself nothing is replaced; each of the two is looked for by itself.
TEST(Locations, OfABackwardOpWithAFrameOfItsOwnLackTheModule) {
  const Built built({slice("python_function", "train.py(10): main", 1, 0, 60),
                     slice("python_function", "nn.Module: Net_0", 1, 1, 50), slice("cpu_op", "aten::addmm", 1, 10, 20),
                     slice("python_function", "hooks.py(3): scale", 2, 100, 30), slice("cpu_op", "AddmmBackward0", 2, 101, 20),
                     slice("cpu_op", "aten::mm", 2, 105, 5), slice("cpu_op", "aten::mul", 2, 125, 2)});
  ForwardBackward links;
  links.links.push_back({built.node("AddmmBackward0"), built.node("aten::addmm")});
  const Locations locations(*built.trace, built.model.tree(), links);
  for (const char* op : {"AddmmBackward0", "aten::mm"}) {
    EXPECT_EQ(locations.module_path(built.node(op)), "Net_0");
    EXPECT_EQ(locations.location(built.node(op)), "hooks.py:3 (scale)");
  }
  EXPECT_EQ(locations.module_path(built.node("aten::mul")), "");
  EXPECT_EQ(locations.location(built.node("aten::addmm")), "train.py:10 (main)");
}

TEST(Locations, KnowUserFiles) {
  EXPECT_TRUE(is_user_file("train.py"));
  EXPECT_TRUE(is_user_file("/home/a/mytorch/train.py"));
  EXPECT_FALSE(is_user_file("/usr/lib/python3/site-packages/torch/nn/functional.py"));
  EXPECT_FALSE(is_user_file("/cache/ab/cnberu3ngzizimn2zaf4ucetijkyzvv6oftnnsq4rwrtgriwpkep.py"));
  EXPECT_FALSE(is_user_file("<frozen os>"));
}

}  // namespace
}  // namespace ridge
