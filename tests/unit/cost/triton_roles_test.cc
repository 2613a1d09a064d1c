// Roles of a generated kernel's pointers where its source is not there: what order, sizes and names of the fused ops tell. The counters in
// comments are dram__bytes_read.sum of an H200.
#include <gtest/gtest.h>

#include "cost/triton_cost.h"

namespace ridge {
namespace {

constexpr double kMi = 1024.0 * 1024.0;

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
            4 * kMi);
  // In place without an index: read.
  EXPECT_EQ(read_of("triton_poi_fused_relu_0", "[[1024,1024],[]]", R"(["float","Scalar"])", R"(["","1048576"])"), 4 * kMi);
}

TEST(TritonRoles, AMaskIsMadeOfPositions) {
  EXPECT_EQ(read_of("triton_poi_fused_arange_le_scalar_tensor_where_6", "[[1024,1024],[]]", R"(["c10::BFloat16","Scalar"])",
                    R"(["","1048576"])"),
            0);
}

TEST(TritonRoles, ASumOfTwoTensorsAndNothingElseIsInPlace) {
  EXPECT_EQ(read_of("triton_poi_fused_add_4", "[[1024,1024],[1024,1024],[]]", R"(["float","float","Scalar"])",
                    R"(["","","1048576"])"),
            8 * kMi);
  // tanh(a x + b): the sum has a scalar.
  EXPECT_EQ(read_of("triton_poi_fused_add_tanh_4", "[[1024,1024],[1024,1024],[]]", R"(["float","float","Scalar"])",
                    R"(["","","1048576"])"),
            4 * kMi);
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

}  // namespace
}  // namespace ridge
