// The list of names, and the greedy split by it.
#include "ops/known_ops.h"

#include <algorithm>
#include <unordered_set>

#include "base/lasting.h"

namespace ridge {
namespace {

// clang-format off
constexpr std::string_view kOps[] = {
    // private ops and those that decompositions leave behind
    "_adaptive_avg_pool2d", "_adaptive_avg_pool2d_backward", "_adaptive_avg_pool3d", "_adaptive_avg_pool3d_backward",
    "_assert_async", "_assert_tensor_metadata", "_batch_norm_impl_index", "_batch_norm_no_update",
    "_batch_norm_with_update", "_batch_norm_with_update_functional", "_cdist_backward", "_cdist_forward", "_conj",
    "_conj_physical", "_convert_weight_to_int4pack", "_convolution", "_copy_from", "_ctc_loss", "_ctc_loss_backward",
    "_cudnn_rnn", "_cudnn_rnn_backward", "_efficient_attention_backward", "_efficient_attention_forward", "_embedding_bag",
    "_embedding_bag_backward", "_embedding_bag_dense_backward", "_embedding_bag_forward_only", "_euclidean_dist",
    "_fake_quantize_learnable_per_tensor_affine", "_fft_c2c", "_fft_c2r", "_fft_r2c", "_flash_attention_backward",
    "_flash_attention_forward", "_foreach_abs", "_foreach_add", "_foreach_addcdiv", "_foreach_addcmul",
    "_foreach_clamp_max", "_foreach_clamp_min", "_foreach_copy", "_foreach_copy_", "_foreach_div", "_foreach_lerp",
    "_foreach_maximum", "_foreach_minimum", "_foreach_mul", "_foreach_neg", "_foreach_norm", "_foreach_pow",
    "_foreach_reciprocal", "_foreach_sqrt", "_foreach_sub", "_foreach_zero", "_fused_adagrad", "_fused_adagrad_",
    "_fused_adam", "_fused_adam_", "_fused_adamw", "_fused_adamw_", "_fused_dropout", "_fused_moving_avg_obs_fq_helper",
    "_fused_moving_avg_obs_fq_helper_functional", "_fused_rms_norm", "_fused_rms_norm_backward", "_fused_sgd",
    "_fused_sgd_", "_grid_sampler_2d_cpu_fallback", "_grouped_mm", "_has_compatible_shallow_copy_type",
    "_histogramdd_bin_edges", "_index_put_impl", "_index_put_impl_", "_int_mm", "_is_all_true", "_is_any_true",
    "_linalg_det", "_linalg_eigh", "_linalg_eigvals", "_linalg_slogdet", "_linalg_solve_ex", "_linalg_svd",
    "_local_scalar_dense", "_log_softmax", "_log_softmax_backward_data", "_logcumsumexp",
    "_low_memory_max_pool_with_offsets", "_low_memory_max_pool_offsets_to_indices", "_low_memory_max_pool2d_with_offsets",
    "_low_memory_max_pool2d_offsets_to_indices", "_make_per_channel_quantized_tensor", "_make_per_tensor_quantized_tensor",
    "_masked_scale", "_masked_softmax", "_masked_softmax_backward", "_mkl_linear", "_native_batch_norm_legit",
    "_native_batch_norm_legit_functional", "_native_batch_norm_legit_no_training", "_native_multi_head_attention",
    "_nested_from_padded", "_nested_view_from_buffer", "_pack_padded_sequence", "_padded_dense_to_jagged_forward",
    "_jagged_to_padded_dense_forward", "_pdist_backward", "_pdist_forward", "_pin_memory", "_prelu_kernel",
    "_prelu_kernel_backward", "_reshape_alias", "_reshape_copy", "_resize_output", "_safe_softmax", "_sample_dirichlet",
    "_scaled_dot_product_attention_math", "_scaled_dot_product_cudnn_attention",
    "_scaled_dot_product_cudnn_attention_backward", "_scaled_dot_product_efficient_attention",
    "_scaled_dot_product_efficient_attention_backward", "_scaled_dot_product_flash_attention",
    "_scaled_dot_product_flash_attention_backward", "_scaled_dot_product_fused_attention_overrideable",
    "_scaled_grouped_mm", "_scaled_mm", "_segment_reduce_backward", "_shape_as_tensor", "_softmax",
    "_softmax_backward_data", "_sparse_semi_structured_linear", "_sparse_semi_structured_mm", "_standard_gamma", "_stack",
    "_tensor_from_tensor_list", "_thnn_fused_gru_cell", "_thnn_fused_lstm_cell", "_thnn_fused_lstm_cell_backward_impl",
    "_to_copy", "_to_cpu", "_to_dense", "_to_sparse", "_transform_bias_rescale_qkv", "_transformer_encoder_layer_fwd",
    "_trilinear", "_unique2", "_unsafe_index", "_unsafe_index_put", "_unsafe_masked_index",
    "_unsafe_masked_index_put_accumulate", "_unsafe_view", "_upsample_bicubic2d_aa", "_upsample_bicubic2d_aa_backward",
    "_upsample_bilinear2d_aa", "_upsample_bilinear2d_aa_backward", "_upsample_nearest_exact1d", "_upsample_nearest_exact2d",
    "_upsample_nearest_exact2d_backward", "_upsample_nearest_exact3d", "_validate_sparse_coo_tensor_args",
    "_weight_int4pack_mm", "_weight_int8pack_mm", "_weight_norm_interface", "_weight_norm_interface_backward",
    "_wrapped_linear_prepack",
    // names with underscores
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d", "adaptive_max_pool2d",
    "adaptive_max_pool2d_backward", "adaptive_max_pool3d", "adaptive_max_pool3d_backward", "affine_grid_generator",
    "affine_grid_generator_backward", "alias_copy", "align_tensors", "all_gather_into_tensor",
    "all_gather_into_tensor_coalesced", "all_reduce", "all_reduce_coalesced", "all_to_all_single", "alpha_dropout",
    "argmax", "argmin", "as_strided", "as_strided_", "as_strided_copy", "as_strided_scatter", "assert_async", "atleast_1d",
    "atleast_2d", "auto_functionalized", "auto_functionalized_v2", "avg_pool1d", "avg_pool2d", "avg_pool2d_backward",
    "avg_pool3d", "avg_pool3d_backward", "batch_norm", "batch_norm_backward", "batch_norm_backward_elemt",
    "batch_norm_backward_reduce", "batch_norm_elemt", "batch_norm_gather_stats_with_counts", "batch_norm_stats",
    "bernoulli_", "binary_cross_entropy", "binary_cross_entropy_backward", "binary_cross_entropy_with_logits",
    "bitwise_and", "bitwise_left_shift", "bitwise_not", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "block_diag",
    "broadcast_tensors", "broadcast_to", "cartesian_prod", "channel_shuffle", "cholesky_inverse", "cholesky_solve",
    "clamp_max", "clamp_min", "clip_grad_norm", "col2im", "column_stack", "combinations", "constant_pad_nd",
    "conv_depthwise3d", "conv_tbc", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "convert_element_type",
    "convolution", "convolution_backward", "convolution_overrideable", "copy_", "cosine_embedding_loss",
    "cosine_similarity", "count_nonzero", "cross_entropy_loss", "ctc_loss", "cudnn_batch_norm", "cudnn_batch_norm_backward",
    "cudnn_convolution", "cudnn_convolution_add_relu", "cudnn_convolution_relu", "cudnn_convolution_transpose",
    "cumulative_trapezoid", "deg2rad", "dequantize_per_channel", "dequantize_per_tensor", "device_put", "diag_embed",
    "diagonal_backward", "diagonal_copy", "diagonal_scatter", "div_", "dropout_backward", "elu_backward",
    "embedding_backward", "embedding_bag", "embedding_dense_backward", "embedding_renorm", "empty_like", "empty_permuted",
    "empty_strided", "expand_as", "expand_copy", "fake_quantize_per_channel_affine_cachemask",
    "fake_quantize_per_tensor_affine_cachemask", "feature_alpha_dropout", "feature_dropout", "fft_fft", "fft_ifft",
    "fft_irfft", "fft_rfft", "fft_fftshift", "fill_", "flex_attention", "flex_attention_backward", "float_power",
    "floor_divide", "floor_divide_", "fractional_max_pool2d", "fractional_max_pool2d_backward", "fractional_max_pool3d",
    "full_like", "gather_backward", "gelu_backward", "glu_backward", "glu_jvp", "grid_sampler_2d",
    "grid_sampler_2d_backward", "grid_sampler_3d", "group_norm", "gru_cell", "gumbel_softmax", "hardsigmoid_backward",
    "hardswish_backward", "hardtanh_backward", "huber_loss", "huber_loss_backward", "im2col", "index_add", "index_copy",
    "index_fill", "index_put", "index_put_", "index_reduce", "index_select", "index_select_backward",
    "inductor_force_stride_order", "inductor_lookup_seed", "inductor_random", "inductor_randint", "inductor_seeds",
    "instance_norm", "is_same_size", "kl_div", "l1_loss", "layer_norm", "leaky_relu", "leaky_relu_backward",
    "linalg_cholesky_ex", "linalg_cross", "linalg_householder_product", "linalg_inv_ex", "linalg_lu", "linalg_lu_factor_ex",
    "linalg_lu_solve", "linalg_matrix_exp", "linalg_pinv", "linalg_qr", "linalg_solve_triangular", "linalg_svd",
    "linalg_vector_norm", "linear_backward", "log_sigmoid_backward", "log_sigmoid_forward", "log_softmax", "logical_and",
    "logical_not", "logical_or", "logical_xor", "lstm_cell", "lu_unpack", "margin_ranking_loss", "masked_fill",
    "masked_fill_", "masked_scatter", "masked_scatter_backward", "masked_select", "matmul_backward", "max_pool1d",
    "max_pool2d", "max_pool2d_with_indices", "max_pool2d_with_indices_backward", "max_pool3d_with_indices",
    "max_pool3d_with_indices_backward", "max_unpool2d", "max_unpool3d", "mean_backward", "miopen_batch_norm",
    "miopen_batch_norm_backward", "miopen_convolution", "mish_backward", "mkldnn_rnn_layer", "mse_loss",
    "mse_loss_backward", "multi_margin_loss", "multilabel_margin_loss_forward", "multinomial", "mutable_zeros",
    "nan_to_num", "native_batch_norm", "native_batch_norm_backward", "native_dropout", "native_dropout_backward",
    "native_group_norm", "native_group_norm_backward", "native_layer_norm", "native_layer_norm_backward", "native_norm",
    "new_empty", "new_empty_strided", "new_full", "new_ones", "new_zeros", "nll_loss", "nll_loss2d_backward",
    "nll_loss2d_forward", "nll_loss_backward", "nll_loss_forward", "nonzero_static", "normal_functional", "one_hot",
    "ones_like", "pad_sequence", "pairwise_distance", "permute_copy", "pixel_shuffle", "pixel_unshuffle",
    "poisson_nll_loss", "polar", "pow_", "prepare_softmax_online", "prelu_backward", "prims_device_put",
    "quantize_per_channel", "quantize_per_tensor", "rad2deg", "rand_like", "randint_like", "randn_like", "randperm",
    "reduce_scatter_tensor", "reduce_scatter_tensor_coalesced", "reflection_pad1d", "reflection_pad1d_backward",
    "reflection_pad2d", "reflection_pad2d_backward", "reflection_pad3d", "relu_", "repeat_interleave", "replication_pad1d",
    "replication_pad2d", "replication_pad3d", "rms_norm", "roi_align", "rrelu_with_noise", "rrelu_with_noise_backward",
    "rsub", "scalar_tensor", "scaled_dot_product_attention", "scaled_grouped_mm", "scaled_mm", "scatter_", "scatter_add",
    "scatter_add_", "scatter_reduce", "scatter_upon_const_tensor", "searchsorted", "segment_reduce", "select_backward",
    "select_copy", "select_scatter", "sigmoid_backward", "silu_backward", "slice_backward", "slice_copy", "slice_scatter",
    "slow_conv2d_forward", "slow_conv3d_forward", "smooth_l1_loss", "smooth_l1_loss_backward", "soft_margin_loss",
    "soft_margin_loss_backward", "softmax_backward", "softplus_backward", "softshrink_backward", "sort_stable",
    "special_bessel_j0", "special_bessel_j1", "special_erfcx", "special_i0e", "special_i1", "special_i1e",
    "special_log_ndtr", "special_ndtri", "special_xlog1py", "split_with_sizes", "split_with_sizes_copy", "squeeze_copy",
    "std_mean", "sub_", "sym_size", "t_copy", "take_along_dim", "tanh_backward", "tensor_split", "tensordot",
    "threshold_backward", "to_sparse", "transpose_copy", "triangular_solve", "tril_indices",
    "triton_kernel_wrapper_functional", "triton_kernel_wrapper_mutation", "triu_indices", "true_divide", "unfold_backward",
    "unfold_copy", "unsafe_chunk", "unsafe_split", "unsqueeze_copy", "upsample_bicubic2d", "upsample_bicubic2d_backward",
    "upsample_bilinear2d", "upsample_bilinear2d_backward", "upsample_linear1d", "upsample_linear1d_backward",
    "upsample_nearest1d", "upsample_nearest2d", "upsample_nearest2d_backward", "upsample_nearest3d", "upsample_trilinear3d",
    "upsample_trilinear3d_backward", "value_selecting_reduction_backward", "var_mean", "view_as", "view_as_complex",
    "view_as_real", "view_copy", "wait_tensor", "weight_norm", "zero_", "zeros_like",
    // names without
    "abs", "acos", "acosh", "add", "addbmm", "addcdiv", "addcmul", "addmm", "addmv", "addr", "alias", "all", "amax", "amin",
    "aminmax", "angle", "any", "arange", "asin", "asinh", "atan", "atan2", "atanh", "baddbmm", "bernoulli", "bincount",
    "bmm", "bucketize", "cat", "cauchy", "cdist", "ceil", "celu", "chunk", "clamp", "clone", "complex", "contiguous",
    "copy", "copysign", "cos", "cosh", "cummax", "cummin", "cumprod", "cumsum", "detach", "diag", "diagonal", "digamma",
    "div", "dot", "dropout", "elu", "embedding", "empty", "eq", "erf", "erfc", "erfinv", "exp", "exp2", "expand", "expm1",
    "exponential", "eye", "fill", "flip", "floor", "fmax", "fmin", "fmod", "frac", "frexp", "full", "gather", "gcd", "ge",
    "gelu", "geometric", "glu", "gt", "hardsigmoid", "hardswish", "hardtanh", "heaviside", "histc", "hypot", "i0", "igamma",
    "igammac", "index", "isfinite", "isinf", "isnan", "item", "kthvalue", "le", "lerp", "lgamma", "lift", "linear",
    "linspace", "log", "log10", "log1p", "log2", "logaddexp", "logaddexp2", "logcumsumexp", "logit", "logspace",
    "logsumexp", "lt", "matmul", "max", "maximum", "mean", "median", "min", "minimum", "mish", "mm", "mode", "mul", "mv",
    "mvlgamma", "nanmedian", "narrow", "ne", "neg", "nextafter", "nonzero", "norm", "normal", "ones", "permute", "poisson",
    "polygamma", "pow", "prelu", "prod", "put", "rand", "randint", "randn", "reciprocal", "relu", "relu6", "remainder",
    "renorm", "repeat", "reshape", "resize", "roll", "rot90", "round", "rsqrt", "scatter", "select", "selu", "sgn",
    "sigmoid", "sign", "signbit", "silu", "sin", "sinc", "sinh", "slice", "softmax", "softplus", "softshrink", "sort",
    "split", "sqrt", "square", "squeeze", "stack", "std", "sub", "sum", "t", "take", "tan", "tanh", "threshold", "topk",
    "trace", "transpose", "trapezoid", "tril", "triu", "trunc", "unbind", "unfold", "uniform", "unique", "unsqueeze", "var",
    "vdot", "view", "where", "xlogy", "zero", "zeros",
};
// clang-format on

constexpr std::size_t kLongest = std::max_element(std::begin(kOps), std::end(kOps), [](std::string_view a, std::string_view b) {
                                   return a.size() < b.size();
                                 })->size();

const std::unordered_set<std::string_view>& known() {
  static const auto& set = lasting(std::unordered_set<std::string_view>(std::begin(kOps), std::end(kOps)));
  return set;
}

// Length of the name at the front of `text`.
std::size_t first_name(std::string_view text) {
  for (std::size_t n = std::min(text.size(), kLongest); n > 0; --n) {
    if ((n == text.size() || text[n] == '_') && is_known_op(text.substr(0, n))) return n;
  }
  const std::size_t underscore = text.find('_', 1);
  return underscore == std::string_view::npos ? text.size() : underscore;
}

}  // namespace

bool is_known_op(std::string_view name) { return known().contains(name); }

std::vector<std::string> split_op_names(std::string_view joined) {
  std::vector<std::string> names;
  while (!joined.empty()) {
    const std::size_t n = first_name(joined);
    names.emplace_back(joined.substr(0, n));
    joined.remove_prefix(std::min(joined.size(), n + 1));
  }
  return names;
}

}  // namespace ridge
