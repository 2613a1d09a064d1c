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

// The gradients of weight and bias: a block goes down all rows of 32 columns. Of very many rows over few columns others do it.
double down_the_rows(const Span& span, double units) {
  constexpr double kColumns = 32, kManyRows = 65536, kOfRow = 3.6;
  const double blocks = std::ceil(span.along / kColumns);
  if (span.outer > kManyRows && blocks < units / 2) return 0;
  return kOfRow * span.outer * std::max(1.0, blocks / units);
}

// A block a row; where rows cannot be read four elements at once, a slower kernel.
double norm_of_rows(const OpCall& call, std::string_view op, const Span& span, double units) {
  const bool whole = static_cast<std::int64_t>(span.along) % 4 == 0, rms = has(op, "rms_norm");
  if (is_backward(op)) {
    const double of_rows = 0.85 * span.outer * kMeasuredUnits / units;
    return of_rows + (asks_for_weights(call, op) ? down_the_rows(span, units) : 0);
  }
  return (!whole ? 5.2 : rms ? 0.65 : 1.1) * span.outer * kMeasuredUnits / units;
}

// Of rows that lie dense a warp takes one at a time, of short ones several; a running sum goes over each by itself.
double reduced_rows(std::string_view op, const Span& span) {
  constexpr double kWarp = 32, kOfRow = 0.235, kOfRunningSum = 5.8;
  if (span.inner > 1) return 0;
  if (op == "cumsum") return kOfRunningSum * span.outer;
  const double threads = std::exp2(std::floor(std::log2(std::clamp(span.along, 1.0, kWarp))));
  return threads < 8 ? 0 : kOfRow * span.outer * threads / kWarp;
}

double last_power(double n) { return std::exp2(std::floor(std::log2(std::max(n, 1.0)))); }

// PyTorch's kernels over channels that lie last: blocks of 512 threads, 16 elements and more a thread, at most 128 blocks a
// channel. A thread's step takes as long as it must, or as long as all of the device's threads keep it waiting.
struct Steps {
  double alone, crowded;  // nanoseconds of a thread's element: by itself, and where threads fill the device once
};
double over_channels_last(const Span& span, double units, bool together, Steps steps) {
  constexpr double kThreads = 512, kWidth = 32, kEach = 16, kMostBlocks = 128, kOfUnit = 2048;
  double wide = std::min(last_power(span.outer), kWidth);
  const double high = std::min(last_power(std::ceil(span.along / kEach)), kThreads / wide);
  if (wide * high < kThreads) wide = std::min(last_power(span.outer), kThreads / high);
  double blocks = std::min(std::ceil(span.along / (high * kEach)), kMostBlocks);
  if (together && blocks < 8) blocks = 1;
  const double of_thread = span.along / (high * blocks);
  const double rounds = std::ceil(span.outer / wide) * blocks * wide * high / (units * kOfUnit);
  return of_thread * std::max(steps.alone, steps.crowded * rounds);
}

// Volumes whose channels lie last have no such kernels: a general reduction gathers what a general elementwise kernel uses.
double native_norm_of_volumes(std::string_view op, const Span& span, bool training, double units) {
  const double elements = span.outer * span.along * kMeasuredUnits / units;
  if (is_backward(op)) return over_channels_last(span, units, true, {200, 500}) + 0.0036 * elements;
  return (training ? 0.0115 * elements : 0) + 0.0031 * elements;
}

double native_norm_channels_last(std::string_view op, const Span& span, DType type, bool training, double units) {
  const double item = std::max(item_bytes(type), 1.0);
  if (is_backward(op))
    return over_channels_last(span, units, true, {200, 500}) + over_channels_last(span, units, false, {300, 300 + 125 * item});
  const double changed = over_channels_last(span, units, false, {165, 60 + 135 * item});
  const double of_item = type == DType::f32 ? 230 : 370;
  return changed + (training ? over_channels_last(span, units, true, {of_item, 930}) : 0);
}

// A block a channel goes over all images, or a block a group over all of its elements.
double norm_of_images(std::string_view op, const Span& span, const TensorShape& x, bool training, double units) {
  const double images = static_cast<double>(x.sizes[0]), channels = static_cast<double>(x.sizes[1]);
  const double rounds = std::ceil(span.outer / (8 * units));
  if (has(op, "group_norm")) return is_backward(op) ? 0.6 * (images * channels + span.outer) : 0.38 * span.along * rounds;
  // Where each channel has but one element, channels lie last. cuDNN's kernels go over a channel in one piece, two blocks a
  // unit.
  const bool cudnn = !has(op, "native");
  if (!cudnn && channels_last(x) && x.sizes.size() > 4)
    return native_norm_of_volumes(op, span, training || is_backward(op), units);
  if (channels_last(x) || span.inner <= 1)
    return cudnn ? 0 : native_norm_channels_last(op, span, x.dtype, training || is_backward(op), units);
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

// Rows are added by index one element at a time, each by an atomic addition in the cache: 140 of them a nanosecond, of two
// bytes 125.
double added_elements(const OpCall& call) {
  constexpr double kOfAddition = 0.007, kOfHalf = 0.008;
  const TensorShape* source = tensor_at(call, 3);
  if (source == nullptr) return 0;
  return (item_bytes(source->dtype) < 4 ? kOfHalf : kOfAddition) * numel(*source);
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

bool asks_for_weights(const OpCall& call, std::string_view op) {
  if (!is_backward(op) || call.arguments.empty()) return false;
  const auto mask = flags_at(call, call.arguments.size() - 1);
  return mask.empty() || std::ranges::find(mask.begin() + 1, mask.end(), true) != mask.end();
}

bool channels_last(const TensorShape& t) {
  return t.strides.size() == t.sizes.size() && t.sizes.size() > 2 && t.strides[1] == 1 && t.strides.back() >= t.sizes[1] &&
         t.sizes[1] > 1;
}

double serial_time(const OpCall& call, std::string_view op, std::string_view kind, const Span& span, const TensorShape* x,
                   double multiprocessors) {
  const double slower = kMeasuredUnits / std::max(multiprocessors, 1.0);
  if (kind == "optimizer") return launches_of_lists(call);
  if (x == nullptr || x->sizes.empty()) return 0;
  if (kind == "reduction") return slower * reduced_rows(op, span);
  if (kind == "softmax") return span.inner > 1 ? (is_backward(op) ? 80 : 450) * span.along : 0;
  if (op == "embedding" || op == "index" || op == "index_select") {  // a block a row, where it can be read 16 bytes at once
    double picks = 0;
    each_tensor(call, [&](const TensorShape& t) {
      if (t.dtype == DType::i64 || t.dtype == DType::i32) picks = std::max(picks, numel(t));
    });
    return static_cast<std::int64_t>(row_bytes(*x)) % 16 == 0 && x->sizes.size() == 2 ? 0.6 * slower * picks : 0;
  }
  if (op == "index_add") return slower * added_elements(call);
  if (kind.starts_with("norm") && (has(op, "layer_norm") || has(op, "rms_norm")))
    return norm_of_rows(call, op, span, std::max(multiprocessors, 1.0));
  if (kind.starts_with("norm") && x->sizes.size() > 1) return norm_of_images(op, span, *x, flag_at(call, 5), multiprocessors);
  if (x->sizes.size() < 3) return 0;
  return of_images(op, *x);
}

}  // namespace ridge::features
