// The script's tables from ridge's answers: one per device, one row per kernel name. Rates are sums over sums, every launch
// counts.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <ridge/engine.h>
#include <ridge/report.h>
#include <ridge/result.h>

#include "text_table.h"

namespace ridge::profile_analysis {

struct DeviceTable {
  std::string title;                                 // "Device(NVIDIA H200, 0): DeviceInfo(...)"
  std::vector<std::string> names;                    // of kernels, the longest time first
  std::map<std::string, TextRow, std::less<>> rows;  // by name: count, FLOPS, GB/s, us, %, %
};

using Tables = std::map<std::int64_t, DeviceTable>;  // by device

// The trace at `path`; `dtype` is for kernels that do not tell theirs.
Result<Tables> tables_of(const std::string& path, const std::string& dtype, const OpenOptions& options);

std::string analysis_text(const Tables& tables, long name_limit);
std::string diff_text(const Tables& a, std::string_view name_a, const Tables& b, std::string_view name_b, long name_limit);

}  // namespace ridge::profile_analysis
