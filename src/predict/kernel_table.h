// KernelTable: times of kernels that were measured alone (--table), by identity: kernel, grid and block, op, shapes, strides,
// dtypes, device. What was measured comes before what is expected.
//
// The file is what `ridge bench --save` writes:
//   {"ridge_table": 1, "device": "NVIDIA H200", "torch": "2.11.0", "clock_mhz": 1830, "kernels": [
//     {"op": "aten::mm", "shapes": [[..], ..], "strides": [..], "dtypes": [..], "args": {..}, "kernel": "..", "grid": [x, y,
//     z],
//      "block": [x, y, z], "cold_ns": n, "warm_ns": n, "low_ns": n, "high_ns": n}, ..]}
// A row names an op or a kernel; what else it leaves out or has as null is not asked for.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <ridge/result.h>

#include "device/device.h"
#include "ops/op_call.h"
#include "predict/expected_time.h"
#include "trace/args.h"

namespace ridge {

class KernelTable {
 public:
  // An error says which row is wrong.
  static Result<KernelTable> read(std::string_view text, const std::string& where);

  const std::string& device() const { return device_; }
  std::size_t size() const { return rows_.size(); }
  // Whether what was measured holds for this device.
  bool is_of(const DeviceSpec& device) const { return device.name == device_; }

  using Used = std::set<std::size_t>;  // rows, by number

  // One launch of a kernel; `call`: of the op that it belongs to, nullptr where none does. The rows that tell its time are
  // added to `used`.
  std::optional<ExpectedTime> launch(std::string_view kernel, std::optional<Dim3> grid, std::optional<Dim3> block,
                                     const OpCall* call, Used* used = nullptr) const;
  // A whole call: all kernels that stand in the table for it, one after the other. Its constant arguments count where both
  // tell them.
  std::optional<ExpectedTime> call(const OpCall& call, Used* used = nullptr) const;

 private:
  class Reader;
  struct Row {
    std::string kernel;            // empty: the whole call
    std::string tensors, strides;  // as texts; empty: not told
    std::vector<std::string> constants;
    std::optional<Dim3> grid, block;
    double warm_ns = 0, cold_ns = 0, low_ns = 0, high_ns = 0;
  };
  // Of rows of one identity.
  ExpectedTime time_of(const std::vector<const Row*>& rows) const;
  void add_used(const std::vector<const Row*>& rows, Used* used) const;

  std::string device_, torch_;
  std::vector<Row> rows_;
  std::map<std::string, std::vector<std::size_t>, std::less<>> by_kernel_, by_op_;
};

}  // namespace ridge
