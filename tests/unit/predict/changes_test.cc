// Changes: their texts, and what each does to a small step that is worked out by hand.
#include "predict/changes.h"

#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "predict/what_if.h"
#include "support/host_device_trace.h"
#include "support/loaded_trace.h"
#include "support/says.h"

namespace ridge {
namespace {

using test::LoadedTrace;
using test::TraceText;

// The step after changes, from the recorded one.
class Changed {
 public:
  explicit Changed(std::unique_ptr<Trace> trace)
      : loaded_(std::move(trace)), scope_(*loaded_.model), what_if_(scope_, WhatIf::From::recorded) {}

  Outcome after(std::initializer_list<std::string_view> texts) const {
    std::vector<Change> changes;
    for (const std::string_view text : texts) {
      auto change = parse_change(text);
      EXPECT_TRUE(change) << text;
      if (change) changes.push_back(std::move(*change));
    }
    return what_if_.outcome(changes);
  }
  std::int64_t step(std::initializer_list<std::string_view> texts) const { return after(texts).step_ns.value_or(-1); }
  const WhatIf& what_if() const { return what_if_; }

 private:
  LoadedTrace loaded_;
  Scope scope_;
  WhatIf what_if_;
};

// Six launches 50 us apart, kernels of 10 us; the host decides. The step takes 310 us.
std::unique_ptr<Trace> host_bound() {
  TraceText text;
  text.annotation("ProfilerStep#0", 0, 310'000);
  for (int i = 0; i < 6; ++i) {
    const int at = i * 50'000;
    text.op(i % 2 == 0 ? "aten::mm" : "aten::add", 5'000 + at, 25'000 + at);
    text.call("cudaLaunchKernel", 10'000 + at, 14'000 + at, i + 1);
    text.kernel(i % 2 == 0 ? "gemm" : "add", 16'000 + at, 26'000 + at, i + 1);
  }
  return text.read();
}

// The same with kernels of 100 us, queued: the device decides, from 16 to 621 us, and the host waits for it at the end.
std::unique_ptr<Trace> device_bound() {
  TraceText text;
  text.annotation("ProfilerStep#0", 0, 630'000);
  for (int i = 0; i < 6; ++i) {
    const int at = i * 20'000, work = i * 101'000;
    text.op(i % 2 == 0 ? "aten::mm" : "aten::add", 5'000 + at, 15'000 + at);
    text.call("cudaLaunchKernel", 10'000 + at, 14'000 + at, i + 1);
    text.kernel(i % 2 == 0 ? "gemm" : "add", 16'000 + work, 116'000 + work, i + 1);
  }
  text.call("cudaStreamSynchronize", 120'000, 625'000);
  return text.read();
}

TEST(Changes, TextsAreReadOrRefused) {
  for (const char* good : {"kernel:gemm=0.5x", "kernel:a=b,c=+20us", "kernel:x=30us", "kernel:x=-1.5ms", "kernel:x=roof",
                           "op:aten::mm=0.5x", "host=0.8x", "cuda-graphs", "no-sync", "no-sync:aten::item", "no-breaks",
                           "no-dataloader", "fuse:elementwise|reduce", "dtype=bf16", "device=h200", "batch=2x"})
    EXPECT_TRUE(parse_change(good)) << good;
  for (const char* bad : {"",
                          "kernel",
                          "kernel:=0.5x",
                          "kernel:gemm",
                          "kernel:gemm=",
                          "kernel:gemm=fast",
                          "kernel:(=0.5x",
                          "kernel:x=-2x",
                          "kernel:x=nanx",
                          "kernel:x=1e300s",
                          "host",
                          "host=5us",
                          "host:x=0.5x",
                          "cuda-graphs:x",
                          "no-sync=1",
                          "fuse",
                          "dtype=purple",
                          "device=h2000",
                          "batch=2",
                          "graphs"})
    EXPECT_FALSE(parse_change(bad)) << bad;
  EXPECT_EQ(parse_change("kernel:a=b,c=+20us")->time.ns, 20'000);
}

TEST(Changes, WhatIsNotOnThePathSavesNothing) {
  const Changed changed(host_bound());
  EXPECT_EQ(changed.step({}), 310'000);
  EXPECT_EQ(changed.step({"kernel:gemm=0.5x"}), 310'000);
  EXPECT_EQ(changed.step({"kernel:nothing=0.5x"}), 310'000);
  EXPECT_EQ(changed.after({"kernel:nothing=0.5x"}).basis, "nothing matches");
}

// Three steps of 100 us on the host, each with a kernel of 150 us; when the first begins, the device has 150 us of work left
// from before. That is worked off once: whatever the kernels take, a step goes on taking the host's 100 us.
TEST(Changes, AFullQueueIsWorkedOffOnce) {
  TraceText text;
  text.kernel("before", 1'000, 151'000, 99);
  for (int i = 0; i < 3; ++i) {
    const int at = i * 100'000, work = i * 150'000;
    text.annotation("ProfilerStep#" + std::to_string(i + 1), at, 99'000 + at);
    text.op("aten::mm", 5'000 + at, 95'000 + at);
    text.call("cudaLaunchKernel", 10'000 + at, 14'000 + at, i + 1);
    text.kernel("gemm", 151'000 + work, 301'000 + work, i + 1);
  }
  const Changed changed(text.read());
  EXPECT_NEAR(static_cast<double>(changed.step({})), 150'000, 1'000);
  EXPECT_NEAR(static_cast<double>(changed.step({"kernel:gemm=0.1x"})), 100'000, 1'000);
  EXPECT_NEAR(static_cast<double>(changed.step({"kernel:gemm=0.9x"})), 135'000, 1'000);
}

TEST(Changes, HostTimeOfOpsGoesWithThem) {
  const Changed changed(host_bound());
  // Three ops of 20 us each.
  EXPECT_EQ(changed.step({"op:aten::mm=0.5x"}), 310'000 - 3 * 10'000);
  EXPECT_EQ(changed.step({"op:aten::mm=+50us"}), 310'000 + 3 * 50'000);
  EXPECT_EQ(changed.step({"op:aten::mm=5us"}), 310'000 - 3 * 15'000);
  // Each of what the one before left: the work between two calls is part of both ops.
  EXPECT_NEAR(static_cast<double>(changed.step({"op:aten::mm=0.5x", "op:aten::add=0.5x"})), 310'000 - 6 * 10'000, 2'000);
  EXPECT_EQ(changed.step({"host=0.5x"}), 155'000);
  // An op inside of one that matches counts once.
  EXPECT_EQ(changed.step({"op:ProfilerStep|aten::mm=0.5x"}), 155'000);
}

// Less time goes from the whole of an op, wherever it launches, as far as the op has any; never from what stands around it.
TEST(Changes, LessHostTimeComesFromTheWholeOp) {
  const Changed changed(host_bound());
  EXPECT_NEAR(static_cast<double>(changed.step({"op:aten::mm=-10us"})), 310'000 - 3 * 10'000, 10);
  EXPECT_NEAR(static_cast<double>(changed.step({"op:aten::mm=-30us"})), 310'000 - 3 * 20'000, 10);
  EXPECT_NEAR(static_cast<double>(changed.step({"op:ProfilerStep=-100us"})), 210'000, 10);
  EXPECT_EQ(changed.step({"op:ProfilerStep=-1ms"}), changed.step({"op:ProfilerStep=0us"}));
}

TEST(Changes, KernelsOfAFullQueueAreTheStep) {
  const Changed changed(device_bound());
  EXPECT_EQ(changed.step({}), 630'000);
  EXPECT_EQ(changed.step({"kernel:gemm=0.5x"}), 630'000 - 3 * 50'000);
  EXPECT_EQ(changed.step({"kernel:gemm|add=+10us"}), 630'000 + 60'000);
  EXPECT_EQ(changed.step({"op:aten::add=0.5x"}), 630'000 - 3 * 50'000);
  EXPECT_EQ(changed.step({"host=0.5x"}), 630'000 - 5'000 - 2'500);  // ahead of the first launch, and behind the wait
  // Five pieces less, each with its gap of 1 us: one kernel of 100 us.
  EXPECT_EQ(changed.step({"fuse:gemm|add"}), 630'000 - 5 * 101'000);
}

TEST(Changes, AHostThatDoesNotWaitIsDoneEarlier) {
  const Changed changed(device_bound());
  // The host is then ahead of the device, which goes on with the next step: 6 kernels of 100 us and 5 gaps of 1.
  EXPECT_EQ(changed.step({"no-sync"}), 605'000);
  EXPECT_EQ(changed.step({"no-sync:aten::item"}), 630'000);
  EXPECT_EQ(changed.step({"no-sync:StreamSynchronize"}), 605'000);
}

TEST(Changes, AGraphIsLaunchedOnce) {
  const Changed changed(host_bound());
  // Six kernels of 10 us, 0.9 us between. The host is ahead: 10 us to the launch of 6.24, and 46 behind the last launch.
  EXPECT_EQ(changed.step({"cuda-graphs"}), 6 * 10'000 + 5 * 900);
}

TEST(Changes, AStepThatGoesOnHasNoEmptyQueueAtItsStart) {
  // Two steps of the device alone, the host ahead: 20 us until the first kernel, then 100 us a step.
  const Changed changed(TraceText()
                            .annotation("ProfilerStep#0", 0, 30'000)
                            .call("cudaLaunchKernel", 14'000, 18'000, 1)
                            .kernel("k", 20'000, 119'000, 1)
                            .annotation("ProfilerStep#1", 30'000, 60'000)
                            .call("cudaLaunchKernel", 44'000, 48'000, 2)
                            .kernel("k", 120'000, 219'000, 2)
                            .read());
  EXPECT_EQ(changed.what_if().recorded_ns(), 109'500);  // (119 + 100) / 2
  // 99 us of each, and one gap of 1 us in two: behind the last kernel of a round the next follows at once.
  EXPECT_EQ(changed.what_if().without_profiler_ns(), 99'500);
}

TEST(Changes, WaitsForABatchGo) {
  const Changed changed(TraceText()
                            .annotation("ProfilerStep#0", 0, 200'000)
                            .annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 10'000, 110'000)
                            .call("cudaLaunchKernel", 120'000, 124'000, 1)
                            .kernel("k", 130'000, 140'000, 1)
                            .read());
  EXPECT_EQ(changed.step({"no-dataloader"}), 100'000);
}

TEST(Changes, WhatTheTraceDoesNotTellIsNull) {
  const Changed changed(host_bound());  // no shapes, no device: no roofs
  const Outcome outcome = changed.after({"kernel:gemm=roof"});
  EXPECT_FALSE(outcome.step_ns);
  EXPECT_FALSE(outcome.low_pct);
  EXPECT_NE(outcome.basis, "");
  EXPECT_FALSE(changed.after({"device=h200"}).step_ns);
}

// A program in bfloat16 already, but for eight kernels with 1 % of the time whose type nothing tells.
TEST(Changes, TheLittleThatIsNotKnownDoesNotMakeAllUnknown) {
  const auto path = test::path_of("pair_sync_mask_fault");
  ASSERT_TRUE(path);
  const LoadedTrace loaded = test::load_file(*path);
  const Scope scope(*loaded.model);
  const std::vector<Change> changes = {parse_change("dtype=bf16").value()};
  EXPECT_EQ(WhatIf(scope, WhatIf::From::recorded).outcome(changes).basis, "nothing matches");
}

// The third launch loads its code for 20 ms: a graph replaces it, but so does any second run.
TEST(Changes, WhatOnlyAFirstUseTakesIsSaidOfGraphs) {
  const auto program = [](std::int64_t third_takes_ns) {
    TraceText text;
    text.annotation("ProfilerStep#0", 0, 200'000 + third_takes_ns);
    std::int64_t at = 10'000;
    for (int i = 0; i < 6; ++i) {
      const std::int64_t takes = i == 2 ? third_takes_ns : 4'000;
      text.call("cudaLaunchKernel", at, at + takes, i + 1).kernel("k", at + takes + 2'000, at + takes + 12'000, i + 1);
      at += takes + 20'000;
    }
    return text.read();
  };
  EXPECT_TRUE(test::says(Changed(program(20'000'000)).after({"cuda-graphs"}).basis, {"20.000 ms", "first use"}));
  EXPECT_EQ(Changed(program(4'000)).after({"cuda-graphs"}).basis.find("first use"), std::string::npos);
}

TEST(Changes, TheStepWithoutTheRecorderIsShorter) {
  const Changed changed(host_bound());
  // Five ops and launches at 1.3 and 3.4 us; the prices of the step and of the first op and launch are more than the 14 us that
  // they start in, of which a fifth always stays.
  EXPECT_EQ(changed.what_if().recorded_ns(), 310'000);
  EXPECT_EQ(changed.what_if().without_profiler_ns(), 310'000 - 5 * (1'300 + 3'400) - 11'200);
}

// Two steps of one kernel each: neither has anything to fuse with.
TEST(Changes, FusingDoesNotReachIntoTheNextStep) {
  TraceText text;
  for (int i = 0; i < 3; ++i) {
    const int at = i * 200'000;
    text.annotation("ProfilerStep#" + std::to_string(i), at, 190'000 + at);
    text.op("aten::mm", 5'000 + at, 25'000 + at).call("cudaLaunchKernel", 10'000 + at, 14'000 + at, i + 1);
    text.kernel("gemm", 16'000 + at, 180'000 + at, i + 1);
  }
  const Changed changed(text.read());
  EXPECT_EQ(changed.step({"fuse:gemm"}), changed.step({}));
}

// The device begins 5 ms after it was told to, and the host waits for it. Whatever it does meanwhile, a host that does not wait
// has it done no sooner: step after step takes as long.
TEST(Changes, AWaitForLateWorkIsNoSaving) {
  TraceText text;
  for (int step = 0; step < 3; ++step) {
    const std::int64_t at = step * 6'000'000;
    text.annotation("ProfilerStep#" + std::to_string(step), at, at + 5'990'000);
    text.call("cudaLaunchKernel", at + 10'000, at + 14'000, step + 1).kernel("k", at + 5'010'000, at + 5'900'000, step + 1);
    text.call("cudaDeviceSynchronize", at + 20'000, at + 5'905'000);
  }
  const Changed changed(text.read());
  EXPECT_GE(changed.step({"no-sync"}), 5'700'000);
  EXPECT_TRUE(changed.after({"no-sync"}).basis.starts_with("3 calls of the host no longer wait;"));
}

// A step that first tunes: two launches of 100 us under the tuner's span, then two of the program by the same name. The host
// waits behind each pair, so that what a kernel takes the step takes.
std::unique_ptr<Trace> with_tuning() {
  TraceText text;
  text.annotation("ProfilerStep#0", 0, 440'000);
  text.op("CachingAutotuner.benchmark_all_configs", 2'000, 221'000);
  for (int pair = 0; pair < 2; ++pair) {
    const int begin = pair * 220'000;
    for (int i = 0; i < 2; ++i) {
      const int at = begin + i * 20'000;
      text.op("aten::mm", 5'000 + at, 15'000 + at).call("cudaLaunchKernel", 10'000 + at, 14'000 + at, 2 * pair + i + 1);
      text.kernel("gemm", begin + 16'000 + i * 101'000, begin + 116'000 + i * 101'000, 2 * pair + i + 1);
    }
    text.call("cudaStreamSynchronize", begin + 40'000, begin + 219'000);
  }
  return text.read();
}

// What a tuner tries is the same whatever the program's launches of that name take.
TEST(Changes, WhatTheTunerTriedStaysAsItIs) {
  const Changed changed(with_tuning());
  EXPECT_EQ(changed.step({}), 440'000);
  EXPECT_EQ(changed.step({"kernel:gemm=0.5x"}), 440'000 - 2 * 50'000);
  EXPECT_EQ(changed.step({"fuse:gemm"}), 440'000 - 101'000);
  // And half of the 5 us of the op ahead of its first launch; the second is in time anyway.
  EXPECT_EQ(changed.step({"op:aten::mm=0.5x"}), 440'000 - 2 * 50'000 - 2'500);
  for (const char* text : {"kernel:gemm=0.5x", "fuse:gemm", "op:aten::mm=0.5x"}) {
    const Outcome outcome = changed.after({text});
    EXPECT_EQ(outcome.matches, 2) << text;
    EXPECT_TRUE(test::says(outcome.basis, {"2 more", "autotuning"})) << text << ": " << outcome.basis;
  }
  EXPECT_EQ(changed.after({"no-sync"}).matches, 1);
  EXPECT_EQ(changed.after({"cuda-graphs"}).matches, 2);
}

TEST(Changes, SaysThatOnlyTheTunersLaunchesMatch) {
  TraceText text;
  text.annotation("ProfilerStep#0", 0, 300'000).op("CachingAutotuner.benchmark_all_configs", 2'000, 200'000);
  text.call("cudaLaunchKernel", 10'000, 14'000, 1).kernel("tried", 16'000, 100'000, 1);
  text.call("cudaLaunchKernel", 210'000, 214'000, 2).kernel("chosen", 216'000, 290'000, 2);
  const Outcome outcome = Changed(text.read()).after({"kernel:tried=0.5x"});
  EXPECT_EQ(outcome.matches, 0);
  EXPECT_NE(outcome.basis.find("nothing of the program matches"), std::string::npos) << outcome.basis;
}

TEST(Changes, AreRefusedWithAWordAboutTheirForm) {
  const auto said = [](std::string_view text) {
    const auto change = parse_change(text);
    return change ? std::string("taken") : change.error().message + " | " + change.error().hint;
  };
  EXPECT_NE(said("host=50us").find("'50us' is no factor"), std::string::npos) << said("host=50us");
  EXPECT_NE(said("host=50us").find("finding:ID"), std::string::npos);
  EXPECT_NE(said("batch=0x").find("no samples"), std::string::npos) << said("batch=0x");
  EXPECT_NE(said("batch=0.0x").find("no samples"), std::string::npos);
  EXPECT_EQ(said("batch=0.5x"), "taken");
  EXPECT_NE(said("op:x=+1000s").find("is no time"), std::string::npos) << said("op:x=+1000s");
  EXPECT_EQ(said("op:x=+10s"), "taken");
}

// What goes with a cause that the replay does not tie to it: of half a step that is left 2^-1.15 are, and never less than the
// device needs, unless its work goes.
TEST(Changes, WhatIsGoneTakesMoreWithIt) {
  const LoadedTrace loaded(host_bound());
  const Scope scope(*loaded.model);
  const WhatIf what_if(scope, WhatIf::From::recorded);
  Removal half;
  half.host.push_back({0, {0, 310'000}, 0.5});
  const Removal* const gone = &half;
  const auto step = [&](double spreads) { return *what_if.outcome({}, {&gone, 1}, {.spreads = spreads}).step_ns; };
  const double whole = static_cast<double>(what_if.base_ns()), left = static_cast<double>(step(1)) / whole;
  EXPECT_LT(left, 0.6);
  EXPECT_NEAR(static_cast<double>(step(1.15)), whole * std::pow(left, 1.15), 2);
  EXPECT_EQ(step(100), 60'000) << "six kernels of 10 us";
  for (std::uint32_t row = 0; row < 3; ++row) half.work.push_back({row, 10'000});
  EXPECT_LT(step(100), 60'000);
}

// What goes beside a claim goes once, where who claims it is mended too.
TEST(Changes, WhatSeveralRemediesTakeOffOneKernelGoesOnce) {
  const auto gone = [](std::vector<std::vector<Removal::Work>> all) {
    std::vector<Removal> removals(all.size());
    std::vector<const Removal*> pointers;
    for (std::size_t i = 0; i < all.size(); ++i) {
      removals[i].work = std::move(all[i]);
      pointers.push_back(&removals[i]);
    }
    std::map<std::uint32_t, std::int64_t> by_row;
    for (const Removal::Work& part : work_gone(pointers)) by_row[part.row] += part.ns;
    return by_row;
  };
  using Rows = std::map<std::uint32_t, std::int64_t>;
  const std::vector<Removal::Work> fused = {{3, 20}, {3, 100, true}, {4, 50}}, across = {{3, 90}};
  EXPECT_EQ(gone({fused}), (Rows{{3, 120}, {4, 50}}));
  EXPECT_EQ(gone({across}), (Rows{{3, 90}}));
  EXPECT_EQ(gone({fused, across}), (Rows{{3, 120}, {4, 50}}));
  EXPECT_EQ(gone({{{3, 20}}, {{3, 70}}}), (Rows{{3, 90}})) << "claims of one kernel are of its parts";
  EXPECT_EQ(gone({}), Rows());
}

}  // namespace
}  // namespace ridge
