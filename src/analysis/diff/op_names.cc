// The tables of names: composites, aliases, and the kinds of matrix work.
#include "analysis/diff/op_names.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include "base/lasting.h"
#include "ops/op_work.h"

namespace ridge::diff {
namespace {

// clang-format off
constexpr std::string_view kComposites[] = {
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "batch_norm", "_batch_norm_impl_index", "chunk", "contiguous", "conv1d",
    "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "cross_entropy_loss", "dropout", "dropout_", "einsum",
    "embedding_backward", "feature_dropout", "flatten", "full", "full_like", "group_norm", "index_select_backward", "instance_norm", "item", "kl_div",
    "layer_norm", "linear", "log_softmax", "matmul", "max_pool1d", "max_pool2d", "max_pool3d", "multi_head_attention", "new_full", "new_ones",
    "new_zeros", "nll_loss", "nll_loss_nd", "ones", "ones_like", "outer", "pad", "reshape", "rms_norm", "scalar_tensor",
    "scaled_dot_product_attention", "softmax", "tensordot", "to", "type_as", "zeros", "zeros_like", "binary_cross_entropy_with_logits", "huber_loss",
    "l1_loss", "square", "std", "var", "where_self", "nuclear_norm", "norm_except_dim", "upsample_nearest2d_vec", "true_divide", "stack", "hstack",
    "vstack", "repeat_interleave", "tile", "cosine_similarity", "gru", "lstm", "movedim", "matrix_exp", "bilinear", "chain_matmul", "silu_",
    "_scaled_dot_product_attention_math", "argsort", "msort", "embedding_bag", "nll_loss2d", "value_selecting_reduction_backward", "_weight_norm",
    "grid_sampler", "cdist", "ctc_loss", "cosine_embedding_loss", "margin_ranking_loss", "triplet_margin_loss", "hinge_embedding_loss",
    "poisson_nll_loss", "rnn_tanh", "rnn_relu",
};

// Names of ops that have no formula, and so no row in src/ops to say it: ops that others do the work of, and those that stand in
// names of fused kernels only.
struct Alias {
  std::string_view name;
  std::string_view canonical;
};
constexpr Alias kAliases[] = {
    {"_batch_norm_impl_index", "batch_norm"}, {"_native_batch_norm_legit_functional", "batch_norm"},
    {"_batch_norm_with_update_functional", "batch_norm"},
    {"to", "copy"}, {"convert_element_type", "copy"}, {"type_as", "copy"}, {"device_put", "copy"}, {"reshape", "copy"},
    {"_low_memory_max_pool2d_with_offsets", "max_pool2d"}, {"_low_memory_max_pool_with_offsets", "max_pool2d"},
    {"_low_memory_max_pool2d_offsets_to_indices", "max_pool2d_backward"}, {"_low_memory_max_pool_offsets_to_indices", "max_pool2d_backward"},
    {"_fused_dropout", "dropout"}, {"inductor_random", "dropout"}, {"prepare_softmax_online", "softmax"},
    {"nll_loss_nd", "nll_loss"},
    {"full_like", "fill"}, {"zeros_like", "fill"}, {"ones_like", "fill"}, {"new_zeros", "fill"}, {"new_ones", "fill"},
    {"new_full", "fill"}, {"scalar_tensor", "fill"}, {"item", "_local_scalar_dense"},
};

// The same for the sorts of matrix work.
constexpr Alias kHeavy[] = {
    {"matmul", "gemm"}, {"einsum", "gemm"}, {"tensordot", "gemm"}, {"addbmm", "gemm"}, {"_weight_int4pack_mm", "gemm"},
    {"_weight_int8pack_mm", "gemm"},
    {"scaled_dot_product_attention", "attention"}, {"_scaled_dot_product_attention_math", "attention"}, {"flex_attention", "attention"},
    {"flex_attention_backward", "attention_backward"}, {"_scaled_dot_product_fused_attention_overrideable_backward", "attention_backward"},
};
// clang-format on

template <std::size_t N>
std::unordered_map<std::string_view, std::string_view> map_of(const Alias (&rows)[N]) {
  std::unordered_map<std::string_view, std::string_view> map;
  for (const Alias& row : rows) map.emplace(row.name, row.canonical);
  return map;
}

// Without namespace and overload.
std::string_view plain(std::string_view op) {
  const std::size_t colons = op.rfind("::");
  if (colons != std::string_view::npos) op.remove_prefix(colons + 2);
  return op.substr(0, op.find('.'));
}

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Behind "512", "-1" or "4u" where it is a whole argument: a comma or the end of the list follows. `at` itself otherwise.
std::size_t end_of_integer(std::string_view text, std::size_t at) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t end = at < text.size() && text[at] == '-' ? at + 1 : at;
  const std::size_t first = end;
  while (end < text.size() && is_digit(text[end])) ++end;
  if (end == first) return at;
  while (end < text.size() && std::string_view("uUlL").find(text[end]) != std::string_view::npos) ++end;
  return end < text.size() && (text[end] == ',' || text[end] == '>' || text[end] == ' ') ? end : at;
}

}  // namespace

bool is_call(std::string_view op) {
  if (op.starts_with("triton_")) return true;
  if (op.starts_with("autograd::") || op.starts_with("torch::autograd::") || op.starts_with("## ") ||
      op.starts_with("Torch-Compiled") || op.starts_with("Optimizer.") || op.starts_with("torch::dynamo") ||
      op.starts_with("nccl:") || op.starts_with("gloo:")) {
    return false;
  }
  const std::size_t colons = op.find("::");
  return colons != std::string_view::npos && colons > 0 && op.find(' ') == std::string_view::npos;
}

bool is_composite(std::string_view op) {
  static const auto& set = lasting(std::unordered_set<std::string_view>(std::begin(kComposites), std::end(kComposites)));
  return op.starts_with("aten::") && set.contains(plain(op));
}

std::string canonical_op(std::string_view op) {
  static const auto& aliases = lasting(map_of(kAliases));
  std::string_view name = plain(op);
  if (const OpFormula* row = find_op_by_plain_name(name); row != nullptr && !row->canonical.empty())
    return std::string(row->canonical);
  const auto known = [&](std::string_view text) -> std::string_view {
    const auto it = aliases.find(text);
    return it == aliases.end() ? std::string_view() : it->second;
  };
  if (const std::string_view alias = known(name); !alias.empty()) return std::string(alias);
  if (name.size() > 1 && name.ends_with('_')) name.remove_suffix(1);
  if (const std::string_view alias = known(name); !alias.empty()) return std::string(alias);
  return std::string(name);
}

std::string listed_op(std::string_view canonical) {
  constexpr std::string_view kForeach = "_foreach_";
  if (!canonical.starts_with(kForeach)) return {};
  return canonical_op(canonical.substr(kForeach.size()));
}

std::string_view heavy_sort(std::string_view canonical) {
  static const auto& sorts = lasting(map_of(kHeavy));
  if (const OpFormula* row = find_op_by_plain_name(canonical); row != nullptr && is_matrix_work(*row)) return matrix_sort(*row);
  const auto it = sorts.find(canonical);
  return it == sorts.end() ? canonical : it->second;
}

Heavy heavy_of(std::string_view canonical) {
  const std::string_view sort = heavy_sort(canonical);
  if (sort.starts_with("attention")) return Heavy::attention;
  return sort == "gemm" || sort.starts_with("convolution") ? Heavy::matrix : Heavy::none;
}

std::string_view without_counter(std::string_view kernel) {
  if (!kernel.starts_with("triton_")) return kernel;
  const std::size_t underscore = kernel.rfind('_');
  return underscore != std::string_view::npos && all_digits(kernel.substr(underscore + 1)) ? kernel.substr(0, underscore)
                                                                                           : kernel;
}

std::string untuned_name(std::string_view kernel) {
  kernel = without_counter(kernel);
  std::string name;
  int depth = 0;
  for (std::size_t at = 0; at < kernel.size();) {
    const char c = kernel[at];
    depth += c == '<' ? 1 : c == '>' ? -1 : 0;
    name += c;
    ++at;
    const bool begins_argument = depth > 0 && (c == '<' || c == ',' || c == ' ' || c == ')');  // "(int)4" too
    const std::size_t end = begins_argument ? end_of_integer(kernel, at) : at;
    if (end == at) continue;
    name += '#';
    at = end;
  }
  return name;
}

}  // namespace ridge::diff
