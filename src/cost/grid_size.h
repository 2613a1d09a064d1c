// What an elementwise kernel of ATen's goes over, where the trace has no shapes: its name tells how many elements a thread
// takes, of which types, and its grid how many threads there are. Rounded up to whole blocks; strided operands count as dense
// ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/model.h"
#include "trace/args.h"
#include "trace/tables.h"

namespace ridge {

struct GridSize {
  double elements = 0;
  double bytes_read = 0, bytes_written = 0;
};

// How many elements a thread of a vectorized kernel takes: four; eight (of single bytes sixteen) since PyTorch is built on CUDA
// 12.8; or what the kernel's name says, on AMD's devices.
enum class Width : std::uint8_t { four, eight, named };

std::optional<GridSize> size_by_grid(std::string_view kernel, const Dim3& grid, const Dim3& block, Width width);
// A name that only a PyTorch writes that takes eight.
bool takes_eight(std::string_view kernel);
Width width_since(const std::vector<std::pair<std::string, std::string>>& versions);

// Of the kernels of a trace, by row.
class GridSizes {
 public:
  explicit GridSizes(const Model& model);
  std::optional<GridSize> of(std::uint32_t row) const;
  std::optional<Dim3> grid(std::uint32_t row) const;

 private:
  std::string_view kernel(std::uint32_t row) const;
  std::optional<Dim3> threads(const ArgColumn& column, std::uint32_t row) const;

  const Trace& trace_;
  DeviceWorkTable work_;
  Width width_ = Width::four;
};

}  // namespace ridge
