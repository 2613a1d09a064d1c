// CostModel: the cost of every launch of a trace and the roof of its device, built when first asked for and kept. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cost/launch_cost.h"
#include "device/device.h"
#include "model/model.h"

namespace ridge {

struct LaunchCosts;

// Sources of generated kernels, read by the engine (--inductor-cache, or the path in the trace) and handed over as text.
class KernelSources {
 public:
  virtual ~KernelSources() = default;
  // The text of the file that a trace names as `kernel_file`, or nothing when it cannot be found.
  virtual std::optional<std::string> find(std::string_view kernel_file) const = 0;
};

struct CostOptions {
  std::optional<DeviceSpec> device;        // --device, --device-file: whose peaks to use, for all devices of the trace
  double clock_mhz = 0;                    // --clock-mhz: compute peaks scale with clock / boost; 0: not given
  DType dtype = DType::unknown;            // --dtype: of kernels whose dtype the trace does not tell
  bool tf32 = false;                       // --tf32: float32 matrix work ran on TF32 units
  const KernelSources* sources = nullptr;  // none: only what the trace tells
  std::shared_ptr<const std::string> measured =
      nullptr;  // --expected-file: the user's own points, as text; read in src/predict
};

enum class Bound : std::uint8_t { unknown, compute, memory, latency };
std::string_view name_of(Bound bound);  // empty for unknown

// A launch (or a sum of launches) against its roof. Rates of groups are sums over sums: add LaunchCosts and times, then ask.
struct Roof {
  std::optional<double> roof_ns;                             // the least time the device needs for this work
  std::optional<double> headroom_ns;                         // time - roof, not below 0
  std::optional<double> pct_peak_flops, pct_peak_bandwidth;  // of the dtype's peak and of the bandwidth; not clipped at 100
  Bound bound = Bound::unknown;                              // latency: neither roof explains the time
};

class CostModel {
 public:
  CostModel(const Model& model, CostOptions options);
  ~CostModel();
  CostModel(const CostModel&) = delete;
  CostModel& operator=(const CostModel&) = delete;

  const Model& model() const { return model_; }
  const CostOptions& options() const { return options_; }

  // Computes the costs now; else the first question does.
  void build() const;

  // By row of trace.of(EventClass::device_work).
  const LaunchCost& operator[](std::size_t row) const;
  // All of them, and which calls they belong to.
  const LaunchCosts& costs() const;
  // The roof of one launch.
  Roof roof(std::size_t row) const;
  // FLOPs of an op call (a node of the tree) whose kernels the trace holds: for `ops`. nullopt when not known or when it owns
  // no kernel.
  std::optional<double> flops_of_op(NodeId op) const;

  // Of what is made so far, the model not counted.
  std::uint64_t memory_bytes() const;

  // Peaks of a device of the trace (--clock-mhz already applied); nullptr when it is not known.
  const DeviceSpec* device(std::int64_t id) const;

 private:
  struct State;

  const Model& model_;
  CostOptions options_;
  std::unique_ptr<State> state_;
};

// The roof of work that took `time_ns` in all, on a device (nullptr: not known).
Roof roof_of(const LaunchCost& cost, bool matrix_work, double time_ns, std::int64_t launches, const DeviceSpec* device);

}  // namespace ridge
