// kernel NAME: which kernel a name chooses, and what is told of it.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/kernel/kernel.h"
#include "analysis/kernel/kernel_choice.h"
#include "support/says.h"
#include "support/table_rows.h"
#include "unit/analysis/products.h"

namespace ridge {
namespace {

using test::event;
using test::kGemm;
using test::mm;
using test::OnDevice;

TEST(KernelDetail, DistributionConfigurationAndShapes) {
  const std::string config = R"(, "grid": [2, 1, 1], "block": [128, 1, 1], "registers per thread": 32, "shared memory": 1024,
      "blocks per SM": 0.5, "warps per SM": 2.0, "est. achieved occupancy %": 3)";
  std::string events = mm(0, 1000);
  for (int i = 1; i <= 10; ++i) {
    events += ", " + event({.name = "cudaLaunchKernel",
                            .ts = 10 * i,
                            .dur = 1,
                            .cat = "cuda_runtime",
                            .args = "\"correlation\": " + std::to_string(i)});
    events += ", " + event({.name = kGemm,
                            .ts = 2000 + 100 * i,
                            .dur = i,
                            .cat = "kernel",
                            .args = "\"correlation\": " + std::to_string(i) + ", \"device\": 0, \"stream\": 7" + config,
                            .tid = 7});
  }
  const OnDevice h200(events, "h200");
  const auto detail = compute_kernel(h200.scope, "bf16bf16");
  ASSERT_TRUE(detail.has_value()) << detail.error().message;
  EXPECT_EQ(detail->all.count, 10);
  EXPECT_EQ(detail->all.time_ns, 55'000);
  EXPECT_EQ(percentile(detail->durations_ns, 0.5), 5'000);
  EXPECT_EQ(percentile(detail->durations_ns, 0.9), 9'000);
  EXPECT_EQ(percentile(detail->durations_ns, 0.99), 10'000);
  ASSERT_EQ(detail->configs.size(), 1U);
  EXPECT_EQ(detail->configs[0].registers_per_thread, 32);
  EXPECT_EQ(detail->configs[0].shared_memory_bytes, 1024);
  EXPECT_EQ(detail->configs[0].occupancy_pct, 3.0);
  ASSERT_EQ(detail->shapes.size(), 1U);
  EXPECT_EQ(detail->shapes[0].op, "aten::mm");
  const Report report = report_kernel(*detail);
  EXPECT_EQ(report.tables.front().name, "kernel");
  std::int64_t in_bins = 0;
  for (const Row& row : rows_of(report.tables[1])) in_bins += std::get<std::int64_t>(row[2]);
  EXPECT_EQ(in_bins, 10);
}

// Names of Tensile's are alike for hundreds of characters: what is listed tells them apart, and a part of it chooses one.
TEST(KernelChoice, LongNamesThatBeginAlikeAreToldApart) {
  const std::string head = "Cijk_Alik_" + std::string(300, 'x');
  const std::string small = head + "_MT16x16" + std::string(300, 'y'), large = head + "_MT64x64" + std::string(300, 'y');
  const std::string other = "Cijk_Ailk_" + std::string(300, 'z');
  const std::vector<KernelCandidate> all = {{small, small, 3}, {large, large, 2}, {other, other, 1}};
  const auto several = choose_kernel(all, "Cijk");
  ASSERT_FALSE(several.has_value());
  EXPECT_TRUE(test::says(several.error().hint, {"\nCijk_Alik_", "_MT16x16", "_MT64x64", "\nCijk_Ailk_z"}));
  EXPECT_EQ(choose_kernel(all, "_MT64x64").value_or(""), large);
  std::size_t longest = 0, at = 0;
  for (std::size_t end = 0; end != std::string::npos; at = end + 1) {
    end = several.error().hint.find('\n', at);
    longest = std::max(longest, std::min(end, several.error().hint.size()) - at);
  }
  EXPECT_LE(longest, 210U);
}

TEST(KernelChoice, ExactThenPartThenPattern) {
  const std::vector<KernelCandidate> all = {{"void add<float>(int)", "add<float>", 9},
                                            {"void add<half>(int)", "add<half>", 5},
                                            {"gemm_128", "gemm_128", 3},
                                            {"gemm_128_splitk", "gemm_128_splitk", 1}};
  const auto chosen = [&](const char* name) { return choose_kernel(all, name).value_or(""); };
  EXPECT_EQ(chosen("gemm_128"), "gemm_128");  // exact, though it is a part of another
  EXPECT_EQ(chosen("add<half>"), "void add<half>(int)");
  EXPECT_EQ(chosen("splitk"), "gemm_128_splitk");
  EXPECT_EQ(chosen("SPLITK"), "gemm_128_splitk");
  EXPECT_EQ(chosen("add.*half"), "void add<half>(int)");
  const auto several = choose_kernel(all, "add");
  ASSERT_FALSE(several.has_value());
  EXPECT_TRUE(test::says(several.error().message, {"2 kernels", "'add'"}));
  EXPECT_TRUE(test::says(several.error().hint, {"\nadd<float>\nadd<half>"}));
  const auto none = choose_kernel(all, "gem_128");
  ASSERT_FALSE(none.has_value());
  EXPECT_NE(none.error().hint.find("gemm_128"), std::string::npos);
  EXPECT_TRUE(test::says(choose_kernel(all, "splitkk").error().hint, {" gemm_128_splitk?"}));  // near one of its words
  EXPECT_TRUE(test::says(choose_kernel({{"k", "winogradWgradData4x4<float>", 1}}, "wimograd").error().hint,
                         {" winogradWgradData4x4<float>?"}));
  EXPECT_FALSE(choose_kernel(all, "").has_value());
  EXPECT_FALSE(choose_kernel(all, "[").has_value());
  EXPECT_FALSE(choose_kernel({}, "x").has_value());
}

}  // namespace
}  // namespace ridge
