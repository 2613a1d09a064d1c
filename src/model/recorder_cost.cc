// One pass over the slices of the launching threads, each at its price.
#include "model/recorder_cost.h"

#include <algorithm>
#include <utility>

#include "model/name_flags.h"
#include "trace/args.h"

namespace ridge {
namespace {

bool has_shapes(const Trace& trace) {
  const auto tells = [](const Slot& slot) { return slot.key == id_of(ArgKey::input_dims) && !slot.member; };
  return std::ranges::any_of(trace.forms.forms(), [&](const Form& form) {
    return trace.forms.kinds()[form.kind.value].event_class == EventClass::op &&
           std::ranges::any_of(trace.forms.schemas()[form.schema.value].slots, tells);
  });
}

// What slices cost, by class and name.
class Prices {
 public:
  explicit Prices(const Trace& trace)
      : trace_(trace),
        prices_(has_shapes(trace) ? kWithShapes : kWithoutShapes),
        triton_(trace, [](std::string_view name) { return name.starts_with("triton_"); }),
        steps_(trace, [](std::string_view name) { return name.starts_with("ProfilerStep#"); }) {}

  std::int64_t of(EventClass sort, EventId event) const {
    const StringId name = trace_.events.name(event);
    if (sort == EventClass::op) return triton_[name] ? prices_.triton_op_ns : prices_.op_ns;
    if (sort == EventClass::python_frame) return prices_.frame_ns;
    return sort == EventClass::annotation && steps_[name] ? prices_.step_ns : 0;
  }

 private:
  const Trace& trace_;
  const RecorderPrices& prices_;
  NameFlags triton_, steps_;
};

}  // namespace

RecorderCost::RecorderCost(const Trace& trace, const CallTree& tree, const std::vector<bool>& threads) {
  const Prices prices(trace);
  std::vector<std::pair<std::int64_t, std::int64_t>> costs;  // start, cost
  for (std::size_t t = 0; t < tree.threads.size(); ++t) {
    if (!threads[t]) continue;
    for (std::uint32_t n = tree.threads[t].first; n < tree.threads[t].first + tree.threads[t].count; ++n) {
      const std::int64_t cost = prices.of(tree.event_class[n], tree.event[n]);
      if (cost > 0) costs.emplace_back(tree.start_ns[n], cost);
    }
  }
  std::sort(costs.begin(), costs.end());
  std::int64_t sum = 0;
  for (const auto& [start, cost] : costs) {
    starts_.push_back(start);
    sums_.push_back(sum += cost);
  }
}

std::int64_t RecorderCost::until(std::int64_t time_ns) const {
  const auto behind = std::lower_bound(starts_.begin(), starts_.end(), time_ns) - starts_.begin();
  return behind == 0 ? 0 : sums_[static_cast<std::size_t>(behind) - 1];
}

}  // namespace ridge
