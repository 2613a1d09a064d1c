// Matrix products. FLOPs: 2 M N K, bias and activation free (torch/utils/flop_counter.py); bytes: each matrix once, dense.
#include <algorithm>

#include "ops/operands.h"

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
std::optional<Sizes> sizes_of(const TensorShape* a, const TensorShape* b) {
  if (a == nullptr || b == nullptr || a->sizes.size() < 2 || b->sizes.size() < 2) return std::nullopt;
  if (a->sizes.size() > 3 || b->sizes.size() > 3) return std::nullopt;
  Sizes s{.batch = 1, .m = size(*a, 2), .n = size(*b, 1), .k = size(*a, 1)};
  if (a->sizes.size() == 3 && b->sizes.size() == 3) s.batch = size(*a, 3);
  return s;
}

// How many results of M x N a grouped product has: where both operands are flat the groups divide K, and each has its own.
double groups_of(const OpCall& call, const At& at, const TensorShape& a, const TensorShape& b) {
  const TensorShape* ends = at.ends < 0 ? nullptr : tensor_at(call, static_cast<std::size_t>(at.ends));
  const bool divides_k = ends != nullptr && ends->sizes.size() == 1 && a.sizes.size() == 2 && b.sizes.size() == 2;
  return divides_k ? numel(*ends) : 1;
}

// `otherwise`: the result's type where no argument says it; unknown: that of the factors.
OpWork product_of(const OpCall& call, const Part& part, const At& at, DType otherwise) {
  const TensorShape* a = tensor_at(call, static_cast<std::size_t>(at.a));
  const TensorShape* b = tensor_at(call, static_cast<std::size_t>(at.b));
  const GemmPart own = part.as<GemmPart>();
  OpWork work;
  if (part.role == KernelRole::initialise) return moves(0, 0, a != nullptr ? a->dtype : DType::unknown);
  const auto s = sizes_of(a, b);
  if (!s) return work;
  work.dtype = a->dtype;
  if (otherwise == DType::unknown) otherwise = a->dtype;
  const DType out_type = at.out_dtype < 0 ? otherwise : scalar_type(call, static_cast<std::size_t>(at.out_dtype), otherwise);
  const double out = s->out() * groups_of(call, at, *a, *b) * item_bytes(out_type);
  const auto factor = at.beta < 0 ? std::optional(1.0) : number_at(call, static_cast<std::size_t>(at.beta));
  const double added = at.added < 0 || factor == 0.0 ? 0 : touched_or_zero(tensor_at(call, static_cast<std::size_t>(at.added)));
  switch (part.role) {
    case KernelRole::combine: return moves(own.partial_bytes + added, out, a->dtype);
    case KernelRole::bias: return moves(out + added, out, a->dtype);
    case KernelRole::fill: return moves(0, out, a->dtype);
    default: break;
  }
  work.flops = 2 * s->batch * s->m * s->n * s->k;
  work.read = plus(plus(dense_bytes(a), dense_bytes(b)), added + own.reread_bytes);
  work.ambiguous = own.reread_bytes > 0;
  work.written = own.partial_bytes > 0 ? own.partial_bytes : out;
  return work;
}
OpWork product(const OpCall& c, const Part& p, const At& at) { return product_of(c, p, at, DType::unknown); }

// (self, a, b, beta, alpha, ..), or (self, a, b, out_dtype, beta, alpha, ..); a result that is given stands last.
OpWork with_dtype_between(const OpCall& c, const Part& p, const At& at) {
  const bool has_dtype = c.arguments.size() > 5 && tensor_at(c, 5) == nullptr;
  return product(c, p, has_dtype ? At{.a = at.a, .b = at.b, .added = at.added, .beta = 4, .out_dtype = 3} : at);
}
// Two forms: (a, b, scale_a, scale_b, bias, scale_result, out_dtype, ..) and, to 2.2, (a, b, bias, out_dtype, scale_a, ..).
OpWork scaled_mm(const OpCall& c, const Part& p, const At& at) {
  const bool old_form = c.arguments.size() > 3 && c.arguments[3].kind != OpArgument::Kind::tensor;
  OpWork work = product(c, p, old_form ? At{.added = 2, .out_dtype = 3} : at);
  if (work.read && p.role == KernelRole::main && !old_form) {
    *work.read += touched_or_zero(tensor_at(c, 2)) + touched_or_zero(tensor_at(c, 3));
  }
  return work;
}
OpWork int_mm(const OpCall& c, const Part& p, const At& at) { return product_of(c, p, at, DType::i32); }

// (x [.., K], w [N, K], bias): x flattened to two dimensions.
OpWork linear(const OpCall& c, const Part& p, const At& at) {
  const TensorShape* x = tensor_at(c, 0);
  const TensorShape* w = tensor_at(c, 1);
  if (x == nullptr || w == nullptr || x->sizes.empty() || w->sizes.size() != 2) return {};
  OpCall flat = c;
  TensorShape& rows = flat.arguments[0].tensor;
  const std::int64_t k = x->sizes.back();
  double m = k > 0 ? numel(*x) / static_cast<double>(k) : 0;
  rows = {{static_cast<std::int64_t>(std::min(m, 9e18)), k}, {}, x->dtype};
  TensorShape& transposed = flat.arguments[1].tensor;
  transposed = {{w->sizes[1], w->sizes[0]}, {}, w->dtype};
  return product(flat, p, at);
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

// A row whose formula reads the arguments at the row's own positions.
using FormulaAt = OpWork (*)(const OpCall&, const Part&, const At&);
template <At at, FormulaAt formula>
OpWork work_at(const OpCall& c, const Part& p) {
  return formula(c, p, at);
}
template <At at, FormulaAt formula = product>
constexpr OpFormula row(std::string_view op) {
  return {.op = op, .family = kFamily, .work = work_at<at, formula>, .positions = at};
}

constexpr At kMm{.out_dtype = 2};                                         // (a, b), or (a, b, out_dtype)
constexpr At kAddmm{.a = 1, .b = 2, .added = 0, .beta = 3};               // (self, a, b, beta, alpha, ..)
constexpr At kScaledMm{.added = 4, .out_dtype = 6};                       // see scaled_mm
constexpr At kScaledMmV2{.added = 8, .out_dtype = 9};                     // scale, recipe, swizzle of a, of b, bias
constexpr At kGroupedMm{.added = 3, .out_dtype = 4, .ends = 2};           // (a, b, offs, bias, out_dtype)
constexpr At kScaledGroupedMm{.added = 5, .out_dtype = 7, .ends = 4};     // two scales before offs
constexpr At kScaledGroupedMmV2{.added = 9, .out_dtype = 10, .ends = 8};  // as kScaledMmV2, offs before bias
constexpr At kLinear{.b_by_rows = true, .added = 2};                      // (x, w, bias)
constexpr At kMv{}, kAddmv{.a = 1, .b = 2, .added = 0};                   // (a, v), (self, a, v, ..)

constexpr OpFormula kRows[] = {
    row<kMm>("aten::mm"),
    row<kAddmm, with_dtype_between>("aten::addmm"),
    row<kAddmm>("aten::_addmm_activation"),
    row<kMm>("aten::bmm"),
    row<kAddmm, with_dtype_between>("aten::baddbmm"),
    row<kAddmm, with_dtype_between>("aten::_baddbmm_mkl_"),
    row<kScaledMm, scaled_mm>("aten::_scaled_mm"),
    row<kScaledMmV2>("aten::_scaled_mm_v2"),
    row<At{}, int_mm>("aten::_int_mm"),
    row<kGroupedMm>("aten::_grouped_mm"),
    row<kScaledGroupedMm>("aten::_scaled_grouped_mm"),
    row<kScaledGroupedMmV2>("aten::_scaled_grouped_mm_v2"),
    row<kLinear, linear>("aten::linear"),
    row<kMv, matrix_and_vector>("aten::mv"),
    row<kAddmv, matrix_and_vector>("aten::addmv"),
    {"aten::dot", kFamily, vectors},
    {"aten::vdot", kFamily, vectors},
};

}  // namespace

std::span<const OpFormula> gemm_ops() { return kRows; }

}  // namespace ridge
