// Optimizers that update parameters with many kernels: what is left of the device's and of the host's time, and what is
// advised. On traces made by hand.
#include <algorithm>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "support/says.h"
#include "unit/analysis/findings/found.h"
#include "unit/analysis/findings/program.h"

namespace ridge {
namespace {

using test::Found;
using test::found_in;
using test::kUs;
using test::Program;

// Seven operations of one kernel each, as Adam by foreach has: each 100 us, 50 us apart. One pass of 100 us is left, and what
// the host does before.
TEST(OptimizerNotFused, ByForeach) {
  const auto program = [](int operations, std::string_view name) {
    Program p;
    p.kernel(10).kernel(400, "void at::native::softmax_warp_forward<float>()", 1'000);
    for (int i = 0; i < operations; ++i) p.kernel(1'500 + 150 * i, fmt::format(fmt::runtime(name), i));
    p.text.annotation("Optimizer.step#Adam.step", 1'420 * kUs, 4'000 * kUs);
    return found_in(p.text);
  };
  constexpr std::string_view kForeach =
      "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
      "namespace)::TensorListMetadata<{}>, "
      "at::native::(anonymous namespace)::BinaryOpScalarFunctor<float, 1, 1, 0>, std::multiplies<float>, float>()";
  const Found foreach = program(7, kForeach);
  ASSERT_TRUE(foreach.has("optimizer_not_fused")) << foreach.ids();
  // Of the pass that stays nothing is known, neither; and the host, which is earlier then, may be so for what waits elsewhere.
  EXPECT_EQ(foreach.find("optimizer_not_fused")->finding.at_most_ns, (7 * 100 + 6 * 50 + 290 + 100) * kUs);
  constexpr std::string_view kFused =
      "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::"
      "FusedOptimizerTensorListMetadata<{}>, at::native::(anonymous namespace)::FusedAdamMathFunctor<float, 4>>()";
  EXPECT_FALSE(program(7, kFused).has("optimizer_not_fused"));  // a few hundred parameters each
  EXPECT_FALSE(program(3, kForeach).has("optimizer_not_fused"));
}

// Of the host's time in a step by foreach its lists stay: of SGD, which calls half as many ops on them, more.
TEST(OptimizerNotFused, ByForeachKeepsItsLists) {
  const auto goes = [](const std::string& optimizer, double share) {
    Program p;
    p.kernel(10).kernel(400, "void at::native::softmax_warp_forward<float>()", 1'000);
    for (int i = 0; i < 7; ++i) {
      p.kernel(
          1'500 + 150 * i,
          fmt::format("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
                      "namespace)::TensorListMetadata<{}>, at::native::(anonymous namespace)::BinaryOpScalarFunctor<float, 1, "
                      "1, 0>, std::multiplies<float>, float>()",
                      i));
    }
    p.text.annotation("Optimizer.step#" + optimizer + ".step", 1'420 * kUs, 4'000 * kUs);
    const Found found = found_in(p.text);
    const std::vector<Removal::Host>& host = found.find("optimizer_not_fused")->remedy.removal.host;
    return std::ranges::any_of(host, [&](const Removal::Host& part) { return part.share == share; });
  };
  EXPECT_TRUE(goes("Adam", 0.68));
  EXPECT_TRUE(goes("SGD", 0.55));
}

// One of its calls takes the host 40 ms, whatever that does: fused it may take as long. It is a pause, and no loop of launches.
TEST(OptimizerNotFused, WhatHoldsAStepStillStays) {
  const auto program = [](std::int64_t holds_still_us) {
    Program p;
    p.kernel(10).kernel(400, "void at::native::softmax_warp_forward<float>()", 1'000);
    std::int64_t at = 1'500;
    for (int i = 0; i < 30; ++i, at += 150 + (i == 16 ? holds_still_us : 0))
      p.kernel(at, fmt::format("void at::native::vectorized_elementwise_kernel<4, at::native::AddOp<{}>>()", i % 3));
    p.text.annotation("Optimizer.step#Shampoo.step", 1'420 * kUs, (at + 100) * kUs);
    return found_in(p.text);
  };
  const auto of_host_ns = [](const Found& found) {
    std::int64_t sum = 0;
    for (const Removal::Host& part : found.find("optimizer_not_fused")->remedy.removal.host) sum += part.time.length();
    return sum;
  };
  const Found without = program(0), with = program(40'000);
  ASSERT_TRUE(without.has("optimizer_not_fused")) << without.ids();
  ASSERT_TRUE(with.has("optimizer_not_fused")) << with.ids();
  EXPECT_FALSE(without.has("host_pause")) << without.ids();
  EXPECT_TRUE(with.has("host_pause")) << with.ids();
  EXPECT_NEAR(static_cast<double>(of_host_ns(with)), static_cast<double>(of_host_ns(without)), 300e3);
}

// What to do depends on which optimizer it is: most have no fused form.
TEST(OptimizerNotFused, AFusedFormIsAdvisedWhereThereIsOne) {
  const auto action = [](std::string_view optimizer) {
    Program p;
    p.kernel(10);
    for (int i = 0; i < 20; ++i) p.kernel(500 + 150 * i, "void at::native::vectorized_elementwise_kernel<4>()");
    if (!optimizer.empty()) p.text.annotation(fmt::format("Optimizer.step#{0}.step", optimizer), 400 * kUs, 4'000 * kUs);
    const Found found = found_in(p.text);
    return found.has("optimizer_not_fused") ? found.find("optimizer_not_fused")->finding.action : std::string();
  };
  EXPECT_EQ(action(""), "");
  EXPECT_NE(action("AdamW").find("fused=True"), std::string::npos) << action("AdamW");
  EXPECT_EQ(action("RMSprop").find("fused=True"), std::string::npos) << action("RMSprop");
  EXPECT_TRUE(test::says(action("RMSprop"), {"RMSprop"}));
}

// A loop over parameters beside a few foreach kernels: who calls these knows foreach.
TEST(OptimizerNotFused, ForeachIsNotAdvisedToWhoUsesIt) {
  const auto action = [](int foreach) {
    Program p;
    p.kernel(10);
    for (int i = 0; i < 20; ++i) {
      p.kernel(500 + 150 * i, i < foreach ? "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::("
                                            "anonymous namespace)::TensorListMetadata<1>, at::native::(anonymous namespace)::"
                                            "BinaryOpScalarFunctor<float, 1, 1, 0>, std::multiplies<float>, float>()"
                                          : "void at::native::vectorized_elementwise_kernel<4>()");
    }
    p.text.annotation("Optimizer.step#Shampoo.step", 400 * kUs, 4'000 * kUs);
    const Found found = found_in(p.text);
    return found.has("optimizer_not_fused") ? found.find("optimizer_not_fused")->finding.action : std::string();
  };
  EXPECT_TRUE(test::says(action(0), {"Shampoo", "foreach=True"}));
  EXPECT_TRUE(test::says(action(4), {"Shampoo"}));
  EXPECT_EQ(action(4).find("foreach=True"), std::string::npos) << action(4);
}

}  // namespace
}  // namespace ridge
