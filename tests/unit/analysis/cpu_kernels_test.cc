// CPU kernels of compiled code: recorded with stacks, recorded with their names, and named by the source of their module.
#include <gtest/gtest.h>

#include <ridge/render.h>

#include "analysis/gaps/gaps.h"
#include "analysis/shared/cpu_kernels_table.h"
#include "facts/cpu_kernel_list.h"
#include "support/loaded_trace.h"
#include "support/table_rows.h"

namespace ridge::test {
namespace {

constexpr std::string_view kModule = "/tmp/torchinductor_u/vd/cvdbwtljjoxx5dvzrgbyowp3gozhkggbcfd4ichs27f5el2o2a55.py";

struct FolderOfOne : KernelSources {
  std::string text;
  std::optional<std::string> find(std::string_view file) const override {
    return file == kModule ? std::optional(text) : std::nullopt;
  }
};

TEST(CpuKernels, OfARecordedProgram) {
  const auto path = path_of("fault_cpu_kernel_break");
  ASSERT_TRUE(path);
  const LoadedTrace t = load_file(*path);
  const std::vector<CpuKernelCost> kernels = list_cpu_kernels(Scope(*t.model));
  ASSERT_EQ(kernels.size(), 2U);  // one in each of two graphs, in each of three iterations
  for (const CpuKernelCost& kernel : kernels) {
    EXPECT_EQ(kernel.kernel, "<built-in function kernel>");
    EXPECT_EQ(kernel.calls, 3);
    EXPECT_GT(kernel.cpu_ns, 3'000'000);
    EXPECT_TRUE(kernel.file.starts_with("/tmp/torchinductor_root/") && kernel.file.ends_with(".py")) << kernel.file;
  }
  EXPECT_NE(kernels[0].file, kernels[1].file);
  const auto table = cpu_kernels_table(Scope(*t.model));
  ASSERT_TRUE(table);
  EXPECT_EQ(rows_of(*table).size(), 2U);
  bool blamed = false;
  for (const GapRow& gap : compute_gaps(Scope(*t.model)).rows)
    blamed = blamed || (gap.blame == "<built-in function kernel>" && gap.blame_op == kernels[0].file);
  EXPECT_TRUE(blamed);
}

// Who is to blame stands before what was late: the op beside it names that already.
TEST(CpuKernels, AreSeenInGapsOnATerminal) {
  const auto path = path_of("fault_cpu_kernel_break");
  ASSERT_TRUE(path);
  const LoadedTrace t = load_file(*path);
  const Report report = report_gaps(compute_gaps(Scope(*t.model)));
  const std::string shown = *report_text(report, **find_format("table"), {}, {.color = false, .width = 120});
  EXPECT_NE(shown.find("<built-in"), std::string::npos) << shown;
}

TEST(CpuKernels, AreNamedByTheirOps) {
  const auto path = path_of("cpu_kernel_named");
  ASSERT_TRUE(path);
  const LoadedTrace t = load_file(*path);
  const std::vector<CpuKernelCost> kernels = list_cpu_kernels(Scope(*t.model));
  ASSERT_EQ(kernels.size(), 2U);
  std::vector<std::string> names = {kernels[0].kernel, kernels[1].kernel};
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"graph_0_cpp_fused_add_cos_exp_mul_sin_1", "graph_1_cpp_fused_sub_tanh_1"}));
}

// In the order in which the module calls them; nothing is said where it calls another number.
TEST(CpuKernels, AreNamedByTheSourceOfTheirModule) {
  const auto frame = [](std::string_view name, int ts, int dur) {
    return event({.name = name, .ts = ts, .dur = dur, .cat = "python_function"});
  };
  const LoadedTrace t =
      load_events(join({frame(std::string(kModule) + "(88): call", 10, 80), frame("<built-in function kernel>", 20, 10),
                        frame("<built-in function kernel>", 40, 30), launch(1, 75, 5, "k", 100, 5)}));
  FolderOfOne folder;
  const auto names = [&](std::string text) {
    folder.text = std::move(text);
    const CostOptions options{.device = {}, .sources = &folder};
    std::vector<std::string> list;
    for (const CpuKernelCost& kernel : list_cpu_kernels(Scope(*t.model, std::make_shared<CostModel>(*t.model, options))))
      list.push_back(kernel.kernel);
    return list;
  };
  const std::string text =
      "cpp_fused_add_0 = async_compile.cpp_pybinding(['float*'], r'''\n''')\n\ndef call(args):\n"
      "    cpp_fused_add_0(arg0_1, buf0)\n    buf1 = buf0; del buf0\n    cpp_fused_sin_1(buf1)\n";
  EXPECT_EQ(names(text), (std::vector<std::string>{"cpp_fused_sin_1", "cpp_fused_add_0"}));  // most time first
  EXPECT_EQ(names(text + "    cpp_fused_cos_2(buf1)\n"), (std::vector<std::string>{"<built-in function kernel>"}));
}

}  // namespace
}  // namespace ridge::test
