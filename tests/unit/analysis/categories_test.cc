// categories regrouped: each group has its own rows, and all of them add up to the whole.
#include "analysis/categories/categories.h"

#include <gtest/gtest.h>

#include <string>

#include "analysis/catalog.h"
#include "support/files.h"
#include "support/host_device_trace.h"
#include "support/table_rows.h"

namespace ridge {
namespace {

// A step that reads a prompt, one that makes tokens, one that does both, and a kernel of neither.
std::unique_ptr<Trace> server() {
  test::TraceText text;
  text.call("cudaLaunchKernel", 0, 1'000, 9).kernel("void at::native::vectorized_elementwise_kernel<4>(int)", 2'000, 3'000, 9);
  const char* const marks[] = {"execute_context_1(8)_generation_0(0)", "execute_context_0(0)_generation_4(4)",
                               "execute_context_1(8)_generation_4(4)"};
  for (int i = 0; i < 3; ++i) {
    const std::int64_t at = 10'000 + std::int64_t{i} * 100'000;
    text.annotation(marks[i], at, at + 90'000)
        .call("cudaLaunchKernel", at + 1'000, at + 2'000, 10 + i)
        .kernel("sm90_xmma_gemm_bf16bf16", at + 5'000, at + 15'000, 10 + i)
        .call("cudaLaunchKernel", at + 3'000, at + 4'000, 20 + i)
        .kernel("void flashinfer::BatchPrefillWithPagedKVCacheKernel<int>(int)", at + 20'000, at + 25'000, 20 + i);
  }
  return text.read();
}

TEST(Categories, DivideByTheStageOfAServersStep) {
  const auto trace = server();
  const Model model(*trace);
  const Scope scope(model);
  const Categories whole = compute_categories(scope);
  const Categories staged = compute_categories(scope, CompilerWorkFilter::with, KernelsBy::stage);
  const auto time_of = [&](std::string_view stage, Category category) {
    std::int64_t sum = 0;
    for (const CategoryShare& share : staged.categories) {
      if (staged.groups[share.group] == stage && share.category == category) sum += share.time_ns;
    }
    return sum;
  };
  EXPECT_EQ(time_of("prefill", Category::gemm), 10'000);
  EXPECT_EQ(time_of("decode", Category::gemm), 10'000);
  EXPECT_EQ(time_of("mixed", Category::gemm), 10'000);
  EXPECT_EQ(time_of("prefill", Category::attention), 10'000);  // of the mixed step too: its name tells
  EXPECT_EQ(time_of("decode", Category::attention), 5'000);
  EXPECT_EQ(time_of("[no stage]", Category::elementwise), 1'000);
  std::int64_t sum = 0, launches = 0;
  for (const CategoryShare& share : staged.categories) {
    sum += share.time_ns;
    launches += share.launches;
  }
  EXPECT_EQ(sum, whole.time_ns);
  EXPECT_EQ(launches, whole.launches);
  EXPECT_EQ(staged.groups.front(), "prefill");  // most time first
}

TEST(Categories, NameTheGroupInAColumn) {
  const auto trace = server();
  const Model model(*trace);
  const Scope scope(model);
  const auto staged = run_categories(scope, {{"by", "stage"}});
  ASSERT_TRUE(staged);
  for (const Table& table : staged->tables) EXPECT_EQ(table.columns.front().name, "stage") << table.name;
  EXPECT_EQ(std::get<std::string>(rows_of(staged->tables[0])[0][0]), "prefill");
  const auto plain = run_categories(scope, {});
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->tables[0].columns.front().name, "category");
  EXPECT_FALSE(run_categories(scope, {{"by", "colour"}}));
  for (const char* by : {"annotation", "module", "graph", "stream"}) {
    const auto grouped = run_categories(scope, {{"by", by}});
    ASSERT_TRUE(grouped) << by;
    EXPECT_EQ(*grouped->tables[0].total, [&] {
      Row total = *plain->tables[0].total;
      total.insert(total.begin(), Cell());
      total[2] = (*grouped->tables[0].total)[2];  // a kernel counts in each group that it is in
      return total;
    }()) << by;
  }
}

}  // namespace
}  // namespace ridge
