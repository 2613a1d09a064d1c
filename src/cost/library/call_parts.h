// The parts of an op call that its launches do, while they are being told apart: what is known from each kernel's name alone,
// and, family by family, what grids, order and neighbours add. Internal to call_cost.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "cost/library/call_cost.h"

namespace ridge {

struct CallParts {
  const OpFormula& row;
  const OpCall& call;
  std::span<const CallLaunch> launches;
  const CallContext& context;
  std::vector<Part> parts = std::vector<Part>(launches.size());  // one per launch
  std::vector<double> ones = {};                                 // sizes of a list of scalars, which parts may point to

  bool backward() const { return call.op.find("backward") != std::string_view::npos; }
  // Of the whole call, or of a part.
  OpWork work(const Part& part = {}) const { return row.work(call, part, context.device.cache); }
};

// What the kernels of a family tell by more than their names. One each; all are assigned in place.
void assign_gemm_roles(CallParts& c);         // splits over k
void assign_convolution_roles(CallParts& c);  // layouts, the two gradients, splits over k
void assign_attention_roles(CallParts& c);    // splits over keys, heads that share them
void assign_pointwise_roles(CallParts& c);    // how many tensors the kernel is told of
void assign_reduction_roles(CallParts& c);    // what the kernel reads
void assign_softmax_roles(CallParts& c);      // rows that are passed over several times
void assign_norm_roles(CallParts& c);         // activations or parameters; what stays on chip
void assign_gather_roles(CallParts& c);       // what an index takes; index_put: which dimensions are indexed
void assign_cat_roles(CallParts& c);          // which tensors of the list
void assign_pooling_roles(CallParts& c);      // atomics
void assign_loss_roles(CallParts& c);         // sums or values of rows
void assign_recurrent_roles(CallParts& c);    // steps, layers, weights
void assign_sort_roles(CallParts& c);         // topk: counts of digits
void assign_list_roles(CallParts& c);         // which chunks of foreach lists
void assign_experts_roles(CallParts& c);      // which of the two products, and how wide they are

// Whether kernels of such ops are told apart by more than their names.
bool has_roles(OpFamily family);

// Of a convolution: MIOpen's transposes, casts and fills, the roles of the kernels that compute being known.
void assign_miopen_layouts(CallParts& c, const ConvolutionPositions& at);
// Of one launch of a convolution, its role being known.
void assign_convolution_rereads(CallParts& c, std::size_t i);

// Elements of the whole op's result, as its own formula has it, where the result is of the operands' type; 0 where it does not
// tell.
double output_elements(const CallParts& c);

// Roles that do the op's arithmetic.
bool computes(KernelRole role);

// Of an operand that a kernel passes over several times, the share that has left the cache when it comes back: none up to
// `fits`, all from `lost` on.
double share_lost(double bytes, double fits, double lost);
// The same for passes that write as well, by what one of them reads and writes: counters of an H200 (50 MB) show products of
// rows and columns lose 0.1 to 0.3 of 32 MB, 0.40 of 34 MB, 0.78 of 38 MB, all of 42 MB, half of what is written counted in.
double share_lost_between_passes(double read, double written, double cache);

// Blocks or threads in all; 0 when the trace does not tell.
double volume(const std::optional<Dim3>& d);
// A number of blocks, within what any device can launch: sums of them must not overflow.
std::int64_t blocks(std::int64_t n);

// Into how many parts a product's sum is split: by the grid's depth; or, where a library names its tiles, by how many times its
// blocks cover the result of `m` columns and `n` rows.
double split_of(const CallLaunch& launch, double batch, double m = 0, double n = 0);

}  // namespace ridge
