// Sums the rows of `kernels` by name and lays them out under the script's headers. Computes no cost of its own.
#include "kernel_tables.h"

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

namespace ridge::profile_analysis {
namespace {

constexpr long kDefaultNameLimit = 40;

// The script's headers. "FLOPS" is FLOP/s, "Kernel Reads (GB)" is GB/s of all traffic.
const TextRow& headers() {
  static const TextRow list = {"Kernel Name",      "Kernel Count",        "FLOPS", "Kernel Reads (GB)", "Dur (us)",
                               "Achieved FLOPS %", "Achieved Bandwidth %"};
  return list;
}

// A table of a report, read by column name; one that is not there has no rows and no columns.
class Rows {
 public:
  Rows(const Report& report, std::string_view table) {
    const auto found = std::ranges::find(report.tables, table, &Table::name);
    if (found != report.tables.end()) table_ = &*found;
  }
  std::size_t size() const { return table_ == nullptr ? 0 : table_->size(); }

  std::optional<double> number(std::size_t row, std::string_view column) const {
    const Column* found = table_ == nullptr ? nullptr : table_->find(column);
    return found == nullptr ? std::nullopt : found->number(row);
  }
  std::string text(std::size_t row, std::string_view column) const {
    const Column* found = table_ == nullptr ? nullptr : table_->find(column);
    return std::string(found == nullptr ? "" : found->text(row).value_or(""));
  }

 private:
  const Table* table_ = nullptr;
};

// A rate summed over groups of launches: each group's rate by the time of its launches that know it.
struct Rate {
  double amount = 0;  // rate x time
  double time_ns = 0;

  void add(std::optional<double> rate, double known_ns) {
    if (!rate) return;
    amount += *rate * known_ns;
    time_ns += known_ns;
  }
  // Not known is not zero: Python reads "nan" as a number too.
  std::string text() const { return time_ns > 0 ? fmt::format("{:.4f}", amount / time_ns) : "nan"; }
};

struct KernelSum {
  double count = 0, time_ns = 0;
  Rate flops, bytes, pct_flops, pct_bytes;
};

double share_of(const Rows& rows, std::size_t row, std::string_view column) {
  return rows.number(row, "time_ns").value_or(0) * rows.number(row, column).value_or(100) / 100;
}

TextRow cells_of(const KernelSum& sum) {
  constexpr double kGiga = 1e9;
  Rate gb = sum.bytes;
  gb.amount /= kGiga;
  const double us = sum.count > 0 ? sum.time_ns / sum.count / 1e3 : 0;
  return {fmt::format("{:.0f}", sum.count), sum.flops.text(),     gb.text(),
          fmt::format("{:.4f}", us),        sum.pct_flops.text(), sum.pct_bytes.text()};
}

// As Python writes a float: 67.0, 989.4.
std::string python_float(double value) {
  std::string text = fmt::format("{}", value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

struct PeakColumn {
  std::string_view dtype;
  std::string_view column;
};
constexpr PeakColumn kPeaks[] = {
    {"torch.float64", "f64_matrix_flops_per_s"}, {"torch.float64", "f64_flops_per_s"},
    {"torch.float32", "f32_matrix_flops_per_s"}, {"torch.float32", "f32_flops_per_s"},
    {"torch.bfloat16", "bf16_flops_per_s"},      {"torch.float16", "f16_flops_per_s"},
    {"torch.float8_e4m3fn", "f8_flops_per_s"},   {"torch.int8", "i8_ops_per_s"},
};

// What the table of devices has on it, as the script would print it; "None" for a device that is not there.
std::string device_info(const std::string& name) {
  if (name.empty()) return "None";
  const auto report = Engine::without_trace().run("devices", {{"device", name}});
  if (!report) return "None";
  const Rows rows(*report, "devices");
  if (rows.size() != 1) return "None";
  std::string tops;
  std::string_view last;
  for (const PeakColumn& peak : kPeaks) {
    const auto value = rows.number(0, peak.column);
    if (!value || peak.dtype == last) continue;
    last = peak.dtype;
    tops += fmt::format("{}{}: {}", tops.empty() ? "" : ", ", peak.dtype, python_float(*value / 1e12));
  }
  return fmt::format("DeviceInfo(tops={{{}}}, dram_bw_gbs={}, dram_gb={})", tops,
                     python_float(rows.number(0, "bandwidth_bytes_per_s").value_or(0) / 1e9),
                     python_float(rows.number(0, "memory_bytes").value_or(0) / 1e9));
}

// By device: the row of the table of devices whose peaks the percentages are of, which may be found by other signs than the
// name.
using MatchedNames = std::map<std::int64_t, std::string>;

MatchedNames matched_names(const Report& roofline) {
  const Rows rows(roofline, "roofs");
  MatchedNames names;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (const auto device = rows.number(i, "device")) names.emplace(static_cast<std::int64_t>(*device), rows.text(i, "name"));
  }
  return names;
}

std::string title_of(const std::string& name, std::int64_t device, const MatchedNames& matched) {
  const auto found = matched.find(device);
  return fmt::format("Device({}, {}): {}", name, device, device_info(found == matched.end() ? name : found->second));
}

void add_devices(const Report& info, const MatchedNames& matched, Tables* tables) {
  const Rows rows(info, "devices");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto device = rows.number(i, "device");
    if (!device) continue;
    const auto id = static_cast<std::int64_t>(*device);
    (*tables)[id].title = title_of(rows.text(i, "name"), id, matched);
  }
}

void add_kernels(const Report& kernels, const MatchedNames& matched, Tables* tables) {
  const Rows rows(kernels, "kernels");
  std::map<std::int64_t, std::map<std::string, KernelSum>> sums;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto device = static_cast<std::int64_t>(rows.number(i, "device").value_or(-1));
    KernelSum& sum = sums[device][rows.text(i, "kernel")];
    const double flops_ns = share_of(rows, i, "flops_known_pct"), bytes_ns = share_of(rows, i, "bytes_known_pct");
    sum.count += rows.number(i, "count").value_or(0);
    sum.time_ns += rows.number(i, "time_ns").value_or(0);
    sum.flops.add(rows.number(i, "flops_per_s"), flops_ns);
    sum.bytes.add(rows.number(i, "bytes_per_s"), bytes_ns);
    sum.pct_flops.add(rows.number(i, "pct_peak_flops"), flops_ns);
    sum.pct_bytes.add(rows.number(i, "pct_peak_bandwidth"), bytes_ns);
  }
  for (const auto& [device, by_name] : sums) {
    DeviceTable& table = (*tables)[device];
    if (table.title.empty()) table.title = title_of("", device, matched);
    for (const auto& [name, sum] : by_name) {
      table.names.push_back(name);
      table.rows[name] = cells_of(sum);
    }
    std::ranges::stable_sort(table.names, std::greater(), [&](const std::string& name) { return by_name.at(name).time_ns; });
  }
}

// Dtypes that the script takes and that no matrix unit computes in: as good as none.
constexpr std::string_view kIdleDtypes[] = {"int", "int16", "int32", "long", "long int"};

// Another word leaves the script without a dtype, and it ends with that; so does this.
Result<Report> ask_kernels(const Engine& engine, const std::string& dtype) {
  if (std::ranges::find(kIdleDtypes, dtype) != std::end(kIdleDtypes)) return engine.run("kernels", {});
  return engine.run("kernels", {{"dtype", dtype}});
}

long limit_or_default(long name_limit) { return name_limit == 0 ? kDefaultNameLimit : name_limit; }

TextRow joined(TextRow row, const TextRow& more) {
  row.insert(row.end(), more.begin(), more.end());
  return row;
}

TextRow prefixed(std::string_view name) {
  TextRow row;
  for (std::size_t i = 1; i < headers().size(); ++i) row.push_back(fmt::format("{} {}", name, headers()[i]));
  return row;
}

TextRow row_or_empty(const DeviceTable* table, const std::string& kernel) {
  if (table != nullptr) {
    if (const auto found = table->rows.find(kernel); found != table->rows.end()) return found->second;
  }
  return TextRow(headers().size() - 1, "Empty");
}

const DeviceTable* find(const Tables& tables, std::int64_t device) {
  const auto found = tables.find(device);
  return found == tables.end() ? nullptr : &found->second;
}

}  // namespace

Result<Tables> tables_of(const std::string& path, const std::string& dtype, const OpenOptions& options) {
  const auto engine = Engine::open({path}, options);
  if (!engine) return tl::unexpected(engine.error());
  const auto info = engine->run("info", {});
  if (!info) return tl::unexpected(info.error());
  const auto kernels = ask_kernels(*engine, dtype);
  if (!kernels) return tl::unexpected(kernels.error());
  const auto roofline = engine->run("roofline", {});
  if (!roofline) return tl::unexpected(roofline.error());
  const MatchedNames matched = matched_names(*roofline);
  Tables tables;
  add_devices(*info, matched, &tables);
  add_kernels(*kernels, matched, &tables);
  return tables;
}

std::string analysis_text(const Tables& tables, long name_limit) {
  std::string text;
  for (const auto& [device, table] : tables) {
    std::vector<TextRow> rows;
    for (const std::string& name : table.names)
      rows.push_back(joined({shortened(name, limit_or_default(name_limit))}, table.rows.at(name)));
    text += fmt::format("{}:\n{}\n", table.title, text_table(headers(), rows));
  }
  return text.empty() ? "\n" : text;
}

std::string diff_text(const Tables& a, std::string_view name_a, const Tables& b, std::string_view name_b, long name_limit) {
  std::set<std::int64_t> devices;
  for (const Tables* tables : {&a, &b}) {
    for (const auto& [device, table] : *tables) devices.insert(device);
  }
  const TextRow header = joined(joined({headers()[0]}, prefixed(name_a)), prefixed(name_b));
  std::string text;
  for (const std::int64_t device : devices) {
    const DeviceTable *const table_a = find(a, device), *const table_b = find(b, device);
    std::vector<std::string> names = table_a != nullptr ? table_a->names : std::vector<std::string>();
    for (const std::string& name : table_b != nullptr ? table_b->names : std::vector<std::string>()) {
      if (table_a == nullptr || !table_a->rows.contains(name)) names.push_back(name);
    }
    std::vector<TextRow> rows;
    for (const std::string& name : names) {
      rows.push_back(joined(joined({shortened(name, limit_or_default(name_limit))}, row_or_empty(table_a, name)),
                            row_or_empty(table_b, name)));
    }
    text += fmt::format("{}:\n{}\n", (table_a != nullptr ? table_a : table_b)->title, text_table(header, rows));
  }
  return text.empty() ? "\n" : text;
}

}  // namespace ridge::profile_analysis
