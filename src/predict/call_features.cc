// Which kind an op is of, and what all kinds' features have in common.
//
// All kinds begin with: time by the peak of arithmetic and by that of memory (on the reference device, as powers of two), bytes
// read, bytes written, bytes of an element, code of the type. Those of products and attention follow in matrix_features.cc,
// those of convolutions in convolution_features.cc, those of all others in general_features.cc.
#include "predict/call_features.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/lasting.h"
#include "ops/operands.h"
#include "predict/feature_values.h"
#include "predict/inner_calls.h"

namespace ridge {
namespace {

using features::each_tensor;
using features::is_backward;
using features::type_code;

// A kernel that does next to nothing takes about this long.
constexpr double kLaunchNs = 1500;
// What transposing kernels reach of the bandwidth.
constexpr double kReachedByTurning = 0.7;

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
    Alias{"aten::zeros_like", "aten::zero_", "copy"},
    Alias{"aten::ones_like", "aten::fill_", "copy"},
    Alias{"aten::full_like", "aten::fill_", "copy"},
    Alias{"aten::unique", "aten::_unique2", "sort"},
    Alias{"aten::fft_rfft", "aten::_fft_r2c", "sort"},
};

// By OpFamily.
constexpr std::array<std::string_view, 16> kKinds = {"product", "convolution", "attention", "pointwise", "reduction", "softmax",
                                                     "norm",    "gather",      "copy",      "pooling",   "loss",      "",
                                                     "sort",    "optimizer",   "",          ""};

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

std::string_view kind_of(std::string_view family, std::string_view op) {
  if (!is_backward(op)) return family;
  if (family == "convolution") return "convolution_backward";
  if (family == "attention") return "attention_backward";
  if (family == "norm") return "norm_backward";
  return family;
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
  static const auto& device = lasting<DeviceSpec>(**find_device("NVIDIA H200"));
  return device;
}

}  // namespace

void features::begin_features(CallFeatures* out) {
  const auto base = base_time(*out, reference_device());
  begin(out, base ? base->compute_ns : 0, base ? base->memory_ns : 0);
}

float log_size(double size) { return static_cast<float>(std::log2(std::max(size, 1.0))); }

double BaseTime::ns() const { return kLaunchNs + std::max({compute_ns, memory_ns, serial_ns}) + turned_ns; }

std::optional<BaseTime> base_time(const CallFeatures& call, const DeviceSpec& device) {
  BaseTime base;
  if (!device.bandwidth.known()) return std::nullopt;
  const double flops = call.work.flops_causal.value_or(call.work.flops.value_or(0));
  if (flops > 0) {
    Figure peak = peak_flops(device, call.unit, call.matrix ? MathUnit::matrix : MathUnit::vector);
    if (!peak.known()) peak = peak_flops(device, DType::f32, MathUnit::vector);
    if (!peak.known()) return std::nullopt;
    base.compute_ns = flops / (peak.high * call.reached) * 1e9;
  }
  const double bytes = call.work.read.value_or(call.tensor_bytes) + call.work.written.value_or(0);
  base.serial_ns = call.serial_ns;
  base.memory_ns = bytes / device.bandwidth.high * 1e9;
  base.turned_ns = call.turned_bytes / (kReachedByTurning * device.bandwidth.high) * 1e9;
  return base;
}

namespace {

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
  OpArgument& argument = out.arguments.front();
  argument = OpArgument();
  argument.kind = OpArgument::Kind::tensor;
  argument.tensor = made;
  out.has_shapes = true;
  return out;
}

double elements_of(const OpCall& call) {
  double all = 0;
  each_tensor(call, [&](const TensorShape& t) { all += numel(t); });
  return all;
}

bool is_factory(std::string_view op) {
  constexpr std::array<std::string_view, 8> kFactories = {"randn", "rand",   "zeros",   "ones",
                                                          "full",  "arange", "randint", "empty"};
  return std::ranges::find(kFactories, op) != kFactories.end();
}

}  // namespace

namespace {

CallFeatures features_of_size(const OpCall& given, bool tf32, double multiprocessors, bool whole) {
  CallFeatures out;
  const bool factory = is_factory(without_namespace(given.op));
  const OpCall call = factory ? with_made_tensor(given) : given;
  const Alias* alias = alias_of(call.op);
  const std::string_view looked_up = alias != nullptr && !alias->row.empty() ? alias->row : call.op;
  const OpFormula* row = find_op(looked_up);
  out.op = std::string(without_namespace(call.op));
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
  if (out.op == "roll") {  // one dimension after the other
    const auto dims = integers_at(call, 2);
    const double times = dims ? std::max(static_cast<double>(dims->size()), 1.0) : 1;
    if (out.work.read) *out.work.read *= times;
    if (out.work.written) *out.work.written *= times;
  }
  if (factory) {
    out.work = {.flops = 0, .read = 0, .written = out.tensor_bytes};
    out.op = std::string(call.op.substr(std::min<std::size_t>(6, call.op.size())));
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
  // A trace leaves long lists out: what is not told cannot be predicted.
  const auto left_out = [](const OpArgument& a) {
    return a.kind == OpArgument::Kind::tensor_list && a.list_left_out && a.list.empty();
  };
  if (!call.arguments.empty() && left_out(call.arguments.front())) return out;
  // Nor where its tensors' type is not: their bytes would be none.
  if (!call.arguments.empty() && !call.arguments.front().list.empty() && out.tensor_bytes == 0 && elements_of(call) > 0)
    return out;
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
  features::begin_features(&out);
  const std::size_t shared = out.values.size();
  if (family == "product" && row != nullptr && product_positions(*row) != nullptr) {
    features::product(spelled, *row, multiprocessors, &out);
  } else if (family == "product") {
    out.kind = "reduction";  // of two vectors
    features::general(spelled, out.op, multiprocessors, &out);
  } else if (family == "convolution") {
    out.values.clear();
    features::convolution(spelled, *row, tf32, whole, multiprocessors, &out);
    if (out.parts.empty()) out.kind = {};
    return out;
  } else if (family == "attention") {
    features::attention(spelled, *row, multiprocessors, &out);
  } else {
    features::general(spelled, out.op, multiprocessors, &out);
  }
  if (out.values.size() == shared) out.kind = {};  // its sizes are not told
  return out;
}

// Kinds that do the same for each slice of their tensors' first dimension, by kernels that change with their number.
bool goes_slice_by_slice(const CallFeatures& call) {
  if (call.kind == "norm")
    return call.op.find("layer_norm") != std::string::npos || call.op.find("rms_norm") != std::string::npos;
  return call.kind == "reduction" || call.kind == "softmax";
}

// The call over the first `size` slices.
OpCall sliced(const OpCall& call, std::int64_t whole, std::int64_t size) {
  OpCall out = call;
  const auto cut = [&](TensorShape* t) {
    if (!t->sizes.empty() && t->sizes.front() == whole) t->sizes.front() = size;
  };
  for (OpArgument& a : out.arguments) {
    cut(&a.tensor);
    for (TensorShape& t : a.list) cut(&t);
  }
  return out;
}

// The op's own work and that of the ops that it calls.
CallFeatures with_inner(const features::InnerCalls& inner, bool tf32, double multiprocessors) {
  CallFeatures out;
  std::vector<CallFeatures> parts;
  if (inner.own) {
    parts.push_back(features_of_call(*inner.own, tf32, multiprocessors, false));
    parts.back().role = "own";
  }
  for (const OpCall& other : inner.others) {
    parts.push_back(features_of_call(other, tf32, multiprocessors, false));
    parts.back().role = "inner";
  }
  for (const CallFeatures& part : parts) {
    if (part.kind.empty()) return out;  // of one of them nothing is told
  }
  out = parts.front();
  out.role = {};
  out.lesser.clear();
  out.parts = std::move(parts);
  return out;
}

}  // namespace

CallFeatures features_of_call(const OpCall& given, bool tf32, double multiprocessors, bool whole) {
  const auto inner = features::inner_calls(given);
  if (inner && whole) return with_inner(*inner, tf32, multiprocessors);
  const OpCall& call = inner && inner->own ? *inner->own : given;  // its kernel sees the copies
  CallFeatures out = features_of_size(call, tf32, multiprocessors, whole);
  const TensorShape* x = tensor_at(call, 0);
  if (!goes_slice_by_slice(out) || x == nullptr || x->sizes.empty()) return out;
  std::int64_t size = 1;
  while (size < x->sizes.front() / 2) size *= 2;
  for (; size >= 1 && size < x->sizes.front(); size /= 2)
    out.lesser.push_back(features_of_size(sliced(call, x->sizes.front(), size), tf32, multiprocessors, whole));
  return out;
}

CallFeatures features_of_kernel(const GeneratedKernel& kernel, double multiprocessors) {
  CallFeatures out;
  out.kind = kernel.kind;
  out.work = {.flops = kernel.flops, .read = kernel.bytes_read, .written = kernel.bytes_written, .dtype = kernel.dtype};
  out.unit = kernel.dtype;
  features::begin_features(&out);
  out.values.insert(out.values.end(), {log_size(kernel.blocks), log_size(kernel.threads),
                                       log_size((kernel.bytes_read + kernel.bytes_written) / std::max(kernel.blocks, 1.0))});
  features::waves(kernel.blocks, multiprocessors, &out);
  return out;
}

}  // namespace ridge
