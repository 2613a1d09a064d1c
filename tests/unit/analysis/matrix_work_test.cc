// One row makes an op known everywhere: every op of the table that multiplies matrices is known to the alignment finding, to
// diff, to the list of ops that a compiler calls by design, and to what tells its kernels apart.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/diff/op_names.h"
#include "analysis/findings/product_shape.h"
#include "analysis/graphs/graphs.h"
#include "cost/library/call_parts.h"

namespace ridge {
namespace {

std::vector<const OpFormula*> matrix_ops() {
  std::vector<const OpFormula*> rows;
  for (const auto family : all_ops()) {
    for (const OpFormula& row : family) {
      if (is_matrix_work(row)) rows.push_back(&row);
    }
  }
  return rows;
}

// Two square matrices where the row says that its factors stand.
OpCall call_of(const OpFormula& row, const ProductPositions& at) {
  OpCall call{.op = row.op, .arguments = std::vector<OpArgument>(12), .has_shapes = true, .has_constants = true};
  for (const int position : {at.a, at.b}) {
    OpArgument& factor = call.arguments[static_cast<std::size_t>(position)];
    factor.kind = OpArgument::Kind::tensor;
    factor.tensor = {.sizes = {256, 256}, .strides = {256, 1}, .dtype = DType::bf16};
  }
  return call;
}

TEST(MatrixWork, IsWhatTheTableSays) {
  std::vector<std::string_view> names;
  for (const OpFormula* row : matrix_ops()) names.push_back(row->op);
  const auto holds = [&](std::string_view op) { return std::find(names.begin(), names.end(), op) != names.end(); };
  for (const char* op : {"aten::mm", "aten::_scaled_mm_v2", "aten::_scaled_grouped_mm_v2", "aten::mv",
                         "aten::convolution_backward", "aten::_flash_attention_forward", "flash_attn::_flash_attn_forward"})
    EXPECT_TRUE(holds(op)) << op;
  for (const char* op : {"aten::dot", "aten::add", "aten::_cudnn_rnn"}) EXPECT_FALSE(holds(op)) << op;
}

TEST(MatrixWork, IsKnownToDiff) {
  for (const OpFormula* row : matrix_ops()) {
    const std::string canonical = diff::canonical_op(row->op);
    EXPECT_NE(diff::heavy_of(canonical), diff::Heavy::none) << row->op;
    EXPECT_EQ(diff::heavy_sort(canonical), matrix_sort(*row)) << row->op;
  }
}

TEST(MatrixWork, IsCalledByDesign) {
  for (const OpFormula* row : matrix_ops()) {
    const bool of_torch = row->op.starts_with("aten::");  // a user's library is none of the compiler's choice
    EXPECT_EQ(is_by_design(row->op), of_torch) << row->op;
  }
}

TEST(MatrixWork, OfProductsIsKnownToAlignment) {
  for (const OpFormula* row : matrix_ops()) {
    const ProductPositions* at = product_positions(*row);
    EXPECT_EQ(at != nullptr, row->family == OpFamily::gemm) << row->op;
    if (at == nullptr) continue;
    const auto shape = product_shape(call_of(*row, *at));
    ASSERT_TRUE(shape) << row->op;
    EXPECT_EQ(shape->n, 256) << row->op;
    EXPECT_FALSE(shape->misaligned()) << row->op;
  }
}

TEST(MatrixWork, HasRolesForItsKernels) {
  for (const OpFormula* row : matrix_ops()) EXPECT_TRUE(has_roles(row->family)) << row->op;
}

// A sum split in two: the product writes 2 x 256 x 256 float32, the kernel behind it reads them. (_int_mm claims more: its
// formula takes its operands for bytes.)
TEST(MatrixWork, OfProductsThatAreSplitIsAddedUp) {
  constexpr std::string_view kProduct = "sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64_splitK",
                             kSum = "void cublasLt::splitKreduce_kernel<32, 16, int, float, __nv_bfloat16>(int)";
  const KernelFacts product = facts_of(kProduct), sum = facts_of(kSum);
  const CallLaunch launches[] = {{kProduct, &product, Dim3{4, 4, 2}, Dim3{128, 1, 1}},
                                 {kSum, &sum, Dim3{64, 1, 1}, Dim3{128, 1, 1}}};
  for (const OpFormula* row : matrix_ops()) {
    const ProductPositions* at = product_positions(*row);
    if (at == nullptr) continue;
    const OpCall call = call_of(*row, *at);
    if (!row->work(call, {}).flops) continue;  // times a vector
    const auto costs = call_costs(*row, call, launches, {});
    EXPECT_GE(costs[0].bytes_written, 2 * 256 * 256 * 4) << row->op;
    EXPECT_GE(costs[1].bytes_read, 2 * 256 * 256 * 4) << row->op;
    EXPECT_EQ(costs[1].flops, 0) << row->op;
  }
}

}  // namespace
}  // namespace ridge
