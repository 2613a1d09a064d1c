// The column that answers a command's question is among those that a terminal of 80 columns shows.
#include <string>

#include <gtest/gtest.h>

#include <ridge/render.h>

#include "analysis/breaks/breaks_report.h"
#include "analysis/collectives/collectives.h"
#include "analysis/devices/devices.h"
#include "analysis/gpu/gpu.h"
#include "facts/breaks.h"

namespace ridge {
namespace {

// The headings of the first table, with a blank before and behind each.
std::string headings(const Report& report) {
  const std::string all = *report_text(report, **find_format("table"), {}, {.color = false, .width = 80});
  const std::size_t begin = all.find('\n') + 1;
  return all.substr(begin, all.find('\n', begin) - begin) + " ";
}

TEST(NarrowTerminal, GpuShowsIdleTimeAndExposedCommunication) {
  constexpr std::int64_t k = 97'048'000;
  Gpu gpu;
  GpuDevice& d = gpu.devices.emplace_back();
  d.name = "NVIDIA H200";
  d.window_ns = d.busy_ns = d.compute_ns = d.copy_ns = d.comm_ns = d.exposed_copy_ns = d.exposed_comm_ns = d.idle_ns = k;
  const std::string shown = headings(report_gpu(gpu));
  for (const char* name : {" busy_pct ", " idle ", " exposed_comm "}) EXPECT_NE(shown.find(name), std::string::npos) << shown;
}

TEST(NarrowTerminal, BreaksShowTheirPlaceAndTheIdleTime) {
  Breaks breaks;
  breaks.has_device_work = true;
  GraphBreak& b = breaks.breaks.emplace_back();
  b.occurrences = 3;
  b.location = "a/rather/deep/folder/of/a/project/model.py:95 (forward)";
  b.reason = "data-dependent: aten::item, which Python has to wait for";
  b.cpu_ns = b.gpu_idle_ns = 1'108'000;
  const std::string shown = headings(report_breaks(breaks));
  for (const char* name : {" location ", " gpu_idle "}) EXPECT_NE(shown.find(name), std::string::npos) << shown;
}

TEST(NarrowTerminal, CollectivesShowWhatIsExposed) {
  Collectives found;
  CollectiveRow& row = found.rows.emplace_back();
  row.name = "ncclDevKernel_Generic";
  row.group = "default_pg";
  row.dtype = "BFloat16";
  row.ranks = 8;
  row.bytes = 70'100'000;
  row.count = 6;
  row.time_ns = row.exposed_ns = row.sized_ns = 47'137'000;
  const std::string shown = headings(report_collectives(found));
  for (const char* name : {" name ", " exposed ", " time "}) EXPECT_NE(shown.find(name), std::string::npos) << shown;
}

TEST(NarrowTerminal, DevicesShowTheirPeaks) {
  const std::string shown = headings(report_devices(compute_devices({})));
  for (const char* name : {" device ", " bandwidth_bytes_per_s ", " bf16_flops_per_s "})
    EXPECT_NE(shown.find(name), std::string::npos) << shown;
}

// A number that is the same in every row gives way to a column of less importance.
TEST(NarrowTerminal, AnIdThatDoesNotDifferGivesWay) {
  const auto shown = [](std::int64_t other) {
    Table table;
    table.name = "kernels";
    table.columns = {{"kernel", Type::text},
                     {"device", Type::integer},
                     {"pct_peak_bandwidth", Type::number, Unit::percent},
                     {"pct_peak_flops", Type::number, Unit::percent},
                     {"time_ns", Type::integer, Unit::ns}};
    table.hints.important = {"kernel", "pct_peak_bandwidth", "pct_peak_flops", "device", "time_ns"};
    for (const std::int64_t device : {std::int64_t{0}, other})
      table.add_row({std::string(48, 'k'), device, 90.0, 1.0, std::int64_t{97'048'000}});
    Report report;
    report.tables.push_back(std::move(table));
    return headings(report);
  };
  EXPECT_EQ(shown(1), "  device  pct_peak_bandwidth  pct_peak_flops  kernel ");
  EXPECT_EQ(shown(0), "  pct_peak_bandwidth  pct_peak_flops       time  kernel ");
}

}  // namespace
}  // namespace ridge
