// host_pause: pauses of the host that the device waits for, told from a host that is always late; on traces made by hand.
#include <gtest/gtest.h>

#include <string>

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

// A first use: the launch itself takes 5 ms, in which there is nothing to move elsewhere.
TEST(HostPauses, ALaunchThatTakesLongItself) {
  Program p;
  p.kernel(10).kernel(5'300);
  p.text.op("aten::conv2d", 120 * kUs, 5'290 * kUs).call("cudaLaunchKernel", 130 * kUs, 5'270 * kUs);
  const Found found = found_in(p.text);
  ASSERT_TRUE(found.has("host_pause")) << found.ids();
  const Finding& finding = found.find("host_pause")->finding;
  EXPECT_TRUE(test::says(finding.evidence, {"cudaLaunchKernel", "aten::conv2d"}));
}

// A pause in a call and one that nothing explains: two lists, of what happened per iteration both.
TEST(HostPauses, PausesOfTwoSortsSayOnceWhatTheyAreCountedBy) {
  Program p;
  p.kernel(10).kernel(5'300).kernel(10'400);
  p.text.op("aten::conv2d", 120 * kUs, 5'290 * kUs).call("cudaLaunchKernel", 130 * kUs, 5'270 * kUs);
  const Found found = found_in(p.text);
  ASSERT_TRUE(found.has("host_pause")) << found.ids();
  const std::string& evidence = found.find("host_pause")->finding.evidence;
  EXPECT_TRUE(test::says(evidence, {"cudaLaunchKernel in aten::conv2d", "; before cudaLaunchKernel"}));
  EXPECT_EQ(evidence.find("per iteration: "), evidence.rfind("per iteration: ")) << evidence;
  EXPECT_TRUE(evidence.starts_with("per iteration: ")) << evidence;
}

// A pause of 5 ms before a launch, against 200 of 20 us each.
TEST(HostPauses, HostPauseIsNotLaunchBound) {
  Program pause;
  pause.kernel(10).kernel(5'110);
  const Found paused = found_in(pause.text);
  EXPECT_TRUE(paused.has("host_pause")) << paused.ids();
  EXPECT_FALSE(paused.has("launch_bound")) << paused.ids();
  EXPECT_EQ(paused.find("host_pause")->finding.evidence, "per iteration: before cudaLaunchKernel, 0.5 x, 2.497 ms");
  pause.text.annotation("Optimizer.step#SGD.step", 200 * kUs, 6'000 * kUs);  // without stacks, the annotation says most
  const Found in_step = found_in(pause.text);
  ASSERT_TRUE(in_step.has("host_pause")) << in_step.ids();
  EXPECT_TRUE(in_step.find("host_pause")->finding.evidence.starts_with("before cudaLaunchKernel in Optimizer.step#SGD.step"))
      << in_step.find("host_pause")->finding.evidence;
  Program late;
  for (int i = 0; i < 200; ++i) late.kernel(10 + i * 30, i % 2 == 0 ? "a" : "b", 10);
  const Found bound = found_in(late.text);
  EXPECT_TRUE(bound.has("launch_bound")) << bound.ids();
  EXPECT_FALSE(bound.has("host_pause")) << bound.ids();
  EXPECT_EQ(bound.find("launch_bound")->finding.at_most_ns, 199 * 20 * kUs);
}

// Five marked steps, of which `paused` have a pause of 5 ms: of one nobody knows whether it comes again.
TEST(HostPauses, APauseInOneStepIsNotEachSteps) {
  const auto steps = [](int paused) {
    Program program;
    int at = 0;
    for (int i = 0; i < 5; ++i) {
      const int length = i < paused ? 5'400 : 400;
      program.text.annotation(fmt::format("ProfilerStep#{}", i), at * kUs, (at + length) * kUs);
      program.kernel(at + 10).kernel(at + 120).kernel(at + length - 110);
      at += length;
    }
    return found_in(program.text);
  };
  const Found once = steps(1);
  ASSERT_TRUE(once.has("host_pause")) << once.ids();
  EXPECT_EQ(once.find("host_pause")->savings.saves_ns, 0);
  EXPECT_NE(once.find("host_pause")
                ->finding.finding.find("1 pause in one of 5 iterations: whether it comes again this recording does not tell"),
            std::string::npos)
      << once.find("host_pause")->finding.finding;
  const Found often = steps(4);
  ASSERT_TRUE(often.has("host_pause")) << often.ids();
  EXPECT_GT(often.find("host_pause")->savings.saves_pct.value_or(0), 30);
}

// An op that takes most of a pause is what the host was at, not the one whose launch ends it.
TEST(HostPauses, APauseIsInTheOpThatTookIt) {
  Program pause;
  pause.kernel(10).kernel(5'110);
  pause.text.op("aten::_cudnn_rnn_backward", 120 * kUs, 5'000 * kUs).op("aten::contiguous", 5'050 * kUs, 5'120 * kUs);
  const Found paused = found_in(pause.text);
  ASSERT_TRUE(paused.has("host_pause")) << paused.ids();
  EXPECT_EQ(paused.find("host_pause")->finding.evidence, "per iteration: in aten::_cudnn_rnn_backward, 0.5 x, 2.495 ms");
}

}  // namespace
}  // namespace ridge
