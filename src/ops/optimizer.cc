// Foreach and fused optimizer ops: lists of tensors, cut into chunks of 65,536 elements of which each launch takes as many as
// its grid has blocks. Lists of more than 30 tensors are left out of traces; then the sizes come from elsewhere
// (ListPart::sizes).
#include <algorithm>
#include <cmath>

#include "ops/operands.h"

namespace ridge {
namespace {

constexpr double kChunk = 65536;

// Elements of the chunks [first, first + count) of tensors of these sizes.
double chunk_elements(std::span<const double> sizes, std::int64_t first, std::int64_t count) {
  double elements = 0, at = 0;
  const auto from = static_cast<double>(first), to = from + static_cast<double>(count);
  for (const double size : sizes) {
    const double chunks = std::ceil(size / kChunk);
    const double begin = std::max(from, at) - at, end = std::min(to, at + chunks) - at;
    if (begin < end) elements += std::min(end * kChunk, size) - begin * kChunk;
    at += chunks;
    if (at >= to) break;
  }
  return elements;
}

// Of the first list that the trace has, else those that were found elsewhere.
std::vector<double> sizes_of(const OpCall& call, const ListPart& part) {
  std::vector<double> sizes;
  for (const OpArgument& a : call.arguments) {
    if (a.kind != OpArgument::Kind::tensor_list || a.list.empty()) continue;
    for (const TensorShape& t : a.list) sizes.push_back(numel(t));
    return sizes;
  }
  sizes.assign(part.sizes.begin(), part.sizes.end());
  return sizes;
}

// `read` and `written`: how many lists.
OpWork lists(const OpCall& call, const Part& whole_part, double read, double written) {
  const ListPart part = whole_part.as<ListPart>();
  if (whole_part.role == KernelRole::initialise) return moves(0, 0, part.item);
  if (part.item == DType::unknown) return {.flops = 0};
  OpWork work{.flops = 0, .dtype = part.item};
  double elements = 0;
  const std::vector<double> sizes = part.elements < 0 ? sizes_of(call, part) : std::vector<double>();
  if (part.elements >= 0) {
    elements = part.elements;
  } else if (!sizes.empty()) {
    double all = 0;
    for (const double s : sizes) all += s;
    elements = part.count < 0 ? all : chunk_elements(sizes, part.first, part.count);
  } else if (part.count >= 0 && call.has_shapes && call.op.find("_fused_") != std::string_view::npos) {
    // The most that its blocks can take: parameters are large. Foreach lists may hold step counters, of which nothing is
    // claimed.
    elements = static_cast<double>(part.count) * kChunk;
    work.ambiguous = true;
  } else {
    return work;
  }
  const DType source = part.source == DType::unknown ? part.item : part.source;
  work.read = elements * item_bytes(source) * read;
  work.written = elements * item_bytes(part.item) * written;
  return work;
}

// In place: the first list is written. Else as many elements as one list has.
OpWork foreach (const OpCall& c, const Part& p) {
  double given = 0;
  for (const OpArgument& a : c.arguments) given += a.kind == OpArgument::Kind::tensor_list ? 1 : 0;
  const bool zero = c.op.find("_foreach_zero") != std::string_view::npos;
  const bool copy = c.op.find("_foreach_copy") != std::string_view::npos;
  // x.addcmul_(g, g): the second moment of Adam and its kin, so two of its three lists are one.
  if (c.op.find("_foreach_addcmul") != std::string_view::npos) {
    OpWork work = lists(c, p, 2, 1);
    work.ambiguous = true;
    return work;
  }
  // The functor of zeros names its list as one that it reads, and reads none of it.
  const int list_reads = p.as<ListPart>().list_reads;
  const double read = zero ? 0 : list_reads >= 0 ? list_reads : copy ? 1 : given;
  return lists(c, p, read, 1);
}
// The norms themselves are a value per chunk.
OpWork foreach_norm(const OpCall& c, const Part& p) {
  if (p.role == KernelRole::combine) return moves(0, 0, p.as<ListPart>().item);
  OpWork work = lists(c, p, 1, 0);
  return work;
}
// (params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, steps, ..)
OpWork fused_adam(const OpCall& c, const Part& p) {
  const int told = p.as<ListPart>().lists;
  const double depth = told > 0 ? told : 4;
  return lists(c, p, depth, depth - 1);
}
// (params, grads, momentum buffers, ..); adagrad: (params, grads, sums, steps)
OpWork fused_with_state(const OpCall& c, const Part& p) {
  const int told = p.as<ListPart>().lists;
  const double depth = told > 0 ? told : 3;
  return lists(c, p, depth, depth - 1);
}

constexpr OpFamily kFamily = OpFamily::optimizer;
constexpr OpFormula kRows[] = {
    {"aten::_fused_adam", kFamily, fused_adam},
    {"aten::_fused_adamw", kFamily, fused_adam},
    {"aten::_fused_sgd", kFamily, fused_with_state},
    {"aten::_fused_adagrad", kFamily, fused_with_state},
    {"aten::_foreach_norm", kFamily, foreach_norm},
    {"aten::_foreach_max", kFamily, foreach_norm},
    {"aten::_amp_foreach_non_finite_check_and_unscale", kFamily, foreach},
    {"aten::_foreach_", kFamily, foreach},
};

}  // namespace

std::span<const OpFormula> optimizer_ops() { return kRows; }

}  // namespace ridge
