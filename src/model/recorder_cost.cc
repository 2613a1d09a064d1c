// The table of prices, and one walk over the slices of each thread.
#include "model/recorder_cost.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>
#include <string_view>

#include "base/in_parallel.h"
#include "model/stack_cost.h"
#include "trace/args.h"

namespace ridge {
namespace {

enum class PriceMatch : std::uint8_t { any, prefix, suffix, part };

struct RecorderPrice {
  EventClass event_class;
  PriceMatch match;
  std::string_view text;
  std::int32_t ns;
  std::int32_t with_shapes_ns;  // more, where shapes are recorded
};

// The first row that fits decides; what none fits is free. Launches through the driver are priced with the op around them, and
// so are waits.
constexpr RecorderPrice kPrices[] = {
    {EventClass::op, PriceMatch::prefix, "triton_", 11'500, 4'500},
    {EventClass::op, PriceMatch::prefix, "autograd::engine", 0, 350},
    {EventClass::op, PriceMatch::prefix, "torch::autograd", 0, 350},
    {EventClass::op, PriceMatch::suffix, "Backward0", 0, 350},
    {EventClass::op, PriceMatch::part, "CompiledFunction", 3'200, 1'500},
    {EventClass::op, PriceMatch::part, "Torch-Compiled", 3'200, 1'500},
    {EventClass::op, PriceMatch::part, "TorchDynamo", 3'200, 1'500},
    {EventClass::op, PriceMatch::part, "Pregraph", 3'200, 1'500},
    {EventClass::op, PriceMatch::part, "AOT", 3'200, 1'500},
    {EventClass::op, PriceMatch::any, "", 1'300, 350},
    {EventClass::launch, PriceMatch::prefix, "cudaLaunch", 3'400, 0},
    {EventClass::launch, PriceMatch::prefix, "hipLaunch", 3'400, 0},
    {EventClass::launch, PriceMatch::prefix, "hipModuleLaunch", 3'400, 0},
    {EventClass::launch, PriceMatch::prefix, "cuLaunch", 0, 0},
    {EventClass::launch, PriceMatch::part, "GraphLaunch", 0, 0},
    {EventClass::launch, PriceMatch::part, "Synchronize", 0, 0},
    {EventClass::launch, PriceMatch::any, "", 650, 0},
    {EventClass::python_frame, PriceMatch::any, "", 570, 0},
    {EventClass::annotation, PriceMatch::prefix, "ProfilerStep#", 100'000, 0},
    {EventClass::memory, PriceMatch::any, "", 800, 0},  // an allocation, or giving it back, where they are recorded
};

constexpr std::int64_t kWatchedNs = 60'000;
constexpr double kAlwaysLeft = 0.2;
// A launch of a kernel while it is recorded, on the host of the calibration; and how far another may be from it and be
// believed.
constexpr double kLaunchNs = 4'400;
constexpr double kFastest = 0.8, kSlowest = 3;
constexpr std::size_t kFewestLaunches = 15;  // for a median to tell a host's speed

bool fits_price(const RecorderPrice& price, std::string_view name) {
  switch (price.match) {
    case PriceMatch::any: return true;
    case PriceMatch::prefix: return name.starts_with(price.text);
    case PriceMatch::suffix: return name.ends_with(price.text);
    default: return name.find(price.text) != std::string_view::npos;
  }
}

bool has_shapes(const Trace& trace) {
  const auto tells = [](const Slot& slot) { return slot.key == id_of(ArgKey::input_dims) && !slot.member; };
  return std::ranges::any_of(trace.forms.forms(), [&](const Form& form) {
    return trace.forms.kinds()[form.kind.value].event_class == EventClass::op &&
           std::ranges::any_of(trace.forms.schemas()[form.schema.value].slots, tells);
  });
}

bool launches_kernel(std::string_view call) { return call.starts_with("cudaLaunch") || call.starts_with("cuLaunchKernel"); }
bool may_wait(std::string_view call) {
  return call.find("Synchronize") != std::string_view::npos || call.find("Memcpy") != std::string_view::npos ||
         call.find("Malloc") != std::string_view::npos || call.find("Free") != std::string_view::npos;
}

// What there is to know about each name that a slice has.
class PricedNames {
 public:
  PricedNames(const Trace& trace, const CallTree& tree) : names_(trace.strings.size()) {
    const bool shapes = has_shapes(trace);
    std::vector<bool> asked(names_.size());
    for (std::uint32_t n = 0; n < tree.recorded; ++n) {
      const StringId id = trace.events.name(tree.event[n]);
      if (asked[id.value] || tree.event_class[n] == EventClass::python_frame) continue;
      asked[id.value] = true;
      const std::string_view text = trace.text(id);
      Name& name = names_[id.value];
      name.op_ns = price_of(EventClass::op, text, shapes);
      name.call_ns = price_of(EventClass::launch, text, shapes);
      name.annotation_ns = price_of(EventClass::annotation, text, shapes);
      name.launches = launches_kernel(text);
      name.waits = may_wait(text);
    }
    frame_ns_ = price_of(EventClass::python_frame, "", shapes);
    memory_ns_ = price_of(EventClass::memory, "", shapes);
  }

  std::int64_t price(EventClass sort, StringId name) const {
    switch (sort) {
      case EventClass::op: return names_[name.value].op_ns;
      case EventClass::launch: return names_[name.value].call_ns;
      case EventClass::annotation: return names_[name.value].annotation_ns;
      case EventClass::python_frame: return frame_ns_;
      default: return 0;
    }
  }
  std::int64_t allocation() const { return memory_ns_; }
  bool launches(StringId name) const { return names_[name.value].launches; }
  bool waits(StringId name) const { return names_[name.value].waits; }

 private:
  struct Name {
    std::int32_t op_ns = 0, call_ns = 0, annotation_ns = 0;
    bool launches = false, waits = false;
  };
  static std::int32_t price_of(EventClass sort, std::string_view text, bool shapes) {
    const auto* row =
        std::ranges::find_if(kPrices, [&](const RecorderPrice& p) { return p.event_class == sort && fits_price(p, text); });
    return row == std::end(kPrices) ? 0 : row->ns + (shapes ? row->with_shapes_ns : 0);
  }

  std::vector<Name> names_;
  std::int32_t frame_ns_ = 0, memory_ns_ = 0;
};

// When each thread allocated or gave back memory, in order; they are instants, no slices of its tree.
std::vector<std::vector<std::int64_t>> allocations_by_thread(const Trace& trace, const CallTree& tree) {
  std::vector<std::vector<std::int64_t>> times(tree.threads.size());
  for (const EventId event : trace.of(EventClass::memory)) {
    if (const HostThread* thread = tree.thread_of(trace.track(event)))
      times[static_cast<std::size_t>(thread - tree.threads.data())].push_back(trace.events.ts_ns(event));
  }
  for (std::vector<std::int64_t>& of_thread : times) std::ranges::sort(of_thread);
  return times;
}

// The median of what launching a kernel took; 0 when there are too few.
double typical_launch_ns(const Trace& trace, const CallTree& tree, const PricedNames& names) {
  std::vector<std::int64_t> lengths;
  for (std::uint32_t n = 0; n < tree.recorded; ++n) {
    if (tree.event_class[n] == EventClass::launch && names.launches(trace.events.name(tree.event[n])))
      lengths.push_back(tree.end_ns[n] - tree.start_ns[n]);
  }
  if (lengths.size() < kFewestLaunches) return 0;
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::nth_element(lengths.begin(), middle, lengths.end());
  return static_cast<double>(*middle);
}

// One thread, from call to call.
class CostWalk {
 public:
  CostWalk(const Trace& trace, const CallTree& tree, const PricedNames& names, const StackCosts& stacks, double slowness,
           std::span<const std::int64_t> allocations)
      : trace_(trace), tree_(tree), names_(names), stacks_(stacks), factor_(std::sqrt(slowness)), allocations_(allocations) {}

  RecorderCost of(const HostThread& thread) {
    if (thread.count == 0) return std::move(cost_);
    now_ = tree_.start_ns[thread.first];
    cost_.start(now_);
    for (std::uint32_t n = thread.first; n < thread.first + thread.count; ++n) {
      while (!open_.empty() && tree_.end_ns[open_.back()] <= tree_.start_ns[n]) close_slice();
      go_to(tree_.start_ns[n]);
      const StringId name = trace_.events.name(tree_.event[n]);
      if (tree_.event_class[n] == EventClass::launch && names_.waits(name)) close_stretch();
      price_ns_ += names_.price(tree_.event_class[n], name);
      if (!open_.empty()) price_ns_ += stacks_.inside_ns(trace_.events.name(tree_.event[open_.back()]));
      open_.push_back(n);
    }
    while (!open_.empty()) close_slice();
    close_stretch();
    cost_.fit();
    return std::move(cost_);
  }

 private:
  void close_slice() {
    const std::uint32_t n = open_.back();
    go_to(tree_.end_ns[n]);
    open_.pop_back();
    if (tree_.event_class[n] == EventClass::launch) close_stretch();
  }

  void go_to(std::int64_t time_ns) {
    if (time_ns <= now_) return;
    const bool in_wait = !open_.empty() && tree_.event_class[open_.back()] == EventClass::launch &&
                         names_.waits(trace_.events.name(tree_.event[open_.back()]));
    const bool collects = !open_.empty() && stacks_.is_collection(NodeId{open_.back()}, time_ns - now_);
    if (!in_wait) watched_ns_ += std::min(time_ns - now_, kWatchedNs);
    if (collects) collected_ns_ += time_ns - now_ - kWatchedNs;
    for (; !allocations_.empty() && allocations_.front() < time_ns; allocations_ = allocations_.subspan(1))
      price_ns_ += allocations_.front() >= now_ ? names_.allocation() : 0;
    now_ = time_ns;
  }

  void close_stretch() {
    const double own = static_cast<double>(watched_ns_) / factor_;
    const double left = std::max(own - factor_ * static_cast<double>(price_ns_), kAlwaysLeft * own);
    cost_.add(now_, std::max<std::int64_t>(0, watched_ns_ - std::llround(left)) + collected_ns_);
    watched_ns_ = price_ns_ = collected_ns_ = 0;
  }

  const Trace& trace_;
  const CallTree& tree_;
  const PricedNames& names_;
  const StackCosts& stacks_;
  const double factor_;
  std::span<const std::int64_t> allocations_;  // still to come
  std::vector<std::uint32_t> open_;
  std::int64_t now_ = 0, watched_ns_ = 0, price_ns_ = 0;
  std::int64_t collected_ns_ = 0;  // while garbage was collected
  RecorderCost cost_;
};

}  // namespace

void RecorderCost::start(std::int64_t time_ns) {
  ends_.push_back(time_ns);
  sums_.push_back(0);
}

void RecorderCost::add(std::int64_t until_ns, std::int64_t cost_ns) {
  const std::int64_t sum = sums_.back() + cost_ns;
  if (until_ns <= ends_.back()) {
    sums_.back() = sum;
    return;
  }
  ends_.push_back(until_ns);
  sums_.push_back(sum);
}

void RecorderCost::fit() {
  ends_.shrink_to_fit();
  sums_.shrink_to_fit();
}

std::int64_t RecorderCost::until(std::int64_t time_ns) const {
  if (ends_.empty() || time_ns <= ends_.front()) return 0;
  const auto behind = static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), time_ns) - ends_.begin());
  if (behind == ends_.size()) return sums_.back();
  const double share =
      static_cast<double>(time_ns - ends_[behind - 1]) / static_cast<double>(ends_[behind] - ends_[behind - 1]);
  return sums_[behind - 1] + std::llround(share * static_cast<double>(sums_[behind] - sums_[behind - 1]));
}

std::int64_t RecorderCosts::between(const std::vector<bool>& threads, std::int64_t from_ns, std::int64_t to_ns) const {
  std::int64_t sum = 0;
  for (std::size_t t = 0; t < of_thread.size(); ++t) {
    if (threads[t]) sum += of_thread[t].between(from_ns, to_ns);
  }
  return sum;
}

RecorderCosts build_recorder_costs(const Trace& trace, const CallTree& tree) {
  const PricedNames names(trace, tree);
  RecorderCosts costs;
  const double launch_ns = typical_launch_ns(trace, tree, names);
  costs.calibrated = launch_ns > 0;
  if (costs.calibrated) costs.slowness = std::clamp(launch_ns / kLaunchNs, kFastest, kSlowest);
  costs.of_thread.resize(tree.threads.size());
  const auto allocations = allocations_by_thread(trace, tree);
  const StackCosts stacks(trace, tree);
  for_each_index({tree.size()}, tree.threads.size(), [&](std::size_t t) {
    costs.of_thread[t] = CostWalk(trace, tree, names, stacks, costs.slowness, allocations[t]).of(tree.threads[t]);
  });
  return costs;
}

}  // namespace ridge
