// Configurations that a tuner tried, by hand: a library's kernel, two configurations of one look, and what the program ran
// then.
#include "analysis/autotune/autotune.h"

#include <gtest/gtest.h>

#include "analysis/compile/compile.h"
#include "cost/config_cache.h"
#include "support/loaded_trace.h"

namespace ridge::test {
namespace {

// Microseconds. A call of an op that launches one kernel.
struct TimedBy {
  std::string op, kernel, grid, more;  // more: further arguments of the op
  std::int64_t shared = 49152;
};

class Tuned {
 public:
  void phase(const std::string& key, double start, double length) { add("cpu_op", key + " (dynamo_timed)", start, length, ""); }
  void op(const std::string& name, double at) { add("cpu_op", name, at, 1, ""); }
  void call(const TimedBy& by, double at, double took) {
    const std::string id = std::to_string(++id_);
    add("cpu_op", by.op, at, 4, "\"External id\": " + id + by.more);
    add("cuda_driver", "cuLaunchKernel", at + 1, 2, "\"External id\": " + id + ", \"correlation\": " + id);
    add("kernel", by.kernel, at + 5, took,
        "\"External id\": " + id + ", \"correlation\": " + id + ", \"device\": 0, \"stream\": 7, \"grid\": " + by.grid +
            R"(, "block": [256, 1, 1], "registers per thread": 59, "shared memory": )" + std::to_string(by.shared));
  }
  LoadedTrace loaded() const { return load_events(events_); }

 private:
  void add(const std::string& cat, const std::string& name, double ts, double dur, const std::string& args) {
    const bool device = cat == "kernel";
    events_ += (events_.empty() ? "" : ",\n") + std::string(R"({"ph": "X", "cat": ")") + cat + R"(", "name": ")" + name +
               R"(", "pid": )" + (device ? "0" : "1") + R"(, "tid": )" + (device ? "7" : "1") + R"(, "ts": )" +
               std::to_string(ts) + R"(, "dur": )" + std::to_string(dur) + R"(, "args": {)" + args + "}}";
  }
  std::string events_;
  int id_ = 0;
};

constexpr const char* kDims =
    R"(, "Input Dims": [[2048, 4096], [4096, 1024], [2048, 1024]], "Input type": ["c10::BFloat16", "c10::BFloat16", "c10::BFloat16"], "Input Strides": [[4096, 1], [1024, 1], [1024, 1]])";

Tuned product() {
  const std::string of_eight = std::string(kDims) + R"(, "num_warps": 8, "num_stages": 4, "kernel_backend": "triton")";
  const TimedBy library{"aten::mm", "nvjet_128x128", "[8, 16, 1]", R"(, "Input Dims": [[2048, 4096], [4096, 1024]])"};
  // 64 x 128 and 128 x 64: as many tiles, warps, stages and as much shared memory.
  const TimedBy triton{"Placeholder.DESCRIPTIVE_NAME", "triton_mm", "[256, 1, 1]", of_eight};
  const TimedBy program{"triton_tem_fused_mm_0", "triton_tem_fused_mm_0", "[256, 1, 1]", of_eight};
  Tuned t;
  t.phase("mm_template_autotuning", 0, 1000);
  double at = 10;
  const auto benchmark = [&](const TimedBy& by, double took) {
    t.call(by, at, took + 5);  // the first call is warm-up; the buffer comes behind it
    t.op("aten::empty", at + 10);
    for (int i = 1; i <= 3; ++i) t.op("aten::zero_", at + 20 * i), t.call(by, at + 20 * i + 5, took + (i == 2 ? 0 : 1));
    at += 100;
  };
  benchmark(library, 4);
  benchmark(triton, 7);
  benchmark(triton, 6);
  t.call(program, 1100, 6);
  return t;
}

TEST(Autotune, ConfigurationsTheirTimesAndTheChosenOne) {
  const LoadedTrace t = product().loaded();
  const Autotune found = compute_autotune(Scope(*t.model));
  ASSERT_EQ(found.tunings.size(), 1U);
  const TunedOnce& tuning = found.tunings.front();
  EXPECT_EQ(tuning.how, "mm_template_autotuning");
  EXPECT_EQ(tuning.what, "mm [2048,4096] x [4096,1024] bfloat16");
  EXPECT_EQ(tuning.wall_ns, 1'000'000);
  ASSERT_EQ(tuning.tried.size(), 3U) << "equal calls are two configurations where a benchmark began anew; filling is none";
  EXPECT_EQ(tuning.tried[0].min_ns, 4'000);
  EXPECT_EQ(tuning.tried[0].launches, 4);
  EXPECT_EQ(tuning.tried[0].wall_ns, 100'000);
  EXPECT_EQ(tuning.tried[1].min_ns, 7'000);
  EXPECT_EQ(tuning.tried[1].median_ns, 8'000);
  EXPECT_EQ(tuning.tried[2].min_ns, 6'000);
  EXPECT_EQ(tuning.tried[2].place, 2);
  EXPECT_EQ(tuning.fastest(), &tuning.tried[0]);
  EXPECT_EQ(tuning.chosen(), &tuning.tried[2]) << "of two that look alike the faster";
  // In the order in which Inductor tries them.
  ASSERT_TRUE(tuning.tried[1].tile && tuning.tried[2].tile);
  EXPECT_EQ(*tuning.tried[1].tile, (TritonTile{64, 128, 32, 8, 4}));
  EXPECT_EQ(*tuning.tried[2].tile, (TritonTile{128, 64, 32, 8, 4}));
  EXPECT_FALSE(tuning.tried[0].tile);
  // What was tried is what `compile` counts, but for what prepares.
  const Compile compile = compute_compile(Scope(*t.model));
  EXPECT_EQ(compile.kernels.front().launches, tuning.launches);
  EXPECT_EQ(compile.kernels.front().gpu_ns, tuning.gpu_ns);
  EXPECT_EQ(compile.kernels.front().total_ns, tuning.wall_ns);
}

// As triton.autotune times a kernel of the program's own: no span, no op around its launches.
class OwnTuned {
 public:
  OwnTuned& launch(const std::string& kernel, double took, const std::string& grid) {
    return work("cuLaunchKernelEx", "", kernel, took, grid);
  }
  OwnTuned& op(const std::string& name) {
    add("cpu_op", name, at_, 2, "");
    at_ += 5;
    return *this;
  }
  OwnTuned& fill(double took) { return work("cudaLaunchKernel", "aten::zero_", "fill", took, "[65536, 1, 1]"); }
  OwnTuned& benchmark(const std::string& kernel, double took, const std::string& grid, double fill_took = 60) {
    launch(kernel, took + 3, grid).op("aten::empty");
    for (int i = 0; i < 6; ++i) fill(fill_took).launch(kernel, took + (i == 3 ? 0 : 1), grid);
    return *this;
  }
  LoadedTrace loaded() const { return load_events(events_); }

 private:
  OwnTuned& work(const std::string& call, const std::string& op, const std::string& kernel, double took,
                 const std::string& grid) {
    const std::string id = std::to_string(++id_);
    if (!op.empty()) add("cpu_op", op, at_, 6, "");
    add(call == "cudaLaunchKernel" ? "cuda_runtime" : "cuda_driver", call, at_ + 1, 2, "\"correlation\": " + id);
    add("kernel", kernel, at_ + 8, took,
        "\"correlation\": " + id +
            R"(, "device": 0, "stream": 7, "block": [128, 1, 1], "registers per thread": 16, "shared memory": 0, "grid": )" +
            grid);
    at_ += took + 20;
    return *this;
  }
  void add(const std::string& cat, const std::string& name, double ts, double dur, const std::string& args) {
    const bool device = cat == "kernel";
    events_ += (events_.empty() ? "" : ",\n") + std::string(R"({"ph": "X", "cat": ")") + cat + R"(", "name": ")" + name +
               R"(", "pid": )" + (device ? "0" : "1") + R"(, "tid": )" + (device ? "7" : "1") + R"(, "ts": )" +
               std::to_string(ts) + R"(, "dur": )" + std::to_string(dur) + R"(, "args": {)" + args + "}}";
  }
  std::string events_;
  double at_ = 10;
  int id_ = 0;
};

TEST(Autotune, AKernelThatTheProgramTunesItself) {
  OwnTuned t;
  t.launch("mine", 9, "[7, 1, 1]");  // another key: the program's
  t.benchmark("mine", 8, "[64, 1, 1]")
      .benchmark("mine", 5, "[32, 1, 1]")
      .launch("mine", 5, "[32, 1, 1]")
      .op("aten::mul")
      .launch("mine", 5, "[32, 1, 1]");
  const LoadedTrace loaded = t.loaded();
  const Autotune found = compute_autotune(Scope(*loaded.model));
  ASSERT_EQ(found.tunings.size(), 1U);
  const TunedOnce& tuning = found.tunings.front();
  EXPECT_EQ(tuning.how, kOwnTuner);
  EXPECT_EQ(tuning.what, "mine");
  ASSERT_EQ(tuning.tried.size(), 2U);
  EXPECT_EQ(tuning.tried[0].launches, 7);
  EXPECT_EQ(tuning.tried[0].min_ns, 8'000);
  EXPECT_EQ(tuning.tried[1].min_ns, 5'000);
  EXPECT_EQ(tuning.tried[1].place, 1);
  EXPECT_EQ(tuning.chosen(), &tuning.tried[1]);
  EXPECT_EQ(tuning.launches, 14) << "neither what ran before nor the launch behind the last benchmark";
}

TEST(Autotune, ClearingAResultBeforeEachLaunchIsNoBenchmark) {
  OwnTuned small;
  small.benchmark("mine", 8, "[64, 1, 1]", 3).benchmark("mine", 5, "[32, 1, 1]", 3);
  EXPECT_TRUE(compute_autotune(Scope(*small.loaded().model)).tunings.empty()) << "its buffer is small";
  OwnTuned among;
  for (int i = 0; i < 20; ++i)
    among.launch("mine", 8, "[64, 1, 1]").op("aten::empty").fill(60).launch("mine", 8, "[64, 1, 1]").op("aten::mul");
  EXPECT_TRUE(compute_autotune(Scope(*among.loaded().model)).tunings.empty()) << "the program works in between";
}

// Two kernels of equal inputs: what another kernel runs, and what ran before the tuner, is not what this one chose.
TEST(Autotune, TheChosenOneIsWhatTheProgramLaunchedAfterTheTuner) {
  for (const bool unknown : {false, true}) {
    for (const bool shapes : {false, true}) {
      const auto config = [&](const std::string& name, int warps) {
        const std::string more = std::string(kDims) + ", \"num_warps\": " + std::to_string(warps) + ", \"num_stages\": 1";
        return TimedBy{name, name, "[" + std::to_string(1024 / warps) + ", 1, 1]", shapes ? more : ""};
      };
      Tuned t;
      t.call(config("triton_red_fused_sum_0", 4), 10, 3);  // of an earlier graph
      t.phase("CachingAutotuner.benchmark_all_configs", 100, 100);
      t.call(config("triton_red_fused_sum_0", 4), 110, 3);
      t.call(config("triton_red_fused_sum_0", 8), 130, 4);
      t.call(config("triton_red_fused_other_1", 4), 300, 3);
      t.call(config("triton_red_fused_sum_0", unknown ? 16 : 8), 320, 4);
      t.call(config("triton_red_fused_sum_0", 4), 340, 3);  // of a later one
      const LoadedTrace loaded = t.loaded();
      const Autotune found = compute_autotune(Scope(*loaded.model));
      ASSERT_EQ(found.tunings.size(), 1U);
      ASSERT_EQ(found.tunings[0].tried.size(), 2U);
      EXPECT_EQ(found.tunings[0].chosen(), unknown ? nullptr : &found.tunings[0].tried[1]);
      EXPECT_EQ(found.tunings[0].fastest(), &found.tunings[0].tried[0]);
    }
  }
}

TEST(Autotune, NothingWhereNothingWasTuned) {
  Tuned t;
  t.call({"aten::mm", "gemm", "[1, 1, 1]", ""}, 10, 5);
  const LoadedTrace loaded = t.loaded();
  const Autotune found = compute_autotune(Scope(*loaded.model));
  EXPECT_TRUE(found.tunings.empty());
  const Report report = report_autotune(found);
  ASSERT_EQ(report.tables.size(), 2U) << "no cache was named";
  EXPECT_TRUE(report.tables.front().empty());
  EXPECT_NE(report.headline.find("record the first run"), std::string::npos) << report.headline;
}

// Sources that also keep configurations.
class Kept : public KernelSources, public ConfigCache {
 public:
  std::optional<std::string> find(std::string_view) const override { return std::nullopt; }
  std::vector<KeptConfig> kept_configs() const override {
    return {
        {"aa/1.best_config",
         R"({"XBLOCK": 1024, "num_warps": 16, "num_stages": 1, "configs_hash": "x", "found_by_coordesc": true, "time_taken_ms": 12})",
         {"triton_poi_fused_add_0"}},
        {"bb/2.best_config", "{", {"triton_red_fused_sum_1"}},
        {"cc/3.best_config", "[]", {}}};
  }
};

TEST(Autotune, KernelsOfTheCacheThatNobodyTunedWereHits) {
  Tuned t;
  t.call({"triton_poi_fused_add_0", "triton_poi_fused_add_0", "[1, 1, 1]", ""}, 10, 5);
  const LoadedTrace loaded = t.loaded();
  const Kept kept;
  CostOptions options;
  options.sources = &kept;
  const Autotune found = compute_autotune(Scope(*loaded.model, std::make_shared<const CostModel>(*loaded.model, options)));
  ASSERT_EQ(found.kept.size(), 3U);
  EXPECT_EQ(found.kept[0].state, KeptState::hit);
  EXPECT_EQ(found.kept[0].config, R"({"XBLOCK": 1024, "num_warps": 16, "num_stages": 1})");
  EXPECT_EQ(found.kept[0].took_ms, 12);
  EXPECT_EQ(found.kept[0].by_descent, true);
  EXPECT_EQ(found.kept[1].state, KeptState::not_run);
  EXPECT_EQ(found.kept[1].config, "") << "a file that is no JSON";
  EXPECT_EQ(found.kept[2].kernel, "");
}

}  // namespace
}  // namespace ridge::test
