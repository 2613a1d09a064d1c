// --ops lines: what stands in them goes to where a trace would have it.
#include "predict/op_lines.h"

#include <gtest/gtest.h>

#include "ops/operands.h"

namespace ridge {
namespace {

OpLine one(std::string_view json) {
  auto lines = read_op_lines(json, "ops.jsonl");
  EXPECT_TRUE(lines.has_value());
  return lines && lines->size() == 1 ? std::move(lines->front()) : OpLine();
}

TEST(OpLines, ShapesTypesAndStrides) {
  const OpLine line = one(
      R"({"op": "aten::mm", "shapes": [[64, 32], [32, 16]], "dtypes": ["bfloat16", "torch.bfloat16"], "strides": [[32, 1], [1, 32]], "tf32": true})");
  EXPECT_EQ(line.call.op, "aten::mm");
  ASSERT_NE(tensor_at(line.call, 1), nullptr);
  EXPECT_EQ(tensor_at(line.call, 1)->sizes, (std::vector<std::int64_t>{32, 16}));
  EXPECT_EQ(tensor_at(line.call, 1)->strides, (std::vector<std::int64_t>{1, 32}));
  EXPECT_EQ(tensor_at(line.call, 0)->dtype, DType::bf16);
  EXPECT_EQ(line.tf32, true);
}

TEST(OpLines, NamedArgumentsStandWhereTheOpTakesThem) {
  const OpLine conv = one(
      R"({"op": "aten::conv2d", "shapes": [[8, 64, 56, 56], [64, 64, 3, 3]], "dtypes": ["float16", "float16"], "args": {"stride": [2, 2], "padding": [1, 1], "memory_format": "channels_last"}})");
  EXPECT_EQ(integers_at(conv.call, 3), (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(integers_at(conv.call, 4), (std::vector<std::int64_t>{1, 1}));
  EXPECT_EQ(tensor_at(conv.call, 0)->strides, (std::vector<std::int64_t>{64 * 56 * 56, 1, 56 * 64, 64}));
  const OpLine attention = one(
      R"({"op": "aten::_scaled_dot_product_flash_attention", "shapes": [[1, 8, 64, 64], [1, 8, 64, 64], [1, 8, 64, 64]], "dtypes": "bfloat16", "args": {"is_causal": true, "window": 3}})");
  EXPECT_TRUE(flag_at(attention.call, 4));
  EXPECT_EQ(attention.not_used, (std::vector<std::string>{"window"}));
  EXPECT_EQ(tensor_at(attention.call, 2)->dtype, DType::bf16) << "one type stands for all tensors";
}

TEST(OpLines, ConvolutionsHaveDefaults) {
  const OpLine conv = one(R"({"op": "aten::conv2d", "shapes": [[8, 64, 56, 56], [64, 64, 3, 3]], "dtypes": "float16"})");
  const OpFormula* row = find_op(conv.call.op);
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->work(conv.call, Part{}).flops, 2.0 * 8 * 54 * 54 * 64 * 64 * 9) << "stride 1, no padding";
}

TEST(OpLines, TensorsAloneGoToTheirPlaces) {
  const OpLine norm =
      one(R"({"op": "aten::layer_norm", "shapes": [[8, 768], [768], [768]], "dtypes": ["float32", "float32", "float32"]})");
  EXPECT_EQ(tensor_at(norm.call, 1), nullptr) << "normalized_shape is no tensor";
  ASSERT_NE(tensor_at(norm.call, 2), nullptr);
  EXPECT_EQ(tensor_at(norm.call, 2)->sizes, (std::vector<std::int64_t>{768}));
  const OpLine cat =
      one(R"({"op": "aten::cat", "shapes": [[4, 8], [4, 8]], "dtypes": ["float16", "float16"], "args": {"dim": 1}})");
  ASSERT_EQ(cat.call.arguments.front().list.size(), 2U);
  EXPECT_EQ(cat.call.arguments.front().list.front().dtype, DType::f16);
}

TEST(OpLines, ImpossibleCallsAreErrorsThatNameTheirLine) {
  struct Case {
    std::string_view line, says;
  };
  for (
      const Case& c : {
          Case{R"({"op": "mm", "shapes": [[64, 32], [33, 16]], "dtypes": "bfloat16"})", "inner sizes"},
          Case{R"({"op": "linear", "shapes": [[64, 32], [16, 33]], "dtypes": "bfloat16"})", "inner sizes"},
          Case{R"({"op": "matmul", "shapes": [[4, 64, 32], [33, 16]], "dtypes": "bfloat16"})", "inner sizes"},
          Case{R"({"op": "bmm", "shapes": [[4, 64, 32], [5, 32, 16]], "dtypes": "bfloat16"})", "batches"},
          Case{R"({"op": "mm", "shapes": [[64, -32], [-32, 16]], "dtypes": "bfloat16"})", "negative"},
          Case{R"({"op": "mm", "shapes": [[64, 32], [32, 16]], "dtypes": ["bfloat17", "bfloat16"]})", "bfloat17"},
          Case{R"({"op": "mm", "shapes": [[64, 32], [32, 16]], "dtypes": "half precision"})", "half precision"},
          Case{R"({"op": "mm", "shapes": [[64, 32], [32, 16]], "dtypes": "float16", "strides": [[1], [16, 1]]})", "strides"},
          Case{R"({"op": "conv2d", "shapes": [[8, 64, 56, 56], [64, 63, 3, 3]], "dtypes": "float16"})", "channels"},
          Case{R"({"op": "conv2d", "shapes": [[8, 64, 56], [64, 64, 3, 3]], "dtypes": "float16"})", "do not fit"},
          Case{
              R"({"op": "_scaled_dot_product_flash_attention", "shapes": [[1, 8, 64, 64], [1, 8, 64, 32], [1, 8, 64, 64]], "dtypes": "float16"})",
              "depths"},
          Case{R"({"op": "add", "shapes": [[4, 8], [4, 7]], "dtypes": "float16"})", "broadcast"},
          Case{R"({"op": "mm", "shapes": "x", "dtypes": "float16"})", "'shapes' is not a list of lists"},
          Case{R"({"op": "mm", "shapes": [64, 64], "dtypes": "float16"})", "'shapes' is not a list of lists"},
          Case{R"({"op": "mm", "shapes": {"a": 1}, "dtypes": "float16"})", "'shapes' is not a list of lists"},
          Case{R"({"op": "mm", "shapes": [[8, 8], [8, 8]], "dtypes": 5})", "'dtypes' is not"},
          Case{R"({"op": "mm", "shapes": [[8, 8], [8, 8]], "dtypes": "float16", "strides": "x"})", "'strides' is not a list"},
          Case{R"({"op": "mm", "shapes": [[8, 8], [8, 8]], "dtypes": "float16", "args": [1]})", "'args' is not an object"},
          Case{R"({"op": "mm", "shapes": [[8, 8], [8, 8]], "dtypes": "float16", "tf32": "yes"})", "'tf32' is not"},
          Case{R"({"op": "_fused_adamw_", "dtypes": ["TensorList"], "item": "float32", "sizes": [4, -1]})", "'sizes' is not"},
          Case{R"({"op": "mm", "shapes": [[0, 64], [64, 64]], "dtypes": "float16"})", "a size is 0"},
          Case{R"({"op": "mm", "shapes": [[64, 64], [64, 0]], "dtypes": "float16"})", "a size is 0"},
          Case{R"({"op": "relu", "shapes": [[64, 0, 3]], "dtypes": "float16"})", "a size is 0"},
          Case{R"({"op": "cat", "shapes": [[0, 3], [0, 3]], "dtypes": "float16"})", "are empty"},
          Case{R"({"op": "conv2d", "shapes": [[0, 64, 56, 56], [64, 64, 3, 3]], "dtypes": "float16"})", "a size is 0"},
          Case{R"({"op": "relu", "shapes": [[4000000000000000000]], "dtypes": "float16"})", "larger than 1 TiB"},
          Case{R"({"op": "relu", "shapes": [[4000000000, 4000000000, 4000000000]], "dtypes": "float16"})", "larger than 1 TiB"},
          Case{R"({"op": "mm", "shapes": [[8, 9000000000000], [9000000000000, 8]], "dtypes": "float16"})", "larger than 1 TiB"},
      }) {
    const auto lines = read_op_lines("\n" + std::string(c.line), "ops.jsonl");
    ASSERT_FALSE(lines.has_value()) << c.line;
    EXPECT_NE(lines.error().message.find(c.says), std::string::npos) << lines.error().message;
    EXPECT_EQ(lines.error().where, "ops.jsonl:2") << c.line;
  }
  for (
      const std::string_view fine : {
          R"({"op": "add", "shapes": [[4, 8], [8]], "dtypes": "float16"})",
          R"({"op": "conv2d", "shapes": [[8, 64, 56, 56], [64, 1, 3, 3]], "dtypes": "float16", "args": {"groups": 64}})",
          R"({"op": "mine::op", "shapes": [[4, 8], [7]], "dtypes": "float16"})",
          R"({"op": "mm", "shapes": [[8, 8], [8, 8]], "dtypes": "float16", "strides": null, "args": null})",
          R"({"op": "cat", "shapes": [[0, 3], [4, 3]], "dtypes": "float16"})",
          R"({"op": "cudnn_batch_norm_backward", "shapes": [[8, 4, 2, 2], [8, 4, 2, 2], [4], [4], [4], [4], [4], [], [0]], "dtypes": "float32"})",
          R"({"op": "clone", "shapes": [[4000000, 4000000]], "strides": [[0, 0]], "dtypes": "float16"})",
      }) {
    EXPECT_TRUE(read_op_lines(fine, "x").has_value()) << fine;
  }
}

TEST(OpLines, ErrorsNameTheLine) {
  const auto bad = read_op_lines("{\"op\": \"aten::mm\"}\n\nnot json\n", "ops.jsonl");
  ASSERT_FALSE(bad.has_value());
  EXPECT_EQ(bad.error().where, "ops.jsonl:3");
  EXPECT_FALSE(read_op_lines("{\"shapes\": []}", "x").has_value()) << "a line without an op";
  EXPECT_FALSE(read_op_lines("[1]", "x").has_value());
  EXPECT_TRUE(read_op_lines("\n \n", "x")->empty());
}

}  // namespace
}  // namespace ridge
