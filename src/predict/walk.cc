// PyTorch's TensorIterator in miniature: broadcast, order of dimensions, joining; then a few blocks of 512 elements are walked
// and the sectors counted that their threads touch.
#include "predict/walk.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "ops/operands.h"
#include "predict/feature_values.h"

namespace ridge::features {
namespace {

constexpr std::int64_t kBlock = 512, kWarp = 32, kSectorBytes = 32;

struct Walked {
  std::vector<std::int64_t> strides;  // of the broadcast shape, in elements; empty: not there yet
  double item = 4;
};

std::vector<std::int64_t> dense_strides(const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> strides(sizes.size(), 1);
  for (std::size_t i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * std::max<std::int64_t>(sizes[i], 1);
  return strides;
}

std::vector<std::int64_t> walked_strides(const TensorShape& t) {
  return t.strides.size() == t.sizes.size() ? t.strides : dense_strides(t.sizes);
}

std::vector<std::int64_t> channels_last_strides(const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> strides(sizes.size(), 1);
  std::int64_t next = sizes[1];
  for (std::size_t i = sizes.size(); i-- > 2;) strides[i] = next, next *= sizes[i];
  strides[0] = next;
  return strides;
}

// Without holes and repeats, in whatever order.
bool covers(const TensorShape& t) {
  double extent = 1;
  const auto strides = walked_strides(t);
  for (std::size_t i = 0; i < t.sizes.size(); ++i) {
    if (t.sizes[i] > 1 && strides[i] == 0) return false;
    extent += static_cast<double>(std::max<std::int64_t>(t.sizes[i] - 1, 0)) * static_cast<double>(strides[i]);
  }
  return extent <= numel(t) * 1.0001;
}

// Dimensions of size one have no stride that counts.
bool same_strides(const TensorShape& a, const TensorShape& b) {
  const auto x = walked_strides(a), y = walked_strides(b);
  for (std::size_t i = 0; i < a.sizes.size(); ++i) {
    if (a.sizes[i] > 1 && x[i] != y[i]) return false;
  }
  return true;
}

std::vector<std::int64_t> spread_over(const TensorShape& t, const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> out(shape.size(), 0);
  const auto strides = walked_strides(t);
  const std::size_t before = shape.size() - std::min(shape.size(), t.sizes.size());
  for (std::size_t i = before; i < shape.size(); ++i) {
    const std::size_t at = i - before;
    out[i] = t.sizes[at] == 1 && shape[i] != 1 ? 0 : strides[at];
  }
  return out;
}

// Positive where the first should come behind the second: it is slower for the first tensor that tells them apart.
int compare_dimensions(std::size_t a, std::size_t b, const std::vector<std::int64_t>& shape, const std::vector<Walked>& all) {
  for (const Walked& t : all) {
    if (t.strides.empty() || t.strides[a] == 0 || t.strides[b] == 0) continue;
    if (t.strides[a] < t.strides[b]) return -1;
    if (t.strides[a] > t.strides[b]) return 1;
    if (shape[a] > shape[b]) return 1;
  }
  return 0;
}

std::vector<std::size_t> fastest_first(const std::vector<std::int64_t>& shape, const std::vector<Walked>& all) {
  std::vector<std::size_t> order(shape.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = order.size() - 1 - i;
  for (std::size_t i = 1; i < order.size(); ++i) {
    std::size_t at = i;
    for (std::size_t before = i; before-- > 0;) {
      const int found = compare_dimensions(order[before], order[at], shape, all);
      if (found > 0) {
        std::swap(order[before], order[at]);
        at = before;
      } else if (found < 0) {
        break;
      }
    }
  }
  return order;
}

void permute(const std::vector<std::size_t>& order, std::vector<std::int64_t>* list) {
  std::vector<std::int64_t> out;
  for (const std::size_t i : order) out.push_back((*list)[i]);
  *list = std::move(out);
}

// Neighbours become one where the slower goes on where the faster ends, in all tensors.
void join(std::vector<std::int64_t>* shape, std::vector<Walked>* all) {
  std::size_t last = 0;
  for (std::size_t i = 1; i < shape->size(); ++i) {
    const bool joins = (*shape)[last] == 1 || (*shape)[i] == 1 || std::ranges::all_of(*all, [&](const Walked& t) {
                         return t.strides[i] == (*shape)[last] * t.strides[last];
                       });
    if (joins) {
      if ((*shape)[last] == 1) {
        for (Walked& t : *all) t.strides[last] = t.strides[i];
      }
      (*shape)[last] *= (*shape)[i];
    } else if (++last != i) {
      (*shape)[last] = (*shape)[i];
      for (Walked& t : *all) t.strides[last] = t.strides[i];
    }
  }
  shape->resize(std::min(shape->size(), last + 1));
  for (Walked& t : *all) t.strides.resize(shape->size());
}

struct Sectors {
  double by_warps = 0, by_blocks = 0;
};

// Of the block that begins with this element.
Sectors sectors_of(std::int64_t first, std::int64_t count, const std::vector<std::int64_t>& shape, const Walked& t) {
  std::array<std::int64_t, kBlock> touched{};
  Sectors out;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t rest = first + i, offset = 0;
    for (std::size_t dim = 0; dim < shape.size(); ++dim) {
      offset += rest % shape[dim] * t.strides[dim];
      rest /= shape[dim];
    }
    touched[static_cast<std::size_t>(i)] = static_cast<std::int64_t>(static_cast<double>(offset) * t.item) / kSectorBytes;
  }
  const auto distinct = [&](std::int64_t from, std::int64_t to) {
    std::sort(touched.begin() + from, touched.begin() + to);
    return static_cast<double>(std::unique(touched.begin() + from, touched.begin() + to) - touched.begin() - from);
  };
  std::array<std::int64_t, kBlock> whole = touched;
  for (std::int64_t from = 0; from < count; from += kWarp) out.by_warps += distinct(from, std::min(from + kWarp, count));
  touched = whole;
  out.by_blocks = distinct(0, count);
  return out;
}

Walk counted(std::vector<std::int64_t> shape, const std::vector<Walked>& all) {
  Walk walk;
  walk.dims = static_cast<double>(shape.size());
  walk.tensors = static_cast<double>(all.size());
  std::int64_t elements = 1;
  for (const std::int64_t n : shape) elements *= n;
  walk.inner = shape.empty() ? 1 : static_cast<double>(shape.front());
  double item = 0;
  for (const Walked& t : all) {
    item += t.item;
    walk.plain = walk.plain && shape.size() <= 1 && (t.strides.empty() || t.strides.front() == 1);
  }
  walk.moved_bytes = item * static_cast<double>(elements);
  if (walk.plain || elements <= 0 || item <= 0) return walk;
  constexpr std::int64_t kSamples = 3;
  const std::int64_t count = std::min(elements, kBlock);
  double warps = 0, blocks = 0;
  for (std::int64_t sample = 0; sample < kSamples; ++sample) {
    const std::int64_t first = std::min(elements / kSamples * sample / kBlock * kBlock, elements - count);
    for (const Walked& t : all) {
      const Sectors found = sectors_of(first, count, shape, t);
      warps += found.by_warps, blocks += found.by_blocks;
    }
  }
  const double ideal = item * static_cast<double>(count * kSamples) / kSectorBytes;
  walk.by_warps = warps / ideal;
  walk.by_blocks = blocks / ideal;
  walk.moved_bytes *= walk.by_blocks;
  return walk;
}

// What is walked, the result first; it has no strides where the kernel gives it some.
struct Operands {
  std::vector<const TensorShape*> read;
  std::optional<TensorShape> result;
};

std::optional<Operands> operands_of(const OpCall& call, std::string_view op, std::string_view kind) {
  Operands out;
  for (const OpArgument& a : call.arguments) {
    if (a.kind == OpArgument::Kind::tensor && !a.tensor.sizes.empty()) out.read.push_back(&a.tensor);
  }
  if (out.read.empty()) return std::nullopt;
  if (kind == "pointwise") {
    if (in_place(call)) out.result = *out.read.front();
    return out;
  }
  if (kind != "copy") return std::nullopt;
  const TensorShape& x = *out.read.front();
  if (op == "copy") {
    if (out.read.size() < 2) return std::nullopt;
    out.result = x;
    out.read.erase(out.read.begin());
    return out;
  }
  const bool makes = op == "clone" || op == "_to_copy" || op == "to" || op == "contiguous" || op == "reshape";
  if (!makes) {
    if (op != "fill" && op != "zero") return std::nullopt;
    out.result = x;
    out.read.clear();
    return out;
  }
  const auto format = op == "contiguous" || op == "reshape" ? std::optional<double>(0) : number_at(call, op == "clone" ? 1 : 6);
  constexpr double kContiguous = 0, kChannelsLast = 2, kChannelsLast3d = 3;  // c10::MemoryFormat
  if (format == kContiguous) {
    out.result = TensorShape{x.sizes, dense_strides(x.sizes), x.dtype};
  } else if ((format == kChannelsLast || format == kChannelsLast3d) && x.sizes.size() > 3) {
    out.result = TensorShape{x.sizes, channels_last_strides(x.sizes), x.dtype};
  }
  return out;
}

}  // namespace

std::optional<Walk> walk_of(const OpCall& call, std::string_view op, std::string_view kind, double result_item) {
  const auto operands = operands_of(call, op, kind);
  if (!operands) return std::nullopt;
  std::size_t rank = operands->result ? operands->result->sizes.size() : 0;
  for (const TensorShape* t : operands->read) rank = std::max(rank, t->sizes.size());
  std::vector<std::int64_t> shape(rank, 1);
  const auto widen = [&](const TensorShape& t) {
    for (std::size_t i = 0; i < t.sizes.size(); ++i) {
      std::int64_t& size = shape[rank - t.sizes.size() + i];
      if (t.sizes[i] != 1 && (size == 1 || t.sizes[i] == size)) size = t.sizes[i];
    }
  };
  for (const TensorShape* t : operands->read) widen(*t);
  if (operands->result) widen(*operands->result);
  for (const std::int64_t size : shape) {
    if (size <= 0) return std::nullopt;
  }
  std::vector<Walked> all;
  all.push_back({operands->result ? spread_over(*operands->result, shape) : std::vector<std::int64_t>(),
                 operands->result ? item_bytes(operands->result->dtype) : result_item});
  bool alike = true;
  const TensorShape* first = operands->result ? &*operands->result : operands->read.front();
  const auto agrees = [&](const TensorShape& t) { alike = alike && t.sizes == shape && covers(t) && same_strides(t, *first); };
  if (operands->result) agrees(*operands->result);
  for (const TensorShape* t : operands->read) {
    all.push_back({spread_over(*t, shape), item_bytes(t->dtype)});
    agrees(*t);
  }
  if (alike) {
    std::int64_t elements = 1;
    for (const std::int64_t size : shape) elements *= size;
    for (Walked& t : all) t.strides = {1};
    return counted({elements}, all);
  }
  const auto order = fastest_first(shape, all);
  permute(order, &shape);
  for (Walked& t : all) {
    if (!t.strides.empty()) {
      permute(order, &t.strides);
      continue;
    }
    std::int64_t next = 1;
    for (const std::int64_t size : shape) t.strides.push_back(next), next *= size;
  }
  join(&shape, &all);
  return counted(std::move(shape), all);
}

StrideOrder sorted_by_strides(const TensorShape& x) {
  StrideOrder out;
  const auto strides = walked_strides(x);
  std::vector<std::size_t> order(x.sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return strides[a] > strides[b]; });
  out.place_of.resize(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    out.sizes.push_back(x.sizes[order[i]]);
    out.place_of[order[i]] = static_cast<std::int64_t>(i);
  }
  return out;
}

Joined joined_of(const std::vector<TensorShape>& list, std::int64_t dim, bool stacked, double item) {
  Joined out;
  if (list.empty()) return out;
  out.dense = out.channels_last = true;
  const auto rank = static_cast<std::int64_t>(list.front().sizes.size());
  if (dim < 0) dim += rank + (stacked ? 1 : 0);
  out.shortest_bytes = 1e18;
  out.alignment = 16;
  for (const TensorShape& t : list) {
    out.dense = out.dense && same_strides(t, {t.sizes, dense_strides(t.sizes), t.dtype});
    out.channels_last = out.channels_last && channels_last(t);
  }
  for (const TensorShape& t : list) {
    double piece = 1;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(t.sizes.size()); ++i) {
      // Of images whose channels lie last, those are what is joined, and all else is outside.
      const bool within = out.channels_last && !out.dense && dim == 1 ? i == 1 : i >= dim;
      if (within) piece *= static_cast<double>(t.sizes[static_cast<std::size_t>(i)]);
    }
    out.shortest_bytes = std::min(out.shortest_bytes, piece * item);
    out.alignment = std::min(out.alignment, alignment(piece * item));
  }
  return out;
}

}  // namespace ridge::features
