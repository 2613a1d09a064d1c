// A block of threads makes one tile of the result, step by step along k: how long a step takes, how many blocks run at once,
// and how many rounds that makes. Rough on purpose: the trees learn what is off.
#include "predict/tile_features.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "ops/operands.h"
#include "predict/feature_values.h"

namespace ridge {
namespace {

// Of a multiprocessor of an H200.
constexpr double kShared = 227 * 1024, kSharedOfBlock = 1024, kThreads = 2048, kRegisters = 65536, kMostBlocks = 32;
constexpr double kMostRegisters = 255;      // of a thread
constexpr double kOtherRegisters = 48;      // what is not the sum of the tile
constexpr double kCacheBandwidth = 5.5e12;  // of the second-level cache, bytes/s
constexpr double kLatencyNs = 700, kUnhiddenNs = 500, kBeginNs = 1500;

// torch/_inductor/template_heuristics, PyTorch 2.11: tiles of m, n and k, warps, stages.
constexpr std::array kInductorTiles = {
    TritonTile{32, 32, 16, 2, 1},   TritonTile{32, 32, 128, 4, 2},   TritonTile{32, 64, 32, 8, 5},
    TritonTile{64, 32, 32, 8, 5},   TritonTile{64, 32, 128, 4, 5},   TritonTile{64, 64, 16, 4, 2},
    TritonTile{64, 64, 32, 4, 2},   TritonTile{64, 64, 64, 8, 3},    TritonTile{64, 64, 128, 4, 5},
    TritonTile{64, 128, 32, 4, 3},  TritonTile{64, 128, 32, 8, 4},   TritonTile{64, 128, 64, 4, 3},
    TritonTile{64, 128, 128, 4, 4}, TritonTile{128, 64, 32, 4, 3},   TritonTile{128, 64, 32, 8, 4},
    TritonTile{128, 128, 32, 8, 2}, TritonTile{128, 128, 32, 4, 3},  TritonTile{128, 128, 64, 4, 3},
    TritonTile{128, 128, 64, 8, 5}, TritonTile{128, 128, 128, 8, 4},
};
constexpr std::int64_t kLeastTile = 16;

std::int64_t tile_for(std::int64_t size, std::int64_t tile) {
  std::int64_t power = kLeastTile;
  while (power < size && power < tile) power *= 2;
  return std::min(power, tile);
}

std::int64_t rounded_up(std::int64_t size, std::int64_t tile) { return (size + tile - 1) / std::max<std::int64_t>(tile, 1); }

float log_of(double x) { return static_cast<float>(std::log2(std::max(x, 1e-3))); }

// How many bytes a thread can load at once, by the distance between rows.
double load_bytes(std::int64_t row, double item) {
  return std::min(16.0, item * std::exp2(static_cast<double>(features::alignment(static_cast<double>(row)))));
}

bool by_columns(const TensorShape& t) { return t.strides.size() == 2 && t.strides[0] == 1 && t.strides[1] != 1; }

// How it would run.
struct Schedule {
  double item, tiles, steps, acc, shared, loads_a, loads_b;
  bool warp_groups, pipelined;
  double at_once, rounds, per_unit, filled;  // blocks of a unit, rounds of all, blocks a unit has to do, of the last round
  double multiply_ns, load_ns, step_ns, total_ns;

  Schedule(const TritonProduct& p, const TritonTile& t, double peak_of_unit, double units) {
    const auto m = static_cast<double>(t.m), n = static_cast<double>(t.n), k = static_cast<double>(t.k);
    const double warps = static_cast<double>(t.warps), stages = static_cast<double>(t.stages), threads = 32 * warps;
    item = item_bytes(p.dtype);
    tiles = static_cast<double>(tiles_of(p, t));
    steps = static_cast<double>(rounded_up(p.k, t.k));
    acc = m * n / threads;
    loads_a = load_bytes(p.a_turned ? p.m : p.k, item);
    loads_b = load_bytes(p.b_turned ? p.k : p.n, item);
    // Whole groups of four warps multiply 64 rows at once; loads of fewer than four bytes cannot run ahead.
    warp_groups = t.m >= 64 && t.warps % 4 == 0;
    pipelined = loads_a >= 4 && loads_b >= 4 && t.stages > 1;
    shared = pipelined ? shared_bytes(p, t) : (m + n) * k * item;
    const double registers = std::min(kMostRegisters, acc + kOtherRegisters);
    at_once = std::clamp(
        std::floor(std::min({kShared / (shared + kSharedOfBlock), kThreads / threads, kRegisters / (registers * threads)})),
        1.0, kMostBlocks);
    const double waves = tiles / (units * at_once);
    rounds = std::ceil(waves);
    filled = waves / std::max(rounds, 1.0);
    per_unit = std::ceil(tiles / units);
    const double together = std::min(at_once, per_unit);
    const double reached = (warp_groups ? 0.65 : 0.3) * std::pow(std::min(1.0, m * n / (128 * 64)), 0.3);
    multiply_ns = 2 * m * n * k / (peak_of_unit * reached) * 1e9;
    load_ns = (m + n) * k * item / (kCacheBandwidth / units) * 1e9;
    step_ns = std::max(std::max(multiply_ns, load_ns) * together,
                       pipelined ? kLatencyNs / std::max(1.0, stages - 1) : kLatencyNs + kUnhiddenNs);
    total_ns = std::ceil(per_unit / together) * (steps * step_ns + kBeginNs);
  }
};

}  // namespace

std::optional<TritonProduct> triton_product_of(const OpCall& call) {
  const std::size_t first = call.op == "aten::mm" ? 0 : call.op == "aten::addmm" ? 1 : 9;
  const TensorShape *a = tensor_at(call, first), *b = tensor_at(call, first + 1);
  if (first > 1 || a == nullptr || b == nullptr || a->sizes.size() != 2 || b->sizes.size() != 2) return std::nullopt;
  if (a->sizes[1] != b->sizes[0] || numel(*a) == 0 || numel(*b) == 0) return std::nullopt;
  return TritonProduct{a->sizes[0], b->sizes[1], a->sizes[1], by_columns(*a), by_columns(*b), a->dtype};
}

std::vector<TritonTile> inductor_tiles(const TritonProduct& product) {
  constexpr std::int64_t kOfWarp = 256;  // elements of a tile
  std::vector<TritonTile> out;
  for (TritonTile tile : kInductorTiles) {
    tile.m = tile_for(product.m, tile.m);
    tile.n = tile_for(product.n, tile.n);
    tile.k = tile_for(product.k, tile.k);
    tile.warps = std::min(tile.warps, tile.m * tile.n / kOfWarp);
    if (std::ranges::find(out, tile) == out.end()) out.push_back(tile);
  }
  return out;
}

double shared_bytes(const TritonProduct& product, const TritonTile& tile) {
  return static_cast<double>(std::max<std::int64_t>(tile.stages, 1) * (tile.m + tile.n) * tile.k) * item_bytes(product.dtype);
}

std::int64_t tiles_of(const TritonProduct& product, const TritonTile& tile) {
  return rounded_up(product.m, tile.m) * rounded_up(product.n, tile.n);
}

std::string text_of(const TritonTile& tile) {
  return R"({"BLOCK_M": )" + std::to_string(tile.m) + R"(, "BLOCK_N": )" + std::to_string(tile.n) + R"(, "BLOCK_K": )" +
         std::to_string(tile.k) + R"(, "num_warps": )" + std::to_string(tile.warps) + R"(, "num_stages": )" +
         std::to_string(tile.stages) + "}";
}

CallFeatures features_of_tile(const TritonProduct& p, const TritonTile& t, bool tf32, double multiprocessors) {
  CallFeatures out;
  const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n), k = static_cast<double>(p.k);
  const double item = item_bytes(p.dtype);
  out.op = "mm";
  out.work = {.flops = 2 * m * n * k, .read = (m * k + k * n) * item, .written = m * n * item, .dtype = p.dtype};
  out.unit = p.dtype == DType::f32 && tf32 ? DType::tf32 : p.dtype;
  out.matrix = true;
  // What was measured: 16-bit types, and float32 by TF32 units.
  if (out.unit != DType::tf32 && out.unit != DType::bf16 && out.unit != DType::f16) return out;
  if (t.m <= 0 || t.n <= 0 || t.k <= 0 || t.warps <= 0 || t.stages <= 0 || !(m * n * k > 0)) return out;
  out.kind = "triton_product";
  features::begin_features(&out);
  const double compute_ns = std::exp2(static_cast<double>(out.values[0])) - 1, units = std::max(multiprocessors, 1.0);
  const double peak_of_unit = *out.work.flops / std::max(compute_ns, 1e-3) * 1e9 / units;
  const Schedule s(p, t, peak_of_unit, units);
  const double least_ns = 1500 + std::max(compute_ns, std::exp2(static_cast<double>(out.values[1])) - 1);
  const double padded = s.tiles * static_cast<double>(t.m * t.n * t.k) * s.steps;
  const auto flag = [](bool value) { return value ? 1.0F : 0.0F; };
  const auto number = [](double value) { return static_cast<float>(value); };
  const auto tile_m = static_cast<double>(t.m), tile_n = static_cast<double>(t.n), warps = static_cast<double>(t.warps);
  std::vector<float>& f = out.values;
  f.insert(f.end(), {log_size(m),
                     log_size(n),
                     log_size(k),
                     flag(p.a_turned),
                     flag(p.b_turned),
                     number(tile_m),
                     number(tile_n),
                     static_cast<float>(t.k),
                     static_cast<float>(t.stages),
                     number(warps),
                     log_of(s.tiles),
                     log_of(s.steps),
                     log_of(shared_bytes(p, t)),
                     number(s.acc),
                     number(s.at_once),
                     log_of(s.tiles / (units * s.at_once)),
                     number(s.filled),
                     number(std::min(s.rounds, 20.0)),
                     number(padded / (m * n * k)),
                     log_of(s.tiles * s.steps * (tile_m + tile_n) * static_cast<double>(t.k) * item),
                     log_of(compute_ns * padded / (m * n * k) * s.rounds / std::max(s.rounds * s.filled, 1e-6)),
                     features::alignment(m),
                     features::alignment(n),
                     features::alignment(k),
                     flag(p.k % t.k == 0),
                     number(tile_m * tile_n / (tile_m + tile_n)),
                     flag(p.m >= t.m),
                     flag(p.n >= t.n),
                     number(s.loads_a),
                     number(s.loads_b),
                     number(load_bytes(p.n, item)),
                     flag(s.warp_groups),
                     flag(s.pipelined),
                     log_of(s.total_ns),
                     log_of(s.multiply_ns),
                     log_of(s.load_ns),
                     log_of(s.step_ns),
                     number(s.per_unit * units / s.tiles),
                     number(tile_m * tile_n / warps),
                     number(std::min(s.at_once, s.per_unit) * warps),
                     log_of(s.total_ns / least_ns)});
  return out;
}

}  // namespace ridge
