// Pooling, resampling, padding, unfolding: the input once, the result once.
#include <algorithm>
#include <cmath>

#include "ops/operands.h"

namespace ridge {
namespace {

// Elements of a result whose last dimensions are `spatial`.
double resized(const TensorShape& x, const std::vector<std::int64_t>& spatial) {
  double n = 1;
  const std::size_t kept = x.sizes.size() > spatial.size() ? x.sizes.size() - spatial.size() : 0;
  for (std::size_t i = 0; i < kept; ++i) n *= static_cast<double>(x.sizes[i]);
  for (const std::int64_t s : spatial) n *= static_cast<double>(std::max<std::int64_t>(s, 0));
  return n;
}

// (x, kernel, stride, padding, ..): pooled size; nothing where the kernel's is not told.
std::optional<double> pooled(const OpCall& c, const TensorShape& x, bool dilated, std::size_t ceil_at) {
  const auto kernel = integers_at(c, 1), stride = integers_at(c, 2), padding = integers_at(c, 3);
  const auto dilation = dilated ? integers_at(c, 4) : std::nullopt;
  if (!kernel || kernel->empty()) return std::nullopt;
  const std::size_t rank = kernel->size();
  if (x.sizes.size() < rank) return std::nullopt;
  const auto nth = [](const std::optional<std::vector<std::int64_t>>& list, std::size_t i, std::int64_t otherwise) {
    return !list || list->empty() ? otherwise : (*list)[std::min(i, list->size() - 1)];
  };
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < rank; ++i) {
    const double in = static_cast<double>(x.sizes[x.sizes.size() - rank + i]);
    const double k = static_cast<double>((*kernel)[i]), s = static_cast<double>(nth(stride, i, (*kernel)[i]));
    const double reach = static_cast<double>(nth(dilation, i, 1)) * (k - 1);
    const double steps = (in + 2 * static_cast<double>(nth(padding, i, 0)) - reach - 1) / std::max(s, 1.0);
    out.push_back(
        static_cast<std::int64_t>(std::clamp(flag_at(c, ceil_at) ? std::ceil(steps) + 1 : std::floor(steps) + 1, 0.0, 9e15)));
  }
  return resized(x, out);
}

OpWork max_pool(const OpCall& c, const Part&) {
  const TensorShape* x = tensor_at(c, 0);
  if (x == nullptr) return {.flops = 0};
  return moves(touched(x), times(pooled(c, *x, true, 5), item_bytes(x->dtype) + item_bytes(DType::i64)), x->dtype);
}
OpWork avg_pool(const OpCall& c, const Part&) {
  const TensorShape* x = tensor_at(c, 0);
  if (x == nullptr) return {.flops = 0};
  return moves(touched(x), times(pooled(c, *x, false, 4), item_bytes(x->dtype)), x->dtype);
}
// (grad, x, .., indices): the gradient and, where the op has them, the int64 indices; never x.
OpWork pool_backward(const OpCall& c, const Part& p) {
  const TensorShape* grad = tensor_at(c, 0);
  const TensorShape* x = tensor_at(c, 1);
  if (grad == nullptr || x == nullptr) return {.flops = 0};
  if (p.role == KernelRole::fill) return moves(0, dense_bytes(x), x->dtype);
  double indices = 0;
  for (std::size_t i = 2; i < c.arguments.size(); ++i) {
    const TensorShape* t = tensor_at(c, i);
    if (t != nullptr && (t->dtype == DType::i64 || t->dtype == DType::i32)) indices += touched_bytes(*t);
  }
  // What is added to is read; with indices that is one place for each gradient, a sector of memory at least.
  constexpr double kSector = 32;
  const bool accumulates = p.as<PoolingPart>().accumulates;
  double added_to = accumulates ? dense_bytes(x).value_or(0) : 0;
  if (indices > 0) added_to = std::min(added_to, numel(*grad) * kSector);
  OpWork work = moves(plus(dense_bytes(grad), indices + added_to), dense_bytes(x), x->dtype);
  // Channels-last maxima are undone by blocks whose windows overlap: how much of them is read again is not told.
  work.ambiguous = indices > 0 && !accumulates && x->strides.size() == 4 && x->strides[1] == 1 && x->sizes[1] > 1;
  return work;
}
// (x, output size): adaptive pooling and resampling.
OpWork resize(const OpCall& c, double extra_item) {
  const TensorShape* x = tensor_at(c, 0);
  if (x == nullptr) return {.flops = 0};
  const auto size = integers_at(c, 1);
  OpWork work = moves(touched(x), std::nullopt, x->dtype);
  if (size) work.written = resized(*x, *size) * (item_bytes(x->dtype) + extra_item);
  return work;
}
OpWork to_size(const OpCall& c, const Part&) { return resize(c, 0); }
OpWork to_size_with_index(const OpCall& c, const Part&) { return resize(c, item_bytes(DType::i64)); }
// (grad, output size, input size, ..)
OpWork resample_backward(const OpCall& c, const Part& p) {
  const TensorShape* grad = tensor_at(c, 0);
  if (grad == nullptr) return {.flops = 0};
  const auto size = integers_at(c, 2);
  std::optional<double> written;
  if (size) {
    written = item_bytes(grad->dtype);
    for (const std::int64_t s : *size) *written *= static_cast<double>(std::max<std::int64_t>(s, 0));
  }
  if (p.role == KernelRole::fill) return moves(0, written, grad->dtype);
  // Each gradient is added to several places with atomics, which read them; the nearest has only one.
  const bool adds = c.op.find("nearest") == std::string_view::npos;
  return moves(plus(dense_bytes(grad), adds ? written.value_or(0) : 0), written, grad->dtype);
}
// (x, padding): pairs of two ends, the last dimension first.
OpWork pad(const OpCall& c, const Part&) {
  const TensorShape* x = tensor_at(c, 0);
  if (x == nullptr) return {.flops = 0};
  OpWork work = moves(touched(x), std::nullopt, x->dtype);
  const auto ends = integers_at(c, 1);
  if (!ends) return work;
  double n = 1;
  for (std::size_t i = 0; i < x->sizes.size(); ++i) {
    const std::size_t from_back = x->sizes.size() - 1 - i;
    double size = static_cast<double>(x->sizes[i]);
    if (2 * from_back + 1 < ends->size())
      size += static_cast<double>((*ends)[2 * from_back]) + static_cast<double>((*ends)[2 * from_back + 1]);
    n *= std::max(size, 0.0);
  }
  work.written = n * item_bytes(x->dtype);
  return work;
}
// (x, kernel, dilation, padding, stride): every element in each window that holds it.
OpWork unfold(const OpCall& c, const Part&) {
  const TensorShape* x = tensor_at(c, 0);
  if (x == nullptr) return {.flops = 0};
  return moves(touched(x), std::nullopt, x->dtype);
}
// (x, grid, ..)
OpWork grid_sample(const OpCall& c, const Part&) {
  const TensorShape* x = tensor_at(c, 0);
  const TensorShape* grid = tensor_at(c, 1);
  if (x == nullptr || grid == nullptr || x->sizes.size() < 3) return {.flops = 0};
  const double points = numel(*grid) / std::max<double>(1, static_cast<double>(grid->sizes.empty() ? 1 : grid->sizes.back()));
  return moves(plus(touched(x), touched(grid)), points * static_cast<double>(x->sizes[1]) * item_bytes(x->dtype), x->dtype);
}

// (grad, x, grid, .., mask): the gradient of x is added to with atomics, which read it.
OpWork grid_sample_backward(const OpCall& c, const Part& p) {
  const TensorShape* grad = tensor_at(c, 0);
  const TensorShape* x = tensor_at(c, 1);
  const TensorShape* grid = tensor_at(c, 2);
  if (grad == nullptr || x == nullptr || grid == nullptr) return {.flops = 0};
  const std::vector<bool> mask = flags_at(c, 6);
  const double of_input = mask.empty() || mask[0] ? dense_bytes(x).value_or(0) : 0;
  if (p.role == KernelRole::fill) return moves(0, of_input, x->dtype);
  return moves(plus(plus(dense_bytes(grad), dense_bytes(x)), touched_bytes(*grid) + of_input), of_input + touched_bytes(*grid),
               x->dtype);
}

constexpr OpFamily kFamily = OpFamily::pooling;
constexpr OpFormula kRows[] = {
    {"aten::max_pool2d_with_indices", kFamily, max_pool, "max_pool2d"},
    {"aten::max_pool3d_with_indices", kFamily, max_pool, "max_pool3d"},
    {"aten::avg_pool2d", kFamily, avg_pool},
    {"aten::avg_pool3d", kFamily, avg_pool},
    {"aten::adaptive_avg_pool2d", kFamily, to_size, "mean"},
    {"aten::_adaptive_avg_pool2d", kFamily, to_size, "mean"},
    {"aten::_adaptive_avg_pool3d", kFamily, to_size},
    {"aten::adaptive_max_pool2d", kFamily, to_size_with_index},
    {"aten::adaptive_max_pool3d", kFamily, to_size_with_index},
    {"aten::max_pool2d_with_indices_backward", kFamily, pool_backward, "max_pool2d_backward"},
    {"aten::max_pool3d_with_indices_backward", kFamily, pool_backward, "max_pool3d_backward"},
    {"aten::avg_pool2d_backward", kFamily, pool_backward},
    {"aten::avg_pool3d_backward", kFamily, pool_backward},
    {"aten::_adaptive_avg_pool2d_backward", kFamily, pool_backward, "mean_backward"},
    {"aten::_adaptive_avg_pool3d_backward", kFamily, pool_backward},
    {"aten::adaptive_max_pool2d_backward", kFamily, pool_backward},
    {"aten::upsample_nearest1d", kFamily, to_size, "upsample"},
    {"aten::upsample_nearest2d", kFamily, to_size, "upsample"},
    {"aten::upsample_nearest3d", kFamily, to_size, "upsample"},
    {"aten::_upsample_nearest_exact2d", kFamily, to_size},
    {"aten::upsample_linear1d", kFamily, to_size, "upsample"},
    {"aten::upsample_bilinear2d", kFamily, to_size, "upsample"},
    {"aten::_upsample_bilinear2d_aa", kFamily, to_size},
    {"aten::upsample_bicubic2d", kFamily, to_size, "upsample"},
    {"aten::_upsample_bicubic2d_aa", kFamily, to_size},
    {"aten::upsample_trilinear3d", kFamily, to_size, "upsample"},
    {"aten::upsample_nearest1d_backward", kFamily, resample_backward},
    {"aten::upsample_nearest2d_backward", kFamily, resample_backward},
    {"aten::upsample_nearest3d_backward", kFamily, resample_backward},
    {"aten::_upsample_nearest_exact2d_backward", kFamily, resample_backward},
    {"aten::upsample_linear1d_backward", kFamily, resample_backward, "index_put"},
    {"aten::upsample_bilinear2d_backward", kFamily, resample_backward, "index_put"},
    {"aten::upsample_bicubic2d_backward", kFamily, resample_backward, "index_put"},
    {"aten::upsample_trilinear3d_backward", kFamily, resample_backward, "index_put"},
    {"aten::reflection_pad1d", kFamily, pad},
    {"aten::reflection_pad2d", kFamily, pad},
    {"aten::reflection_pad3d", kFamily, pad},
    {"aten::replication_pad1d", kFamily, pad},
    {"aten::replication_pad2d", kFamily, pad},
    {"aten::replication_pad3d", kFamily, pad},
    {"aten::reflection_pad1d_backward", kFamily, pool_backward},
    {"aten::reflection_pad2d_backward", kFamily, pool_backward},
    {"aten::reflection_pad3d_backward", kFamily, pool_backward},
    {"aten::replication_pad1d_backward", kFamily, pool_backward},
    {"aten::replication_pad2d_backward", kFamily, pool_backward},
    {"aten::replication_pad3d_backward", kFamily, pool_backward},
    {"aten::adaptive_max_pool3d_backward", kFamily, pool_backward},
    {"aten::im2col", kFamily, unfold},
    {"aten::col2im", kFamily, unfold},
    {"aten::grid_sampler_2d", kFamily, grid_sample},
    {"aten::grid_sampler_3d", kFamily, grid_sample},
    {"aten::grid_sampler_2d_backward", kFamily, grid_sample_backward},
    {"aten::grid_sampler_3d_backward", kFamily, grid_sample_backward},
};

}  // namespace

std::span<const OpFormula> pooling_ops() { return kRows; }

}  // namespace ridge
