// Recurrent networks of the library: which product of the call a launch does. The counters in comments are dram__bytes_read.sum
// of an H200.
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

// Packed: a bidirectional LSTM of one layer, hidden 128; four steps that 8, 8, 6 and 2 sequences reach: 24 rows of 64 features.
constexpr std::string_view kPackedForward =
    R"("Input Dims": [[24, 64], [[512, 64], [512, 128], [512], [512], [512, 64], [512, 128], [512], [512]], [], [200000], [2, 8, 128], [2, 8, 128], [], [], [], [], [], [], [], [], [], [6488064]], )"
    R"("Input type": ["float", "TensorList", "Scalar", "float", "float", "float", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "ScalarList", "unsigned char"], )"
    R"("Concrete Inputs": ["", "", "4", "", "", "", "2", "128", "0", "1", "False", "0.", "True", "True", "[8, 8, 6, 2]", ""])";

TEST(Recurrent, EachStepOfPackedSequencesTakesThoseThatReachIt) {
  std::string events = test::event({.name = "aten::_cudnn_rnn", .ts = 5, .dur = 900, .args = kPackedForward});
  int n = 0;
  const auto add = [&](std::string_view kernel, std::string_view grid) {
    events = test::join({events, test::launch(++n, kernel, grid)});
  };
  constexpr std::string_view kSplit = "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_64x64_32x6_tn_align4>(x)";
  constexpr std::string_view kCell = "void elemWiseRNNcell<float, float, float, (cudnnRNNMode_t)2>(x)";
  add(kProduct, "[108, 1, 1]");
  add(kProduct, "[108, 1, 1]");
  for (int step = 0; step < 4; ++step) {  // the other direction starts with the two longest
    add(kSplit, "[8, 3, 1]");
    if (step == 0) add("void gemmSN_TN_kernel<float, 128, 16, 2, 4, 10, 11, false>(x)", "[192, 1, 1]");
    if (step > 0) add(kSplit, "[8, 3, 6]");
    if (step == 1) add("void cublasLt::splitKreduce_kernel<32, 16, int, float>(x)", "[48, 2, 1]");
    add(kCell, "[4, 1, 1]");
    add(kCell, "[1, 1, 1]");
  }
  add("void cudnn::dropout_generate_mask<4>(x)", "[528, 1, 1]");
  const auto loaded = test::load_events(events);
  const CostModel costs(*loaded.model, {});
  const double weights = 4.0 * 512 * 128, state = 4.0 * 128, gates = 4.0 * 512;  // of one sequence
  EXPECT_EQ(costs[0].bytes_read, 4.0 * (24 * 64 + 512 * 64));
  EXPECT_EQ(costs[2].bytes_read, weights + 8 * state);
  EXPECT_EQ(costs[3].bytes_read, weights + 2 * state);
  EXPECT_EQ(costs[4].bytes_read, 8 * (2 * gates + state) + 2 * gates);
  EXPECT_EQ(costs[5].bytes_read, 2 * (2 * gates + state) + 2 * gates);
  EXPECT_EQ(costs[7].bytes_read, weights + 6 * state);
  EXPECT_EQ(costs[8].bytes_read, 6 * 6 * gates);  // six parts of six sequences; counted 671,744 of 18 with 1536 gates
  EXPECT_EQ(costs[19].bytes_read, 6488064);
}

constexpr std::string_view kPackedBackward =
    R"("Input Dims": [[24, 64], [[512, 64], [512, 128], [512], [512], [512, 64], [512, 128], [512], [512]], [], [200000], [2, 8, 128], [2, 8, 128], [24, 256], [24, 256], [], [], [], [], [], [], [], [], [], [], [], [], [35641600], []], )"
    R"("Input type": ["float", "TensorList", "Scalar", "float", "float", "float", "float", "float", "", "", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "ScalarList", "", "unsigned char", "ScalarList"], )"
    R"("Concrete Inputs": ["", "", "4", "", "", "", "", "", "", "", "2", "128", "0", "1", "False", "0.", "True", "True", "[8, 8, 6, 2]", "", "", "[True, False, False, True]"])";

TEST(Recurrent, WeightsOfPackedSequencesTakeStepsOfOneSizeTogether) {
  std::string events = test::event({.name = "aten::_cudnn_rnn_backward", .ts = 5, .dur = 900, .args = kPackedBackward});
  int n = 0;
  const auto add = [&](std::string_view kernel) { events = test::join({events, test::launch(++n, kernel, "[96, 1, 1]")}); };
  for (int step = 0; step < 8; ++step) {
    add("void LSTM_elementWise_bp1<float, float, float>(x)");
    add("void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_64x64_32x6_nn_align4>(x)");
  }
  add("sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize64x64x32_cublas");
  add("sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize64x64x32_cublas");
  // States before a step: 8, 8 (whose next steps have 8 and 6 rows), 6 (2). From the end: 2 first, then 4 and 2 that begin.
  const double rows[] = {8, 14, 2, 0, 2, 4, 2, 14, 2, 0};
  for ([[maybe_unused]] const double r : rows)
    add("void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x64_32x6_nt_align4>(x)");
  const auto loaded = test::load_events(events);
  const CostModel costs(*loaded.model, {});
  const double weights = 4.0 * 512 * 128, state = 4.0 * 128, gates = 4.0 * 512;
  EXPECT_EQ(costs[0].bytes_read, 2 * (gates + 5 * state));  // this direction goes back from the end
  EXPECT_EQ(costs[1].bytes_read, weights + 2 * gates);
  EXPECT_EQ(costs[3].bytes_read, weights + 8 * gates);
  EXPECT_EQ(costs[16].bytes_read, 24 * gates + 4.0 * 512 * 64);
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    const double read = rows[i] > 0 ? rows[i] * (gates + state) + weights : 24 * gates + 4.0 * (24 * 64 + 512 * 64);
    EXPECT_EQ(costs[18 + i].bytes_read, read) << i;
  }
}

// Two layers of one direction run side by side in chunks of steps: an LSTM, x [32, 8, 256], hidden 512, two chunks.
TEST(Recurrent, LayersSideBySideCutTheirInputsIntoChunks) {
  std::string args(kForward);
  args.replace(args.find("[32, 4, 256]"), 12, "[32, 8, 256]");
  std::string events = test::event({.name = "aten::_cudnn_rnn", .ts = 5, .dur = 900, .args = args});
  int n = 0;
  const auto add = [&](std::string_view kernel, std::string_view grid) {
    events = test::join({events, test::launch(++n, kernel, grid)});
  };
  constexpr std::string_view kFirst = "sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x64x32_cublas";
  constexpr std::string_view kSecond = "sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32_cublas";
  add(kFirst, "[32, 1, 1]");
  add(kFirst, "[32, 1, 1]");
  add("void cudnn::dropout_apply_mask<float, float, 4>(x)", "[512, 1, 1]");
  add(kSecond, "[16, 1, 1]");
  add(kSecond, "[16, 1, 1]");
  for (int step = 0; step < 16; ++step) add(kProduct, "[36, 1, 1]");
  const auto loaded = test::load_events(events);
  const CostModel costs(*loaded.model, {});
  const double rows = 32 * 8 / 2.0;
  EXPECT_EQ(costs[0].bytes_read, 4.0 * (rows * 256 + 2048 * 256));
  EXPECT_EQ(costs[3].bytes_read, 4.0 * (rows * 512 + 2048 * 512));
  EXPECT_EQ(costs[2].bytes_read, 512 * 128 * (4 + 1.0 / 8));  // a thread for each element, and its bit
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
