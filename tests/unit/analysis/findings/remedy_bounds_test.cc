// What a remedy brings at most and for certain (bounds.h), rule by rule: claims and remedies made by hand, on programs whose
// figures are counted by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "analysis/findings/bounds.h"
#include "unit/analysis/findings/found.h"

namespace ridge {
namespace {

using test::event;
using test::join;
using test::kUs;
using test::launch;

struct BoundedProgram {
  test::LoadedTrace loaded;
  Scope scope{*loaded.model};
  Ledger ledger{scope};

  explicit BoundedProgram(const std::string& events) : loaded(test::load_events(events)) {}

  double bound_us(const Remedy& remedy, const std::vector<ClaimPart>& claim = {}) const {
    return static_cast<double>(bound_of_claim(scope, ledger, claim, remedy)) / kUs;
  }
  std::vector<ClaimPart> idle_of(IdleCause cause, std::int64_t ns) const {
    const auto& idle = ledger.devices().at(0).idle;
    const auto at = std::ranges::find(idle, cause, [](const IdleSlot& slot) { return slot.piece.cause; });
    if (at == idle.end()) return {};
    return {{.device = 0, .slot = static_cast<std::uint32_t>(at - idle.begin()), .ns = ns, .saved_ns = ns, .idle = true}};
  }
};

Remedy removed_host(std::vector<Removal::Host> parts) {
  return {.removal = {.work = {}, .host = std::move(parts), .waits = {}, .gaps = {}}};
}

// Two kernels of 5 ms, and 1 ms between them in which nothing but the launch of the second happens. Ops on two threads, and on
// one of another process.
BoundedProgram two_long_kernels() {
  std::string other = event({.name = "aten::add", .ts = 100, .dur = 300, .tid = 3});
  other.replace(other.find("\"pid\": 1"), 8, "\"pid\": 9");
  return BoundedProgram(join({event({.name = "aten::mul", .ts = 100, .dur = 300, .tid = 2}), other,
                              launch(1, 90, 5, "first", 100, 5'000), launch(2, 6'090, 5, "second", 6'100, 5'000)}));
}

std::uint32_t thread_that_begins_with(const BoundedProgram& program, std::string_view name) {
  const CallTree& tree = program.loaded.model->tree();
  for (std::uint32_t i = 0; i < tree.threads.size(); ++i) {
    const EventId first = tree.event[tree.threads[i].first];
    if (program.loaded.trace->text(program.loaded.trace->events.name(first)) == name) return i;
  }
  ADD_FAILURE() << "no thread begins with " << name;
  return 0;
}

// Idle time counts for a quarter more in a program that nobody records; never more of it goes than there is.
TEST(RemedyBounds, HostTimeThatGoesTakesAsMuchIdleTime) {
  const BoundedProgram program = two_long_kernels();
  const std::uint32_t thread = thread_that_begins_with(program, "cudaLaunchKernel");
  const auto part = [&](std::int64_t from, std::int64_t to, double share = 1) {
    return Removal::Host{.thread = thread, .time = {from * kUs, to * kUs}, .share = share};
  };
  EXPECT_NEAR(program.bound_us(removed_host({})), 0, 1e-3);
  EXPECT_NEAR(program.bound_us(removed_host({part(100, 300)})), 1.25 * 200, 1e-3);
  EXPECT_NEAR(program.bound_us(removed_host({part(100, 300, 0.5)})), 1.25 * 100, 1e-3) << "half of it goes";
  EXPECT_NEAR(program.bound_us(removed_host({part(100, 300), part(200, 400)})), 1.25 * 300, 1e-3) << "parts overlap";
  EXPECT_NEAR(program.bound_us(removed_host({part(0, 5'000)})), 1.25 * 1'010, 1e-3)
      << "all that is idle, from the first launch on";
}

// Threads of a process may wait for each other in turns; processes have devices of their own and run side by side.
TEST(RemedyBounds, HostTimeIsSummedWithinAProcess) {
  const BoundedProgram program = two_long_kernels();
  const auto part = [&](std::string_view op) {
    return Removal::Host{.thread = thread_that_begins_with(program, op), .time = {100 * kUs, 300 * kUs}};
  };
  EXPECT_NEAR(program.bound_us(removed_host({part("cudaLaunchKernel"), part("aten::mul")})), 1.25 * 400, 1e-3);
  EXPECT_NEAR(program.bound_us(removed_host({part("cudaLaunchKernel"), part("aten::add")})), 1.25 * 200, 1e-3);
}

// A trace shows the ops that launch a kernel, not all that Python does for it.
TEST(RemedyBounds, WithAKernelGoesHalfAsMuchHostTimeAgain) {
  const BoundedProgram program = two_long_kernels();
  Remedy remedy =
      removed_host({{.thread = thread_that_begins_with(program, "cudaLaunchKernel"), .time = {100 * kUs, 300 * kUs}}});
  remedy.removal.gaps = {{.row = 1, .ns = 1}};
  EXPECT_NEAR(program.bound_us(remedy), 1.25 * 1.5 * 200, 1e-3);
}

// A host that waits no more runs ahead of the device: all idle time may go, also that of other causes. Each program has one
// wait, and a launch that is 500 us late.
TEST(RemedyBounds, WhereAWaitGoesAllIdleTimeMay) {
  struct Wait {
    IdleCause cause;
    std::string events;  // from 5'100 to 5'400, when the first kernel has ended
  };
  const Wait waits[] = {
      {IdleCause::sync, event({.name = "cudaStreamSynchronize", .ts = 200, .dur = 5'200, .cat = "cuda_runtime"})},
      {IdleCause::allocator, event({.name = "cudaFree", .ts = 5'110, .dur = 290, .cat = "cuda_runtime"})},
      {IdleCause::dataloader, event({.name = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                                     .ts = 5'110,
                                     .dur = 290,
                                     .cat = "user_annotation"})},
      {IdleCause::copy_wait,
       join({event({.name = "cudaMemcpyAsync", .ts = 5'110, .dur = 290, .cat = "cuda_runtime", .args = R"("correlation": 9)"}),
             event({.name = "Memcpy HtoD (Pageable -> Device)",
                    .ts = 5'390,
                    .dur = 8,
                    .cat = "gpu_memcpy",
                    .args = R"("correlation": 9, "device": 0, "stream": 7, "bytes": 4000000)",
                    .tid = 7})})},
  };
  for (const Wait& wait : waits) {
    const BoundedProgram program(
        join({launch(1, 90, 5, "first", 100, 5'000), wait.events, launch(2, 5'490, 5, "second", 5'500, 5'000),
              launch(3, 11'000, 5, "third", 11'010, 5'000)}));
    std::int64_t idle_ns = 0;
    for (const IdleSlot& slot : program.ledger.devices().at(0).idle) idle_ns += slot.piece.length();
    const std::vector<ClaimPart> claim = program.idle_of(wait.cause, 1);
    ASSERT_FALSE(claim.empty()) << name_of(wait.cause);
    EXPECT_NEAR(program.bound_us({}, claim), 1.25 * static_cast<double>(idle_ns) / kUs, 1e-2) << name_of(wait.cause);
    EXPECT_GE(idle_ns, 890 * kUs) << name_of(wait.cause);
  }
  const BoundedProgram late = two_long_kernels();
  EXPECT_NEAR(late.bound_us({}, late.idle_of(IdleCause::launch, 100 * kUs)), 125, 1e-3) << "a late launch is no wait";
}

// Kernels of 100 us with 800 us between them: a step of 1'010 us from the first launch on is no shorter than 0.95 times the
// work that is left.
TEST(RemedyBounds, NoStepIsShorterThanTheWorkThatIsLeft) {
  const BoundedProgram program(join({launch(1, 90, 5, "first", 100, 100), launch(2, 990, 5, "second", 1'000, 100)}));
  const std::vector<ClaimPart> all_idle = program.idle_of(IdleCause::launch, 800 * kUs);
  ASSERT_FALSE(all_idle.empty());
  EXPECT_EQ(program.ledger.span_ns(), 1'010 * kUs);
  EXPECT_NEAR(program.bound_us({}, all_idle), 1'010 - 0.95 * 200, 1e-3);
  // With the first kernel gone too, only the second is left.
  std::vector<ClaimPart> with_work = all_idle;
  with_work.push_back({.device = 0, .slot = 0, .ns = 100 * kUs, .saved_ns = 100 * kUs, .idle = false});
  EXPECT_NEAR(program.bound_us({}, with_work), 1'010 - 0.95 * 100, 1e-3);
}

TEST(RemedyBounds, OfTheHostIsWhatLeavesTheWorkAsItIs) {
  const auto change = [](const std::string& text) { return Remedy{.changes = {parse_change(text).value()}}; };
  EXPECT_TRUE(is_of_host(removed_host({{.thread = 0, .time = {0, 1}}})));
  EXPECT_FALSE(is_of_host(Remedy{.removal = {.work = {{.row = 0, .ns = 1}}, .host = {}, .waits = {}, .gaps = {}}}));
  for (const char* text : {"host=0.8x", "cuda-graphs", "no-sync", "no-breaks", "no-dataloader"})
    EXPECT_TRUE(is_of_host(change(text))) << text;
  for (const char* text : {"kernel:gemm=0.5x", "fuse:add", "dtype=bf16"}) EXPECT_FALSE(is_of_host(change(text))) << text;
}

// ---- of a step without the profiler

// Six steps of 1 ms, each an op that launches one kernel of `busy_us`, and where there is a second device, another there.
BoundedProgram steps_busy_for(int busy_us, int second_us = 0) {
  std::string events;
  for (int i = 0; i < 6; ++i) {
    const int at = i * 1'000, from = at + 980 - busy_us;
    events +=
        (i == 0 ? "" : ", ") +
        join({event({.name = fmt::format("ProfilerStep#{}", i + 1), .ts = at, .dur = 999, .cat = "user_annotation"}),
              event({.name = "aten::mm", .ts = from - 10, .dur = 18}), launch(i + 1, from - 5, 5, "gemm", from, busy_us)});
    if (second_us == 0) continue;
    std::string other = launch(i + 101, at + 1, 3, "gemm", at + 10, second_us);
    other.replace(other.find("\"device\": 0"), 11, "\"device\": 1");
    events += ", " + other;
  }
  return BoundedProgram(events);
}

struct AskedStep {
  explicit AskedStep(const BoundedProgram& program, WhatIf::From from = WhatIf::From::without_profiler,
                     std::optional<std::int64_t> measured_ns = {})
      : ledger(program.ledger), savings(program.scope, from, measured_ns) {}

  std::optional<std::int64_t> certain(const Remedy& remedy) const {
    const Remedy* one = &remedy;
    return certain_ns(savings, {&one, 1}, busiest_of(ledger));
  }
  const Ledger& ledger;
  StepSavings savings;
};

// Half idle: whoever makes the host faster gains what the device waits in the longest step that it may be, and no more. Where
// the work changes too, that is no bound.
TEST(RemedyBounds, TheHostBringsWhatTheDeviceWaits) {
  const BoundedProgram program = steps_busy_for(500);
  const AskedStep asked(program);
  const WhatIf& what_if = asked.savings.what_if();
  const Remedy host = removed_host({{.thread = 0, .time = {0, 400 * kUs}}});
  EXPECT_EQ(asked.certain(host), what_if.without_profiler_most_ns() - 500 * kUs);
  EXPECT_GT(what_if.without_profiler_most_ns(), what_if.without_profiler_ns());
  Remedy both = host;
  both.removal.work = {{.row = 0, .ns = 100 * kUs}};
  EXPECT_EQ(asked.certain(both), std::nullopt);
  const Remedy* together[] = {&host, &both};
  EXPECT_EQ(certain_ns(asked.savings, together, busiest_of(asked.ledger)), std::nullopt);
}

// Busy for nearly all of a step, which may be shorter than is thought: certain is the work that goes, and 1 us for each gap
// between kernels; of six steps.
TEST(RemedyBounds, OnABusyDeviceOnlyWorkThatGoesIsCertain) {
  const BoundedProgram program = steps_busy_for(960);
  const AskedStep asked(program);
  const Remedy host = removed_host({{.thread = 0, .time = {0, 400 * kUs}}});
  EXPECT_EQ(asked.certain(host), 0);
  Remedy both = host;
  both.removal.work = {{.row = 0, .ns = 60 * kUs}, {.row = 1, .ns = 60 * kUs}};
  both.removal.gaps = {{.row = 0, .ns = 1}, {.row = 1, .ns = 1}, {.row = 2, .ns = 1}};
  EXPECT_EQ(asked.certain(both), (120 + 3) * kUs / 6);
}

// A step that was measured needs no doubt, and one with the recorder in it is not the program's.
TEST(RemedyBounds, AreOfAStepThatIsNotMeasured) {
  const BoundedProgram program = steps_busy_for(960);
  const Remedy host = removed_host({{.thread = 0, .time = {0, 400 * kUs}}});
  const AskedStep unmeasured(program), measured(program, WhatIf::From::without_profiler, 1'000 * kUs),
      recorded(program, WhatIf::From::recorded);
  EXPECT_TRUE(recorder_may_be_all(unmeasured.savings, program.ledger));
  EXPECT_FALSE(recorder_may_be_all(measured.savings, program.ledger));
  EXPECT_EQ(measured.certain(host), std::nullopt);
  ASSERT_NE(recorded.savings.what_if().base_ns(), recorded.savings.what_if().without_profiler_ns());
  EXPECT_FALSE(recorder_may_be_all(recorded.savings, program.ledger));
  EXPECT_EQ(recorded.certain(host), std::nullopt);
  EXPECT_EQ(most_possible_ns(recorded.savings, 0, program.ledger), INT64_MAX);
}

// A step is known to a factor of e^0.08 at best. Twice that shorter it is 0.85 ms: with work for 0.9 ms the device may be busy
// for all of it, with work for 0.6 ms it is not.
TEST(RemedyBounds, TheRecorderMayBeAllThatTheDeviceWaitsFor) {
  const BoundedProgram busy = steps_busy_for(900), idle = steps_busy_for(600);
  EXPECT_TRUE(recorder_may_be_all(AskedStep(busy).savings, busy.ledger));
  EXPECT_FALSE(recorder_may_be_all(AskedStep(idle).savings, idle.ledger));
}

// Work for 500 us a step, of which 300 go: of the longest step that it may be, 0.95 times the rest is left.
TEST(RemedyBounds, NothingBringsMoreThanTheLongestStepLessItsWork) {
  const BoundedProgram program = steps_busy_for(500);
  const AskedStep asked(program);
  const WhatIf& what_if = asked.savings.what_if();
  const double longest = static_cast<double>(what_if.base_ns()) * std::exp(2 * what_if.recorder_doubt());
  EXPECT_GE(longest, 1.17 * static_cast<double>(what_if.base_ns()));
  EXPECT_NEAR(static_cast<double>(most_possible_ns(asked.savings, 0, asked.ledger)), longest - 0.95 * 500 * kUs, 2);
  EXPECT_NEAR(static_cast<double>(most_possible_ns(asked.savings, 6 * 300 * kUs, asked.ledger)), longest - 0.95 * 200 * kUs, 2);
}

// Of two devices the busier one decides whether a step may be all work, and the other one what may go of it.
TEST(RemedyBounds, OfSeveralDevicesAreThoseOfTheOneThatCounts) {
  const BoundedProgram first = steps_busy_for(900, 300), second = steps_busy_for(300, 900);
  ASSERT_EQ(first.ledger.devices().size(), 2U);
  for (const BoundedProgram* program : {&first, &second}) {
    const AskedStep asked(*program);
    EXPECT_TRUE(recorder_may_be_all(asked.savings, program->ledger));
    const WhatIf& what_if = asked.savings.what_if();
    const double longest = static_cast<double>(what_if.base_ns()) * std::exp(2 * what_if.recorder_doubt());
    EXPECT_NEAR(static_cast<double>(most_possible_ns(asked.savings, 0, program->ledger)), longest - 0.95 * 300 * kUs, 2);
  }
}

}  // namespace
}  // namespace ridge
