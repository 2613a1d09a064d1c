// Types of an expert's product, from the names that two libraries give it.
#include "kernel_names/expert_product.h"

#include <gtest/gtest.h>

namespace ridge {
namespace {

TEST(ExpertProduct, OfTensorRtLlm) {
  const auto up =
      expert_product("bmm_MxE4m3_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_transOut_schedP2x1x2x3_biasM_clmp_swiGlu_sm100f");
  ASSERT_TRUE(up);
  EXPECT_EQ(up->out_item, 1 + 1 / 32.0);
  EXPECT_EQ(up->weight_item, 0.5 + 1 / 32.0);
  EXPECT_EQ(up->in_item, 1 + 1 / 32.0);
  EXPECT_TRUE(up->gated);
  const auto down = expert_product("bmm_Bfloat16_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_transOut_biasM_clmp_dynBatch_sm100f");
  ASSERT_TRUE(down);
  EXPECT_EQ(down->out_item, 2);
  EXPECT_FALSE(down->gated);
  // Both of one type, named once.
  EXPECT_EQ(expert_product("bmm_Bfloat16_E4m3_Fp32_t128x8x128_s5_transOut")->in_item, 1);
}

TEST(ExpertProduct, OfTriton) {
  const auto up = expert_product("_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu");
  ASSERT_TRUE(up);
  EXPECT_EQ(up->out_item, 2);
  EXPECT_EQ(up->in_item, 2);
  EXPECT_EQ(up->weight_item, 0.5 + 1 / 32.0);
  EXPECT_TRUE(up->gated);
  EXPECT_FALSE(expert_product("_p_matmul_ogs_NNT_bf16xfp8e4nvxmxfp4_128x256x128x1")->gated);
}

TEST(ExpertProduct, IsNothingForOtherNames) {
  for (const char* name : {"", "bmm_", "bmm_Odd_E4m3", "_matmul_ogs_", "_matmul_ogs_NNT_bf16x", "nvjet_tst_64x64"})
    EXPECT_FALSE(expert_product(name)) << name;
}

}  // namespace
}  // namespace ridge
