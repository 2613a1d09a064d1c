// Recurrent networks of the library: which product of the call a launch does. The counters in comments are dram__bytes_read.sum of an H200.
#include <gtest/gtest.h>

#include "cost/cost_model.h"
#include "unit/cost/hand_made_launch.h"

namespace ridge {
namespace {

constexpr std::string_view kProduct = "sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize64x64x32_cublas";

// An LSTM of two layers, one direction: x [32, 4, 256], hidden 512. Four steps.
constexpr std::string_view kForward =
    R"("Input Dims": [[32, 4, 256], [[2048, 256], [2048, 512], [2048], [2048], [2048, 512], [2048, 512], [2048], [2048]], [], [5000000], [2, 32, 512], [2, 32, 512], [], [], [], [], [], [], [], [], [], []], )"
    R"("Input type": ["float", "TensorList", "Scalar", "float", "float", "float", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "ScalarList", ""], )"
    R"("Concrete Inputs": ["", "", "4", "", "", "", "2", "512", "0", "2", "True", "0.", "True", "False", "[]", ""])";

TEST(Recurrent, ProductsOfStepsAndOfLayersAreToldApart) {
  std::string events = test::event({.name = "aten::_cudnn_rnn", .ts = 5, .dur = 900, .args = kForward});
  int n = 0;
  for (int layer = 0; layer < 2; ++layer) {
    events = test::join(
        {events, test::launch(++n, "sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32_cublas", "[66, 2, 1]")});
    for (int step = 0; step < 4; ++step) {
      events = test::join({events, test::launch(++n, kProduct, "[36, 1, 1]"),
                           test::launch(++n, "void elemWiseRNNcell<float, float, float, (cudnnRNNMode_t)2>(x)", "[64, 1, 1]")});
    }
  }
  const auto loaded = test::load_events(events);
  const CostModel costs(*loaded.model, {});
  const double batch_step = 4.0 * 32 * 4;                                        // bytes of a feature over batch and steps
  EXPECT_EQ(costs[0].bytes_read, batch_step * 256 + 4.0 * 2048 * 256);           // x and the first layer's weights
  EXPECT_EQ(costs[9].bytes_read, batch_step * 512 + 4.0 * 2048 * 512);           // the first layer's states
  EXPECT_EQ(costs[1].bytes_read, 4.0 * (2048 * 512 + 32 * 512));                 // counted 4,303,360
  EXPECT_EQ(costs[2].bytes_read, 4.0 * ((2 * 4 + 1) * 32 * 512 + 2 * 4 * 512));  // counted 614,144
  EXPECT_FALSE(costs[1].flops);                                                  // PyTorch counts none
}

// A GRU of one layer: x [32, 4, 1024], hidden 512.
constexpr std::string_view kBackward =
    R"("Input Dims": [[32, 4, 1024], [[1536, 1024], [1536, 512], [1536], [1536]], [], [2362368], [1, 32, 512], [], [32, 4, 512], [32, 4, 512], [], [], [], [], [], [], [], [], [], [], [], [], [25166080], []], )"
    R"("Input type": ["float", "TensorList", "Scalar", "float", "float", "", "float", "float", "", "", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "ScalarList", "", "unsigned char", "ScalarList"], )"
    R"("Concrete Inputs": ["", "", "4", "", "", "", "", "", "", "", "3", "512", "0", "1", "True", "0.", "True", "False", "[]", "", "", "[True, False, False, True]"])";

TEST(Recurrent, TheGradientsOfWeightsAreAddedTo) {
  std::string events = test::event({.name = "aten::_cudnn_rnn_backward", .ts = 5, .dur = 900, .args = kBackward});
  int n = 0;
  for (int step = 0; step < 4; ++step) {
    events =
        test::join({events, test::launch(++n, "void GRU_elementWise_bp1<float, float, float>(x)", "[64, 1, 1]"),
                    test::launch(++n, "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_64x64_nn_align4>(x)", "[8, 1, 2]")});
  }
  constexpr std::string_view kWeights = "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x64_32x6_nt_align4>(x)";
  events =
      test::join({events, test::launch(++n, "sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x128x32_cublas", "[128, 1, 1]"),
                  test::launch(++n, "void GRU_elementWise_bp2<float, float, float, 3>(x)", "[16, 1, 1]"),
                  test::launch(++n, kWeights, "[192, 1, 1]"), test::launch(++n, kWeights, "[96, 1, 1]"),
                  test::launch(++n, "sm90_xmma_gemm_f32f32_tf32f32_f32_nt_n_tilesize128x128x32_cublas", "[108, 1, 1]")});
  const auto loaded = test::load_events(events);
  const CostModel costs(*loaded.model, {});
  const double gates = 4.0 * 32 * 1536, state = 4.0 * 32 * 512;  // of one step
  const double recurrent = 4.0 * 1536 * 512, input = 4.0 * 1536 * 1024, x = 4.0 * 32 * 4 * 1024;
  EXPECT_EQ(costs[0].bytes_read, gates + 4 * state);  // counted 463,360
  EXPECT_EQ(costs[1].bytes_read, recurrent + gates);  // counted 3,431,000
  EXPECT_EQ(costs[8].bytes_read, 4 * gates + input);  // the input's gradient
  EXPECT_EQ(costs[9].bytes_read, 2 * 4 * gates);      // both biases
  EXPECT_EQ(costs[10].bytes_read, gates + state + recurrent);
  EXPECT_EQ(costs[11].bytes_read, 3 * (gates + state) + recurrent);
  EXPECT_EQ(costs[12].bytes_read, 4 * gates + x + input);
}

TEST(Recurrent, NothingIsClaimedOfKernelsThatDoNotFit) {
  const auto loaded = test::load_events(test::join(
      {test::event({.name = "aten::_cudnn_rnn", .ts = 5, .dur = 900, .args = kForward}),
       test::launch(1, kProduct, "[36, 1, 1]"), test::launch(2, "void RNN_blockPersist_fp_LSTM<float>(x)", "[8, 1, 1]")}));
  const CostModel costs(*loaded.model, {});
  EXPECT_FALSE(costs[0].bytes_read);
  EXPECT_FALSE(costs[1].bytes_read);
}

}  // namespace
}  // namespace ridge
