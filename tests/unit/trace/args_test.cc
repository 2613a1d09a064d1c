// Arguments by key and as typed columns of the tables, on a small trace with one event of each class.
#include "trace/args.h"

#include <gtest/gtest.h>

#include "support/files.h"
#include "support/trace_lines.h"
#include "trace/tables.h"

namespace ridge::test {
namespace {

constexpr std::string_view kEvents = R"_(
  {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":9,"args":{"External id":5,"Sequence number":7,"Fwd thread id":0,
   "Record function id":0,"Input Dims":[[2, 3],[]],"Input type":["float",""],"Input Strides":[[3,1],[]],"Concrete Inputs":["","2"],
   "kernel_file":"/x.py","kernel_hash":"cab","kernel_backend":"triton","kernel_kwargs":"XBLOCK=2","kernel_name":"triton_poi","kernel_flop":1.5e9,
   "kernel_num_gb":0.25,"num_warps":4,"num_stages":1}},
  {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":2,"dur":1,"args":{"External id":5,"cbid":211,"correlation":5000000000}},
  {"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":3,"dur":4,"args":{"External id":5,"queued":0,"device":0,"context":1,"stream":7,
   "correlation":5000000000,"registers per thread":128,"shared memory":49152,"blocks per SM":3.712121,"warps per SM":29.69697,
   "grid":[490, 1, 2],"block":[256, 1, 1],"est. achieved occupancy %":46,"graph id":2,"graph node id":99}},
  {"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD","pid":0,"tid":7,"ts":9,"dur":1,"args":{"device":0,"stream":7,"bytes":1024,"memory bandwidth (GB/s)":1.5}},
  {"ph":"X","cat":"python_function","name":"f.py(1): f","pid":1,"tid":1,"ts":1,"dur":9,"args":{"Python id":2,"Python parent id":null,"Python module id":4}},
  {"ph":"i","cat":"cpu_instant_event","name":"[memory]","s":"t","pid":1,"tid":1,"ts":4,"args":{"Addr":140352432226304,"Bytes":-512,
   "Total Allocated":18446744073709551615,"Total Reserved":2,"Device Type":1,"Device Id":0}},
  {"ph":"s","id":77,"pid":1,"tid":1,"ts":2,"cat":"ac2g","name":"ac2g"},
  {"ph":"C","name":"mem","pid":1,"ts":5,"args":{"used":1}},
  {"ph":"X","cat":"cpu_op","name":"record_param_comms","pid":1,"tid":1,"ts":5,"dur":1,"args":{"Collective name":"allreduce","dtype":"Float",
   "In msg nelems":10,"Out msg nelems":10,"Group size":8,"Process Group Name":"0","Process Group Description":"default_pg","Process Group Ranks":"[0, 1]","Rank":3,"Seq":12}}
)_";

class Tables : public testing::Test {
 protected:
  std::unique_ptr<Trace> trace = read_ok(trace_of(kEvents));
  std::string text(std::optional<StringId> id) const { return id ? std::string(trace->text(*id)) : "(none)"; }
};

TEST_F(Tables, Ops) {
  const OpTable table = ops(*trace);
  ASSERT_EQ(table.events.size(), 2U);
  const EventId op = table.events[0];
  EXPECT_EQ(table.external_id.integer(op), 5);
  EXPECT_EQ(table.sequence_number.integer(op), 7);
  EXPECT_EQ(table.fwd_thread_id.integer(op), 0);
  EXPECT_EQ(text(table.input_dims.text(op)), "[[2,3],[]]");
  EXPECT_EQ(text(table.input_type.text(op)), R"(["float",""])");
  EXPECT_EQ(text(table.input_strides.text(op)), "[[3,1],[]]");
  EXPECT_EQ(text(table.concrete_inputs.text(op)), R"(["","2"])");
  EXPECT_EQ(text(table.kernel_file.text(op)), "/x.py");
  EXPECT_EQ(text(table.kernel_hash.text(op)), "cab");
  EXPECT_EQ(text(table.kernel_backend.text(op)), "triton");
  EXPECT_EQ(text(table.kernel_kwargs.text(op)), "XBLOCK=2");
  EXPECT_EQ(text(table.kernel_name.text(op)), "triton_poi");
  EXPECT_EQ(table.kernel_flop.number(op), 1.5e9);
  EXPECT_EQ(table.kernel_num_gb.number(op), 0.25);
  EXPECT_EQ(table.num_warps.integer(op), 4);
  EXPECT_EQ(table.num_stages.number(op), 1.0);
  EXPECT_EQ(table.external_id.integer(table.events[1]), std::nullopt);
}

TEST_F(Tables, LaunchesAndDeviceWork) {
  const LaunchTable calls = launches(*trace);
  ASSERT_EQ(calls.events.size(), 1U);
  EXPECT_EQ(calls.correlation.integer(calls.events[0]), 5'000'000'000);
  EXPECT_EQ(calls.cbid.integer(calls.events[0]), 211);
  const DeviceWorkTable work = device_work(*trace);
  ASSERT_EQ(work.events.size(), 2U);
  const EventId kernel = work.events[0], copy = work.events[1];
  EXPECT_EQ(work.correlation.integer(kernel), 5'000'000'000);
  EXPECT_EQ(work.device.integer(kernel), 0);
  EXPECT_EQ(work.stream.integer(kernel), 7);
  EXPECT_EQ(work.registers_per_thread.integer(kernel), 128);
  EXPECT_EQ(work.shared_memory.integer(kernel), 49152);
  EXPECT_EQ(work.blocks_per_sm.number(kernel), 3.712121);
  EXPECT_EQ(work.blocks_per_sm.integer(kernel), std::nullopt);
  EXPECT_EQ(work.occupancy_pct.number(kernel), 46.0);
  EXPECT_EQ(work.graph_id.integer(kernel), 2);
  EXPECT_EQ(work.graph_node_id.integer(kernel), 99);
  EXPECT_EQ(parse_dim3(text(work.grid.text(kernel))), (Dim3{490, 1, 2}));
  EXPECT_EQ(parse_dim3(text(work.block.text(kernel))), (Dim3{256, 1, 1}));
  EXPECT_EQ(work.bytes.integer(copy), 1024);
  EXPECT_EQ(work.bandwidth_gb_per_s.number(copy), 1.5);
  EXPECT_EQ(work.bytes.integer(kernel), std::nullopt);
}

TEST_F(Tables, FramesMemoryFlowsCountersCollectives) {
  const PythonFrameTable frames = python_frames(*trace);
  ASSERT_EQ(frames.events.size(), 1U);
  EXPECT_EQ(frames.id.integer(frames.events[0]), 2);
  EXPECT_EQ(frames.parent_id.integer(frames.events[0]), std::nullopt);
  EXPECT_EQ(frames.module_id.integer(frames.events[0]), 4);
  const MemoryTable memory = memory_events(*trace);
  ASSERT_EQ(memory.events.size(), 1U);
  EXPECT_EQ(memory.addr.integer(memory.events[0]), 140352432226304);
  EXPECT_EQ(memory.bytes.integer(memory.events[0]), -512);
  EXPECT_EQ(memory.total_allocated.integer(memory.events[0]), std::nullopt);  // above INT64_MAX
  EXPECT_EQ(memory.total_allocated.number(memory.events[0]), 18446744073709551615.0);
  EXPECT_EQ(memory.device_type.integer(memory.events[0]), 1);
  const FlowTable arrows = flows(*trace);
  ASSERT_EQ(arrows.events.size(), 1U);
  EXPECT_EQ(arrows.id.integer(arrows.events[0]), 77);
  EXPECT_EQ(counters(*trace).events.size(), 1U);
  const CollectiveTable comms = collectives(*trace);
  const EventId call = trace->of(EventClass::op)[1];
  EXPECT_EQ(text(comms.name.text(call)), "allreduce");
  EXPECT_EQ(text(comms.dtype.text(call)), "Float");
  EXPECT_EQ(comms.in_elements.integer(call), 10);
  EXPECT_EQ(comms.group_size.integer(call), 8);
  EXPECT_EQ(text(comms.group_ranks.text(call)), "[0, 1]");
  EXPECT_EQ(comms.rank.integer(call), 3);
  EXPECT_EQ(comms.sequence.integer(call), 12);
}

TEST_F(Tables, ByKey) {
  const EventId op = trace->of(EventClass::op)[0];
  EXPECT_EQ(find_arg(*trace, op, "External id")->as_integer(), 5);
  EXPECT_EQ(find_arg(*trace, op, "kernel_flop")->as_number(), 1.5e9);
  EXPECT_EQ(find_arg(*trace, op, "Input Dims")->as_text(), "[[2,3],[]]");
  EXPECT_FALSE(find_arg(*trace, op, "no such key").has_value());
  const EventId flow = trace->of(EventClass::flow)[0];
  EXPECT_FALSE(find_arg(*trace, flow, "id").has_value());
  EXPECT_EQ(find_arg(*trace, flow, "id", true)->as_integer(), 77);
}

TEST(Dim3Text, OnlyThreeIntegers) {
  EXPECT_EQ(parse_dim3("[1,2,3]"), (Dim3{1, 2, 3}));
  for (const char* text :
       {"", "[]", "[1]", "[1,2]", "[1,2,3,4]", "[1,2,3", "[1, 2, x]", "1,2,3", "[1,2,3]x", "[99999999999999999999,1,1]"}) {
    EXPECT_EQ(parse_dim3(text), std::nullopt) << text;
  }
}

// Each typed column against the generic arguments, over a whole trace.
TEST(Columns, EqualArgumentsByKey) {
  const auto trace = read_ok(fixture("graph_breaks_inference"));
  for (std::size_t k = 1; k < kArgKeys; ++k) {
    const std::string_view key = arg_key_texts()[k];
    const ArgColumn column(*trace, static_cast<ArgKey>(k));
    for (std::uint32_t i = 0; i < trace->events.size(); ++i) {
      const auto value = find_arg(*trace, EventId{i}, key);
      ASSERT_EQ(column.integer(EventId{i}), value ? value->as_integer() : std::nullopt) << key;
      ASSERT_EQ(column.number(EventId{i}), value ? value->as_number() : std::nullopt) << key;
      const auto id = column.text(EventId{i});
      ASSERT_EQ(id ? std::optional(trace->text(*id)) : std::nullopt, value ? value->as_text() : std::nullopt) << key;
    }
  }
}

}  // namespace
}  // namespace ridge::test
