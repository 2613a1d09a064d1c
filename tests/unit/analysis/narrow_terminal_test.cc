// The column that answers a command's question is among those that a terminal of 80 columns shows.
#include <string>

#include <gtest/gtest.h>

#include <ridge/render.h>

#include "analysis/breaks/breaks_report.h"
#include "analysis/collectives/collectives.h"
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

}  // namespace
}  // namespace ridge
