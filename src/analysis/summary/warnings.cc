// The warnings of the summary: what its figures leave out, what they are means or sums of, and which are not known.
#include "analysis/summary/warnings.h"

#include <string>

#include "base/units.h"
#include "facts/scope_diagnostics.h"

namespace ridge {
namespace {

// Device work that is not the program's own.
void warn_of_left_out(const char* code, const std::string& whose, std::int64_t launches, std::int64_t time_ns,
                      const Categories& c, std::vector<Diagnostic>* warnings) {
  if (launches == 0) return;
  const double whole = static_cast<double>(c.autotune_ns) + static_cast<double>(c.compiler_ns) + static_cast<double>(c.time_ns);
  const std::string share =
      whole > 0 ? " (" + format_percent(100.0 * static_cast<double>(time_ns) / whole) + " of GPU time)" : "";
  warnings->push_back({code, launches,
                       "launches by " + whose + " took " + format_duration(static_cast<double>(time_ns)) + share +
                           ": not counted in categories, top_kernels, top_ops and compiled_pct_gpu_time",
                       "warning"});
}

Diagnostic about_several_devices(std::int64_t devices) {
  return {"several_devices", 1,
          "the trace has " + format_count(devices) +
              " devices: gpu_busy and percentages are means over devices; times of idle, categories, kernels and ops are sums "
              "(ridge gpu lists each)",
          "warning"};
}

Diagnostic about_first_iteration(const Summary& summary) {
  const std::vector<Iteration>& list = summary.model->iterations().list;
  const std::string rest =
      std::to_string(list[summary.behind_first].number) + "-" + std::to_string(list[summary.iterations.back()].number);
  return {"first_iteration_outlier", 1, "the first iteration takes far longer than the median; skip it with --step " + rest,
          "warning"};
}

}  // namespace

std::vector<Diagnostic> summary_warnings(const Summary& summary) {
  std::vector<Diagnostic> warnings;
  if (summary.gpu.no_device_events) warnings.push_back(no_device_events());
  warnings.insert(warnings.end(), summary.findings.doubts.begin(), summary.findings.doubts.end());
  // An empty list of findings would read as good news.
  if (summary.findings.rows.empty() && !summary.findings.unclaimed.empty())
    warnings.push_back({"idle_without_finding", 1, text_of(summary.findings.unclaimed), "warning"});
  warnings.insert(warnings.end(), summary.unknown_costs.begin(), summary.unknown_costs.end());
  if (const auto devices = static_cast<std::int64_t>(summary.gpu.devices.size()); devices > 1)
    warnings.push_back(about_several_devices(devices));
  const Categories& c = summary.categories;
  warn_of_left_out("autotuning", "the autotuner", c.autotune_launches, c.autotune_ns, c, &warnings);
  warn_of_left_out("compiling", "the compiler itself", c.compiler_launches, c.compiler_ns, c, &warnings);
  if (summary.first_is_outlier) warnings.push_back(about_first_iteration(summary));
  return warnings;
}

}  // namespace ridge
