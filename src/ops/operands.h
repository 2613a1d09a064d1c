// Reading the arguments of an OpCall as formulas want them: tensors, flags, lists of integers; and sums over them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ops/op_call.h"
#include "ops/op_work.h"

namespace ridge {

// The tensor at that position; nullptr when it is none.
const TensorShape* tensor_at(const OpCall& call, std::size_t i);
bool has_list(const OpCall& call);                // of tensors, recorded or not
bool flag_at(const OpCall& call, std::size_t i);  // "True"; false also when it is not told
std::optional<double> number_at(const OpCall& call, std::size_t i);
// "[2, 2]" or "2"; nothing when it is neither.
std::optional<std::vector<std::int64_t>> integers_at(const OpCall& call, std::size_t i);
// "[True, False]".
std::vector<bool> flags_at(const OpCall& call, std::size_t i);

// A number of the trace's ScalarType enumeration, as "dtype" arguments have it.
DType scalar_type(const OpCall& call, std::size_t i, DType otherwise);

// Every element once, whatever its strides: what a kernel reads after a copy made it dense. Nothing without a tensor or its
// dtype.
std::optional<double> dense_bytes(const TensorShape* shape);
// As touched_bytes; nothing without a tensor or its dtype.
std::optional<double> touched(const TensorShape* shape);
// As touched_bytes, for a tensor that is walked in the order of its dimensions: what a broadcast dimension repeats is read
// again when it does not stay in the cache until then. `walk`: the shape that is walked; `cache`: as
// formulas are given it.
double walked_bytes(const TensorShape& shape, const TensorShape& walk, double cache);
// 0 when there is no such tensor.
double touched_or_zero(const TensorShape* shape);

std::optional<double> plus(std::optional<double> a, std::optional<double> b);
std::optional<double> times(std::optional<double> a, double factor);

// "aten::add_": writes its first tensor.
bool in_place(const OpCall& call);

// A CPU scalar beside GPU tensors: 0-dim.
bool is_scalar(const TensorShape& shape);

// The shape that broadcasting the first `inputs` tensors gives (all tensors when negative), and the type that promotion gives.
TensorShape broadcast(const OpCall& call, int inputs);
DType promote(DType a, DType b);
bool is_floating(DType dtype);  // it has fractions: complex types count
bool is_complex(DType dtype);
DType real_of(DType dtype);  // of a complex type that of its parts; any other is its own

// Expected number of distinct rows when `picks` are made among `rows` uniformly.
double distinct_rows(double picks, double rows);

// Bytes read of a table when `picks` rows are taken uniformly: repeated ones once, unless the row has left the cache since. A
// pick brings its own row when it misses, and moves `beside` as much of another tensor: the result of a gather (1), the source
// of a scatter, which is read and leaves sooner (0.6). `cache`: as
// formulas are given it.
double picked_bytes(double table_bytes, double row_bytes, double picks, double beside = 1, double cache = 1);

// A sector of which a part is written is read to be completed when it leaves the cache; what stays until the kernel ends is
// not. `bytes`: of all such sectors.
constexpr double kWrittenSector = 32;
double completed_bytes(double bytes, double cache);

// A kernel that moves data and computes nothing that PyTorch counts.
OpWork moves(std::optional<double> read, std::optional<double> written, DType dtype);

}  // namespace ridge
