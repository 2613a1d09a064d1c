// Rows and elements chosen by an index. What is read of the table are the rows touched, not the table: with indices drawn
// uniformly, n picks among V rows touch V (1 - exp(-n / V)) of them. Indices of words repeat more, masks and permutations do
// not at all; their values are in no trace.
#include <algorithm>
#include <cmath>

#include "ops/operands.h"

namespace ridge {
namespace {

// What one access brings from memory: two sectors of 32 bytes, as counters show for picks far apart.
constexpr double kSector = 64;

// Bytes of `picks` rows of `row` elements among a table.
double rows_bytes(const TensorShape& table, double picks, double row, double cache, double beside = 1) {
  const double item = item_bytes(table.dtype);
  return picked_bytes(numel(table) * item, std::max(row * item, kSector), picks, beside, cache);
}

// Neighbouring elements that one index chooses: the dimensions over which the index is broadcast, from the last one on.
double row_of(const TensorShape& index) {
  if (index.strides.size() != index.sizes.size()) return 1;
  double row = 1;
  for (std::size_t i = index.sizes.size(); i-- > 0 && index.strides[i] == 0;) row *= static_cast<double>(index.sizes[i]);
  return row;
}

OpWork take_rows(const TensorShape* table, const TensorShape* index, double row, double cache) {
  if (table == nullptr || index == nullptr || table->dtype == DType::unknown) return {.flops = 0};
  const double picks = numel(*index);
  return moves(rows_bytes(*table, picks, row, cache) + touched_bytes(*index), picks * row * item_bytes(table->dtype),
               table->dtype);
}

double inner(const TensorShape& t, std::size_t from) {
  double n = 1;
  for (std::size_t i = from; i < t.sizes.size(); ++i) n *= static_cast<double>(t.sizes[i]);
  return n;
}

// The dimension of argument `at`, counted from the front.
std::size_t dimension(const OpCall& c, std::size_t at, const TensorShape& t) {
  const double rank = static_cast<double>(t.sizes.size());
  double d = number_at(c, at).value_or(0);
  if (d < 0) d += rank;
  return d >= 0 && d < rank ? static_cast<std::size_t>(d) : 0;
}

// (table [V, ..], indices)
OpWork embedding(const OpCall& c, const Part&, double cache) {
  const TensorShape* table = tensor_at(c, 0);
  return take_rows(table, tensor_at(c, 1), table != nullptr ? inner(*table, 1) : 1, cache);
}

// (weight, indices, offsets, scale, mode, sparse, weights of the samples, include_last_offset, ..): a row and its size written
// for each bag, and for each index its bag; of the greatest also where each element came from.
OpWork embedding_bag(const OpCall& c, const Part& p, double cache) {
  if (p.role != KernelRole::main)
    return moves(touched_or_zero(tensor_at(c, 1)), touched_or_zero(tensor_at(c, 1)), DType::unknown);
  OpWork work = embedding(c, p, cache);
  const TensorShape* table = tensor_at(c, 0);
  const TensorShape* offsets = tensor_at(c, 2);
  if (work.read && offsets != nullptr) {
    constexpr double kGreatest = 2;
    const double bags = std::max(numel(*offsets) - (flag_at(c, 7) ? 1 : 0), 0.0), elements = bags * inner(*table, 1);
    const double index = std::max(item_bytes(offsets->dtype), item_bytes(tensor_at(c, 1)->dtype));
    *work.read += touched_bytes(*offsets) + touched_or_zero(tensor_at(c, 6));
    work.written = elements * item_bytes(table->dtype) + (bags + numel(*tensor_at(c, 1))) * index;
    if (number_at(c, 4) == kGreatest) *work.written += elements * index;
  }
  return work;
}

// (x, dim, index): whole slices.
OpWork index_select(const OpCall& c, const Part&, double cache) {
  const TensorShape* x = tensor_at(c, 0);
  const TensorShape* index = tensor_at(c, 2);
  if (x == nullptr || index == nullptr) return {.flops = 0};
  const std::size_t d = dimension(c, 1, *x);
  const double row = inner(*x, d + 1);
  double outer = 1;
  for (std::size_t i = 0; i < d && i < x->sizes.size(); ++i) outer *= static_cast<double>(x->sizes[i]);
  const double picks = numel(*index) * outer;
  return moves(rows_bytes(*x, picks, row, cache) + touched_bytes(*index), picks * row * item_bytes(x->dtype), x->dtype);
}

// Along the last dimension every index stays within its own row, which is in the cache while its picks are made: nothing is
// read twice, but which part of the rows is taken is not told.
bool within_rows(const OpCall& c, const TensorShape& x) { return !x.sizes.empty() && dimension(c, 1, x) + 1 == x.sizes.size(); }
double picked_within_rows(const TensorShape& x, double picks) {
  const double bytes = numel(x) * item_bytes(x.dtype), sectors = bytes / kSector;
  return std::min(bytes, distinct_rows(picks, sectors) * kSector);
}

// (x, dim, index, sparse_grad, out)
OpWork gather(const OpCall& c, const Part&, double cache) {
  const TensorShape* x = tensor_at(c, 0);
  const TensorShape* index = tensor_at(c, 2);
  if (x == nullptr || index == nullptr || x->dtype == DType::unknown) return {.flops = 0};
  const double row = row_of(*index), picks = numel(*index) / std::max(row, 1.0);
  const bool own_rows = row == 1 && x->sizes.size() > 1 && within_rows(c, *x);
  OpWork work = moves((own_rows ? picked_within_rows(*x, picks) : rows_bytes(*x, picks, row, cache)) + touched_bytes(*index),
                      numel(*index) * item_bytes(x->dtype), x->dtype);
  work.ambiguous = own_rows && picks > numel(*x) / static_cast<double>(std::max<std::int64_t>(x->sizes.back(), 1));
  return work;
}

// Rows that fill sectors, or picks that together fill the table, leave none to be completed.
double completed(const TensorShape& table, double picks, double row, double cache) {
  const double item = item_bytes(table.dtype);
  if (row * item >= kWrittenSector || picks * row >= numel(table)) return 0;
  return completed_bytes(std::min(picks * kWrittenSector, numel(table) * item), cache);
}

// (x, dim, index, source): `adds`: what is there is read and added to.
OpWork scatter_into(const OpCall& c, double cache, bool adds, bool slices) {
  const TensorShape* x = tensor_at(c, 0);
  const TensorShape* index = tensor_at(c, 2);
  const TensorShape* source = tensor_at(c, 3);
  if (x == nullptr || index == nullptr || x->dtype == DType::unknown) return {.flops = 0};
  const double row = slices ? inner(*x, dimension(c, 1, *x) + 1) : row_of(*index);
  const double picks = slices ? numel(*index) : numel(*index) / std::max(row, 1.0);
  const bool own_rows = !slices && row == 1 && x->sizes.size() > 1 && within_rows(c, *x);
  const double target = own_rows ? picked_within_rows(*x, picks) : rows_bytes(*x, picks, row, cache, 0.6);
  const double given = source != nullptr && !is_scalar(*source) ? touched_bytes(*source) : 0;
  OpWork work = moves(touched_bytes(*index) + given + (adds ? target : completed(*x, picks, row, cache)), target, x->dtype);
  work.ambiguous = adds && own_rows;
  return work;
}
OpWork scatter(const OpCall& c, const Part&, double cache) { return scatter_into(c, cache, false, false); }
OpWork scatter_add(const OpCall& c, const Part&, double cache) { return scatter_into(c, cache, true, false); }
OpWork index_add(const OpCall& c, const Part&, double cache) { return scatter_into(c, cache, true, true); }
OpWork index_copy(const OpCall& c, const Part&, double cache) { return scatter_into(c, cache, false, true); }

// (x, indices, ..): the trace does not record a list of optional tensors, so the grid tells how many elements are taken.
OpWork index(const OpCall& c, const Part& part, double cache) {
  const GatherPart p = part.as<GatherPart>();
  const TensorShape* x = tensor_at(c, 0);
  if (x == nullptr || x->dtype == DType::unknown) return {.flops = 0};
  OpWork work{.flops = 0, .dtype = x->dtype, .ambiguous = true};
  double elements = p.elements, indices = 0;
  if (c.arguments.size() > 1 && c.arguments[1].kind == OpArgument::Kind::tensor_list && !c.arguments[1].list.empty()) {
    double picks = 0;
    for (const TensorShape& t : c.arguments[1].list) {
      picks = std::max(picks, numel(t));
      indices += numel(t) * item_bytes(DType::i64);
    }
    elements = picks * inner(*x, std::min(c.arguments[1].list.size(), x->sizes.size()));
  }
  if (elements <= 0) return work;
  // Where one index takes whole rows there is a kernel that copies rows: any other has an index for each of two dimensions or
  // more (which are brought to one layout, each an int64 for each pick), or rows that are no multiple of its 16 bytes.
  double row = p.rows > 0 ? elements / static_cast<double>(p.rows) : 1, lists = 1;
  if (p.rows <= 0 && !x->sizes.empty()) {
    const bool whole_rows = std::fmod(inner(*x, 1) * item_bytes(x->dtype), 16) != 0;
    const std::size_t indexed = whole_rows ? 1 : std::min<std::size_t>(2, x->sizes.size());
    row = inner(*x, indexed);
    lists = static_cast<double>(indexed);
  }
  const double picks = elements / std::max(row, 1.0);
  if (indices == 0) indices = lists * picks * item_bytes(DType::i64);
  // Programs index with masks, permutations and routings, which name each row once before any twice; embeddings have ops of
  // their own.
  const double item = item_bytes(x->dtype), each_once = row * item >= kSector ? std::min(picks * row, numel(*x)) * item : 0;
  work.read = std::max(rows_bytes(*x, picks, row, cache), each_once) + indices;
  work.written = elements * item_bytes(x->dtype);
  return work;
}

// (x, indices, values, accumulate)
OpWork index_put(const OpCall& c, const Part& p) {
  const GatherPart own = p.as<GatherPart>();
  const TensorShape* x = tensor_at(c, 0);
  const TensorShape* values = tensor_at(c, 2);
  if (x == nullptr || values == nullptr) return {.flops = 0};
  const double given = touched_bytes(*values),
               target = std::min(std::max(own.elements, numel(*values)), numel(*x)) * item_bytes(x->dtype);
  // The last dimensions of both are the row that an index takes, as far as they agree; those before it are indexed.
  double row = 1;
  std::size_t indexed = x->sizes.size();
  for (std::size_t i = 1; i < x->sizes.size() && i < values->sizes.size() && indexed > 1; ++i, --indexed) {
    const std::int64_t size = x->sizes[x->sizes.size() - i];
    if (values->sizes[values->sizes.size() - i] != size) break;
    row *= static_cast<double>(size);
  }
  const double keys = numel(*values) / std::max(row * own.before, 1.0) * item_bytes(DType::i64);
  if (p.role != KernelRole::main) {  // sorts the indices
    if (p.role == KernelRole::initialise) return moves(0, 0, x->dtype);
    if (p.role == KernelRole::statistics) return moves(keys, 0, x->dtype);
    return moves(2 * keys, 2 * keys, x->dtype);
  }
  // Added to: the sorted indices and where each came from; else an index for each dimension.
  const bool adds = flag_at(c, 3);
  const double indices = keys * (adds ? 2 : static_cast<double>(std::max<std::size_t>(indexed, 1)));
  OpWork work = moves(given + indices + (adds ? target : 0), target, x->dtype);
  work.ambiguous = true;
  return work;
}

// Rows of equal indices are added up by tens, and then the sums of one index.
double partial_sums(double picks, double distinct) {
  constexpr double kAtATime = 10;
  return std::max(distinct, picks / kAtATime + distinct / 2);
}

// (grad, indices, rows, ..): sorts the indices, then adds up the rows of the gradient.
OpWork embedding_backward(const OpCall& c, const Part& p) {
  const TensorShape* grad = tensor_at(c, 0);
  const TensorShape* indices = tensor_at(c, 1);
  if (grad == nullptr || indices == nullptr || grad->dtype == DType::unknown) return {.flops = 0};
  const double picks = numel(*indices), row = picks > 0 ? numel(*grad) / picks : 0;
  const double rows = number_at(c, 2).value_or(picks);
  const double distinct = distinct_rows(picks, rows);
  const double target = distinct * row * item_bytes(grad->dtype);
  const double sums = partial_sums(picks, distinct) * row * item_bytes(DType::f32);
  const double keys = picks * item_bytes(DType::i64);
  switch (p.role) {
    case KernelRole::initialise: return moves(0, 0, grad->dtype);
    case KernelRole::index_helper: return moves(2 * keys, 2 * keys, grad->dtype);
    case KernelRole::statistics:
    case KernelRole::parameters: return moves(keys, keys, grad->dtype);
    case KernelRole::combine_helper:
      return moves(2 * distinct * item_bytes(DType::i64), distinct * item_bytes(DType::i64), grad->dtype);
    // Sums of runs of equal indices, as fp32, then the rows that they make.
    case KernelRole::combine: return moves(sums, target, grad->dtype);
    case KernelRole::grad_weight: return moves(plus(dense_bytes(grad), 2 * keys), sums, grad->dtype);
    default: return moves(plus(dense_bytes(grad), keys + target), target, grad->dtype);
  }
}

// (grad of the bags, indices, bag of each index, ..)
OpWork embedding_bag_backward(const OpCall& c, const Part& p) {
  const TensorShape* grad = tensor_at(c, 0);
  const TensorShape* indices = tensor_at(c, 1);
  if (grad == nullptr || indices == nullptr || grad->sizes.empty()) return {.flops = 0};
  const double keys = numel(*indices) * item_bytes(DType::i64);
  const double rows = numel(*indices) * static_cast<double>(grad->sizes.back()) * item_bytes(DType::f32);
  // Runs of equal indices, as fp32: at least one for each row that was taken.
  const double distinct = distinct_rows(numel(*indices), number_at(c, 5).value_or(numel(*indices)));
  const double summed = distinct * static_cast<double>(grad->sizes.back()) * item_bytes(DType::f32) + keys;
  switch (p.role) {
    case KernelRole::initialise: return moves(0, 0, grad->dtype);
    case KernelRole::index_helper: return moves(2 * keys, 2 * keys, grad->dtype);
    case KernelRole::combine_helper:
      return moves(2 * distinct * item_bytes(DType::i64), distinct * item_bytes(DType::i64), grad->dtype);
    case KernelRole::statistics:
    case KernelRole::parameters: return moves(keys, keys, grad->dtype);
    case KernelRole::combine: return moves(summed, summed, grad->dtype);
    default: return moves(plus(dense_bytes(grad), 3 * keys), rows, grad->dtype);
  }
}

// (x, mask): both are read, what is chosen is written.
OpWork masked(const OpCall& c, const Part& p) {
  const TensorShape* x = tensor_at(c, 0);
  if (x == nullptr) return {.flops = 0};
  if (p.role == KernelRole::initialise) return moves(0, 0, x->dtype);
  double read = 0;
  for (std::size_t i = 0; i < c.arguments.size(); ++i) read += touched_or_zero(tensor_at(c, i));
  return {.flops = 0, .read = read, .dtype = x->dtype, .ambiguous = true};
}

constexpr OpFamily kFamily = OpFamily::gather;
constexpr OpFormula kRows[] = {
    {"aten::embedding", kFamily, embedding},
    {"aten::_embedding_bag", kFamily, embedding_bag},
    {"aten::_embedding_bag_forward_only", kFamily, embedding_bag},
    {"aten::embedding_dense_backward", kFamily, embedding_backward, "embedding_backward"},
    {"aten::_embedding_bag_dense_backward", kFamily, embedding_bag_backward},
    {"aten::index_select", kFamily, index_select},
    {"aten::gather", kFamily, gather},
    {"aten::take_along_dim", kFamily, gather},
    {"aten::take", kFamily, embedding},
    {"aten::scatter", kFamily, scatter},
    {"aten::scatter_add", kFamily, scatter_add},
    {"aten::scatter_reduce", kFamily, scatter_add},
    {"aten::index_add", kFamily, index_add},
    {"aten::index_copy", kFamily, index_copy},
    {"aten::index_fill", kFamily, index_copy},
    {"aten::index", kFamily, index},
    {"aten::index_put", kFamily, index_put},
    {"aten::_index_put_impl_", kFamily, index_put, "index_put"},
    {"aten::_unsafe_index", kFamily, index, "upsample"},
    {"aten::_unsafe_index_put", kFamily, index_put, "index_put"},
    {"aten::masked_select", kFamily, masked},
    {"aten::masked_scatter", kFamily, masked},
};

}  // namespace

std::span<const OpFormula> gather_ops() { return kRows; }

}  // namespace ridge
