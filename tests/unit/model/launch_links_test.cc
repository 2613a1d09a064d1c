// Links from device work to launch and op: each rule by hand, and random traces against a quadratic version.
#include "model/launch_links.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "base/work_count.h"
#include "ingest/reader.h"
#include "model/model.h"

namespace ridge {
namespace {

std::string op(std::string_view name, int tid, int ts, int dur, int external_id) {
  return fmt::format(R"({{"ph":"X","cat":"cpu_op","name":"{}","pid":9,"tid":{},"ts":{},"dur":{},"args":{{"External id":{}}}}})",
                     name, tid, ts, dur, external_id);
}
std::string launch(int tid, int ts, int dur, int correlation) {
  return fmt::format(
      R"({{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":{},"ts":{},"dur":{},"args":{{"correlation":{}}}}})",
      tid, ts, dur, correlation);
}
std::string kernel(int ts, int dur, int correlation, int external_id = 0) {
  const std::string external = external_id == 0 ? "" : fmt::format(R"("External id":{},)", external_id);
  return fmt::format(
      R"({{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":{},"dur":{},"args":{{{}"device":0,"stream":7,"correlation":{}}}}})",
      ts, dur, external, correlation);
}
std::string flow(char ph, int id, int pid, int tid, int ts) {
  return fmt::format(R"({{"ph":"{}","cat":"ac2g","name":"ac2g","id":{},"pid":{},"tid":{},"ts":{}}})", ph, id, pid, tid, ts);
}

struct Linked {
  explicit Linked(const std::vector<std::string>& events)
      : trace(read_trace_bytes("[" + fmt::format("{}", fmt::join(events, ",")) + "]", "t", {}).value()), model(*trace) {}
  std::string op_name(std::size_t row) const {
    const NodeId node = model.links().op[row];
    return node == kNoNode ? "" : std::string(trace->text(trace->events.name(model.tree().event[node.value])));
  }
  std::unique_ptr<Trace> trace;
  Model model;
};

TEST(LaunchLinks, GoByCorrelationAndTheInnermostOp) {
  const Linked linked({op("outer", 1, 0, 100, 1), op("inner", 1, 10, 50, 2), launch(1, 20, 5, 77), kernel(200, 10, 77)});
  EXPECT_EQ(linked.op_name(0), "inner");
  EXPECT_EQ(linked.model.links().state(0), LinkState::op);
}

TEST(LaunchLinks, BelieveTheExternalIdOfAnOpThatEnclosesTheLaunch) {
  const Linked linked({op("outer", 1, 0, 100, 1), op("inner", 1, 10, 50, 2), launch(1, 20, 5, 77), kernel(200, 10, 77, 1)});
  EXPECT_EQ(linked.op_name(0), "outer");
}

TEST(LaunchLinks, DoNotBelieveTheExternalIdOfAnOpElsewhere) {
  const Linked linked({op("other", 2, 0, 100, 1), op("inner", 1, 10, 50, 2), launch(1, 20, 5, 77), kernel(200, 10, 77, 1)});
  EXPECT_EQ(linked.op_name(0), "inner");
}

TEST(LaunchLinks, NameWorkWithoutALaunchAndLaunchesWithoutAnOp) {
  const Linked linked({op("op", 1, 0, 10, 1), launch(1, 20, 5, 77), kernel(200, 10, 77), kernel(1, 2, 5)});
  EXPECT_EQ(linked.model.links().state(0), LinkState::no_op);
  EXPECT_EQ(linked.model.links().state(1), LinkState::before_window);
}

TEST(LaunchLinks, TakeTheNearestLaunchBeforeTheWorkWhenANumberIsUsedTwice) {
  const Linked linked({op("first", 1, 0, 10, 1), launch(1, 1, 2, 77), op("second", 1, 100, 10, 2), launch(1, 101, 2, 77),
                       kernel(50, 10, 77), kernel(150, 10, 77)});
  EXPECT_EQ(linked.op_name(0), "first");
  EXPECT_EQ(linked.op_name(1), "second");
}

// Ranks whose profilers count alike, each with a device: 100 launches 8 us apart in steps of 20, kernels of 100 us in a queue
// that begins `queued_us` behind the step, and a wait behind each step.
Linked ranks_that_count_alike(int ranks, int skew_us, int queued_us) {
  std::vector<std::string> events;
  const auto slice = [&](std::string_view cat, int pid, int tid, int ts, int dur, int device, int correlation) {
    events.push_back(fmt::format(
        R"({{"ph":"X","cat":"{}","name":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{{"device":{},"correlation":{}}}}})",
        cat, cat == "kernel" ? "k" : "cudaLaunchKernel", pid, tid, ts, dur, device, correlation));
  };
  for (int rank = 0; rank < ranks; ++rank) {
    for (int i = 0; i < 100; ++i) {
      const int step = skew_us * rank + i / 20 * (2'100 + queued_us), k = i % 20;
      slice("cuda_runtime", 400 + 500 * rank, 1, step + 8 * k, 5, rank, i + 1);
      slice("kernel", rank, 7, step + queued_us + 101 * k, 100, rank, i + 1);
    }
  }
  return Linked(events);
}
void expect_own_launches(const Linked& linked, const std::string& what) {
  const std::span<const EventId> work = linked.trace->of(EventClass::device_work);
  int wrong = 0;
  for (std::size_t row = 0; row < work.size(); ++row) {
    const NodeId launch = linked.model.links().launch[row];
    ASSERT_NE(launch, kNoNode) << what;
    const auto pid = [&](EventId event) { return linked.trace->forms.tracks()[linked.trace->track(event).value].pid.value; };
    wrong += pid(linked.model.tree().event[launch.value]) != 400 + 500 * pid(work[row]) ? 1 : 0;
  }
  EXPECT_EQ(wrong, 0) << what;
}

// What nearly all of a device's work fits launches it.
TEST(LaunchLinks, AreOfTheProcessThatLaunchesOnTheDevice) {
  expect_own_launches(ranks_that_count_alike(2, 30, 10), "two ranks, the second 30 us behind");
  // So many that their numbers crowd the index.
  expect_own_launches(ranks_that_count_alike(70, 3, 10), "70 ranks, each 3 us behind the one before");
}

// All launch before any work starts, so that the time from launch to work tells nothing: processes and devices go in order.
TEST(LaunchLinks, OfRanksThatLaunchFarAheadGoInOrder) {
  expect_own_launches(ranks_that_count_alike(8, 1, 400), "eight ranks in step");
}

TEST(LaunchLinks, FallBackOnFlowsInAnyOrderAndOnDeviceTracksOnly) {
  const std::string work =
      R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":200,"dur":10,"args":{"device":0,"stream":7}})";
  const std::string call =
      R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":1,"ts":20,"dur":5,"args":{}})";
  const Linked linked(
      {flow('f', 3, 0, 7, 200), flow('f', 4, 9, 1, 20), op("op", 1, 10, 50, 2), call, work, flow('s', 3, 9, 1, 20)});
  EXPECT_EQ(linked.op_name(0), "op");
}

TEST(LaunchLinks, EqualTheQuadraticOnesOnRandomTraces) {
  std::mt19937 random(3);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 50; ++round) {
    struct Span {
      int tid, ts, dur, id;
    };
    std::vector<Span> ops, calls;
    std::vector<std::string> events;
    for (int i = 0; i < 40; ++i) {  // disjoint ops, so that "innermost" is plain to see
      ops.push_back({1 + below(3), i * 100, 60 + below(30), i + 1});
      events.push_back(op(fmt::format("op{}", i), ops.back().tid, ops.back().ts, ops.back().dur, ops.back().id));
    }
    for (int i = 0; i < 60; ++i) {
      calls.push_back({1 + below(3), below(4000), 3, 1000 + i});
      events.push_back(launch(calls.back().tid, calls.back().ts, 3, calls.back().id));
    }
    std::vector<int> correlations;
    for (int i = 0; i < 80; ++i) {
      correlations.push_back(1000 + below(80));
      events.push_back(kernel(5000 + i, 1, correlations.back()));
    }
    std::shuffle(events.begin(), events.end() - 80, random);
    const Linked linked(events);
    for (std::size_t row = 0; row < correlations.size(); ++row) {
      std::string expected;
      for (const Span& call : calls) {
        if (call.id != correlations[row]) continue;
        for (const Span& o : ops) {
          if (o.tid == call.tid && o.ts <= call.ts && call.ts + call.dur <= o.ts + o.dur)
            expected = fmt::format("op{}", o.id - 1);
        }
      }
      EXPECT_EQ(linked.op_name(row), expected) << "round " << round << " row " << row;
    }
  }
}

// One number for everything: each kernel still belongs to the latest launch before it, found without walking through all of
// them, which would be 16 million steps.
TEST(LaunchLinks, AreFoundInFewStepsWhenEveryLaunchBearsTheSameCorrelation) {
  constexpr int kCount = 4'000;
  std::vector<std::string> events;
  for (int i = 0; i < kCount; ++i) events.push_back(launch(1, i * 10, 1, 7));
  for (int i = 0; i < kCount; ++i) events.push_back(kernel(i * 10 + 5, 1, 7));
  const Linked linked(events);
  const std::uint64_t before = work_count;
  const LaunchLinks& links = linked.model.links();
  if constexpr (kCountsWork) {
    EXPECT_GE(work_count - before, std::uint64_t{kCount}) << "nothing was counted";
    EXPECT_LE(work_count - before, std::uint64_t{kCount} * 20);
  }
  for (const int i : {0, 1, kCount / 2, kCount - 1}) {
    const NodeId node = links.launch[static_cast<std::size_t>(i)];
    ASSERT_NE(node, kNoNode);
    EXPECT_EQ(linked.model.tree().start_ns[node.value], i * 10'000);
  }
}

}  // namespace
}  // namespace ridge
