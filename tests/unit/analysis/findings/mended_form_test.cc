// Kernels against what such work takes in its mended form: what the roof alone would claim is no finding.
#include <algorithm>

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

// Three steps of a product and a sum, element by element, of tensors [32, 512, 2048] of which the second lies with `strides`;
// each takes 250 us, twice what it takes of tensors that lie alike.
Found pointwise_chain(const std::string& strides) {
  std::string events;
  int correlation = 0;
  const std::string dims =
      R"("Input Dims": [[32, 512, 2048], [32, 512, 2048], []], "Input type": ["float", "float", "Scalar"], )"
      R"("Input Strides": [[1048576, 2048, 1], )" +
      strides + R"(, []], "Concrete Inputs": ["", "", "1"])";
  for (int step = 0; step < 3; ++step) {
    const int at = 100 + step * 600;
    events += test::event({.name = fmt::format("ProfilerStep#{}", step), .ts = at - 20, .dur = 590, .cat = "user_annotation"}) +
              ", " + test::event({.name = "cudaDeviceSynchronize", .ts = at + 40, .dur = 470, .cat = "cuda_runtime"}) + ", ";
    for (int i = 0; i < 2; ++i) {
      const std::string op = i == 0 ? "mul" : "add";
      events += test::event({.name = "aten::" + op, .ts = at + i * 12 - 15, .dur = 10, .args = dims}) + ", ";
      events +=
          test::launch(++correlation, at + i * 12 - 12, 4,
                       "void at::native::elementwise_kernel<128, 2, at::native::" + op + "<float> >()", at + i * 250, 250) +
          ", ";
    }
  }
  return test::found_on_h200(events.substr(0, events.size() - 2));
}

// What a kernel takes longer because one tensor is read across is its layout's fault; a compiler that fuses the chain reads it
// in tiles, so that it goes with that too. Who does both gains it once.
TEST(MendedForm, AcrossIsTheLayoutsFaultAndGoesWithTheChain) {
  const Found across = pointwise_chain("[1048576, 1, 512]"), alike = pointwise_chain("[1048576, 2048, 1]");
  ASSERT_TRUE(across.has("memory_bound_inefficient")) << across.ids();
  ASSERT_TRUE(across.has("unfused_pointwise") && alike.has("unfused_pointwise")) << across.ids() << alike.ids();
  const auto saves = [](const Found& found, std::string_view id) { return found.find(id)->savings.saves_pct.value_or(0); };
  const double layout = saves(across, "memory_bound_inefficient"), chain = saves(across, "unfused_pointwise");
  EXPECT_GT(layout, 40);
  EXPECT_GE(chain, saves(alike, "unfused_pointwise") - 0.5);
  // Of the chain alone: one of two kernels of 23 us each that are left of 250.
  EXPECT_LT(across.findings.all.saves_pct.value_or(100), layout + chain - 20);
  EXPECT_GE(across.findings.all.saves_pct.value_or(0), std::max(layout, chain));
}

}  // namespace
}  // namespace ridge
