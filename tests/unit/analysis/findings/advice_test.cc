// Advice that can be followed: recorded programs with a fault and without it, and what must not be said to them.
#include <gtest/gtest.h>

#include "analysis/findings/product_shape.h"
#include "model/name_flags.h"
#include "support/says.h"
#include "trace/tables.h"
#include "unit/analysis/findings/found.h"
#include "unit/analysis/findings/program.h"

namespace ridge {
namespace {

using test::Found;
using test::says;

Found found_in_fixture(const std::string& name) {
  const auto path = test::path_of(name);
  EXPECT_TRUE(path) << name;
  return Found(test::load_file(path.value_or("")));
}

std::string action_of(const Found& found, std::string_view id) {
  const RankedFinding* row = found.find(id);
  return row == nullptr ? "" : row->finding.action;
}

// One kernel a call: with CUDA graphs it took 104 us instead of 36.
TEST(Advice, CudaGraphsOnlyWhereAGraphWouldHoldSeveralKernels) {
  const Found one = found_in_fixture("compiled_one_kernel");
  EXPECT_TRUE(says(action_of(one, "launch_bound"), {"larger batch", "one kernel", "CUDA graphs do not help"}));
  EXPECT_EQ(action_of(one, "launch_bound").find("reduce-overhead"), std::string::npos);
  EXPECT_TRUE(says(action_of(found_in_fixture("clean_fused_pointwise"), "launch_bound"), {"CUDA graphs do not help"}));
  // Three or four, in graphs of one each: only a graph of the whole step holds several.
  EXPECT_TRUE(says(action_of(found_in_fixture("nested_disabled_not_a_plain_break"), "launch_bound"),
                   {"compile more of the program at once", "reduce-overhead", "does not help"}));
  EXPECT_TRUE(says(action_of(found_in_fixture("compiled_custom_op"), "launch_bound"), {"reduce-overhead"}));
}

// Of what launches cost, the last launch of a step stays, whatever is compiled or fused.
TEST(Advice, AStepOfOneKernelHasNoLaunchToSave) {
  const Found one = found_in_fixture("compiled_one_kernel");
  ASSERT_TRUE(one.has("launch_bound"));
  EXPECT_EQ(one.find("launch_bound")->savings.saves_ns, 0);
}

TEST(Advice, OfTrainingIsForProgramsThatTrain) {
  const std::string infers = action_of(found_in_fixture("clean_no_sync"), "launch_bound");
  EXPECT_TRUE(says(infers, {"torch.cuda.graph)"}));
  EXPECT_EQ(infers.find("make_graphed_callables"), std::string::npos);
  EXPECT_TRUE(says(action_of(found_in_fixture("clean_cast_loop_train"), "launch_bound"), {"make_graphed_callables"}));
  EXPECT_TRUE(says(action_of(found_in_fixture("fault_fp32_no_tf32"), "tf32_off"), {"cast the model to bfloat16"}));
}

TEST(Advice, InductorFallsBackOnlyWhereItRan) {
  EXPECT_FALSE(found_in_fixture("compiled_aot_eager").has("inductor_fallback"));
  const Found custom = found_in_fixture("compiled_custom_op");
  ASSERT_TRUE(custom.has("inductor_fallback")) << custom.ids();
  const Finding& finding = custom.find("inductor_fallback")->finding;
  EXPECT_TRUE(says(finding.finding, {"for 1 op"}));
  EXPECT_TRUE(says(finding.evidence, {"aten::linalg_qr"}));
  EXPECT_EQ(finding.evidence.find("mylib::scale"), std::string::npos);
}

// 36 products of a layer, forward and backward, in sizes with one odd dimension at a time. The library's fast kernels (nvjet)
// took those with any number of tokens, and none with odd features.
TEST(Advice, WhichDimensionIsOddDecides) {
  const auto path = test::path_of("gemm_sizes");
  ASSERT_TRUE(path);
  const test::LoadedTrace t = test::load_file(*path);
  const Trace& trace = *t.trace;
  const CallTree& tree = t.model->tree();
  const OpTable table = ops(trace);
  std::size_t slow = 0, fast = 0;
  for (std::size_t row = 0; row < trace.of(EventClass::device_work).size(); ++row) {
    const std::string_view kernel = trace.text(trace.events.name(trace.of(EventClass::device_work)[row]));
    const NodeId op = t.model->links().op[row];
    const bool product = kernel.find("cutlass") != kernel.npos || kernel.starts_with("nvjet");
    if (!product || op == kNoNode || kernel.find("splitKreduce") != kernel.npos) continue;
    const EventId event = tree.event[op.value];
    const auto text = [&](const ArgColumn& column) { return trace.text(column.text(event).value_or(StringId{})); };
    const auto shape = product_shape(parse_op_call(trace.text(trace.events.name(event)), text(table.input_dims),
                                                   text(table.input_type), text(table.input_strides), {}));
    ASSERT_TRUE(shape);
    EXPECT_EQ(shape->misaligned(), kernel.starts_with("void cutlass")) << text(table.input_dims) << " " << kernel;
    ++(shape->misaligned() ? slow : fast);
  }
  EXPECT_GE(slow, 36U);
  EXPECT_GE(fast, 30U);
  const std::string action = action_of(Found(test::load_file(*path)), "gemm_alignment");
  EXPECT_TRUE(says(action, {"output features 4095 to 4096"}));
  EXPECT_EQ(action.find("tokens"), std::string::npos) << action;
}

// Rows of a part of a wider tensor: its distance decides, not its size.
TEST(Advice, StridesDecideWhereRowsStart) {
  const auto shape = [](std::string_view dims, std::string_view strides) {
    return product_shape(parse_op_call("aten::mm", dims, R"(["c10::BFloat16", "c10::BFloat16"])", strides, {}));
  };
  EXPECT_FALSE(shape("[[100, 4093], [4093, 512]]", "[[4096, 1], [512, 1]]")->misaligned());
  EXPECT_TRUE(shape("[[100, 4096], [4096, 512]]", "[[4097, 1], [512, 1]]")->odd_strides);
  EXPECT_FALSE(shape("[[4093, 100], [100, 512]]", "[[1, 4096], [512, 1]]")->misaligned());
  EXPECT_FALSE(shape("[[1, 4096], [4096, 512]]", "[[4095, 1], [512, 1]]")->misaligned()) << "one row starts nowhere else";
  // Not recorded: an operand is misaligned for sure only where it is whichever way it lies.
  EXPECT_FALSE(shape("[[141, 4096], [4096, 512]]", "")->misaligned());
  EXPECT_FALSE(shape("[[4096, 141], [141, 512]]", "")->misaligned());
  EXPECT_TRUE(shape("[[141, 4095], [4095, 512]]", "")->misaligned());
  EXPECT_TRUE(shape("[[141, 4096], [4096, 30522]]", "")->misaligned());
}

TEST(Advice, ProductsThatAnotherFindingReplacesHaveNoSizeToMend) {
  const Found attention = found_in_fixture("fault_unfused_attention");
  ASSERT_TRUE(attention.has("unfused_attention")) << attention.ids();
  EXPECT_FALSE(attention.has("gemm_alignment")) << attention.ids();
}

// The real step is 47 % shorter without the casts; in the trace, where each launch costs more, they bound 49 %.
TEST(Advice, ParametersCastAtEveryUse) {
  const Found fault = found_in_fixture("fault_casts");
  ASSERT_TRUE(fault.has("repeated_casts")) << fault.ids();
  const RankedFinding& row = *fault.find("repeated_casts");
  EXPECT_TRUE(says(row.finding.finding, {"24 casts per iteration"}));
  EXPECT_TRUE(says(row.finding.action, {"before the loop"}));
  const double of_iteration =
      100 * static_cast<double>(row.shown_ns.value_or(0)) / static_cast<double>(fault.findings.time.mean_ns());
  EXPECT_GT(of_iteration, 45);
  EXPECT_LT(of_iteration, 60);
  EXPECT_FALSE(found_in_fixture("clean_casts").has("repeated_casts"));
  // Autocast casts every parameter again in every call: twelve weights and twelve biases.
  const Found autocast = found_in_fixture("fault_autocast_infer");
  ASSERT_TRUE(autocast.has("repeated_casts")) << autocast.ids();
  EXPECT_TRUE(says(autocast.find("repeated_casts")->finding.finding, {"24 casts per iteration"}));
  // And the input, which an op casts for itself: in a model of that type no op does.
  EXPECT_EQ(autocast.find("repeated_casts")->remedy.removal.work.size(), 3 * (24 + 1));
  EXPECT_FALSE(found_in_fixture("clean_bf16_infer").has("repeated_casts"));
}

// One weight, used eight times a step and cast nine: one cast is needed. Autocast casts each weight once a step.
TEST(Advice, InTrainingOneCastAStepIsNeeded) {
  const Found loop = found_in_fixture("fault_cast_loop_train");
  ASSERT_TRUE(loop.has("repeated_casts")) << loop.ids();
  EXPECT_TRUE(says(loop.find("repeated_casts")->finding.finding, {"8 casts per iteration"}));
  EXPECT_TRUE(says(loop.find("repeated_casts")->finding.action, {"once a step"}));
  EXPECT_FALSE(found_in_fixture("clean_cast_loop_train").has("repeated_casts"));
  EXPECT_FALSE(found_in_fixture("gpt_eager_train_stack_mem").has("repeated_casts"));
}

// A step that tokenizes first: 2.8 ms when nobody records, 0.3 without.
TEST(Advice, HostWorkBeforeTheFirstLaunch) {
  const Found fault = found_in_fixture("fault_preprocess");
  ASSERT_EQ(fault.rank("preprocessing"), 1U) << fault.ids();
  EXPECT_TRUE(says(fault.find("preprocessing")->finding.finding, {"3 of 3 steps"}));
  EXPECT_GT(fault.find("preprocessing")->at_most_pct.value_or(0), 50);
  EXPECT_FALSE(found_in_fixture("clean_preprocess").has("preprocessing"));
}

// One slow start among four steps is no habit; three are.
TEST(Advice, HostWorkBeforeTheFirstLaunchOfMostSteps) {
  const auto program = [](int slow) {
    test::TraceText text;
    std::int64_t at = 0;
    for (int step = 0; step < 4; ++step) {
      const std::int64_t lead = (step < slow ? 3'000 : 20) * test::kUs;
      text.annotation("ProfilerStep#" + std::to_string(step), at, at + lead + 500 * test::kUs);
      text.call("cudaLaunchKernel", at + lead, at + lead + 5 * test::kUs, step + 1);
      text.kernel("k", at + lead + 6 * test::kUs, at + lead + 490 * test::kUs, step + 1);
      at += lead + 510 * test::kUs;
    }
    return test::found_in(text);
  };
  EXPECT_TRUE(program(3).has("preprocessing")) << program(3).ids();
  EXPECT_FALSE(program(1).has("preprocessing")) << program(1).ids();
}

// A server marks its steps: the host's work between the mark and the first launch is a part of the step, of one that is alone
// in its recording as well.
TEST(Advice, HostWorkBeforeTheFirstLaunchOfAServersStep) {
  const auto server = [](std::int64_t lead_us, int steps) {
    test::TraceText text;
    std::int64_t at = 0;
    for (int step = 0; step < steps; ++step) {
      const std::int64_t lead = lead_us * test::kUs, end = at + lead + 900 * test::kUs;
      text.annotation("execute_context_1(888)_generation_0(0)", at, end);
      text.op("aten::index", at + 5 * test::kUs, at + lead - 5 * test::kUs);
      text.call("cudaLaunchKernel", at + lead, at + lead + 5 * test::kUs, step + 1);
      text.kernel("k", at + lead + 6 * test::kUs, end - 10 * test::kUs, step + 1);
      at = end;
    }
    return test::found_in(text);
  };
  for (const int steps : {1, 3}) {
    const auto found = server(2'500, steps);
    ASSERT_TRUE(found.has("preprocessing")) << steps << ": " << found.ids();
    EXPECT_NEAR(static_cast<double>(*found.find("preprocessing")->finding.at_most_ns), 2.506e6 * steps, 5e3 * steps);
    EXPECT_FALSE(server(20, steps).has("preprocessing"));
  }
}

// A CPU kernel inside a graph: it costs the device most of its time, and the break beside it little.
TEST(Advice, CpuKernelsOfCompiledCodeAreNoBreak) {
  const Found found = found_in_fixture("fault_cpu_kernel_break");
  ASSERT_TRUE(found.has("cpu_kernels") && found.has("graph_breaks")) << found.ids();
  const Finding &kernels = found.find("cpu_kernels")->finding, &breaks = found.find("graph_breaks")->finding;
  EXPECT_TRUE(says(kernels.evidence, {"<built-in function kernel> of /tmp/torchinductor", ".py"}));
  EXPECT_TRUE(says(breaks.evidence, {"calls <built-in function print>"}));
  EXPECT_FALSE(breaks.at_most_ns.has_value()) << "mending a break may bring more than it takes";
  EXPECT_GT(*found.find("cpu_kernels")->savings.saves_ns, 5 * *found.find("graph_breaks")->savings.saves_ns);
  EXPECT_TRUE(
      says(found_in_fixture("cpu_kernel_named").find("cpu_kernels")->finding.evidence, {"graph_0_cpp_fused_add_cos_exp"}));
}

TEST(Advice, AnAutotunedKernelIsNamedOnce) {
  const auto path = test::path_of("resnet18_compile_time");
  if (!path) GTEST_SKIP() << "not here: resnet18_compile_time";
  const Found found(test::load_file(*path));
  ASSERT_TRUE(found.has("autotune_in_window")) << found.ids();
  const std::string& evidence = found.find("autotune_in_window")->finding.evidence;
  const std::size_t first = evidence.find("triton_"), end = evidence.find(' ', first);
  const std::string name = evidence.substr(first, end - first);
  EXPECT_EQ(evidence.find(name + " ", end), std::string::npos) << evidence;
}

}  // namespace
}  // namespace ridge
