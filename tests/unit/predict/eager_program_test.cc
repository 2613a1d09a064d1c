// The flow of tensors that a trace tells: which views stand in it.
#include "predict/eager_program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "support/host_device_trace.h"
#include "support/loaded_trace.h"

namespace ridge {
namespace {

constexpr std::string_view kDims = R"("Input Dims": [[64, 64]], "Input type": ["float"], "Concrete Inputs": [""])";
constexpr std::string_view kNeg = "void at::native::vectorized_elementwise_kernel<4, at::native::neg_kernel_cuda<float> >()";

std::string op(std::string_view name, int at, int us, int thread = 1) {
  return test::event({.name = name, .ts = at, .dur = us, .args = std::string(kDims), .tid = thread});
}

std::size_t views_of(std::string_view views) {
  const test::LoadedTrace loaded =
      test::load_events(test::join({op("aten::neg", 0, 20), test::launch(1, 5, 4, kNeg, 30, 10), std::string(views)}));
  const EagerProgram program = EagerPrograms(Scope(*loaded.model)).of(0);
  return static_cast<std::size_t>(std::ranges::count_if(
      program.flow.ops, [&](const FlowOp& each) { return program.flow.calls[each.call].sort == FlowSort::view; }));
}

TEST(EagerProgram, AViewThatCallsAnotherIsOne) {
  EXPECT_EQ(views_of(op("aten::t", 50, 10)), 1U);
  EXPECT_EQ(views_of(test::join({op("aten::t", 50, 10), op("aten::transpose", 52, 6), op("aten::as_strided", 53, 2)})), 1U);
  EXPECT_EQ(views_of(test::join({op("aten::t", 50, 10), op("aten::detach", 70, 5)})), 2U);
}

// Of a job's combined trace each device has its own rank's alone.
TEST(EagerProgram, ViewsAreOfTheThreadsThatLaunch) {
  EXPECT_EQ(views_of(test::join({op("aten::t", 50, 10), op("aten::t", 50, 10, 2)})), 1U);
}

}  // namespace
}  // namespace ridge
