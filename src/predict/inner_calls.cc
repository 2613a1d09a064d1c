// By op, as seen in profiles of PyTorch 2.11.
#include "predict/inner_calls.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "ops/operands.h"
#include "predict/feature_values.h"

namespace ridge::features {
namespace {

OpArgument tensor_argument(TensorShape shape) {
  OpArgument argument;
  argument.kind = OpArgument::Kind::tensor;
  argument.tensor = std::move(shape);
  return argument;
}

OpCall call_of(std::string_view op, std::vector<OpArgument> arguments) {
  OpCall call;
  call.op = op;
  call.arguments = std::move(arguments);
  call.has_shapes = call.has_constants = true;
  return call;
}

OpCall fill_of(std::vector<std::int64_t> sizes, DType dtype) {
  return call_of("aten::fill_", {tensor_argument({std::move(sizes), {}, dtype}), OpArgument()});
}

OpCall copy_of(const TensorShape& to, const TensorShape& from) {
  return call_of("aten::copy_", {tensor_argument(to), tensor_argument(from)});
}

std::string_view inner_name(std::string_view op) {
  const std::size_t colons = op.rfind("::");
  if (colons != std::string_view::npos) op.remove_prefix(colons + 2);
  return op.substr(0, op.find('.'));
}

template <std::size_t n>
bool is_one_of(std::string_view op, const std::array<std::string_view, n>& names) {
  return std::ranges::find(names, op) != names.end();
}

bool lies_in_order(const TensorShape& t) {
  if (t.strides.size() != t.sizes.size()) return true;
  std::int64_t expected = 1;
  for (std::size_t i = t.sizes.size(); i-- > 0;) {
    if (t.sizes[i] == 1) continue;
    if (t.strides[i] != expected) return false;
    expected *= t.sizes[i];
  }
  return true;
}

// Written into zeros: a gradient of which the op sets or adds to some elements.
std::optional<OpCall> zeros_of(const OpCall& call, std::string_view op) {
  constexpr std::array<std::string_view, 5> kLikeSecond = {"nll_loss_backward", "nll_loss2d_backward",
                                                           "max_pool2d_with_indices_backward", "_adaptive_avg_pool2d_backward",
                                                           "avg_pool3d_backward"};
  if (is_one_of(op, kLikeSecond)) {
    const TensorShape* x = tensor_at(call, 1);
    if (x == nullptr) return std::nullopt;
    return fill_of(x->sizes, x->dtype);
  }
  if (op != "embedding_dense_backward") return std::nullopt;
  const TensorShape* gradient = tensor_at(call, 0);
  const auto rows = number_at(call, 2);
  if (gradient == nullptr || gradient->sizes.empty() || !rows) return std::nullopt;
  return fill_of({static_cast<std::int64_t>(*rows), gradient->sizes.back()}, gradient->dtype);
}

// Ops whose kernels want rows one behind the other.
bool wants_order(std::string_view op) {
  constexpr std::array<std::string_view, 6> kOps = {"native_layer_norm", "native_layer_norm_backward",
                                                    "_fused_rms_norm",   "_fused_rms_norm_backward",
                                                    "_softmax",          "_log_softmax"};
  return is_one_of(op, kOps);
}

InnerCalls in_order(const OpCall& call) {
  InnerCalls out;
  out.own = call;
  const std::size_t count = std::min<std::size_t>(is_backward(call.op) ? 2 : 1, call.arguments.size());
  for (std::size_t i = 0; i < count; ++i) {
    TensorShape& t = out.own->arguments[i].tensor;
    if (out.own->arguments[i].kind != OpArgument::Kind::tensor || lies_in_order(t)) continue;
    TensorShape dense{t.sizes, {}, t.dtype};
    out.others.push_back(copy_of(dense, t));
    t = std::move(dense);
  }
  return out;
}

// The factors of a product, by op.
struct FactorsAt {
  std::string_view op;
  std::size_t first;
};
constexpr std::array kFactors = {FactorsAt{"mm", 0}, FactorsAt{"bmm", 0}, FactorsAt{"addmm", 1}, FactorsAt{"baddbmm", 1}};

// Whether the library can read a matrix where it lies: one of its two dimensions is dense, and the other goes past it.
bool lies_for_products(const TensorShape& t) {
  const std::size_t rank = t.sizes.size();
  if (rank < 2 || t.strides.size() != rank) return true;
  const std::int64_t rows = t.sizes[rank - 2], columns = t.sizes[rank - 1];
  const std::int64_t by_rows = t.strides[rank - 2], by_columns = t.strides[rank - 1];
  return (by_columns == 1 && (by_rows >= columns || rows == 1)) || (by_rows == 1 && (by_columns >= rows || columns == 1)) ||
         rows * columns <= 1;
}

// A factor that the library cannot read is copied first.
std::optional<InnerCalls> copied_factors(const OpCall& call, std::size_t first) {
  InnerCalls out;
  out.own = call;
  for (std::size_t i = first; i < std::min(first + 2, call.arguments.size()); ++i) {
    TensorShape& t = out.own->arguments[i].tensor;
    if (out.own->arguments[i].kind != OpArgument::Kind::tensor || lies_for_products(t)) continue;
    TensorShape dense{t.sizes, {}, t.dtype};
    out.others.push_back(copy_of(dense, t));
    t = std::move(dense);
  }
  if (out.others.empty()) return std::nullopt;
  return out;
}

// Of very many rows over few columns a norm's backward makes sums of 32 rows each, and leaves the rest to sums over those.
void sums_of_partial_gradients(const OpCall& call, InnerCalls* out) {
  constexpr double kManyRows = 65536, kRows = 32, kFewColumns = 66 * 32, kMostSums = 16384;
  const auto normed = integers_at(call, 2);
  const TensorShape* gradient = tensor_at(call, 0);
  if (!normed || gradient == nullptr || !asks_for_weights(call, call.op)) return;
  double columns = 1;
  for (const std::int64_t n : *normed) columns *= static_cast<double>(n);
  const double rows = numel(*gradient) / std::max(columns, 1.0);
  if (rows <= kManyRows || columns >= kFewColumns) return;
  const double sums = std::min(std::ceil(rows / kRows), kMostSums);
  OpArgument over;
  over.kind = OpArgument::Kind::value;
  over.value = "[0]";
  const TensorShape partial{{static_cast<std::int64_t>(sums), static_cast<std::int64_t>(columns)}, {}, DType::f32};
  const int gradients = call.op.find("rms_norm") == std::string_view::npos ? 2 : 1;
  for (int i = 0; i < gradients; ++i) out->others.push_back(call_of("aten::sum", {tensor_argument(partial), over}));
}

// Volumes whose channels lie last are normed in float32: what is not so yet is copied first.
std::optional<InnerCalls> normed_volume(const OpCall& call) {
  const TensorShape* x = tensor_at(call, 0);
  if (x == nullptr || x->sizes.size() != 5 || !channels_last(*x) || x->dtype == DType::f32 || !flag_at(call, 5))
    return std::nullopt;
  TensorShape copied = *x;
  copied.dtype = DType::f32;
  return InnerCalls{{copy_of(copied, *x)}, call};
}

// (gradient, sizes, ..): zeros, and the gradient copied into a part of them.
std::optional<InnerCalls> placed_in_zeros(const OpCall& call) {
  const TensorShape* gradient = tensor_at(call, 0);
  const auto sizes = integers_at(call, 1);
  if (gradient == nullptr || !sizes || sizes->empty()) return std::nullopt;
  TensorShape whole{*sizes, {}, gradient->dtype};
  InnerCalls out;
  out.others.push_back(fill_of(*sizes, gradient->dtype));
  TensorShape part = *gradient;
  part.strides.assign(part.sizes.size(), 1);
  // As the zeros lie; a dimension that was picked from is not there any more.
  std::size_t at = sizes->size();
  std::int64_t stride = 1;
  for (std::size_t i = part.sizes.size(); i-- > 0;) {
    while (at > i + 1 + (sizes->size() - part.sizes.size())) stride *= (*sizes)[--at];
    part.strides[i] = stride;
    if (at > 0) stride *= (*sizes)[--at];
  }
  out.others.push_back(copy_of(part, *gradient));
  return out;
}

std::vector<std::int64_t> strides_like(const TensorShape& x, const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> strides(sizes.size(), 1);
  std::int64_t next = 1;
  const bool last = sizes.size() > 3 && channels_last(x);
  if (last) next = sizes[1];
  for (std::size_t i = sizes.size(); i-- > (last ? 2U : 0U);) strides[i] = next, next *= sizes[i];
  if (last) strides[0] = next;
  return strides;
}

// (x, [before the last dimension, behind it, before the one before it, ..], value): the whole is filled, and x copied into it.
std::optional<InnerCalls> padded_copy(const OpCall& call) {
  const TensorShape* x = tensor_at(call, 0);
  const auto pads = integers_at(call, 1);
  if (x == nullptr || !pads || pads->size() % 2 != 0 || pads->size() / 2 > x->sizes.size()) return std::nullopt;
  if (std::ranges::all_of(*pads, [](std::int64_t n) { return n <= 0; })) return std::nullopt;  // cut off: a clone
  TensorShape from = *x;
  std::vector<std::int64_t> whole = x->sizes;
  for (std::size_t i = 0; i < pads->size() / 2; ++i) {
    const std::size_t dim = x->sizes.size() - 1 - i;
    const std::int64_t before = (*pads)[2 * i], behind = (*pads)[2 * i + 1];
    whole[dim] += before + behind;
    from.sizes[dim] += std::min<std::int64_t>(before, 0) + std::min<std::int64_t>(behind, 0);
    if (whole[dim] <= 0 || from.sizes[dim] <= 0) return std::nullopt;
  }
  if (from.strides.size() != from.sizes.size()) from.strides = strides_like(*x, x->sizes);
  const TensorShape to{from.sizes, strides_like(*x, whole), x->dtype};
  InnerCalls out;
  out.others = {fill_of(std::move(whole), x->dtype), copy_of(to, from)};
  return out;
}

// Integers are summed as int64, and so is what is asked for in another type: the kernels of sums read the type that they give
// (but half precision, which they sum in float32), so that a copy of that type is made first.
struct SumsAt {
  std::string_view op;
  std::size_t type_at, type_at_of_whole;  // of the result: where dimensions are given, and where not
};
constexpr std::array kSums = {SumsAt{"sum", 3, 1}, SumsAt{"prod", 3, 1}, SumsAt{"cumsum", 2, 2}, SumsAt{"cumprod", 2, 2}};

bool is_whole_number(DType type) {
  constexpr std::array kTypes = {DType::boolean, DType::u8, DType::i8, DType::i32, DType::i64};
  return std::ranges::find(kTypes, type) != kTypes.end();
}

std::optional<InnerCalls> summed_in_its_type(const OpCall& call, const SumsAt& sums) {
  const TensorShape* x = tensor_at(call, 0);
  if (x == nullptr || x->dtype == DType::unknown) return std::nullopt;
  const std::size_t type_at = call.arguments.size() > sums.type_at ? sums.type_at : sums.type_at_of_whole;
  const DType type = scalar_type(call, type_at, is_whole_number(x->dtype) ? DType::i64 : x->dtype);
  const bool half = x->dtype == DType::f16 || x->dtype == DType::bf16;
  if (type == DType::unknown || type == x->dtype || (half && type == DType::f32)) return std::nullopt;
  InnerCalls out;
  out.own = call;
  TensorShape& copied = out.own->arguments.front().tensor;
  copied.dtype = type;
  out.others.push_back(copy_of(copied, *x));
  return out;
}

// The logarithm of a sum is other ops altogether: the greatest of each row taken off, and added again.
std::optional<InnerCalls> log_of_sum(const OpCall& call) {
  const TensorShape* x = tensor_at(call, 0);
  const auto dims = integers_at(call, 1);
  if (x == nullptr || !dims || dims->empty()) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(x->sizes.size());
  TensorShape rows{x->sizes, {}, x->dtype};
  for (std::int64_t d : *dims) {
    d = d < 0 ? d + rank : d;
    if (d < 0 || d >= rank) return std::nullopt;
    rows.sizes[static_cast<std::size_t>(d)] = 1;
  }
  const OpArgument of_rows = tensor_argument(rows), less = tensor_argument({x->sizes, {}, x->dtype});
  const OpArgument flags = tensor_argument({rows.sizes, {}, DType::boolean}), &over = call.arguments[1];
  InnerCalls out;
  out.others = {call_of("aten::amax", {call.arguments[0], over}),
                call_of("aten::sub", {call.arguments[0], of_rows}),
                call_of("aten::exp_", {less}),
                call_of("aten::sum", {less, over}),
                call_of("aten::abs", {of_rows}),
                call_of("aten::eq", {of_rows, OpArgument()}),
                call_of("aten::masked_fill_", {of_rows, flags, OpArgument()}),
                call_of("aten::log_", {of_rows}),
                call_of("aten::add_", {of_rows, of_rows})};
  return out;
}

// The same op into a copy of its first tensor.
std::optional<InnerCalls> into_a_copy(const OpCall& call, std::string_view in_place_op) {
  const TensorShape* x = tensor_at(call, 0);
  if (x == nullptr) return std::nullopt;
  InnerCalls out;
  if (in_place_op.empty()) {
    out.own = call;
    out.others.push_back(copy_of(*x, *x));
    return out;
  }
  OpCall changed = call;
  changed.op = in_place_op;
  out.others.push_back(std::move(changed));
  out.others.push_back(copy_of(*x, *x));
  return out;
}

// A softmax that gives zeros for rows of which nothing is left.
std::optional<InnerCalls> safe_softmax(const OpCall& call) {
  const TensorShape* x = tensor_at(call, 0);
  if (x == nullptr || x->sizes.empty()) return std::nullopt;
  const TensorShape flags{x->sizes, {}, DType::boolean};
  TensorShape of_rows = flags;
  of_rows.sizes.back() = 1;
  OpCall softmax = call, all = call;
  softmax.op = "aten::_softmax";
  all.op = "aten::all";
  all.arguments.front() = tensor_argument(flags);
  InnerCalls out;
  out.others = {std::move(softmax), call_of("aten::isneginf", {tensor_argument(*x)}), std::move(all),
                call_of("aten::where", {tensor_argument(of_rows), OpArgument(), tensor_argument({x->sizes, {}, x->dtype})})};
  return out;
}

}  // namespace

std::optional<InnerCalls> inner_calls(const OpCall& call) {
  const std::string_view op = inner_name(call.op);
  if (!call.has_shapes) return std::nullopt;
  if (auto zeros = zeros_of(call, op)) {
    InnerCalls out{{std::move(*zeros)}, call};
    if (TensorShape& gradient = out.own->arguments.front().tensor;
        op == "embedding_dense_backward" && !lies_in_order(gradient)) {
      TensorShape dense{gradient.sizes, {}, gradient.dtype};
      out.others.push_back(copy_of(dense, gradient));
      gradient = std::move(dense);
    }
    return out;
  }
  if (const auto at = std::ranges::find(kFactors, op, &FactorsAt::op); at != kFactors.end())
    return copied_factors(call, at->first);
  if (op == "slice_backward" || op == "select_backward") return placed_in_zeros(call);
  if (op == "masked_fill") return into_a_copy(call, "aten::masked_fill_");
  constexpr std::array<std::string_view, 3> kIntoCopies = {"index_add", "scatter", "scatter_add"};
  if (is_one_of(op, kIntoCopies)) return into_a_copy(call, {});
  if (const auto at = std::ranges::find(kSums, op, &SumsAt::op); at != kSums.end()) return summed_in_its_type(call, *at);
  if (op == "constant_pad_nd") return padded_copy(call);
  if (op == "logsumexp") return log_of_sum(call);
  if (op == "_safe_softmax") return safe_softmax(call);
  if (op == "_softmax_backward_data" && tensor_at(call, 1) != nullptr && tensor_at(call, 0) != nullptr)
    return InnerCalls{{call_of("aten::mul", {call.arguments[0], call.arguments[1]})}, call};
  if (op == "native_batch_norm") return normed_volume(call);
  if (!wants_order(op)) return std::nullopt;
  InnerCalls out = in_order(call);
  if (is_backward(op)) sums_of_partial_gradients(call, &out);
  if (out.others.empty()) return std::nullopt;
  return out;
}

}  // namespace ridge::features
