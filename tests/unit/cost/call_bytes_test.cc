// Bytes and FLOPs of single calls of attention, products, losses and foreach ops, worked out by hand beside each.
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "cost/cost_model.h"
#include "unit/cost/one_call.h"

namespace ridge {
namespace {

using test::cost_of_one;
using test::OneCall;

// 64 sequences of at most 128 tokens one behind the other: every one counts as the longest, since their lengths are not in a
// trace.
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

// A square of all 8192 tokens would have 64 times the FLOPs of 64 sequences of 128.
TEST(CallBytes, PackedSequencesOfUnknownLengthClaimNoFlops) {
  const OneCall efficient = {.op = "aten::_efficient_attention_forward",
                             .dims = "[[1,8192,8,64],[1,8192,8,64],[1,8192,8,64],[],[65],[65],[],[],[],[],[]]",
                             .types = kPackedTypes,
                             .kernel = "fmha_cutlassF_bf16_aligned_64x64_rf_sm80(x)"};
  const OneCall flash = {
      .op = "aten::_flash_attention_forward",
      .dims = "[[8192,8,64],[8192,8,64],[8192,8,64],[65],[65],[],[],[],[]]",
      .types = R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","int","int","Scalar","Scalar","Scalar","Scalar"])",
      .constants = R"(["","","","","","","","0.","True"])",
      .kernel = "void pytorch_flash::flash_fwd_kernel<x>(y)"};
  OneCall without_ends = flash;
  without_ends.dims = "[[8192,8,64],[8192,8,64],[8192,8,64],[],[],[],[],[],[]]";
  without_ends.types = R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","","","Scalar","Scalar","Scalar","Scalar"])";
  for (const OneCall& call : {efficient, flash, without_ends}) {
    const LaunchCost cost = cost_of_one(call);
    EXPECT_EQ(cost.flops, std::nullopt) << call.op;
    EXPECT_EQ(cost.flops_causal, std::nullopt) << call.op;
    EXPECT_EQ(cost.bytes_read, 3.0 * 8192 * 8 * 64 * 2) << call.op;
    EXPECT_EQ(cost.bytes_written, 8192.0 * 8 * 64 * 2 + 8192.0 * 8 * 4) << call.op;
    EXPECT_EQ(cost.estimate, Estimate::ambiguous) << call.op;
  }
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

TEST(CallBytes, AReducedLossWritesItselfAndItsWeight) {
  OneCall call = {.op = "aten::nll_loss_forward",
                  .dims = "[[4096,1000],[4096],[],[],[]]",
                  .types = R"(["float","long int","","Scalar","Scalar"])",
                  .constants = R"(["","","","1","-100"])"};
  EXPECT_EQ(cost_of_one(call).bytes_written, 8);
  call.constants = R"(["","","","0","-100"])";
  EXPECT_EQ(cost_of_one(call).bytes_written, 4.0 * 4096);
  EXPECT_EQ(cost_of_one(call).estimate, Estimate::exact);
}

TEST(CallBytes, WhetherALossIsReducedItsKernelTellsToo) {
  OneCall call = {.op = "aten::nll_loss_forward",
                  .dims = "[[4096,1000],[4096],[],[],[]]",
                  .types = R"(["float","long int","","Scalar","Scalar"])"};
  EXPECT_EQ(cost_of_one(call).estimate, Estimate::ambiguous);
  call.kernel = "void at::native::(anonymous namespace)::nll_loss_forward_no_reduce_cuda_kernel<float, long>(x)";
  EXPECT_EQ(cost_of_one(call).bytes_written, 4.0 * 4096);
  EXPECT_EQ(cost_of_one(call).estimate, Estimate::exact);
  call.kernel = "void at::native::(anonymous namespace)::nll_loss_forward_reduce_cuda_kernel_2d<float, float, long>(x)";
  EXPECT_EQ(cost_of_one(call).bytes_written, 8);
  EXPECT_EQ(cost_of_one(call).estimate, Estimate::exact);
  call.op = "aten::nll_loss2d_forward";
  call.dims = "[[4,1000,32,32],[4,32,32],[],[],[]]";
  call.kernel = "void at::native::(anonymous namespace)::nll_loss2d_forward_no_reduce_kernel<float>(x)";
  EXPECT_EQ(cost_of_one(call).bytes_written, 4.0 * 4096);
}

TEST(CallBytes, ProductsWriteTheTypeThatIsAskedFor) {
  constexpr std::string_view kHalves = R"(["c10::Half","c10::Half","Scalar"])";
  EXPECT_EQ(cost_of_one({"aten::mm", "[[64,32],[32,16],[]]", kHalves, R"(["","","6"])"}).bytes_written, 4.0 * 64 * 16);
  EXPECT_EQ(cost_of_one({"aten::bmm", "[[8,64,32],[8,32,16],[]]", kHalves, R"(["","","6"])"}).bytes_written, 4.0 * 8 * 64 * 16);
  EXPECT_EQ(cost_of_one({"aten::mm", "[[64,32],[32,16]]", R"(["c10::Half","c10::Half"])"}).bytes_written, 2.0 * 64 * 16);
  OneCall call = {.op = "aten::addmm",
                  .dims = "[[64,16],[64,32],[32,16],[],[],[]]",
                  .types = R"(["float","c10::Half","c10::Half","Scalar","Scalar","Scalar"])",
                  .constants = R"(["","","","6","0","1"])"};
  EXPECT_EQ(cost_of_one(call).bytes_written, 4.0 * 64 * 16);
  EXPECT_EQ(cost_of_one(call).bytes_read, 2.0 * (64 * 32 + 32 * 16));  // what is added has the factor 0
  call.op = "aten::_addmm_activation";                                 // (.., beta, alpha, use_gelu)
  call.types = R"(["c10::Half","c10::Half","c10::Half","Scalar","Scalar","Scalar"])";
  call.constants = R"(["","","","1","1","True"])";
  EXPECT_EQ(cost_of_one(call).bytes_written, 2.0 * 64 * 16);
  EXPECT_EQ(cost_of_one({"aten::dot", "[[1000],[1000]]", R"(["float","float"])"}).bytes_written, 4);
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

}  // namespace
}  // namespace ridge
