// Idle time: hand-made traces with one cause each and their times computed by hand.
#include "model/idle.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "base/work_count.h"
#include "support/host_device_trace.h"

namespace ridge {
namespace {

using test::TraceText;

// cause -> ns over the whole window of a trace with one device. What the recorder is to blame for (recorder_cost_test.cc) is
// late launches here; it is never more than recording the host's events is thought to have cost.
std::map<std::string, std::int64_t> idle_of(const Trace& trace) {
  const Model model(trace);
  std::map<std::string, std::int64_t> by_cause;
  std::int64_t recorder_ns = 0, cost_ns = 0;
  for (const RecorderCost& cost : model.recorder_costs().of_thread)
    cost_ns += cost.between(trace.window->start_ns, trace.window->end_ns);
  for (const DeviceIdle& idle : split_idle(model, *trace.window)) {
    for (const IdlePiece& piece : idle.pieces) {
      recorder_ns += piece.cause == IdleCause::recorder ? piece.length() : 0;
      const IdleCause cause = piece.cause == IdleCause::recorder ? IdleCause::launch : piece.cause;
      by_cause[std::string(name_of(cause))] += piece.length();
    }
  }
  EXPECT_LE(recorder_ns, cost_ns);
  return by_cause;
}

// The name of the slice that the longest piece of a cause blames.
std::string blamed(const Trace& trace, IdleCause cause, bool op = false) {
  const Model model(trace);
  const auto idle = split_idle(model, *trace.window);
  const IdlePiece* longest = nullptr;
  for (const IdlePiece& piece : idle.at(0).pieces) {
    if (piece.cause == cause && (longest == nullptr || piece.length() > longest->length())) longest = &piece;
  }
  if (longest == nullptr || longest->node == kNoNode) return "";
  const NodeId node = op ? outer_op(trace, model.tree(), longest->node) : longest->node;
  return node == kNoNode ? "" : std::string(trace.text(trace.events.name(model.tree().event[node.value])));
}

using Causes = std::map<std::string, std::int64_t>;

// Kernel A runs [10, 20) us and kernel B [500, 510) us; its launch is [490, 495) us. Every case puts something into the 480 us
// between.
TraceText a_and_b() {
  TraceText text;
  text.call("cudaLaunchKernel", 5'000, 8'000, 1).kernel("a", 10'000, 20'000, 1);
  text.call("cudaLaunchKernel", 490'000, 495'000, 2).kernel("b", 500'000, 510'000, 2);
  return text;
}

// Every 14 us a launch of 5, whose work is 18 us on its way and takes 6: each comes before the kernel before it has ended, and
// yet the device waits for the host. One that is queued for long and starts late waits for something else.
TEST(Idle, WorkThatIsOnItsWayWaitsForTheHost) {
  TraceText text;
  for (int i = 0; i < 40; ++i)
    text.call("hipLaunchKernel", i * 14'000, i * 14'000 + 5'000, i + 1)
        .kernel("k", i * 14'000 + 23'000, i * 14'000 + 29'000, i + 1);
  Causes causes = idle_of(*text.read());
  EXPECT_EQ(causes["launch"], 39 * 8'000);
  EXPECT_EQ(causes["kernel_gap"], 0);
  text.call("hipLaunchKernel", 560'000, 565'000, 41).kernel("long", 583'000, 700'000, 41);
  text.call("hipLaunchKernel", 574'000, 579'000, 42).kernel("k", 708'000, 714'000, 42);
  causes = idle_of(*text.read());
  EXPECT_EQ(causes["kernel_gap"], 8'000);
}

// Launches below a stack of that many frames, every one of which ends a gap; the steps that splitting the idle time takes.
std::uint64_t steps_to_split(int depth, int launches) {
  TraceText text;
  const std::int64_t end = (launches + 1) * 100'000LL + depth;
  for (int d = 0; d < depth; ++d) text.frame("f.py(1): f", d, 2 * end - d);
  for (int i = 0; i < launches; ++i) {
    const std::int64_t at = depth + (i + 1) * 100'000LL;
    text.call("cudaLaunchKernel", at, at + 5'000, i + 1).kernel("k", at + 8'000, at + 9'000, i + 1);
  }
  const auto trace = text.read();
  const Model model(*trace);
  model.host_stalls(), model.timeline();
  const std::uint64_t before = work_count;
  const auto idle = split_idle(model, *trace->window);
  EXPECT_EQ(idle.at(0).gaps.size(), static_cast<std::size_t>(launches) + 1);
  return work_count - before;
}

// Where a thread's work began is looked up, not walked to: the depth of stacks is no factor. A walk for each of 2000 launches
// under 2000 frames would be 4 million steps.
TEST(Idle, DeepStacksCostNoMore) {
  const std::uint64_t deep = steps_to_split(2'000, 2'000), shallow = steps_to_split(20, 2'000);
  if constexpr (kCountsWork) {
    EXPECT_GE(shallow, 1'900U) << "nothing was counted";
    EXPECT_LE(deep, 2 * shallow);
  }
}

// One thread launches for all devices in turn; the steps that splitting the idle time takes.
std::uint64_t steps_to_split_of(int devices, int launches) {
  TraceText text;
  for (int i = 1; i <= launches; ++i) {
    const std::int64_t at = i * 100'000LL;
    text.op("aten::mul", at - 2'000, at + 6'000).call("cudaLaunchKernel", at, at + 5'000, i);
    text.kernel("k", at + 8'000, at + 9'000, i, 7, i % devices);
  }
  const auto trace = text.read();
  const Model model(*trace);
  model.host_stalls(), model.timeline(), model.recorder_costs();
  const std::uint64_t before = work_count;
  EXPECT_EQ(split_idle(model, *trace->window).size(), static_cast<std::size_t>(devices));
  return work_count - before;
}

// What the recorder cost a thread is put together once. For each of 200 devices it would be 200 times 2000 stretches.
TEST(Idle, ManyDevicesOfOneThreadCostNoMore) {
  const std::uint64_t many = steps_to_split_of(200, 2'000), few = steps_to_split_of(2, 2'000);
  if constexpr (kCountsWork) {
    EXPECT_GE(few, 1'900U) << "nothing was counted";
    EXPECT_LE(many, 2 * few);
  }
}

TEST(Idle, AHostThatIsLateIsLaunch) {
  const auto trace = a_and_b().op("aten::relu", 480'000, 496'000).read();
  // The window starts with the first launch at 5 us and ends with b.
  EXPECT_EQ(idle_of(*trace), (Causes{{"head_tail", 5'000}, {"launch", 480'000}}));
  EXPECT_EQ(blamed(*trace, IdleCause::launch), "cudaLaunchKernel");
  EXPECT_EQ(blamed(*trace, IdleCause::launch, true), "aten::relu");
}

// A generated module computes on the host from 100 to 400 us: to blame for that is its kernel, for the rest the launch behind
// it. Anybody may have a function called kernel.
TEST(Idle, AHostThatComputesForCompiledCodeIsLate) {
  const auto blamed_ns = [](TraceText text, std::string_view name) {
    const auto trace = text.read();
    const Model model(*trace);
    std::int64_t ns = 0;
    const std::vector<DeviceIdle> idle = split_idle(model, *trace->window);
    for (const IdlePiece& piece : idle[0].pieces) {
      const bool its = piece.node != kNoNode && trace->text(trace->events.name(model.tree().event[piece.node.value])) == name;
      ns += its && is_late(piece.cause) ? piece.length() : 0;
    }
    return ns;
  };
  const auto computes = [](std::string_view caller) {
    return a_and_b().frame(caller, 90'000, 450'000).frame("<built-in function kernel>", 100'000, 400'000);
  };
  constexpr std::string_view kModule =
      "/tmp/torchinductor_u/vd/cvdbwtljjoxx5dvzrgbyowp3gozhkggbcfd4ichs27f5el2o2a55.py(88): call";
  EXPECT_EQ(blamed_ns(computes(kModule), "<built-in function kernel>"), 300'000);
  EXPECT_EQ(blamed_ns(computes(kModule), "cudaLaunchKernel"), 180'000);
  EXPECT_EQ(blamed_ns(computes("train.py(88): call"), "<built-in function kernel>"), 0);
  constexpr std::string_view kNamed = "graph_0_cpp_fused_add_sin_0";
  EXPECT_EQ(blamed_ns(a_and_b().op(kNamed, 100'000, 400'000), kNamed), 300'000);
}

TEST(Idle, AWaitCountsUntilItReturnsAndAsLongAsTheDeviceWorkedMeanwhile) {
  // The wait [9, 220) us lasts 211 us, in 11 of which a runs: without it the host would have been 211 us earlier, so it counts
  // up to 231.
  const auto trace = a_and_b()
                         .op("aten::item", 8'500, 221'000)
                         .op("aten::_local_scalar_dense", 8'600, 220'500)
                         .call("cudaStreamSynchronize", 9'000, 220'000)
                         .read();
  EXPECT_EQ(idle_of(*trace), (Causes{{"head_tail", 5'000}, {"sync", 211'000}, {"launch", 500'000 - 231'000}}));
  EXPECT_EQ(blamed(*trace, IdleCause::sync), "cudaStreamSynchronize");
  EXPECT_EQ(blamed(*trace, IdleCause::sync, true), "aten::item");
}

TEST(Idle, AShortWaitCostsNoMoreThanItTook) {
  // [18, 21) us: the 1 us behind a, and 2 us more.
  const auto trace = a_and_b().call("cudaDeviceSynchronize", 18'000, 21'000).read();
  EXPECT_EQ(idle_of(*trace), (Causes{{"head_tail", 5'000}, {"sync", 3'000}, {"launch", 477'000}}));
}

// Over several gaps too: the wait [9, 220) us while a runs until 200 takes the 20 us up to its end, 70 before b and 80 before
// c: 170. The 41 us that are left of it go to the gap before d.
TEST(Idle, AllThatAWaitCostsIsNoMoreThanItTook) {
  TraceText text;
  text.call("cudaLaunchKernel", 5'000, 8'000, 1).kernel("a", 10'000, 200'000, 1);
  text.call("cudaStreamSynchronize", 9'000, 220'000);
  text.call("cudaLaunchKernel", 285'000, 288'000, 2).kernel("b", 290'000, 300'000, 2);
  text.call("cudaLaunchKernel", 375'000, 378'000, 3).kernel("c", 380'000, 390'000, 3);
  text.call("cudaLaunchKernel", 485'000, 488'000, 4).kernel("d", 490'000, 500'000, 4);
  EXPECT_EQ(idle_of(*text.read()), (Causes{{"head_tail", 5'000}, {"sync", 211'000}, {"launch", 100'000 - 41'000}}));
}

// Of Triton's compiler.py, compile() compiles; launch_metadata and run are part of every launch.
TEST(Idle, LaunchingATritonKernelIsNotCompilingIt) {
  for (const std::string_view frame :
       {"triton/compiler/compiler.py(487): launch_metadata", "/usr/lib/python3/triton/compiler/compiler.py(481): run",
        "triton/compiler/compiler.py(409): __getattribute__"}) {
    EXPECT_EQ(idle_of(*a_and_b().frame(frame, 30'000, 430'000).read()), (Causes{{"head_tail", 5'000}, {"launch", 480'000}}))
        << frame;
  }
  EXPECT_EQ(idle_of(*a_and_b().frame("triton/compiler/compiler.py(226): compile", 30'000, 430'000).read()),
            (Causes{{"head_tail", 5'000}, {"compile", 400'000}, {"launch", 80'000}}));
}

TEST(Idle, CompileGuardsAllocatorAndDataLoaderCoverTheirTime) {
  EXPECT_EQ(idle_of(*a_and_b().op("_compile.compile_inner (dynamo_timed)", 30'000, 430'000).read()),
            (Causes{{"head_tail", 5'000}, {"compile", 400'000}, {"launch", 80'000}}));
  EXPECT_EQ(idle_of(*a_and_b().op("TorchDynamo Cache Lookup", 30'000, 70'000).read()),
            (Causes{{"head_tail", 5'000}, {"guards", 40'000}, {"launch", 440'000}}));
  EXPECT_EQ(
      idle_of(*a_and_b().annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 30'000, 430'000).read()),
      (Causes{{"head_tail", 5'000}, {"dataloader", 400'000}, {"launch", 80'000}}));
  // The allocator drains the queue too, but the device had nothing to do meanwhile.
  EXPECT_EQ(idle_of(*a_and_b().call("cudaMalloc", 30'000, 430'000).read()),
            (Causes{{"head_tail", 5'000}, {"launch", 80'000}, {"allocator", 400'000}}));
}

TEST(Idle, AWaitInsideACompilationIsCompilation) {
  const auto trace =
      a_and_b().op("compile_fx_inner (dynamo_timed)", 15'000, 490'000).call("cudaDeviceSynchronize", 30'000, 300'000).read();
  EXPECT_EQ(idle_of(*trace), (Causes{{"head_tail", 5'000}, {"compile", 470'000}, {"launch", 10'000}}));
}

TEST(Idle, ABlockingCopyToTheDeviceIsCopyWait) {
  TraceText text;
  text.call("cudaLaunchKernel", 5'000, 8'000, 1).kernel("a", 10'000, 20'000, 1);
  text.op("aten::to", 28'000, 300'000).op("aten::copy_", 29'000, 299'000);
  text.call("cudaMemcpyAsync", 30'000, 250'000, 2).copy("Memcpy HtoD (Pageable -> Device)", 100'000, 240'000, 2);
  text.call("cudaStreamSynchronize", 251'000, 260'000);
  text.call("cudaLaunchKernel", 300'000, 305'000, 3).kernel("b", 310'000, 320'000, 3);
  // Before the copy: late for 10 us, held by the copy for 70. Behind it: all 70 us up to b are the copy's doing.
  const auto trace = text.read();
  EXPECT_EQ(idle_of(*trace), (Causes{{"head_tail", 5'000}, {"launch", 10'000}, {"copy_wait", 140'000}}));
  EXPECT_EQ(blamed(*trace, IdleCause::copy_wait, true), "aten::to");
}

TEST(Idle, ACopyToTheHostIsASync) {
  TraceText text;
  text.call("cudaMemcpyAsync", 5'000, 60'000, 1).copy("Memcpy DtoH (Device -> Pageable)", 10'000, 50'000, 1);
  text.call("cudaLaunchKernel", 100'000, 105'000, 2).kernel("b", 110'000, 120'000, 2);
  // The call took 55 us, 40 of them beside the copy: 10 us until it returned, 45 more.
  EXPECT_EQ(idle_of(*text.read()), (Causes{{"head_tail", 5'000}, {"sync", 55'000}, {"launch", 5'000}}));
}

TEST(Idle, QueuedWorkIsAKernelGap) {
  TraceText text;
  text.call("cudaLaunchKernel", 1'000, 3'000, 1).kernel("a", 10'000, 90'000, 1);
  text.call("cudaLaunchKernel", 4'000, 6'000, 2).kernel("b", 92'000, 100'000, 2);
  EXPECT_EQ(idle_of(*text.read()), (Causes{{"head_tail", 9'000}, {"kernel_gap", 2'000}}));
}

TEST(Idle, QueuedWorkThatWaitedIsADependency) {
  const auto gap = [](int stream, std::int64_t start, std::string_view call) {
    TraceText text;
    text.call("cudaLaunchKernel", 1'000, 3'000, 1).kernel("a", 10'000, 90'000, 1, 7);
    if (!call.empty()) text.call(call, 3'200, 3'800);
    text.call("cudaLaunchKernel", 4'000, 6'000, 2).kernel("b", start, start + 8'000, 2, stream);
    return idle_of(*text.read());
  };
  EXPECT_EQ(gap(20, 92'000, ""), (Causes{{"head_tail", 9'000}, {"dependency", 2'000}})) << "another stream";
  EXPECT_EQ(gap(7, 92'000, "cudaStreamWaitEvent"), (Causes{{"head_tail", 9'000}, {"dependency", 2'000}})) << "an event";
  EXPECT_EQ(gap(7, 290'000, ""), (Causes{{"head_tail", 9'000}, {"dependency", 200'000}})) << "longer than any pause";
  EXPECT_EQ(gap(7, 92'000, "cudaEventRecord"), (Causes{{"head_tail", 9'000}, {"kernel_gap", 2'000}}));
}

TEST(Idle, ALaunchThatReturnedLongBeforeItsWorkStartedIsLateOnlyAtFirst) {
  TraceText text;
  text.call("cudaLaunchKernel", 1'000, 3'000, 1).kernel("a", 10'000, 20'000, 1);
  text.call("cudaLaunchKernel", 28'000, 30'000, 2).kernel("b", 90'000, 99'000, 2);
  // Late until it returned at 30 us and 30 us of latency; then it was queued.
  EXPECT_EQ(idle_of(*text.read()), (Causes{{"head_tail", 9'000}, {"launch", 40'000}, {"kernel_gap", 30'000}}));
}

TEST(Idle, BackwardOnItsOwnThreadLooksAtTheThreadBefore) {
  TraceText text;
  text.call("cudaLaunchKernel", 5'000, 8'000, 1).kernel("a", 10'000, 20'000, 1);
  text.call("cudaStreamSynchronize", 9'000, 60'000, 0, 1);
  text.op("autograd::engine::evaluate_function: MmBackward0", 100'000, 120'000, 2)
      .call("cudaLaunchKernel", 105'000, 110'000, 2, 2);
  text.kernel("b", 111'000, 130'000, 2);
  EXPECT_EQ(idle_of(*text.read()), (Causes{{"head_tail", 5'000}, {"sync", 51'000}, {"launch", 40'000}}));
}

TEST(Idle, ANodeOfTheSameGraphIsNoDependency) {
  TraceText text;
  text.call("cudaGraphLaunch", 1'000, 3'000, 1).kernel("a", 10'000, 90'000, 1, 7).kernel("b", 92'000, 100'000, 1, 8);
  EXPECT_EQ(idle_of(*text.read()), (Causes{{"head_tail", 9'000}, {"kernel_gap", 2'000}}));
}

TEST(Idle, WorkWithoutALaunch) {
  TraceText before;  // launched before the recording began: it was queued
  before.kernel("a", 10'000, 20'000, 1).kernel("b", 22'000, 30'000, 2);
  before.call("cudaLaunchKernel", 12'000, 14'000, 3).kernel("c", 31'000, 40'000, 3);
  EXPECT_EQ(idle_of(*before.read()), (Causes{{"kernel_gap", 3'000}}));
  TraceText never;  // no launch at all
  never.kernel("a", 10'000, 20'000, 1).kernel("b", 22'000, 30'000, 2);
  EXPECT_EQ(idle_of(*never.read()), (Causes{{"unknown", 2'000}}));
}

TEST(Idle, WorkThatTakesNoTimeNeitherFillsAGapNorEndsOne) {
  TraceText text;
  text.call("cudaLaunchKernel", 1'000, 3'000, 1).kernel("a", 10'000, 20'000, 1);
  text.call("cudaLaunchKernel", 4'000, 5'000, 2).kernel("nothing", 50'000, 50'000, 2);
  text.call("cudaLaunchKernel", 60'000, 70'000, 3).kernel("b", 72'000, 80'000, 3);
  const auto trace = text.read();
  const Model model(*trace);
  const auto idle = split_idle(model, *trace->window);
  ASSERT_EQ(idle.at(0).gaps.size(), 2U);
  EXPECT_EQ(idle[0].gaps[1].length(), 52'000);
}

TEST(Idle, ANarrowWindowCutsGapsAndKeepsTheirCauses) {
  const auto trace = a_and_b().read();
  const Model model(*trace);
  const std::int64_t origin = trace->window->start_ns - 5'000;
  const auto idle = split_idle(model, {origin + 100'000, origin + 505'000});
  ASSERT_EQ(idle.at(0).gaps.size(), 1U);
  EXPECT_EQ(idle[0].gaps[0].length(), 400'000);
  EXPECT_EQ(idle[0].dominant(idle[0].gaps[0]).cause, IdleCause::launch) << "not head_tail: the device had worked before";
}

// (start, end, cause, node) of each piece of the gaps before a device's first work and behind its last.
std::vector<std::tuple<std::int64_t, std::int64_t, IdleCause, NodeId>> pieces_at_the_ends(const std::vector<DeviceIdle>& all) {
  std::vector<std::tuple<std::int64_t, std::int64_t, IdleCause, NodeId>> pieces;
  for (const DeviceIdle& idle : all) {
    for (const IdleGap& gap : idle.gaps) {
      if (gap.last_work != kNoWork && gap.next_work != kNoWork) continue;
      for (const IdlePiece& piece : idle.pieces_of(gap))
        pieces.emplace_back(piece.start_ns, piece.end_ns, piece.cause, piece.node);
    }
  }
  return pieces;
}

TEST(Idle, TheEndsAreThoseOfTheWhole) {
  TraceText text;
  text.frame("torch/utils/data/dataloader.py(701): __next__", 0, 300'000);
  text.call("cudaMalloc", 310'000, 400'000).call("cudaDeviceSynchronize", 410'000, 420'000);
  text.call("cudaLaunchKernel", 490'000, 495'000, 1).kernel("nothing", 480'000, 480'000, 1);
  text.call("cudaLaunchKernel", 500'000, 505'000, 2).kernel("a", 510'000, 520'000, 2);
  text.call("cudaLaunchKernel", 520'000, 525'000, 3).kernel("long", 530'000, 700'000, 3, 8);
  text.call("cudaLaunchKernel", 526'000, 528'000, 4).kernel("b", 540'000, 560'000, 4);
  text.call("cudaMalloc", 800'000, 900'000).call("cudaDeviceSynchronize", 910'000, 990'000);
  text.kernel("alone", 600'000, 610'000, 9, 7, 1);  // of another device, without a launch
  const auto trace = text.read();
  const Model model(*trace);
  const TimeRange whole = *trace->window;
  EXPECT_GE(pieces_at_the_ends(split_idle(model, whole)).size(), 7U);
  for (const std::int64_t from : {0, 200'000, 350'000, 515'000, 695'000, 850'000}) {
    for (const std::int64_t to : {250'000, 515'000, 600'000, 750'000, 850'000, 990'000}) {
      if (to <= from) continue;
      const TimeRange window{whole.start_ns + from, whole.start_ns + to};
      const auto ends = split_idle_at_the_ends(model, window);
      EXPECT_EQ(pieces_at_the_ends(ends), pieces_at_the_ends(split_idle(model, window))) << from << " to " << to;
      for (const DeviceIdle& idle : ends) EXPECT_LE(idle.gaps.size(), 2U);
    }
  }
}

// What a stall is charged with before the first work it is not charged with again: it took no longer than it took.
TEST(Idle, AStallBeforeTheFirstWorkIsChargedOnce) {
  TraceText text;
  text.op("aten::start", 0, 1'000).call("cudaMalloc", 10'000, 40'000);
  text.call("cudaLaunchKernel", 30'000, 60'000, 1).kernel("a", 20'000, 50'000, 1);
  text.call("cudaLaunchKernel", 490'000, 495'000, 2).kernel("b", 500'000, 510'000, 2);
  EXPECT_LE(idle_of(*text.read())["allocator"], 30'000);
}

TEST(Idle, AnOverlappingKernelHidesAGap) {
  TraceText text;
  text.call("cudaLaunchKernel", 1'000, 3'000, 1).kernel("long", 10'000, 100'000, 1, 7);
  text.call("cudaLaunchKernel", 4'000, 6'000, 2).kernel("short", 20'000, 30'000, 2, 8);
  text.call("cudaLaunchKernel", 6'000, 7'000, 3).kernel("after", 50'000, 60'000, 3, 8);
  EXPECT_EQ(idle_of(*text.read()), (Causes{{"head_tail", 9'000}}));
}

}  // namespace
}  // namespace ridge
