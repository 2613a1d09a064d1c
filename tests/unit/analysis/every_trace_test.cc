// One walk over every trace at hand: each analysis answers, its tables are well formed, and the accounts close against each
// other.
#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include "analysis/catalog.h"
#include "analysis/categories/categories.h"
#include "analysis/copies/copies.h"
#include "analysis/gpu/gpu.h"
#include "analysis/graphs/graphs.h"
#include "analysis/kernels/kernels.h"
#include "analysis/ops/ops.h"
#include "facts/scope.h"
#include "ingest/reader.h"
#include "model/model.h"
#include "support/files.h"
#include "support/table_rows.h"
#include "trace/vendor_work.h"

namespace ridge {
namespace {

// Large traces take minutes under sanitizers and show nothing that small ones do not.
constexpr std::uintmax_t kLargest = std::uintmax_t{2} << 20;

std::vector<std::string> traces() {
  std::vector<std::string> paths = test::all_traces();
  std::erase_if(paths, [](const std::string& path) { return std::filesystem::file_size(path) > kLargest; });
  return paths;
}

std::int64_t device_time(const Trace& trace) {
  std::int64_t sum = 0;
  for (const EventId event : trace.of(EventClass::device_work)) {
    if (work_of(trace, event) != DeviceWork::none) sum += trace.events.dur_ns(event).value_or(0);
  }
  return sum;
}

std::int64_t kernel_time(const Trace& trace) {
  std::int64_t sum = 0;
  for (const EventId event : trace.of(EventClass::device_work)) {
    if (work_of(trace, event) == DeviceWork::kernel) sum += trace.events.dur_ns(event).value_or(0);
  }
  return sum;
}

TEST(EveryTrace, GetsAnAnswerFromEveryAnalysis) {
  for (const std::string& path : traces()) {
    const auto trace = read_trace(path, {});
    ASSERT_TRUE(trace) << path;
    const Model model(**trace);
    const Scope scope(model);
    for (const AnalysisRow& row : catalog()) {
      if (row.run == nullptr || !row.info.operand.empty()) continue;  // takes no trace, several, or the name of something in it
      const auto report = row.run(scope, {});
      ASSERT_TRUE(report) << row.info.name << " " << path;
      ASSERT_FALSE(report->tables.empty()) << row.info.name << " " << path;
      EXPECT_EQ(report->tables.front().name, row.info.name == "info" ? "trace" : row.info.name) << path;
      for (const Table& table : report->tables) {
        for (const Row& cells : rows_of(table))
          EXPECT_EQ(cells.size(), table.columns.size()) << row.info.name << " " << table.name << " " << path;
        if (table.total) {
          EXPECT_EQ(table.total->size(), table.columns.size()) << row.info.name << " " << table.name << " " << path;
        }
      }
    }
  }
}

TEST(EveryTrace, ClosesItsAccounts) {
  for (const std::string& path : traces()) {
    const auto trace = read_trace(path, {});
    ASSERT_TRUE(trace) << path;
    const Model model(**trace);
    const Scope scope(model);
    const std::int64_t device_ns = device_time(**trace);

    for (const GpuDevice& device : compute_gpu(scope).devices) {
      EXPECT_EQ(device.busy_ns + device.idle_ns, device.window_ns) << path;
      EXPECT_EQ(device.compute_ns + device.exposed_comm_ns + device.exposed_copy_ns, device.busy_ns) << path;
      const auto causes = std::accumulate(device.idle.begin(), device.idle.end(), std::int64_t{0},
                                          [](std::int64_t sum, const IdleShare& share) { return sum + share.time_ns; });
      EXPECT_EQ(causes, device.idle_ns) << path;
    }
    EXPECT_EQ(compute_kernels(scope).time_ns, kernel_time(**trace)) << path;
    EXPECT_EQ(compute_categories(scope).time_ns, device_ns) << path;
    EXPECT_EQ(compute_graphs(scope).gpu_ns(), device_ns) << path;
    std::int64_t ops_ns = 0;
    for (const OpRow& op : compute_ops(scope).rows) ops_ns += op.device_self_ns;
    EXPECT_EQ(ops_ns, device_ns) << path;
  }
}

}  // namespace
}  // namespace ridge
