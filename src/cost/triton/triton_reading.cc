// Sizes of pointers held against those of the walked space.
#include "cost/triton/triton_reading.h"

#include <algorithm>

namespace ridge {
namespace {

constexpr double kMostSeeds = 4096;  // one for each random op of a graph

}  // namespace

Reading::Reading(const TritonArguments& arguments, const FusedOps& ops)
    : pointers_(arguments.pointers),
      ops_(ops),
      all_(arguments.space->all()),
      kept_(arguments.space->kept),
      reduces_(arguments.space->reduced > 1),
      tiled_(arguments.space->dimensions > 1),
      scatters_(ops.scatters && has_index()),
      targets_(size()) {
  // Rows are added to tables, which stand last: a table is as wide as a row and has not the height of the space.
  const auto table = [&](const TritonPointer& p) {
    const auto& sizes = p.shape->sizes;
    return sizes.size() == 2 && static_cast<double>(sizes[1]) * kept_ == all_ && p.elements != all_;
  };
  if (!scatters_) return;
  const auto as_last = [&](std::size_t i) {
    return larger(i) && pointers_[i].shape->sizes == pointers_[size() - 1].shape->sizes;
  };
  while (targets_ > 1 && as_last(targets_ - 1)) --targets_;
  while (reduces_ && targets_ > 0 && table(pointers_[targets_ - 1])) --targets_;
}

bool Reading::has_index() const {
  return std::any_of(pointers_.begin(), pointers_.end(), [](const TritonPointer& p) { return is_integer(p.shape->dtype); });
}

bool Reading::lone_elements(std::size_t target) const {
  const auto& sizes = pointers_[target].shape->sizes;
  return std::any_of(pointers_.begin(), pointers_.end(), [&](const TritonPointer& p) {
    const auto& index = p.shape->sizes;
    return is_integer(p.shape->dtype) && sizes.size() > 1 && index.size() == sizes.size() && index.back() < sizes.back() &&
           std::equal(index.begin(), index.end() - 1, sizes.begin());
  });
}

// Full-size inputs when the last `out` pointers are outputs.
int Reading::inputs(std::size_t out) const {
  int count = 0;
  for (std::size_t i = 0; i + out < size(); ++i) count += full(i) && !is_index(i) && !is_dropout_mask(i) ? 1 : 0;
  return count == 0 && gathers() ? 1 : count;  // rows of a smaller table fill the space
}

int Reading::vectors(std::size_t first, std::size_t last) const {
  int count = 0;
  for (std::size_t i = first; i < last; ++i) count += small(i) ? 1 : 0;
  return count;
}

// Full-size inputs that the ops ask for: operands of sums and products only as far as no small tensor is left to be one.
int Reading::inputs_wanted(std::size_t in_out, std::size_t out) const {
  const int free_vectors = std::max(vectors(in_out, size() - out) - ops_.norm_vectors, 0);
  const int own = reduces_ && ops_.divides_by_sum ? 1 : 0;
  return ops_.inputs + std::max(ops_.operands - own - free_vectors, 0);
}

// Pointers at the end that can be outputs, not going before `first`. A reduction that makes nothing of full size writes only
// what it leaves.
std::size_t Reading::writable_tail(std::size_t first) const {
  first = std::max(first, behind_statistics());
  const auto fits = [&](std::size_t i) {
    if (!can_be_written(i) || (full(i) && combines_statistics())) return false;
    if (reduces_ && ops_.backward_norm && full(i) && !full(size() - 1)) return false;
    const auto& sizes = pointers_[i].shape->sizes;
    if (reduces_ && !full(i) && ops_.undoes_mean && !sizes.empty() && sizes.back() == 1) return false;
    return !reduces_ || !full(i) || full(size() - 1) || ops_.makes_full_size;
  };
  std::size_t tail = 0;
  while (tail + first < size() && fits(size() - 1 - tail)) ++tail;
  return tail;
}

// Means, sums of squares and counts of parts of the rows become those of larger parts, or of the rows: three tensors side by
// side, and nothing else of full size.
bool Reading::combines_statistics() const {
  if (!reduces_ || ops_.norm_vectors == 0 || full(size() - 1)) return false;
  std::size_t first = size(), fulls = 0;
  for (std::size_t i = 0; i < size(); ++i) {
    if (!full(i)) continue;
    first = std::min(first, i);
    ++fulls;
  }
  const auto same = [&](std::size_t a, std::size_t b) { return pointers_[a].shape->sizes == pointers_[b].shape->sizes; };
  if (fulls != 3 || first + 3 > size() || !same(first, first + 1) || !same(first, first + 2)) return false;
  const bool three_for_three = first == 0 && size() == 6 && same(3, 4) && same(3, 5) && pointers_[3].elements == kept_;
  return three_for_three || (ops_.inputs == 1 && ops_.operands == 0 && !ops_.adds_residual);
}

// How many outputs follow, given the in_outs. All that can be written and stand behind something that cannot are outputs, as
// long as the ops keep as many full-size inputs as they want. Where every pointer could be one, a pointwise kernel has the
// fewest.
std::size_t Reading::outputs(std::size_t in_out) const {
  if ((clears() || spreads()) && size() > 1) return size() - 1;
  if (in_out > 0 && adds_to_scaled()) return 0;
  const std::size_t tail = writable_tail(in_out);
  if (tail == 0) return in_out > 0 ? 0 : 1;
  const bool behind_an_input = tail + in_out < size();
  if (!behind_an_input && !reduces_) return in_out > 0 ? shaped_as_first(in_out) : 1;
  const std::size_t least = behind_made_mask();
  for (std::size_t out = tail; out > 0; --out) {
    if (out == least) return out;
    if (inputs(out) >= (behind_statistics() > 0 ? 2 - parts(size() - out) : inputs_wanted(in_out, out)))
      return std::max(without_norm_vectors(out), least);
  }
  return in_out > 0 && full(size() - 1) && inputs(0) > inputs(1) ? 0 : 1;
}

// Outputs have the shape of an in_out, which is one too, when what stands between has another view of as many elements.
std::size_t Reading::shaped_as_first(std::size_t in_out) const {
  const auto same = [&](std::size_t i) { return pointers_[i].shape->sizes == pointers_[0].shape->sizes; };
  std::size_t out = 0;
  while (in_out + out < size() && same(size() - 1 - out)) ++out;
  for (std::size_t i = in_out; i + out < size(); ++i)
    if (same(i)) return 0;
  return in_out + out < size() ? out : 0;
}

// Weights of a normalisation over square tensors are as long as what its reduction leaves. They are inputs, as far as the ops
// take such, when a full-size output follows.
std::size_t Reading::without_norm_vectors(std::size_t out) const {
  int taken = vectors(0, size() - out);
  const auto full_follows = [&] {
    for (std::size_t i = size() - out + 1; i < size(); ++i)
      if (full(i)) return true;
    return false;
  };
  for (; out > 1 && taken < ops_.norm_vectors && small(size() - out) && full_follows(); --out) ++taken;
  return out;
}

// The two-dimensional result of a matrix product stands last, beside a tensor that has its elements in more dimensions: it is
// read.
bool Reading::flattened_last() const {
  if (!(ops_.unflattens || ops_.only_adds) || ops_.moves_axes) return false;
  if (ops_.inputs + ops_.operands < 2 || pointers_.back().shape->sizes.size() != 2) return false;
  const auto deeper = [&](const TritonPointer& p) {
    return p.shape->sizes.size() > 2 && p.elements == pointers_.back().elements;
  };
  return std::any_of(pointers_.begin(), pointers_.end() - 1, deeper);
}

// Copies of a matrix product's result in other orders of dimensions: it alone has two of them, and nothing is done in place.
bool Reading::spreads() const {
  if (reduces_ || !ops_.unflattens || !ops_.moves_axes || pointers_[0].shape->sizes.size() != 2) return false;
  const auto copy = [&](const TritonPointer& p) { return p.shape->sizes.size() > 2 && p.elements == pointers_[0].elements; };
  return std::all_of(pointers_.begin() + 1, pointers_.end(), copy);
}

// The small tensors belong to a normalisation, and an addition beside it has no second tensor unless the last one is read.
bool Reading::residual_missing() const {
  if (!ops_.adds_residual || ops_.norm_vectors == 0) return false;
  return vectors(can_be_written(0) ? 1 : 0, size()) <= ops_.norm_vectors && inputs(1) < 2 && inputs(0) > inputs(1);
}

// Inputs that are neither of full size nor vectors: a gradient that is expanded.
int Reading::parts(std::size_t last) const {
  const auto part = [&](const TritonPointer& p) { return p.elements > kept_ && p.elements < 0.75 * all_; };
  return static_cast<int>(std::min<std::ptrdiff_t>(
      std::count_if(pointers_.begin(), pointers_.begin() + static_cast<std::ptrdiff_t>(last), part), 1));
}

// Gradients of two paths are added, and what comes back past an activation: one tensor more than the activation's gradient
// takes.
bool Reading::adds_to_gradient() const {
  if (reduces_ || !ops_.in_backward || !ops_.adds_residual || ops_.norm_vectors > 0 || vectors(0, size()) > 0) return false;
  return ops_.inputs > 1 && inputs(1) < ops_.inputs + 1 && inputs(0) > inputs(1);
}

// A normalisation by constants, which is done in place (no gradient takes its input), and a second tensor: it is added.
bool Reading::adds_to_scaled() const {
  return !reduces_ && ops_.scales_by_constants && inputs(0) == 2 && full(0) && full(size() - 1) && size() == 6 &&
         vectors(1, size() - 1) == 4;
}

// Two tensors and a sum of tensors, nothing else: one is added to the other.
bool Reading::sums_in_place() const { return ops_.only_adds && !reduces_ && inputs(0) == 2 && inputs(1) == 1; }

// What a scatter will add to is cleared first, and a mask is made of positions: one pointer is read if there are several, and
// no index.
bool Reading::clears() const {
  if (reduces_) return false;
  const bool to_index = ops_.scatters || ops_.places;
  if (size() == 1) return ops_.constants || (to_index && !has_index());
  if (has_index()) return false;
  const auto same = [&](const TritonPointer& p) { return p.elements == pointers_[0].elements; };
  return to_index && std::all_of(pointers_.begin(), pointers_.end(), same);
}

// A gradient that recomputes the forward pass reads the statistics of each row, a mean and a scale, side by side; what it
// writes comes behind them. The forward pass itself has them apart (the first pointer is one) and, of a norm with parameters,
// both of its vectors.
std::size_t Reading::behind_statistics() const {
  if (!reduces_ || (!ops_.undoes_softmax && !ops_.norm_and_backward && !ops_.rms_and_backward)) return 0;
  const auto row = [&](std::size_t i) { return small(i) && pointers_[i].elements == kept_ && kept_ > 1; };
  int parameters = 0;
  for (std::size_t i = 0; i < size(); ++i) parameters += small(i) && !row(i) && pointers_[i].shape->sizes.size() == 1 ? 1 : 0;
  if (row(0) || (!ops_.undoes_softmax && parameters > 1)) return 0;
  for (std::size_t i = 1; i + 2 < size() + (parameters == 1 ? 1 : 0); ++i)
    if (row(i) && row(i + 1)) return i + 2;
  for (std::size_t i = 1; ops_.rms_and_backward && i + 2 < size(); ++i)
    if (row(i) && full(i + 1)) return i + 1;
  return 0;
}

// A dropout that is done here, not undone, takes its random numbers from a vector of seeds. Its mask is written, and so is all
// behind it.
std::size_t Reading::behind_made_mask() const {
  const auto seeds = [&](const TritonPointer& p) {
    return p.shape->dtype == DType::i64 && p.shape->sizes.size() == 1 && p.elements < kMostSeeds;
  };
  if (!ops_.drops || !ops_.makes_mask || std::none_of(pointers_.begin(), pointers_.end(), seeds)) return 0;
  for (std::size_t i = size(); i-- > 0;)
    if (is_mask(i)) return size() - i;
  return 0;
}

std::size_t Reading::in_outs_by_shape() const {
  if (!can_be_written(0)) return 0;
  if (clears()) return 0;
  if (size() == 1) return ops_.reads ? 1 : 0;
  if (!can_be_written(size() - 1)) return 1;
  if (saves_in_place() || behind_statistics() == size()) return 1;
  if (!full(size() - 1)) return 0;
  if (tiled_ && !reduces_) return 0;
  // To save something takes a third tensor: of two, the gradient takes both.
  if (!reduces_ && size() == 2 && inputs(0) == 2 && ops_.saves) return 1;
  if (adds_to_gradient() || adds_to_scaled()) return 1;
  return inputs(1) < ops_.inputs || flattened_last() || residual_missing() || sums_in_place() ? 1 : 0;
}

// How many norms of the forward pass a pointwise kernel applies, each to a tensor of its own: as often as it has their vectors.
int Reading::norms_applied(std::size_t in_out, std::size_t out) const {
  if (reduces_ || ops_.in_backward || ops_.norm_and_backward || ops_.norm_vectors == 0) return 0;
  return vectors(in_out, size() - out) / ops_.norm_vectors;
}

// The forward pass of a norm writes what it normalised, for the gradient, and its result; the gradient of one behind a dropout
// writes what goes past the dropout and what goes through it. Where only one of the two is at the end, the other is an in_out.
bool Reading::saves_in_place() const {
  const std::size_t tail = writable_tail(1);
  int written = 0;
  for (std::size_t i = size() - tail; i < size(); ++i) written += full(i) && !is_mask(i) ? 1 : 0;
  if (!reduces_ || written > 1) return false;
  if (ops_.backward_norm && ops_.drops) return written == 1 && inputs(1) > inputs_wanted(1, 1);
  if (!ops_.norm_and_backward || ops_.in_backward || behind_statistics() > 0) return false;
  const auto& last = pointers_.back().shape->sizes;  // the scale of each row
  return !full(size() - 1) && !last.empty() && last.back() == 1;
}

// A norm with its gradient, or that alone, whose in_out takes a result of its own and is not read: what would be read of it,
// the residual of the forward pass or the gradient of the backward one, stands beside it in the same type; or rows of an
// embedding are the residual.
bool Reading::normalised_in_place(std::size_t in_out, std::size_t out) const {
  int inputs = 0, of_its_type = 0;
  for (std::size_t i = in_out; i + out < size(); ++i) {
    if (!full(i) || larger(i) || is_index(i) || is_dropout_mask(i)) continue;
    inputs += 1;
    of_its_type += pointers_[i].shape->dtype == pointers_[0].shape->dtype ? 1 : 0;
  }
  const bool backward = ops_.backward_norm || behind_statistics() > 0;
  if (!backward && gathers()) return true;
  const bool mixed = inputs > of_its_type;  // only then does the type tell anything
  return mixed && inputs >= inputs_wanted(in_out, out) && of_its_type >= (backward ? 2 : 1);
}

// In a reduction a small in_out holds the result before and after its last step; a full-size one does so for a step in between,
// when the ops want one input and another tensor is it.
bool Reading::in_out_is_read(std::size_t i, std::size_t in_out, std::size_t out) const {
  if (reduces_ && !full(i)) return false;
  if (reduces_ && (ops_.norm_and_backward || ops_.backward_norm)) return !normalised_in_place(in_out, out);
  int in_outs = 0;
  for (std::size_t k = 0; k < in_out; ++k) in_outs += full(k) ? 1 : 0;
  if (const int norms = norms_applied(in_out, out); norms > 1 && inputs(out) - in_outs >= norms) return false;
  return inputs(out) - in_outs < 1 || ops_.inputs + ops_.operands > 1;
}

}  // namespace ridge
