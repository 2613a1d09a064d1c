#include "cost/triton_roles.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "ops/operands.h"

namespace ridge {
namespace {

using Pointers = std::span<const TritonPointer>;

constexpr double kLeastAccess = 64;  // bytes that one lonely element costs: counters of gathers on an H200 show two sectors

bool is_integer(DType dtype) { return dtype == DType::i64 || dtype == DType::i32; }

bool has_index(Pointers pointers) {
  return std::any_of(pointers.begin(), pointers.end(), [](const TritonPointer& p) { return is_integer(p.shape->dtype); });
}

// One kernel's pointers against the space it walks.
class Reading {
 public:
  Reading(const TritonArguments& arguments, const FusedOps& ops)
      : pointers_(arguments.pointers),
        ops_(ops),
        all_(arguments.space->all()),
        kept_(arguments.space->kept),
        reduces_(arguments.space->reduced > 1),
        tiled_(arguments.space->dimensions > 1),
        scatters_(ops.scatters && has_index(pointers_)) {}

  std::size_t size() const { return pointers_.size(); }
  const TritonPointer& operator[](std::size_t i) const { return pointers_[i]; }
  double all() const { return all_; }
  bool reduces() const { return reduces_; }
  bool scatters() const { return scatters_; }
  bool gathers() const { return ops_.gathers && has_index(pointers_); }

  bool larger(std::size_t i) const { return pointers_[i].elements > all_; }
  // A padded split of a reduction covers a little more than its input holds.
  bool full(std::size_t i) const { return pointers_[i].elements >= 0.75 * all_; }
  bool small(std::size_t i) const { return !full(i) && !is_integer(pointers_[i].shape->dtype); }

  // What a kernel writes has the size of its space, or of what the reduction leaves; or it is scattered into.
  bool can_be_written(std::size_t i) const {
    const double n = pointers_[i].elements;
    return n == all_ || (reduces_ && n == kept_) || (scatters_ && n > all_ && i + 1 == size());
  }

  int inputs(std::size_t out) const;
  int inputs_wanted(std::size_t in_out, std::size_t out) const;
  std::size_t outputs(std::size_t in_out) const;
  std::size_t in_outs_by_shape() const;
  std::size_t writable_tail(std::size_t first) const;
  bool in_out_is_read(std::size_t i, std::size_t in_out, std::size_t out) const;

 private:
  int vectors(std::size_t first, std::size_t last) const;
  std::size_t without_norm_vectors(std::size_t out) const;
  std::size_t shaped_as_first(std::size_t in_out) const;
  bool flattened_last() const;
  bool residual_missing() const;
  bool sums_in_place() const;
  int parts(std::size_t last) const;
  bool clears() const;
  std::size_t behind_statistics() const;

  Pointers pointers_;
  const FusedOps& ops_;
  double all_, kept_;
  bool reduces_;
  bool tiled_;  // over two dimensions: layouts differ
  bool scatters_;
};

// Full-size inputs when the last `out` pointers are outputs.
int Reading::inputs(std::size_t out) const {
  int count = 0;
  for (std::size_t i = 0; i + out < size(); ++i) count += full(i) && !is_integer(pointers_[i].shape->dtype) ? 1 : 0;
  return count;
}

int Reading::vectors(std::size_t first, std::size_t last) const {
  int count = 0;
  for (std::size_t i = first; i < last; ++i) count += small(i) ? 1 : 0;
  return count;
}

// Full-size inputs that the ops ask for: operands of sums and products only as far as no small tensor is left to be one.
int Reading::inputs_wanted(std::size_t in_out, std::size_t out) const {
  const int free_vectors = std::max(vectors(in_out, size() - out) - ops_.norm_vectors, 0);
  return ops_.inputs + std::max(ops_.operands - free_vectors, 0);
}

// Pointers at the end that can be outputs, not going before `first`. A reduction that makes nothing of full size writes only what it leaves.
std::size_t Reading::writable_tail(std::size_t first) const {
  first = std::max(first, behind_statistics());
  const auto fits = [&](std::size_t i) {
    if (!can_be_written(i)) return false;
    if (reduces_ && ops_.backward_norm && full(i) && !full(size() - 1)) return false;
    const auto& sizes = pointers_[i].shape->sizes;
    if (reduces_ && !full(i) && ops_.undoes_mean && !sizes.empty() && sizes.back() == 1) return false;
    return !reduces_ || !full(i) || full(size() - 1) || ops_.makes_full_size;
  };
  std::size_t tail = 0;
  while (tail + first < size() && fits(size() - 1 - tail)) ++tail;
  return tail;
}

// How many outputs follow, given the in_outs. All that can be written and stand behind something that cannot are outputs, as long as the ops
// keep as many full-size inputs as they want. Where every pointer could be one, a pointwise kernel has the fewest.
std::size_t Reading::outputs(std::size_t in_out) const {
  if (clears() && size() > 1) return size() - 1;
  const std::size_t tail = writable_tail(in_out);
  if (tail == 0) return in_out > 0 ? 0 : 1;
  const bool behind_an_input = tail + in_out < size();
  if (!behind_an_input && !reduces_) return in_out > 0 ? shaped_as_first(in_out) : 1;
  for (std::size_t out = tail; out > 0; --out)
    if (inputs(out) >= (behind_statistics() > 0 ? 2 - parts(size() - out) : inputs_wanted(in_out, out)))
      return without_norm_vectors(out);
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

// Weights of a normalisation over square tensors are as long as what its reduction leaves. They are inputs, as far as the ops take such,
// when a full-size output follows.
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

// The two-dimensional result of a matrix product stands last, beside a tensor that has its elements in more dimensions: it is read.
bool Reading::flattened_last() const {
  if (!ops_.unflattens || ops_.inputs + ops_.operands < 2 || pointers_.back().shape->sizes.size() != 2) return false;
  const auto deeper = [&](const TritonPointer& p) {
    return p.shape->sizes.size() > 2 && p.elements == pointers_.back().elements;
  };
  return std::any_of(pointers_.begin(), pointers_.end() - 1, deeper);
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

// Two tensors and a sum of tensors, nothing else: one is added to the other.
bool Reading::sums_in_place() const { return ops_.only_adds && !reduces_ && inputs(0) == 2 && inputs(1) == 1; }

// What a scatter will add to is cleared first, and a mask is made of positions: one pointer is read if there are several, and no index.
bool Reading::clears() const {
  if (reduces_ || has_index(pointers_)) return false;
  const bool to_index = ops_.scatters || ops_.places;
  if (size() == 1) return to_index || ops_.constants;
  const auto same = [&](const TritonPointer& p) { return p.elements == pointers_[0].elements; };
  return to_index && std::all_of(pointers_.begin(), pointers_.end(), same);
}

// A gradient that recomputes the forward pass reads the statistics of each row, a mean and a scale, side by side; what it writes comes
// behind them. The forward pass itself has them apart (the first pointer is one) and, of a norm with parameters, both of its vectors.
std::size_t Reading::behind_statistics() const {
  if (!reduces_ || (!ops_.undoes_softmax && !ops_.norm_and_backward && !ops_.rms_and_backward)) return 0;
  const auto row = [&](std::size_t i) { return small(i) && pointers_[i].elements == kept_ && kept_ > 1; };
  int parameters = 0;
  for (std::size_t i = 0; i < size(); ++i) parameters += small(i) && !row(i) && pointers_[i].shape->sizes.size() == 1 ? 1 : 0;
  if (row(0) || (!ops_.undoes_softmax && parameters > 1)) return 0;
  for (std::size_t i = 1; i + 2 < size(); ++i)
    if (row(i) && row(i + 1)) return i + 2;
  for (std::size_t i = 1; ops_.rms_and_backward && i + 2 < size(); ++i)
    if (row(i) && full(i + 1)) return i + 1;
  return 0;
}

std::size_t Reading::in_outs_by_shape() const {
  if (!can_be_written(0)) return 0;
  if (clears()) return 0;
  if (size() == 1) return ops_.reads ? 1 : 0;
  if (!can_be_written(size() - 1)) return 1;
  if (!full(size() - 1)) return 0;
  if (tiled_ && !reduces_) return 0;
  return inputs(1) < ops_.inputs || flattened_last() || residual_missing() || sums_in_place() ? 1 : 0;
}

// In a reduction a small in_out holds the result before and after its last step; a full-size one does so for a step in between, when the ops
// want one input and another tensor is it.
bool Reading::in_out_is_read(std::size_t i, std::size_t in_out, std::size_t out) const {
  if (reduces_ && !full(i)) return false;
  int in_outs = 0;
  for (std::size_t k = 0; k < in_out; ++k) in_outs += full(k) ? 1 : 0;
  return inputs(out) - in_outs < 1 || ops_.inputs + ops_.operands > 1;
}

struct Match {
  std::size_t in_out;
  double slices;
};

// The numbers of in_out pointers, and of slices of larger inputs, with which Inductor's count comes out. Fewest in_outs first.
std::vector<Match> matches(const Reading& reading, double num_bytes) {
  double sum = 0, slice = 0, larger = 0;
  bool one_item = true;
  for (std::size_t i = 0; i < reading.size(); ++i) {
    const double part = std::min(reading[i].elements, reading.all()) * reading[i].item;
    if (!reading.larger(i)) {
      sum += part;
      continue;
    }
    one_item = one_item && (slice == 0 || slice == part);
    slice = part;
    ++larger;
  }
  const double tolerance = std::max(0.5, num_bytes * 1e-9);
  std::vector<Match> out;
  for (std::size_t in_out = 0; in_out <= reading.size(); ++in_out) {
    if (in_out > 0) {
      if (!reading.can_be_written(in_out - 1) || reading.larger(in_out - 1)) break;
      sum += reading[in_out - 1].elements * reading[in_out - 1].item;
    }
    const double rest = num_bytes - sum;
    if (larger == 0) {
      if (std::abs(rest) <= tolerance) out.push_back({in_out, 1});
    } else if (one_item && slice > 0) {
      const double slices = std::round(rest / slice);
      if (slices >= larger && std::abs(rest - slices * slice) <= tolerance) out.push_back({in_out, slices - larger + 1});
    }
  }
  return out;
}

// The count that agrees with the shapes; but a kernel that slices does not read all of the larger tensor if it can be told otherwise.
Match best_match(const std::vector<Match>& fitting, const Reading& reading, std::size_t by_shape, bool reads_parts) {
  double largest = 0;
  for (std::size_t i = 0; i < reading.size(); ++i) largest = std::max(largest, reading[i].elements);
  if (reads_parts && largest > reading.all())
    for (const Match& match : fitting)
      if (match.slices * reading.all() < largest) return match;
  for (const Match& match : fitting)
    if (match.in_out == by_shape) return match;
  return fitting.front();
}

// Bytes read of a tensor by index: each lookup takes its share of the kernel's steps, at least one access of the memory.
double gathered_bytes(const TritonPointer& table, const Reading& reading, double slices) {
  double lookups = 0;
  for (std::size_t i = 0; i < reading.size(); ++i)
    if (is_integer(reading[i].shape->dtype)) lookups = std::max(lookups, reading[i].elements);
  const double rows = table.shape->sizes.empty() ? 1 : static_cast<double>(table.shape->sizes.front());
  const double whole_row = table.elements / std::max(rows, 1.0);
  const double row = std::isfinite(slices) ? slices * reading.all() / std::max(lookups, 1.0) : whole_row;
  if (row <= 0) return table.bytes;
  return picked_bytes(table.bytes, std::max(row * table.item, kLeastAccess), lookups);
}

}  // namespace

TritonRoles infer_roles(const TritonArguments& arguments, const FusedOps& ops, std::optional<double> kernel_num_gb) {
  const Reading reading(arguments, ops);
  TritonRoles roles;
  const std::size_t by_shape = reading.in_outs_by_shape();
  roles.in_out = by_shape;
  const std::vector<Match> fitting =
      kernel_num_gb && *kernel_num_gb > 0 ? matches(reading, *kernel_num_gb * 1e9) : std::vector<Match>();
  if (!fitting.empty()) {
    const Match match = best_match(fitting, reading, by_shape, ops.reads_parts);
    roles.slices = match.slices;
    // A formula that takes two tensors is believed more than a count, which leaves out buffers that were renamed.
    if (match.in_out > 0 || reading.inputs(1) >= ops.inputs) roles.in_out = match.in_out;
  } else if (ops.reads_windows || (ops.sums && !reading.reduces())) {
    roles.slices = std::numeric_limits<double>::infinity();
  }
  roles.out = reading.outputs(roles.in_out);

  const bool one_reading = reading.size() <= 2 || reading.inputs(roles.out) == reading.inputs_wanted(roles.in_out, roles.out) ||
                           reading.writable_tail(roles.in_out) == roles.out;
  const bool guessed_in_out = (fitting.empty() || roles.in_out != fitting.front().in_out) && roles.in_out > 0 &&
                              reading.size() > 1 && reading.can_be_written(reading.size() - 1);
  roles.ambiguous = fitting.size() > 1 || !one_reading || guessed_in_out;
  return roles;
}

TritonTraffic traffic_of(const TritonArguments& arguments, const FusedOps& ops, const TritonRoles& roles) {
  const Reading reading(arguments, ops);
  TritonTraffic out;
  for (std::size_t i = 0; i < reading.size(); ++i) {
    const TritonPointer& p = reading[i];
    const bool in_out = i < roles.in_out, last = i + roles.out >= reading.size();
    const bool adds_into = last && reading.scatters();
    const bool by_index = reading.larger(i) && reading.gathers() && !last;
    const double part = by_index ? gathered_bytes(p, reading, roles.slices)
                                 : std::min(p.bytes, (last ? 1 : roles.slices) * reading.all() * p.item);
    if (in_out || last) out.written += part;
    const bool reads = in_out ? reading.in_out_is_read(i, roles.in_out, roles.out) : !last || adds_into;
    if (!reads) continue;
    out.read += part;
    out.ambiguous = out.ambiguous || (reading.larger(i) && part < p.bytes && !by_index && !adds_into);
  }
  for (const TritonPointer& workspace : arguments.workspaces) out.written += workspace.bytes;
  return out;
}

TritonTraffic foreach_traffic(const TritonArguments& arguments, double blocks, double block_elements) {
  TritonTraffic out{.ambiguous = true};
  const Pointers pointers = arguments.pointers;
  const auto blocks_of = [&](const TritonPointer& p) { return p.elements > 1 ? std::ceil(p.elements / block_elements) : 0; };
  double total = 0, covered = 0;
  for (const TritonPointer& p : pointers) total += blocks_of(p);
  const double each = std::round(total / blocks);  // pointers for each element
  const double outputs = each >= 5 ? std::floor(each / 2) : 1;
  std::size_t first_output = pointers.size();
  for (; first_output > 0 && covered < outputs * blocks; --first_output) covered += blocks_of(pointers[first_output - 1]);
  const bool in_place = first_output == 0;
  for (std::size_t i = 0; i < pointers.size(); ++i) {
    if (in_place || i >= first_output) out.written += pointers[i].bytes;
    if (in_place || i < first_output) out.read += pointers[i].bytes;
  }
  return out;
}

}  // namespace ridge
