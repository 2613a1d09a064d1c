// Launches of generated kernels written by hand, and what they must read and write, worked out beside each.
#include "cost/triton/triton_cost.h"

#include <gtest/gtest.h>

#include <limits>

#include "unit/cost/hand_made_triton.h"

namespace ridge {
namespace {

using test::kMi;
using Launch = test::TritonCall;

TEST(TritonCost, PointwiseReadsItsInputsAndWritesItsOutput) {
  const LaunchCost cost = Launch{.op = "triton_poi_fused_add_cos_sin_0",
                                 .dims = "[[8192,8192],[8192,8192],[8192,8192],[]]",
                                 .types = R"(["float","float","float","Scalar"])",
                                 .concrete = R"(["","","","67108864"])"}
                              .cost();
  EXPECT_EQ(cost.bytes_read, 512 * kMi);
  EXPECT_EQ(cost.bytes_written, 256 * kMi);
  EXPECT_EQ(cost.flops, 0);
  EXPECT_EQ(cost.flops_pointwise, 3 * 64 * kMi);
  EXPECT_EQ(cost.dtype, DType::f32);
  EXPECT_EQ(cost.estimate, Estimate::shapes);
}

TEST(TritonCost, MixedTypesCountAtTheirOwnSize) {
  const LaunchCost cost = Launch{.op = "triton_poi_fused__to_copy_mul_0",
                                 .dims = "[[1024,1024],[1024,1024],[]]",
                                 .types = R"(["float","c10::BFloat16","Scalar"])",
                                 .concrete = R"(["","","1048576"])"}
                              .cost();
  EXPECT_EQ(cost.bytes_read, 4 * kMi);
  EXPECT_EQ(cost.bytes_written, 2 * kMi);
}

// Inductor counts an in_out pointer twice: that tells f(x) in place from f(x) into another tensor.
TEST(TritonCost, CountedBytesTellInOutPointers) {
  Launch launch{.op = "triton_poi_fused_add_0",
                .dims = "[[1024,1024],[1024,1024],[]]",
                .types = R"(["float","float","Scalar"])",
                .concrete = R"(["","","1048576"])"};
  launch.num_gb = 8 * kMi / 1e9;
  EXPECT_EQ(launch.cost().bytes_read, 4 * kMi);
  EXPECT_EQ(launch.cost().bytes_written, 4 * kMi);
  launch.num_gb = 12 * kMi / 1e9;
  EXPECT_EQ(launch.cost().bytes_read, 8 * kMi);
  EXPECT_EQ(launch.cost().bytes_written, 4 * kMi);
}

// relu(bn(x)) in place: the last pointer is too small to be the output, so the first is written.
TEST(TritonCost, SmallLastPointerMeansInPlace) {
  const LaunchCost cost = Launch{.op = "triton_poi_fused__native_batch_norm_legit_no_training_relu_2",
                                 .dims = "[[16,64,56,56],[64],[64],[64],[64],[]]",
                                 .types = R"(["float","float","float","float","float","Scalar"])",
                                 .concrete = R"(["","","","","","3211264"])"}
                              .cost();
  EXPECT_EQ(cost.bytes_read, 3211264 * 4 + 4 * 64 * 4);
  EXPECT_EQ(cost.bytes_written, 3211264 * 4);
}

// A gradient formula needs the gradient and what was saved: two tensors of that size cannot be one input and one output.
TEST(TritonCost, BackwardFormulasTakeTwoTensors) {
  const LaunchCost cost = Launch{.op = "triton_poi_fused_gelu_gelu_backward_0",
                                 .dims = "[[1024,2048],[1024,2048],[]]",
                                 .types = R"(["c10::BFloat16","c10::BFloat16","Scalar"])",
                                 .concrete = R"(["","","2097152"])"}
                              .cost();
  EXPECT_EQ(cost.bytes_read, 2 * 4 * kMi);
  EXPECT_EQ(cost.bytes_written, 4 * kMi);
  EXPECT_EQ(cost.estimate, Estimate::ambiguous);
}

TEST(TritonCost, OnePointerIsFilledOrUpdated) {
  Launch launch{.op = "triton_poi_fused_zeros_6",
                .dims = "[[256,768],[]]",
                .types = R"(["c10::Half","Scalar"])",
                .concrete = R"(["","196608"])"};
  EXPECT_EQ(launch.cost().bytes_read, 0);
  EXPECT_EQ(launch.cost().bytes_written, 196608 * 2);
  launch.op = "triton_poi_fused_relu_1";
  EXPECT_EQ(launch.cost().bytes_read, 196608 * 2);
  EXPECT_EQ(launch.cost().bytes_written, 196608 * 2);
}

TEST(TritonCost, ReductionWritesWhatItLeaves) {
  const LaunchCost cost = Launch{.op = "triton_red_fused_sum_0",
                                 .dims = "[[8192,8192],[8192,16],[],[]]",
                                 .types = R"(["float","float","Scalar","Scalar"])",
                                 .concrete = R"(["","","131072","512"])",
                                 .strides = "[[8192,1],[1,8192],[],[]]",
                                 .kwargs = "XBLOCK=64,R0_BLOCK=8"}
                              .cost();
  EXPECT_EQ(cost.bytes_read, 256 * kMi);
  EXPECT_EQ(cost.bytes_written, 131072 * 4);
}

// Layer norm over a square tensor: the weights are as long as what the reduction leaves, and still inputs.
TEST(TritonCost, WeightsOfANormAreInputs) {
  const LaunchCost cost = Launch{.op = "triton_red_fused_native_layer_norm_relu_0",
                                 .dims = "[[8192,8192],[8192],[8192],[8192,8192],[],[]]",
                                 .types = R"(["float","float","float","float","Scalar","Scalar"])",
                                 .concrete = R"(["","","","","8192","8192"])",
                                 .kwargs = "XBLOCK=1,R0_BLOCK=4096"}
                              .cost();
  EXPECT_EQ(cost.bytes_read, 256 * kMi + 2 * 32768);
  EXPECT_EQ(cost.bytes_written, 256 * kMi);
}

// x[:, :n] and x[:, ::2] look the same: the part that the kernel has steps for, flagged.
TEST(TritonCost, PartOfALargerTensorIsAmbiguous) {
  const LaunchCost cost = Launch{.op = "triton_poi_fused_mul_slice_0",
                                 .dims = "[[8192,8192],[8192,4096],[]]",
                                 .types = R"(["float","float","Scalar"])",
                                 .concrete = R"(["","","33554432"])"}
                              .cost();
  EXPECT_EQ(cost.bytes_read, 128 * kMi);
  EXPECT_EQ(cost.estimate, Estimate::ambiguous);
}

TEST(TritonCost, PoolingReadsAllOfItsLargerInput) {
  const LaunchCost cost = Launch{.op = "triton_poi_fused_max_pool2d_with_indices_13",
                                 .dims = "[[5,64,112,112],[5,64,56,56],[5,64,56,56],[]]",
                                 .types = R"(["float","float","signed char","Scalar"])",
                                 .concrete = R"(["","","","1003520"])",
                                 .kwargs = "XBLOCK=512"}
                              .cost();
  EXPECT_EQ(cost.bytes_read, 4014080.0 * 4);
}

// 4096 lookups in 32000 rows: 32000 (1 - exp(-0.128)) = 3844.6 different rows are to be expected.
TEST(TritonCost, EmbeddingReadsRowsNotTheTable) {
  const LaunchCost cost = Launch{.op = "triton_poi_fused_embedding_0",
                                 .dims = "[[4,1024],[32000,1024],[4,1024,1024],[]]",
                                 .types = R"(["long int","float","float","Scalar"])",
                                 .concrete = R"(["","","","4194304"])"}
                              .cost();
  ASSERT_TRUE(cost.bytes_read);
  EXPECT_NEAR(*cost.bytes_read, 32768 + 3844.6 * 4096, 4096);
  EXPECT_EQ(cost.bytes_written, 16 * kMi);
}

// Lists: 8192 blocks of 1024 cover eight tensors of 1 Mi elements; the other sixteen are inputs.
TEST(TritonCost, ForeachWritesWhatTheGridCovers) {
  std::string dims = "[", types = "[", concrete = "[";
  for (int i = 0; i < 24; ++i) {
    dims += i == 0 ? "[1024,1024]" : ",[1024,1024]";
    types += i == 0 ? R"("float")" : R"(,"float")";
    concrete += i == 0 ? R"("")" : R"(,"")";
  }
  const LaunchCost cost = Launch{.op = "triton_for_fused_0",
                                 .dims = dims + "]",
                                 .types = types + "]",
                                 .concrete = concrete + "]",
                                 .kwargs = "",
                                 .grid = Dim3{8192, 1, 1}}
                              .cost();
  EXPECT_EQ(cost.bytes_read, 16 * 4 * kMi);
  EXPECT_EQ(cost.bytes_written, 8 * 4 * kMi);
  EXPECT_EQ(cost.estimate, Estimate::ambiguous);
}

// kernel_flop is not believed on kernels that are no template: a layout copy carries the convolution's.
TEST(TritonCost, LayoutCopyOfAConvolutionHasNoFlops) {
  const LaunchCost cost = Launch{.op = "triton_poi_fused_convolution_2",
                                 .dims = "[[32,64,112,112],[32,64,112,112],[],[]]",
                                 .types = R"(["float","float","Scalar","Scalar"])",
                                 .concrete = R"(["","","2048","12544"])",
                                 .strides = "[[802816,1,7168,64],[802816,12544,112,1],[],[]]",
                                 .kwargs = "XBLOCK=256,YBLOCK=16",
                                 .flop = 7552892928.0}
                              .cost();
  EXPECT_EQ(cost.flops, 0);
  EXPECT_EQ(cost.bytes_read, 25690112.0 * 4);
  EXPECT_EQ(cost.bytes_written, 25690112.0 * 4);
}

TEST(TritonCost, Templates) {
  const std::string half3 = R"(["c10::Half","c10::Half","c10::Half","Scalar","Scalar","Scalar"])";
  const std::string half4 = R"(["c10::Half","c10::Half","c10::Half","c10::Half","Scalar","Scalar","Scalar"])";
  const std::string grid3 = R"(["","","","12","1","1"])", grid4 = R"(["","","","","12","1","1"])";
  const auto flops = [](const std::string& op, const std::string& dims, const std::string& types, const std::string& concrete) {
    return Launch{.op = op, .dims = dims, .types = types, .concrete = concrete, .kwargs = ""}.cost().flops;
  };
  EXPECT_EQ(flops("triton_tem_fused_mm_5", "[[256,512],[512,768],[256,768],[],[],[]]", half3, grid3), 2.0 * 256 * 512 * 768);
  EXPECT_EQ(flops("triton_tem_fused_addmm_7", "[[256,768],[256,512],[512,768],[256,768],[],[],[]]", half4, grid4),
            2.0 * 256 * 512 * 768);
  EXPECT_EQ(flops("triton_tem_fused_bmm_10", "[[8,256,512],[8,512,768],[8,256,768],[],[],[]]", half3, grid3),
            2.0 * 8 * 256 * 512 * 768);
  EXPECT_EQ(flops("triton_tem_fused_baddbmm_12", "[[1,256,768],[8,256,512],[8,512,768],[8,256,768],[],[],[]]", half4, grid4),
            2.0 * 8 * 256 * 512 * 768);
  // 12 x 52 x 52 outputs of 3 x 5 x 5 multiply-adds.
  EXPECT_EQ(flops("triton_tem_fused_convolution_2", "[[1,3,56,56],[12,3,5,5],[1,12,52,52],[],[],[]]", half3, grid3),
            2.0 * 12 * 52 * 52 * 75);
  // Depthwise: one input channel for each of the 32 outputs.
  EXPECT_EQ(flops("triton_tem_fused_convolution_3", "[[2,32,30,30],[32,1,3,3],[2,32,28,28],[],[],[]]", half3, grid3),
            2.0 * 2 * 32 * 28 * 28 * 9);
  // a @ a: the operand is passed once.
  EXPECT_EQ(flops("triton_tem_fused_mm_0", "[[512,512],[512,512],[],[],[]]", R"(["float","float","Scalar","Scalar","Scalar"])",
                  R"(["","","4","1","1"])"),
            2.0 * 512 * 512 * 512);
  // An output in another view, and a bias for the epilogue behind the operands.
  EXPECT_EQ(flops("triton_tem_fused_mm_relu_view_1", "[[256,512],[512,768],[768],[4,64,768],[],[],[]]", half4, grid4),
            2.0 * 256 * 512 * 768);
}

TEST(TritonCost, TemplateTrafficIsEachOperandOnce) {
  const LaunchCost cost = Launch{.op = "triton_tem_fused_mm_0",
                                 .dims = "[[8192,4096],[4096,1024],[8192,1024],[],[],[]]",
                                 .types = R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","Scalar","Scalar","Scalar"])",
                                 .concrete = R"(["","","","4096","1","1"])"}
                              .cost();
  EXPECT_EQ(cost.bytes_read, 2.0 * (8192 * 4096 + 4096 * 1024));
  EXPECT_EQ(cost.bytes_written, 2.0 * 8192 * 1024);
  EXPECT_EQ(cost.dtype, DType::bf16);
}

// Operands that no formula fits: Inductor's count, else unknown; never 0.
TEST(TritonCost, TemplateOfUnknownFormTakesTheCountOrNone) {
  Launch launch{.op = "triton_tem_fused_mm_0",
                .dims = "[[256,511],[512,768],[256,768],[],[],[]]",
                .types = R"(["float","float","float","Scalar","Scalar","Scalar"])",
                .concrete = R"(["","","","12","1","1"])"};
  EXPECT_EQ(launch.cost().flops, std::nullopt);
  launch.flop = 12345;
  EXPECT_EQ(launch.cost().flops, 12345);
}

// 2 B H Sq Sk (Dqk + Dv); q, k and v are one tensor here and passed once. The statistics of the rows are written.
TEST(TritonCost, FlexAttention) {
  const LaunchCost cost =
      Launch{.op = "triton_tem_fused_flex_attention_2",
             .dims = "[[2,8,1024,64],[2,8,1024],[2,8,1024],[1,1,1],[1,1,1,1],[0],[0],[2,8,1024,64],[],[],[]]",
             .types =
                 R"(["c10::BFloat16","float","float","int","int","float","float","c10::BFloat16","Scalar","Scalar","Scalar"])",
             .concrete = R"(["","","","","","","","","8","2","8"])",
             .kwargs = ""}
          .cost();
  EXPECT_EQ(cost.flops, 2.0 * 2 * 8 * 1024 * 1024 * (64 + 64));
  EXPECT_EQ(cost.bytes_read, 2 * kMi + 8);
  EXPECT_EQ(cost.bytes_written, 2 * kMi + 2 * 65536);
}

TEST(TritonCost, NothingIsKnownWithoutShapes) {
  const LaunchCost cost = Launch{.op = "triton_poi_fused_add_0", .dims = "", .types = "", .concrete = ""}.cost();
  EXPECT_EQ(cost.bytes_read, std::nullopt);
  EXPECT_EQ(cost.bytes_written, std::nullopt);
  EXPECT_EQ(cost.flops, std::nullopt);
  EXPECT_EQ(cost.estimate, Estimate::none);
  EXPECT_EQ(triton_cost({}).bytes_read, std::nullopt);
}

TEST(TritonCost, UserKernelUnderAForeignOpIsUnknown) {
  const OpCall call = parse_op_call("mylib::scale", "[[1024]]", R"(["float"])", "[]", R"([""])");
  KernelIdentity identity;
  identity.category = Category::triton_user;
  TritonLaunch launch;
  launch.kernel = "scale_kernel";
  launch.call = &call;
  launch.identity = &identity;
  EXPECT_EQ(triton_cost(launch).bytes_read, std::nullopt);
  EXPECT_EQ(triton_cost(launch).flops, std::nullopt);
}

// With the source, what is loaded is known: every other column still takes every sector.
TEST(TritonCost, SourceTellsStridedFromContiguous) {
  Launch launch{.op = "triton_poi_fused_mul_slice_0",
                .dims = "[[8192,8192],[8192,4096],[]]",
                .types = R"(["float","float","Scalar"])",
                .concrete = R"(["","","33554432"])"};
  const std::string before = R"(
@triton.jit
def triton_poi_fused_mul_slice_0(in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 33554432
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    x0 = (xindex % 4096)
    x1 = xindex // 4096
    x2 = xindex
)";
  const std::string after = R"(
    tmp1 = 2.0
    tmp2 = tmp0 * tmp1
    tl.store(out_ptr0 + (x2), tmp2, None)
)";
  launch.source = before + "    tmp0 = tl.load(in_ptr0 + (2*x0 + 8192*x1), None, eviction_policy='evict_last')" + after;
  EXPECT_NEAR(launch.cost().bytes_read.value(), 256 * kMi, 64);
  EXPECT_EQ(launch.cost().bytes_written, 128 * kMi);
  EXPECT_EQ(launch.cost().estimate, Estimate::source);
  launch.source = before + "    tmp0 = tl.load(in_ptr0 + (x0 + 8192*x1), None)" + after;
  EXPECT_EQ(launch.cost().bytes_read, 128 * kMi);
}

TEST(TritonCost, HostileNumbersGiveNoInfinities) {
  const std::string huge = std::to_string(std::numeric_limits<std::int64_t>::max());
  const std::string dims = "[[" + huge + "," + huge + "," + huge + "],[" + huge + "],[-1],[0],[],[]]";
  for (const char* op : {"triton_poi_fused_add_0", "triton_red_fused_sum_0", "triton_tem_fused_mm_0", "triton_for_fused_0",
                         "triton_tem_fused_flex_attention_0", "triton_tem_fused_convolution_0", "triton_unk_fused_0"}) {
    for (const std::string& concrete :
         {R"(["","","","",")" + huge + R"(",")" + huge + "\"]", std::string(R"(["","","","","0","-5"])")}) {
      const LaunchCost cost = Launch{.op = op,
                                     .dims = dims,
                                     .types = R"(["float","float","float","float","Scalar","Scalar"])",
                                     .concrete = concrete,
                                     .num_gb = std::numeric_limits<double>::infinity(),
                                     .grid = Dim3{std::numeric_limits<std::int64_t>::max(), 1, 1}}
                                  .cost();
      for (const auto& figure : {cost.bytes_read, cost.bytes_written, cost.flops, cost.flops_pointwise})
        EXPECT_TRUE(!figure || (*figure >= 0 && *figure < std::numeric_limits<double>::infinity())) << op << *figure;
    }
  }
}

}  // namespace
}  // namespace ridge
