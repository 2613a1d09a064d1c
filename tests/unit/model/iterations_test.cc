// Iterations against the number that each recorded program really ran.
#include "model/iterations.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>

#include "ingest/reader.h"
#include "model/model.h"
#include "support/files.h"
#include "support/loaded_trace.h"

namespace ridge {
namespace {

using enum IterationRule;

struct Truth {
  std::int64_t count;
  IterationRule rule;
};

const std::map<std::string, Truth> kTruth = {
    {"clean_busy_gemm", {3, python_frame}},
    {"clean_channels_last", {3, python_frame}},
    {"clean_fused_pointwise", {3, compiled_graph}},
    {"clean_optimizer_fused", {3, optimizer_step}},
    {"clean_pinned_copy", {3, python_frame}},
    {"clean_tf32", {3, python_frame}},
    {"compiled_with_fallbacks", {2, compiled_graph}},
    {"cpu_activity_only", {3, compiled_graph}},
    {"ddp_gloo_rank0", {4, optimizer_step}},
    {"densenet121_bs1_compiled", {5, compiled_graph}},
    {"densenet121_bs1_cudagraph", {5, compiled_graph}},
    {"densenet121_bs1_eager", {5, device_period}},
    {"fault_optimizer_loop", {3, optimizer_step}},
    {"fault_recompile_in_window", {1, whole_window}},
    {"fault_recompile_limit", {3, compiled_graph}},
    {"fault_tiny_kernels", {3, python_frame}},
    {"fault_uncached_allocator", {2, python_frame}},
    {"flex_attention_compiled", {2, compiled_graph}},
    {"gpt_compiled_train", {3, optimizer_step}},
    {"gpt_cudagraph_infer", {3, compiled_graph}},
    {"gpt_eager_train_stack_mem", {2, optimizer_step}},
    {"graph_breaks", {3, compiled_graph}},
    {"graph_breaks_inference", {3, compiled_graph}},
    {"graph_breaks_stack", {3, compiled_graph}},
    {"inductor_kernel_kinds", {3, compiled_graph}},
    {"inductor_module_p", {100, device_period}},
    {"mlp_profiler_steps", {4, profiler_step}},
    {"nested_disabled_not_a_plain_break", {3, compiled_graph}},
    {"omni_compiled_half", {1, whole_window}},
    {"omni_compiled_half_x5", {5, compiled_graph}},
    {"omni_eager_double", {1, whole_window}},
    {"resnet18_compiled", {3, compiled_graph}},
    {"resnet18_compiled_stack_mem", {3, compiled_graph}},
    {"resnet18_eager_shapes", {3, device_period}},
    {"server_steps", {8, server_step}},
    {"triton_short_names", {3, compiled_graph}},
    {"user_triton_kernel", {3, device_period}},
};

std::string stem(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  return name.substr(0, name.find(".json"));
}

TEST(Iterations, AreWhatTheProgramsRan) {
  std::size_t checked = 0;
  for (const std::string& path : test::all_traces()) {
    const auto truth = kTruth.find(stem(path));
    if (truth == kTruth.end()) continue;
    const auto trace = read_trace(path, {});
    ASSERT_TRUE(trace) << path;
    const Model model(**trace);
    EXPECT_EQ(model.iterations().count(), truth->second.count) << path;
    EXPECT_EQ(name_of(model.iterations().rule), name_of(truth->second.rule)) << path;
    ++checked;
  }
  EXPECT_GE(checked, 25U);
}

TEST(Iterations, AreDisjointInOrderAndInsideTheWindow) {
  for (const std::string& path : test::own_traces()) {
    const auto trace = read_trace(path, {});
    ASSERT_TRUE(trace) << path;
    const Model model(**trace);
    std::int64_t last = INT64_MIN;
    for (const Iteration& iteration : model.iterations().list) {
      EXPECT_GE(iteration.start_ns, last) << path;
      EXPECT_LE(iteration.start_ns, iteration.end_ns) << path;
      last = iteration.end_ns;
    }
    EXPECT_LE(last, (*trace)->window->end_ns) << path;
  }
}

// Four runs of a program with one graph break: region 0/0 with region 1/0 inside it, a kernel in each. How a region is named
// depends on the version.
Iterations compiled_program(std::string_view name, bool context, int runs = 4) {
  std::string events;
  for (int i = 0; i < runs; ++i) {
    const int at = i * 1'000;
    const auto region = [&](std::string_view id, int from, int us) {
      const std::string called = std::string(name) + (name.ends_with(": ") ? std::string(id) : "");
      const std::string args = context ? "\"context\": \"" + std::string(id) + "\"" : "";
      events += test::event({.name = called, .ts = from, .dur = us, .args = args}) + ", ";
    };
    region("0/0", at + 5, 200);
    region("1/0", at + 85, 115);
    events += test::launch(2 * i + 1, at + 12, 3, "a", at + 20, 10) + ", ";
    events += test::launch(2 * i + 2, at + 92, 3, "b", at + 100, 10) + ", ";
  }
  events.resize(events.size() - 2);
  const test::LoadedTrace loaded = test::load_events(events);
  return loaded.model->iterations();
}

// Three replays of a graph of four equal layers: the layers repeat, but a launch is of one iteration.
TEST(Iterations, ALaunchIsOfOneIteration) {
  const auto replays = [](int layers, std::string_view call) {
    std::string events;
    for (int i = 0; i < 3; ++i) {
      const int at = i * 1'000, id = i + 1;
      for (int layer = 0; layer < layers; ++layer) {
        events += (events.empty() ? "" : ", ") + test::launch(id, at, 5, "a", at + 20 + 40 * layer, 10, call) + ", " +
                  test::event({.name = "b",
                               .ts = at + 40 + 40 * layer,
                               .dur = 10,
                               .cat = "kernel",
                               .args = "\"correlation\": " + std::to_string(id) + ", \"device\": 0, \"stream\": 7",
                               .tid = 7});
      }
    }
    return test::load_events(events).model->iterations();
  };
  const Iterations layered = replays(4, "cudaGraphLaunch");
  EXPECT_EQ(layered.count(), 3);
  EXPECT_EQ(layered.rule, device_period);
  for (const Iteration& i : layered.list) EXPECT_GT(i.span.duration_ns(), 0);
  EXPECT_EQ(replays(1, "cudaGraphLaunch").count(), 3);
}

TEST(Iterations, OfCompiledProgramsOfEveryVersion) {
  struct Version {
    std::string_view name;
    bool context;
    IterationRule rule;
  };
  for (const Version& v : {Version{"Torch-Compiled Region: ", false, compiled_graph},  // 2.6
                           Version{"Torch-Compiled Region", true, compiled_graph},     // 2.5
                           Version{"Torch-Compiled Region", false, device_period},     // 2.2 to 2.4
                           Version{"Torch-Compiled Region: Unknown", false, device_period}}) {
    const Iterations found = compiled_program(v.name, v.context);
    EXPECT_EQ(found.count(), 4) << v.name << v.context;
    EXPECT_EQ(name_of(found.rule), name_of(v.rule)) << v.name << v.context;
  }
}

// One call of compiled code whose kernels repeat: the repeats lie inside it.
TEST(Iterations, KernelsThatRepeatInsideACallWithoutAnIdAreNone) {
  std::string events = test::event({.name = "Torch-Compiled Region", .ts = 0, .dur = 900});
  for (int i = 0; i < 4; ++i) events += ", " + test::launch(i + 1, 10 + i * 100, 3, "a", 20 + i * 100, 10);
  const test::LoadedTrace loaded = test::load_events(events);
  EXPECT_EQ(name_of(loaded.model->iterations().rule), name_of(whole_window));
}

TEST(Iterations, TheUsersWordComesFirst) {
  const auto trace = read_trace_bytes(test::fixture("mlp_profiler_steps"), "steps", {});
  ASSERT_TRUE(trace);
  const Model model(**trace, 2);
  EXPECT_EQ(model.iterations().count(), 2);
  EXPECT_EQ(model.iterations().rule, runs);
}

}  // namespace
}  // namespace ridge
