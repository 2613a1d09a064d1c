// Matrix products: kernels that compute a part of each sum, and those that add the parts up; what a kernel reads again.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "cost/library/call_parts.h"
#include "cost/library/product_waves.h"
#include "kernel_names/kernel_description.h"
#include "kernel_names/tile_in_name.h"
#include "ops/operands.h"

namespace ridge {
namespace {

const TensorShape* factor(const CallParts& c, int position) { return tensor_at(c.call, static_cast<std::size_t>(position)); }

// Columns and rows of a product's result; zeros when they are not told.
std::pair<double, double> product_sizes(const CallParts& c, const ProductPositions& at) {
  const TensorShape* a = factor(c, at.a);
  const TensorShape* b = factor(c, at.b);
  if (a == nullptr || b == nullptr || a->sizes.size() < 2 || b->sizes.size() < 2) return {0, 0};
  const std::size_t columns = b->sizes.size() - (at.b_by_rows ? 2 : 1);
  return {static_cast<double>(b->sizes[columns]), static_cast<double>(a->sizes[a->sizes.size() - 2])};
}
double batch(const CallParts& c, const ProductPositions& at) {
  const TensorShape* a = factor(c, at.a);
  return a != nullptr && a->sizes.size() == 3 ? static_cast<double>(a->sizes[0]) : 1;
}

// Bytes of an element of the result: products of 8 bits give 16 or 32.
double result_item(const CallParts& c, double elements, double item) {
  const std::optional<double> written = c.work().written;
  return written && elements > 0 ? *written / elements : std::max(item, item_bytes(DType::bf16));
}

// Of the result, and of the sums.
struct Product {
  double columns, rows, depth, item;
  double result_item;

  double result_bytes() const { return rows * columns * result_item; }
  double all_bytes() const { return (rows + columns) * depth * item + result_bytes(); }
};

// Persistent kernels go over the result in groups of 8 clusters of tiles along one side, each group along the whole other side,
// as many at a time as they have blocks: product_waves follows them. "_v_" and "_h_" tell the sides. Groups are of 16 clusters
// where 8 make a wave higher than wide, and the result is not over 48 clusters along or 64 across. Where the result is by rows
// ("..T") it is m that they go along, however large it is, and where groups are of 8 a little stays at the turn; an m of 8
// clusters or fewer is cut in groups of 4 that go along n. The library chooses the width by more than the name tells: most of
// what is not within 10 % has another.
struct Reread {
  double bytes = 0;
  bool guessed = false;  // close to the limits, or in an order that the name does not tell
};
Reread noticed(std::optional<double> bytes, const Product& p) {
  if (!bytes) return {0, true};
  constexpr double kNoise = 0.02;
  return *bytes > kNoise * (p.rows + p.columns) * p.depth * p.item ? Reread{*bytes, true} : Reread{};
}
Reread read_by_groups(const CallLaunch& launch, const Product& p, double cache) {
  const KernelFacts& facts = *launch.facts;
  if (facts.block_m <= 0 || facts.block_n <= 0 || facts.sweeps_m == facts.sweeps_n) return {};
  const double m = facts.transposed ? p.rows : p.columns, n = facts.transposed ? p.columns : p.rows;
  const double blocks = volume(launch.grid), tiles = std::ceil(m / facts.block_m) * std::ceil(n / facts.block_n);
  if (blocks <= 0) return {0, tiles > 1};                    // the trace does not tell them
  if (facts.transposed && tiles <= 1.5 * blocks) return {};  // nearly all at once
  const double tile_m = facts.block_m * facts.cluster_m, tile_n = facts.block_n * facts.cluster_n;
  const double running = std::max(std::floor(blocks / (facts.cluster_m * facts.cluster_n)), 1.0);
  const double clusters_m = std::ceil(m / tile_m), clusters_n = std::ceil(n / tile_n);
  constexpr double kGroup = 8, kMostAlong = 48, kMostAcross = 64, kAtTurn = 1.5e6, kSmall = 2.5e6;
  const bool halves_m = facts.transposed && clusters_m <= kGroup && clusters_n >= kGroup;
  const bool along_m = (facts.transposed || facts.sweeps_m) && !halves_m;
  const double along = along_m ? tile_m : tile_n, across = along_m ? tile_n : tile_m;
  const double clusters_along = along_m ? clusters_m : clusters_n, clusters_across = along_m ? clusters_n : clusters_m;
  const double square = std::sqrt(running * along / across);  // clusters across a wave that is as wide as it is high
  const bool within = clusters_along <= kMostAlong && clusters_across <= kMostAcross;
  const bool wide = square > 8.5 && (facts.transposed || within) && !halves_m;
  const double of_depth = p.depth * p.item;
  // An operand that takes next to nothing is gone across at once.
  const double all = facts.transposed && !halves_m && n * of_depth <= kSmall * cache ? clusters_n : 0;
  const double group = halves_m ? kGroup / 2 : wide ? 2 * kGroup : kGroup;
  Reread again = noticed(reread_by_walk({.along = clusters_along,
                                         .across = clusters_across,
                                         .group = std::max(group, all),
                                         .blocks = running,
                                         .along_bytes = along * of_depth,
                                         .across_bytes = across * of_depth,
                                         .result_bytes = along * across * p.result_item,
                                         .at_turn = facts.transposed && !wide && !halves_m ? kAtTurn : 0},
                                        cache),
                         p);
  constexpr double kFilled = 42e6;
  again.guessed = again.guessed || (facts.transposed && p.all_bytes() > kFilled * cache);
  return again;
}

// cutlass starts a block for each tile, in groups along one side; a group goes along the whole other side, as many blocks at a
// time as the device runs, all at the same depth. What such a wave takes does not stay until the next when it is larger than
// the cache: the group's own panels are read again by each wave, and the other operand by each group. Of what a wave took, a
// little is still there at the turn. Where a wave's fits, product_waves tells what is left of the wave before.
Reread read_by_waves(const CallLaunch& launch, const Product& p, const DeviceLimits& device) {
  const double kStays = 45e6 * device.cache, kAtTurn = 8e6 * device.cache;
  const auto [tile_m, tile_n] = tile_in_name(launch.kernel, launch.kernel.find("gemm"));
  if (tile_m <= 0 || !launch.grid || launch.grid->z != 1 || launch.grid->x <= 0 || launch.grid->y <= 0) return {};
  const double swept_tiles = std::ceil(p.rows / tile_n), tiles = std::ceil(p.columns / tile_m);
  const double width = static_cast<double>(launch.grid->x) / swept_tiles;  // blocks of a group for each tile of the swept side
  if (width < 1 || width != std::floor(width) || std::ceil(tiles / width) != static_cast<double>(launch.grid->y)) return {};
  const double running = device.multiprocessors * std::clamp(std::floor(32768 / (tile_m * tile_n)), 1.0, 4.0);
  const double group = std::min(width, tiles), groups = std::ceil(tiles / width),
               waves = std::max(swept_tiles * group / running, 1.0);
  const double swept = p.rows * p.depth * p.item, other = p.columns * p.depth * p.item;
  const double of_wave = swept / waves + other / groups;
  if (waves * groups <= 1) return {};
  if (of_wave <= kStays) {
    return noticed(reread_by_walk({.along = swept_tiles,
                                   .across = tiles,
                                   .group = group,
                                   .blocks = running,
                                   .along_bytes = tile_n * p.depth * p.item,
                                   .across_bytes = tile_m * p.depth * p.item,
                                   .result_bytes = tile_m * tile_n * p.result_item,
                                   .kept = 26e6,
                                   .lost = 40e6,
                                   .of_written = 0.75},
                                  device.cache),
                   p);
  }
  const double kept =
      kAtTurn * (waves - 1) * groups * (other / groups / of_wave) + kAtTurn * (groups - 1) * (swept / waves / of_wave);
  return {std::max((groups - 1) * swept + (waves - 1) * other - kept, 0.0)};
}

// Kernels named by their "tilesize". Counters of an H200 (54 products of one kernel each):
// - Persistent ones (sm90) go over the result in groups of 8 tiles along the rows, each group along all columns, whose operand
// is read again
//   as far as it has left the cache. Where there are fewer than 8 columns of tiles and neither operand is transposed ("nn"),
//   they go along the rows, column by column.
// - Others start their blocks in the order of the grid: along the rows, as many at a time as the device runs.
// Along the rows, their operand is read again for each column, or for each wave where a wave takes several.
Reread read_by_tiles(const CallLaunch& launch, const Product& p, const DeviceLimits& device) {
  const double kTiles = 8, kLarge = 50e6 * device.cache, kAtTurn = 15e6 * device.cache;
  const KernelFacts& facts = *launch.facts;
  if (facts.tile_m <= 0 || facts.tile_n <= 0 || !launch.grid) return {};
  const double rows = std::ceil(p.rows / facts.tile_m), columns = std::ceil(p.columns / facts.tile_n);
  const double blocks = volume(launch.grid);
  if (std::max(rows * columns, blocks) <= device.multiprocessors || p.all_bytes() <= 38e6 * device.cache) return {};
  if (launch.grid->z != 1) return {0, true};  // slices of k in an order that is not told
  const double of_rows = p.rows * p.depth * p.item, of_columns = p.columns * p.depth * p.item;
  const auto holds = [&](std::string_view text) { return launch.kernel.find(text) != std::string_view::npos; };
  const bool persistent = holds("sm90_xmma");
  if (persistent && !(holds("_nn_") && columns < kTiles)) {
    const double group = kTiles * facts.tile_m * p.depth * p.item;
    const double lost = share_lost(of_columns + group, 9.5e6 * device.cache, 18e6 * device.cache);
    const double again = std::ceil(rows / kTiles) - 1;
    return {again * lost * (of_columns - (of_columns > kLarge ? kAtTurn : 0)), lost > 0};
  }
  const double at_a_time = std::clamp(std::floor(32768 / (facts.tile_m * facts.tile_n)), 1.0, 2.0);
  const double running = persistent ? blocks : std::min(blocks, at_a_time * device.multiprocessors);
  // A persistent kernel takes as many columns at a time as its grid is high, where its blocks go along the rows in many steps.
  const double high = static_cast<double>(launch.grid->y);
  const bool many_steps = persistent && high > 0 && rows * high > 4 * blocks;
  const double sweeps = std::min(many_steps ? std::ceil(columns / high) : columns, std::max(rows * columns / running, 1.0));
  if (persistent) {
    const double lost = share_lost_between_passes(of_rows, p.result_bytes() / sweeps, device.cache);
    return {(sweeps - 1) * lost * (of_rows - (of_rows > kLarge ? kAtTurn : 0)), true};
  }
  // A wave of blocks that start one by one takes its own columns as well; and once the cache is full, a little even of a small
  // operand is lost to what streams past it.
  const double read = of_rows + of_columns / sweeps, written = p.result_bytes() / sweeps;
  const double leaks = 0.065 * std::max(1 - 45e6 * device.cache / p.all_bytes(), 0.0);
  const double lost = share_lost(read + 0.75 * written, 20e6 * device.cache, 42e6 * device.cache);
  return {(sweeps - 1) * std::max(lost, leaks) * of_rows, true};
}

Reread reread(const CallLaunch& launch, const Product& p, const DeviceLimits& device) {
  if (launch.facts->block_m > 0) return read_by_groups(launch, p, device.cache);
  if (launch.kernel.find("cutlass::Kernel2<") != std::string_view::npos) return read_by_waves(launch, p, device);
  return read_by_tiles(launch, p, device);
}

// cutlass without a kernel that adds up: each slice of k but the first reads what the one before it left in the result, unless
// that and what a slice takes of the operands stay in the cache.
double serial_splits(const CallParts& c, std::size_t i, const Product& p, double batch) {
  const CallLaunch& launch = c.launches[i];
  if (launch.kernel.find("cutlass::Kernel2<") == std::string_view::npos || !launch.grid) return 0;
  for (const Part& part : c.parts) {
    if (part.role == KernelRole::combine) return 0;
  }
  const double kStays = 24e6 * c.context.device.cache;
  const double splits = split_of(launch, batch), result = p.result_bytes();
  const bool stays = result + (p.rows + p.columns) * p.depth * p.item / splits <= kStays;
  return stays ? 0 : (splits - 1) * result;
}

// Where a persistent kernel has more blocks than the result has tiles, and another adds up: the blocks of a tile share its sum.
double blocks_of_a_tile(const CallLaunch& launch, double columns, double rows) {
  const KernelFacts& facts = *launch.facts;
  if (facts.tile_m <= 0 || facts.tile_n <= 0 || columns <= 0 || rows <= 0 || !launch.grid || launch.grid->z != 1) return 1;
  return std::floor(volume(launch.grid) / (std::ceil(rows / facts.tile_m) * std::ceil(columns / facts.tile_n)));
}

}  // namespace

double output_elements(const CallParts& c) {
  const OpWork whole = c.work();
  const double item = item_bytes(whole.dtype);
  return whole.written && item > 0 ? *whole.written / item : 0;
}

double share_lost(double bytes, double fits, double lost) {
  const double t = std::clamp((bytes - fits) / (lost - fits), 0.0, 1.0);
  return t * t * (3 - 2 * t);
}
double share_lost_between_passes(double read, double written, double cache) {
  return share_lost(read + written / 2, 24e6 * cache, 46e6 * cache);
}

double split_of(const CallLaunch& launch, double batch, double m, double n) {
  const KernelFacts& facts = *launch.facts;
  if (facts.block_m > 0 && facts.block_n > 0 && m > 0 && n > 0 && launch.kernel.find("splitK") != std::string_view::npos) {
    const double tiles = std::ceil(std::ceil(m / facts.block_m) / facts.cluster_m) * facts.cluster_m *
                         std::ceil(std::ceil(n / facts.block_n) / facts.cluster_n) * facts.cluster_n;
    return std::max(std::floor(volume(launch.grid) / (tiles * std::max(batch, 1.0))), 1.0);
  }
  const double depth = launch.grid ? static_cast<double>(launch.grid->z) : 1;
  return std::max(depth / std::max(batch, 1.0), 1.0);
}

// Beside a kernel that is a product by its name, one that is none prepares it, whatever it is called: nothing is claimed of it,
// and it has no share in the FLOPs. Where no name tells of a product, all may be.
void leave_out_helpers(CallParts& c) {
  if (c.parts.size() < 2) return;
  std::vector<bool> multiplies;
  for (const auto& launch : c.launches) multiplies.push_back(describe_kernel(launch.kernel).category == Category::gemm);
  const auto computes_by_name = [&](std::size_t i) { return multiplies[i] && c.parts[i].role == KernelRole::main; };
  bool any = false;
  for (std::size_t i = 0; i < c.parts.size(); ++i) any = any || computes_by_name(i);
  for (std::size_t i = 0; i < c.parts.size() && any; ++i) {
    if (c.parts[i].role == KernelRole::main && !multiplies[i]) c.parts[i].role = KernelRole::unknown;
  }
}

// A product split over k: its kernel writes partial sums, one more adds them up. The grid's depth beyond the batch is the
// split.
void assign_gemm_roles(CallParts& c) {
  const ProductPositions* at = product_positions(c.row);
  if (at == nullptr) return;
  leave_out_helpers(c);
  const auto [columns, rows] = product_sizes(c, *at);
  const TensorShape* a = factor(c, at->a);
  for (std::size_t i = 0; i < c.parts.size(); ++i) {
    const bool alone = c.parts[i].role == KernelRole::main && c.launches[i].kernel.find("splitK") == std::string_view::npos;
    if (!alone || columns <= 0 || a == nullptr || a->sizes.size() != 2) continue;
    const double item = item_bytes(a->dtype);
    const Product product{.columns = columns,
                          .rows = rows,
                          .depth = static_cast<double>(a->sizes[1]),
                          .item = item,
                          .result_item = result_item(c, rows * columns, item)};
    const Reread again = reread(c.launches[i], product, c.context.device);
    c.parts[i].edit<GemmPart>().reread_bytes = serial_splits(c, i, product, batch(c, *at)) + again.bytes;
    c.parts[i].guessed = again.guessed;
  }
  std::size_t product = c.parts.size();
  for (std::size_t i = 0; i < c.parts.size(); ++i) {
    if (c.parts[i].role == KernelRole::main) product = i;
    if (c.parts[i].role != KernelRole::combine || product == c.parts.size()) continue;
    // A sum of one part would need no kernel: where the grid does not tell, there are two at least.
    const double splits = std::max({split_of(c.launches[product], batch(c, *at), columns, rows),
                                    blocks_of_a_tile(c.launches[product], columns, rows), 2.0});
    const bool grouped = at->ends >= 0;  // each group may have a result
    const double elements = columns > 0 && !grouped ? rows * columns * batch(c, *at) : output_elements(c);
    const double partial = elements * item_bytes(DType::f32) * splits;
    c.parts[i].edit<GemmPart>().partial_bytes = c.parts[product].edit<GemmPart>().partial_bytes = partial;
  }
}

}  // namespace ridge
