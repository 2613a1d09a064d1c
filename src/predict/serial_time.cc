// What takes long however little it moves: kernels that give each row a block of its own, that go over a dimension step by step
// with few threads, or that are launched again and again. Nanoseconds as seen on an H200, by the kernels of PyTorch 2.11.
#include <algorithm>
#include <array>
#include <cmath>

#include "ops/operands.h"
#include "predict/feature_values.h"

namespace ridge::features {
namespace {

constexpr double kMeasuredUnits = 132;  // blocks are started by all multiprocessors together

double row_bytes(const TensorShape& t) {
  return t.sizes.empty() ? 0 : static_cast<double>(t.sizes.back()) * item_bytes(t.dtype);
}

bool has(std::string_view op, std::string_view part) { return op.find(part) != std::string_view::npos; }

// A block a row; where rows cannot be read four elements at once, a slower kernel.
double norm_of_rows(std::string_view op, const Span& span) {
  const bool whole = static_cast<std::int64_t>(span.along) % 4 == 0, rms = has(op, "rms_norm");
  if (is_backward(op)) return 0.85 * span.outer;
  return (!whole ? 5.2 : rms ? 0.65 : 1.1) * span.outer;
}

// A block a channel goes over all images, or a block a group over all of its elements.
double norm_of_images(std::string_view op, const Span& span, const TensorShape& x, bool training, double units) {
  const double images = static_cast<double>(x.sizes[0]), channels = static_cast<double>(x.sizes[1]);
  const double rounds = std::ceil(span.outer / (8 * units));
  if (has(op, "group_norm")) return is_backward(op) ? 0.6 * (images * channels + span.outer) : 0.38 * span.along * rounds;
  // Where each channel has but one element, channels lie last. cuDNN's kernels go over a channel in one piece, two blocks a
  // unit.
  const bool cudnn = !has(op, "native");
  if (channels_last(x) || span.inner <= 1) return 0;
  if (cudnn && (is_backward(op) || x.dtype != DType::f32))
    return (is_backward(op) ? 1.2 : 0.6) * span.along * std::ceil(span.outer / (2 * units));
  if (!training && !is_backward(op)) return 0;
  return images * std::max(30.0, 0.8 * span.inner) * rounds;
}

// Lists of tensors are worked on in launches of so many tensors (by the number of lists) and so many blocks.
double launches_of_lists(const OpCall& call) {
  constexpr std::array<double, 5> kTensors = {110, 64, 48, 36, 30};
  constexpr double kBlocks = 320, kOfBlock = 65536, kLaunch = 1800;
  double lists = 0, tensors = 0, blocks = 0;
  for (const OpArgument& a : call.arguments) {
    if (a.list.empty() || numel(a.list.front()) <= 1) continue;
    ++lists;
    if (lists > 1) continue;
    tensors = static_cast<double>(a.list.size());
    for (const TensorShape& t : a.list) blocks += std::ceil(numel(t) / kOfBlock);
  }
  if (lists == 0) return 0;
  const double at_once = kTensors[static_cast<std::size_t>(std::min(lists, 5.0)) - 1];
  return kLaunch * std::max(std::ceil(tensors / at_once), std::ceil(blocks / kBlocks));
}

double of_images(std::string_view op, const TensorShape& x) {
  const double images = static_cast<double>(x.sizes[0]), channels = static_cast<double>(x.sizes[1]);
  if (op == "upsample_bilinear2d") return 250 * images * (channels_last(x) ? 1 : channels);
  if (op == "upsample_nearest2d_backward") return 480 * images;
  if (op == "im2col") return 2000 * images;
  if (op == "_adaptive_avg_pool2d_backward") return 0.67 * images * channels;
  if (has(op, "max_pool2d") && channels_last(x)) return 0.7 * images;
  return 0;
}

}  // namespace

bool channels_last(const TensorShape& t) {
  return t.strides.size() == t.sizes.size() && t.sizes.size() > 2 && t.strides[1] == 1 && t.strides.back() >= t.sizes[1] &&
         t.sizes[1] > 1;
}

double serial_time(const OpCall& call, std::string_view op, std::string_view kind, const Span& span, const TensorShape* x,
                   double multiprocessors) {
  const double slower = kMeasuredUnits / std::max(multiprocessors, 1.0);
  if (kind == "optimizer") return launches_of_lists(call);
  if (x == nullptr || x->sizes.empty()) return 0;
  if (kind == "softmax") return span.inner > 1 ? (is_backward(op) ? 80 : 450) * span.along : 0;
  if (op == "embedding" || op == "index" || op == "index_select") {  // a block a row, where it can be read 16 bytes at once
    double picks = 0;
    each_tensor(call, [&](const TensorShape& t) {
      if (t.dtype == DType::i64 || t.dtype == DType::i32) picks = std::max(picks, numel(t));
    });
    return static_cast<std::int64_t>(row_bytes(*x)) % 16 == 0 && x->sizes.size() == 2 ? 0.6 * slower * picks : 0;
  }
  if (kind.starts_with("norm") && (has(op, "layer_norm") || has(op, "rms_norm"))) return slower * norm_of_rows(op, span);
  if (x->sizes.size() < 3) return 0;
  if (kind.starts_with("norm")) return norm_of_images(op, span, *x, flag_at(call, 5), multiprocessors);
  return of_images(op, *x);
}

}  // namespace ridge::features
