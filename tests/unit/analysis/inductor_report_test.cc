// Against Inductor's own report: what `python output_code.py -p` printed for the trace that the same run wrote (100 runs of the
// module).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "analysis/categories/categories.h"
#include "analysis/ops/ops.h"
#include "ingest/reader.h"
#include "support/files.h"

namespace ridge {
namespace {

std::string trace_path() {
  for (const std::string& path : test::shared_traces()) {
    if (path.ends_with("/inductor_module_p.json.gz")) return path;
  }
  return "";
}

struct Module {
  Module() : trace(read_trace(trace_path(), {}).value()), model(*trace), scope(model) {}
  std::unique_ptr<Trace> trace;
  Model model;
  Scope scope;
};

struct ReportedKernel {
  std::string_view name;  // its first 120 characters
  double time_ms;         // of one run
  std::int64_t launches;  // of one run
};

constexpr ReportedKernel kReported[] = {
    {"triton_poi_fused__native_batch_norm_legit_no_training_relu_2", 0.035158, 1},
    {"triton_poi_fused__native_batch_norm_legit_no_training_add_relu_6", 0.0207141, 2},
    {"triton_poi_fused__native_batch_norm_legit_no_training_max_pool2d_with_indices_relu_3", 0.0203439, 1},
    {"triton_poi_fused__native_batch_norm_legit_no_training_convolution_relu_19", 0.0174307, 3},
    {"triton_poi_fused__native_batch_norm_legit_no_training_relu_5", 0.0137743, 2},
    {"triton_poi_fused_convolution_0", 0.0127072, 1},
    {"triton_poi_fused__native_batch_norm_legit_no_training_relu_8", 0.0101178, 2},
    {"triton_poi_fused__native_batch_norm_legit_no_training_add_relu_10", 0.00784511, 1},
    {"triton_poi_fused__native_batch_norm_legit_no_training_convolution_relu_14", 0.00758586, 3},
    {"triton_poi_fused__native_batch_norm_legit_no_training_relu_13", 0.00625854, 2},
    {"triton_poi_fused_convolution_4", 0.00604681, 4},
    {"triton_poi_fused__native_batch_norm_legit_no_training_add_relu_11", 0.00578275, 1},
    {"triton_poi_fused__native_batch_norm_legit_no_training_convolution_relu_9", 0.00522943, 3},
    {"triton_poi_fused__native_batch_norm_legit_no_training_add_relu_15", 0.00471362, 1},
    {"triton_poi_fused__native_batch_norm_legit_no_training_relu_18", 0.00458298, 2},
    {"triton_poi_fused__native_batch_norm_legit_no_training_add_relu_20", 0.00398495, 1},
    {"triton_poi_fused__native_batch_norm_legit_no_training_add_relu_16", 0.00364061, 1},
    {"triton_poi_fused_convolution_17", 0.00359451, 1},
    {"triton_poi_fused_convolution_12", 0.0020291, 1},
    {"triton_poi_fused_convolution_7", 0.00173024, 1},
    {"triton_poi_fused_convolution_1", 0.00160027, 1},
    {"triton_per_fused__native_batch_norm_legit_no_training_add_mean_relu_21", 0.00323233, 1},
    {"sm90_xmma_fprop_implicit_gemm_f32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize64x64x32_warpgroupsize1x1x1_g1_execute_segment_k_",
     0.175717, 9},
    {"sm90_xmma_fprop_implicit_gemm_f32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize64x128x32_warpgroupsize1x1x1_g1_execute_segment_k",
     0.116502, 7},
    {"sm80_xmma_fprop_implicit_gemm_indexed_wo_smem_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize128x32x16_stage1_warpsize4x1x1_g",
     0.0953926, 1},
    {"sm90_xmma_fprop_implicit_gemm_f32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize64x256x32_warpgroupsize1x1x1_g1_execute_segment_k",
     0.0170882, 1},
    {"void cudnn::engines_precompiled::convertTensor_kernel<float, float, float, (cudnnKernelDataType_t)2>(float, float const*",
     0.00979136, 2},
    {"sm90_xmma_fprop_implicit_gemm_f32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize64x32x32_warpgroupsize1x1x1_g1_execute_segment_k_",
     0.00953985, 1},
    {"sm90_xmma_fprop_implicit_gemm_f32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize128x128x32_warpgroupsize1x1x1_g1_execute_segment_",
     0.00846844, 1},
    {"void cutlass::Kernel2<cutlass_80_simt_sgemm_64x64_8x5_tn_align1>(cutlass_80_simt_sgemm_64x64_8x5_tn_align1::Params)",
     0.00573884, 1},
    {"Memset (Device)", 0.0036642, 5},
    {"void cublasLt::splitKreduce_kernel<32, 16, int, float, float, float, float, false, float, float, float, true, true, fals",
     0.002343, 1},
    {"void cask_plugin__5x_cudnn::xmma__5x_cudnn::init_device_workspace_kernel<xmma__5x_cudnn::implicit_gemm::fprop::Warp_spec",
     0.00198666, 1},
};

TEST(InductorReport, CategoriesAgreeOnEveryKernel) {
  if (trace_path().empty()) GTEST_SKIP() << "no inductor_module_p.json.gz";
  const Module module;
  const Categories categories = compute_categories(module.scope);
  EXPECT_EQ(categories.kernels.size(), std::size(kReported));
  for (const ReportedKernel& reported : kReported) {
    const auto it = std::find_if(categories.kernels.begin(), categories.kernels.end(),
                                 [&](const CategoryKernel& k) { return k.kernel.substr(0, 120) == reported.name; });
    ASSERT_NE(it, categories.kernels.end()) << reported.name;
    EXPECT_EQ(it->launches, reported.launches * 100) << reported.name;
    EXPECT_NEAR(static_cast<double>(it->time_ns) / 100, reported.time_ms * 1e6, reported.time_ms * 1e6 * 0.001)
        << reported.name;
    const bool pointwise = reported.name.starts_with("triton_poi_"), persistent = reported.name.starts_with("triton_per_");
    EXPECT_EQ(it->category == Category::triton_pointwise, pointwise) << reported.name;
    EXPECT_EQ(it->category == Category::triton_persistent_reduction, persistent) << reported.name;
    EXPECT_NE(it->category, Category::other) << reported.name;
  }
}

// The op rows of PyTorch's table in the same report, in milliseconds as printed.
struct ReportedOp {
  std::string_view op, shape, cpu_self, cpu_total, device_self, device_total;
  std::int64_t calls;
};
constexpr ReportedOp kReportedOps[] = {
    {"aten::cudnn_convolution", "[[16, 3, 224, 224], [64, 3, 7, 7], [], [], [], [], [], [], []]", "4.738", "7.046", "10.518",
     "10.518", 100},
    {"aten::cudnn_convolution", "[[16, 64, 56, 56], [64, 64, 3, 3], [], [], [], [], [], [], []]", "11.876", "20.231", "9.729",
     "9.729", 400},
    {"aten::cudnn_convolution", "[[16, 512, 7, 7], [512, 512, 3, 3], [], [], [], [], [], [], []]", "7.202", "11.664", "6.190",
     "6.190", 300},
    {"aten::cudnn_convolution", "[[16, 128, 28, 28], [128, 128, 3, 3], [], [], [], [], [], [], []]", "7.584", "12.131", "5.259",
     "5.259", 300},
    {"aten::cudnn_convolution", "[[16, 256, 14, 14], [256, 256, 3, 3], [], [], [], [], [], [], []]", "7.222", "11.633", "5.130",
     "5.130", 300},
    {"triton_poi_fused__native_batch_norm_legit_no_training_relu_2", "[[16, 64, 112, 112], [64], [64], [64], [64], []]",
     "1.356", "2.012", "3.516", "3.516", 100},
};

TEST(InductorReport, OpsAgreeToThePrintedDigit) {
  if (trace_path().empty()) GTEST_SKIP() << "no inductor_module_p.json.gz";
  const Module module;
  const Ops ops = compute_ops(module.scope, OpsBy::shape);
  const auto printed = [](std::int64_t ns) { return fmt::format("{:.3f}", static_cast<double>(ns) / 1e6); };
  for (const ReportedOp& reported : kReportedOps) {
    const auto it = std::find_if(ops.rows.begin(), ops.rows.end(),
                                 [&](const OpRow& r) { return r.op == reported.op && r.detail == reported.shape; });
    ASSERT_NE(it, ops.rows.end()) << reported.shape;
    EXPECT_EQ(printed(it->cpu_self_ns), reported.cpu_self) << reported.shape;
    EXPECT_EQ(printed(it->cpu_total_ns), reported.cpu_total) << reported.shape;
    EXPECT_EQ(printed(it->device_self_ns), reported.device_self) << reported.shape;
    EXPECT_EQ(printed(it->device_total_ns), reported.device_total) << reported.shape;
    EXPECT_EQ(it->count, reported.calls) << reported.shape;
  }
}

}  // namespace
}  // namespace ridge
