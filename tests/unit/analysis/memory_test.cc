// memory: a hand-made history, the peak's holders, and curves that keep their peaks.
#include "analysis/memory/memory.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/files.h"
#include "support/host_device_trace.h"
#include "support/table_rows.h"

namespace ridge {
namespace {

using test::TraceText;

const MemoryOp& op_named(const MemoryDevice& device, const std::string& name) {
  const auto it = std::find_if(device.ops.begin(), device.ops.end(), [&](const MemoryOp& op) { return op.op == name; });
  static const MemoryOp none;
  EXPECT_NE(it, device.ops.end()) << name;
  return it == device.ops.end() ? none : *it;
}

// 1000 bytes are there already. aten::mm takes 100 and 200, the peak is 1300; aten::add frees the 200 and takes 50; an old 400
// goes.
TraceText history() {
  TraceText text;
  text.op("aten::mm", 1'000, 3'000).op("aten::empty", 1'100, 2'900);
  text.memory(1'500, 100, 0xA, 1100).memory(2'000, 200, 0xB, 1300);
  text.op("aten::add", 4'000, 6'000).memory(4'500, -200, 0xB, 1100).memory(5'000, 50, 0xC, 1150);
  text.memory(7'000, -400, 0xD, 750);
  return text;
}

TEST(Memory, AllocationsBelongToTheOpThatMadeThem) {
  const auto trace = history().read();
  const Model model(*trace);
  const Memory memory = compute_memory(Scope(model));
  ASSERT_EQ(memory.devices.size(), 1U);
  const MemoryDevice& d = memory.devices[0];
  EXPECT_EQ(d.device, "cuda:0");
  const MemoryOp& mm = op_named(d, "aten::mm");
  EXPECT_EQ(mm.allocated_bytes, 300);
  EXPECT_EQ(mm.allocations, 2);
  EXPECT_EQ(mm.freed_bytes, 200);  // by whoever
  EXPECT_EQ(mm.peak_bytes, 300);
  EXPECT_EQ(op_named(d, "aten::add").peak_bytes, 50);
  EXPECT_EQ(op_named(d, "[allocated before the recording]").freed_bytes, 400);
  EXPECT_EQ(d.allocated_bytes, 350);
  EXPECT_EQ(d.freed_bytes, 600);
}

TEST(Memory, HoldersAddUpToThePeak) {
  const auto trace = history().read();
  const Model model(*trace);
  const MemoryDevice d = compute_memory(Scope(model)).devices.at(0);
  EXPECT_EQ(d.peak_bytes, 1300);
  EXPECT_EQ(d.peak_time_ns, 1'000);  // the window starts at 1 us
  ASSERT_EQ(d.holders.size(), 2U);
  EXPECT_EQ(d.holders[0].op, "[allocated before the recording]");
  EXPECT_EQ(d.holders[0].bytes, 1000);
  EXPECT_EQ(d.holders[1].op, "aten::mm");
  EXPECT_EQ(d.holders[1].bytes, 300);
  EXPECT_EQ(d.holders[1].allocations, 2);
}

std::vector<double> levels(const MemoryDevice& device) {
  std::vector<double> out;
  for (const auto& [time, bytes] : device.allocated) out.push_back(bytes);
  return out;
}

// A counter below 0 tells nothing, like one that is not there. 30 come, 100 of before go, 50 come: 70 were there at least.
TEST(Memory, WithoutACounterItStartsFromWhatIsFreed) {
  const auto trace = TraceText()
                         .op("aten::mm", 0, 9'000)
                         .memory(1'000, 30, 0xA, -1)
                         .memory(2'000, -100, 0xB, -1)
                         .memory(3'000, 50, 0xC, -1)
                         .read();
  const Model model(*trace);
  const MemoryDevice d = compute_memory(Scope(model)).devices.at(0);
  EXPECT_EQ(levels(d), (std::vector<double>{70, 100, 0, 50}));
  EXPECT_EQ(d.peak_bytes, 100);
  ASSERT_EQ(d.holders.size(), 2U);
  EXPECT_EQ(d.holders[0].op, "[allocated before the recording]");
  EXPECT_EQ(d.holders[0].bytes, 70);
}

TEST(Memory, WhatComesBeforeTheFirstCounterIsCountedBackFromIt) {
  const auto trace = TraceText()
                         .op("aten::mm", 0, 9'000)
                         .memory(1'000, 30, 0xA, -1)
                         .memory(2'000, -100, 0xB, 500)
                         .memory(3'000, 50, 0xC, -1)
                         .read();
  const Model model(*trace);
  EXPECT_EQ(levels(compute_memory(Scope(model)).devices.at(0)), (std::vector<double>{570, 600, 500, 550}));
}

// The counter knows of frees that the trace does not have: they are no memory of before.
TEST(Memory, FreesWithoutARecordAreARowOfTheirOwn) {
  const auto trace = TraceText().op("aten::mm", 0, 9'000).memory(1'000, 300, 0xA, 300).memory(2'000, 200, 0xB, 350).read();
  const Model model(*trace);
  const MemoryDevice d = compute_memory(Scope(model)).devices.at(0);
  EXPECT_EQ(d.peak_bytes, 350);
  ASSERT_EQ(d.holders.size(), 2U);
  EXPECT_EQ(d.holders[0].bytes, 500);
  EXPECT_EQ(d.holders[1].op, "[freed without a record]");
  EXPECT_EQ(d.holders[1].bytes, -150);
}

TEST(Memory, ANarrowWindowKnowsWhatCameBefore) {
  const auto trace = history().read();
  const Model model(*trace);
  const auto scope = make_scope(model, {{"from", "0.003"}});  // from 4 us of the trace
  ASSERT_TRUE(scope);
  const MemoryDevice d = compute_memory(*scope).devices.at(0);
  EXPECT_EQ(d.allocated_bytes, 50);
  EXPECT_EQ(op_named(d, "aten::mm").freed_bytes, 200);
  EXPECT_EQ(d.peak_bytes, 1150);
}

TEST(Memory, WithoutEventsItSaysWhatWouldAddThem) {
  const auto trace = TraceText().op("aten::mm", 0, 1'000).read();
  const Model model(*trace);
  const Report report = report_memory(compute_memory(Scope(model)));
  EXPECT_TRUE(rows_of(report.tables.at(0)).empty());
  ASSERT_EQ(report.diagnostics.size(), 1U);
  EXPECT_EQ(report.diagnostics[0].code, "no_memory_events");
  EXPECT_NE(report.diagnostics[0].message.find("profile_memory=True"), std::string::npos);
}

TEST(Memory, AccountingClosesOnTheFixtures) {
  std::int64_t seen = 0;
  for (const std::string& path : test::own_traces()) {
    SCOPED_TRACE(path);
    const auto trace = test::trace_at(path);
    ASSERT_NE(trace, nullptr);
    const Model model(*trace);
    for (const MemoryDevice& d : compute_memory(Scope(model)).devices) {
      std::int64_t allocated = 0, freed = 0, held = 0;
      for (const MemoryOp& op : d.ops) allocated += op.allocated_bytes, freed += op.freed_bytes;
      for (const MemoryHolder& holder : d.holders) held += holder.bytes;
      EXPECT_EQ(allocated, d.allocated_bytes);
      EXPECT_EQ(freed, d.freed_bytes);
      EXPECT_EQ(held, d.peak_bytes);
      seen += d.events;
    }
  }
  EXPECT_GT(seen, 1000);
}

TEST(Curve, KeepsPeaksAndOrderInFewPoints) {
  std::vector<CurvePoint> points;
  for (int i = 0; i < 100'000; ++i) points.emplace_back(i * 10, i % 100);
  points[54'321].second = 1e9;
  points[54'322].second = -5;
  const std::vector<CurvePoint> thin = thin_curve(points, 200);
  EXPECT_LE(thin.size(), 200U);
  EXPECT_TRUE(
      std::is_sorted(thin.begin(), thin.end(), [](const CurvePoint& a, const CurvePoint& b) { return a.first < b.first; }));
  EXPECT_EQ(thin.front(), points.front());
  EXPECT_EQ(thin.back(), points.back());
  EXPECT_NE(std::find(thin.begin(), thin.end(), points[54'321]), thin.end());
  EXPECT_NE(std::find(thin.begin(), thin.end(), points[54'322]), thin.end());
  EXPECT_EQ(thin_curve({{1, 2}, {3, 4}}).size(), 2U);
}

}  // namespace
}  // namespace ridge
