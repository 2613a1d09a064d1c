// OpWork: what an op call, or the part of it that one kernel does, must compute and move. One row per op in the table of its
// family: its formula, its name in comparisons, the positions of its arguments. A formula is a pure function of the call's
// shapes, dtypes and constants. Which kernel does which part is not decided here but in src/cost.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "ops/op_call.h"
#include "ops/part.h"
#include "ops/positions.h"

namespace ridge {

enum class OpFamily : std::uint8_t {
  gemm,
  convolution,
  attention,
  pointwise,
  reduction,
  softmax,
  norm,
  gather,   // rows chosen by an index: embedding, index_select, gather, scatter, index_put
  copy,     // copies, casts, fills, random numbers, cat
  pooling,  // pooling, resampling, padding
  loss,
  recurrent,  // LSTM, GRU in one library call
  sort,       // what goes over its tensor in passes, each over all of it: sort, topk, unique, Fourier transforms
  optimizer,
  experts,   // mixtures of experts: two products with the weights that each token chose
  transfer,  // what moves each tensor once whatever it computes: a server's norms, activations, caches, collectives
};

struct OpWork {
  std::optional<double> flops = std::nullopt;         // PyTorch's convention; 0: known to have none
  std::optional<double> flops_causal = std::nullopt;  // attention: what a causal mask leaves
  std::optional<double> read = std::nullopt;
  std::optional<double> written = std::nullopt;
  DType dtype = DType::unknown;
  bool ambiguous = false;  // more than one reading fits
};

// The work of one part of a call. What a kernel finds in the cache decides what it reads again: a formula that counts that
// takes the size of the device's last-level cache from its caller, in units of an H200's, on which the rules' limits were
// counted.
class Formula {
 public:
  using OfCall = OpWork (*)(const OpCall& call, const Part& part);
  using OfCallAndCache = OpWork (*)(const OpCall& call, const Part& part, double cache);

  constexpr Formula(OfCall f) : of_call_(f) {}
  constexpr Formula(OfCallAndCache f) : of_call_and_cache_(f) {}

  OpWork operator()(const OpCall& call, const Part& part, double cache = 1) const {
    return of_call_ != nullptr ? of_call_(call, part) : of_call_and_cache_(call, part, cache);
  }

 private:
  OfCall of_call_ = nullptr;
  OfCallAndCache of_call_and_cache_ = nullptr;
};

struct OpFormula {
  std::string_view op;  // "aten::mm"; foreach ops: the prefix "aten::_foreach_"
  OpFamily family;
  Formula work;
  std::string_view canonical = {};  // what it is in any release and backend, "batch_norm"; empty: what its own name says
  Positions positions = {};         // of the arguments that others than the formula ask for
};

// The row of an op, its overload and the underscore of its in-place form stripped; nullptr when there is none.
const OpFormula* find_op(std::string_view op);
// The same by the name without namespace, "mm", as names of fused kernels hold it; in-place ops also without their underscore.
const OpFormula* find_op_by_plain_name(std::string_view name);

// Whether it multiplies matrices: work that a compiler leaves to a library or a template, and that is done on matrix units.
bool is_matrix_work(const OpFormula& row);
// Its sort: "gemm", "convolution", "attention", and "_backward" behind the last two; empty for other work. Within a sort,
// dimensions decide.
std::string_view matrix_sort(const OpFormula& row);
// Where the factors of a matrix product stand; nullptr for other ops.
const ProductPositions* product_positions(const OpFormula& row);

// For kernels of a general form in ops that have no row: every tensor is read once, the broadcast shape written.
const OpFormula& general_pointwise();
const OpFormula& general_reduction();
// The only kernel of an op without a row: every tensor is read; what is written is not known.
const OpFormula& any_single_kernel();

// The table of each family, and all of them.
std::span<const OpFormula> gemm_ops();
std::span<const OpFormula> convolution_ops();
std::span<const OpFormula> attention_ops();
std::span<const OpFormula> pointwise_ops();
std::span<const OpFormula> reduction_ops();
std::span<const OpFormula> norm_ops();
std::span<const OpFormula> gather_ops();
std::span<const OpFormula> copy_ops();
std::span<const OpFormula> pooling_ops();
std::span<const OpFormula> loss_ops();
std::span<const OpFormula> recurrent_ops();
std::span<const OpFormula> sort_ops();
std::span<const OpFormula> detection_ops();
std::span<const OpFormula> optimizer_ops();
std::span<const OpFormula> quantised_product_ops();
std::span<const OpFormula> paged_attention_ops();
std::span<const OpFormula> experts_ops();
std::span<const OpFormula> transfer_ops();
std::span<const std::span<const OpFormula>> all_ops();

}  // namespace ridge
