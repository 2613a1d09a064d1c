// OpCall: one call of an op as formulas see it: its name and its arguments, parsed. Calls with equal texts share one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"

namespace ridge {

struct TensorShape {
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;  // empty: not recorded, taken as dense
  DType dtype = DType::unknown;
};

struct OpArgument {
  enum class Kind : std::uint8_t { none, tensor, tensor_list, value };
  Kind kind = Kind::none;
  TensorShape tensor;             // kind tensor
  std::vector<TensorShape> list;  // kind tensor_list; empty also when the trace left the list out (over 30 tensors)
  bool list_left_out = false;     // the list has members that were not recorded
  std::string value;              // "Concrete Inputs" as it stands: "[2, 2]", "False", "1"; empty when there is none
  std::string type;               // "Input type" as it stands
};

struct OpCall {
  std::string_view op;  // "aten::mm"; an overload's suffix is kept
  std::vector<OpArgument> arguments;
  bool has_shapes = false;     // the trace was recorded with record_shapes
  bool has_constants = false;  // it holds "Concrete Inputs": an empty value then means that none was given
};

// From the texts of the trace's four arguments, any of which may be empty. Never fails: what cannot be read becomes Kind::none.
OpCall parse_op_call(std::string_view op, std::string_view input_dims, std::string_view input_types,
                     std::string_view input_strides, std::string_view concrete_inputs);

// Elements of a shape, saturating; 1 for a scalar.
double numel(const TensorShape& shape);
// Bytes that reading every element once touches: a broadcast (stride 0) dimension counts once. 0 when the dtype is not known.
double touched_bytes(const TensorShape& shape);

}  // namespace ridge
