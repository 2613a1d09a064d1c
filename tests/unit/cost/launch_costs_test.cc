// The cost of launches against ground truth: FLOPs against PyTorch's own counter, bytes against hardware counters.
#include "cost/launch_costs.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <simdjson.h>

#include "model/annotations.h"
#include "support/files.h"
#include "support/loaded_trace.h"
#include "trace/tables.h"
#include "unit/cost/hand_made_launch.h"

namespace ridge {
namespace {

using test::load_file;
using test::LoadedTrace;
using test::path_of;

// A file of ground truth beside the traces; empty where it is absent.
std::string truth(const std::string& name) {
  for (const char* folder : {"tests/fixtures", "../shared/traces/h200"}) {
    const std::string path = test::source_dir() + "/" + folder + "/" + name;
    if (std::filesystem::exists(path)) return test::json_of(path);
  }
  return {};
}

std::vector<std::size_t> rows_by_time(const Trace& trace) {
  const auto& events = trace.of(EventClass::device_work);
  std::vector<std::size_t> rows(events.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  std::stable_sort(rows.begin(), rows.end(),
                   [&](std::size_t a, std::size_t b) { return trace.events.ts_ns(events[a]) < trace.events.ts_ns(events[b]); });
  return rows;
}

std::string_view op_name_of_row(const Model& model, std::size_t row) {
  const NodeId op = model.links().op[row];
  return op == kNoNode ? std::string_view() : model.trace().text(model.trace().events.name(model.tree().event[op.value]));
}

TEST(LaunchFlops, EachCaseOfTheOpZoo) {
  const std::string json = truth("opzoo.flops.json");
  ASSERT_FALSE(json.empty());
  const LoadedTrace loaded = load_file(*path_of("opzoo_eager"));
  const Trace& trace = *loaded.trace;
  const CostModel costs(*loaded.model, {});

  // Backward kernels are launched by another thread, outside the annotation: they belong to the case that began last.
  std::map<std::string, double> flops;
  std::string current;
  Annotations annotations(*loaded.model);
  for (const std::size_t row : rows_by_time(trace)) {
    const NodeId note = annotations.of(loaded.model->links().launch[row]);
    if (note != kNoNode) {
      const std::string name(trace.text(trace.events.name(loaded.model->tree().event[note.value])));
      if (name.starts_with("case::")) current = name.substr(6);
    }
    ASSERT_TRUE(costs[row].flops.has_value()) << op_name_of_row(*loaded.model, row);
    flops[current] += *costs[row].flops;
  }

  simdjson::dom::parser parser;
  int cases = 0;
  for (const auto [name, expected] : parser.parse(json).get_object()) {
    double total = 2147483648.0;  // sdpa_gqa: PyTorch's counter refuses grouped heads; 4 * 2 * 32 * 256^2 * 128 by hand
    if (expected["total"].error() == simdjson::SUCCESS) total = static_cast<double>(std::int64_t(expected["total"]));
    EXPECT_EQ(flops[std::string(name)], total) << name;
    ++cases;
  }
  EXPECT_EQ(cases, 41);
}

struct WholeModel {
  const char* trace;
  const char* counted;  // the .flops.json of one iteration
  int iterations;
};

class ModelFlops : public testing::TestWithParam<WholeModel> {};

TEST_P(ModelFlops, IsPyTorchsCountTimesTheIterations) {
  const auto path = path_of(GetParam().trace);
  const std::string json = truth(std::string(GetParam().counted) + ".flops.json");
  if (!path || json.empty()) GTEST_SKIP() << GetParam().trace << " is not here";
  const LoadedTrace loaded = load_file(*path);
  const CostModel costs(*loaded.model, {});
  const auto work = loaded.trace->of(EventClass::device_work);
  double all = 0;
  for (std::size_t row = 0; row < work.size(); ++row) all += costs[row].flops.value_or(0);

  simdjson::dom::parser parser;
  const simdjson::dom::element document = parser.parse(json);
  EXPECT_EQ(all, static_cast<double>(std::int64_t(document["total"])) * GetParam().iterations);

  // By op: each call's own, inclusive of what it calls. Compiled code has other ops.
  if (std::string_view(GetParam().trace).find("eager") == std::string_view::npos) return;
  std::map<std::string, double> by_op;
  const CallTree& tree = loaded.model->tree();
  for (std::size_t n = 0; n < tree.size(); ++n) {
    if (tree.event_class[n] != EventClass::op) continue;
    const auto flops = costs.flops_of_op(NodeId{n});
    if (flops) by_op[std::string(loaded.trace->text(loaded.trace->events.name(tree.event[n])))] += *flops;
  }
  for (const auto [op, flops] : document["by"]["Global"].get_object()) {
    const std::string name = "aten::" + std::string(op).substr(5);  // "aten.mm"
    EXPECT_EQ(by_op[name], static_cast<double>(std::int64_t(flops)) * GetParam().iterations) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, ModelFlops,
                         testing::Values(WholeModel{"resnet18_eager_shapes", "resnet18_eager_shapes", 3},
                                         WholeModel{"densenet121_bs1_eager", "densenet121_bs1_eager", 5},
                                         WholeModel{"gpt_eager_train", "gpt_eager_train", 3},
                                         WholeModel{"gpt_eager_train_stack_mem", "gpt_eager_train", 2},
                                         WholeModel{"gpt_compiled_train", "gpt_eager_train", 3},
                                         WholeModel{"omni_eager_float", "omni_eager_float", 1},
                                         WholeModel{"omni_eager_half", "omni_eager_half", 1},
                                         WholeModel{"omni_eager_bf16", "omni_eager_bf16", 1},
                                         WholeModel{"omni_eager_double", "omni_eager_double", 1},
                                         WholeModel{"omni_compiled_half", "omni_eager_double", 1},
                                         WholeModel{"omni_compiled_half_x5", "omni_eager_double", 5},
                                         WholeModel{"omni_compiled_float_x5", "omni_eager_double", 5},
                                         WholeModel{"omni_compiled_double_x5", "omni_eager_double", 5},
                                         WholeModel{"omni_maxautotune_triton_half", "omni_eager_double", 1}),
                         [](const auto& model) { return std::string(model.param.trace); });

// Counters of ncu's CSV, by kernel in launch order.
struct Counters {
  double read = 0, written = 0;
};
std::vector<Counters> counters(const std::string& csv) {
  std::vector<Counters> out;
  for (std::size_t at = 0; at < csv.size();) {
    const std::size_t end = std::min(csv.find('\n', at), csv.size());
    std::vector<std::string> fields;
    for (std::size_t i = at; i < end; ++i) {
      if (csv[i] != '"') continue;
      const std::size_t close = csv.find('"', i + 1);
      fields.push_back(csv.substr(i + 1, close - i - 1));
      i = close;
    }
    at = end + 1;
    if (fields.size() != 15 || fields[0] == "ID") continue;
    std::string digits = fields[14];
    std::erase(digits, ',');
    const std::size_t id = std::stoul(fields[0]);
    if (out.size() <= id) out.resize(id + 1);
    if (fields[12] == "dram__bytes_read.sum") out[id].read = std::stod(digits);
    if (fields[12] == "dram__bytes_write.sum") out[id].written = std::stod(digits);
  }
  return out;
}

TEST(LaunchBytes, OfTheOpZooAreWhatTheHardwareCounted) {
  const std::vector<Counters> counted = counters(truth("opzoo.ncu.csv.gz"));
  ASSERT_FALSE(counted.empty());
  const LoadedTrace loaded = load_file(*path_of("opzoo_eager"));
  const Trace& trace = *loaded.trace;
  const CostModel costs(*loaded.model, {});
  const auto& events = trace.of(EventClass::device_work);
  double time = 0, good_time = 0, kernels = 0, good_kernels = 0, wrote_more = 0;
  std::size_t next = 0;
  for (const std::size_t row : rows_by_time(trace)) {
    if (trace.kind(events[row]).work != DeviceWork::kernel) continue;
    ASSERT_LT(next, counted.size());
    const Counters& truth_of = counted[next++];
    const auto duration = static_cast<double>(trace.events.dur_ns(events[row]).value_or(0));
    const double read = costs[row].bytes_read.value_or(-1e18), tolerance = std::max(0.1 * truth_of.read, 65536.0);
    const bool good = std::abs(read - truth_of.read) <= tolerance;
    time += duration;
    kernels += 1;
    good_time += good ? duration : 0;
    good_kernels += good ? 1 : 0;
    // Written bytes may stay in the cache: never more than ours, but for 4 MB that the flush before a kernel leaves behind.
    if (truth_of.written > costs[row].bytes_written.value_or(0) * 1.1 + 4e6) wrote_more += 1;
    if (!good) {
      std::printf("  %s %.60s: %.0f bytes, counted %.0f\n", std::string(op_name_of_row(*loaded.model, row)).c_str(),
                  std::string(trace.text(trace.events.name(events[row]))).c_str(), read, truth_of.read);
    }
  }
  EXPECT_EQ(next, counted.size());
  std::printf("  reads within max(10 %%, 64 KiB): %.2f %% of kernel time, %.2f %% of %.0f kernels\n", 100 * good_time / time,
              100 * good_kernels / kernels, kernels);
  EXPECT_GE(good_time / time, 0.97);
  EXPECT_GE(good_kernels / kernels, 0.95);
  EXPECT_EQ(wrote_more, 0);
}

TEST(LaunchCosts, WithoutShapesNothingIsMadeUp) {
  const LoadedTrace loaded = test::load_events(test::join({
      test::event({.name = "aten::mm", .ts = 10, .dur = 20}),
      test::launch(1, 12, 3, "nvjet_sm90_tst_128x64_64x8_1x2_h_bz_NNT", 40, 10),
      test::event({.name = "aten::add_", .ts = 50, .dur = 20}),
      test::launch(2, 52, 3, "void at::native::vectorized_elementwise_kernel<4, X, std::array<char*, 3ul> >(int)", 80, 10),
      test::launch(3, 100, 3, "unknown_kernel", 120, 10),
  }));
  const CostModel costs(*loaded.model, {});
  ASSERT_EQ(loaded.trace->of(EventClass::device_work).size(), 3U);
  EXPECT_EQ(costs[0].flops, std::nullopt);
  EXPECT_EQ(costs[0].bytes_read, std::nullopt);
  EXPECT_EQ(costs[0].dtype, DType::bf16);  // the kernel's name tells
  EXPECT_EQ(costs[1].flops, 0);            // an addition has none that PyTorch counts, whatever its size
  EXPECT_EQ(costs[1].bytes_read, std::nullopt);
  EXPECT_EQ(costs[2].flops, std::nullopt);
  EXPECT_EQ(costs[2].estimate, Estimate::none);
}

constexpr std::string_view kConvArgs =
    R"("Input Dims": [[8, 32, 56, 56], [64, 32, 3, 3], [], [], [], [], [], [], []], )"
    R"("Input type": ["c10::BFloat16", "c10::BFloat16", "ScalarList", "ScalarList", "ScalarList", "Scalar", "Scalar", "Scalar", "Scalar"], )"
    R"("Concrete Inputs": ["", "", "[1, 1]", "[1, 1]", "[1, 1]", "1", "False", "False", "True"])";

TEST(LaunchCosts, AnOpIsCountedOnceAndByTheKernelThatComputesIt) {
  const LoadedTrace loaded = test::load_events(test::join({
      test::event({.name = "aten::convolution", .ts = 5, .dur = 90}),
      test::event({.name = "aten::cudnn_convolution", .ts = 10, .dur = 50, .args = kConvArgs}),
      test::launch(1, 12, 3, "void cudnn::engines_precompiled::nchwToNhwcKernel<x>(y)", 40, 10),
      test::launch(
          2, 20, 3,
          "sm80_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x32x32_execute_kernel__5x_cudnn", 60,
          10),
      test::launch(3, 30, 3, "void cudnn::engines_precompiled::nhwcToNchwKernel<x>(y)", 80, 10),
  }));
  const CostModel costs(*loaded.model, {});
  constexpr double kFlops = 2.0 * 56 * 56 * 9 * 8 * 64 * 32;
  EXPECT_EQ(costs[0].flops, 0);
  EXPECT_EQ(costs[1].flops, kFlops);
  EXPECT_EQ(costs[2].flops, 0);
  EXPECT_EQ(costs[1].bytes_read, 2.0 * (8 * 32 * 56 * 56 + 64 * 32 * 9));
  EXPECT_EQ(costs[1].bytes_written, 2.0 * 8 * 64 * 56 * 56);
  EXPECT_EQ(costs[2].bytes_read, 2.0 * 8 * 64 * 56 * 56);
  EXPECT_EQ(costs[1].dtype, DType::bf16);
  // Inclusive, of the op and of those around it.
  const CallTree& tree = loaded.model->tree();
  for (std::size_t n = 0; n < tree.size(); ++n) {
    if (tree.event_class[n] != EventClass::op) continue;
    EXPECT_EQ(costs.flops_of_op(NodeId{n}), kFlops);
  }
}

TEST(LaunchCosts, CopiesAndSetsTellTheirBytes) {
  const auto copy = [](std::string_view name, std::string_view cat, int ts) {
    return test::event(
        {.name = name, .ts = ts, .dur = 5, .cat = cat, .args = "\"device\": 0, \"stream\": 7, \"bytes\": 1000", .tid = 7});
  };
  const LoadedTrace loaded = test::load_events(test::join({
      copy("Memcpy HtoD (Pinned -> Device)", "gpu_memcpy", 10),
      copy("Memcpy DtoH (Device -> Pinned)", "gpu_memcpy", 20),
      copy("Memcpy DtoD (Device -> Device)", "gpu_memcpy", 30),
      copy("Memset (Device)", "gpu_memset", 40),
  }));
  const CostModel costs(*loaded.model, {});
  const std::array<std::array<double, 2>, 4> expected = {{{0, 1000}, {1000, 0}, {1000, 1000}, {0, 1000}}};
  for (std::size_t row = 0; row < 4; ++row) {
    EXPECT_EQ(costs[row].bytes_read, expected[row][0]) << row;
    EXPECT_EQ(costs[row].bytes_written, expected[row][1]) << row;
  }
}

TEST(LaunchCosts, Tf32IsToldByTheNameOrByTheUser) {
  constexpr std::string_view kArgs = R"("Input Dims": [[64, 64], [64, 64]], "Input type": ["float", "float"])";
  const auto dtype = [&](std::string_view kernel, bool tf32) {
    const LoadedTrace loaded = test::load_events(test::join(
        {test::event({.name = "aten::mm", .ts = 10, .dur = 20, .args = kArgs}), test::launch(1, 12, 3, kernel, 40, 10)}));
    CostOptions options;
    options.tf32 = tf32;
    const CostModel costs(*loaded.model, options);
    return costs[0].dtype;
  };
  EXPECT_EQ(dtype("sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x256x32", false), DType::tf32);
  EXPECT_EQ(
      dtype("_ZN7cutlass7Kernel2I66cutlass_80_tensorop_NS_4gemm4warp11MmaTensorOpINS2_9GemmShapeENS_10tfloat32_tEfE", false),
      DType::tf32);
  EXPECT_EQ(dtype("sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize128x32x8", false), DType::f32);
  EXPECT_EQ(dtype("sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize128x32x8", true), DType::tf32);
}

// A list of parameters that the trace left out, cut into chunks of 65,536: sizes come from the gradients, the last one first.
TEST(LaunchCosts, ALongListIsCutForAllItsLaunchesAtOnce) {
  std::string events;
  int at = 1;
  for (const char* dims : {"[[100000]]", "[[70000]]", "[[200000]]"})
    events = test::join({events, test::event({.name = "torch::autograd::AccumulateGrad",
                                              .ts = at++,
                                              .dur = 1,
                                              .args = R"("Input type": ["float"], "Input Dims": )" + std::string(dims)})});
  events.erase(0, events.find('{'));
  constexpr std::string_view kKernel =
      "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
      "namespace)::TensorListMetadata<1>, "
      "at::native::(anonymous namespace)::BinaryOpScalarFunctor<float, 1, 1, 0>, std::multiplies<float>, float>(x)";
  const auto loaded = test::load_events(test::join(
      {events,
       test::event(
           {.name = "aten::_foreach_mul_",
            .ts = 5,
            .dur = 500,
            .args = R"("Input Dims": [[], []], "Input type": ["TensorList", "Scalar"], "Concrete Inputs": ["", "0.9"])"}),
       test::launch(1, kKernel, "[3, 1, 1]"), test::launch(2, kKernel, "[2, 1, 1]"), test::launch(3, kKernel, "[3, 1, 1]")}));
  const CostModel costs(*loaded.model, {});
  EXPECT_EQ(costs[0].bytes_read, 4.0 * 3 * 65536);
  EXPECT_EQ(costs[1].bytes_read, 4.0 * (200000 - 3 * 65536 + 65536));
  EXPECT_EQ(costs[2].bytes_read, 4.0 * (70000 - 65536 + 100000));
}

}  // namespace
}  // namespace ridge
