// A product by Inductor's template is told by its tensors; which tiles a configuration has, by its grid, warps and stages and
// by the order in which Inductor tries them.
#include <algorithm>

#include "analysis/autotune/autotune.h"
#include "ops/operands.h"
#include "predict/expected_time.h"
#include "trace/args.h"

namespace ridge {
namespace {

// Of the tensors that a kernel is given, two that can be multiplied, behind them what is made.
std::optional<TritonProduct> product_of(const TriedConfig& config) {
  const OpCall call = parse_op_call("aten::mm", config.dims, config.types, config.strides, {});
  for (std::size_t i = 0; i + 2 < call.arguments.size(); ++i) {
    const TensorShape *a = tensor_at(call, i), *b = tensor_at(call, i + 1), *made = tensor_at(call, i + 2);
    if (a == nullptr || b == nullptr || made == nullptr || made->sizes.size() != 2) continue;
    OpCall pair;
    pair.op = "aten::mm";
    pair.has_shapes = true;
    pair.arguments = {call.arguments[i], call.arguments[i + 1]};
    const auto product = triton_product_of(pair);
    if (product && made->sizes[0] == product->m && made->sizes[1] == product->n) return product;
  }
  return std::nullopt;
}

std::string name_of_product(const TritonProduct& p, std::string_view how) {
  constexpr std::string_view kTail = "_template_autotuning";
  if (how.ends_with(kTail)) how.remove_suffix(kTail.size());
  return std::string(how) + " [" + std::to_string(p.m) + "," + std::to_string(p.k) + "] x [" + std::to_string(p.k) + "," +
         std::to_string(p.n) + "] " + std::string(name_of(p.dtype));
}

void find_tiles(const TritonProduct& product, TunedOnce* tuning) {
  std::vector<TritonTile> left = inductor_tiles(product);
  for (TriedConfig& config : tuning->tried) {
    const auto grid = parse_dim3(config.grid);
    if (!config.warps || !config.stages || !grid) continue;
    const auto fits = [&](const TritonTile& tile) {
      return tile.warps == *config.warps && tile.stages == *config.stages && tiles_of(product, tile) == grid->x;
    };
    // By its shared memory where that tells; Triton may ask for less than the template's stages come to.
    auto found = std::ranges::find_if(left, [&](const TritonTile& tile) {
      return fits(tile) && config.shared_bytes && static_cast<double>(*config.shared_bytes) == shared_bytes(product, tile);
    });
    if (found == left.end()) found = std::ranges::find_if(left, fits);
    if (found == left.end()) continue;
    config.tile = *found;
    left.erase(found);
  }
}

// Places among all that have a figure, the least first.
template <class Figure, class Place>
void place(std::vector<TriedConfig*> configs, Figure figure, Place to) {
  std::ranges::stable_sort(configs, {}, figure);
  for (std::size_t i = 0; i < configs.size(); ++i) configs[i]->*to = static_cast<std::int64_t>(i + 1);
}

}  // namespace

void rank_by_expectation(const Scope& scope, TunedOnce* tuning) {
  std::vector<TriedConfig*> all, expected;
  std::optional<TritonProduct> product;
  for (TriedConfig& config : tuning->tried) {
    all.push_back(&config);
    if (!product && config.warps && tuning->how.ends_with("_template_autotuning")) product = product_of(config);
  }
  place(all, [](const TriedConfig* c) { return c->min_ns; }, &TriedConfig::place);
  if (!product) {
    if (tuning->what.empty() && !tuning->tried.empty()) tuning->what = tuning->tried.front().kernel;
    return;
  }
  tuning->what = name_of_product(*product, tuning->how);
  find_tiles(*product, tuning);
  const std::vector<Device>& devices = scope.model().timeline().devices;
  const DeviceSpec* device = devices.empty() ? nullptr : scope.costs().device(devices.front().id);
  if (device == nullptr) return;
  constexpr double kMultiprocessors = 132;  // of a device that does not tell
  const double units = device->multiprocessors > 0 ? static_cast<double>(device->multiprocessors) : kMultiprocessors;
  for (TriedConfig& config : tuning->tried) {
    if (!config.tile) continue;
    std::string why;
    // Inductor's template takes TF32 units where PyTorch may; a trace does not tell, and the order hardly depends on it.
    const auto time = expected_time(features_of_tile(*product, *config.tile, true, units), *device, nullptr, &why);
    if (!time) continue;
    config.expected_ns = time->ns;
    expected.push_back(&config);
  }
  place(expected, [](const TriedConfig* c) { return *c->expected_ns; }, &TriedConfig::expected_place);
}

}  // namespace ridge
