// Convolutions, forward and backward, in every spelling that reaches a trace.
//
// FLOPs (torch/utils/flop_counter.py): 2 N w[0] w[1] prod(kernel) prod(positions), where the positions are those of the output,
// or of the input when transposed. The weight is [C_out, C_in / groups, kernel], so groups need no term of their own. Each of
// the two gradients costs what the forward pass does; PyTorch's counter multiplies that of a grouped weight by `groups`, which
// no kernel computes.
#include <algorithm>
#include <cmath>

#include "ops/operands.h"

namespace ridge {
namespace {

using At = ConvolutionPositions;
using Transposed = At::Transposed;

std::int64_t nth(const std::vector<std::int64_t>& list, std::size_t i, std::int64_t otherwise) {
  if (list.empty()) return otherwise;
  return i < list.size() ? list[i] : list.back();  // one number stands for all dimensions
}

std::vector<std::int64_t> list_at(const OpCall& call, int position, bool* known) {
  if (position < 0) return {};
  auto list = integers_at(call, static_cast<std::size_t>(position));
  if (!list) *known = false;
  return list.value_or(std::vector<std::int64_t>());
}

double spatial(const TensorShape& t) {
  double n = 1;
  for (std::size_t i = 2; i < t.sizes.size(); ++i) n *= static_cast<double>(t.sizes[i]);
  return n;
}

bool is_transposed(const OpCall& call, const At& at) {
  if (at.transposed == Transposed::argument) return flag_at(call, static_cast<std::size_t>(at.transposed_at));
  return at.transposed == Transposed::yes;
}

// Elements of one image of the output, all channels left out; nothing when a constant that matters was not recorded.
std::optional<double> output_positions(const OpCall& call, const TensorShape& x, const TensorShape& w, const At& at) {
  bool known = true;
  const auto stride = list_at(call, at.stride, &known);
  const auto padding = list_at(call, at.padding, &known);
  const auto dilation = list_at(call, at.dilation, &known);
  const auto output_padding = list_at(call, at.output_padding, &known);
  if (!known) return std::nullopt;
  double positions = 1;
  for (std::size_t i = 2; i < x.sizes.size(); ++i) {
    const double in = static_cast<double>(x.sizes[i]);
    const double s = static_cast<double>(nth(stride, i - 2, 1)), p = static_cast<double>(nth(padding, i - 2, 0));
    const double reach = static_cast<double>(nth(dilation, i - 2, 1)) * static_cast<double>(w.sizes[i] - 1);
    if (s <= 0) return std::nullopt;
    const double out = is_transposed(call, at)
                           ? (in - 1) * s - 2 * p + reach + static_cast<double>(nth(output_padding, i - 2, 0)) + 1
                           : std::floor((in + 2 * p - reach - 1) / s) + 1;
    positions *= std::max(out, 0.0);
  }
  return positions;
}

double flops_at(const TensorShape& x, const TensorShape& w, double positions) {
  return 2 * positions * spatial(w) * static_cast<double>(x.sizes[0]) * static_cast<double>(w.sizes[0]) *
         static_cast<double>(w.sizes[1]);
}

bool fit(const TensorShape* x, const TensorShape* w) {
  return x != nullptr && w != nullptr && x->sizes.size() >= 3 && x->sizes.size() == w->sizes.size() && x->sizes.size() <= 8;
}

// Bytes of an operand in the library's own layout: channels padded, tiles enlarged by a transform.
std::optional<double> in_layout(const TensorShape* t, const ConvolutionPart& part) {
  const auto bytes = dense_bytes(t);
  if (!bytes || t->sizes.size() < 2 || t->sizes[1] <= 0) return bytes;
  const double channels = static_cast<double>(t->sizes[1]);
  return *bytes * std::ceil(channels / part.channel_multiple) * part.channel_multiple / channels * part.enlarged;
}

// The part of the input's positions that the windows reach: a stride beyond the kernel's size leaves positions out. Of the last
// dimension only where all channels of a position lie together: else neighbours share a sector.
double reached(const OpCall& call, const TensorShape& x, const TensorShape& w, int stride_at, int dilation_at,
               const ConvolutionPart& part) {
  bool known = true;
  const auto stride = list_at(call, stride_at, &known);
  const auto dilation = list_at(call, dilation_at, &known);
  if (!known) return 1;
  double share = 1;
  for (std::size_t i = 2; i < x.sizes.size(); ++i) {
    const double s = static_cast<double>(nth(stride, i - 2, 1)), k = static_cast<double>(w.sizes[i]);
    const bool sparse = nth(dilation, i - 2, 1) > 1 && k > 1;
    if (sparse || s <= k || k <= 0 || (i + 1 == x.sizes.size() && !part.channels_last)) continue;
    const double in = std::max(static_cast<double>(x.sizes[i]), 1.0);
    share *= std::min(1.0, std::ceil(in / s) * k / in);
  }
  return share;
}

// Channels that are not a multiple of what the library wants are padded: each position's sectors are written in parts, and
// those that leave the cache before they are whole are fetched to be completed. Counters of an H200 (four kernels, 13 to 51 MB)
// show all but 5 to 7 MB.
double fetched_to_pad(const TensorShape* t, const ConvolutionPart& part, double cache) {
  const double dense = dense_bytes(t).value_or(0), padded = in_layout(t, part).value_or(0);
  return padded > dense ? completed_bytes(padded, cache) : 0;
}

// What the helpers of the library move; nothing for the roles that compute.
std::optional<OpWork> helper(const OpCall& call, KernelRole role, const ConvolutionPart& part, const TensorShape& result,
                             DType dtype, double cache) {
  const auto result_bytes = dense_bytes(&result);
  switch (role) {
    case KernelRole::initialise: return moves(0, 0, dtype);
    case KernelRole::fill: return moves(0, part.partial_bytes > 0 ? part.partial_bytes : result_bytes, dtype);
    case KernelRole::layout_out:
      return moves(part.partial_bytes > 0 ? part.partial_bytes : in_layout(&result, part), result_bytes, dtype);
    case KernelRole::bias: return moves(result_bytes, result_bytes, dtype);
    case KernelRole::combine: return moves(part.partial_bytes, result_bytes, dtype);
    case KernelRole::layout_in: {
      if (part.partial_bytes > 0) return moves(part.partial_bytes, part.partial_bytes, dtype);
      const TensorShape* operand = tensor_at(call, static_cast<std::size_t>(std::max(part.operand, 0)));
      return moves(plus(dense_bytes(operand), part.enlarged == 1 ? fetched_to_pad(operand, part, cache) : 0),
                   in_layout(operand, part), dtype);
    }
    default: return std::nullopt;
  }
}

OpWork forward(const OpCall& call, const Part& whole_part, double cache, const At& at) {
  const KernelRole role = whole_part.role;
  const ConvolutionPart part = whole_part.as<ConvolutionPart>();
  const TensorShape* x = tensor_at(call, 0);
  const TensorShape* w = tensor_at(call, 1);
  if (!fit(x, w)) return {};
  const auto positions = output_positions(call, *x, *w, at);
  TensorShape result{{}, {}, x->dtype};
  std::optional<double> flops;
  if (positions) {
    const bool transposed = is_transposed(call, at);
    // Channels of a transposed output: w[1] times the groups, which its input channels tell: x[1] = w[0] is split over them.
    const double groups = at.groups < 0 ? 1 : number_at(call, static_cast<std::size_t>(at.groups)).value_or(1);
    const double channels =
        transposed ? static_cast<double>(w->sizes[1]) * std::max(groups, 1.0) : static_cast<double>(w->sizes[0]);
    const auto whole = [](double n) { return static_cast<std::int64_t>(std::min(n, 9e18)); };
    result.sizes = {x->sizes[0], whole(channels), whole(*positions)};
    flops = flops_at(*x, *w, transposed ? spatial(*x) : *positions);
  }
  if (const auto help = helper(call, role, part, result, x->dtype, cache)) {
    return positions || role == KernelRole::layout_in || role == KernelRole::initialise ? *help : moves({}, {}, x->dtype);
  }
  OpWork work{.flops = flops, .dtype = x->dtype};
  const TensorShape* bias = at.bias < 0 ? nullptr : tensor_at(call, static_cast<std::size_t>(at.bias));
  const double share = is_transposed(call, at) ? 1 : reached(call, *x, *w, at.stride, at.dilation, part);
  work.read = plus(plus(times(in_layout(x, part), share), times(in_layout(w, part), part.weights_enlarged)),
                   touched_or_zero(bias) + part.reread_bytes);
  if (positions) work.written = part.partial_bytes > 0 ? part.partial_bytes : dense_bytes(&result);
  if (part.accumulates && positions) work.read = plus(work.read, dense_bytes(&result));
  return work;
}

// (grad_out, x, w, ..): the gradients that the mask asks for.
OpWork backward(const OpCall& call, const Part& whole_part, double cache, const At& at) {
  const KernelRole role = whole_part.role;
  const ConvolutionPart part = whole_part.as<ConvolutionPart>();
  const bool transposed = is_transposed(call, at);
  const TensorShape* grad = tensor_at(call, 0);
  const TensorShape* x = tensor_at(call, 1);
  const TensorShape* w = tensor_at(call, 2);
  if (!fit(x, w) || !fit(grad, w)) return {};
  const bool of_weight = role == KernelRole::grad_weight || part.operand == 2;  // which result a helper serves
  if (const auto help = helper(call, role, part, of_weight ? *w : *x, grad->dtype, cache)) return *help;
  const std::vector<bool> mask = flags_at(call, static_cast<std::size_t>(at.mask));
  const double each = flops_at(*x, *w, spatial(transposed ? *x : *grad));
  const bool input = mask.empty() || mask[0], weight = mask.size() < 2 || mask[1];
  OpWork work{.dtype = grad->dtype};
  switch (role) {
    case KernelRole::grad_input:
      work.flops = input ? each : 0;
      work.read = plus(in_layout(grad, part), times(in_layout(w, part), part.weights_enlarged));
      work.read = plus(work.read, part.reread_bytes + (part.accumulates ? dense_bytes(x).value_or(0) : 0));
      work.written = dense_bytes(x);
      return work;
    case KernelRole::grad_weight:
      work.flops = weight ? each : 0;
      work.read = plus(in_layout(grad, part),
                       times(in_layout(x, part), transposed ? 1 : reached(call, *x, *w, at.stride, at.dilation, part)));
      work.read = plus(work.read, part.reread_bytes + (part.accumulates ? dense_bytes(w).value_or(0) : 0));
      work.written = part.partial_bytes > 0 ? part.partial_bytes : dense_bytes(w);
      return work;
    default:  // a kernel that does not say which: the whole op
      work.flops = each * ((input ? 1 : 0) + (weight ? 1 : 0));
      work.read = plus(plus(dense_bytes(grad), dense_bytes(x)), dense_bytes(w));
      work.written = plus(input ? dense_bytes(x) : 0, weight ? dense_bytes(w) : 0);
      return work;
  }
}

OpWork cudnn_add_relu(const OpCall& c, const Part& p, double cache, const At& at) {
  OpWork work = forward(c, p, cache, at);
  if (p.role == KernelRole::main) work.read = plus(work.read, touched_or_zero(tensor_at(c, 2)));
  return work;
}

// A row whose formula reads the arguments at the row's own positions.
using FormulaAt = OpWork (*)(const OpCall&, const Part&, double cache, const At&);
template <At at, FormulaAt formula>
OpWork work_at(const OpCall& c, const Part& p, double cache) {
  return formula(c, p, cache, at);
}
template <At at, FormulaAt formula = forward>
constexpr OpFormula row(std::string_view op) {
  return {op, OpFamily::convolution, work_at<at, formula>, "convolution", at};
}
template <At at>
constexpr OpFormula backward_row(std::string_view op) {
  return {op, OpFamily::convolution, work_at<at, backward>, "convolution_backward", at};
}

constexpr At kConvolution{.stride = 3,
                          .padding = 4,
                          .dilation = 5,
                          .output_padding = 7,
                          .bias = 2,
                          .groups = 8,
                          .transposed = Transposed::argument,
                          .transposed_at = 6};
constexpr At kCudnn{.stride = 3, .padding = 2, .dilation = 4, .groups = 5};
constexpr At kCudnnTranspose{
    .stride = 4, .padding = 2, .dilation = 5, .output_padding = 3, .groups = 6, .transposed = Transposed::yes};
constexpr At kCudnnAddRelu{.stride = 5, .padding = 6, .dilation = 7, .bias = 4, .groups = 8};
constexpr At kMiopen{.stride = 4, .padding = 3, .dilation = 5, .bias = 2, .groups = 6};
constexpr At kMiopenTranspose{
    .stride = 5, .padding = 3, .dilation = 6, .output_padding = 4, .bias = 2, .groups = 7, .transposed = Transposed::yes};
constexpr At kSlow{.stride = 4, .padding = 5, .bias = 3};
constexpr At kSlowTranspose{
    .stride = 4, .padding = 5, .dilation = 7, .output_padding = 6, .bias = 3, .transposed = Transposed::yes};
constexpr At kDepthwise{.stride = 4, .padding = 5, .dilation = 6, .bias = 3};
constexpr At kConvNd{.stride = 3, .padding = 4, .dilation = 5, .bias = 2, .groups = 6};  // cudnn_convolution_relu as well
constexpr At kConvolutionBackward{
    .stride = 4, .padding = 5, .dilation = 6, .groups = 9, .transposed = Transposed::argument, .transposed_at = 7, .mask = 10};
constexpr At kDepthwiseBackward{.mask = 7}, kSlowBackward{.mask = 6};

constexpr OpFormula kRows[] = {
    row<kConvolution>("aten::convolution"),
    row<kConvolution>("aten::_convolution"),
    row<kConvolution>("aten::convolution_overrideable"),
    row<kCudnn>("aten::cudnn_convolution"),
    row<kCudnnTranspose>("aten::cudnn_convolution_transpose"),
    row<kConvNd>("aten::cudnn_convolution_relu"),
    row<kCudnnAddRelu, cudnn_add_relu>("aten::cudnn_convolution_add_relu"),
    row<kMiopen>("aten::miopen_convolution"),
    row<kMiopen>("aten::miopen_depthwise_convolution"),
    row<kMiopen>("aten::mkldnn_convolution"),
    row<kMiopenTranspose>("aten::miopen_convolution_transpose"),
    row<kSlow>("aten::_slow_conv2d_forward"),
    row<kSlow>("aten::thnn_conv2d"),
    row<kSlow>("aten::slow_conv3d_forward"),
    row<kDepthwise>("aten::slow_conv_dilated2d"),
    row<kDepthwise>("aten::slow_conv_dilated3d"),
    row<kSlowTranspose>("aten::slow_conv_transpose2d"),
    row<kSlowTranspose>("aten::slow_conv_transpose3d"),
    row<kDepthwise>("aten::_conv_depthwise2d"),
    row<kDepthwise>("aten::conv_depthwise3d"),
    row<kConvNd>("aten::conv1d"),
    row<kConvNd>("aten::conv2d"),
    row<kConvNd>("aten::conv3d"),
    backward_row<kConvolutionBackward>("aten::convolution_backward"),
    backward_row<kConvolutionBackward>("aten::convolution_backward_overrideable"),
    backward_row<kDepthwiseBackward>("aten::_conv_depthwise2d_backward"),
    backward_row<kDepthwiseBackward>("aten::conv_depthwise3d_backward"),
    backward_row<kSlowBackward>("aten::_slow_conv2d_backward"),
};

}  // namespace

std::span<const OpFormula> convolution_ops() { return kRows; }

}  // namespace ridge
