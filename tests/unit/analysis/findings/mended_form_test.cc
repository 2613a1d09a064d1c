// Kernels against what such work takes in its mended form: what the roof alone would claim is no finding.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "unit/analysis/findings/found.h"

namespace ridge {
namespace {

using test::Found;

// Three steps of four softmaxes over rows of 8192 floats, of so many microseconds each: 55 at the full bandwidth.
Found softmaxes(int us) {
  std::string events;
  int correlation = 0;
  for (int step = 0; step < 3; ++step) {
    const int at = 100 + step * (4 * us + 100);
    events += test::event(
                  {.name = fmt::format("ProfilerStep#{}", step), .ts = at - 20, .dur = 4 * us + 90, .cat = "user_annotation"}) +
              ", ";
    events += test::event({.name = "cudaDeviceSynchronize", .ts = at + 60, .dur = 4 * us - 55, .cat = "cuda_runtime"}) + ", ";
    for (int i = 0; i < 4; ++i) {
      events += test::event({.name = "aten::_softmax",
                             .ts = at + i * 12 - 15,
                             .dur = 10,
                             .args = R"("Input Dims": [[4096, 8192], [], []], "Input type": ["float", "Scalar", "Scalar"], )"
                                     R"("Input Strides": [[8192, 1], [], []], "Concrete Inputs": ["", "-1", "False"])"}) +
                ", ";
      events += test::launch(++correlation, at + i * 12 - 12, 4,
                             "void at::native::(anonymous namespace)::cunn_SoftMaxForwardReg<4, float, float, float>()",
                             at + i * us, us) +
                ", ";
    }
  }
  return test::found_on_h200(events.substr(0, events.size() - 2));
}

TEST(MendedForm, ASoftmaxAsFastAsSuchOnesAreIsNoFinding) {
  const Found usual = softmaxes(142);
  EXPECT_FALSE(usual.has("memory_bound_inefficient")) << usual.ids();
  EXPECT_FALSE(usual.has("slow_kernel")) << usual.ids();
  const Found slow = softmaxes(700);
  const RankedFinding* row = slow.find("memory_bound_inefficient");
  ASSERT_NE(row, nullptr) << slow.ids();
  // Down to what such a softmax takes, not to the roof; the roof bounds it.
  ASSERT_TRUE(row->savings.saves_pct);
  EXPECT_GT(*row->savings.saves_pct, 65);
  EXPECT_LT(*row->savings.saves_pct, 88);
  EXPECT_GT(*row->at_most_ns, *row->savings.saves_ns);
}

}  // namespace
}  // namespace ridge
