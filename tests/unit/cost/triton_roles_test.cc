// Roles of a generated kernel's pointers where its source is not there: what order, sizes and names of the fused ops tell. The
// counters in comments are dram__bytes_read.sum of an H200.
#include <gtest/gtest.h>

#include "cost/triton/triton_cost.h"

namespace ridge {
namespace {

constexpr double kMebi = 1024.0 * 1024.0;

double read_of(std::string_view op, std::string_view dims, std::string_view types, std::string_view concrete,
               std::string_view kwargs = "XBLOCK=1024") {
  const OpCall call = parse_op_call(op, dims, types, "[]", concrete);
  TritonLaunch launch;
  launch.kernel = op;
  launch.call = &call;
  launch.kernel_kwargs = kwargs;
  return triton_cost(launch).bytes_read.value_or(-1);
}

TEST(TritonRoles, TargetsOfAScatterAreClearedNotRead) {
  EXPECT_EQ(read_of("triton_poi_fused_index_index_add_mul_5", "[[1024,1024],[]]", R"(["float","Scalar"])", R"(["","1048576"])"),
            0);
  EXPECT_EQ(read_of("triton_poi_fused_index_copy_native_layer_norm_5", "[[1024,1024],[]]", R"(["float","Scalar"])",
                    R"(["","1048576"])"),
            0);
  // One source, two targets; counted 20,978,944 of three tensors of 20,973,568.
  EXPECT_EQ(read_of("triton_poi_fused_div_index_put_mul_1", "[[1024,1024],[1024,1024],[1024,1024],[]]",
                    R"(["float","float","float","Scalar"])", R"(["","","","1048576"])"),
            4 * kMebi);
  // In place without an index: read.
  EXPECT_EQ(read_of("triton_poi_fused_relu_0", "[[1024,1024],[]]", R"(["float","Scalar"])", R"(["","1048576"])"), 4 * kMebi);
}

TEST(TritonRoles, AMaskIsMadeOfPositions) {
  EXPECT_EQ(read_of("triton_poi_fused_arange_le_scalar_tensor_where_6", "[[1024,1024],[]]", R"(["c10::BFloat16","Scalar"])",
                    R"(["","1048576"])"),
            0);
}

TEST(TritonRoles, ASumOfTwoTensorsAndNothingElseIsInPlace) {
  EXPECT_EQ(read_of("triton_poi_fused_add_4", "[[1024,1024],[1024,1024],[]]", R"(["float","float","Scalar"])",
                    R"(["","","1048576"])"),
            8 * kMebi);
  // tanh(a x + b): the sum has a scalar.
  EXPECT_EQ(read_of("triton_poi_fused_add_tanh_4", "[[1024,1024],[1024,1024],[]]", R"(["float","float","Scalar"])",
                    R"(["","","1048576"])"),
            4 * kMebi);
  // The bias belongs to the convolution, the other tensor to the sum; counted 25,169,920 of two tensors of 12,582,912.
  EXPECT_EQ(read_of("triton_poi_fused_add_convolution_17", "[[16,96,64,64],[96],[16,96,64,64],[]]",
                    R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","Scalar"])", R"(["","","","6291456"])"),
            2.0 * (2 * 6291456 + 96));
}

TEST(TritonRoles, ATiledCopyIsNotInPlace) {
  EXPECT_EQ(
      read_of("triton_poi_fused__to_copy_mul_native_layer_norm_backward_permute_view_65", "[[32,96,56,56],[100352,96],[],[]]",
              R"(["c10::Half","c10::Half","Scalar","Scalar"])", R"(["","","100352","96"])", "YBLOCK=32,XBLOCK=32"),
      2.0 * 100352 * 96);  // counted 19,271,680
}

TEST(TritonRoles, AGradientThatRecomputesReadsWhatStandsBeforeTheStatistics) {
  // Layer norm: the gradient, the weight, the input, mean and scale of each row; the last is written. Counted 9,694,720.
  EXPECT_EQ(read_of("triton_red_fused_native_layer_norm_native_layer_norm_backward_view_33",
                    "[[6272,384],[384],[32,384,14,14],[32,14,14,1],[32,14,14,1],[32,384,14,14],[],[]]",
                    R"(["c10::Half","float","c10::Half","float","float","c10::Half","Scalar","Scalar"])",
                    R"(["","","","","","","6272","384"])", "XBLOCK=1,R0_BLOCK=512"),
            2 * 2.0 * 6272 * 384 + 4.0 * 384 + 2 * 4.0 * 6272);
  // Softmax, from the largest and the sum of each row: both full-size tensors before the last. Counted 524,396,800.
  EXPECT_EQ(read_of("triton_red_fused__log_softmax__log_softmax_backward_data_where_0",
                    "[[4096,32000],[4096,32000],[4096,1],[4096,1],[4096,32000],[],[]]",
                    R"(["c10::BFloat16","c10::BFloat16","float","float","c10::BFloat16","Scalar","Scalar"])",
                    R"(["","","","","","4096","32000"])", "XBLOCK=1,R0_BLOCK=2048"),
            2 * 2.0 * 4096 * 32000 + 2 * 4.0 * 4096);
}

TEST(TritonRoles, ANormWithoutMeanHasOneStatistic) {
  EXPECT_EQ(read_of("triton_per_fused__fused_rms_norm__fused_rms_norm_backward_17",
                    "[[16,12,256,64],[16,12,256,1],[16,12,256,64],[16,12,256,1],[],[]]",
                    R"(["c10::BFloat16","float","c10::BFloat16","float","Scalar","Scalar"])", R"(["","","","","49152","64"])",
                    "XBLOCK=8"),
            2 * 2.0 * 49152 * 64 + 4.0 * 49152);  // counted 12,783,616
}

TEST(TritonRoles, PartialGradientsOfANormsVectorsAreAllThatItWrites) {
  // Counted 44,049,408: everything before the two partial sums.
  EXPECT_EQ(read_of("triton_red_fused__to_copy_add_native_layer_norm_backward_view_19",
                    "[[16,256,768],[4096,768],[4096,768],[4096,768],[16,256,768],[768,32],[768,32],[],[]]",
                    R"(["float","c10::BFloat16","c10::BFloat16","c10::BFloat16","float","float","float","Scalar","Scalar"])",
                    R"(["","","","","","","","24576","128"])", "XBLOCK=64,R0_BLOCK=8"),
            3145728 * (4.0 + 2 + 2 + 2 + 4));
}

// What a norm normalised is kept for the gradient in a buffer of its own, which the signature has as in_out: the residual
// stands beside it.
TEST(TritonRoles, AForwardNormWritesItsInOut) {
  // Counted 18,934,784: a product's result in bfloat16 and the residual in float.
  EXPECT_NEAR(
      read_of(
          "triton_per_fused__to_copy_add_native_dropout_native_layer_norm_native_layer_norm_backward_view_9",
          "[[16,256,768],[10],[4096,768],[16,256,768],[768],[768],[768],[768],[16,256,768],[16,256,768],[16,256,1],[],[],[]]",
          R"(["float","long int","c10::BFloat16","float","float","float","float","float","bool","c10::BFloat16","float","Scalar","Scalar","Scalar"])",
          R"(["","","","","","","","","","","","3","4096","768"])", ""),
      18934784, 65536);
  // Rows of embeddings, no residual; counted 18,548,736 of a first tensor of 18,874,368.
  EXPECT_NEAR(
      read_of(
          "triton_per_fused__to_copy_add_clone_embedding_native_dropout_native_layer_norm_native_layer_norm_backward_transpose_"
          "unsqueeze_1",
          "[[16,384,768],[16,384],[30522,768],[512,768],[16,384],[2,768],[7],[768],[768],[16,384,768],[384,16,768],[16,384,1],["
          "],[],[]]",
          R"(["float","long int","float","float","long int","float","long int","float","float","bool","c10::BFloat16","float","Scalar","Scalar","Scalar"])",
          R"(["","","","","","","","","","","","","0","6144","768"])", ""),
      18548736, 1854873);
}

TEST(TritonRoles, GradientsOfANormBehindADropout) {
  // The mask is read, since nothing here makes one, and the first tensor only written; counted 47,225,344.
  EXPECT_NEAR(
      read_of(
          "triton_per_fused__to_copy_add_native_dropout_backward_native_layer_norm_backward_view_18",
          "[[16,256,768],[16,256,768],[4096,768],[4096,768],[4096,768],[768],[16,256,768],[16,256,1],[16,256,768],[16,256,768],"
          "[],[]]",
          R"(["float","float","c10::BFloat16","c10::BFloat16","c10::BFloat16","float","float","float","bool","c10::BFloat16","Scalar","Scalar"])",
          R"(["","","","","","","","","","","4096","768"])", ""),
      47225344, 65536);
  // In float alone the types tell nothing: all three are read.
  EXPECT_NEAR(read_of("triton_per_fused_add_native_layer_norm_backward_view_7",
                      "[[12,301,640],[640],[12,301,640],[12,301,640],[12,301,1],[],[]]",
                      R"(["float","float","float","float","float","Scalar","Scalar"])", R"(["","","","","","3612","640"])", ""),
              3 * 4.0 * 3612 * 640, 65536);
  EXPECT_EQ(read_of("triton_poi_fused_native_dropout_backward_view_2", "[[8,199,384],[8,199,384],[]]",
                    R"(["float","bool","Scalar"])", R"(["","","611328"])"),
            5.0 * 611328);
}

// Two tables are added to, behind a result that is not read; counted 58,995,200.
TEST(TritonRoles, SeveralTablesAreScatteredInto) {
  EXPECT_NEAR(
      read_of(
          "triton_per_fused__to_copy_add_embedding_dense_backward_expand_native_dropout_backward_native_layer_norm_backward_"
          "nll_loss_forward_view_22",
          "[[16,256,768],[4096,768],[4096,768],[4096,768],[16,256,768],[768],[16,256,768],[16,256,1],[1,256],[16,256],[16,256,"
          "768],[2,768],[30522,768],[],[]]",
          R"(["float","c10::BFloat16","c10::BFloat16","c10::BFloat16","bool","float","float","float","long int","long int","float","float","float","Scalar","Scalar"])",
          R"(["","","","","","","","","","","","","","4096","768"])", ""),
      58995200, 5899520);
}

TEST(TritonRoles, ADropoutWritesItsMaskAndAllBehindIt) {
  EXPECT_EQ(read_of("triton_poi_fused__to_copy__unsafe_view_add_mul_native_dropout_pow_tanh_11",
                    "[[22],[3072,1024],[3072,1024],[8,384,1024],[8,384,1024],[],[]]",
                    R"(["long int","c10::BFloat16","c10::BFloat16","bool","c10::BFloat16","Scalar","Scalar"])",
                    R"(["","","","","","3","3145728"])"),
            22 * 8 + 2.0 * 2 * 3145728);
}

// Each of the two norms has a tensor and four vectors; the first tensor takes what comes between.
TEST(TritonRoles, TwoNormsOfTwoTensors) {
  EXPECT_EQ(
      read_of(
          "triton_poi_fused__native_batch_norm_legit_functional_add_relu_17",
          "[[32,256,56,56],[32,256,56,56],[1,256,1,1],[1,256,1,1],[256],[256],[32,256,56,56],[1,256,1,1],[1,256,1,1],[256],["
          "256],[]]",
          R"(["c10::BFloat16","c10::BFloat16","float","float","float","float","c10::BFloat16","float","float","float","float","Scalar"])",
          R"(["","","","","","","","","","","","25690112"])"),
      2 * 2.0 * 25690112 + 8 * 4 * 256);
}

// A gradient that ends at a convolution is of the backward pass, though the norm is recomputed: its tensor is read as well.
TEST(TritonRoles, ARecomputedNormInTheBackwardPassTakesTwoTensors) {
  EXPECT_EQ(read_of("triton_poi_fused__native_batch_norm_legit_functional_convolution_backward_native_batch_norm_backward_65",
                    "[[32,256,56,56],[32,256,56,56],[1,256,1,1],[256],[256],[256],[256],[]]",
                    R"(["c10::BFloat16","c10::BFloat16","float","float","float","float","float","Scalar"])",
                    R"(["","","","","","","","25690112"])"),
            2 * 2.0 * 25690112 + 5 * 4 * 256);
}

// One result of a product, copied into two orders of dimensions.
TEST(TritonRoles, CopiesInOtherOrdersAreOutputs) {
  EXPECT_EQ(
      read_of("triton_poi_fused__to_copy__unsafe_view_clone_mul_transpose_view_5", "[[3072,512],[8,8,64,384],[64,384,64],[]]",
              R"(["c10::BFloat16","float","c10::BFloat16","Scalar"])", R"(["","","","1572864"])"),
      2.0 * 1572864);
}

// An expert's table has three dimensions; a lookup takes a row of its last one, not all of an expert.
TEST(TritonRoles, ALookupThroughTwoDimensionsTakesARow) {
  EXPECT_LT(read_of("triton_poi_fused__to_copy_cat_div_index_mul_new_zeros_sum_unsqueeze_view_8",
                    "[[8192],[8,1280,1024],[8192],[8192,1024],[8192,1024],[]]",
                    R"(["long int","c10::BFloat16","c10::BFloat16","c10::BFloat16","c10::BFloat16","Scalar"])",
                    R"(["","","","","","8388608"])"),
            64e6);
}

// A table of 20 MB that 160,000 lookups pick from leaves the cache beside a result of 164 MB; counted 68,386,560.
TEST(TritonRoles, PickedRowsAreReadAgain) {
  constexpr std::string_view kTypes = R"(["long int","float","float","Scalar"])";
  EXPECT_NEAR(read_of("triton_poi_fused_index_select_view_8", "[[2,160000],[20000,256],[160000,4,64],[]]", kTypes,
                      R"(["","","","40960000"])"),
              68386560, 6838656);
  // Few lookups: each row once.
  EXPECT_LT(
      read_of("triton_poi_fused_index_select_view_8", "[[2,1600],[200,256],[1600,4,64],[]]", kTypes, R"(["","","","409600"])"),
      300e3);
  // The index of an upsampling names places within a plane, not planes.
  EXPECT_NEAR(read_of("triton_poi_fused__unsafe_index_1", "[[256],[8,64,128,128],[8,64,256,256],[]]", kTypes,
                      R"(["","","","33554432"])"),
              4.0 * 8 * 64 * 128 * 128, 65536);
}

TEST(TritonRoles, StatisticsOfPartsAreCombinedThreeForThree) {
  // Means, squares, counts of 192 parts of each channel become those of 2. Counted 1,783,296.
  EXPECT_EQ(read_of("triton_red_fused__native_batch_norm_legit_functional_gelu_4",
                    "[[1,768,1,1,192],[1,768,1,1,192],[1,768,1,1,192],[1,768,1,1,2],[1,768,1,1,2],[1,768,1,1,2],[],[]]",
                    R"(["float","float","float","float","float","float","Scalar","Scalar"])",
                    R"(["","","","","","","1536","96"])", "XBLOCK=16,R0_BLOCK=64"),
            3 * 4.0 * 768 * 192);
  // Those of 6 parts of each row become its mean and its scale.
  EXPECT_NEAR(
      read_of("triton_per_fused_native_layer_norm_18", "[[16,256,1],[16,256,1,6],[16,256,1,6],[16,256,1,6],[16,256,1],[],[]]",
              R"(["float","float","float","float","float","Scalar","Scalar"])", R"(["","","","","","4096","6"])", "XBLOCK=128"),
      303360, 0.1 * 303360);
}

TEST(TritonRoles, GradientsOfTwoPathsAreAddedInPlace) {
  // A mask, the gradients of both paths. Counted 301,999,360.
  EXPECT_EQ(read_of("triton_poi_fused_add_threshold_backward_view_204", "[[2048,64,256],[2048,64,256],[131072,256],[]]",
                    R"(["float","bool","float","Scalar"])", R"(["","","","33554432"])"),
            (4 + 1 + 4) * 33554432.0);
  // Without a sum the gradient of one path, in place.
  EXPECT_EQ(read_of("triton_poi_fused_threshold_backward_view_206", "[[2048,64,256],[2048,64,256],[]]",
                    R"(["float","bool","Scalar"])", R"(["","","33554432"])"),
            (4 + 1) * 33554432.0);
}

TEST(TritonRoles, WhatConstantsScaleIsDoneInPlaceAndASecondTensorIsAdded) {
  // Batch norm of a detector, whose statistics are constants, and the residual. Counted 157,297,664.
  EXPECT_EQ(
      read_of("triton_poi_fused_add_mul_relu_rsqrt_sub_view_19", "[[4,256,120,160],[256],[256],[256],[256],[4,256,120,160],[]]",
              R"(["float","float","float","float","float","float","Scalar"])", R"(["","","","","","","19660800"])"),
      2 * 4.0 * 19660800 + 4 * 4.0 * 256);
  // Without one. Counted 39,327,744.
  EXPECT_EQ(read_of("triton_poi_fused_add_mul_relu_rsqrt_sub_view_20", "[[4,128,120,160],[128],[128],[128],[128],[]]",
                    R"(["float","float","float","float","float","Scalar"])", R"(["","","","","","9830400"])"),
            4.0 * 9830400 + 4 * 4.0 * 128);
}

}  // namespace
}  // namespace ridge
