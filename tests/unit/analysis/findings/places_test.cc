// Where on the timeline a finding is to be seen: the slice it blames, the largest of several, and when that starts.
#include <map>

#include <gtest/gtest.h>

#include "analysis/findings/claim_table.h"

#include "support/files.h"
#include "support/host_device_trace.h"
#include "support/table_rows.h"
#include "unit/analysis/findings/found.h"

namespace ridge {
namespace {

using test::Found;
using test::kUs;
using test::TraceText;

struct Place {
  std::string_view trace;
  std::string_view id;
  EventClass event_class;
  std::string_view name;  // a part of the slice's
};

// What the programs were written to do wrong.
constexpr Place kPlaces[] = {
    {"fault_item_sync", "host_sync", EventClass::op, "aten::item"},
    {"fault_pageable_copy", "pageable_copy", EventClass::device_work, "Memcpy HtoD (Pageable"},
    {"fault_optimizer_loop", "optimizer_not_fused", EventClass::device_work, "elementwise"},
    {"fault_channels_first", "layout_transforms", EventClass::device_work, "nhwcToNchw"},
    {"fault_fp32_no_tf32", "tf32_off", EventClass::device_work, "gemm_f32f32"},
    {"fault_unfused_pointwise", "unfused_pointwise", EventClass::device_work, "elementwise"},
    {"fault_double_casts", "duplicate_casts", EventClass::device_work, "copy"},
    {"fault_tiny_kernels", "tiny_kernels", EventClass::device_work, "elementwise"},
    {"fault_recompile_limit", "recompile_limit", EventClass::op, "TorchDynamo Cache Lookup"},
    {"fault_uncached_allocator", "allocator", EventClass::launch, "cuda"},
    {"fault_dataloader", "dataloader", EventClass::python_frame, "dataloader.py"},
    {"fault_unfused_attention", "unfused_attention", EventClass::device_work, "softmax"},
    {"fault_gemm_misaligned", "gemm_alignment", EventClass::device_work, "gemm"},
    {"fault_transposed_copy", "memory_bound_inefficient", EventClass::device_work, "elementwise"},
    {"graph_breaks_stack", "graph_breaks", EventClass::op, "Torch-Compiled Region"},
    {"compiled_with_fallbacks", "inductor_fallback", EventClass::op, "aten::linalg_qr"},
    {"clean_fused_pointwise", "guard_overhead", EventClass::op, "TorchDynamo Cache Lookup"},
    {"ddp_gloo_rank0", "exposed_communication", EventClass::annotation, "gloo:"},
};

TEST(PlacesOfFindings, AreWhatTheProgramsDoWrong) {
  for (const Place& c : kPlaces) {
    const auto path = test::path_of(std::string(c.trace));
    ASSERT_TRUE(path) << c.trace;
    const Found found(test::load_file(*path));
    const RankedFinding* row = found.find(c.id);
    ASSERT_NE(row, nullptr) << c.trace << ": " << c.id << " in " << found.ids();
    ASSERT_TRUE(row->finding.event) << c.trace;
    const Trace& trace = *found.loaded.trace;
    EXPECT_EQ(trace.kind(*row->finding.event).event_class, c.event_class) << c.trace;
    EXPECT_NE(trace.text(trace.events.name(*row->finding.event)).find(c.name), std::string_view::npos)
        << c.trace << ": " << trace.text(trace.events.name(*row->finding.event));
  }
}

// Whatever saves time has a place, it is a slice, and it starts when the row says.
TEST(PlacesOfFindings, AreSlicesThatStartWhenTheRowSays) {
  for (const std::string& path : test::own_traces()) {
    const Found found(test::load_file(path));
    const Trace& trace = *found.loaded.trace;
    for (const RankedFinding& row : found.findings.rows) {
      EXPECT_TRUE(row.finding.event) << path << ": " << row.id;
      EXPECT_EQ(row.start_ns.has_value(), row.finding.event.has_value());
      if (!row.finding.event) continue;
      EXPECT_TRUE(trace.kind(*row.finding.event).phase == 'X') << path << ": " << row.id;
      EXPECT_EQ(trace.window->start_ns + *row.start_ns, trace.events.ts_ns(*row.finding.event)) << path << ": " << row.id;
    }
  }
}

// The host fetches three batches while the device idles, for 100, 400 and 200 us.
TEST(PlacesOfFindings, AreTheLargestOfSeveral) {
  TraceText text;
  int correlation = 0;
  const auto kernel = [&](std::int64_t at) {
    ++correlation;
    text.call("cudaLaunchKernel", (at - 6) * kUs, (at - 1) * kUs, correlation)
        .kernel("void at::native::softmax_warp_forward<float>()", at * kUs, (at + 100) * kUs, correlation, 7);
  };
  for (const std::int64_t at : {10, 220, 730, 1'040}) kernel(at);
  constexpr std::string_view kNext = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";
  text.annotation(std::string(kNext), 112 * kUs, 212 * kUs);
  text.annotation(std::string(kNext), 322 * kUs, 722 * kUs);
  text.annotation(std::string(kNext), 832 * kUs, 1'032 * kUs);
  const Found found(test::LoadedTrace(text.read()));
  const RankedFinding* row = found.find("dataloader");
  ASSERT_NE(row, nullptr) << found.ids();
  ASSERT_TRUE(row->start_ns);
  EXPECT_EQ(found.loaded.trace->window->start_ns + *row->start_ns, 322 * kUs);

  const Table table = findings_table(found.findings, true);
  ASSERT_EQ(table.columns.size(), 14U);
  EXPECT_EQ(table.columns[12].role, Role::event);
  EXPECT_EQ(table.columns[13].role, Role::time_start);
  const Row cells = rows_of(table).at(found.rank("dataloader") - 1);
  EXPECT_EQ(cells.at(12), Cell(std::int64_t{row->finding.event->value}));
  EXPECT_EQ(cells.at(13), Cell(*row->start_ns));
}

// Pieces of one stall count together: 60 + 60 are more than 100.
TEST(PlacesOfFindings, PiecesOfOneThingCountTogether) {
  Largest largest;
  EXPECT_FALSE(largest.id());
  largest.see(1, 100);
  largest.see(2, 60);
  largest.see(2, 60);
  largest.see(3, 110);
  EXPECT_EQ(largest.id(), 2U);
}

// What a finding claims, piece by piece, is what it says at most, and lies in the window.
// Kernels of an optimizer that run when the step that launched them is over are that step's.
TEST(PlacesOfFindings, WorkIsOfTheIterationThatLaunchedIt) {
  const test::LoadedTrace loaded = test::load_file(*test::path_of("fault_optimizer_loop"));
  const Scope scope(*loaded.model);
  Ledger ledger(scope);
  const Findings findings = compute_findings(scope, {}, {.ledger = &ledger}, "optimizer_not_fused");
  const Table pieces = claim_tables(scope, ledger, findings.claim)[0];
  ASSERT_GT(pieces.size(), 0U);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (pieces.column("kind").text(i) != "work") continue;
    const EventId event{static_cast<std::uint32_t>(*pieces.column("event").int64(i))};
    const auto& work = loaded.trace->of(EventClass::device_work);
    const auto row = static_cast<std::size_t>(std::ranges::find(work, event) - work.begin());
    const NodeId launch = loaded.model->links().launch[row];
    ASSERT_NE(launch, kNoNode);
    const auto at = loaded.model->iterations().at(loaded.model->tree().start_ns[launch.value]);
    ASSERT_TRUE(at.has_value());
    EXPECT_EQ(pieces.column("iteration").int64(i), loaded.model->iterations().list[*at].number);
  }
}

TEST(PlacesOfFindings, ClaimsAddUpToTheBound) {
  std::size_t claims = 0;
  for (const std::string& path : test::own_traces()) {
    const test::LoadedTrace loaded = test::load_file(path);
    const Scope scope(*loaded.model);
    for (const RankedFinding& row : compute_findings(scope).rows) {
      Ledger ledger(scope);
      const Findings findings = compute_findings(scope, {}, {.ledger = &ledger}, row.id);
      const std::vector<Table> tables = claim_tables(scope, ledger, findings.claim);
      ASSERT_EQ(tables.size(), 2U);
      std::map<std::int64_t, std::int64_t> by_device, by_iteration;
      const Table &pieces = tables[0], &iterations = tables[1];
      for (std::size_t i = 0; i < pieces.size(); ++i) {
        by_device[*pieces.column("device").int64(i)] += *pieces.column("time_ns").int64(i);
        EXPECT_LE(*pieces.column("time_ns").int64(i), *pieces.column("end_ns").int64(i) - *pieces.column("start_ns").int64(i));
        EXPECT_EQ(pieces.column("kind").text(i) == "work", pieces.column("stream").int64(i).has_value());
      }
      for (std::size_t i = 0; i < iterations.size(); ++i)
        by_iteration[*iterations.column("device").int64(i)] += *iterations.column("time_ns").int64(i);
      EXPECT_EQ(by_device, by_iteration) << path << ": " << row.id;
      std::int64_t most = 0;
      for (const auto& [device, ns] : by_device) most = std::max(most, ns);
      if (!row.finding.at_most_ns || most == 0) continue;
      ++claims;
      EXPECT_GE(most, *row.finding.at_most_ns) << path << ": " << row.id;
    }
  }
  EXPECT_GT(claims, 10U);
}

}  // namespace
}  // namespace ridge
