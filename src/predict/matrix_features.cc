// Features of products, convolutions and attention: the sizes of the product, the layouts of its operands, and how its tiles
// fill the device.
#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "ops/operands.h"
#include "predict/call_features.h"

namespace ridge::features {
namespace {

constexpr double kTile = 128;

const TensorShape* given(const OpCall& call, int position) {
  return position < 0 ? nullptr : tensor_at(call, static_cast<std::size_t>(position));
}

// The largest power of two, up to 64, that divides a size: libraries choose kernels by it.
float alignment(double size) {
  const auto n = static_cast<std::int64_t>(size);
  if (n <= 0) return 0;
  float power = 0;
  for (std::int64_t at = 2; at <= 64 && n % at == 0; at *= 2) ++power;
  return power;
}

// Of several rows, in bytes: what the widest loads of all of them can be.
float least_alignment(std::initializer_list<double> sizes, double item) {
  float least = 64;
  for (const double size : sizes) least = std::min(least, alignment(size));
  return std::min(least + static_cast<float>(std::log2(std::max(item, 0.5))), 4.0F);
}

double dim(const TensorShape& t, std::size_t from_back) {
  return t.sizes.size() >= from_back ? static_cast<double>(t.sizes[t.sizes.size() - from_back]) : 1;
}

// Of the last two dimensions, whether the last is the one that lies dense in memory.
bool last_is_dense(const TensorShape& t) {
  if (t.strides.size() != t.sizes.size() || t.sizes.size() < 2) return true;
  const std::int64_t last = t.strides[t.strides.size() - 1], before = t.strides[t.strides.size() - 2];
  return last == 1 || before != 1;
}

double ceil_tiles(double size, double tile) { return std::ceil(size / tile); }

float code(bool value) { return value ? 1.0F : 0.0F; }

}  // namespace

void waves(double blocks, double multiprocessors, CallFeatures* out) {
  const double rounds = blocks / std::max(multiprocessors, 1.0);
  out->values.push_back(static_cast<float>(std::log2(std::max(rounds, 1.0 / 256))));
  out->values.push_back(static_cast<float>(rounds / std::max(std::ceil(rounds), 1.0)));
}

void tiled(double tiles, double multiprocessors, CallFeatures* out) {
  const double rounds = tiles / std::max(multiprocessors, 1.0);
  const double compute = std::exp2(static_cast<double>(out->values.front())) - 1;
  out->values.push_back(static_cast<float>(std::log2(1 + compute * std::ceil(rounds) / std::max(rounds, 1e-6))));
}

void product(const OpCall& call, const OpFormula& row, double multiprocessors, CallFeatures* out) {
  const ProductPositions at = *product_positions(row);
  const TensorShape* a = given(call, at.a);
  const TensorShape* b = given(call, at.b);
  if (a == nullptr || b == nullptr || a->sizes.empty() || b->sizes.empty()) return;
  const double k = std::max(dim(*a, 1) * at.packed_a, 1.0);
  const double batch = b->sizes.size() > 2 ? dim(*b, 3) : 1;
  const double n = b->sizes.size() < 2 ? 1 : at.b_by_rows ? dim(*b, 2) : dim(*b, 1);
  const double m = numel(*a) / dim(*a, 1) / (a->sizes.size() > 2 && batch > 1 ? batch : 1);
  const bool a_by_k = last_is_dense(*a);
  const bool b_by_k = at.b_by_rows ? last_is_dense(*b) : b->sizes.size() > 1 && !last_is_dense(*b);
  const TensorShape* added = given(call, at.added);
  std::vector<float>& f = out->values;
  f.insert(f.end(), {log_size(m), log_size(n), log_size(k), log_size(batch), code(a_by_k), code(b_by_k),
                     alignment(a_by_k ? k : m), alignment(b_by_k ? k : n), alignment(n),
                     added == nullptr    ? 0.0F
                     : numel(*added) > n ? 2.0F
                                         : 1.0F,
                     least_alignment({a_by_k ? k : m, b_by_k ? k : n, n}, item_bytes(a->dtype)),
                     static_cast<float>(m / (ceil_tiles(m, 64) * 64)), static_cast<float>(n / (ceil_tiles(n, kTile) * kTile))});
  waves(batch * ceil_tiles(m, kTile) * ceil_tiles(n, kTile), multiprocessors, out);
  waves(batch * ceil_tiles(m, kTile) * ceil_tiles(n, 2 * kTile), multiprocessors, out);
  waves(batch * ceil_tiles(m, 64) * ceil_tiles(n, 64), multiprocessors, out);
  tiled(batch * ceil_tiles(m, kTile) * ceil_tiles(n, 2 * kTile), multiprocessors, out);
  tiled(batch * ceil_tiles(m, kTile) * ceil_tiles(n, kTile), multiprocessors, out);
  tiled(batch * ceil_tiles(m, 64) * ceil_tiles(n, 64), multiprocessors, out);
}

void convolution(const OpCall& call, const OpFormula& row, double multiprocessors, CallFeatures* out) {
  const auto* at = std::get_if<ConvolutionPositions>(&row.positions);
  const bool backward = row.op.find("backward") != std::string_view::npos;
  const TensorShape* x = tensor_at(call, backward ? 1 : 0);
  const TensorShape* w = tensor_at(call, backward ? 2 : 1);
  if (at == nullptr || x == nullptr || w == nullptr || x->sizes.size() < 3 || w->sizes.size() < 3) return;
  const auto first = [&](int position, double otherwise) {
    if (position < 0) return otherwise;
    const auto list = integers_at(call, static_cast<std::size_t>(position));
    return list && !list->empty() ? static_cast<double>(list->front()) : otherwise;
  };
  const auto spatial = [](const TensorShape& t) {
    double n = 1;
    for (std::size_t i = 2; i < t.sizes.size(); ++i) n *= static_cast<double>(t.sizes[i]);
    return n;
  };
  const bool transposed = at->transposed == ConvolutionPositions::Transposed::yes ||
                          (at->transposed == ConvolutionPositions::Transposed::argument &&
                           flag_at(call, static_cast<std::size_t>(at->transposed_at)));
  const double images = static_cast<double>(x->sizes[0]), channels = static_cast<double>(x->sizes[1]);
  const double w0 = static_cast<double>(w->sizes[0]), w1 = static_cast<double>(w->sizes[1]), kernel = spatial(*w);
  const double groups = transposed ? std::max(first(at->groups, 1), 1.0) : std::max(channels / std::max(w1, 1.0), 1.0);
  const double in = transposed ? w0 / groups : w1, made = transposed ? w1 : w0 / groups;  // channels of a group
  const double flops_of_one = 2 * kernel * images * w0 * w1;
  double positions = out->work.flops && flops_of_one > 0 ? *out->work.flops / flops_of_one : spatial(*x);
  const auto mask = at->mask < 0 ? std::vector<bool>() : flags_at(call, static_cast<std::size_t>(at->mask));
  const bool gives_input = mask.empty() || mask[0], gives_weight = mask.size() < 2 || mask[1];
  if (backward && gives_input && gives_weight) positions /= 2;
  const bool last = x->strides.size() == x->sizes.size() && x->strides[1] == 1 && channels > 1;
  const bool bias = backward ? mask.size() > 2 && mask[2] : given(call, at->bias) != nullptr;
  std::vector<float>& f = out->values;
  f.insert(f.end(), {log_size(images),
                     log_size(in),
                     log_size(made),
                     log_size(groups),
                     log_size(positions),
                     log_size(spatial(*x)),
                     log_size(kernel),
                     static_cast<float>(first(at->stride, 1)),
                     static_cast<float>(first(at->dilation, 1)),
                     static_cast<float>(x->sizes.size() - 2),
                     code(last),
                     code(transposed),
                     code(gives_input),
                     code(gives_weight),
                     code(bias),
                     alignment(in),
                     alignment(made),
                     least_alignment({in, made}, item_bytes(x->dtype)),
                     static_cast<float>(made / (ceil_tiles(made, 64) * 64)),
                     log_size(in * kernel),
                     static_cast<float>(std::log2(1 + std::exp2(static_cast<double>(out->values.front())) *
                                                          (ceil_tiles(made, 64) * 64 / made) *
                                                          (ceil_tiles(in * kernel, 32) * 32 / (in * kernel))))});
  waves(groups * ceil_tiles(images * positions, kTile) * ceil_tiles(made, kTile), multiprocessors, out);
  tiled(groups * ceil_tiles(images * positions, kTile) * ceil_tiles(made, kTile), multiprocessors, out);
  tiled(groups * ceil_tiles(images * positions, 64) * ceil_tiles(made, 64), multiprocessors, out);
}

void attention(const OpCall& call, const OpFormula& row, double multiprocessors, CallFeatures* out) {
  const auto* at = std::get_if<AttentionPositions>(&row.positions);
  if (at == nullptr) return;
  const TensorShape* q = given(call, at->q);
  const TensorShape* k = given(call, at->q + 1);
  const TensorShape* v = given(call, at->q + 2);
  if (q == nullptr || k == nullptr || v == nullptr || q->sizes.size() != 4 || k->sizes.size() != 4) return;
  const bool heads_first = at->layout == AttentionPositions::Layout::heads_first;
  const std::size_t head_at = heads_first ? 1 : 2, token_at = heads_first ? 2 : 1;
  const auto size = [](const TensorShape& t, std::size_t i) { return static_cast<double>(t.sizes[i]); };
  const double batch = size(*q, 0), heads = size(*q, head_at), queries = size(*q, token_at), keys = size(*k, token_at);
  const bool causal = out->work.flops && out->work.flops_causal && *out->work.flops_causal < *out->work.flops;
  // As a model has it: the heads of a token lie together.
  const bool by_tokens = q->strides.size() == 4 && heads > 1 && queries > 1 && q->strides[head_at] < q->strides[token_at];
  const TensorShape* bias = given(call, at->bias);
  std::vector<float>& f = out->values;
  f.insert(f.end(), {log_size(batch), log_size(heads), log_size(queries), log_size(keys), static_cast<float>(size(*q, 3)),
                     static_cast<float>(dim(*v, 1)), code(causal), log_size(heads / std::max(size(*k, head_at), 1.0)),
                     code(bias != nullptr), code(by_tokens),
                     static_cast<float>(std::log2(out->work.flops_causal.value_or(out->work.flops.value_or(0)) + 1)),
                     static_cast<float>(queries / (ceil_tiles(queries, kTile) * kTile)), alignment(keys)});
  waves(batch * heads * ceil_tiles(queries, kTile), multiprocessors, out);
  waves(batch * heads * ceil_tiles(queries, 64), multiprocessors, out);
  tiled(batch * heads * ceil_tiles(queries, kTile), multiprocessors, out);
  tiled(batch * heads * ceil_tiles(queries, 64), multiprocessors, out);
}

}  // namespace ridge::features
