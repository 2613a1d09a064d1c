// How each kind of table is made, and the handles by which one keeps what it is made from.
#include "engine/trace_tables.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include "base/try.h"
#include "engine/cost_options.h"
#include "engine/parameters.h"
#include "facts/scope.h"
#include "model/model.h"
#include "model/process_part.h"
#include "timeline/make_timeline.h"

namespace ridge {
namespace {

// A trace's model, costs and timeline take up to twice what the trace does, and other costs of the same model little more: the
// default holds two models and many combinations of flags about devices.
constexpr std::uint64_t kDefaultShare = 4;
constexpr std::uint64_t kLeastDefault = std::uint64_t{256} << 20;

std::uint64_t default_budget(const TraceTables::Traces& traces) {
  std::uint64_t bytes = 0;
  for (const auto& trace : traces) bytes += trace->memory_bytes();
  return std::max(kDefaultShare * bytes, kLeastDefault);
}

// --gpu as a number; what is none is left to make_scope(), which says so.
std::optional<std::int64_t> gpu_of(const Arguments& arguments) {
  const auto gpu = arguments.find("gpu");
  if (gpu == arguments.end()) return std::nullopt;
  std::int64_t device = 0;
  const char* const end = gpu->second.data() + gpu->second.size();
  if (std::from_chars(gpu->second.data(), end, device).ptr != end) return std::nullopt;
  return device;
}

}  // namespace

struct TraceTables::Part {
  std::shared_ptr<const Trace> trace;  // nullptr: the device's programs are the whole

  std::uint64_t memory_bytes() const {  // all but the lists of classes is the whole's
    std::uint64_t bytes = sizeof(Trace);
    for (std::size_t c = 0; trace != nullptr && c < kEventClasses; ++c) bytes += trace->by_class[c].size() * sizeof(EventId);
    return bytes;
  }
};

struct TraceTables::HeldModel {
  HeldModel(std::shared_ptr<const Trace> of, std::int64_t runs) : trace(std::move(of)), model(*trace, runs) {}
  std::shared_ptr<const Trace> trace;
  Model model;

  std::uint64_t memory_bytes() const { return model.memory_bytes(); }
};

struct TraceTables::HeldCosts {
  HeldCosts(std::shared_ptr<const HeldModel> model, CostSettings from)
      : of(std::move(model)), settings(std::move(from)), costs(of->model, settings.options) {}
  std::shared_ptr<const HeldModel> of;
  CostSettings settings;
  CostModel costs;

  std::uint64_t memory_bytes() const { return costs.memory_bytes() + settings.sources->memory_bytes(); }
};

TraceTables::TraceTables(Traces traces, std::uint64_t budget_bytes, std::shared_ptr<Threads> threads, bool named_files_only)
    : traces_(std::move(traces)),
      threads_(std::move(threads)),
      named_files_only_(named_files_only),
      cache_(budget_bytes != 0 ? budget_bytes : default_budget(traces_)) {}

Result<std::shared_ptr<const TraceTables::Part>> TraceTables::part(std::size_t i, const ModelKey& key) {
  return cache_.get<Part>(
      "part " + std::to_string(i) + " " + std::to_string(*key.device), [&]() -> Result<std::shared_ptr<const Part>> {
        TRY(const std::shared_ptr<const HeldModel> whole, model(i, {key.runs}));
        const auto keeps = tracks_of_device(whole->model, *key.device);
        return std::make_shared<const Part>(keeps ? std::make_shared<const Trace>(*traces_[i], *keeps) : nullptr);
      });
}

Result<TraceTables::ModelKey> TraceTables::model_key(std::size_t i, const Arguments& arguments) {
  ModelKey key;
  TRY(key.runs, runs_argument(arguments));
  key.device = gpu_of(arguments);
  if (!key.device) return key;
  TRY(const std::shared_ptr<const Part> device, part(i, key));
  if (device->trace == nullptr) key.device.reset();
  return key;
}

std::string TraceTables::name_of(std::size_t i, const ModelKey& key) {
  return std::to_string(i) + " " + std::to_string(key.runs) + (key.device ? " " + std::to_string(*key.device) : "");
}

Result<std::shared_ptr<const TraceTables::HeldModel>> TraceTables::model(std::size_t i, const ModelKey& key) {
  return cache_.get<HeldModel>("model " + name_of(i, key), [&]() -> Result<std::shared_ptr<const HeldModel>> {
    if (!key.device) return std::make_shared<const HeldModel>(traces_[i], key.runs);
    TRY(const std::shared_ptr<const Part> device, part(i, key));
    return std::make_shared<const HeldModel>(device->trace, key.runs);
  });
}

Result<std::shared_ptr<const CostModel>> TraceTables::costs(std::size_t i, const ModelKey& key, const Arguments& arguments) {
  const std::string name = "costs " + name_of(i, key) + " " + key_of(arguments, Changes::costs);
  TRY(const std::shared_ptr<const HeldCosts> held,
      cache_.get<HeldCosts>(name, [&]() -> Result<std::shared_ptr<const HeldCosts>> {
        TRY(CostSettings settings, read_cost_settings(arguments, named_files_only_));
        TRY(std::shared_ptr<const HeldModel> of, model(i, key));
        return std::make_shared<const HeldCosts>(std::move(of), std::move(settings));
      }));
  return std::shared_ptr<const CostModel>(held, &held->costs);
}

Result<std::shared_ptr<const CostModel>> TraceTables::costs(std::size_t i, const Arguments& arguments) {
  TRY(const ModelKey key, model_key(i, arguments));
  return costs(i, key, arguments);
}

Result<std::shared_ptr<const Timeline>> TraceTables::timeline(std::size_t i, const Arguments& arguments) {
  ModelKey key;
  TRY(key.runs, runs_argument(arguments));
  const std::string name = "timeline " + name_of(i, key) + " " + key_of(arguments, Changes::costs);
  return cache_.get<Timeline>(name, [&]() -> Result<std::shared_ptr<const Timeline>> {
    TRY(std::shared_ptr<const CostModel> of, costs(i, key, arguments));
    return make_timeline(std::move(of), threads_);
  });
}

}  // namespace ridge
