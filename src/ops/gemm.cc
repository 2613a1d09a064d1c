// Matrix products. FLOPs: 2 M N K, bias and activation free (torch/utils/flop_counter.py); bytes: each matrix once, dense.
#include <algorithm>

#include "ops/operands.h"
#include "ops/product.h"

namespace ridge {
namespace {

using At = ProductPositions;

struct Sizes {
  double batch = 1, m = 0, n = 0, k = 0;
  double out() const { return batch * m * n; }
};

double size(const TensorShape& t, std::size_t from_back) { return static_cast<double>(t.sizes[t.sizes.size() - from_back]); }

// [.., M, K] x [.., K, N]. Where only one of them has a third dimension (grouped products), the groups share the rows of the
// other.
std::optional<Sizes> sizes_by_columns(const TensorShape& a, const TensorShape& b) {
  if (a.sizes.size() < 2 || b.sizes.size() < 2 || a.sizes.size() > 3 || b.sizes.size() > 3) return std::nullopt;
  Sizes s{.batch = 1, .m = size(a, 2), .n = size(b, 1), .k = size(a, 1)};
  if (a.sizes.size() == 3 && b.sizes.size() == 3) s.batch = size(a, 3);
  return s;
}

// [.., K] x [N, K], all rows of a taken as one matrix; [B, M, K] x [B, N, K].
std::optional<Sizes> sizes_by_rows(const TensorShape& a, const TensorShape& b) {
  if (a.sizes.empty() || b.sizes.size() < 2 || b.sizes.size() > 3) return std::nullopt;
  const double k = size(a, 1);
  if (b.sizes.size() == 2) return Sizes{.m = k > 0 ? numel(a) / k : 0, .n = size(b, 2), .k = k};
  if (a.sizes.size() != 3) return std::nullopt;
  return Sizes{.batch = size(b, 3), .m = size(a, 2), .n = size(b, 2), .k = k};
}

// Weights that are packed, and often rearranged into tiles: what they hold in all is K times N.
std::optional<Sizes> sizes_of_packed(const TensorShape& a, const TensorShape& b, const At& at) {
  if (a.sizes.empty()) return std::nullopt;
  const double k = size(a, 1) * at.packed_a;
  if (k <= 0) return std::nullopt;
  return Sizes{.m = numel(a) / size(a, 1), .n = numel(b) * at.packed_b / k, .k = k};
}

std::optional<Sizes> sizes_of(const TensorShape* a, const TensorShape* b, const At& at) {
  if (a == nullptr || b == nullptr) return std::nullopt;
  if (at.packed_b > 1) return sizes_of_packed(*a, *b, at);
  return at.b_by_rows ? sizes_by_rows(*a, *b) : sizes_by_columns(*a, *b);
}

// How many results of M x N a grouped product has: where both operands are flat the groups divide K, and each has its own.
double groups_of(const OpCall& call, const At& at, const TensorShape& a, const TensorShape& b) {
  const TensorShape* ends = at.ends < 0 ? nullptr : tensor_at(call, static_cast<std::size_t>(at.ends));
  const bool divides_k = ends != nullptr && ends->sizes.size() == 1 && a.sizes.size() == 2 && b.sizes.size() == 2;
  return divides_k ? numel(*ends) : 1;
}

// Of the groups' matrices, the share that some row meets: where groups divide the rows, as many rows as there are groups leave
// some without any. Which ones is not told; they count as chosen evenly. Counters of an H200: of 32 groups and 32 rows the
// matrices of 21 were read (20.4 by this), of 128 and 128 those of 81 (81.1).
double share_met(const OpCall& call, const At& at, const TensorShape& a, const TensorShape& b) {
  const bool divides_rows = at.ends >= 0 && a.sizes.size() == 2 && b.sizes.size() == 3;
  if (!divides_rows || tensor_at(call, static_cast<std::size_t>(at.ends)) == nullptr || b.sizes[0] <= 0) return 1;
  const auto groups = static_cast<double>(b.sizes[0]);
  return distinct_rows(static_cast<double>(a.sizes[0]), groups) / groups;
}

const TensorShape* given(const OpCall& call, int position) {
  return position < 0 ? nullptr : tensor_at(call, static_cast<std::size_t>(position));
}

// Of the result: the one that was given, else a new one of the type that the call asks for.
double result_bytes(const OpCall& call, const At& at, DType of_factors, double elements) {
  if (const TensorShape* out = given(call, at.out)) return touched(out).value_or(0);
  const DType otherwise = at.result != DType::unknown ? at.result : of_factors;
  const DType type = at.out_dtype < 0 ? otherwise : scalar_type(call, static_cast<std::size_t>(at.out_dtype), otherwise);
  return elements * item_bytes(type);
}

}  // namespace

OpWork product(const OpCall& call, const Part& part, const At& at) {
  const TensorShape* a = given(call, at.a);
  const TensorShape* b = given(call, at.b);
  const GemmPart own = part.as<GemmPart>();
  OpWork work;
  if (part.role == KernelRole::initialise) return moves(0, 0, a != nullptr ? a->dtype : DType::unknown);
  const auto s = sizes_of(a, b, at);
  if (!s) return work;
  work.dtype = a->dtype;
  const double out = result_bytes(call, at, a->dtype, s->out() * groups_of(call, at, *a, *b));
  const auto factor = at.beta < 0 ? std::optional(1.0) : number_at(call, static_cast<std::size_t>(at.beta));
  const double added = factor == 0.0 ? 0 : touched_or_zero(given(call, at.added));
  switch (part.role) {
    case KernelRole::combine: return moves(own.partial_bytes + added, out, a->dtype);
    case KernelRole::bias: return moves(out + added, out, a->dtype);
    case KernelRole::fill: return moves(0, out, a->dtype);
    case KernelRole::layout_in: return moves(dense_bytes(a), dense_bytes(a), a->dtype);
    case KernelRole::unknown: return work;
    default: break;
  }
  work.flops = 2 * s->batch * s->m * s->n * s->k;
  const double scales = touched_or_zero(given(call, at.scale_a)) + touched_or_zero(given(call, at.scale_b));
  const double met = share_met(call, at, *a, *b);
  constexpr double kNearlyAll = 0.99;
  work.read = plus(plus(dense_bytes(a), times(dense_bytes(b), met)), added + scales + own.reread_bytes);
  work.ambiguous = own.reread_bytes > 0 || met < kNearlyAll;
  work.written = own.partial_bytes > 0 ? own.partial_bytes : out;
  return work;
}

namespace {

// (self, a, b, beta, alpha, ..), or (self, a, b, out_dtype, beta, alpha, ..); a result that is given stands last.
OpWork with_dtype_between(const OpCall& c, const Part& p, const At& at) {
  const bool has_dtype = c.arguments.size() > 5 && tensor_at(c, 5) == nullptr;
  return product(c, p, has_dtype ? At{.a = at.a, .b = at.b, .added = at.added, .beta = 4, .out_dtype = 3} : at);
}
// Two forms: (a, b, scale_a, scale_b, bias, scale_result, out_dtype, ..) and, to 2.2, (a, b, bias, out_dtype, scale_a, ..).
OpWork scaled_mm(const OpCall& c, const Part& p, const At& at) {
  const bool old_form = c.arguments.size() > 3 && c.arguments[3].kind != OpArgument::Kind::tensor;
  return product(c, p, old_form ? At{.added = 2, .out_dtype = 3} : at);
}

// A matrix and a vector, two vectors: PyTorch counts no FLOPs for them, so none are claimed.
OpWork vectors(const OpCall& c, const Part& p) {
  OpWork work;
  if (p.role == KernelRole::initialise) return moves(0, 0, DType::unknown);
  double read = 0;
  std::size_t tensors = 0;
  for (const OpArgument& a : c.arguments) {
    if (a.kind != OpArgument::Kind::tensor || is_scalar(a.tensor)) continue;
    if (work.dtype == DType::unknown) work.dtype = a.tensor.dtype;
    read += numel(a.tensor) * item_bytes(a.tensor.dtype);
    ++tensors;
  }
  if (tensors == 0) return work;
  work.read = read;
  const TensorShape* first = tensor_at(c, 0);
  const bool one_value = c.op.find("dot") != std::string_view::npos;
  const double values = one_value ? 1 : first != nullptr && !first->sizes.empty() ? static_cast<double>(first->sizes[0]) : 0;
  work.written = values * item_bytes(work.dtype);
  return work;
}

constexpr OpFamily kFamily = OpFamily::gemm;

OpWork matrix_and_vector(const OpCall& c, const Part& p, const At&) { return vectors(c, p); }

constexpr At kMm{.out_dtype = 2};                                                // (a, b), or (a, b, out_dtype)
constexpr At kAddmm{.a = 1, .b = 2, .added = 0, .beta = 3};                      // (self, a, b, beta, alpha, ..)
constexpr At kScaledMm{.added = 4, .out_dtype = 6, .scale_a = 2, .scale_b = 3};  // see scaled_mm
constexpr At kScaledMmV2{.added = 8, .out_dtype = 9};                            // scale, recipe, swizzle of a, of b, bias
constexpr At kGroupedMm{.added = 3, .out_dtype = 4, .ends = 2};                  // (a, b, offs, bias, out_dtype)
constexpr At kScaledGroupedMm{.added = 5, .out_dtype = 7, .ends = 4};            // two scales before offs
constexpr At kScaledGroupedMmV2{.added = 9, .out_dtype = 10, .ends = 8};         // as kScaledMmV2, offs before bias
constexpr At kLinear{.b_by_rows = true, .added = 2};                             // (x, w, bias)
constexpr At kMv{}, kAddmv{.a = 1, .b = 2, .added = 0};                          // (a, v), (self, a, v, ..)

constexpr OpFormula kRows[] = {
    product_row<kMm>("aten::mm"),
    product_row<kAddmm, with_dtype_between>("aten::addmm"),
    product_row<kAddmm>("aten::_addmm_activation"),
    product_row<kMm>("aten::bmm"),
    product_row<kAddmm, with_dtype_between>("aten::baddbmm"),
    product_row<kAddmm, with_dtype_between>("aten::_baddbmm_mkl_"),
    product_row<kScaledMm, scaled_mm>("aten::_scaled_mm"),
    product_row<kScaledMmV2>("aten::_scaled_mm_v2"),
    product_row<At{.result = DType::i32}>("aten::_int_mm"),
    product_row<kGroupedMm>("aten::_grouped_mm"),
    product_row<kScaledGroupedMm>("aten::_scaled_grouped_mm"),
    product_row<kScaledGroupedMmV2>("aten::_scaled_grouped_mm_v2"),
    product_row<kLinear>("aten::linear"),
    product_row<kMv, matrix_and_vector>("aten::mv"),
    product_row<kAddmv, matrix_and_vector>("aten::addmv"),
    {"aten::dot", kFamily, vectors},
    {"aten::vdot", kFamily, vectors},
};

}  // namespace

std::span<const OpFormula> gemm_ops() { return kRows; }

}  // namespace ridge
