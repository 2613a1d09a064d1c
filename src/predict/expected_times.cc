// One pass over the launches for their times, then one prediction per distinct call; what --table has measured comes before it.
#include "predict/expected_times.h"

#include <map>

#include "predict/table_source.h"
#include "trace/args.h"

namespace ridge {
namespace {

struct TimeOfCost {
  double ns = 0;
  std::int64_t launches = 0;
  std::size_t row = 0;  // the first
};

std::string_view kind_of_category(Category category) {
  switch (category) {
    case Category::triton_pointwise: return "triton_pointwise";
    case Category::triton_reduction: return "triton_reduction";
    case Category::triton_persistent_reduction: return "triton_persistent_reduction";
    default: return {};
  }
}

std::int64_t device_of_row(const ArgColumn& devices, const Model& model, std::size_t row) {
  const std::vector<Device>& known = model.timeline().devices;
  return devices.integer(model.trace().of(EventClass::device_work)[row]).value_or(known.size() == 1 ? known.front().id : -1);
}

// By device: its peaks, and what the user measured on it.
class Predictor {
 public:
  explicit Predictor(const CostModel& costs) : costs_(costs) {}

  void predict(ExpectedCall* call) {
    const DeviceSpec* spec = costs_.device(call->device);
    if (spec == nullptr) {
      call->why = "the device is not known";
    } else {
      call->expected = expected_time(call->features, *spec, measured(call->device, *spec), &call->why);
    }
  }
  double multiprocessors(std::int64_t device) const {
    const DeviceSpec* spec = costs_.device(device);
    return spec != nullptr && spec->multiprocessors > 0 ? static_cast<double>(spec->multiprocessors) : 132.0;
  }

 private:
  const MeasuredPoints* measured(std::int64_t device, const DeviceSpec& spec) {
    if (costs_.options().measured == nullptr) return nullptr;
    const auto [it, is_new] = points_.try_emplace(device);
    if (is_new) {
      // The engine has read them once, and said what is wrong with them.
      if (auto read = MeasuredPoints::read(*costs_.options().measured, "--expected-file", spec)) it->second = std::move(*read);
    }
    return it->second ? &*it->second : nullptr;
  }

  const CostModel& costs_;
  std::map<std::int64_t, std::optional<MeasuredPoints>> points_;
};

// Launches of the trace in the table of kernels that were measured alone.
class MeasuredLaunches {
 public:
  explicit MeasuredLaunches(const CostModel& costs)
      : costs_(costs),
        trace_(costs.model().trace()),
        table_(table_of(costs.options())),
        grid_(trace_, ArgKey::grid),
        block_(trace_, ArgKey::block) {}

  bool any() const { return table_ != nullptr; }
  std::optional<ExpectedTime> of(std::size_t row, std::int64_t device, const OpCall* call) const {
    const DeviceSpec* spec = costs_.device(device);
    if (table_ == nullptr || spec == nullptr || !table_->is_of(*spec)) return std::nullopt;
    const EventId event = trace_.of(EventClass::device_work)[row];
    return table_->launch(trace_.text(trace_.events.name(event)), dims(grid_, event), dims(block_, event), call);
  }

 private:
  std::optional<Dim3> dims(const ArgColumn& column, EventId event) const {
    const auto text = column.text(event);
    return text ? parse_dim3(trace_.text(*text)) : std::nullopt;
  }

  const CostModel& costs_;
  const Trace& trace_;
  const KernelTable* table_;
  ArgColumn grid_, block_;
};

// The sum of a call's launches, of which `known` were measured; what is expected of the others is their part of the whole.
struct MeasuredSum {
  ExpectedTime time;
  std::uint32_t known = 0;
  double rest_ns = 0;  // of what the call took in the trace

  void add(const std::optional<ExpectedTime>& one, double took_ns) {
    if (!one) {
      rest_ns += took_ns;
      return;
    }
    ++known;
    time.ns += one->ns, time.low_ns += one->low_ns, time.high_ns += one->high_ns;
    time.basis = one->basis;
  }
  void give(std::uint32_t launches, ExpectedCall* call) const {
    if (known == 0) return;
    if (known == launches) {
      call->expected = time;
    } else if (call->expected && call->time_ns > 0) {
      const double rest = rest_ns / call->time_ns;
      ExpectedTime& whole = *call->expected;
      whole.ns = time.ns + whole.ns * rest;
      whole.low_ns = time.low_ns + whole.low_ns * rest;
      whole.high_ns = time.high_ns + whole.high_ns * rest;
      whole.basis = std::to_string(known) + " of " + std::to_string(launches) + " kernels " + time.basis + "; " + whole.basis;
    }
  }
};

constexpr double kBelowRoof = 0.9;  // an interval's width

// Nothing is faster than its roof: of such a call the trace does not tell all sizes, as those of a list of tensors.
void drop_if_below(double roof_ns, ExpectedCall* call) {
  if (!call->expected || call->expected->ns >= kBelowRoof * roof_ns) return;
  call->expected.reset();
  call->why = "less than its roof: the trace does not tell all of its sizes";
}

}  // namespace

ExpectedTimes::ExpectedTimes(const CostModel& costs) {
  const LaunchCosts& all = costs.costs();
  const Trace& trace = costs.model().trace();
  const auto events = trace.of(EventClass::device_work);
  of_row_ = &all.of_row;
  of_cost_.resize(all.costs.size());
  call_of_cost_.resize(all.costs.size());
  std::vector<TimeOfCost> times(all.costs.size());
  for (std::size_t row = 0; row < all.of_row.size(); ++row) {
    TimeOfCost& time = times[all.of_row[row]];
    if (time.launches++ == 0) time.row = row;
    time.ns += static_cast<double>(trace.events.dur_ns(events[row]).value_or(0));
  }
  const ArgColumn devices(trace, ArgKey::device);
  Predictor predictor(costs);
  const MeasuredLaunches measured(costs);
  if (measured.any()) measured_.resize(all.costs.size());

  for (const CostedCall& call : all.calls) {
    const auto first = times.begin() + call.first_cost;
    if (call.launches == 0 || first->launches == 0) continue;
    ExpectedCall& made = calls_.emplace_back();
    made.call = &call;
    made.count = first->launches;
    made.device = device_of_row(devices, costs.model(), first->row);
    bool tf32 = false;
    for (std::uint32_t i = 0; i < call.launches; ++i) {
      made.time_ns += first[i].ns;
      tf32 = tf32 || all.costs[call.first_cost + i].dtype == DType::tf32;
      call_of_cost_[call.first_cost + i] = static_cast<std::uint32_t>(calls_.size());
    }
    made.features = features_of_call(call.call, tf32, predictor.multiprocessors(made.device), false);
    predictor.predict(&made);
    double roof_ns = 0;
    for (std::uint32_t i = 0; i < call.launches; ++i) roof_ns += costs.roof(first[i].row).roof_ns.value_or(0);
    drop_if_below(roof_ns, &made);
    const std::optional<ExpectedTime> modelled = made.expected;
    MeasuredSum sum;
    for (std::uint32_t i = 0; i < call.launches; ++i) {
      const std::size_t cost = call.first_cost + i;
      const auto one = measured.of(first[i].row, made.device, &call.call);
      sum.add(one, first[i].ns);
      if (one) {
        of_cost_[cost] = one->ns;
        measured_[cost] = true;
      } else if (modelled && made.time_ns > 0) {
        of_cost_[cost] = modelled->ns * (first[i].ns / made.time_ns);
      }
    }
    sum.give(call.launches, &made);
  }
  for (const CostedKernel& kernel : all.kernels) {
    const TimeOfCost& time = times[kernel.cost];
    const LaunchCost& cost = all.costs[kernel.cost];
    if (time.launches == 0) continue;
    ExpectedCall& made = calls_.emplace_back();
    made.kernel = &kernel;
    made.count = time.launches;
    made.time_ns = time.ns;
    made.device = device_of_row(devices, costs.model(), time.row);
    call_of_cost_[kernel.cost] = static_cast<std::uint32_t>(calls_.size());
    if (const auto one = measured.of(time.row, made.device, nullptr)) {
      made.expected = one;
      of_cost_[kernel.cost] = one->ns;
      measured_[kernel.cost] = true;
    }
    if (!cost.bytes_read || !cost.bytes_written || kernel.blocks <= 0) {
      made.why = "what the kernel moves is not known";
      continue;
    }
    made.features = features_of_kernel({.kind = kind_of_category(kernel.category),
                                        .bytes_read = *cost.bytes_read,
                                        .bytes_written = *cost.bytes_written,
                                        .flops = cost.flops_pointwise.value_or(0),
                                        .blocks = kernel.blocks,
                                        .threads = kernel.threads,
                                        .dtype = cost.dtype},
                                       predictor.multiprocessors(made.device));
    if (made.expected) continue;
    predictor.predict(&made);
    drop_if_below(costs.roof(time.row).roof_ns.value_or(0), &made);
    if (made.expected) of_cost_[kernel.cost] = made.expected->ns;
  }
}

const ExpectedCall* ExpectedTimes::call(std::size_t row) const {
  const std::uint32_t at = call_of_cost_[(*of_row_)[row]];
  return at == 0 ? nullptr : &calls_[at - 1];
}

}  // namespace ridge
