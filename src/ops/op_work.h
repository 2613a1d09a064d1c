// OpWork: what an op call, or the part of it that one kernel does, must compute and move. One row per op in the table of its
// family; a row is a pure function of the call's shapes, dtypes and constants. Which kernel does which part is not decided here
// but in src/cost.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "ops/op_call.h"

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
};

// The part of an op that one kernel does.
enum class KernelRole : std::uint8_t {
  main,         // the op itself, or its result
  grad_input,   // backward of a convolution or a norm
  grad_weight,  // backward of a convolution; gamma and beta of a norm
  grad_query,   // backward of attention where dQ has a kernel of its own
  grad_key_value,
  dot_do_o,        // attention backward: delta = rowsum(dO * O)
  convert_dq,      // attention backward: the fp32 accumulator of dQ to its own type
  combine,         // adds up partial results: split-k, split-kv
  layout_in,       // an operand brought into the library's layout
  layout_out,      // the result brought back
  apply,           // norms: the pass that writes the result
  apply_twice,     // norms: statistics and result in one kernel that reads the activations two times
  apply_kept,      // norms: as apply_twice, but for what its blocks keep in shared memory from the first pass
  statistics,      // norms: means, variances, sums of gradients: reads the activations, writes a value per channel or row
  parameters,      // touches vectors of parameters only
  initialise,      // workspace, pointers, offsets: a few bytes
  fill,            // writes without reading
  bias,            // adds a bias or scales the result in place
  index_helper,    // sorts and counts indices
  combine_helper,  // finds the runs of equal indices: a value or two per run
  step,            // recurrent networks: one time step's product with the recurrent weights
};

struct Part {
  KernelRole role = KernelRole::main;
  double cache = 1;          // of the device, in units of an H200's, on which the rules' limits were counted
  bool guessed = false;      // something that decides its traffic is not told: more than one reading fits
  int operand = -1;          // layout_in: which argument
  double partial_bytes = 0;  // combine: what it reads
  double reread_bytes = 0;   // products, convolutions: what left the cache before its next use and is read again
  double accumulator_bytes =
      -1;  // attention backward: sums of the queries' gradient, which are read; -1: as large as float32 queries
  double rows_in_flight =
      0;  // softmax: rows that the device works on at a time, where the kernel passes over each several times; 0: one pass
  double share_in_work = 1;     // apply_twice: of the channels, those that the device works on at a time
  double kept_bytes = 0;        // apply_kept: what its blocks hold on chip
  double channel_multiple = 1;  // convolution: the library's layout pads the channels to this
  bool channels_last =
      false;  // convolution: the kernel that computes walks its operands position by position, all channels of each
  double weights_enlarged = 1;  // convolution: by how much folding the strides into channels makes the weights larger
  bool accumulates = false;     // adds to its result with atomics, which read it
  std::optional<bool> sums =
      std::nullopt;               // losses: whether the kernel adds up the values of the rows; nothing: its name does not tell
  double enlarged = 1;            // convolution: by how much a transform (Winograd) makes the operands larger
  DType item = DType::unknown;    // of lists, whose element type the trace does not tell: from the kernel's name
  DType source = DType::unknown;  // lists: of what is read, where it is not the item
  int inputs = -1;                // how many tensors an elementwise kernel reads; -1: its name does not tell
  std::int64_t first = 0;         // lists: the first tensor (cat) or chunk (foreach) of this launch, and how many
  std::int64_t count = -1;        // -1: all
  int list_reads = -1;  // how many lists a foreach kernel reads, and of how many it is told; -1: its name does not tell
  int lists = -1;
  std::span<const double> sizes = {};  // elements of each tensor of a list that the trace left out, from elsewhere
  double list_elements =
      -1;             // lists: of the chunks of this launch, where they were cut for all launches at once; -1: they were not
  double before = 1;  // index_put: elements of the dimensions before those that are indexed
  double chunks = 1;  // recurrent: into how many launches the steps of a layer are cut
  double elements =
      0;  // that the launch's grid covers, for ops whose sizes are not recorded; recurrent: rows of its step; 0: not known
};

struct OpWork {
  std::optional<double> flops = std::nullopt;         // PyTorch's convention; 0: known to have none
  std::optional<double> flops_causal = std::nullopt;  // attention: what a causal mask leaves
  std::optional<double> read = std::nullopt;
  std::optional<double> written = std::nullopt;
  DType dtype = DType::unknown;
  bool ambiguous = false;  // more than one reading fits
};

struct OpFormula {
  std::string_view op;  // "aten::mm"; foreach ops: the prefix "aten::_foreach_"
  OpFamily family;
  OpWork (*work)(const OpCall& call, const Part& part);
};

// The row of an op, its overload and the underscore of its in-place form stripped; nullptr when there is none.
const OpFormula* find_op(std::string_view op);

// For kernels of a general form in ops that have no row: every tensor is read once, the broadcast shape written.
const OpFormula& general_pointwise();
const OpFormula& general_reduction();
// The only kernel of an op without a row: every tensor is read; what is written is not known.
const OpFormula& any_single_kernel();

// The table of each family.
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

}  // namespace ridge
