// Every nanosecond of device work is in kernels, copies or other work; in categories; and in one op's own time. Over every
// trace at hand.
#include <algorithm>

#include <gtest/gtest.h>

#include "analysis/categories/categories.h"
#include "analysis/copies/copies.h"
#include "analysis/gpu/gpu.h"
#include "analysis/kernels/kernels.h"
#include "analysis/ops/ops.h"
#include "analysis/ops/table_calls.h"
#include "facts/scope.h"
#include "ingest/reader.h"
#include "model/iteration_spans.h"
#include "model/model.h"
#include "support/files.h"
#include "trace/tables.h"
#include "trace/vendor_work.h"

namespace ridge {
namespace {

struct Totals {
  std::int64_t work_ns = 0, kernel_ns = 0, copy_ns = 0, other_ns = 0;
  std::int64_t work = 0, kernels = 0, copies = 0;
};

// From the events themselves, with no model at all.
Totals totals_of(const Trace& trace) {
  Totals t;
  for (const EventId event : trace.of(EventClass::device_work)) {
    if (trace.events.ts_ns(event) == kNoTime) continue;
    const std::int64_t dur = trace.events.dur_ns(event).value_or(0);
    const DeviceWork work = work_of(trace, event);
    if (work == DeviceWork::none) continue;  // a wait that a vendor writes among its work
    t.work_ns += dur;
    ++t.work;
    if (work == DeviceWork::kernel) t.kernel_ns += dur, ++t.kernels;
    if (work == DeviceWork::copy || work == DeviceWork::set) t.copy_ns += dur, ++t.copies;
    if (work == DeviceWork::other) t.other_ns += dur;
  }
  return t;
}

TEST(WorkAccounting, ClosesOnEveryTrace) {
  const std::vector<std::string> paths = test::all_traces();
  ASSERT_FALSE(paths.empty());
  for (const std::string& path : paths) {
    SCOPED_TRACE(path);
    const auto trace = read_trace(path, {});
    ASSERT_TRUE(trace.has_value());
    const Model model(**trace);
    const Scope scope(model);
    const Totals expected = totals_of(**trace);

    const Categories categories = compute_categories(scope);
    EXPECT_EQ(categories.time_ns, expected.work_ns);
    EXPECT_EQ(categories.launches, expected.work);
    std::int64_t by_category = 0, by_kernel = 0;
    for (const CategoryShare& share : categories.categories) by_category += share.time_ns;
    for (const CategoryKernel& kernel : categories.kernels) by_kernel += kernel.time_ns;
    EXPECT_EQ(by_category, expected.work_ns);
    EXPECT_EQ(by_kernel, expected.work_ns);

    for (const auto by :
         {std::optional<KernelsBy>(), std::optional(KernelsBy::launch), std::optional(KernelsBy::op),
          std::optional(KernelsBy::shape), std::optional(KernelsBy::annotation), std::optional(KernelsBy::module),
          std::optional(KernelsBy::graph), std::optional(KernelsBy::stream)}) {
      const Kernels kernels = compute_kernels(scope, by);
      EXPECT_EQ(kernels.time_ns, expected.kernel_ns);
      EXPECT_EQ(kernels.count, expected.kernels);
    }
    std::int64_t copy_ns = 0, copy_count = 0;
    for (const CopyRow& row : compute_copies(scope).rows) copy_ns += row.time_ns, copy_count += row.count;
    EXPECT_EQ(copy_ns, expected.copy_ns);
    EXPECT_EQ(copy_count, expected.copies);
    EXPECT_EQ(expected.kernel_ns + expected.copy_ns + expected.other_ns, expected.work_ns);

    const auto& op_events = (*trace)->of(EventClass::op);
    const auto op_calls = std::count_if(op_events.begin(), op_events.end(),
                                        [&](EventId event) { return (*trace)->events.ts_ns(event) != kNoTime; });
    const TableCalls table(**trace, model.tree());
    std::int64_t merged = 0;  // into the call of the same name around them
    for (std::uint32_t n = 0; n < model.tree().recorded; ++n) merged += table.is_merged(NodeId{n}) ? 1 : 0;
    for (const auto by :
         {std::optional<OpsBy>(), std::optional(OpsBy::shape), std::optional(OpsBy::phase), std::optional(OpsBy::module)}) {
      std::int64_t device_self = 0, calls = 0, launched = 0;
      for (const OpRow& row : compute_ops(scope, by).rows) {
        device_self += row.device_self_ns;
        calls += row.count;
        launched += row.kernels;
        EXPECT_LE(row.cpu_self_ns, row.cpu_total_ns);
        EXPECT_LE(row.device_self_ns, row.device_total_ns);
      }
      EXPECT_EQ(device_self, expected.work_ns);
      EXPECT_EQ(launched, expected.kernels);
      EXPECT_EQ(calls + merged, op_calls);  // those without a duration too
    }
  }
}

TEST(WorkAccounting, ClosesOverTheIterations) {
  const auto trace = read_trace_bytes(test::fixture("mlp_profiler_steps"), "t", {}).value();
  const Model model(*trace);
  std::int64_t categories = 0, ops = 0;
  const std::vector<Iteration>& iterations = model.iterations().list;
  ASSERT_GT(iterations.size(), 1U);
  for (const Iteration& iteration : iterations) {
    const Scope scope = make_scope(model, {{"step", std::to_string(iteration.number)}}).value();
    const std::int64_t mine = compute_categories(scope).time_ns;
    categories += mine;
    std::int64_t device_self = 0;
    for (const OpRow& row : compute_ops(scope).rows) device_self += row.device_self_ns;
    EXPECT_EQ(device_self, mine);
    ops += device_self;
  }
  EXPECT_GT(categories, 0);
  EXPECT_LE(categories, totals_of(*trace).work_ns);
  EXPECT_EQ(ops, categories);
}

struct WindowAndBusy {
  std::int64_t window_ns = 0, busy_ns = 0;
  void add(const Gpu& gpu) {
    for (const GpuDevice& device : gpu.devices) window_ns += device.window_ns, busy_ns += device.busy_ns;
  }
};

// As docs/formats.md says of --step. Exceptions: steps that are marked, and work that was queued before the recording.
TEST(WorkAccounting, StepsAddUpToTheWindow) {
  int cut = 0;
  for (const std::string& path : test::own_traces()) {
    const auto trace = read_trace(path, {});
    ASSERT_TRUE(trace.has_value()) << path;
    const Model model(**trace);
    WindowAndBusy whole, steps;
    whole.add(compute_gpu(Scope(model)));
    for (const Iteration& iteration : model.iterations().list) {
      const auto scope = make_scope(model, {{"step", std::to_string(iteration.number)}});
      ASSERT_TRUE(scope.has_value()) << path;
      steps.add(compute_gpu(*scope));
    }
    EXPECT_LE(steps.window_ns, whole.window_ns) << path;
    EXPECT_LE(steps.busy_ns, whole.busy_ns) << path;
    bool queued_before = false;
    for (std::size_t row = 0; row < (*trace)->of(EventClass::device_work).size(); ++row)
      queued_before = queued_before || model.links().is_inherited(static_cast<std::uint32_t>(row));
    if (queued_before || !are_cut(model.iterations()) || whole.window_ns == 0) continue;
    ++cut;
    EXPECT_EQ(steps.window_ns, whole.window_ns) << path;
    EXPECT_EQ(steps.busy_ns, whole.busy_ns) << path;
  }
  EXPECT_GT(cut, 10);
}

}  // namespace
}  // namespace ridge
