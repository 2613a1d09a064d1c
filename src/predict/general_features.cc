// Features of calls that go over their tensors: what is read and written, over which dimension, in which order.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "ops/operands.h"
#include "predict/call_features.h"
#include "predict/feature_values.h"
#include "predict/walk.h"

namespace ridge::features {
namespace {

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
  // A reduction goes over its tensor as it lies.
  std::vector<std::int64_t> sizes = x.sizes;
  if (kind == "reduction") {
    const StrideOrder lies = sorted_by_strides(x);
    sizes = lies.sizes;
    for (std::int64_t& d : dims) d = lies.place_of[static_cast<std::size_t>(d)];
  }
  const std::int64_t last = *std::ranges::max_element(dims);
  for (std::int64_t i = 0; i < rank; ++i) {
    const double size = static_cast<double>(sizes[static_cast<std::size_t>(i)]);
    if (std::ranges::find(dims, i) != dims.end())
      span.along *= size;
    else if (i > last)
      span.inner *= size;
    else
      span.outer *= size;
  }
  return span;
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

// Whether the result lies as the tensors do: not where a copy is asked for in the order of its dimensions.
bool keeps_order(const OpCall& call, std::string_view op, std::string_view kind) {
  if (kind == "pointwise") return true;
  if (kind != "copy") return false;
  const std::size_t format_at = op == "clone" ? 1 : op == "_to_copy" || op == "to" ? 6 : 0;
  constexpr double kContiguous = 0;  // c10::MemoryFormat
  return format_at == 0 || number_at(call, format_at) != kContiguous;
}

}  // namespace

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

namespace {

// Elements of another type are converted one by one where they are read; a number beside a tensor is not.
bool types_differ(const OpCall& call) {
  DType first = DType::unknown;
  bool differ = false;
  each_tensor(call, [&](const TensorShape& t) {
    if (numel(t) <= 1) return;
    differ = differ || (first != DType::unknown && t.dtype != first);
    if (first == DType::unknown) first = t.dtype;
  });
  return differ;
}

// In which order its elements are walked, or how its list is joined.
void walked(const OpCall& call, std::string_view op, CallFeatures* out) {
  std::vector<float>& f = out->values;
  f.push_back(in_place(call) ? 1.0F : 0.0F);
  const bool stacked = op == "stack";
  if ((op == "cat" || stacked) && !call.arguments.empty() && !call.arguments.front().list.empty()) {
    const std::vector<TensorShape>& list = call.arguments.front().list;
    const double item = std::max(item_bytes(list.front().dtype), 0.5);
    const Joined joined = joined_of(list, static_cast<std::int64_t>(number_at(call, 1).value_or(0)), stacked, item);
    f.insert(f.end(), {joined.dense           ? 2.0F
                       : joined.channels_last ? 1.0F
                                              : 0.0F,
                       joined.alignment, log_size(joined.shortest_bytes), 0.0F, 0.0F, log_size(out->tensor_bytes)});
    return;
  }
  double elements = 0;
  each_tensor(call, [&](const TensorShape& t) { elements = std::max(elements, numel(t)); });
  const double result_item =
      out->work.written && elements > 0 ? std::clamp(*out->work.written / elements, 1.0, 16.0) : item_bytes(out->unit);
  const Walk walk = walk_of(call, op, out->kind, result_item).value_or(Walk());
  f.insert(f.end(), {walk.plain ? 0.0F : static_cast<float>(walk.dims), static_cast<float>(walk.tensors), log_size(walk.inner),
                     static_cast<float>(std::log2(std::max(walk.by_warps, 1.0 / 64))),
                     static_cast<float>(std::log2(std::max(walk.by_blocks, 1.0 / 64))), log_size(walk.moved_bytes)});
}

}  // namespace

void general(const OpCall& call, std::string_view op, double multiprocessors, CallFeatures* out) {
  const TensorShape* largest = nullptr;
  double tensors = 0, listed = 0, elements = 0, shortest_run = 1e18, index = 0, least = 1e18, result_item = 0;
  bool in_order = true, dense = true, broadcast = false, alike = true;
  float by_dimension = 0;
  each_tensor(call, [&](const TensorShape& t) {
    ++tensors;
    const double n = numel(t);
    elements += n;
    if (largest == nullptr || n > numel(*largest)) largest = &t;
    if (t.dtype == DType::i64 || t.dtype == DType::i32) index = std::max(index, n);
  });
  bool listed_alike = true;  // one that lies otherwise makes a list's kernel go element by element
  for (const OpArgument& a : call.arguments) {
    listed = std::max(listed, static_cast<double>(a.list.size()));
    for (const TensorShape& t : a.list) listed_alike = listed_alike && lie_of(t).in_order;
  }
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
      alike = alike && lie.dense && t.strides == largest->strides;
    });
    // Tensors that lie alike are walked as they lie, in whatever order that is.
    if (alike && keeps_order(call, op, out->kind)) {
      in_order = true;
      shortest_run = numel(*largest);
      by_dimension = 0;
    }
  }
  const OpArgument* first = call.arguments.empty() ? nullptr : &call.arguments.front();
  const TensorShape* x = tensor_at(call, 0);
  if (x == nullptr && first != nullptr && !first->list.empty()) x = &first->list.front();
  if (x == nullptr) x = largest;
  const Span span = x != nullptr ? span_of(call, op, out->kind, *x) : Span{};
  out->serial_ns = serial_time(call, op, out->kind, span, x, multiprocessors);
  const TensorShape* second = tensor_at(call, 1);
  if (x != nullptr && out->work.written && numel(*x) > 0) result_item = *out->work.written / numel(*x);
  const auto number = number_at(call, 1);  // topk: how many; fills: of what
  const double last = x != nullptr && !x->sizes.empty() ? static_cast<double>(x->sizes.back()) : 1;
  const bool misaligned = x != nullptr && static_cast<std::int64_t>(last) % 8 != 0;
  std::vector<float>& f = out->values;
  f.insert(f.end(), {log_size(x != nullptr ? numel(*x) : 0),
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
                     x != nullptr && channels_last(*x) ? 1.0F : 0.0F,
                     static_cast<float>(std::log2(out->serial_ns + 1)),
                     flag_at(call, 5) ? 1.0F : 0.0F,
                     flag_at(call, 3) ? 1.0F : 0.0F,
                     listed_alike ? 1.0F : 0.0F,
                     static_cast<float>(x != nullptr && index > 0 ? std::log2(index / std::max(numel(*x), 1.0)) : 0.0),
                     x != nullptr && x->sizes.size() > 1 ? alignment(static_cast<double>(x->sizes[1])) : 0.0F,
                     asks_for_weights(call, op) ? 1.0F : 0.0F,
                     types_differ(call) ? 1.0F : 0.0F});
  waves(out->kind.starts_with("norm") ? span.outer : span.outer * span.inner, multiprocessors, out);
  walked(call, op, out);
}

}  // namespace ridge::features
