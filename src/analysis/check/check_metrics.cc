// The table of doubts, and for each the reasons that fit the kernel at hand.
#include "analysis/check/check_metrics.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "analysis/kernels/kernels.h"
#include "analysis/shared/cells.h"
#include "base/units.h"
#include "cost/triton/kernel_source.h"
#include "kernel_names/plain_float32.h"

namespace ridge {
namespace {

// In the order of MetricProblem.
constexpr std::array<MetricProblemRow, kMetricProblems> kProblemRows = {{
    {"over_peak_flops", Severity::warning,
     "kernels exceed 100 % of peak FLOP/s: the metrics table lists likely reasons; nothing is clipped"},
    {"over_peak_bandwidth", Severity::warning,
     "kernels exceed 100 % of peak bandwidth: the metrics table lists likely reasons; nothing is clipped"},
    {"under_one_percent", Severity::warning,
     "significant kernels reach under 1 % of their roof by figures that are uncertain: the figures are probably wrong"},
    {"near_peak", Severity::info, "significant kernels reach over 90 % of a peak: rare, worth a second look"},
    {"far_from_roof", Severity::info,
     "significant kernels reach under 10 % of their roof: either the kernels are slow or the figures are wrong"},
    {"kernel_source_differs", Severity::warning, "the source file that the trace names now holds a different kernel"},
    {"kernel_source_missing", Severity::info,
     "sources of generated kernels were not found: pass --inductor-cache DIR for more reliable byte counts"},
}};

constexpr double kImpossible = 100, kNear = 90, kFar = 10, kWrong = 1;  // percent
constexpr double kShareThatMatters = 1;                                 // percent of kernel time
constexpr std::int64_t kLaunchThatMatters_ns = 10'000;                  // shorter ones are start and ramp more than work

bool matters(const KernelRow& k, const Kernels& all) {
  return k.count > 0 && k.time_ns / k.count >= kLaunchThatMatters_ns &&
         100.0 * static_cast<double>(k.time_ns) >= kShareThatMatters * static_cast<double>(all.time_ns);
}

class Reasons {
 public:
  void add(bool applies, std::string_view text) {
    if (applies) text_ += (text_.empty() ? "" : "; ") + std::string(text);
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

// Whether a kernel's work was read out of its arguments in one of several ways, or is known in part. What the shapes of its op
// tell is right, however slow the kernel: a grid of one block on a large device, a grouped convolution, float64.
bool is_uncertain(const CostSum& cost) {
  return cost.estimate == Estimate::ambiguous || !cost.bytes.known || !cost.flops.known;
}

bool computes_in(const KernelRow& k, DType dtype) { return (k.cost.dtypes >> static_cast<unsigned>(dtype) & 1U) != 0; }
bool is_triton(const KernelRow& k) { return name_of(k.category).starts_with("triton_"); }

std::string over_flops_reasons(const KernelRow& k, const DeviceSpec* device) {
  Reasons reasons;
  reasons.add(computes_in(k, DType::f32) && !is_plain_float32(k.kernel), "float32 on TF32 units: try --tf32");
  reasons.add(k.cost.estimate == Estimate::ambiguous, "its FLOPs are ambiguous: several readings of its arguments fit");
  reasons.add(
      computes_in(k, DType::f16) || computes_in(k, DType::bf16) || computes_in(k, DType::f8) || computes_in(k, DType::i8),
      "sparse matrices (up to twice the dense peak), or a narrower dtype than the arguments'");
  reasons.add(device != nullptr && device->measured, "measured peaks that are too low");
  reasons.add(device != nullptr, "a device other than " + (device != nullptr ? device->name : std::string()) + ": --device");
  reasons.add(true, "a causal mask or another shortcut that skips counted work");
  return reasons.take();
}

std::string over_bandwidth_reasons(const KernelRow& k, const DeviceSpec* device) {
  Reasons reasons;
  const double per_launch = k.cost.bytes.value().value_or(0) / static_cast<double>(std::max<std::int64_t>(1, k.count));
  const double l2 = device != nullptr ? device->l2_bytes : 0;
  reasons.add(l2 > 0 && per_launch < 2 * l2,
              format_bytes(per_launch) + " per launch, against " + format_bytes(l2) + " of L2: data was still in cache");
  reasons.add(k.cost.estimate == Estimate::ambiguous, "its bytes are ambiguous: several readings of its arguments fit");
  reasons.add(is_triton(k) && k.cost.estimate != Estimate::source,
              "which parts of its arguments it reads is unknown without its source");
  reasons.add(device != nullptr, "a device other than " + (device != nullptr ? device->name : std::string()) + ": --device");
  reasons.add(true, "a wrong dtype, or indices that touch only part of a tensor");
  return reasons.take();
}

std::string low_reasons(const KernelRow& k) {
  Reasons reasons;
  reasons.add(!k.cost.bytes.known || !k.cost.flops.known, "part of its work is unknown");
  reasons.add(k.category == Category::comm, "it waits for other ranks");
  reasons.add(k.cost.estimate == Estimate::ambiguous, "its figures are ambiguous: several readings of its arguments fit");
  reasons.add(k.cost.flops.value().value_or(0) == 0,
              "arithmetic that PyTorch's convention does not count, or uncoalesced access");
  reasons.add(true, "a grid too small to fill the device, or the wrong dtype");
  return reasons.take();
}

// The autotuner runs candidates to reject them, many far from any roof, and the compiler patterns of its passes: they are not
// judged.
class OddMetrics {
 public:
  explicit OddMetrics(const Scope& scope)
      : scope_(scope), kernels_(compute_kernels(scope, std::nullopt, WithCosts::yes, CompilerWorkFilter::without)) {}

  std::vector<OddMetric> find() {
    for (const KernelRow& k : kernels_.rows) {
      check_percentages(k);
      check_source(k);
    }
    std::stable_sort(found_.begin(), found_.end(), [](const OddMetric& a, const OddMetric& b) {
      return std::tuple(a.problem, -a.time_ns, a.kernel) < std::tuple(b.problem, -b.time_ns, b.kernel);
    });
    return std::move(found_);
  }

 private:
  void add(MetricProblem problem, const KernelRow& k, std::optional<double> percent, std::string reasons) {
    const double share =
        kernels_.time_ns > 0 ? 100.0 * static_cast<double>(k.time_ns) / static_cast<double>(kernels_.time_ns) : 0;
    found_.push_back({problem, k.kernel, k.label, k.device, k.count, k.time_ns, percent, share, std::move(reasons)});
  }

  void check_percentages(const KernelRow& k) {
    const DeviceSpec* device = scope_.costs().device(k.device);
    const double flops = k.cost.peak_flops_ns.pct_of_time().value_or(0);
    const double bytes = k.cost.peak_bytes_ns.pct_of_time().value_or(0);
    if (flops > kImpossible) add(MetricProblem::over_peak_flops, k, flops, over_flops_reasons(k, device));
    if (bytes > kImpossible) add(MetricProblem::over_peak_bandwidth, k, bytes, over_bandwidth_reasons(k, device));
    const std::optional<double> of_roof = k.cost.roof_ns.pct_of_time();
    if (!of_roof || !matters(k, kernels_) || flops > kImpossible || bytes > kImpossible) return;
    if (const double best = std::max(flops, bytes); best > kNear) {
      add(MetricProblem::near_peak, k, best, "few kernels come that close; its work may be overcounted");
    } else if (*of_roof < kWrong && is_uncertain(k.cost)) {
      add(MetricProblem::under_one_percent, k, of_roof, low_reasons(k));
    } else if (*of_roof < kFar) {
      add(MetricProblem::far_from_roof, k, of_roof, low_reasons(k));
    }
  }

  void check_source(const KernelRow& k) {
    const KernelSources* sources = scope_.costs().options().sources;
    if (k.kernel_file.empty() || sources == nullptr) return;
    const std::optional<std::string> text = sources->find(k.kernel_file);
    const SourceMatch match = match_source(text, k.kernel_hash);
    if (match == SourceMatch::differs) {
      add(MetricProblem::source_differs, k, std::nullopt,
          std::string(k.kernel_file) + " hashes to " + kernel_source_hash(*text) + ", the trace says " +
              std::string(k.kernel_hash));
    }
    if (match == SourceMatch::missing) add(MetricProblem::source_missing, k, std::nullopt, std::string(k.kernel_file));
  }

  const Scope& scope_;
  Kernels kernels_;
  std::vector<OddMetric> found_;
};

}  // namespace

const MetricProblemRow& row_of(MetricProblem problem) { return kProblemRows[static_cast<std::size_t>(problem)]; }

std::vector<OddMetric> find_odd_metrics(const Scope& scope) { return OddMetrics(scope).find(); }

Table metrics_table(const std::vector<OddMetric>& metrics) {
  Table table;
  table.name = "metrics";
  table.hints.important = {"problem", "kernel", "percent", "pct_gpu_time", "time_ns"};
  table.columns = {{"problem", Type::text},
                   {"percent", Type::number, Unit::percent},
                   {"pct_gpu_time", Type::number, Unit::percent},
                   {"time_ns", Type::integer, Unit::ns},
                   {"count", Type::integer, Unit::count},
                   {"device", Type::integer},
                   {"kernel", Type::text},
                   {"reasons", Type::text, Unit::none, Role::plain, true}};
  for (const OddMetric& m : metrics) {
    table.add_row({std::string(row_of(m.problem).code), cells::number(m.percent), m.pct_gpu_time, m.time_ns, m.count, m.device,
                   std::string(m.kernel), cells::text(m.reasons)});
  }
  return table;
}

}  // namespace ridge
