// The names of the tuner's spans and functions, and one pass that marks everything below them; then what the order of calls
// tells of tuners that write no span.
#include "model/autotune.h"

#include <algorithm>
#include <array>

#include "model/benchmark_runs.h"
#include "model/name_flags.h"

namespace ridge {
namespace {

constexpr std::string_view kTimed = " (dynamo_timed)";

constexpr std::array<std::string_view, 6> kBenchmarks = {
    "benchmark_all_configs",  "benchmark_fused_nodes", "benchmark_codegened_module",
    "benchmark_combo_kernel", "benchmark_gpu",         "coordinate_descent_tuning",
};

// "path.py(12): name" to name; nothing when the frame is none of the compiler's files, so that a user's do_bench stays the
// user's.
std::string_view compiler_function(std::string_view frame) {
  if (!frame.starts_with("torch/_inductor/") && frame.find("/torch/_inductor/") == frame.npos &&
      frame.find("triton/testing.py") == frame.npos) {
    return {};
  }
  const std::size_t colon = frame.rfind("): ");
  return colon == frame.npos ? std::string_view{} : frame.substr(colon + 3);
}

bool is_tuning_function(std::string_view name) {
  return name.starts_with("do_bench") || std::find(kBenchmarks.begin(), kBenchmarks.end(), name) != kBenchmarks.end();
}

bool is_tuning_phase(std::string_view name) {
  const bool timed = name.ends_with(kTimed);
  if (timed) name.remove_suffix(kTimed.size());
  if (name.starts_with("CachingAutotuner.")) return name.find("_data: ") == name.npos;
  if (timed && (name.starts_with("benchmark_") || name.find(".benchmark") != name.npos)) return true;
  return name.ends_with("_template_autotuning") || is_tuning_function(name);
}

}  // namespace

bool is_autotune_span(EventClass event_class, std::string_view name) {
  switch (event_class) {
    case EventClass::python_frame: return is_tuning_function(compiler_function(name));
    case EventClass::op:
    case EventClass::annotation: return is_tuning_phase(name);
    default: return false;
  }
}

Autotuning build_autotuning(const Trace& trace, const CallTree& tree, const LaunchLinks& links) {
  Autotuning tuning;
  const NameFlags names(trace, [](std::string_view name) {
    return is_autotune_span(EventClass::op, name) || is_autotune_span(EventClass::python_frame, name);
  });
  const std::vector<BenchmarkRun> runs = find_benchmark_runs(trace, tree, links);
  if (!names.any() && runs.empty()) return tuning;
  std::vector<std::uint8_t> inside(tree.size());
  for (std::uint32_t n = 0; n < tree.recorded; ++n) {
    const NodeId parent = tree.parent[n];
    inside[n] = parent != kNoNode && inside[parent.value] != 0;
    if (inside[n] != 0) continue;
    const StringId name = trace.events.name(tree.event[n]);
    if (!names[name] || !is_autotune_span(tree.event_class[n], trace.text(name))) continue;
    inside[n] = 1;
    tuning.spans.push_back(NodeId{n});
  }
  for (const BenchmarkRun& run : runs) {
    for (std::uint32_t n = run.first.value; n <= run.last.value; ++n) inside[n] = 1;
  }
  tuning.work.resize(links.launch.size());
  for (std::size_t row = 0; row < links.launch.size(); ++row) {
    tuning.work[row] = links.launch[row] != kNoNode && inside[links.launch[row].value] != 0;
  }
  tuning.node = std::move(inside);
  return tuning;
}

}  // namespace ridge
