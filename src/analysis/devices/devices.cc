// The device table as a Report: a column per figure.
#include "analysis/devices/devices.h"

#include <array>
#include <string>

#include "analysis/catalog.h"
#include "analysis/shared/cells.h"
#include "base/units.h"

namespace ridge {
namespace {

struct FigureRow {
  std::string_view column;
  Figure DeviceSpec::* member;
  Unit unit;
};
constexpr std::array kFigures = {
    FigureRow{"bandwidth_bytes_per_s", &DeviceSpec::bandwidth, Unit::bytes_per_s},
    FigureRow{"bf16_flops_per_s", &DeviceSpec::bf16, Unit::flop_per_s},
    FigureRow{"f16_flops_per_s", &DeviceSpec::f16, Unit::flop_per_s},
    FigureRow{"f8_flops_per_s", &DeviceSpec::f8, Unit::flop_per_s},
    FigureRow{"f4_flops_per_s", &DeviceSpec::f4, Unit::flop_per_s},
    FigureRow{"i8_ops_per_s", &DeviceSpec::i8, Unit::flop_per_s},
    FigureRow{"tf32_flops_per_s", &DeviceSpec::tf32, Unit::flop_per_s},
    FigureRow{"f32_flops_per_s", &DeviceSpec::f32, Unit::flop_per_s},
    FigureRow{"f32_matrix_flops_per_s", &DeviceSpec::f32_matrix, Unit::flop_per_s},
    FigureRow{"f64_flops_per_s", &DeviceSpec::f64, Unit::flop_per_s},
    FigureRow{"f64_matrix_flops_per_s", &DeviceSpec::f64_matrix, Unit::flop_per_s},
};

Cell known(double value) { return value > 0 ? Cell(value) : Cell(); }

std::string ranges_of(const DeviceSpec& device) {
  std::string text;
  for (const FigureRow& row : kFigures) {
    const Figure& figure = device.*row.member;
    if (figure.low == figure.high) continue;
    const auto format = row.unit == Unit::bytes_per_s ? format_bytes_per_s : format_flop_per_s;
    const std::string name(row.column.substr(0, row.column.find("_flops_per_s")));
    text += (text.empty() ? "" : "; ") +
            (row.unit == Unit::bytes_per_s  ? "bandwidth"
             : row.column.starts_with("i8") ? "i8"
                                            : name) +
            " " + format(figure.low) + " to " + format(figure.high);
  }
  return text;
}

}  // namespace

std::vector<DeviceSpec> compute_devices(const CostOptions& options) {
  std::vector<DeviceSpec> devices;
  if (options.device) {
    devices.push_back(*options.device);
  } else {
    devices.assign(known_devices().begin(), known_devices().end());
  }
  if (options.clock_mhz > 0) {
    for (DeviceSpec& device : devices) device = at_clock(std::move(device), options.clock_mhz);
  }
  return devices;
}

Report report_devices(const std::vector<DeviceSpec>& devices) {
  Table table;
  table.name = "devices";
  table.columns = {{"device", Type::text},
                   {"vendor", Type::text},
                   {"memory_bytes", Type::number, Unit::bytes},
                   {"multiprocessors", Type::integer},
                   {"boost_mhz", Type::number},
                   {"matrix_mhz", Type::number},
                   {"l2_bytes", Type::number, Unit::bytes}};
  table.hints.important = {"device",          "bandwidth_bytes_per_s", "bf16_flops_per_s", "memory_bytes",   "f8_flops_per_s",
                           "f16_flops_per_s", "tf32_flops_per_s",      "f32_flops_per_s",  "multiprocessors"};
  for (const FigureRow& row : kFigures) table.columns.push_back({std::string(row.column), Type::number, row.unit});
  table.columns.insert(table.columns.end(), {{"measured", Type::boolean}, {"ranges", Type::text}, {"source", Type::text}});
  for (const DeviceSpec& device : devices) {
    Row row = {device.name,
               cells::text(device.vendor),
               known(device.memory_bytes),
               device.multiprocessors > 0 ? Cell(device.multiprocessors) : Cell(),
               known(device.boost_mhz),
               known(device.matrix_mhz > 0 ? device.matrix_mhz : device.boost_mhz),
               known(device.l2_bytes)};
    for (const FigureRow& figure : kFigures) row.push_back(known((device.*figure.member).high));
    row.insert(row.end(), {Cell(device.measured), cells::text(ranges_of(device)), cells::text(device.source)});
    table.add_row(row);
  }
  Report report;
  report.tables.push_back(std::move(table));
  return report;
}

Result<Report> run_devices(const CostOptions& options, const Arguments&) { return report_devices(compute_devices(options)); }

}  // namespace ridge
