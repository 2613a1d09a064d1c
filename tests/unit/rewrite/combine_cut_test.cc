// Combine and cut: the parts' kernels, links and flows are all there, and nothing is taken for another's.
#include <map>
#include <set>

#include "model/device_properties.h"
#include "rewrite/combine_plan.h"
#include "rewriting.h"
#include "support/files.h"
#include "support/loaded_trace.h"
#include "support/sample.h"
#include "support/trace_lines.h"
#include "trace/tables.h"

namespace ridge::test {
namespace {

// What must add up.
struct Census {
  std::size_t kernels = 0, linked_to_launch = 0, linked_to_op = 0, flow_events = 0, whole_flows = 0, forward_backward = 0;
  std::map<std::string, std::size_t> ops;
  std::int64_t device_ns = 0;

  explicit Census(const LoadedTrace& loaded) {
    const Trace& trace = *loaded.trace;
    const auto& work = trace.of(EventClass::device_work);
    kernels = work.size();
    const LaunchLinks& links = loaded.model->links();
    for (std::size_t row = 0; row < work.size(); ++row) {
      linked_to_launch += links.launch[row] != kNoNode;
      linked_to_op += links.op[row] != kNoNode;
      device_ns += trace.events.dur_ns(work[row]).value_or(0);
    }
    for (const EventId op : trace.of(EventClass::op)) ++ops[std::string(trace.text(trace.events.name(op)))];
    const FlowTable table = flows(trace);
    std::map<std::pair<std::string_view, std::int64_t>, std::set<char>> ends;
    for (const EventId flow : table.events) {
      ++flow_events;
      ends[{trace.text(trace.kind(flow).cat), table.id.integer(flow).value_or(-1)}].insert(trace.kind(flow).phase);
    }
    for (const auto& [id, phases] : ends) whole_flows += phases.contains('s') && phases.contains('f');
    forward_backward = loaded.model->forward_backward().links.size();
  }
  Census& operator+=(const Census& other) {
    kernels += other.kernels;
    linked_to_launch += other.linked_to_launch;
    linked_to_op += other.linked_to_op;
    flow_events += other.flow_events;
    whole_flows += other.whole_flows;
    forward_backward += other.forward_backward;
    device_ns += other.device_ns;
    for (const auto& [op, count] : other.ops) ops[op] += count;
    return *this;
  }
};

void expect_equal(const Census& found, const Census& expected) {
  EXPECT_EQ(found.kernels, expected.kernels);
  EXPECT_EQ(found.linked_to_launch, expected.linked_to_launch);
  EXPECT_EQ(found.linked_to_op, expected.linked_to_op);
  EXPECT_EQ(found.flow_events, expected.flow_events);
  EXPECT_EQ(found.whole_flows, expected.whole_flows);
  EXPECT_EQ(found.forward_backward, expected.forward_backward);
  EXPECT_EQ(found.device_ns, expected.device_ns);
  EXPECT_EQ(found.ops, expected.ops);
}

LoadedTrace load_text(std::string_view text) { return LoadedTrace(read_ok(text)); }

void expect_sum(const std::vector<std::string>& parts) {
  const LoadedTrace whole = load_text(combined(parts));
  Census sum(load_text(parts[0]));
  std::uint64_t elements = load_text(parts[0]).trace->events.size();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const LoadedTrace part = load_text(parts[i]);
    sum += Census(part);
    elements += part.trace->events.size();
  }
  expect_equal(Census(whole), sum);
  EXPECT_EQ(whole.trace->events.size(), elements);
  EXPECT_EQ(whole.trace->diagnostics.dropped_events(), 0U);
}

TEST(Combine, RanksOfOneJob) {
  std::vector<std::string> parts;
  for (const char* name : {"ddp_gloo_rank0", "ddp_gloo_rank1", "ddp_gloo_rank2", "ddp_gloo_rank3"})
    parts.push_back(fixture(name));
  expect_sum(parts);
  const LoadedTrace whole = load_text(combined(parts));
  ASSERT_EQ(whole.trace->metadata.devices.size(), 4U);
  for (std::int64_t i = 0; i < 4; ++i) EXPECT_EQ(whole.trace->metadata.devices[static_cast<std::size_t>(i)].id, i);
  EXPECT_EQ(whole.model->timeline().devices.size(), 4U);
  EXPECT_FALSE(whole.trace->metadata.rank.has_value()) << "the ranks differ";
}

TEST(Combine, ATraceWithItself) {
  for (const char* name : {"gpt_eager_train_stack_mem", "densenet121_bs1_cudagraph", "graph_breaks_stack"}) {
    SCOPED_TRACE(name);
    const std::string part = fixture(name);
    expect_sum({part, part, part});
  }
}

TEST(Combine, EveryTraceWithTheNext) {
  const std::vector<std::string> paths = all_traces();
  SCOPED_TRACE(sample_note());
  for (const std::size_t pair : sampled_rounds(paths.size() / 2, 9)) {
    const std::size_t i = 2 * pair;
    SCOPED_TRACE(paths[i]);
    if (paths[i].find("compile_time") != std::string::npos) continue;  // large
    expect_sum({json_of(paths[i]), json_of(paths[i + 1])});
  }
}

TEST(Combine, ClocksAreAligned) {
  const std::string event = R"("traceEvents":[{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":10.500,"dur":5}]})";
  const std::string early = R"({"baseTimeNanoseconds": 1000000000000000000, )" + event;
  const std::string late = R"({"baseTimeNanoseconds": 1000000000000002001, )" + event;
  const std::string both = combined({late, early});
  const auto trace = read_ok(both);
  ASSERT_EQ(trace->events.size(), 2U);
  EXPECT_EQ(trace->metadata.base_time_ns, 1000000000000000000);
  EXPECT_EQ(trace->events.ts_ns(EventId{0U}), 12501);
  EXPECT_EQ(trace->events.ts_ns(EventId{1U}), 10500);
  EXPECT_NE(trace->track(EventId{0U}), trace->track(EventId{1U})) << "one pid, two processes";
}

// One op at that time, with the base time where it has one.
std::string op_at(std::string_view ts, std::string_view base = "") {
  const std::string head = base.empty() ? "{" : R"({"baseTimeNanoseconds": )" + std::string(base) + ", ";
  return head + R"("traceEvents":[{"ph":"M","name":"process_name","pid":1,"tid":0,"ts":0,"args":{"name":"python"}},)" +
         R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":)" + std::string(ts) + R"(,"dur":5}]})";
}

struct Combined {
  std::vector<std::int64_t> times_ns;  // of the ops
  std::uint64_t events = 0;            // read back
};

Combined combined_times(const std::vector<std::string>& parts) {
  const auto trace = read_ok(combined(parts));
  Combined found;
  found.events = trace->events.size();
  EXPECT_EQ(trace->diagnostics.dropped_events(), 0U);
  for (const EventId op : trace->of(EventClass::op)) found.times_ns.push_back(trace->events.ts_ns(op));
  return found;
}

TEST(Combine, WithoutABaseTimeNothingIsLost) {
  // 44.5 days after its base, which Kineto rounds down to a quarter of a year: as they stand, the times are those of the other.
  const std::string known = op_at("3846973000000.500", "1790857026000000000");
  const Combined same = combined_times({op_at("3846974000000.250"), known});
  EXPECT_EQ(same.events, 4U);
  EXPECT_EQ(same.times_ns, (std::vector<std::int64_t>{3846974000000250, 3846973000000500}));

  // Since the start of the machine: nothing says when that was, so it starts with the other, and in any order.
  const Combined other = combined_times({op_at("500000000.000"), known});
  EXPECT_EQ(other.events, 4U);
  EXPECT_EQ(other.times_ns, (std::vector<std::int64_t>{3846973000000500, 3846973000000500}));
  EXPECT_EQ(combined_times({known, op_at("500000000.000")}).times_ns, other.times_ns);

  // Two that say nothing.
  EXPECT_EQ(combined_times({op_at("10"), op_at("900000000000")}).times_ns, (std::vector<std::int64_t>{10000, 10000}));
  EXPECT_EQ(combined_times({op_at("10"), op_at("20")}).times_ns, (std::vector<std::int64_t>{10000, 20000}));

  // Since the epoch, by the profilers before base times; the name of the process, at 0, is not.
  const Combined old = combined_times({op_at("1794703999000000.500"), known});
  EXPECT_EQ(old.events, 4U);
  EXPECT_EQ(old.times_ns, (std::vector<std::int64_t>{3846973000000500, 3846973000000500}));
}

TEST(Combine, TimesThatAreTextMoveToo) {
  const std::string early = op_at("10", "1000000000000000000");
  EXPECT_EQ(combined_times({op_at("\"10.5\"", "1000000000000002000"), early}).times_ns,
            (std::vector<std::int64_t>{12500, 10000}));
}

std::vector<UnknownClock> unknown_clocks(const std::vector<std::string>& parts) {
  std::vector<InputFacts> facts;
  for (const std::string& part : parts) facts.push_back(facts_of(**read_with_places(part)));
  return plan_combination(facts).value().clocks.unknown;
}

TEST(Combine, WhatIsDoneWithUnknownTimesIsSaid) {
  const std::string known = op_at("3846973000000.500", "1790857026000000000");
  const std::vector<UnknownClock> clocks = unknown_clocks({op_at("3846974000000.250"), known, op_at("10")});
  ASSERT_EQ(clocks.size(), 2U);
  EXPECT_FALSE(clocks[0].moved);
  EXPECT_TRUE(clocks[1].moved);
  EXPECT_TRUE(unknown_clocks({known, known}).empty());
}

std::vector<FarTrace> far_apart(const std::vector<std::int64_t>& base_times_s) {
  std::vector<InputFacts> facts;
  for (const std::int64_t base_s : base_times_s) {
    const std::string text = R"({"baseTimeNanoseconds": )" + std::to_string(base_s * 1'000'000'000) +
                             R"(, "traceEvents":[{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":10,"dur":5000000}]})";
    facts.push_back(facts_of(**read_with_places(text, "at" + std::to_string(base_s))));
  }
  return plan_combination(facts).value().clocks.far_apart;
}

TEST(Combine, TracesOfDifferentTimesAreTold) {
  EXPECT_TRUE(far_apart({1'700'000'000, 1'700'000'030}).empty());  // ranks begin within seconds
  const std::vector<FarTrace> far = far_apart({1'700'000'000, 1'700'003'600, 1'700'000'001});
  ASSERT_EQ(far.size(), 1U);
  EXPECT_EQ(far[0].name, "at1700003600");
  EXPECT_EQ(far[0].gap_ns, 3'594'000'000'000);  // from the end of the second, which lasts 5 s
}

TEST(Combine, TheFirstKeepsTheDevicesThatOnlyPidsName) {
  const std::string by_pid =
      R"({"traceEvents":[{"ph":"X","cat":"kernel","name":"k","pid":17,"tid":1,"ts":1,"dur":5,"args":{"correlation":1}}]})";
  const std::string by_arg =
      R"({"traceEvents":[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":5,"args":{"device":0,"stream":7}}]})";
  const auto devices = [](const std::string& both) {
    const LoadedTrace loaded = load_text(both);
    std::vector<std::int64_t> ids;
    for (const Device& device : loaded.model->timeline().devices) ids.push_back(device.id);
    return ids;
  };
  EXPECT_EQ(devices(combined({by_pid, by_arg})), (std::vector<std::int64_t>{17, 18}));
  EXPECT_EQ(devices(combined({by_arg, by_pid})), (std::vector<std::int64_t>{0, 1}));
}

// ROCm: the process lists the one GPU that it sees as device 0, its work bears the number that the GPU has on the machine, its
// memory events that of the list.
TEST(Combine, ADeviceWithTwoNumbersKeepsItsName) {
  const auto rank = [](std::string_view name) {
    return R"({"deviceProperties":[{"id":0,"name":")" + std::string(name) + R"(","totalGlobalMem":1}],"traceEvents":[)" +
           R"({"ph":"X","cat":"kernel","name":"k","pid":2,"tid":7,"ts":1,"dur":5,"args":{"device":2,"stream":7}},)" +
           R"({"ph":"i","cat":"cpu_instant_event","name":"[memory]","pid":9,"tid":9,"ts":2,"s":"t",)" +
           R"("args":{"Device Type":1,"Device Id":0,"Bytes":512,"Addr":1,"Total Allocated":512}}]})";
  };
  const LoadedTrace both = load_text(combined({rank("first"), rank("second")}));
  std::map<std::int64_t, std::string> names;
  for (const Device& device : both.model->timeline().devices) {
    const DeviceProperties* properties = properties_of(*both.model, device.id);
    ASSERT_NE(properties, nullptr) << device.id;
    names[device.id] = properties->name;
  }
  EXPECT_EQ(names, (std::map<std::int64_t, std::string>{{2, "first"}, {3, "second"}}));
  const MemoryTable memory = memory_events(*both.trace);
  std::set<std::int64_t> allocated_on;
  for (const EventId event : memory.events) allocated_on.insert(memory.device_id.integer(event).value_or(-1));
  EXPECT_EQ(allocated_on, (std::set<std::int64_t>{2, 3}));
}

// What a later input calls "" is no number: that could be another's pid.
TEST(Combine, AnEmptyPidIsNotTakenForANumber) {
  const std::string part = R"({"traceEvents":[{"ph":"X","cat":"cpu_op","name":"a","pid":"","tid":1,"ts":1,"dur":5},)"
                           R"({"ph":"X","cat":"cpu_op","name":"b","pid":2,"tid":1,"ts":1,"dur":5}]})";
  const std::string both = combined({part, part});
  EXPECT_NE(both.find(R"("pid":"input 2")"), std::string::npos) << both;
  EXPECT_EQ(both.find(R"("pid":"2")"), std::string::npos);
  std::set<TrackPart> pids;
  const LoadedTrace loaded = load_text(both);
  for (const EventId op : loaded.trace->of(EventClass::op)) pids.insert(loaded.trace->forms.track(loaded.trace->track(op)).pid);
  EXPECT_EQ(pids.size(), 4U);
}

TEST(Combine, AnEventWithoutItsBraceIsMended) {
  const std::string damaged = R"({"traceEvents":[{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":2,"ts":1,"dur":1.5#,)"
                              R"({"ph":"X","cat":"cpu_op","name":"c","pid":1,"tid":2,"ts":3,"dur":1.500}]})";
  ASSERT_EQ(read_ok(damaged)->events.size(), 2U);
  EXPECT_EQ(read_ok(combined({damaged, damaged}))->events.size(), 4U);
}

TEST(Combine, DamagedEventsAreMended) {
  const std::string damaged =
      R"({"traceEvents":[{"ph":"X","cat":"cpu_op","name":"a "quote" inside","pid":1,"tid":1,"ts":1,"dur":5,"args":{"External id":1, "v": inf}},)"
      R"({"ph":"X","cat":"cpu_op","name":"b","pid":1,"tid":1,"ts":10,"dur":5,"args":{"External id":2}}]})";
  const auto trace = read_ok(combined({damaged, damaged}));
  EXPECT_EQ(trace->events.size(), 4U);
  EXPECT_TRUE(problem_lines(trace->diagnostics).empty());
}

TEST(Cut, EveryThirdOfATraceKeepsItsLinks) {
  for (const char* name :
       {"gpt_eager_train_stack_mem", "densenet121_bs1_cudagraph", "resnet18_eager_shapes", "mlp_profiler_steps"}) {
    SCOPED_TRACE(name);
    const std::string json = fixture(name);
    const LoadedTrace all = load_text(json);
    std::size_t kernels = 0;
    for (int third = 0; third < 3; ++third) {
      const LoadedTrace part = load_text(cut_to(json, {{"step", std::to_string(third)}}, 3));
      const Census census(part);
      kernels += census.kernels;
      EXPECT_TRUE(problem_lines(part.trace->diagnostics).empty());
      EXPECT_EQ(part.trace->of(EventClass::metadata).size(), all.trace->of(EventClass::metadata).size());
      EXPECT_EQ(part.trace->metadata.devices.size(), all.trace->metadata.devices.size());
      // Every kernel that had a launch and an op has them still.
      const Census whole(all);
      if (whole.linked_to_launch == whole.kernels) {
        EXPECT_EQ(census.linked_to_launch, census.kernels);
      }
      if (whole.linked_to_op == whole.kernels) {
        EXPECT_EQ(census.linked_to_op, census.kernels);
      }
    }
    EXPECT_EQ(kernels, Census(all).kernels) << "each kernel is in one third, by its launch";
  }
}

TEST(Cut, AllOfATraceIsTheTrace) {
  const std::string json = fixture("graph_breaks_stack");
  const LoadedTrace all = load_text(json);
  const LoadedTrace part = load_text(cut_between(json, 0, all.trace->window->duration_ns() + 1));
  EXPECT_EQ(event_lines(*part.trace), event_lines(*all.trace));
  expect_equal(Census(part), Census(all));
}

// A frame is of the range that has most of it: not of the one that ends right behind its start, nor of a part of what it holds.
TEST(Cut, AFrameGoesWithMostOfIt) {
  const auto frame = [](const char* name, int ts, int dur) {
    return event({.name = name, .ts = ts, .dur = dur, .cat = "python_function"});
  };
  const std::string json =
      "{\"traceEvents\":[" +
      join({frame("all", 0, 1000), frame("first", 95, 205), frame("inside", 150, 20), frame("second", 290, 210)}) + "]}";
  const LoadedTrace part = load_text(cut_between(json, 100'000, 300'000));
  std::set<std::string> names;
  for (const EventId each : part.trace->of(EventClass::python_frame))
    names.emplace(part.trace->text(part.trace->events.name(each)));
  EXPECT_EQ(names, (std::set<std::string>{"first", "inside"}));
}

// A thread beside the one that works waits in one frame for most of a step and far beyond it: its time is not the step's.
TEST(Cut, FramesOfBackgroundThreadsDoNotStretchTheRange) {
  const auto frame = [](const char* name, int ts, int dur, int tid) {
    return event({.name = name, .ts = ts, .dur = dur, .cat = "python_function", .tid = tid});
  };
  const std::string json =
      "{\"traceEvents\":[" +
      join({event({.name = "aten::sub", .ts = 0, .dur = 10}), frame("step", 95, 205, 1),
            event({.name = "aten::add", .ts = 110, .dur = 50}), launch(1, 120, 5, "k", 130, 100), frame("wait", 120, 340, 2),
            frame("inside", 150, 20, 2), frame("late", 210, 150, 2), event({.name = "aten::mul", .ts = 400, .dur = 100})}) +
      "]}";
  const LoadedTrace part = load_text(cut_between(json, 100'000, 300'000));
  std::set<std::string> names;
  for (const EventId each : part.trace->of(EventClass::python_frame))
    names.emplace(part.trace->text(part.trace->events.name(each)));
  EXPECT_EQ(names, (std::set<std::string>{"step", "inside"}));
  EXPECT_EQ(part.trace->window->duration_ns(), 205'000);
}

TEST(Cut, FlowsAreWholeOrGone) {
  const std::string json = fixture("gpt_eager_train_stack_mem");
  const TimeRange window = *load_text(json).trace->window;
  const LoadedTrace part = load_text(cut_between(json, 0, window.duration_ns() / 2));
  const FlowTable table = flows(*part.trace);
  std::map<std::int64_t, std::set<char>> ends;
  for (const EventId flow : table.events) {
    if (part.trace->text(part.trace->kind(flow).cat) == "fwdbwd")
      ends[table.id.integer(flow).value_or(-1)].insert(part.trace->kind(flow).phase);
  }
  EXPECT_GT(ends.size(), 10U);
  for (const auto& [id, phases] : ends) EXPECT_EQ(phases.size(), 2U) << id;
}

}  // namespace
}  // namespace ridge::test
