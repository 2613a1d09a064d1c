// Which kind an op is of, and the features of those that go over their tensors: what is read and written, over which dimension,
// in which order.
//
// All kinds begin with: time by the peak of arithmetic and by that of memory (on the reference device, as powers of two), bytes
// read, bytes written, bytes of an element, code of the type. Those of the general kinds follow here, those of products,
// convolutions and attention in matrix_features.cc.
#include "predict/call_features.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "ops/operands.h"

namespace ridge {
namespace {

// A kernel that does next to nothing takes about this long.
constexpr double kLaunchNs = 1500;

// Ops that programs call and that call others, under the row of what they come to; those without one by their kind alone.
struct Alias {
  std::string_view op, row, kind;
};
constexpr std::array kAliases = {
    Alias{"aten::scaled_dot_product_attention", "", "attention"},
    Alias{"aten::matmul", "", "product"},
    Alias{"aten::softmax", "aten::_softmax", "softmax"},
    Alias{"aten::log_softmax", "aten::_log_softmax", "softmax"},
    Alias{"aten::cross_entropy_loss", "", "loss"},
    Alias{"aten::nll_loss", "aten::nll_loss_forward", "loss"},
    Alias{"aten::nll_loss_nd", "aten::nll_loss_forward", "loss"},
    Alias{"aten::binary_cross_entropy_with_logits", "", "loss"},
    Alias{"aten::l1_loss", "", "loss"},
    Alias{"aten::batch_norm", "aten::native_batch_norm", "norm"},
    Alias{"aten::_batch_norm_impl_index", "aten::native_batch_norm", "norm"},
    Alias{"aten::instance_norm", "aten::native_batch_norm", "norm"},
    Alias{"aten::pad", "", "copy"},
    Alias{"aten::constant_pad_nd", "", "copy"},
    Alias{"aten::to", "aten::_to_copy", "copy"},
    Alias{"aten::reshape", "aten::clone", "copy"},
    Alias{"aten::pixel_shuffle", "aten::clone", "copy"},
    Alias{"aten::repeat_interleave", "", "gather"},
    Alias{"aten::repeat", "", "copy"},
    Alias{"aten::max_pool2d", "aten::max_pool2d_with_indices", "pooling"},
    Alias{"aten::dropout", "aten::native_dropout", "pointwise"},
    Alias{"aten::adaptive_avg_pool2d", "aten::_adaptive_avg_pool2d", "pooling"},
    Alias{"aten::unique", "aten::_unique2", "sort"},
    Alias{"aten::fft_rfft", "aten::_fft_r2c", "sort"},
};

// By OpFamily.
constexpr std::array<std::string_view, 16> kKinds = {"product", "convolution", "attention", "pointwise", "reduction", "softmax",
                                                     "norm",    "gather",      "copy",      "pooling",   "loss",      "",
                                                     "sort",    "optimizer",   "",          ""};

// Where an op is told over which dimensions it goes; others at 1.
struct DimAt {
  std::string_view op;
  int at;
};
constexpr std::array kDims = {
    DimAt{"topk", 2},
    DimAt{"kthvalue", 2},
    DimAt{"linalg_vector_norm", 2},
    DimAt{"norm", 2},
    DimAt{"argsort", 2},
    DimAt{"_softmax_backward_data", 2},
    DimAt{"_log_softmax_backward_data", 2},
    DimAt{"sort", 1},
};

std::string_view without_namespace(std::string_view op) {
  const std::size_t colons = op.rfind("::");
  if (colons != std::string_view::npos) op.remove_prefix(colons + 2);
  op = op.substr(0, op.find('.'));
  if (op.size() > 1 && op.ends_with('_') && !op.ends_with("__")) op.remove_suffix(1);
  return op;
}

const Alias* alias_of(std::string_view op) {
  op = op.substr(0, op.find('.'));
  const auto it = std::ranges::find(kAliases, op, &Alias::op);
  return it == kAliases.end() ? nullptr : &*it;
}

bool is_backward(std::string_view op) { return op.find("backward") != std::string_view::npos; }

std::string_view kind_of(std::string_view family, std::string_view op) {
  if (!is_backward(op)) return family;
  if (family == "convolution") return "convolution_backward";
  if (family == "attention") return "attention_backward";
  if (family == "norm") return "norm_backward";
  return family;
}

float type_code(DType type) {
  switch (type) {
    case DType::f64: return 0;
    case DType::f32: return 1;
    case DType::tf32: return 2;
    case DType::f16: return 3;
    case DType::bf16: return 4;
    case DType::f8: return 5;
    case DType::i64: return 6;
    case DType::i32: return 7;
    case DType::boolean:
    case DType::u8:
    case DType::i8: return 8;
    default: return 9;
  }
}

template <class Visit>
void each_tensor(const OpCall& call, Visit visit) {
  for (const OpArgument& a : call.arguments) {
    if (a.kind == OpArgument::Kind::tensor) visit(a.tensor);
    for (const TensorShape& t : a.list) visit(t);
  }
}

void begin(CallFeatures* out, double compute_ns, double memory_ns) {
  const double read = out->work.read.value_or(out->tensor_bytes), written = out->work.written.value_or(0);
  out->values = {static_cast<float>(std::log2(compute_ns + 1)),
                 static_cast<float>(std::log2(memory_ns + 1)),
                 log_size(read),
                 log_size(written),
                 static_cast<float>(item_bytes(out->unit)),
                 type_code(out->unit)};
}

const DeviceSpec& reference_device() {
  static const DeviceSpec device = **find_device("NVIDIA H200");
  return device;
}

void begin(CallFeatures* out) {
  const auto base = base_time(*out, reference_device());
  begin(out, base ? base->compute_ns : 0, base ? base->memory_ns : 0);
}

// Over which part of the first tensor a call goes: sizes before, within and behind the dimensions it names.
struct Span {
  double outer = 1, along = 1, inner = 1;
};

Span span_of(const OpCall& call, std::string_view op, std::string_view kind, const TensorShape& x) {
  Span span;
  const auto rank = static_cast<std::int64_t>(x.sizes.size());
  std::vector<std::int64_t> dims;
  if (kind.starts_with("norm") &&
      (op.find("layer_norm") != std::string_view::npos || op.find("rms_norm") != std::string_view::npos)) {
    const auto shape = integers_at(call, is_backward(op) ? 2 : 1);
    const auto count = shape ? static_cast<std::int64_t>(shape->size()) : 1;
    for (std::int64_t i = std::max<std::int64_t>(rank - count, 0); i < rank; ++i) dims.push_back(i);
  } else if (kind.starts_with("norm") && rank > 1) {
    // A unit is a channel of all images, or a group of channels of one.
    const double all = numel(x), channels = static_cast<double>(x.sizes[1]);
    span.inner = all / std::max(static_cast<double>(x.sizes[0]) * channels, 1.0);
    const bool groups = op.find("group_norm") != std::string_view::npos;
    const std::size_t at = op == "group_norm" ? 1 : is_backward(op) ? 8 : 6;
    const double units = groups ? static_cast<double>(x.sizes[0]) * number_at(call, at).value_or(1) : channels;
    span.outer = std::max(units, 1.0);
    span.along = all / span.outer;
    return span;
  } else if (kind == "reduction" || kind == "softmax" || kind == "sort" || op == "cat" || op == "stack") {
    const auto known = std::ranges::find(kDims, op, &DimAt::op);
    const auto given = integers_at(call, static_cast<std::size_t>(known == kDims.end() ? 1 : known->at));
    if (given && !given->empty()) dims = *given;
    if (dims.empty() && kind == "reduction") {
      for (std::int64_t i = 0; i < rank; ++i) dims.push_back(i);
    }
    if (dims.empty()) dims = {-1};
  } else {
    dims = {-1};
  }
  for (std::int64_t& d : dims) d = d < 0 ? d + rank : d;
  std::erase_if(dims, [&](std::int64_t d) { return d < 0 || d >= rank; });
  if (dims.empty()) {
    span.outer = numel(x);
    return span;
  }
  const std::int64_t last = *std::ranges::max_element(dims);
  for (std::int64_t i = 0; i < rank; ++i) {
    const double size = static_cast<double>(x.sizes[static_cast<std::size_t>(i)]);
    if (std::ranges::find(dims, i) != dims.end())
      span.along *= size;
    else if (i > last)
      span.inner *= size;
    else
      span.outer *= size;
  }
  return span;
}

// Kernels that go over a dimension step by step, a thread or a block for each of the others: ATen's softmax along an outer
// dimension, norms with a block per channel or group, resampling that loops over images. Nanoseconds a step, seen on an H200.
double serial_time(std::string_view op, std::string_view kind, const Span& span, const TensorShape* x) {
  if (kind == "softmax" && span.inner > 1) return 450 * span.along;
  if (x == nullptr || x->sizes.size() < 3) return 0;
  const double images = static_cast<double>(x->sizes[0]), channels = static_cast<double>(x->sizes[1]), rest = span.inner;
  if (kind.starts_with("norm") && op.find("batch_norm") != std::string_view::npos) return images * std::max(30.0, rest);
  if (kind.starts_with("norm")) return span.along;
  if (op == "upsample_bilinear2d") return 250 * images * channels;
  if (op == "im2col") return 2000 * images;
  return 0;
}

// How a tensor lies: elements that follow each other when it is walked by its last dimensions, and whether it is dense in some
// order.
struct Lie {
  double run = 1;
  bool dense = true, in_order = true, repeats = false;
};

Lie lie_of(const TensorShape& t) {
  Lie lie;
  if (t.strides.size() != t.sizes.size()) {
    lie.run = numel(t);
    return lie;
  }
  double expected = 1;
  for (std::size_t i = t.sizes.size(); i-- > 0;) {
    if (t.sizes[i] == 1) continue;
    if (t.strides[i] == 0) lie.repeats = true;
    if (static_cast<double>(t.strides[i]) != expected) {
      lie.in_order = false;
      break;
    }
    expected *= static_cast<double>(t.sizes[i]);
  }
  lie.run = expected;
  double extent = 1;
  for (std::size_t i = 0; i < t.sizes.size(); ++i)
    extent += static_cast<double>(std::max<std::int64_t>(t.sizes[i] - 1, 0)) * std::abs(static_cast<double>(t.strides[i]));
  lie.dense = extent <= numel(t) * 1.001;
  return lie;
}

// Which dimension lies dense, counted from the last; 0 for what has no strides.
float dense_dimension(const TensorShape& t) {
  for (std::size_t i = t.strides.size(); i-- > 0;) {
    if (t.sizes[i] > 1 && t.strides[i] == 1) return static_cast<float>(t.strides.size() - 1 - i);
  }
  return 0;
}

}  // namespace

float log_size(double size) { return static_cast<float>(std::log2(std::max(size, 1.0))); }

double BaseTime::ns() const { return kLaunchNs + std::max({compute_ns, memory_ns, serial_ns}); }

std::optional<BaseTime> base_time(const CallFeatures& call, const DeviceSpec& device) {
  BaseTime base;
  if (!device.bandwidth.known()) return std::nullopt;
  const double flops = call.work.flops_causal.value_or(call.work.flops.value_or(0));
  if (flops > 0) {
    Figure peak = peak_flops(device, call.unit, call.matrix ? MathUnit::matrix : MathUnit::vector);
    if (!peak.known()) peak = peak_flops(device, DType::f32, MathUnit::vector);
    if (!peak.known()) return std::nullopt;
    base.compute_ns = flops / peak.high * 1e9;
  }
  const double bytes = call.work.read.value_or(call.tensor_bytes) + call.work.written.value_or(0);
  base.serial_ns = call.serial_ns;
  base.memory_ns = bytes / device.bandwidth.high * 1e9;
  return base;
}

void features::general(const OpCall& call, std::string_view op, double multiprocessors, CallFeatures* out) {
  const TensorShape* largest = nullptr;
  double tensors = 0, listed = 0, elements = 0, shortest_run = 1e18, index = 0, least = 1e18, result_item = 0;
  bool in_order = true, dense = true, broadcast = false;
  float by_dimension = 0;
  each_tensor(call, [&](const TensorShape& t) {
    ++tensors;
    const double n = numel(t);
    elements += n;
    if (largest == nullptr || n > numel(*largest)) largest = &t;
    if (t.dtype == DType::i64 || t.dtype == DType::i32) index = std::max(index, n);
  });
  for (const OpArgument& a : call.arguments) listed = std::max(listed, static_cast<double>(a.list.size()));
  if (largest != nullptr) {
    each_tensor(call, [&](const TensorShape& t) {
      if (numel(t) * 2 < numel(*largest)) {
        broadcast = broadcast || t.sizes.size() > 1 || numel(t) > 1;
        least = std::min(least, numel(t));
        return;
      }
      const Lie lie = lie_of(t);
      shortest_run = std::min(shortest_run, lie.run);
      in_order = in_order && lie.in_order;
      dense = dense && lie.dense;
      broadcast = broadcast || lie.repeats;
      by_dimension = std::max(by_dimension, dense_dimension(t));
    });
  }
  const OpArgument* first = call.arguments.empty() ? nullptr : &call.arguments.front();
  const TensorShape* x = tensor_at(call, 0);
  if (x == nullptr && first != nullptr && !first->list.empty()) x = &first->list.front();
  if (x == nullptr) x = largest;
  const Span span = x != nullptr ? span_of(call, op, out->kind, *x) : Span{};
  const double steps_ns = serial_time(op, out->kind, span, x);
  if (out->kind == "softmax") out->serial_ns = steps_ns;  // the others have kernels of several forms: only the table can tell
  const TensorShape* second = tensor_at(call, 1);
  if (x != nullptr && out->work.written && numel(*x) > 0) result_item = *out->work.written / numel(*x);
  const auto number = number_at(call, 1);  // topk: how many; fills: of what
  const double last = x != nullptr && !x->sizes.empty() ? static_cast<double>(x->sizes.back()) : 1;
  const bool misaligned = x != nullptr && static_cast<std::int64_t>(last) % 8 != 0;
  std::vector<float>& f = out->values;
  f.insert(f.end(),
           {log_size(x != nullptr ? numel(*x) : 0),
            log_size(largest != nullptr ? numel(*largest) : 0),
            log_size(elements),
            static_cast<float>(std::min(tensors, 64.0)),
            log_size(listed),
            log_size(span.outer),
            log_size(span.along),
            log_size(span.inner),
            log_size(shortest_run),
            in_order ? 1.0F : 0.0F,
            dense ? 1.0F : 0.0F,
            broadcast ? 1.0F : 0.0F,
            by_dimension,
            log_size(least > 1e17 ? 0 : least),
            log_size(index),
            static_cast<float>(std::min(result_item, 64.0)),
            second != nullptr ? type_code(second->dtype) : -1.0F,
            log_size(number && *number > 0 ? *number : 0),
            misaligned ? 1.0F : 0.0F,
            log_size(last),
            second != nullptr ? log_size(numel(*second)) : 0.0F,
            x != nullptr ? static_cast<float>(x->sizes.size()) : 0.0F,
            x != nullptr && x->strides.size() == x->sizes.size() && x->sizes.size() > 2 && x->strides[1] == 1 ? 1.0F : 0.0F,
            static_cast<float>(std::log2(steps_ns + 1)),
            flag_at(call, 5) ? 1.0F : 0.0F});
  waves(out->kind.starts_with("norm") ? span.outer : span.outer * span.inner, multiprocessors, out);
}

// Factories are told sizes, not tensors: the tensor that they make stands for them.
OpCall with_made_tensor(const OpCall& call) {
  OpCall out = call;
  if (call.arguments.empty() || call.arguments.front().kind != OpArgument::Kind::value) return out;
  const std::string_view op = without_namespace(call.op);
  const auto sizes = integers_at(call, 0);
  if (!sizes) return out;
  TensorShape made{*sizes, {}, DType::f32};
  if (op == "arange") made.dtype = DType::i64;
  const std::size_t type_at = op == "full" ? 2 : 1;
  if (op != "arange") made.dtype = scalar_type(call, type_at, made.dtype);
  out.arguments.front() = {.kind = OpArgument::Kind::tensor, .tensor = made};
  out.has_shapes = true;
  return out;
}

bool is_factory(std::string_view op) {
  constexpr std::array<std::string_view, 8> kFactories = {"randn", "rand",   "zeros",   "ones",
                                                          "full",  "arange", "randint", "empty"};
  return std::ranges::find(kFactories, op) != kFactories.end();
}

CallFeatures features_of_call(const OpCall& given, bool tf32, double multiprocessors) {
  CallFeatures out;
  const bool factory = is_factory(without_namespace(given.op));
  const OpCall call = factory ? with_made_tensor(given) : given;
  const Alias* alias = alias_of(call.op);
  const std::string_view looked_up = alias != nullptr && !alias->row.empty() ? alias->row : call.op;
  const OpFormula* row = find_op(looked_up);
  out.op = without_namespace(call.op);
  std::string_view family = row != nullptr ? kKinds[static_cast<std::size_t>(row->family)] : std::string_view();
  if (alias != nullptr) family = alias->kind;
  if (row == nullptr && alias == nullptr) return out;
  OpCall spelled = call;
  if (alias != nullptr && family == "attention") {
    row = find_op("aten::_scaled_dot_product_efficient_attention");
    // (q, k, v, mask, dropout, causal): the rest as the row has it.
    spelled.arguments.resize(7);
    if (call.arguments.size() > 5) spelled.arguments[6] = call.arguments[5];
    spelled.arguments[4] = spelled.arguments[5] = {};
  } else if (alias != nullptr && family == "product") {
    const TensorShape* b = tensor_at(call, 1);
    const bool batched = b != nullptr && b->sizes.size() > 2;
    row = find_op(batched ? "aten::bmm" : "aten::mm");
    out.op = batched ? "bmm" : "mm";
    for (OpArgument& a : spelled.arguments) {  // leading dimensions are one
      TensorShape& t = a.tensor;
      while (t.sizes.size() > (batched ? 3U : 2U)) {
        t.sizes[1] *= t.sizes[0];
        t.sizes.erase(t.sizes.begin());
        t.strides.clear();
      }
    }
  }
  each_tensor(call, [&](const TensorShape& t) { out.tensor_bytes += touched_bytes(t); });
  if (row != nullptr) out.work = row->work(spelled, Part{}, 1);
  if (factory) {
    out.work = {.flops = 0, .read = 0, .written = out.tensor_bytes};
    out.op = call.op.substr(6);
  }
  if ((out.op == "index" || out.op == "index_put") &&
      (call.arguments.size() < 2 || (call.arguments[1].list.empty() && tensor_at(call, 1) == nullptr))) {
    return out;  // how many it takes is not told
  }
  if (out.work.read == std::nullopt || (out.work.read == 0.0 && out.work.written == 0.0 && !factory))
    out.work.read = std::nullopt;
  if (out.work.dtype == DType::unknown) {
    each_tensor(call, [&](const TensorShape& t) {
      if (out.work.dtype == DType::unknown) out.work.dtype = t.dtype;
    });
  }
  out.kind = kind_of(family, call.op);
  out.matrix = row != nullptr && is_matrix_work(*row);
  out.unit = out.matrix && tf32 && out.work.dtype == DType::f32 ? DType::tf32 : out.work.dtype;
  if (out.kind.empty() || !call.has_shapes) {
    out.kind = {};
    return out;
  }
  if (has_list(call)) {  // a trace does not tell the type of a list, which the formula asks the kernel for
    if (!out.work.read || !(*out.work.read > 0)) out.work.read = out.tensor_bytes;
    if ((family == "copy") && (!out.work.written || !(*out.work.written > 0))) out.work.written = out.tensor_bytes;
  }
  begin(&out);
  const std::size_t shared = out.values.size();
  if (family == "product" && row != nullptr && product_positions(*row) != nullptr) {
    features::product(spelled, *row, multiprocessors, &out);
  } else if (family == "product") {
    out.kind = "reduction";  // of two vectors
    features::general(spelled, out.op, multiprocessors, &out);
  } else if (family == "convolution") {
    features::convolution(spelled, *row, multiprocessors, &out);
  } else if (family == "attention") {
    features::attention(spelled, *row, multiprocessors, &out);
  } else {
    features::general(spelled, out.op, multiprocessors, &out);
  }
  if (out.values.size() == shared) out.kind = {};  // its sizes are not told
  return out;
}

CallFeatures features_of_kernel(const GeneratedKernel& kernel, double multiprocessors) {
  CallFeatures out;
  out.kind = kernel.kind;
  out.work = {.flops = kernel.flops, .read = kernel.bytes_read, .written = kernel.bytes_written, .dtype = kernel.dtype};
  out.unit = kernel.dtype;
  begin(&out);
  out.values.insert(out.values.end(), {log_size(kernel.blocks), log_size(kernel.threads),
                                       log_size((kernel.bytes_read + kernel.bytes_written) / std::max(kernel.blocks, 1.0))});
  features::waves(kernel.blocks, multiprocessors, &out);
  return out;
}

}  // namespace ridge
