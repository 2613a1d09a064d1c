// Bytes of single calls whose result is not shaped or typed like the input, or is more than one, worked out by hand beside
// each.
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "unit/cost/one_call.h"

namespace ridge {
namespace {

using test::cost_of_one;
using test::OneCall;

TEST(CallResults, ResultsThatHaveAnotherTypeOrShapeThanTheInputs) {
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
      {{"aten::angle", "[[1000]]", R"(["int"])"}, 4e3},
      {{"aten::angle", "[[1000],[0]]", R"(["c10::complex<float>","float"])"}, 8e3},
      {{"aten::abs", "[[1000],[1000]]", R"(["c10::complex<float>","float"])"}, 8e3},  // a copy takes the real parts
      {{"aten::abs", "[[1000],[1000]]", R"(["float","float"])"}, 4e3},
      {{"aten::isnan", "[[1000],[1000]]", R"(["c10::complex<float>","bool"])"}, 1e3},
      {{"aten::frexp", "[[1000]]", R"(["double"])"}, 12e3},
      {{"aten::frexp", "[[1000],[1000],[1000]]", R"(["c10::Half","c10::Half","int"])"}, 6e3},
      {{"aten::_prelu_kernel_backward", "[[10,100],[10,100],[1,1]]", R"(["float","float","float"])"}, 8e3},
      {{"aten::native_dropout", "[[1000],[],[]]", R"(["c10::Half","Scalar","Scalar"])", R"(["","0.5","True"])"}, 3e3},
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

TEST(CallResults, ANormByRowsWritesTheirStatistics) {
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
  EXPECT_EQ(cost_of_one(halves).estimate, Estimate::exact);
}

TEST(CallResults, ANormOfRowsOfUnknownLengthCountsNoStatistics) {
  OneCall call = {.op = "aten::native_layer_norm",
                  .dims = "[[62500,16],[],[],[],[]]",
                  .types = R"(["float","ScalarList","","","Scalar"])",
                  .kernel = "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float, false>(x)"};
  const LaunchCost whole = cost_of_one(call);
  EXPECT_EQ(whole.bytes_read, 4e6);
  EXPECT_EQ(whole.bytes_written, 4e6);
  EXPECT_EQ(whole.estimate, Estimate::ambiguous);
  call.kernel = "void at::native::(anonymous namespace)::RowwiseMomentsCUDAKernel<float, float>(x)";
  EXPECT_EQ(cost_of_one(call).bytes_written, std::nullopt);
  // A weight is as long as a row.
  call.kernel = "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float, false>(x)";
  call.dims = "[[62500,16],[],[16],[],[]]";
  call.types = R"(["float","ScalarList","float","","Scalar"])";
  EXPECT_EQ(cost_of_one(call).bytes_written, 4.0 * (62500 * 16 + 2 * 62500));
  EXPECT_EQ(cost_of_one(call).estimate, Estimate::exact);
  // Rows of one value each.
  call.dims = "[[62500,1],[],[],[],[]]";
  call.types = R"(["float","ScalarList","","","Scalar"])";
  call.constants = R"(["","[1]","","","1e-5"])";
  EXPECT_EQ(cost_of_one(call).bytes_written, 4.0 * 3 * 62500);
  EXPECT_EQ(cost_of_one(call).estimate, Estimate::exact);
}

TEST(CallResults, WhatReductionsWrite) {
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
      {{"aten::max", "[[1000,500],[],[]]", R"(["float","Scalar","Scalar"])", R"(["","1","False"])"}, 12e3},
      {{"aten::argmax", "[[1000,500],[],[]]", R"(["c10::Half","Scalar","Scalar"])", R"(["","1","False"])"}, 8e3},
      {{"aten::linalg_vector_norm", "[[1000,500],[],[],[],[]]", R"(["c10::complex<float>","Scalar","ScalarList","Scalar",""])",
        R"(["","2","[1]","False",""])"},
       4e3},
  };
  for (const Written& c : cases) {
    OneCall call = c.call;
    call.kernel = "void at::native::reduce_kernel<512, 1, x>(y)";
    EXPECT_EQ(cost_of_one(call).bytes_written, c.bytes) << call.op << call.constants;
  }
}

TEST(CallResults, AReductionOverUnknownDimensionsIsNotExact) {
  OneCall call = {.op = "aten::amax",
                  .dims = "[[1000,500],[],[]]",
                  .types = R"(["float","ScalarList","Scalar"])",
                  .kernel = "void at::native::reduce_kernel<512, 1, x>(y)"};
  EXPECT_EQ(cost_of_one(call).estimate, Estimate::ambiguous);
  EXPECT_EQ(cost_of_one(call).bytes_read, 2e6);
  call.constants = R"(["","[]","False"])";
  EXPECT_EQ(cost_of_one(call).estimate, Estimate::exact);
  EXPECT_EQ(cost_of_one(call).bytes_written, 4);
  call = {"aten::sum", "[[1000,500],[]]", R"(["float",""])", "[]", "void at::native::reduce_kernel<512, 1, x>(y)"};
  EXPECT_EQ(cost_of_one(call).estimate, Estimate::exact);  // has no dimensions to tell
}

// Counted on an H200: cummax of float32 writes three times what it reads, the cumsum of int32 reads and writes int64, in place
// int32.
TEST(CallResults, ScansOfAnotherTypeAndWithPositions) {
  constexpr std::string_view kScan = "void at::native::tensor_kernel_scan_innermost_dim<x>(y)";
  const auto cost = [&](std::string_view op, std::string_view type, std::string_view dtype = "") {
    const std::string types = "[\"" + std::string(type) + R"(","Scalar",""])";
    const std::string constants = R"(["","1",")" + std::string(dtype) + "\"]";
    return cost_of_one({.op = op, .dims = "[[1000,1000],[],[]]", .types = types, .constants = constants, .kernel = kScan});
  };
  for (const std::string_view op : {"aten::cummax", "aten::cummin"}) {
    EXPECT_EQ(cost(op, "float").bytes_read, 4e6) << op;
    EXPECT_EQ(cost(op, "float").bytes_written, 12e6) << op;
  }
  EXPECT_EQ(cost("aten::cumsum", "int").bytes_read, 8e6);
  EXPECT_EQ(cost("aten::cumsum", "int").bytes_written, 8e6);
  EXPECT_EQ(cost("aten::cumsum_", "int").bytes_read, 4e6);
  EXPECT_EQ(cost("aten::cumsum_", "int").bytes_written, 4e6);
  EXPECT_EQ(cost("aten::cumsum", "c10::Half", "6").bytes_read, 4e6);  // a copy as float32
  EXPECT_EQ(cost("aten::cumsum", "c10::Half").bytes_read, 2e6);
}

TEST(CallResults, WhatIsChosenOfEachRowIsAValueAndItsPosition) {
  const auto cost = [](std::string_view op, std::string_view constants) {
    return cost_of_one({.op = op,
                        .dims = "[[1000,500],[],[],[],[]]",
                        .types = R"(["float","Scalar","Scalar","Scalar","Scalar"])",
                        .constants = constants});
  };
  EXPECT_EQ(cost("aten::kthvalue", R"(["","400","-1","False"])").bytes_written, 12.0 * 1000);
  EXPECT_EQ(cost("aten::kthvalue", R"(["","400","0","False"])").bytes_written, 12.0 * 500);
  EXPECT_EQ(cost("aten::median", R"(["","1","False"])").bytes_written, 12.0 * 1000);
  EXPECT_EQ(cost("aten::nanmedian", R"(["","0","False"])").bytes_written, 12.0 * 500);
  EXPECT_EQ(cost("aten::topk", R"(["","20","-1","True","True"])").bytes_written, 12.0 * 1000 * 20);
  EXPECT_EQ(cost("aten::topk", R"(["","20","0","True","True"])").bytes_written, 12.0 * 500 * 20);
  EXPECT_EQ(cost("aten::topk", "[]").bytes_written, std::nullopt);  // how many, is not told
  EXPECT_EQ(cost("aten::topk", "[]").bytes_read, 2e6);
  EXPECT_EQ(cost("aten::topk", "[]").estimate, Estimate::ambiguous);
}

TEST(CallResults, PositionsMayBeAskedForAsInt32) {
  OneCall call = {.op = "aten::bucketize",
                  .dims = "[[1000],[10],[],[]]",
                  .types = R"(["float","float","Scalar","Scalar"])",
                  .constants = R"(["","","True","False"])"};
  EXPECT_EQ(cost_of_one(call).bytes_written, 4e3);
  call.constants = R"(["","","False","False"])";
  EXPECT_EQ(cost_of_one(call).bytes_written, 8e3);
}

// 4000 bags of 64 values, 40,000 indices.
TEST(CallResults, BagsAreWrittenWithTheirSizesAndMembers) {
  const auto written = [](std::string_view constants) {
    return cost_of_one({.op = "aten::_embedding_bag",
                        .dims = "[[5000,64],[40000],[4000],[],[],[],[],[],[]]",
                        .types = R"(["float","long int","long int","Scalar","Scalar","Scalar","","Scalar","Scalar"])",
                        .constants = constants})
        .bytes_written;
  };
  constexpr double kRows = 4.0 * 4000 * 64, kNames = 8.0 * (4000 + 40000);
  EXPECT_EQ(written(R"(["","","","False","1","False","","False","-1"])"), kRows + kNames);
  EXPECT_EQ(written(R"(["","","","False","2","False","","False","-1"])"), kRows + kNames + 8.0 * 4000 * 64);
  EXPECT_EQ(written(R"(["","","","False","1","False","","True","-1"])"), (kRows + kNames) - (4.0 * 64 + 8));
}

TEST(CallResults, APoolOfUnknownSizeWritesAnUnknownNumber) {
  const OneCall call = {.op = "aten::max_pool2d_with_indices",
                        .dims = "[[8,16,32,32],[],[],[],[],[]]",
                        .types = R"(["float","ScalarList","ScalarList","ScalarList","ScalarList","Scalar"])"};
  EXPECT_EQ(cost_of_one(call).bytes_read, 4.0 * 8 * 16 * 32 * 32);
  EXPECT_EQ(cost_of_one(call).bytes_written, std::nullopt);
}

TEST(CallResults, BothTrianglesKeepTheDiagonal) {
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

TEST(CallResults, AGroupedTransposedConvolutionHasTheChannelsOfAllGroups) {
  constexpr std::string_view kTypes = R"(["float","float","ScalarList","ScalarList","ScalarList","ScalarList","Scalar"])";
  const auto written = [&](std::string_view groups) {
    const std::string constants = R"(["","","[1, 1]","[0, 0]","[2, 2]","[1, 1]",")" + std::string(groups) + "\"]";
    return cost_of_one({.op = "aten::cudnn_convolution_transpose",
                        .dims = "[[4,64,28,28],[64,16,4,4],[],[],[],[],[]]",
                        .types = kTypes,
                        .constants = constants,
                        .kernel = "sm90_xmma_dgrad_implicit_gemm"})
        .bytes_written;
  };
  EXPECT_EQ(written("1"), 4.0 * 4 * 16 * 56 * 56);
  EXPECT_EQ(written("2"), 4.0 * 4 * 32 * 56 * 56);
}

}  // namespace
}  // namespace ridge
