// The table of fused ops.
#include "cost/triton/triton_ops.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace ridge {
namespace {

enum Trait : std::uint16_t {
  kNone = 0,
  kGathers = 1,
  kScatters = 2,
  kUnflattens = 4,
  kWindows = 8,
  kSums = 128,
  kParts = 32,
  kStatistics = 64,  // leaves only what a reduction leaves
  // A backward op whose name stands in forward kernels too, for what they save: it counts where `forward` is not fused.
  kSavedForward = 16,
  kPlaces = 256,  // writes to what an index names, without reading it
};

struct Row {
  std::string_view op;
  double flops;  // per element of the space that the kernel walks
  int inputs;    // full-size tensors
  bool sure;     // all of them must be such
  std::string_view forward = {};
  std::uint16_t traits = kNone;
  int vectors = 0;  // small tensors that the op takes besides
};

// Sorted by name. Ops that are not here and do not move data only: one operation on one tensor.
// clang-format off
constexpr Row kRows[] = {
    {"_adaptive_avg_pool2d", 1, 1, false, {}, kWindows},
    {"_adaptive_avg_pool2d_backward", 1, 1, false},
    {"_adaptive_avg_pool3d", 1, 1, false, {}, kWindows},
    {"_fused_rms_norm", 4, 1, false, {}, kNone, 1},
    {"_fused_rms_norm_backward", 8, 2, true, "_fused_rms_norm", kSavedForward},
    {"_log_softmax", 4, 1, false},
    {"_log_softmax_backward_data", 4, 2, true, "_log_softmax", kSavedForward},
    {"_low_memory_max_pool2d_with_offsets", 1, 1, false, {}, kWindows},
    {"_low_memory_max_pool_with_offsets", 1, 1, false, {}, kWindows},
    {"_native_batch_norm_legit", 5, 1, false, {}, kStatistics, 4},
    {"_native_batch_norm_legit_functional", 5, 1, false, {}, kStatistics, 4},
    {"_native_batch_norm_legit_no_training", 4, 1, false, {}, kNone, 4},
    {"_prelu_kernel", 2, 1, false, {}, kNone, 1},
    {"_prelu_kernel_backward", 2, 2, true, {}, kNone, 1},
    {"_reshape_alias", 0, 1, false},
    {"_softmax", 5, 1, false},
    {"_softmax_backward_data", 4, 2, true, "_softmax", kSavedForward},
    {"_to_copy", 0, 1, false},
    {"_unsafe_index", 0, 1, false, {}, kGathers},
    {"_unsafe_index_put", 1, 1, false, {}, kScatters},
    {"_unsafe_masked_index", 0, 1, false, {}, kGathers},
    {"_unsafe_view", 0, 1, false, {}, kUnflattens},
    {"adaptive_max_pool2d", 1, 1, false, {}, kWindows},
    {"add", 1, 2, false},
    {"addcdiv", 3, 3, true},
    {"addcmul", 3, 3, true},
    {"addmm", 0, 1, false, {}, kNone, 1},
    {"alias", 0, 1, false},
    {"all", 1, 1, false, {}, kSums},
    {"amax", 1, 1, false, {}, kSums},
    {"amin", 1, 1, false, {}, kSums},
    {"any", 1, 1, false, {}, kSums},
    {"arange", 0, 0, false},
    {"argmax", 1, 1, false, {}, kSums},
    {"argmin", 1, 1, false, {}, kSums},
    {"as_strided", 0, 1, false},
    {"atan2", 1, 2, true},
    {"avg_pool2d", 1, 1, false, {}, kWindows},
    {"avg_pool3d", 1, 1, false, {}, kWindows},
    {"baddbmm", 0, 1, false},
    {"bernoulli", 1, 0, false},
    {"bmm", 0, 1, false},
    {"cat", 0, 1, false},
    {"clone", 0, 1, false},
    {"constant_pad_nd", 0, 1, false},
    {"convolution", 0, 1, false, {}, kNone, 1},
    {"convolution_backward", 0, 1, false},
    {"copy", 0, 1, false},
    {"copy_", 0, 1, false},
    {"detach", 0, 1, false},
    {"div", 1, 2, false},
    {"elu_backward", 4, 2, true},
    {"embedding", 0, 1, false, {}, kGathers},
    {"embedding_dense_backward", 1, 1, false, {}, kScatters},
    {"empty", 0, 0, false},
    {"empty_like", 0, 0, false},
    {"empty_strided", 0, 0, false},
    {"expand", 0, 1, false},
    {"fill", 0, 0, false},
    {"flip", 0, 1, false},
    {"full", 0, 0, false},
    {"full_like", 0, 0, false},
    {"gather", 0, 1, false, {}, kGathers},
    {"gelu", 8, 1, false},
    {"gelu_backward", 14, 2, true},
    {"glu", 5, 1, false, {}, kWindows},
    {"glu_backward", 6, 1, true},  // and a gradient of half its size
    {"hardshrink_backward", 1, 2, true},
    {"hardsigmoid_backward", 2, 2, true, "hardsigmoid", kSavedForward},
    {"hardswish_backward", 4, 2, true},
    {"hardtanh_backward", 2, 2, true, "hardtanh", kSavedForward},
    {"huber_loss", 4, 2, true},
    {"huber_loss_backward", 4, 2, true},
    {"index", 0, 1, false, {}, kGathers},
    {"index_add", 1, 1, false, {}, kScatters},
    {"index_copy", 0, 1, false, {}, kPlaces},
    {"index_put", 1, 1, false, {}, kScatters},
    {"index_put_", 1, 1, false, {}, kScatters},
    {"index_select", 0, 1, false, {}, kGathers},
    {"inductor_random", 0, 0, false},
    {"inductor_seeds", 0, 0, false},
    {"leaky_relu_backward", 2, 2, true, "leaky_relu", kSavedForward},
    {"lerp", 3, 2, true},
    {"linalg_vector_norm", 2, 1, false, {}, kSums},
    {"log_sigmoid_backward", 4, 2, true},
    {"logit_backward", 3, 2, true},
    {"logsumexp", 3, 1, false, {}, kSums},
    {"max", 1, 1, false, {}, kSums},
    {"max_pool2d_with_indices", 1, 1, false, {}, kWindows},
    {"max_pool3d_with_indices", 1, 1, false, {}, kWindows},
    {"maximum", 1, 2, true},
    {"mean", 1, 1, false, {}, kSums},
    {"min", 1, 1, false, {}, kSums},
    {"minimum", 1, 2, true},
    {"mish_backward", 8, 2, true},
    {"mm", 0, 1, false},
    {"mse_loss", 2, 2, true},
    {"mse_loss_backward", 3, 2, true},
    {"mul", 1, 2, false},
    {"native_batch_norm", 5, 1, false, {}, kStatistics, 4},
    {"native_batch_norm_backward", 8, 2, true, "_native_batch_norm_legit_functional", kSavedForward},
    {"native_dropout", 3, 1, false},
    {"native_dropout_backward", 2, 1, false, "native_dropout", kSavedForward},  // and a mask of booleans, counted apart
    {"native_group_norm", 6, 1, false, {}, kNone, 2},
    {"native_group_norm_backward", 8, 2, true, "native_group_norm", kSavedForward},
    {"native_layer_norm", 6, 1, false, {}, kNone, 2},
    {"native_layer_norm_backward", 8, 2, true, "native_layer_norm", kSavedForward, 2},
    {"new_empty", 0, 0, false},
    {"new_full", 0, 0, false},
    {"new_ones", 0, 0, false},
    {"new_zeros", 0, 0, false},
    {"nll_loss_forward", 1, 1, false, {}, kGathers},
    {"ones", 0, 0, false},
    {"ones_like", 0, 0, false},
    {"permute", 0, 1, false},
    {"pow", 1, 1, false},
    {"prod", 1, 1, false, {}, kSums},
    {"rand", 0, 0, false},
    {"rand_like", 0, 0, false},
    {"randint", 0, 0, false},
    {"randn", 0, 0, false},
    {"randn_like", 0, 0, false},
    {"repeat", 0, 1, false},
    {"reshape", 0, 1, false},
    {"scalar_tensor", 0, 0, false},
    {"scatter", 0, 1, false, {}, kScatters},
    {"scatter_add", 1, 1, false, {}, kScatters},
    {"scatter_reduce", 1, 1, false, {}, kScatters},
    {"select", 0, 1, false, {}, kParts},
    {"sigmoid", 3, 1, false},
    {"sigmoid_backward", 3, 2, true, "sigmoid", kSavedForward},
    {"silu", 4, 1, false},
    {"silu_backward", 6, 2, true},
    {"slice", 0, 1, false, {}, kParts},
    {"slice_scatter", 0, 1, false},
    {"smooth_l1_loss", 4, 2, true},
    {"smooth_l1_loss_backward", 4, 2, true},
    {"softplus_backward", 4, 2, true},
    {"softshrink_backward", 1, 2, true},
    {"split", 0, 1, false, {}, kParts},
    {"split_with_sizes", 0, 1, false, {}, kParts},
    {"squeeze", 0, 1, false},
    {"stack", 0, 1, false},
    {"std", 4, 1, false, {}, kSums},
    {"sub", 1, 2, false},
    {"sum", 1, 1, false, {}, kSums},
    {"t", 0, 1, false},
    {"tanh_backward", 3, 2, true, "tanh", kSavedForward},
    {"threshold_backward", 1, 2, true, "relu", kSavedForward},
    {"transpose", 0, 1, false},
    {"unbind", 0, 1, false, {}, kParts},
    {"unfold", 0, 1, false},
    {"uniform", 0, 0, false},
    {"unsqueeze", 0, 1, false},
    {"var", 4, 1, false, {}, kSums},
    {"var_mean", 5, 1, false, {}, kSums},
    {"view", 0, 1, false},
    {"view_as", 0, 1, false},
    {"where", 1, 2, false},
    {"zeros", 0, 0, false},
    {"zeros_like", 0, 0, false},
};
// clang-format on
static_assert(std::is_sorted(std::begin(kRows), std::end(kRows), [](const Row& a, const Row& b) { return a.op < b.op; }));

const Row* find_row(std::string_view op) {
  const Row* row =
      std::lower_bound(std::begin(kRows), std::end(kRows), op, [](const Row& r, std::string_view name) { return r.op < name; });
  return row != std::end(kRows) && row->op == op ? row : nullptr;
}

bool contains(std::span<const std::string> names, std::string_view name) {
  return !name.empty() && std::find(names.begin(), names.end(), name) != names.end();
}

// A kernel of a backward graph: it holds a gradient that no forward pass saves something for.
bool in_backward(std::span<const std::string> names) {
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
    if (!name.ends_with("_backward") && !name.ends_with("_backward_data")) return false;
    const Row* row = find_row(name);
    return row == nullptr || (row->traits & kSavedForward) == 0 || !contains(names, row->forward);
  });
}

constexpr const char* kGates[] = {"silu", "gelu", "sigmoid", "tanh"};

// Ops that write booleans, or whose gradients have them saved.
constexpr std::string_view kMaskMakers[] = {
    "bernoulli",   "bitwise_and", "bitwise_not", "bitwise_or", "clamp", "clamp_max", "clamp_min",  "eq",
    "ge",          "gt",          "hardtanh",    "isinf",      "isnan", "le",        "leaky_relu", "logical_and",
    "logical_not", "logical_or",  "lt",          "ne",         "relu",  "where",     "any",        "native_dropout",
    "all"};

}  // namespace

FusedOps fused_ops(std::span<const std::string> names) {
  FusedOps out;
  out.reads = names.empty();
  out.in_backward = in_backward(names);
  int recomputed = 0;
  for (const std::string& name : names) {
    const Row* row = find_row(name);
    out.flops_per_element += row != nullptr ? row->flops : 1;
    if (row == nullptr) {
      out.reads = out.makes_full_size = true;
      continue;
    }
    out.constants = out.constants || row->inputs == 0;
    const auto has = [&](Trait trait) { return (row->traits & trait) != 0; };
    out.reads = out.reads || (row->inputs > 0 && !has(kScatters) && !has(kPlaces));
    out.places = out.places || has(kPlaces);
    out.makes_full_size = out.makes_full_size || (row->flops > 0 && !has(kWindows) && !has(kSums) && !has(kStatistics));
    if (!has(kSavedForward) || !contains(names, row->forward)) out.norm_vectors += row->vectors;
    out.gathers = out.gathers || has(kGathers);
    out.scatters = out.scatters || has(kScatters);
    out.reads_windows = out.reads_windows || has(kWindows);
    out.sums = out.sums || has(kSums);
    out.reads_parts = out.reads_parts || has(kParts);
    out.unflattens = out.unflattens || has(kUnflattens);
    if (has(kSavedForward) && contains(names, row->forward)) {
      out.saves = out.saves || row->sure;
      if (out.in_backward && row->sure) recomputed = row->inputs;
      continue;
    }
    (row->sure ? out.inputs : out.operands) += std::max(row->inputs - 1, 0);
  }
  // The gradient and what the forward pass took, however many ops are undone on the way.
  out.inputs = std::max(out.inputs, recomputed);
  // The gradient of a part, or of one value of each row: where it comes from is not of full size.
  if (contains(names, "select_backward") || contains(names, "nll_loss_backward")) out.inputs = std::max(out.inputs - 1, 1);
  out.drops = contains(names, "native_dropout") || contains(names, "native_dropout_backward");
  for (const std::string_view maker : kMaskMakers) out.makes_mask = out.makes_mask || contains(names, maker);
  out.moves_axes = contains(names, "clone") && (contains(names, "transpose") || contains(names, "permute"));
  const bool adds = contains(names, "add"), multiplies = contains(names, "mul");
  out.only_adds = adds && out.flops_per_element == 1;
  for (const char* norm : {"native_layer_norm", "native_group_norm", "_native_batch_norm_legit_functional"}) {
    const std::string gradient = norm[0] == '_' ? "native_batch_norm_backward" : std::string(norm) + "_backward";
    out.norm_and_backward = out.norm_and_backward || (contains(names, norm) && contains(names, gradient));
    out.backward_norm = out.backward_norm || (!contains(names, norm) && contains(names, gradient));
  }
  out.rms_and_backward = contains(names, "_fused_rms_norm") && contains(names, "_fused_rms_norm_backward");
  // The forward pass would take exponentials of its own.
  for (const char* softmax : {"_softmax", "_log_softmax"})
    out.undoes_softmax =
        out.undoes_softmax || (contains(names, softmax) && contains(names, std::string(softmax) + "_backward_data") &&
                               !contains(names, "exp") && !contains(names, "prepare_softmax_online"));
  // The add of a normalisation that was written out is its epsilon; such a kernel holds rsqrt.
  const bool epsilon = adds && contains(names, "rsqrt");
  out.adds_residual = adds && !epsilon;
  out.operands -= epsilon ? 1 : 0;
  constexpr std::string_view kScaling[] = {"add", "mul", "rsqrt", "sub", "relu", "view", "convolution", "_to_copy"};
  out.scales_by_constants =
      epsilon && multiplies && contains(names, "sub") && std::all_of(names.begin(), names.end(), [&](std::string_view name) {
        return std::find(std::begin(kScaling), std::end(kScaling), name) != std::end(kScaling);
      });
  out.undoes_mean = contains(names, "pow") && contains(names, "div") && contains(names, "expand") && contains(names, "sum");
  out.undoes_mean = out.undoes_mean || (contains(names, "native_layer_norm_backward") && !contains(names, "native_layer_norm"));
  constexpr const char* kAdding[] = {"scatter_add", "scatter_reduce", "index_put",
                                     "index_put_",  "index_add",      "_unsafe_index_put"};
  out.overwrites = contains(names, "scatter") &&
                   std::none_of(std::begin(kAdding), std::end(kAdding), [&](const char* op) { return contains(names, op); });
  out.divides_by_sum = out.sums && contains(names, "div");
  // Both halves of a tensor, one of them through an activation: the product has no second tensor.
  const bool halves = out.reads_parts && multiplies && std::any_of(std::begin(kGates), std::end(kGates), [&](const char* gate) {
                        return contains(names, gate);
                      });
  out.reads_windows = out.reads_windows || halves;
  if (halves && out.sums) out.operands -= 1;
  return out;
}

}  // namespace ridge
