// Features of products and attention: the sizes of the product, the layouts of its operands, and how its tiles fill the
// device.
#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "ops/operands.h"
#include "predict/call_features.h"
#include "predict/feature_values.h"

namespace ridge::features {
namespace {

constexpr double kTile = 128;

const TensorShape* given(const OpCall& call, int position) {
  return position < 0 ? nullptr : tensor_at(call, static_cast<std::size_t>(position));
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
