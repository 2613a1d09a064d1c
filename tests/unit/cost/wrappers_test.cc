// What a kernel's op must be for its arguments to tell the kernel's bytes: an op of the dispatcher, not what only calls ops.
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "trace/args.h"

#include "cost/cost_model.h"
#include "facts/scoped_work.h"
#include "ops/dispatcher_op.h"
#include "support/files.h"
#include "support/loaded_trace.h"
#include "unit/cost/hand_made_launch.h"

namespace ridge {
namespace {

constexpr std::string_view kAdd =
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>>(int)";
constexpr std::string_view kSum = "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, x>>(y)";
// The inputs of a graph: parameters of a gigabyte each, which no addition of 4 us goes over.
constexpr std::string_view kOfAGraph =
    R"("Input Dims": [[16384, 16384], [16384, 16384], [16384, 16384], []], "Input type": ["float", "float", "float", "Scalar"])";
constexpr std::string_view kEmpty = R"("Input Dims": [[], []], "Input type": ["float", ""])";

LaunchCost under(std::string_view op, std::string_view args, std::string_view kernel) {
  const auto loaded = test::load_events(
      test::join({test::event({.name = op, .ts = 5, .dur = 50, .args = args}), test::launch(1, kernel, "[1024, 1, 1]")}));
  return CostModel(*loaded.model, {})[0];
}

constexpr std::string_view kWrappers[] = {"CompiledFunction",
                                          "CompiledFunctionBackward",
                                          "MyCustomFunction",
                                          "MyCustomFunctionBackward",
                                          "autograd::engine::evaluate_function: CompiledFunctionBackward",
                                          "torch::autograd::AccumulateGrad",
                                          "torch::dynamo::autograd::hook",
                                          "DistributedDataParallel.forward",
                                          "Torch-Compiled Region: 0/0"};

TEST(Wrappers, TellNothingOfAKernelsBytes) {
  for (const std::string_view wrapper : kWrappers) {
    for (const std::string_view kernel : {kAdd, kSum}) {
      for (const std::string_view args : {kOfAGraph, kEmpty}) {
        const LaunchCost cost = under(wrapper, args, kernel);
        EXPECT_EQ(cost.bytes_read, std::nullopt) << wrapper;
        EXPECT_EQ(cost.bytes_written, std::nullopt) << wrapper;
        EXPECT_EQ(cost.estimate, Estimate::none) << wrapper;
      }
    }
  }
}

// An op around the wrapper is not the kernel's either.
TEST(Wrappers, HideTheOpsAroundThem) {
  constexpr std::string_view kMm = R"("Input Dims": [[64, 64], [64, 64]], "Input type": ["float", "float"])";
  const auto loaded = test::load_events(
      test::join({test::event({.name = "aten::mm", .ts = 5, .dur = 50, .args = kMm}),
                  test::event({.name = "CompiledFunction", .ts = 6, .dur = 40}), test::launch(1, "some_kernel", "[1, 1, 1]")}));
  EXPECT_EQ(CostModel(*loaded.model, {})[0].flops, std::nullopt);
}

TEST(Wrappers, AreToldFromOpsByTheirNames) {
  for (const std::string_view wrapper : kWrappers) EXPECT_FALSE(is_dispatcher_op(wrapper)) << wrapper;
  for (const std::string_view op :
       {"aten::mm", "aten::add_.Tensor", "_C::rms_norm", "vllm::unified_attention", "c10d::allreduce_"})
    EXPECT_TRUE(is_dispatcher_op(op)) << op;
  for (const std::string_view none : {"", "::", "aten::", "::mm", "aten::mm.", "triton_poi_fused_add_0", "nccl:all_reduce"})
    EXPECT_FALSE(is_dispatcher_op(none)) << none;
}

constexpr std::string_view kTwo = R"("Input Dims": [[1024, 1024], [1024, 1024]], "Input type": ["float", "float"])";

TEST(Wrappers, AnOpWithoutARowStandsForItsOnlyKernel) {
  EXPECT_EQ(under("mine::add", kTwo, kAdd).bytes_read, 2.0 * 4 * 1024 * 1024);
  EXPECT_EQ(under("aten::my_add", kTwo, kAdd).estimate, Estimate::exact);
}

TEST(Wrappers, OfSeveralKernelsNobodySaysWhichTakesWhat) {
  const auto costs = [](std::string_view op) {
    const auto loaded =
        test::load_events(test::join({test::event({.name = op, .ts = 5, .dur = 50, .args = kTwo}),
                                      test::launch(1, kAdd, "[1024, 1, 1]"), test::launch(2, kSum, "[1024, 1, 1]")}));
    const CostModel model(*loaded.model, {});
    return std::pair(model[0], model[1]);
  };
  const auto [add, sum] = costs("mine::add_and_sum");
  EXPECT_EQ(add.bytes_read, std::nullopt);
  EXPECT_EQ(sum.bytes_read, std::nullopt);
  const auto [own_add, own_sum] = costs("aten::my_add_and_sum");
  EXPECT_EQ(own_add.estimate, Estimate::ambiguous);
  EXPECT_EQ(own_sum.estimate, Estimate::ambiguous);
}

TEST(Wrappers, AListMayHoldWhatAKernelTakes) {
  constexpr std::string_view kArgs = R"("Input Dims": [[], []], "Input type": ["TensorList", "float"])";  // over 30 tensors
  for (const std::string_view kernel : {kAdd, kSum}) EXPECT_EQ(under("aten::my_op", kArgs, kernel).bytes_read, std::nullopt);
}

// Whatever the trace: a kernel that is no Triton kernel has bytes only under an op of the dispatcher. (A trace's own figures
// over 100 % of the bandwidth are caches'.)
TEST(Wrappers, AreNeverChargedInAnyTrace) {
  std::size_t known = 0;
  for (const std::string& path : test::all_traces()) {
    const auto loaded = test::load_file(path);
    const Model& model = *loaded.model;
    const Trace& trace = *loaded.trace;
    const CostModel costs(model, {});
    const auto& work = trace.of(EventClass::device_work);
    const ArgColumn elements(trace, ArgKey::in_msg_nelems);
    for (std::size_t row = 0; row < work.size(); ++row) {
      const Category category = model.identities()[row].category;
      const bool library = trace.kind(work[row]).work == DeviceWork::kernel && category > Category::triton_other;
      if (!library || (!costs[row].bytes_read && !costs[row].bytes_written)) continue;
      // A collective's own record says how much it moves; only without one does its op.
      if (category == Category::comm && elements.integer(work[row])) continue;
      const NodeId op = op_of(model, row);
      ASSERT_NE(op, kNoNode) << path << ": " << trace.text(trace.events.name(work[row]));
      const std::string_view name = trace.text(trace.events.name(model.tree().event[op.value]));
      const bool own_record = category == Category::comm && name == "record_param_comms";
      ASSERT_TRUE(own_record || is_dispatcher_op(name))
          << name << " in " << path << ": " << trace.text(trace.events.name(work[row]));
      ++known;
    }
  }
  EXPECT_GT(known, 5000U);
}

}  // namespace
}  // namespace ridge
