// A convolution is up to three pieces of work, each a product of its own sizes with its own library kernels: the result, the
// gradient of the input and that of the weight; and a bias, which is added or summed by an op of its own. What is predicted of
// a call is the sum of its parts. A window of one position over channels that lie last is a plain product, and is asked about
// as one. A transposed convolution is done by the kernels of the plain one that goes the other way: its result by those of that
// one's input gradient, its input gradient by those of that one's result.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "ops/operands.h"
#include "predict/call_features.h"
#include "predict/feature_values.h"

namespace ridge::features {
namespace {

struct Convolution {
  double images = 1, groups = 1;
  double in = 1, made = 1;             // channels of a group
  double window = 1, window_side = 1;  // positions of the kernel, and its longest side
  double stride = 1, dilation = 1, padding = 0;
  double read_positions = 1, made_positions = 1;  // of one image
  double read_width = 1, made_width = 1;          // the last dimension of each
  double met = 1;                                 // the share of the input that strides do not pass over
  std::size_t dims = 2;
  bool channels_last = false;
  bool transposed = false;  // described as the plain one that goes the other way
  DType dtype = DType::unknown;

  double channels() const { return in * groups; }
  double results() const { return made * groups; }
  double input() const { return images * channels() * read_positions; }
  double result() const { return images * results() * made_positions; }
  double weight() const { return in * made * groups * window; }
  double flops() const { return 2 * images * made_positions * in * made * groups * window; }
  bool depthwise() const { return groups > 1 && in == 1; }
  // Which of the two libraries' kernels PyTorch takes for images that lie channel by channel.
  bool depthwise_by_cudnn() const {
    return depthwise() && dims == 2 && !channels_last && dtype == DType::f16 && dilation == 1 && groups >= 32 && stride <= 2 &&
           (window == 1 || window == 9 || window == 25);
  }
  // cuDNN leaves it to cuBLAS.
  bool is_product() const { return window == 1 && stride == 1 && padding == 0 && groups == 1; }
};

// Each part as a product [m, k] x [k, n], `groups` times.
struct Sizes {
  double m = 1, n = 1, k = 1;
};

enum class ConvolutionRole : std::uint8_t { forward, input, weight };

Sizes sizes_of(const Convolution& c, ConvolutionRole role) {
  switch (role) {
    case ConvolutionRole::forward: return {c.images * c.made_positions, c.made, c.in * c.window};
    case ConvolutionRole::input: return {c.images * c.read_positions, c.in, c.made * c.window};
    case ConvolutionRole::weight: break;
  }
  return {c.made, c.in * c.window, c.images * c.made_positions};
}

struct Tile {
  double m, n, reached;  // what a kernel with such tiles reaches of the peak at best
};
constexpr std::array kTiles = {Tile{256, 128, 0.75}, Tile{128, 256, 0.75}, Tile{128, 128, 0.72}, Tile{128, 64, 0.6},
                               Tile{64, 128, 0.6},   Tile{64, 64, 0.45},   Tile{256, 64, 0.6},   Tile{64, 32, 0.3},
                               Tile{128, 32, 0.4},   Tile{32, 32, 0.2}};
// Kernels that turn a tensor into channels last, or back, go over it in tiles of 32 channels by 32 positions, however few
// channels there are. What a tile takes, as bytes that such a kernel moves: 1.5 ns of two-byte and 2.2 ns of four-byte
// elements.
constexpr double kTurnedTile = 32, kTurnedTileBytes = 2600, kTurnedTileItems = 1200;
// ATen's kernels look up each element: 1.4 T products a second on an H200.
constexpr double kReachedByDepthwise = 0.042, kReachedByCudnn = 0.11;
constexpr double kLeastSplit = 256;  // of k: shorter pieces are not worth a sum

float log_ns(double ns) { return static_cast<float>(std::log2(ns + 1)); }
float filled(double size, double tile) { return static_cast<float>(size / (std::ceil(size / tile) * tile)); }

// What the arithmetic takes in whole tiles, each unit one after the other; `whole_ns`: at the peak.
void add_tiles(const Sizes& s, double groups, double whole_ns, double multiprocessors, std::vector<float>* f) {
  const double units = std::max(multiprocessors, 1.0);
  double best = std::numeric_limits<double>::max(), best_split = best;
  std::array<double, kTiles.size()> ns{}, rounds{};
  for (std::size_t i = 0; i < kTiles.size(); ++i) {
    const Tile& t = kTiles[i];
    const double tiles = groups * std::ceil(s.m / t.m) * std::ceil(s.n / t.n);
    const double padded = tiles * t.m * t.n / (groups * s.m * s.n);  // tiles have no halves
    rounds[i] = tiles / units;
    ns[i] = whole_ns * padded * std::ceil(rounds[i]) / rounds[i];
    best = std::min(best, ns[i] / t.reached);
    const double pieces = tiles * std::max(1.0, s.k / kLeastSplit);
    best_split = std::min(best_split, whole_ns * padded * std::max(1.0, units / pieces) / t.reached);
  }
  const auto waves = [](double r) { return static_cast<float>(std::log2(std::max(r, 1.0 / 1024))); };
  f->insert(f->end(), {log_size(s.m), log_size(s.n), log_size(s.k), log_ns(best), log_ns(ns[2]), log_ns(ns[0]), log_ns(ns[5]),
                       waves(rounds[2]), waves(rounds[5]), log_ns(best_split), filled(s.m, 128), filled(s.n, 128),
                       filled(s.n, 64), filled(s.k, 64)});
}

double turned_bytes(double images, double channels, double positions, double item) {
  return images * std::ceil(channels / kTurnedTile) * std::ceil(positions / kTurnedTile) *
         (kTurnedTileBytes + kTurnedTileItems * item);
}

OpWork work_of(const Convolution& c, ConvolutionRole role) {
  const double item = item_bytes(c.dtype);
  const double x = c.input() * c.met * item, y = c.result() * item, w = c.weight() * item;
  OpWork work;
  work.flops = c.flops();
  work.dtype = c.dtype;
  work.read = role == ConvolutionRole::forward ? x + w : role == ConvolutionRole::input ? y + w : x + y;
  work.written = role == ConvolutionRole::forward ? y : role == ConvolutionRole::input ? x : w;
  return work;
}

void describe(const Convolution& c, ConvolutionRole role, double multiprocessors, CallFeatures* out) {
  out->work = work_of(c, role);
  out->matrix = !c.depthwise();  // a channel by itself has nothing to multiply by: vector units do it
  if (c.depthwise() && !c.channels_last)
    out->reached = c.depthwise_by_cudnn() && role == ConvolutionRole::forward ? kReachedByCudnn : kReachedByDepthwise;
  const double item = item_bytes(c.dtype);
  // Tensor cores want channels last; tensors that lie otherwise are turned before and behind the product.
  const bool turned = !c.channels_last && out->unit != DType::f32 && !c.is_product() && !(c.depthwise() && c.dims == 2);
  out->turned_bytes = !turned ? 0
                              : turned_bytes(c.images, c.channels(), c.read_positions, item) +
                                    turned_bytes(c.images, c.results(), c.made_positions, item) +
                                    (c.window > 1 ? turned_bytes(c.results(), c.in, c.window, item) : 0);
  begin_features(out);
  std::vector<float>& f = out->values;
  f.insert(f.end(), {c.channels_last ? 1.0F : 0.0F,
                     static_cast<float>(c.dims),
                     log_size(c.images),
                     log_size(c.in),
                     log_size(c.made),
                     log_size(c.groups),
                     log_size(c.read_positions),
                     log_size(c.made_positions),
                     log_size(c.window),
                     static_cast<float>(c.window_side),
                     static_cast<float>(c.stride),
                     static_cast<float>(c.dilation),
                     static_cast<float>(c.padding),
                     c.transposed ? 1.0F : 0.0F,
                     alignment(c.in),
                     alignment(c.made),
                     std::min(alignment(c.in), alignment(c.made)),
                     c.is_product() ? 1.0F : 0.0F,
                     c.depthwise_by_cudnn() ? 2.0F
                     : c.depthwise()        ? 1.0F
                                            : 0.0F,
                     static_cast<float>(c.read_width),
                     static_cast<float>(c.made_width),
                     log_size(c.input() * item),
                     log_size(c.result() * item),
                     log_size(c.weight() * item),
                     log_size(out->turned_bytes)});
  const double compute_ns = std::exp2(static_cast<double>(f.front())) - 1;
  Sizes sizes = sizes_of(c, role);
  double products = c.groups;
  double partial = 0;
  if (c.is_product() && !c.channels_last) {  // image by image; of the weight's gradient each leaves a sum, which are summed
    (role == ConvolutionRole::weight ? sizes.k : sizes.m) /= std::max(c.images, 1.0);
    products = c.images;
    if (role == ConvolutionRole::weight) partial = c.images * c.weight() * item_bytes(DType::f32);
  }
  f.push_back(log_size(partial));
  const double of_product = 2 * sizes.m * sizes.n * sizes.k * products;  // strides leave holes in a gradient
  add_tiles(sizes, products, compute_ns * of_product / std::max(c.flops(), 1.0), multiprocessors, &f);
}

// [rows, columns], by rows or by columns.
OpArgument matrix_argument(double rows, double columns, bool by_rows, DType dtype) {
  const auto r = static_cast<std::int64_t>(rows), c = static_cast<std::int64_t>(columns);
  OpArgument argument;
  argument.kind = OpArgument::Kind::tensor;
  argument.tensor = {{r, c}, by_rows ? std::vector<std::int64_t>{c, 1} : std::vector<std::int64_t>{1, r}, dtype};
  return argument;
}

CallFeatures as_product(const Convolution& c, ConvolutionRole role, bool tf32, double multiprocessors) {
  const double pixels = c.images * c.made_positions, in = c.channels(), made = c.results();
  OpCall call;
  call.op = "aten::mm";
  call.has_shapes = true;
  switch (role) {
    case ConvolutionRole::forward:
      call.arguments = {matrix_argument(pixels, in, true, c.dtype), matrix_argument(in, made, false, c.dtype)};
      break;
    case ConvolutionRole::input:
      call.arguments = {matrix_argument(pixels, made, true, c.dtype), matrix_argument(made, in, true, c.dtype)};
      break;
    case ConvolutionRole::weight:
      call.arguments = {matrix_argument(made, pixels, false, c.dtype), matrix_argument(pixels, in, true, c.dtype)};
      break;
  }
  CallFeatures out = features_of_call(call, tf32, multiprocessors);
  out.op = "pointwise_convolution";
  return out;
}

std::vector<std::int64_t> strides_channels_last(const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> strides(sizes.size(), 1);
  std::int64_t next = sizes[1];
  for (std::size_t i = sizes.size(); i-- > 2;) strides[i] = next, next *= sizes[i];
  strides[0] = next;
  return strides;
}

std::vector<std::int64_t> strides_in_order(const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> strides(sizes.size(), 1);
  for (std::size_t i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * sizes[i];
  return strides;
}

// What lies otherwise than the kernel wants it is copied first; nothing for what lies right.
std::optional<CallFeatures> of_copy(const TensorShape& x, bool channels_last, double multiprocessors) {
  TensorShape wanted = x;
  wanted.strides = channels_last ? strides_channels_last(x.sizes) : strides_in_order(x.sizes);
  bool lies_so = x.strides.size() != x.sizes.size();
  if (!lies_so) {
    lies_so = true;
    for (std::size_t i = 0; i < x.sizes.size(); ++i)
      lies_so = lies_so && (x.sizes[i] == 1 || x.strides[i] == wanted.strides[i]);
  }
  if (lies_so) return std::nullopt;
  OpCall call;
  call.op = "aten::copy_";
  call.has_shapes = true;
  OpArgument to, from;
  to.kind = from.kind = OpArgument::Kind::tensor;
  from.tensor = x;
  to.tensor = wanted;
  call.arguments = {to, from};
  return features_of_call(call, false, multiprocessors);
}

// The bias, by the op that does it: an addition to the result, or the sum of its gradient.
CallFeatures of_bias(double results, const TensorShape& result, bool backward, double multiprocessors) {
  OpCall call;
  call.has_shapes = call.has_constants = true;
  OpArgument whole, second;
  whole.kind = second.kind = OpArgument::Kind::tensor;
  whole.tensor = result;
  if (backward) {
    call.op = "aten::sum";
    second.kind = OpArgument::Kind::value;
    second.value = "[0";
    for (std::size_t i = 2; i < result.sizes.size(); ++i) second.value += ", " + std::to_string(i);
    second.value += "]";
  } else {
    call.op = "aten::add_";
    second.tensor = {std::vector<std::int64_t>(result.sizes.size(), 1), {}, result.dtype};
    second.tensor.sizes[1] = static_cast<std::int64_t>(results);
  }
  call.arguments = {whole, second};
  return features_of_call(call, false, multiprocessors);
}

double product_of(const std::vector<std::int64_t>& sizes, std::size_t from) {
  double n = 1;
  for (std::size_t i = from; i < sizes.size(); ++i) n *= static_cast<double>(sizes[i]);
  return n;
}

std::int64_t nth_or(const std::vector<std::int64_t>& list, std::size_t i, std::int64_t otherwise) {
  return list.empty() ? otherwise : i < list.size() ? list[i] : list.back();
}

// Sizes of the result, where no gradient tells them.
std::vector<std::int64_t> result_sizes(const OpCall& call, const ConvolutionPositions& at, const TensorShape& x,
                                       const TensorShape& w, const Convolution& c) {
  const auto list = [&](int position) {
    return position < 0 ? std::vector<std::int64_t>()
                        : integers_at(call, static_cast<std::size_t>(position)).value_or(std::vector<std::int64_t>());
  };
  const auto strides = list(at.stride), paddings = list(at.padding), dilations = list(at.dilation),
             more = list(at.output_padding);
  std::vector<std::int64_t> sizes = {x.sizes[0], static_cast<std::int64_t>(c.results())};
  for (std::size_t i = 2; i < x.sizes.size(); ++i) {
    const std::int64_t s = std::max<std::int64_t>(nth_or(strides, i - 2, 1), 1), p = nth_or(paddings, i - 2, 0);
    const std::int64_t reach = nth_or(dilations, i - 2, 1) * (w.sizes[i] - 1);
    const std::int64_t size = c.transposed ? (x.sizes[i] - 1) * s - 2 * p + reach + nth_or(more, i - 2, 0) + 1
                                           : (x.sizes[i] + 2 * p - reach - 1) / s + 1;
    sizes.push_back(std::max<std::int64_t>(size, 1));
  }
  return sizes;
}

}  // namespace

void convolution(const OpCall& call, const OpFormula& row, bool tf32, bool whole, double multiprocessors, CallFeatures* out) {
  const auto* at = std::get_if<ConvolutionPositions>(&row.positions);
  const bool backward = is_backward(row.op);
  const TensorShape* x = tensor_at(call, backward ? 1 : 0);
  const TensorShape* w = tensor_at(call, backward ? 2 : 1);
  const TensorShape* gradient = backward ? tensor_at(call, 0) : nullptr;
  if (at == nullptr || x == nullptr || w == nullptr || x->sizes.size() < 3 || w->sizes.size() != x->sizes.size()) return;
  if (backward && (gradient == nullptr || gradient->sizes.size() != x->sizes.size())) return;
  const auto greatest = [&](int position, std::int64_t otherwise) {
    const auto list = position < 0 ? std::nullopt : integers_at(call, static_cast<std::size_t>(position));
    return static_cast<double>(list && !list->empty() ? std::ranges::max(*list) : otherwise);
  };
  Convolution c;
  c.dtype = x->dtype;
  c.dims = x->sizes.size() - 2;
  const bool transposed = at->transposed == ConvolutionPositions::Transposed::yes ||
                          (at->transposed == ConvolutionPositions::Transposed::argument &&
                           flag_at(call, static_cast<std::size_t>(at->transposed_at)));
  const double channels = std::max(static_cast<double>(x->sizes[1]), 1.0);
  const double w0 = static_cast<double>(w->sizes[0]), w1 = std::max(static_cast<double>(w->sizes[1]), 1.0);
  c.transposed = transposed;
  c.groups = std::max(transposed ? greatest(at->groups, 1) : channels / w1, 1.0);
  c.in = channels / c.groups;
  c.made = std::max(transposed ? w1 : w0 / c.groups, 1.0);
  c.images = static_cast<double>(x->sizes[0]);
  c.stride = std::max(greatest(at->stride, 1), 1.0);
  c.dilation = greatest(at->dilation, 1);
  c.padding = greatest(at->padding, 0);
  c.window = product_of(w->sizes, 2);
  c.read_positions = product_of(x->sizes, 2);
  c.read_width = static_cast<double>(x->sizes.back());
  TensorShape result{gradient != nullptr ? gradient->sizes : result_sizes(call, *at, *x, *w, c), {}, x->dtype};
  c.made_positions = product_of(result.sizes, 2);
  c.made_width = static_cast<double>(result.sizes.back());
  for (std::size_t i = 2; i < w->sizes.size(); ++i) {
    const auto side = static_cast<double>(w->sizes[i]);
    c.window_side = std::max(c.window_side, side);
    c.met *= std::min(1.0, side / c.stride);
  }
  // cuDNN is given what suits either of them; over one dimension, what lies otherwise is copied first.
  c.channels_last = c.dims > 1 && (channels_last(*x) || channels_last(*w));
  if (!(c.input() > 0) || !(c.result() > 0) || !(c.weight() > 0)) return;
  if (c.channels_last) result.strides = strides_channels_last(result.sizes);
  const bool by_aten = c.depthwise() && !backward && !c.channels_last && !transposed;
  const double results = c.results();
  if (transposed) {
    std::swap(c.in, c.made);
    std::swap(c.read_positions, c.made_positions);
    std::swap(c.read_width, c.made_width);
  }
  const auto mask = at->mask < 0 ? std::vector<bool>() : flags_at(call, static_cast<std::size_t>(at->mask));
  const auto asked = [&](std::size_t i) { return i < mask.size() ? bool(mask[i]) : i < 2; };
  const auto add = [&](ConvolutionRole role, std::string_view kind, std::string_view depthwise, std::string_view name) {
    CallFeatures& part = out->parts.emplace_back();
    if (c.is_product() && c.channels_last) {
      part = as_product(c, role, tf32, multiprocessors);
    } else {
      part.kind = c.depthwise() ? depthwise : kind;
      part.op = "convolution";
      part.unit = out->unit;
      describe(c, role, multiprocessors, &part);
    }
    part.role = name;
  };
  const auto add_plain = [&](bool result_wanted, std::string_view name) {
    if (result_wanted != transposed) add(ConvolutionRole::forward, "convolution_forward", "depthwise_forward", name);
    if (result_wanted == transposed) add(ConvolutionRole::input, "convolution_input", "depthwise_input", name);
  };
  if (!backward) add_plain(true, "forward");
  if (backward && asked(0)) add_plain(false, "input");
  if (backward && asked(1)) add(ConvolutionRole::weight, "convolution_weight", "depthwise_weight", "weight");
  const bool adds = backward ? asked(2) : at->bias >= 0 && tensor_at(call, static_cast<std::size_t>(at->bias)) != nullptr;
  // Of a trace the op of the bias is a call of its own; ATen's depthwise kernels add it themselves.
  if (adds && whole && !by_aten) {
    out->parts.push_back(of_bias(results, gradient != nullptr ? *gradient : result, backward, multiprocessors));
    out->parts.back().role = "bias";
  }
  if (out->parts.empty()) return;
  for (const TensorShape* t : {x, gradient}) {
    if (!whole || t == nullptr) continue;
    if (auto copied = of_copy(*t, c.channels_last, multiprocessors)) {
      out->parts.push_back(std::move(*copied));
      out->parts.back().role = "turned";
    }
  }
  CallFeatures nearness;
  nearness.unit = out->unit;
  describe(c, backward != transposed ? ConvolutionRole::input : ConvolutionRole::forward, multiprocessors, &nearness);
  out->values = std::move(nearness.values);
}

}  // namespace ridge::features
