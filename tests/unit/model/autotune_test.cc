// The names of the tuner's spans, and that the launch decides and not the kernel's start.
#include "model/autotune.h"

#include <gtest/gtest.h>

#include "support/loaded_trace.h"

namespace ridge::test {
namespace {

TEST(Autotune, NamesOfTheTuner) {
  for (const char* name :
       {"CachingAutotuner.benchmark_all_configs", "CachingAutotuner.coordinate_descent_tuning (dynamo_timed)",
        "benchmark_fused_nodes (dynamo_timed)", "mm_template_autotuning", "do_bench_using_profiling"}) {
    EXPECT_TRUE(is_autotune_span(EventClass::op, name)) << name;
  }
  // A user's own annotation is the user's own work, and a data mark is no span.
  for (const char* name :
       {"benchmark_step", "benchmark", "aten::mm", "CachingAutotuner.benchmark_all_configs_data: kernel_name=k"}) {
    EXPECT_FALSE(is_autotune_span(EventClass::annotation, name)) << name;
  }
  EXPECT_TRUE(is_autotune_span(EventClass::python_frame, "torch/_inductor/runtime/benchmarking.py(120): benchmark_gpu"));
  EXPECT_TRUE(is_autotune_span(EventClass::python_frame, "/lib/triton/testing.py(96): do_bench"));
  EXPECT_FALSE(is_autotune_span(EventClass::python_frame, "train.py(3): do_bench"));
}

TEST(Autotune, WorkLaunchedUnderASpan) {
  const LoadedTrace t = load_events(join({
      event({.name = "CachingAutotuner.benchmark_all_configs", .ts = 100, .dur = 100}), launch(1, 10, 5, "own", 20, 5),
      launch(2, 150, 5, "tried", 300, 5),  // runs after the span: the launch counts
      launch(3, 210, 5, "own", 310, 5),
      launch(4, 150, 5, "elsewhere", 160, 5, "cudaLaunchKernel", 2),  // at the same time, on another thread
  }));
  const Autotuning& tuning = t.model->autotuning();
  ASSERT_EQ(tuning.spans.size(), 1U);
  std::vector<std::string> tried;
  const auto& work = t.trace->of(EventClass::device_work);
  for (std::size_t row = 0; row < work.size(); ++row) {
    if (tuning.holds_work(row)) tried.emplace_back(t.trace->text(t.trace->events.name(work[row])));
  }
  EXPECT_EQ(tried, std::vector<std::string>{"tried"});
}

}  // namespace
}  // namespace ridge::test
