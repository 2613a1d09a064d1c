// Loops of the host over tensors: found by the ops of their rounds, whatever the sizes, and gone but for one round.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/analysis/findings/found.h"

namespace ridge {
namespace {

using test::Found;
using test::found_in;
using test::kUs;
using test::TraceText;

// Steps of `rounds` rounds of two ops, 20 us each on the host, with kernels of 1 us and, once in a round, of `longer` us; then
// 200 us of other ops. The kernels have names of their own, so that only the ops tell the loop.
TraceText looped(int steps, int rounds, int longer, const std::string& first = "aten::mul") {
  TraceText text;
  int correlation = 0;
  const std::int64_t length = (rounds * 40 + 200) * kUs;
  for (int s = 0; s < steps; ++s) {
    std::int64_t at = s * length;
    text.annotation("ProfilerStep#" + std::to_string(s + 1), at, at + length - kUs);
    const auto op = [&](const std::string& name, const std::string& kernel, std::int64_t us) {
      text.op(name, at + kUs, at + 19 * kUs).call("cudaLaunchKernel", at + 8 * kUs, at + 13 * kUs, ++correlation);
      text.kernel(kernel, at + 14 * kUs, at + (14 + us) * kUs, correlation);
      at += 20 * kUs;
    };
    for (int i = 0; i < rounds; ++i) {
      op(first, "mul_" + std::to_string(i), 1);
      op("aten::exp", "exp_" + std::to_string(i), longer);
    }
    for (int i = 0; i < 10; ++i) op("aten::op" + std::to_string(i), "other_" + std::to_string(i), 2);
  }
  return text;
}

double saves_pct(const Found& found) {
  const RankedFinding* row = found.find("tiny_kernels");
  return row != nullptr ? row->savings.saves_pct.value_or(-1) : -1;
}

// 60 rounds of 40 us, and 200 us besides: what the recorder took off leaves the parts about alike, 92 % and 8 %; of the loop
// one round of sixty stays.
TEST(Loops, GoButForOneRound) {
  const Found found = found_in(looped(5, 60, 3));
  ASSERT_TRUE(found.has("tiny_kernels")) << found.ids();
  EXPECT_NEAR(saves_pct(found), 91, 4);
  EXPECT_GE(found.find("tiny_kernels")->at_most_pct.value_or(100), saves_pct(found));
}

// A kernel of 7 us in each round is no end of the loop: two of them take 4 us in the mean.
TEST(Loops, MayHoldLongerKernels) {
  const Found found = found_in(looped(5, 60, 7));
  ASSERT_TRUE(found.has("tiny_kernels")) << found.ids();
  EXPECT_GE(saves_pct(found), 80);
}

// Kernels of 12 us are worth their launches; a dozen rounds are the layers of a model.
TEST(Loops, AreLongAndTheirKernelsTiny) {
  EXPECT_FALSE(found_in(looped(5, 60, 12)).has("tiny_kernels"));
  EXPECT_FALSE(found_in(looped(5, 12, 3)).has("tiny_kernels"));
}

// Linear layers, one behind the other, have weights of their own each.
TEST(Loops, AreNotTheLayersOfAModel) {
  const double layers = saves_pct(found_in(looped(5, 60, 7, "aten::linear")));
  EXPECT_LT(layers, 0);
}

// Steps of `rounds` perceptrons, one after the other, each of two layers and eleven other ops, with kernels of 7 us and names
// of their own; then `behind`, and ten other ops. The host takes 60 us for each.
TraceText perceptrons(int rounds, const std::string& behind, const std::string& layer = "aten::linear") {
  constexpr int kOps = 13, kHostUs = 60;
  TraceText text;
  int correlation = 0;
  const std::int64_t length = ((rounds * kOps + 11) * kHostUs) * kUs;
  for (int s = 0; s < 5; ++s) {
    std::int64_t at = s * length;
    text.annotation("ProfilerStep#" + std::to_string(s + 1), at, at + length - kUs);
    const auto op = [&](const std::string& name) {
      text.op(name, at + kUs, at + (kHostUs - 1) * kUs).call("cudaLaunchKernel", at + 8 * kUs, at + 13 * kUs, ++correlation);
      text.kernel(name + "_" + std::to_string(correlation), at + 14 * kUs, at + 21 * kUs, correlation);
      at += kHostUs * kUs;
    };
    for (int i = 0; i < rounds; ++i) {
      for (int j = 0; j < kOps; ++j) op(j % 6 == 0 && j < kOps - 1 ? layer : "aten::r" + std::to_string(j));
    }
    op(behind);
    for (int i = 0; i < 10; ++i) op("aten::op" + std::to_string(i));
  }
  return text;
}

// Ten perceptrons whose answers are put together do not wait for each other: batched products do for all. Of 141 ops 130
// are the loop's, and one round of it stays. Ten behind each other are the layers of a model.
TEST(Loops, OfLayersWhoseResultsArePutTogether) {
  for (const char* gather : {"aten::stack", "aten::cat"}) {
    const Found found = found_in(perceptrons(10, gather));
    ASSERT_TRUE(found.has("tiny_kernels")) << found.ids();
    EXPECT_NEAR(saves_pct(found), 83, 5) << gather;
  }
  EXPECT_FALSE(found_in(perceptrons(10, "aten::sum")).has("tiny_kernels"));
}

// Levels of a pyramid are convolved one by one, and concatenated, too: they have sizes of their own, which this trace does not
// tell. Neither is a dense block a loop, which concatenates in each round.
TEST(Loops, OfLayersThatCouldDiffer) {
  EXPECT_FALSE(found_in(perceptrons(10, "aten::stack", "aten::conv2d")).has("tiny_kernels"));
  EXPECT_FALSE(found_in(perceptrons(10, "aten::r5")).has("tiny_kernels"));
}

// What a thread calls in each of five steps, 60 us each, with kernels of 7 us and names of their own. Sizes where they are
// told.
struct RoundOp {
  std::string name;
  std::string dims = {};
};
std::string called(const std::vector<RoundOp>& step) {
  std::string events;
  int id = 0, at = 0;
  for (int s = 0; s < 5; ++s) {
    const int from = at;
    for (const RoundOp& op : step) {
      const std::string args = op.dims.empty() ? "" : "\"Input Dims\": " + op.dims + ", \"Input type\": [\"float\", \"float\"]";
      events += test::event({.name = op.name, .ts = at + 1, .dur = 58, .args = args}) + ", ";
      ++id;
      events += test::launch(id, at + 8, 5, op.name + "_" + std::to_string(id), at + 14, 7) + ", ";
      at += 60;
    }
    events += test::event(
        {.name = "ProfilerStep#" + std::to_string(s + 1), .ts = from, .dur = at - from - 1, .cat = "user_annotation"});
    if (s < 4) events += ", ";
  }
  return events;
}

// `ahead`, ten rounds of thirteen ops, `behind`, and ten other ops; of round i the second op has `size(i)` rows.
template <class Size>
bool is_loop(const std::string& ahead, const std::vector<std::string>& round, const RoundOp& behind, Size size) {
  std::vector<RoundOp> step;
  if (!ahead.empty()) step.push_back({ahead});
  for (int i = 0; i < 10; ++i) {
    for (const std::string& op : round) {
      const int rows = size(i);
      step.push_back({op, rows == 0 ? "" : "[[" + std::to_string(rows) + ", 64], [64, 64]]"});
    }
  }
  if (!behind.name.empty()) step.push_back(behind);
  for (int i = 0; i < 10; ++i) step.push_back({"aten::op" + std::to_string(i)});
  return test::found_in_events(called(step)).has("tiny_kernels");
}

std::vector<std::string> round_of(const std::string& layer, const std::string& last = "aten::r12") {
  std::vector<std::string> ops = {layer};
  for (int i = 1; i < 12; ++i) ops.push_back("aten::r" + std::to_string(i));
  ops.push_back(last);
  return ops;
}

std::string list_of(int tensors) {
  std::string list = "[[";
  for (int i = 0; i < tensors; ++i) list += i == 0 ? "[8, 64]" : ", [8, 64]";
  return list + "], []]";
}

// Where sizes are recorded they tell: as many tensors are put together as there are rounds, and all rounds have the same.
TEST(Loops, OfLayersAreToldBySizes) {
  const auto same = [](int) { return 8; };
  const auto halved = [](int i) { return 1 << (10 - i); };
  const std::vector<std::string> linear = round_of("aten::linear"), convolved = round_of("aten::conv2d");
  EXPECT_TRUE(is_loop("", linear, {"aten::stack", list_of(10)}, same));
  EXPECT_TRUE(is_loop("", convolved, {"aten::stack", list_of(10)}, same));
  EXPECT_FALSE(is_loop("", linear, {"aten::stack", list_of(4)}, same)) << "of something else";
  EXPECT_FALSE(is_loop("", linear, {"aten::stack", list_of(10)}, halved)) << "levels of a pyramid";
}

// A dense block concatenates in each round, and once more behind them.
TEST(Loops, AreNotRoundsThatGatherThemselves) {
  const auto untold = [](int) { return 0; };
  EXPECT_TRUE(is_loop("", round_of("aten::linear"), {"aten::cat"}, untold));
  EXPECT_FALSE(is_loop("", round_of("aten::linear", "aten::cat"), {"aten::cat"}, untold));
}

// Backward the gradients of what was put together come first.
TEST(Loops, OfLayersGoBackward) {
  const auto untold = [](int) { return 0; };
  const std::vector<std::string> backward = round_of("AddmmBackward0"), convolved = round_of("ConvolutionBackward0");
  for (const char* ahead : {"StackBackward0", "autograd::engine::evaluate_function: CatBackward0"})
    EXPECT_TRUE(is_loop(ahead, backward, {}, untold)) << ahead;
  EXPECT_FALSE(is_loop("SumBackward0", backward, {}, untold));
  EXPECT_FALSE(is_loop("StackBackward0", convolved, {}, untold)) << "whose sizes are not told";
}

// The steps themselves are no loop.
TEST(Loops, LieWithinAStep) { EXPECT_FALSE(found_in(looped(40, 1, 3)).has("tiny_kernels")); }

// Forty tiny kernels that a program wrote out one by one are no loop: no round of them comes again.
TEST(Loops, AreRoundsThatComeAgain) {
  const auto program = [](int distinct) {
    TraceText text;
    for (int i = 0; i < 120; ++i) {
      const std::int64_t at = i * 12;
      const std::string name =
          "void at::native::vectorized_elementwise_kernel<4, at::native::F" + std::to_string(i % distinct) + "<float> >()";
      text.op("aten::f" + std::to_string(i % distinct), at * kUs, (at + 10) * kUs);
      text.call("cudaLaunchKernel", (at + 3) * kUs, (at + 7) * kUs, i + 1).kernel(name, (at + 8) * kUs, (at + 10) * kUs, i + 1);
    }
    return found_in(text);
  };
  EXPECT_TRUE(program(20).has("tiny_kernels")) << program(20).ids();
  EXPECT_FALSE(program(120).has("tiny_kernels")) << program(120).ids();
}

}  // namespace
}  // namespace ridge
