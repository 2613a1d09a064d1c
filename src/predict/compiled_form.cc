// Sums over the ops of each group.
#include "predict/compiled_form.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "cost/grid_size.h"
#include "model/kernel_identity.h"

namespace ridge {
namespace {

// Fitted to programs that were recorded eager and compiled (bench/accuracy/fit_compiled.py): by sizes that shapes or grids
// tell, and where products tell none, or times are all that does. Such guesses find twice the traffic.
struct Fit {
  double of_traffic, of_beyond, of_sums, of_moves, elements_per_ns, group_ns, of_one;
};
constexpr Fit kBySizes = {0.80, 0.12, 0.6, 0.11, 9'000, 6'000, 0.85};
constexpr Fit kByGuesses = {0.50, 0.05, 0.6, 0.45, 8'000, 1'200, 0.85};
constexpr double kDoublesPerNs = 800;  // operations in double precision
// A kernel takes that much longer than its traffic without being slow.
constexpr double kUsual = 1.2, kBeyondUnknown = 0.2;

class Sums {
 public:
  Sums(const Scope& scope, const DeviceWorkTable& table, std::int64_t device)
      : scope_(scope), model_(scope.model()), trace_(scope.trace()), table_(table), rate_(bytes_a_ns(scope, device)) {}

  void add(const FlowCall& call, std::span<const EagerProgram::Launched> launched, GeneratedKernels* out) const {
    double time = 0, roof = 0;
    bool moves = false, sums = false, doubles = false;
    for (const auto& [node, row] : launched) {
      time += static_cast<double>(trace_.events.dur_ns(table_.events[row]).value_or(0));
      roof += scope_.costs().roof(row).roof_ns.value_or(0);
      const Category category = model_.identities()[row].category;
      const bool scans =
          model_.identities()[row].label.find("scan") != std::string_view::npos;  // ATen's are slow by themselves
      moves = moves || scans || category == Category::layout || category == Category::norm || category == Category::memcpy;
      sums = sums || category == Category::reduction;
      const std::string_view name = trace_.text(trace_.events.name(table_.events[row]));
      doubles = doubles || name.find("<double") != name.npos;
    }
    double elements = 0, bytes = 0;
    for (const auto* tensors : {&call.reads, &call.makes}) {
      for (const FlowTensor& each : *tensors) {
        elements = std::max(elements, each.elements);
        bytes += each.bytes();
      }
    }
    const bool by_grid = !call.makes.empty() && call.makes.front().shape == 0;
    if (by_grid) roof = bytes / rate_;
    (moves  ? out->beyond_of_moves_ns
     : sums ? out->beyond_of_sums_ns
            : out->beyond_ns) += roof > 0 ? std::max(0.0, time - kUsual * roof) : kBeyondUnknown * time;
    out->now_ns += time;
    out->elements += elements;
    if (doubles) out->doubles += elements;
    ++out->ops;
  }

  double traffic_ns(const Fused::Group& group) const { return (group.bytes_read + group.bytes_written) / rate_; }

 private:
  const Scope& scope_;
  const Model& model_;
  const Trace& trace_;
  const DeviceWorkTable& table_;
  double rate_;
};

double left_of(const GeneratedKernels& group, const Fit& fit) {
  double left = fit.of_traffic * group.traffic_ns + fit.of_beyond * group.beyond_ns + fit.of_sums * group.beyond_of_sums_ns +
                fit.of_moves * group.beyond_of_moves_ns + group.elements / fit.elements_per_ns + group.doubles / kDoublesPerNs +
                fit.group_ns;
  if (group.ops == 1) left = std::max(left, fit.of_one * group.now_ns);
  return std::min(left, group.now_ns);
}

}  // namespace

CompiledForm CompiledForms::of(std::int64_t device) const {
  const EagerProgram program = programs_.of(device);
  const Sums sums(scope_, work_, device);
  const Fused fused = fuse(program.flow);
  CompiledForm out{.groups = std::vector<GeneratedKernels>(fused.groups.size()), .kernels = {}};
  for (std::size_t i = 0; i < program.flow.ops.size(); ++i) {
    const std::uint32_t group = fused.group_of[i];
    if (group == Fused::kNoGroup) continue;
    const FlowOp& op = program.flow.ops[i];
    const auto launched = program.launched_by(op);
    sums.add(program.flow.calls[op.call], launched, &out.groups[group]);
    for (const auto& [node, row] : launched) out.kernels.push_back({group, fused.part_of[i], row});
  }
  std::ranges::stable_sort(out.kernels, {}, [](const CompiledForm::Kernel& k) { return std::pair(k.group, k.part); });
  for (std::size_t i = 0; i < out.groups.size(); ++i) {
    out.groups[i].traffic_ns = sums.traffic_ns(fused.groups[i]);
    out.groups[i].sure = fused.groups[i].sure;
    out.groups[i].left_ns = left_of(out.groups[i], fused.groups[i].sure ? kBySizes : kByGuesses);
  }
  return out;
}

}  // namespace ridge
