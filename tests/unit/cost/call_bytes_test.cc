// Bytes and FLOPs of single calls whose result is not shaped or typed like the input, worked out by hand beside each.
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "cost/cost_model.h"
#include "unit/cost/hand_made_launch.h"

namespace ridge {
namespace {

struct OneCall {
  std::string_view op, dims, types, constants = "[]", kernel = "some_kernel", grid = "[1024, 1, 1]";
};
LaunchCost cost_of_one(const OneCall& call) {
  const std::string args = "\"Input Dims\": " + std::string(call.dims) + ", \"Input type\": " + std::string(call.types) +
                           ", \"Concrete Inputs\": " + std::string(call.constants);
  const auto loaded = test::load_events(
      test::join({test::event({.name = call.op, .ts = 5, .dur = 500, .args = args}), test::launch(1, call.kernel, call.grid)}));
  return CostModel(*loaded.model, {})[0];
}

// 64 sequences of at most 128 tokens one behind the other: every one counts as the longest, since their lengths are not in a trace.
constexpr double kSquares = 64.0 * 2 * 8 * 128 * 128;
constexpr std::string_view kPackedTypes =
    R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "", "int", "int", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar"])";

TEST(CallBytes, PackedSequencesOfEfficientAttentionCountEachForItself) {
  const LaunchCost forward = cost_of_one({.op = "aten::_efficient_attention_forward",
                                          .dims = "[[1,8192,8,64],[1,8192,8,64],[1,8192,8,64],[],[65],[65],[],[],[],[],[]]",
                                          .types = kPackedTypes,
                                          .constants = R"(["","","","","","","128","128","0.","0","True"])",
                                          .kernel = "fmha_cutlassF_bf16_aligned_64x64_rf_sm80(x)"});
  EXPECT_EQ(forward.flops, kSquares * (64 + 64));
  EXPECT_EQ(forward.estimate, Estimate::ambiguous);
  EXPECT_EQ(forward.bytes_read, 3.0 * 8192 * 8 * 64 * 2);
  const LaunchCost backward = cost_of_one(
      {.op = "aten::_efficient_attention_backward",
       .dims = "[[1,8192,8,64],[1,8192,8,64],[1,8192,8,64],[1,8192,8,64],[],[1,8192,8,64],[65],[65],[],[],[64,8,128]]",
       .types =
           R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","c10::BFloat16","","c10::BFloat16","int","int","Scalar","Scalar","float"])",
       .constants = R"(["","","","","","","","","128","128",""])",
       .kernel = "fmha_cutlassB_bf16_aligned_64x64_k64_sm80(x)"});
  EXPECT_EQ(backward.flops, kSquares * (3 * 64 + 2 * 64));
  EXPECT_EQ(backward.estimate, Estimate::ambiguous);
  const LaunchCost dense = cost_of_one({.op = "aten::_efficient_attention_forward",
                                        .dims = "[[64,128,8,64],[64,128,8,64],[64,128,8,64],[],[],[],[],[],[],[],[]]",
                                        .types = R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","","","","","","","",""])",
                                        .constants = R"(["","","","","","","","","0.","0","True"])",
                                        .kernel = "fmha_cutlassF_bf16_aligned_64x64_rf_sm80(x)"});
  EXPECT_EQ(dense.flops, kSquares * (64 + 64));
  EXPECT_EQ(dense.estimate, Estimate::exact);
}

TEST(CallBytes, PackedSequencesOfCudnnAttention) {
  const LaunchCost forward = cost_of_one({.op = "aten::_cudnn_attention_forward",
                                          .dims = "[[8192,8,64],[8192,8,64],[8192,8,64],[],[65],[65],[],[],[],[],[]]",
                                          .types = kPackedTypes,
                                          .constants = R"(["","","","","","","128","128","True","0.","False"])",
                                          .kernel = "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16"});
  EXPECT_EQ(forward.flops, kSquares * (64 + 64));
  EXPECT_EQ(forward.estimate, Estimate::ambiguous);
  const LaunchCost backward = cost_of_one(
      {.op = "aten::_cudnn_attention_backward",
       .dims = "[[8192,8,64],[8192,8,64],[8192,8,64],[8192,8,64],[8192,8,64],[64,8,128,1],[],[],[],[65],[65],[],[],[],[]]",
       .types =
           R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","c10::BFloat16","c10::BFloat16","float","long int","long int","","int","int","Scalar","Scalar","Scalar","Scalar"])",
       .constants = R"(["","","","","","","","","","","","128","128","0.","False"])",
       .kernel = "cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16"});
  EXPECT_EQ(backward.flops, kSquares * (3 * 64 + 2 * 64));
}

// 2 x 4096^3 FLOP in 200 us are 69 % of an H200's 989.4 TFLOP/s in bfloat16, whatever the kernel is called.
TEST(CallBytes, ProductsOfAnyNameAreHeldAgainstTheMatrixPeak) {
  for (const std::string_view kernel :
       {"matmul_kernel_persistent", "_matmul_kernel", "some_kernel", "nvjet_sm90_tst_128x64_64x8_1x2_h_bz_NNT"}) {
    const auto loaded = test::load_events(test::join(
        {test::event({.name = "aten::mm",
                      .ts = 5,
                      .dur = 50,
                      .args = R"("Input Dims": [[4096,4096],[4096,4096]], "Input type": ["c10::BFloat16","c10::BFloat16"])"}),
         test::event({.name = "cudaLaunchKernel", .ts = 10, .dur = 1, .cat = "cuda_runtime", .args = R"("correlation": 1)"}),
         test::event({.name = kernel,
                      .ts = 100,
                      .dur = 200,
                      .cat = "kernel",
                      .args = R"("device": 0, "stream": 7, "correlation": 1)",
                      .tid = 7})}));
    CostOptions options;
    options.device = **find_device("h200");
    EXPECT_NEAR(CostModel(*loaded.model, options).roof(0).pct_peak_flops.value_or(0), 69.455, 0.01) << kernel;
  }
  const LaunchCost conv = cost_of_one({.op = "aten::cudnn_convolution",
                                       .dims = "[[64,256,56,56],[256,256,3,3],[],[],[],[],[],[],[]]",
                                       .types = R"(["c10::BFloat16","c10::BFloat16","","","","","","",""])",
                                       .constants = R"(["","","[1, 1]","[1, 1]","[1, 1]","1","False","False","True"])"});
  EXPECT_TRUE(conv.matrix);
  const LaunchCost add =
      cost_of_one({.op = "aten::add", .dims = "[[1000,1000],[1000,1000],[]]", .types = R"(["float","float","Scalar"])"});
  EXPECT_FALSE(add.matrix);
}

TEST(CallBytes, OfSparseProductsNothingIsClaimed) {
  const LaunchCost cost = cost_of_one(
      {.op = "aten::addmm",
       .dims = "[[100000,64],[100000,100000],[100000,64],[],[]]",
       .types = R"(["float","float","float","Scalar","Scalar"])",
       .constants = R"(["","","","0","1"])",
       .kernel = "void cusparse::csrmm_alg2_kernel<cusparse::CsrMMPolicy<128u>, true, false, long, float, float, float>(x)"});
  EXPECT_EQ(cost.flops, std::nullopt);
  EXPECT_EQ(cost.bytes_read, std::nullopt);
  EXPECT_EQ(cost.bytes_written, std::nullopt);
  EXPECT_EQ(cost.estimate, Estimate::none);
  EXPECT_EQ(cost.dtype, DType::f32);
}

TEST(CallBytes, TheGradientOfAReducedLossIsAsLargeAsItsInput) {
  for (const std::string_view op : {"aten::mse_loss_backward", "aten::smooth_l1_loss_backward", "aten::huber_loss_backward"}) {
    const LaunchCost cost =
        cost_of_one({.op = op, .dims = "[[],[8,16,32,32],[8,16,32,32],[]]", .types = R"(["float","float","float","Scalar"])"});
    EXPECT_EQ(cost.bytes_written, 524288.0) << op;
    EXPECT_EQ(cost.bytes_read, 4 + 2 * 524288.0) << op;
  }
  const LaunchCost weighted = cost_of_one({.op = "aten::binary_cross_entropy_backward",
                                           .dims = "[[],[8,16,32,32],[8,16,32,32],[8,16,32,32],[]]",
                                           .types = R"(["float","float","float","float","Scalar"])"});
  EXPECT_EQ(weighted.bytes_written, 524288.0);
  EXPECT_EQ(weighted.bytes_read, 4 + 3 * 524288.0);
}

TEST(CallBytes, AGroupedProductOverGroupsOfKHasAResultForEach) {
  const LaunchCost cost = cost_of_one({.op = "aten::_grouped_mm",
                                       .dims = "[[2048,32768],[32768,1024],[64],[],[]]",
                                       .types = R"(["c10::BFloat16","c10::BFloat16","int","",""])"});
  EXPECT_EQ(cost.bytes_written, 268435456.0);  // 64 x 2048 x 1024 x 2
  EXPECT_EQ(cost.flops, 2.0 * 2048 * 32768 * 1024);
  const LaunchCost rows = cost_of_one({.op = "aten::_grouped_mm",
                                       .dims = "[[32768,2048],[64,2048,1024],[64],[],[]]",
                                       .types = R"(["c10::BFloat16","c10::BFloat16","int","",""])"});
  EXPECT_EQ(rows.bytes_written, 2.0 * 32768 * 1024);  // the groups share the rows
}

constexpr std::string_view kForeach =
    "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
    "namespace)::TensorListMetadata<2>, "
    "at::native::(anonymous namespace)::";

TEST(CallBytes, AForeachCopyReadsItsSourcesType) {
  struct Types {
    std::string_view functor;
    double read, written;
  };
  for (const Types& t :
       {Types{"CopyFunctor<c10::BFloat16, float, 2, 1, 1>", 4e6, 2e6},
        Types{"CopyFunctor<float, c10::BFloat16, 2, 1, 1>", 2e6, 4e6}, Types{"CopyFunctor<float, float, 2, 1, 1>", 4e6, 4e6}}) {
    const std::string kernel = std::string(kForeach) + std::string(t.functor) + ">(x)";
    const LaunchCost cost = cost_of_one({.op = "aten::_foreach_copy_",
                                         .dims = "[[[1000,1000]],[[1000,1000]],[]]",
                                         .types = R"(["TensorList","TensorList","Scalar"])",
                                         .kernel = kernel,
                                         .grid = "[16, 1, 1]"});
    EXPECT_EQ(cost.bytes_read, t.read) << t.functor;
    EXPECT_EQ(cost.bytes_written, t.written) << t.functor;
  }
}

TEST(CallBytes, ForeachZerosReadNothing) {
  const std::string kernel = std::string(kForeach) + "ZeroFunctor<float, 1, 1, 0>>(x)";
  const LaunchCost cost = cost_of_one({.op = "aten::_foreach_zero_",
                                       .dims = "[[[1000,1000],[1000,1000]]]",
                                       .types = R"(["TensorList"])",
                                       .kernel = kernel,
                                       .grid = "[32, 1, 1]"});
  EXPECT_EQ(cost.bytes_read, 0);
  EXPECT_EQ(cost.bytes_written, 8e6);
}

TEST(CallBytes, ResultsThatHaveAnotherTypeOrShapeThanTheInputs) {
  struct Written {
    OneCall call;
    double bytes;
  };
  const Written cases[] = {
      {{"aten::div", "[[1000],[1000]]", R"(["long int","long int"])"}, 4e3},
      {{"aten::div", "[[1000],[1000],[]]", R"(["long int","long int",""])"}, 8e3},  // rounded
      {{"aten::div", "[[1000],[1000]]", R"(["double","double"])"}, 8e3},
      {{"aten::div_", "[[1000],[1000]]", R"(["float","long int"])"}, 4e3},
      {{"aten::sqrt", "[[1000]]", R"(["long int"])"}, 4e3},
      {{"aten::sigmoid", "[[1000]]", R"(["bool"])"}, 4e3},
      {{"aten::sqrt", "[[1000]]", R"(["c10::BFloat16"])"}, 2e3},
      {{"aten::abs", "[[1000]]", R"(["long int"])"}, 8e3},
      {{"aten::atan2", "[[1000],[1000]]", R"(["int","int"])"}, 4e3},
      {{"aten::eq", "[[1000],[1000]]", R"(["float","float"])"}, 1e3},
      {{"aten::polar", "[[1000],[1000]]", R"(["float","float"])"}, 8e3},
      {{"aten::complex", "[[1000],[1000]]", R"(["double","double"])"}, 16e3},
      {{"aten::glu", "[[10,100],[]]", R"(["float","Scalar"])", R"(["","1"])"}, 2e3},
      {{"aten::glu_backward", "[[10,50],[10,100],[]]", R"(["float","float","Scalar"])", R"(["","","1"])"}, 4e3},
  };
  for (const Written& c : cases) EXPECT_EQ(cost_of_one(c.call).bytes_written, c.bytes) << c.call.op << c.call.types;
  EXPECT_EQ(cost_of_one({"aten::glu_backward", "[[10,50],[10,100],[]]", R"(["float","float","Scalar"])"}).bytes_read, 6e3);
}

TEST(CallBytes, ANormByRowsWritesTheirStatistics) {
  const OneCall call = {
      .op = "aten::native_layer_norm",
      .dims = "[[62500,16],[],[16],[16],[]]",
      .types = R"(["float","ScalarList","float","float","Scalar"])",
      .constants = R"(["","[16]","","","1e-5"])",
      .kernel = "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float, false>(x)"};
  EXPECT_EQ(cost_of_one(call).bytes_written, 4.0 * (62500 * 16 + 2 * 62500));
  OneCall moments = call, apply = call, rms = call, halves = call;
  moments.kernel = "void at::native::(anonymous namespace)::RowwiseMomentsCUDAKernel<float, float>(x)";
  EXPECT_EQ(cost_of_one(moments).bytes_written, 4.0 * 2 * 62500);
  apply.kernel = "void at::native::(anonymous namespace)::LayerNormForwardCUDAKernel<float, float>(x)";
  EXPECT_EQ(cost_of_one(apply).bytes_written, 4.0 * 62500 * 16);
  rms.op = "aten::_fused_rms_norm";
  EXPECT_EQ(cost_of_one(rms).bytes_written, 4.0 * (62500 * 16 + 62500));
  halves.types = R"(["c10::Half","ScalarList","c10::Half","c10::Half","Scalar"])";
  EXPECT_EQ(cost_of_one(halves).bytes_written, 2.0 * 62500 * 16 + 4.0 * 2 * 62500);
}

TEST(CallBytes, WhatReductionsWrite) {
  struct Written {
    OneCall call;
    double bytes;
  };
  constexpr std::string_view kTypes = R"(["int","ScalarList","Scalar",""])";
  const Written cases[] = {
      {{"aten::sum", "[[1000,500],[],[],[]]", kTypes, R"(["","[1]","False",""])"}, 8e3},
      {{"aten::sum", "[[1000,500],[],[],[]]", kTypes, R"(["","[1]","False","3"])"}, 4e3},  // int32 is asked for
      {{"aten::sum", "[[1000,500],[]]", R"(["int",""])", R"(["",""])"}, 8},
      {{"aten::sum", "[[1000,500],[]]", R"(["float","Scalar"])", R"(["","7"])"}, 8},  // all of it, as float64
      {{"aten::sum", "[[1000,500],[],[],[]]", R"(["float","ScalarList","Scalar",""])", R"(["","[1]","False",""])"}, 4e3},
      {{"aten::prod", "[[1000,500],[],[],[]]", R"(["short int","Scalar","Scalar",""])", R"(["","1","False",""])"}, 8e3},
      {{"aten::cumsum", "[[1000,500],[],[]]", R"(["int","Scalar",""])", R"(["","1",""])"}, 4e6},
      {{"aten::var_mean", "[[1000,500],[],[],[]]", R"(["float","ScalarList","Scalar","Scalar"])", R"(["","[1]","1","False"])"},
       8e3},
      {{"aten::amax", "[[1000,500],[],[]]", R"(["int","ScalarList","Scalar"])", R"(["","[1]","False"])"}, 4e3},
  };
  for (const Written& c : cases) {
    OneCall call = c.call;
    call.kernel = "void at::native::reduce_kernel<512, 1, x>(y)";
    EXPECT_EQ(cost_of_one(call).bytes_written, c.bytes) << call.op << call.constants;
  }
}

TEST(CallBytes, AReducedLossWritesItselfAndItsWeight) {
  OneCall call = {.op = "aten::nll_loss_forward",
                  .dims = "[[4096,1000],[4096],[],[],[]]",
                  .types = R"(["float","long int","","Scalar","Scalar"])",
                  .constants = R"(["","","","1","-100"])"};
  EXPECT_EQ(cost_of_one(call).bytes_written, 8);
  call.constants = R"(["","","","0","-100"])";
  EXPECT_EQ(cost_of_one(call).bytes_written, 4.0 * 4096);
}

TEST(CallBytes, BothTrianglesKeepTheDiagonal) {
  const auto read = [](std::string_view op, std::string_view dims, std::string_view constants) {
    return cost_of_one({.op = op, .dims = dims, .types = R"(["float","Scalar"])", .constants = constants}).bytes_read;
  };
  EXPECT_EQ(read("aten::triu", "[[1000,10],[]]", R"(["","0"])"), 220);        // 10 + 9 + .. + 1
  EXPECT_EQ(read("aten::triu", "[[1000,1000],[]]", R"(["","0"])"), 2002000);  // 1000 x 1001 / 2
  EXPECT_EQ(read("aten::tril", "[[1000,1000],[]]", R"(["","0"])"), 2002000);
  EXPECT_EQ(read("aten::triu", "[[1000,1000],[]]", R"(["","1"])"), 1998000);  // 1000 x 999 / 2
  EXPECT_EQ(read("aten::triu", "[[3,3],[]]", R"(["","-1"])"), 4 * 8);
  EXPECT_EQ(read("aten::triu", "[[3,3],[]]", R"(["","-9"])"), 4 * 9);
  EXPECT_EQ(read("aten::triu", "[[3,3],[]]", R"(["","9"])"), 0);
}

}  // namespace
}  // namespace ridge
