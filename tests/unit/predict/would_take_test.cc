// Calls in another form: their layouts, and that what is expected of them moves the way that hardware does.
#include "predict/would_take.h"

#include <gtest/gtest.h>

#include "ingest/reader.h"
#include "support/files.h"

namespace ridge {
namespace {

OpArgument tensor_of(std::vector<std::int64_t> sizes, std::vector<std::int64_t> strides, DType dtype = DType::bf16) {
  OpArgument out;
  out.kind = OpArgument::Kind::tensor;
  out.tensor = {std::move(sizes), std::move(strides), dtype};
  return out;
}

TEST(WouldTake, ChannelsLastLiesByChannels) {
  OpCall call;
  call.arguments = {tensor_of({2, 3, 4, 5}, {60, 20, 5, 1}), tensor_of({3}, {1})};
  const OpCall last = channels_last(call);
  EXPECT_EQ(last.arguments[0].tensor.strides, (std::vector<std::int64_t>{60, 1, 15, 3}));
  EXPECT_EQ(last.arguments[1].tensor.strides, (std::vector<std::int64_t>{1}));
}

// A transposed factor stays transposed, and a broadcast dimension broadcast.
TEST(WouldTake, OtherSizesKeepTheOrder) {
  OpCall call;
  call.arguments = {tensor_of({64, 50257}, {1, 64}), tensor_of({50257, 8}, {0, 1})};
  const OpCall padded = with_sizes(call, {{50257, 50264}});
  EXPECT_EQ(padded.arguments[0].tensor.sizes, (std::vector<std::int64_t>{64, 50264}));
  EXPECT_EQ(padded.arguments[0].tensor.strides, (std::vector<std::int64_t>{1, 64}));
  EXPECT_EQ(padded.arguments[1].tensor.sizes, (std::vector<std::int64_t>{50264, 8}));
  EXPECT_EQ(padded.arguments[1].tensor.strides, (std::vector<std::int64_t>{0, 1}));
  EXPECT_TRUE(contiguous(call).arguments[0].tensor.strides.empty());
}

// Tensors that lie dense along different dimensions; other orders of the outer ones, broadcasts and vectors do not count.
TEST(WouldTake, ReadsAcrossWhereTensorsLieDenseAlongDifferentDimensions) {
  const auto across = [](const OpArgument& a, const OpArgument& b) {
    OpCall call;
    call.arguments = {a, b};
    return lies_across(call);
  };
  const OpArgument dense = tensor_of({8, 16, 32}, {512, 32, 1});
  EXPECT_TRUE(across(dense, tensor_of({8, 16, 32}, {512, 1, 16})));
  EXPECT_TRUE(across(tensor_of({8, 16, 32}, {}), tensor_of({8, 16, 32}, {512, 1, 16})));
  EXPECT_FALSE(across(dense, dense));
  EXPECT_FALSE(across(dense, tensor_of({8, 16, 32}, {32, 256, 1})));
  EXPECT_FALSE(across(dense, tensor_of({8, 16, 32}, {0, 1, 0})));
  EXPECT_FALSE(across(dense, tensor_of({1, 16, 32}, {512, 1, 16})));
}

// On the device of the table: a misaligned product is several times slower than a padded one, plain float32 than TF32.
TEST(WouldTake, TellsTheFormThatIsFaster) {
  const auto trace = read_trace_bytes(test::fixture("pair_tf32_fault"), "t", {}).value();
  const Model model(*trace);
  const CostModel costs(model, {});
  WouldTake would(costs);
  const std::int64_t device = model.timeline().devices.at(0).id;
  ASSERT_TRUE(would.is_measured(device));
  OpCall odd;
  odd.op = "aten::mm";
  odd.has_shapes = true;
  odd.arguments = {tensor_of({4096, 1024}, {1024, 1}), tensor_of({1024, 50257}, {50257, 1})};
  const auto now = would.of(odd, false, device), then = would.of(with_sizes(odd, {{50257, 50304}}), false, device);
  ASSERT_TRUE(now && then);
  EXPECT_GT(now->ns, 3 * then->ns);
  OpCall plain = odd;
  plain.arguments = {tensor_of({4096, 2048}, {2048, 1}, DType::f32), tensor_of({2048, 8192}, {8192, 1}, DType::f32)};
  const auto without = would.of(plain, false, device), with = would.of(plain, true, device);
  ASSERT_TRUE(without && with);
  EXPECT_GT(without->ns, 4 * with->ns);
  const ExpectedTimes times(costs);
  for (const ExpectedCall& call : times.calls()) {
    if (call.call == nullptr || call.count == 0) continue;
    const auto same = would.left_of(call, call.call->call, false);
    if (!same) continue;
    EXPECT_GE(same->part, 0);
    EXPECT_LE(same->part, 1);
    EXPECT_LE(same->low, same->high);
  }
}

}  // namespace
}  // namespace ridge
