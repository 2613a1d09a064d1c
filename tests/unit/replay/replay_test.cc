// replay: which calls there are, what they add up to, which get a script and why others do not.
#include "analysis/replay/replay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "analysis/kernels/kernels.h"
#include "replay/python_tokens.h"
#include "support/loaded_trace.h"

namespace ridge {
namespace {

using test::event;
using test::launch;

constexpr std::string_view kProduct =
    R"("Input Dims": [[64, 32], [32, 16]], "Input type": ["float", "float"], "Input Strides": [[32, 1], [16, 1]], "Concrete Inputs": ["", ""])";

Replays replays_of(const test::LoadedTrace& loaded, const ReplayQuestion& question = {.most = 0, .scripts = true}) {
  const Scope scope(*loaded.model);
  auto replays = compute_replays(scope, question);
  EXPECT_TRUE(replays) << (replays ? "" : replays.error().message);
  return replays ? std::move(*replays) : Replays();
}

TEST(Replay, MakesOneCallOfEachKernelOpAndSignature) {
  const auto loaded = test::load_events(test::join({
      event({.name = "aten::mm", .ts = 0, .dur = 10, .args = kProduct}),
      launch(1, 1, 2, "gemm", 20, 7),
      event({.name = "aten::mm", .ts = 30, .dur = 10, .args = kProduct}),
      launch(2, 31, 2, "gemm", 50, 9),
      event({.name = "aten::mm", .ts = 60, .dur = 10}),
      launch(3, 61, 2, "gemm", 80, 5),
      event({.name = "mylib::f", .ts = 90, .dur = 10, .args = kProduct}),
      launch(4, 91, 2, "other", 100, 3),
      launch(5, 120, 2, "alone", 130, 2),
  }));
  const Replays replays = replays_of(loaded);
  ASSERT_EQ(replays.rows.size(), 4U);
  const ReplayCall& product = replays.rows[0].call;
  EXPECT_EQ(product.count, 2);
  EXPECT_EQ(product.time_ns, 16'000);
  EXPECT_EQ(product.median_ns, 8'000);
  EXPECT_EQ(product.launches.size(), 1U);
  EXPECT_EQ(shape_text(product.call), "64x32, 32x16");
  EXPECT_NE(replays.rows[0].script.find("\"shapes\": [[64, 32], [32, 16]]"), std::string::npos);
  EXPECT_NE(replays.rows[1].call.cannot.find("record_shapes=True"), std::string::npos);
  EXPECT_NE(replays.rows[2].call.cannot.find("mylib"), std::string::npos);
  EXPECT_FALSE(replays.rows[3].call.cannot.empty());
  EXPECT_EQ(replays.kernel_time_ns, 26'000);
  for (const ReplayRow& row : replays.rows) EXPECT_EQ(row.script.empty(), !row.call.cannot.empty());
}

// A convolution turns each of its tensors with one kernel: each grid has its own time.
TEST(Replay, EachGridOfAKernelIsARowOfItsOwn) {
  const auto turned = [](int id, int at, int took, int blocks) {
    const std::string correlation = "\"correlation\": " + std::to_string(id);
    const std::string args =
        correlation + R"(, "device": 0, "stream": 7, "block": [32, 1, 1], "grid": [)" + std::to_string(blocks) + ", 1, 1]";
    return event({.name = "cudaLaunchKernel", .ts = at, .dur = 2, .cat = "cuda_runtime", .args = correlation}) + ", " +
           event({.name = "turn", .ts = at + 20, .dur = took, .cat = "kernel", .args = args, .tid = 7});
  };
  const auto loaded = test::load_events(test::join({
      event({.name = "aten::mm", .ts = 0, .dur = 10, .args = kProduct}),
      turned(1, 1, 2, 5),
      turned(2, 4, 13, 512),
      event({.name = "aten::mm", .ts = 100, .dur = 10, .args = kProduct}),
      turned(3, 101, 2, 5),
      turned(4, 104, 13, 512),
  }));
  const Replays replays = replays_of(loaded);
  ASSERT_EQ(replays.rows.size(), 2U);
  EXPECT_EQ(replays.rows[0].call.median_ns, 13'000);
  EXPECT_NE(replays.rows[0].script.find("\"grid\": [512, 1, 1]"), std::string::npos);
  EXPECT_EQ(replays.rows[1].call.median_ns, 2'000);
  EXPECT_NE(replays.rows[1].script.find("\"grid\": [5, 1, 1]"), std::string::npos);
  for (const ReplayRow& row : replays.rows) {
    EXPECT_EQ(row.call.count, 2);
    EXPECT_EQ(row.call.launches.size(), 2U) << "the whole call";
  }
}

// One call has one setting: a part of it on ordinary units does not say that the other may not take TF32.
TEST(Replay, UnitsOfACallAreToldByAllItsKernels) {
  const auto script_of = [](const std::string& other) {
    const auto loaded = test::load_events(test::join({
        event({.name = "aten::mm", .ts = 0, .dur = 10, .args = kProduct}),
        launch(1, 1, 2, "sm80_xmma_gemm_f32f32_f32f32_f32_nt_n_tilesize64x64x8_stage3_warpsize1x4x1_ffma_aligna4_kernel", 20,
               9),
        launch(2, 4, 2, other, 40, 3),
    }));
    return replays_of(loaded).rows.front().script;
  };
  EXPECT_NE(script_of("sm80_xmma_gemm_tf32f32_tf32f32_f32_nn_n_tilesize128x64x32_tensor16x8x8_kernel").find("\"tf32\": True"),
            std::string::npos);
  EXPECT_NE(script_of("transpose").find("\"tf32\": False"), std::string::npos);
}

TEST(Replay, NamesOfThousandsOfCharactersAreCutWhereTheyAreListed) {
  const std::string tail(1500, 'x');
  const auto loaded = test::load_events(test::join({
      event({.name = "aten::mm", .ts = 0, .dur = 10, .args = kProduct}),
      launch(1, 1, 2, "my_long_kernel_a" + tail, 20, 9),
      launch(2, 4, 2, "my_long_kernel_b" + tail, 40, 3),
  }));
  const auto found = compute_replays(Scope(*loaded.model), {.kernel = "my_long", .most = 0, .scripts = true});
  ASSERT_FALSE(found);
  EXPECT_LT(found.error().message.size() + found.error().hint.size(), 700U);
  EXPECT_NE(found.error().hint.find("my_long_kernel_b"), std::string::npos) << found.error().hint;
}

TEST(Replay, ChoosesByKernelOpAndShape) {
  const std::string other = R"("Input Dims": [[8, 8], [8, 8]], "Input type": ["float", "float"], "Concrete Inputs": ["", ""])";
  const auto loaded = test::load_events(test::join({
      event({.name = "aten::mm", .ts = 0, .dur = 10, .args = kProduct}),
      launch(1, 1, 2, "gemm", 20, 7),
      event({.name = "aten::mm", .ts = 30, .dur = 10, .args = other}),
      launch(2, 31, 2, "gemm_small", 50, 3),
  }));
  EXPECT_EQ(replays_of(loaded, {.op = "mm", .shape = "8x8", .scripts = true}).rows.size(), 1U);
  EXPECT_EQ(replays_of(loaded, {.op = "aten::mm", .shape = "[[64, 32],[32, 16]]", .scripts = true}).rows.size(), 1U);
  EXPECT_EQ(replays_of(loaded, {.kernel = "gemm_small", .scripts = true}).rows[0].call.time_ns, 3'000);
  const Scope scope(*loaded.model);
  EXPECT_FALSE(compute_replays(scope, {.op = "mn"}));
  EXPECT_FALSE(compute_replays(scope, {.op = "mm", .shape = "9x9"}));
  EXPECT_FALSE(compute_replays(scope, {.kernel = "nothing"}));
}

// An optimizer's numbers differ from step to step: one call.
TEST(Replay, TakesNumbersWithFractionsForOneCall) {
  const auto add = [](std::string_view alpha) {
    return R"("Input Dims": [[8], [8], []], "Input type": ["float", "float", "Scalar"], "Concrete Inputs": ["", "", ")" +
           std::string(alpha) + R"("])";
  };
  const auto loaded = test::load_events(test::join({
      event({.name = "aten::add_", .ts = 0, .dur = 10, .args = add("-0.001")}),
      launch(1, 1, 2, "add", 20, 7),
      event({.name = "aten::add_", .ts = 30, .dur = 10, .args = add("-0.0009")}),
      launch(2, 31, 2, "add", 50, 7),
      event({.name = "aten::add_", .ts = 60, .dur = 10, .args = add("1")}),
      launch(3, 61, 2, "add", 80, 7),
  }));
  EXPECT_EQ(replays_of(loaded).rows.size(), 2U);
}

// An optimizer's lists are left out; the gradients before it tell their sizes, and the kernel's blocks whether they are meant.
TEST(Replay, TakesLeftOutListsFromTheGradients) {
  const auto gradient = [](int ts, std::string_view dims) {
    return event({.name = "torch::autograd::AccumulateGrad",
                  .ts = ts,
                  .dur = 2,
                  .args = R"("Input Dims": [)" + std::string(dims) + "]"});
  };
  const auto step = [](std::string_view op, int ts) {
    return event({.name = op,
                  .ts = ts,
                  .dur = 10,
                  .args = R"("Input Dims": [[], []], "Input type": ["TensorList", "Scalar"], "Concrete Inputs": ["", "1"])"});
  };
  const auto kernel = [](int id, int ts, std::string_view name, int blocks) {
    const std::string correlation = "\"correlation\": " + std::to_string(id);
    return test::join({event({.name = "cudaLaunchKernel", .ts = ts, .dur = 1, .cat = "cuda_runtime", .args = correlation}),
                       event({.name = name,
                              .ts = ts + 20,
                              .dur = 3,
                              .cat = "kernel",
                              .args = correlation + R"(, "device": 0, "stream": 7, "block": [512, 1, 1], "grid": [)" +
                                      std::to_string(blocks) + ", 1, 1]",
                              .tid = 7})});
  };
  const auto loaded = test::load_events(test::join({
      gradient(0, "[70000]"),
      gradient(3, "[64, 4]"),
      step("aten::_foreach_mul_", 10),
      kernel(1, 11, "void multi_tensor_apply_kernel<float>(int)", 3),  // 2 chunks and 1
      step("aten::_foreach_add_", 50),
      kernel(2, 51, "void multi_tensor_apply_kernel<double>(int)", 2),  // a number each
      step("aten::_foreach_sub_", 90),
      kernel(3, 91, "void multi_tensor_apply_kernel<int>(int)", 77),
      step("aten::cat", 130),
      kernel(4, 131, "void CatArrayBatchedCopy<int>(int)", 3),
  }));
  std::map<std::string_view, const ReplayCall*> calls;
  const Replays replays = replays_of(loaded);
  for (const ReplayRow& row : replays.rows) calls[row.call.op] = &row.call;
  ASSERT_EQ(calls.size(), 4U);
  EXPECT_EQ(calls["aten::_foreach_mul_"]->list_sizes, (std::vector<double>{256, 70000}));
  EXPECT_EQ(calls["aten::_foreach_add_"]->list_sizes, (std::vector<double>{1, 1}));
  EXPECT_FALSE(calls["aten::_foreach_sub_"]->cannot.empty());
  EXPECT_FALSE(calls["aten::cat"]->cannot.empty());
}

// Kernels queued before the recording are more of the one call that launched the same kernel, grid and block.
TEST(Replay, GivesWhatWasQueuedEarlierToTheOnlyCallLikeIt) {
  const auto kernel = [](std::string_view name, int ts, std::string_view more) {
    return event({.name = name,
                  .ts = ts,
                  .dur = 5,
                  .cat = "kernel",
                  .args = R"("device": 0, "stream": 7, "block": [32, 1, 1], )" + std::string(more),
                  .tid = 7});
  };
  const auto call = [&](int id, int ts, std::string_view dims, std::string_view name) {
    const std::string args = R"("Input Dims": )" + std::string(dims) + R"(, "Input type": ["float"], "Concrete Inputs": [""])";
    const std::string correlation = "\"correlation\": " + std::to_string(id);
    return test::join({event({.name = "aten::relu", .ts = ts, .dur = 9, .args = args}),
                       event({.name = "cudaLaunchKernel", .ts = ts + 1, .dur = 1, .cat = "cuda_runtime", .args = correlation}),
                       kernel(name, ts + 20, R"("grid": [2, 1, 1], )" + correlation)});
  };
  const auto loaded = test::load_events(test::join({
      kernel("one", 0, R"("grid": [2, 1, 1], "correlation": 90)"),
      kernel("one", 10, R"("grid": [3, 1, 1], "correlation": 91)"),
      kernel("two", 20, R"("grid": [2, 1, 1], "correlation": 92)"),
      call(1, 100, "[[64]]", "one"),
      call(2, 200, "[[64]]", "two"),
      call(3, 300, "[[65]]", "two"),
  }));
  const Replays replays = replays_of(loaded);
  std::int64_t of_one = 0, cannot = 0;
  for (const ReplayRow& row : replays.rows) {
    if (row.call.launch.kernel == "one" && row.call.cannot.empty()) of_one = row.call.count;
    cannot += row.call.cannot.empty() ? 0 : row.call.count;
  }
  EXPECT_EQ(of_one, 2);
  EXPECT_EQ(cannot, 2) << "another grid, and a kernel of two calls";
  EXPECT_EQ(replays.kernel_time_ns, 30'000);
}

// A tuner runs each configuration a hundred times: its launches neither stand before the program's nor change their median.
TEST(Replay, WhatTheTunerTriedIsNoCallOfTheProgram) {
  const auto product = [](int id, int at, int took) {
    return test::join(
        {event({.name = "aten::mm", .ts = at, .dur = 10, .args = kProduct}), launch(id, at + 1, 2, "gemm", at + 20, took)});
  };
  std::vector<std::string> events = {
      event({.name = "CachingAutotuner.benchmark_all_configs", .ts = 0, .dur = 900}), product(1, 10, 40), product(2, 110, 42),
      event({.name = "aten::mm", .ts = 210, .dur = 10, .args = kProduct}), launch(3, 211, 2, "tried", 230, 50)};
  for (int i = 0; i < 2; ++i) events.push_back(product(4 + i, 1000 + 100 * i, 7));
  std::string all;
  for (const std::string& each : events) all += (all.empty() ? "" : ",") + each;
  const auto loaded = test::load_events(all);
  const Replays replays = replays_of(loaded);
  ASSERT_EQ(replays.rows.size(), 3U);
  EXPECT_FALSE(replays.rows[0].call.by_compiler);
  EXPECT_EQ(replays.rows[0].call.count, 2);
  EXPECT_EQ(replays.rows[0].call.median_ns, 7'000);
  for (std::size_t i = 1; i < 3; ++i) {
    EXPECT_TRUE(replays.rows[i].call.by_compiler) << i;
    EXPECT_TRUE(replays.rows[i].call.cannot.empty()) << "who asks for it gets it: " << replays.rows[i].call.cannot;
  }
  EXPECT_EQ(replays.kernel_time_ns, 146'000);
  const Report report = report_replays(replays);
  EXPECT_EQ(report.headline, "100.0 % of the program's kernel time can be run alone");
  ASSERT_EQ(report.diagnostics.size(), 1U);
  EXPECT_EQ(report.diagnostics[0].code, "compiler_calls");
}

TEST(Replay, SaysOfEachKernelOfAGraphWhatIsMissing) {
  const auto reason_of = [](std::string_view kernel) {
    const auto loaded = test::load_events(
        test::join({event({.name = "cudaGraphLaunch", .ts = 1, .dur = 2, .cat = "cuda_runtime", .args = R"("correlation": 1)"}),
                    event({.name = kernel,
                           .ts = 20,
                           .dur = 5,
                           .cat = "kernel",
                           .args = R"("device": 0, "stream": 7, "correlation": 1)",
                           .tid = 7})}));
    const Replays replays = replays_of(loaded);
    EXPECT_EQ(replays.rows.size(), 1U);
    return replays.rows.empty() ? std::string() : replays.rows[0].call.cannot;
  };
  const auto says = [&](std::string_view kernel, std::string_view words) {
    const std::string reason = reason_of(kernel);
    EXPECT_NE(reason.find(words), std::string::npos) << kernel << ": " << reason;
    EXPECT_NE(reason.find("--capture"), std::string::npos) << reason;
  };
  says("nvjet_sm90_tst_128x64_64x8_1x2_h_bz_NNT", "sizes of its product");
  says("triton_poi_fused_add_0", "ridge bench output_code.py");
  says("void pytorch_flash::flash_fwd_kernel<x>(y)", "mask of its attention");
  says("void at::native::vectorized_elementwise_kernel<4, x>(y)", "sizes and strides");
  says("some_kernel_of_a_library", "missing: its op");
}

// Whatever stands in a trace is text in the script: the literals of CALL and ARGUMENTS hold it, and nothing else changes.
TEST(Replay, KeepsTextOfTheTraceText) {
  for (const std::string& name : {std::string(R"(x\"\"\"\nimport os)"), std::string(R"(\\N{BULLET}'''\\)"),
                                  std::string(R"(\u2028import os)"), std::string(R"(a\ud800b)")}) {
    const std::string args = R"("Input Dims": [[64, 32], [32, 16], []], "Input type": ["float", "float", ")" + name +
                             R"("], "Concrete Inputs": ["", "", ")" + name + R"("])";
    const auto loaded = test::load_events(test::join({
        event({.name = "aten::mm", .ts = 0, .dur = 10, .args = args}),
        launch(1, 1, 2, name, 20, 7),
    }));
    const Replays replays = replays_of(loaded);
    ASSERT_EQ(replays.rows.size(), 1U) << name;
    const std::string& script = replays.rows[0].script;
    ASSERT_FALSE(script.empty()) << name;
    for (const PythonLine& line : python_lines(script)) {
      if (line.indent > 0 || line.tokens.empty()) continue;
      EXPECT_FALSE(is_word(line.tokens[0], "import") && line.tokens.back().text == "os") << name;
    }
    const auto plain = test::load_events(
        test::join({event({.name = "aten::mm", .ts = 0, .dur = 10, .args = kProduct}), launch(1, 1, 2, "gemm", 20, 7)}));
    EXPECT_EQ(python_lines(script).size(), python_lines(replays_of(plain).rows[0].script).size()) << name;
    EXPECT_TRUE(std::ranges::all_of(script, [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); })) << name;
  }
}

TEST(Replay, AddsUpToAllKernelsOfEveryTrace) {
  for (const std::string& path : test::own_traces()) {
    const auto loaded = test::load_file(path);
    const Scope scope(*loaded.model);
    const Replays replays = replays_of(loaded, {.most = 1});
    const auto kernels = compute_kernels(scope);
    std::int64_t count = 0, time_ns = 0, all_count = 0, all_ns = 0;
    for (const ReplayRow& row : replays.rows) {
      count += row.call.count;
      time_ns += row.call.time_ns;
    }
    for (const auto& row : kernels.rows) {
      all_count += row.count;
      all_ns += row.time_ns;
    }
    EXPECT_EQ(count, all_count) << path;
    EXPECT_EQ(time_ns, all_ns) << path;
    EXPECT_EQ(replays.kernel_time_ns, all_ns) << path;
  }
}

}  // namespace
}  // namespace ridge
