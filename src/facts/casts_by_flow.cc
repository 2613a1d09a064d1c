// One walk of each stream's work in order, by iteration.
#include "facts/casts_by_flow.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "facts/scoped_work.h"
#include "model/iterations.h"

namespace ridge {
namespace {

enum class Makes : std::uint8_t { narrow, cast_down, product, unknown };  // what a kernel writes, as far as its name tells

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// Of ATen's kernels the template's type is that of the arithmetic, which is also that of the result: BFloat16, Half or float.
Makes made_by(const KernelIdentity& kernel) {
  const std::string_view label = kernel.label;
  const bool casts = has(label, "bfloat16_copy") || has(label, "float16_copy");
  if (casts) return has(label, "<float>") || has(label, "<double>") ? Makes::cast_down : Makes::unknown;
  if (kernel.category == Category::gemm) return Makes::product;
  if (has(label, "<float") || has(label, "<double") || has(label, ", float")) return Makes::unknown;
  return has(label, "BFloat16") || has(label, "Half") ? Makes::narrow : Makes::unknown;
}

struct StepCasts {
  bool told = true;
  std::vector<std::uint32_t> rows;  // of casts with a product right behind
};

class CastFlow {
 public:
  explicit CastFlow(const Scope& scope) : scope_(scope) {}

  std::map<std::size_t, StepCasts> by_step() {
    for_each_work(
        scope_,
        [&](const Device& device, const WorkRow& work) {
          if (work.sort == WorkSort::set) return;
          const auto step = iteration_of_work(scope_.trace(), scope_.model().tree(), scope_.model().links(),
                                              scope_.model().iterations(), work.row);
          if (step) see(device.id, work, *step);
        },
        CompilerWorkFilter::without);
    return std::move(steps_);
  }

 private:
  struct Last {
    std::uint32_t row = 0;
    std::size_t step = 0;
    bool cast = false;
  };

  void see(std::int64_t device, const WorkRow& work, std::size_t step) {
    StepCasts& its = steps_[step];
    const Makes makes = work.sort == WorkSort::compute ? made_by(scope_.model().identities()[work.row]) : Makes::unknown;
    its.told = its.told && makes != Makes::unknown;
    Last& last = last_[{device, work.stream}];
    if (makes == Makes::product && last.cast && last.step == step) its.rows.push_back(last.row);
    last = {work.row, step, makes == Makes::cast_down};
  }

  const Scope& scope_;
  std::map<std::size_t, StepCasts> steps_;
  std::map<std::pair<std::int64_t, std::int64_t>, Last> last_;  // by device and stream
};

}  // namespace

std::vector<std::uint32_t> weight_casts_by_flow(const Scope& scope) {
  constexpr std::size_t kLeastSteps = 2, kLeastCasts = 2;
  const std::map<std::size_t, StepCasts> steps = CastFlow(scope).by_step();
  std::vector<std::uint32_t> rows;
  if (steps.size() < kLeastSteps) return rows;
  const std::size_t casts = steps.begin()->second.rows.size();
  for (const auto& [step, its] : steps) {
    if (!its.told || its.rows.size() != casts || casts < kLeastCasts) return {};
    rows.insert(rows.end(), its.rows.begin() + 1, its.rows.end());
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

}  // namespace ridge
