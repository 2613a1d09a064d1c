// Runs of small kernels, and what looks like one: compiled code, recurrent layers, iterations of a device. On traces made by
// hand.
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

// A compiler has fused what it could: what compiled code launches in small pieces is launch-bound.
TEST(TinyKernels, OfCompiledCodeAreLaunchBound) {
  const auto program = [](std::string_view kernel, bool region) {
    Program p;
    p.text.annotation("ProfilerStep#1", 1 * kUs, 6'000 * kUs);
    if (region) p.text.op("Torch-Compiled Region: 0/0", 1 * kUs, 6'000 * kUs);
    for (int i = 0; i < 200; ++i) p.kernel(10 + i * 20, kernel, 2);
    return found_in(p.text);
  };
  const std::string add = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>()";
  EXPECT_TRUE(program(add, false).has("tiny_kernels"));
  for (const Found& compiled : {program("triton_poi_fused_add_0", false), program(add, true)}) {
    EXPECT_FALSE(compiled.has("tiny_kernels")) << compiled.ids();
    EXPECT_TRUE(compiled.has("launch_bound")) << compiled.ids();
  }
}

// A recurrent layer of cuDNN launches hundreds of small kernels: the program calls one op already.
TEST(TinyKernels, OfOneOpAreNoLoop) {
  const auto program = [](bool one_op) {
    Program p;
    p.text.annotation("ProfilerStep#1", 1 * kUs, 6'000 * kUs);
    if (one_op) p.text.op("aten::_cudnn_rnn", 2 * kUs, 5'000 * kUs);
    for (int i = 0; i < 200; ++i) p.kernel(10 + i * 20, i % 2 == 0 ? "a" : "b", 2);
    return found_in(p.text);
  };
  EXPECT_TRUE(program(false).has("tiny_kernels"));
  EXPECT_FALSE(program(true).has("tiny_kernels")) << program(true).ids();
}

// Runs of small kernels are a finding from 100 an iteration, in runs of 32.
TEST(TinyKernels, ByTheHundred) {
  const auto program = [](int kernels, int longer_every) {
    Program p;
    p.text.annotation("ProfilerStep#1", 1 * kUs, (20 + kernels * 20) * kUs);
    for (int i = 0; i < kernels; ++i)
      p.kernel(10 + i * 20, i % 3 == 0 ? "a" : i % 3 == 1 ? "b" : "c", i % longer_every == longer_every - 1 ? 9 : 2);
    return found_in(p.text);
  };
  EXPECT_TRUE(program(150, 1'000).has("tiny_kernels"));
  EXPECT_FALSE(program(90, 1'000).has("tiny_kernels"));
  EXPECT_FALSE(program(300, 16).has("tiny_kernels"));
}

// Three steps of 150 kernels of 2 us, 18 us apart, and 98 us between steps. One kernel a step stays, and so do the pauses
// between steps.
TEST(TinyKernels, LeaveOneAnIteration) {
  Program p;
  for (int step = 0; step < 3; ++step) {
    const int at = 10 + step * (150 * 20 + 80);
    p.text.annotation(fmt::format("ProfilerStep#{}", step), (at - 8) * kUs, (at + 150 * 20) * kUs);
    for (int i = 0; i < 150; ++i) p.kernel(at + i * 20, i % 2 == 0 ? "a" : "b", 2);
  }
  const Found found = found_in(p.text);
  ASSERT_TRUE(found.has("tiny_kernels")) << found.ids();
  EXPECT_EQ(found.find("tiny_kernels")->finding.at_most_ns, 3 * 149 * (2 + 18) * kUs);
}

// A loop over small tensors with nothing around it: the device's period takes each turn for an iteration. The run tells what it
// is, the first turn's late launch nothing.
TEST(TinyKernels, OfALoopThatPassesForIterations) {
  const auto program = [](int turns, int body) {
    Program p;
    p.kernel(10, "kernel 0", 2);
    for (int i = 1; i < turns * body; ++i) p.kernel(400 + i * 20, fmt::format("kernel {}", i % body), 2);
    return found_in(p.text);
  };
  for (const int body : {1, 3}) {
    const Found found = program(600 / body, body);
    ASSERT_EQ(found.findings.time.count, 600 / body);
    ASSERT_TRUE(found.has("tiny_kernels")) << found.ids();
    const std::string& finding = found.find("tiny_kernels")->finding.finding;
    EXPECT_TRUE(test::says(finding, {" 600 kernels"}));
    EXPECT_EQ(found.find("tiny_kernels")->finding.at_most_ns,
              found.findings.time.total_ns() - (2 + 6) * kUs);  // one kernel stays, and the first launch
    EXPECT_TRUE(found.has("launch_bound")) << found.ids();      // who keeps the loop can launch it at once
    EXPECT_FALSE(found.has("first_iteration_outlier")) << found.ids();
  }
  EXPECT_FALSE(program(90, 1).has("tiny_kernels"));
  EXPECT_TRUE(program(50, 12).has("first_iteration_outlier"));  // a dozen kernels are no loop's body
}

// Iterations that the device's period finds, of 40 small kernels and a long one each, are no run of small ones.
TEST(TinyKernels, BetweenLongOnesAreNoLoop) {
  Program p;
  for (int i = 0; i < 10 * 41; ++i) p.kernel(10 + i * 20, fmt::format("kernel {}", i % 41), i % 41 == 40 ? 12 : 2);
  const Found found = found_in(p.text);
  ASSERT_EQ(found.findings.time.count, 10);
  EXPECT_FALSE(found.has("tiny_kernels")) << found.ids();
}

}  // namespace
}  // namespace ridge
