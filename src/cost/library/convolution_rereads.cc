// Convolutions: what their kernels read again, because they go over an operand several times and it does not stay in the cache.
#include <algorithm>
#include <cmath>

#include "cost/library/call_parts.h"
#include "ops/operands.h"

namespace ridge {
namespace {

void read_again(CallParts& c, std::size_t i, double bytes) {
  c.parts[i].edit<ConvolutionPart>().reread_bytes = bytes;
  c.parts[i].guessed = c.parts[i].guessed || bytes > 0;
}
double padded_bytes(const TensorShape& t, const Part& part) {
  const double multiple = part.as<ConvolutionPart>().channel_multiple;
  const double channels = t.sizes.size() > 1 ? static_cast<double>(std::max<std::int64_t>(t.sizes[1], 1)) : 1;
  return dense_bytes(&t).value_or(0) * std::ceil(channels / multiple) * multiple / channels;
}

// The gradient of a strided convolution's input, by a kernel made for it: positions are done phase by phase of the stride, each
// of which goes over the whole gradient of the output; phases that no weight reaches are only cleared.
void phases_take_gradient_again(CallParts& c, std::size_t i) {
  const TensorShape* grad = tensor_at(c.call, 0);
  const TensorShape* x = tensor_at(c.call, 1);
  const TensorShape* w = tensor_at(c.call, 2);
  const auto* at = std::get_if<ConvolutionPositions>(&c.row.positions);
  const auto stride =
      at == nullptr || at->stride < 0 ? std::nullopt : integers_at(c.call, static_cast<std::size_t>(at->stride));
  if (!c.backward() || grad == nullptr || x == nullptr || w == nullptr || !stride || stride->empty()) return;
  if (c.launches[i].kernel.find("_strided_") == std::string_view::npos || w->sizes.size() != x->sizes.size()) return;
  double phases = 1;
  for (std::size_t d = 2; d < x->sizes.size(); ++d)
    phases *=
        static_cast<double>(std::max<std::int64_t>(std::min((*stride)[std::min(d - 2, stride->size() - 1)], w->sizes[d]), 1));
  const double read = dense_bytes(grad).value_or(0), written = dense_bytes(x).value_or(0) / phases;
  read_again(c, i, (phases - 1) * read * share_lost_between_passes(read, written, c.context.device.cache));
}

// Blocks go along the positions, row by row of tiles of output channels, each of which takes the whole input; as many rows at a
// time as the device runs blocks of them, which for cutlass is about one.
void rows_take_input_again(CallParts& c, std::size_t i) {
  const CallLaunch& launch = c.launches[i];
  const TensorShape* x = tensor_at(c.call, 0);
  const auto holds = [&](std::string_view text) { return launch.kernel.find(text) != std::string_view::npos; };
  const bool small_blocks = holds("implicit_convolve_sgemm");  // of 64 threads
  if (c.backward() || !(small_blocks || (holds("cutlass") && holds("fprop"))) || x == nullptr || !launch.grid) return;
  if (launch.grid->y <= 1 || launch.grid->z != 1 || launch.grid->x <= 0) return;
  constexpr double kBlocks = 16;  // to a multiprocessor
  const double rows = static_cast<double>(launch.grid->y), read = padded_bytes(*x, c.parts[i]);
  const double at_a_time = small_blocks ? kBlocks * c.context.device.multiprocessors / static_cast<double>(launch.grid->x) : 1;
  const double passes = std::max(rows / std::max(at_a_time, 1.0), 1.0);
  const double written = c.work().written.value_or(0) / passes;
  read_again(c, i, (passes - 1) * read * share_lost_between_passes(read, written, c.context.device.cache));
}

// Persistent kernels that have more tiles of the weight's gradient than blocks: each wave of blocks goes over all positions of
// both operands.
void waves_take_operands_again(CallParts& c, std::size_t i) {
  const CallLaunch& launch = c.launches[i];
  const KernelFacts& facts = *launch.facts;
  const TensorShape* grad = tensor_at(c.call, 0);
  const TensorShape* x = tensor_at(c.call, 1);
  const TensorShape* w = tensor_at(c.call, 2);
  if (launch.kernel.find("sm90_xmma_wgrad") == std::string_view::npos || launch.kernel.find("_g1_") == std::string_view::npos)
    return;
  if (grad == nullptr || x == nullptr || w == nullptr || w->sizes.size() < 3 || facts.tile_m <= 0 || facts.tile_n <= 0) return;
  if (!launch.grid || launch.grid->y != 1 || launch.grid->z != 1 || launch.grid->x <= 0) return;
  const double outputs = static_cast<double>(w->sizes[0]), inputs = static_cast<double>(w->sizes[1]);
  const double taps = numel(*w) / std::max(outputs * inputs, 1.0);
  const double waves =
      std::ceil(outputs / facts.tile_m) * std::ceil(inputs / facts.tile_n) * taps / static_cast<double>(launch.grid->x);
  if (waves <= 1) return;
  const double read = padded_bytes(*grad, c.parts[i]) + padded_bytes(*x, c.parts[i]);
  const double written = numel(*w) * item_bytes(DType::f32) / waves;
  read_again(c, i, (waves - 1) * read * share_lost_between_passes(read + written, 0, c.context.device.cache));
}

}  // namespace

void assign_convolution_rereads(CallParts& c, std::size_t i) {
  const KernelRole role = c.parts[i].role;
  if (role == KernelRole::main) rows_take_input_again(c, i);
  if (role == KernelRole::grad_input) phases_take_gradient_again(c, i);
  if (role == KernelRole::grad_weight) waves_take_operands_again(c, i);
}

}  // namespace ridge
