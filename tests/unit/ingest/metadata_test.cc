// What the profiler writes around the events, and the names of tracks.
#include <gtest/gtest.h>

#include "support/trace_lines.h"

namespace ridge::test {
namespace {

TEST(Metadata, OfAProfilerTrace) {
  const auto trace = read_ok(R"({"schemaVersion": 1,
    "deviceProperties": [{"id": 0, "name": "NVIDIA H200", "totalGlobalMem": 150109880320, "computeMajor": 9, "computeMinor": 0,
      "maxThreadsPerMultiprocessor": 2048, "warpSize": 32, "numSms": 132, "regsPerMultiprocessor": 65536, "sharedMemPerMultiprocessor": 233472},
      {"id": 1, "name": ""}],
    "trace_id": "1494FD", "record_shapes": 1, "with_stack": 0, "profile_memory": true, "cuda_runtime_version": 13000, "hip_version": "6.1",
    "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8, "pg_count": 1},
    "host_name": "node7", "displayTimeUnit": "ms", "baseTimeNanoseconds": 1790857026000000000, "my key": {"a": [1, 2]},
    "traceEvents": [], "traceName": "/tmp/x.json", "with_flops": false})");
  const Metadata& m = trace->metadata;
  ASSERT_EQ(m.devices.size(), 2U);
  EXPECT_EQ(m.devices[0].id, 0);
  EXPECT_EQ(m.devices[0].name, "NVIDIA H200");
  EXPECT_EQ(m.devices[0].memory_bytes, 150109880320);
  EXPECT_EQ(m.devices[0].multiprocessors, 132);
  EXPECT_EQ(m.devices[0].compute_major, 9);
  EXPECT_EQ(m.devices[0].compute_minor, 0);
  EXPECT_EQ(m.devices[0].warp_size, 32);
  EXPECT_EQ(m.devices[0].threads_per_multiprocessor, 2048);
  EXPECT_EQ(m.devices[0].registers_per_multiprocessor, 65536);
  EXPECT_EQ(m.devices[0].shared_memory_per_multiprocessor, 233472);
  EXPECT_EQ(m.devices[1].id, 1);
  EXPECT_EQ(m.devices[1].multiprocessors, std::nullopt);
  EXPECT_EQ(m.schema_version, 1);
  EXPECT_EQ(m.base_time_ns, 1790857026000000000);
  EXPECT_EQ(m.rank, 3);
  EXPECT_EQ(m.world_size, 8);
  EXPECT_EQ(m.backend, "nccl");
  EXPECT_EQ(m.record_shapes, true);
  EXPECT_EQ(m.with_stack, false);
  EXPECT_EQ(m.with_modules, std::nullopt);
  EXPECT_EQ(m.with_flops, false);
  EXPECT_EQ(m.profile_memory, true);
  EXPECT_EQ(m.trace_id, "1494FD");
  EXPECT_EQ(m.trace_name, "/tmp/x.json");
  EXPECT_EQ(m.host_name, "node7");
  EXPECT_EQ(m.display_time_unit, "ms");
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(m.versions, (Pairs{{"cuda_runtime_version", "13000"}, {"hip_version", "6.1"}}));
  EXPECT_EQ(m.items, (Pairs{{"my key", "{\"a\": [1, 2]}"}}));
}

TEST(Metadata, ProcessGroupsOfAJob) {
  const auto trace = read_ok(R"({"distributedInfo": {"rank": 1, "world_size": 4, "pg_config": [
      {"pg_name": "0", "pg_desc": "default_pg", "pg_size": 4, "ranks": [0, 1, 2, 3]}, 7,
      {"pg_name": 2, "ranks": "many"}]}, "traceEvents": []})");
  const std::vector<ProcessGroup>& groups = trace->metadata.groups;
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].name, "0");
  EXPECT_EQ(groups[0].description, "default_pg");
  EXPECT_EQ(groups[0].size, 4);
  EXPECT_EQ(groups[0].ranks, (std::vector<std::int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(groups[1].name, "2");
  EXPECT_EQ(groups[1].size, std::nullopt);
  EXPECT_TRUE(groups[1].ranks.empty());
}

TEST(Metadata, TheKeyOfTheEventsMayBeEscaped) {
  const auto trace = read_ok(R"({"a": [], "trace\u0045vents": [{"ph":"X","ts":1,"dur":1}], "b\"": 2})");
  EXPECT_EQ(trace->events.size(), 1U);
  EXPECT_TRUE(problem_lines(trace->diagnostics).empty());
}

TEST(Metadata, AbsentIsUnknown) {
  const auto trace = read_ok(R"({"traceEvents": []})");
  const Metadata& m = trace->metadata;
  EXPECT_EQ(m.schema_version, std::nullopt);
  EXPECT_EQ(m.rank, std::nullopt);
  EXPECT_EQ(m.record_shapes, std::nullopt);
  EXPECT_EQ(m.trace_name, std::nullopt);
  EXPECT_TRUE(m.devices.empty());
}

TEST(Metadata, OfOtherTypes) {
  const auto trace =
      read_ok(R"({"schemaVersion": "1", "deviceProperties": 5, "distributedInfo": [], "record_shapes": "yes", "trace_id": 7,
    "baseTimeNanoseconds": 1.5, "traceEvents": []})");
  EXPECT_EQ(trace->metadata.schema_version, 1);
  EXPECT_TRUE(trace->metadata.devices.empty());
  EXPECT_EQ(trace->metadata.record_shapes, std::nullopt);
  EXPECT_EQ(trace->metadata.trace_id, std::nullopt);
  EXPECT_EQ(trace->metadata.base_time_ns, std::nullopt);
}

TEST(Metadata, NamesTracksAndProcesses) {
  const auto trace = read_ok(
      trace_of(R"({"ph":"X","name":"k","pid":0,"tid":7,"ts":1,"dur":1}, {"ph":"X","name":"o","pid":5,"tid":5,"ts":1,"dur":1},
    {"name":"process_name","ph":"M","ts":0,"pid":0,"tid":0,"args":{"name":"python"}},
    {"name":"process_labels","ph":"M","ts":0,"pid":0,"tid":0,"args":{"labels":"GPU 0"}},
    {"name":"process_sort_index","ph":"M","ts":0,"pid":0,"tid":0,"args":{"sort_index":5000000}},
    {"name":"thread_name","ph":"M","ts":0,"pid":0,"tid":7,"args":{"name":"stream 7"}},
    {"name":"thread_sort_index","ph":"M","ts":0,"pid":0,"tid":7,"args":{"sort_index":7}})"));
  const Track& stream = trace->forms.track(trace->track(EventId{0U}));
  EXPECT_EQ(trace->text(stream.thread_name), "stream 7");
  EXPECT_EQ(trace->text(stream.process_name), "python");
  EXPECT_EQ(trace->text(stream.process_labels), "GPU 0");
  EXPECT_EQ(stream.process_sort_index, 5'000'000);
  EXPECT_EQ(stream.thread_sort_index, 7);
  const Track& host = trace->forms.track(trace->track(EventId{1U}));
  EXPECT_EQ(trace->text(host.thread_name), "");
  EXPECT_EQ(trace->text(host.process_name), "");
  EXPECT_EQ(host.thread_sort_index, std::nullopt);
}

}  // namespace
}  // namespace ridge::test
