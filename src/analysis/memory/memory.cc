// Replays allocations and frees in order of time, twice: once for the sums, once up to the peak for its holders.
#include "analysis/memory/memory.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "analysis/catalog.h"
#include "base/saturating.h"
#include "facts/scoped_work.h"
#include "trace/tables.h"

namespace ridge {
namespace {

constexpr std::string_view kBefore = "[allocated before the recording]";
constexpr std::string_view kUnseenFrees = "[freed without a record]";
constexpr StringId kNoOpId{UINT32_MAX - 2}, kUnseenFreesId{UINT32_MAX - 1}, kBeforeId{UINT32_MAX};  // beside the names of ops

struct DeviceTypeRow {
  std::int64_t type;
  std::string_view name;
};
// c10::DeviceType, those that allocate.
constexpr DeviceTypeRow kDeviceTypes[] = {{0, "cpu"},  {1, "cuda"}, {6, "hip"},   {9, "xla"},           {12, "xpu"},
                                          {13, "mps"}, {15, "hpu"}, {19, "mtia"}, {20, "privateuseone"}};
constexpr std::int64_t kCpu = 0;
constexpr int kMostLevels = 64;  // of allocating ops inside each other; real ones nest two or three

std::string device_text(std::int64_t type, std::int64_t id) {
  const auto* row =
      std::find_if(std::begin(kDeviceTypes), std::end(kDeviceTypes), [&](const DeviceTypeRow& r) { return r.type == type; });
  const std::string name = row == std::end(kDeviceTypes) ? "device_type_" + std::to_string(type) : std::string(row->name);
  return id < 0 ? name : name + ":" + std::to_string(id);
}

// One allocation (bytes > 0) or free (bytes < 0).
std::string process_text(const Trace& trace, const TrackPart& pid) {
  return pid.type == TrackPart::Type::text ? std::string(trace.text(StringId{static_cast<std::uint32_t>(pid.value)}))
                                           : std::to_string(pid.value);
}

struct Step {
  std::int64_t time_ns = 0;
  std::int64_t bytes = 0;
  std::optional<std::int64_t> addr, total, reserved;
  StringId op;
};

// Ops that only make the tensor for the op around them.
bool only_allocates(std::string_view op) {
  return op.starts_with("aten::empty") || op.starts_with("aten::new_empty") || op.starts_with("aten::resize_") ||
         op == "aten::set_";
}

class OpAt {
 public:
  explicit OpAt(const Model& model) : trace_(model.trace()), tree_(model.tree()) {}

  StringId operator()(EventId event) const {
    const HostThread* thread = tree_.thread_of(trace_.track(event));
    if (thread == nullptr) return kNoOpId;
    const NodeId inside = tree_.innermost_at(*thread, trace_.events.ts_ns(event));
    NodeId op = tree_.op_of(inside);
    if (op == kNoNode) return kNoOpId;
    StringId name = name_of_node(op);
    for (int levels = 0; levels < kMostLevels && only_allocates(trace_.text(name)); ++levels) {
      op = tree_.op_above(op);
      if (op == kNoNode) break;
      name = name_of_node(op);
    }
    return name;
  }

 private:
  StringId name_of_node(NodeId node) const { return trace_.events.name(tree_.event[node.value]); }

  const Trace& trace_;
  const CallTree& tree_;
};

// No memory is as large: what a damaged trace says beyond is cut, so that differences of two sizes are numbers.
std::optional<std::int64_t> within_reason(std::optional<std::int64_t> bytes) {
  constexpr std::int64_t kMost = std::int64_t{1} << 60;
  return bytes ? std::optional(std::clamp(*bytes, -kMost, kMost)) : std::nullopt;
}

// A counter of the allocator. Below 0 it tells nothing.
std::optional<std::int64_t> counted(std::optional<std::int64_t> bytes) {
  return bytes && *bytes >= 0 ? within_reason(bytes) : std::nullopt;
}

// Where the trace has no counter, one is kept: from what the first counter says was there, without any from the least that all
// frees can be taken from.
void fill_totals(std::vector<Step>* steps) {
  std::int64_t sum = 0, lowest = 0;
  std::optional<std::int64_t> start;
  for (const Step& step : *steps) {
    saturating_add(&sum, step.bytes);
    lowest = std::min(lowest, sum);
    if (step.total) {
      start = step.total;
      saturating_add(&*start, -sum);
      break;
    }
  }
  std::int64_t total = start.value_or(lowest == INT64_MIN ? INT64_MAX : -lowest);
  for (Step& step : *steps) {
    saturating_add(&total, step.bytes);
    total = step.total.value_or(std::max<std::int64_t>(total, 0));
    step.total = total;
  }
}

// Type, id, and for the host's memory the process: addresses of two processes are different memory.
using DeviceKey = std::tuple<std::int64_t, std::int64_t, TrackPart>;

std::map<DeviceKey, std::vector<Step>> read_steps(const Scope& scope) {
  const Trace& trace = scope.trace();
  const MemoryTable table = memory_events(trace);
  const OpAt op_at(scope.model());
  std::map<DeviceKey, std::vector<Step>> steps;
  for (const EventId event : table.events) {
    const auto bytes = within_reason(table.bytes.integer(event));
    const std::int64_t time = trace.events.ts_ns(event);
    if (!bytes || time == kNoTime || trace.text(trace.events.name(event)) != "[memory]") continue;
    const std::int64_t type = table.device_type.integer(event).value_or(kCpu);
    const std::int64_t id = table.device_id.integer(event).value_or(-1);
    if (!scope.has_device(type == kCpu ? -1 : id)) continue;
    const TrackPart process = type == kCpu ? trace.forms.track(trace.track(event)).pid : TrackPart{};
    steps[{type, id, process}].push_back({time, *bytes, table.addr.integer(event),
                                          counted(table.total_allocated.integer(event)),
                                          counted(table.total_reserved.integer(event)), *bytes > 0 ? op_at(event) : kNoOpId});
  }
  for (auto& [key, list] : steps) {
    std::stable_sort(list.begin(), list.end(), [](const Step& a, const Step& b) { return a.time_ns < b.time_ns; });
    fill_totals(&list);
  }
  return steps;
}

struct Allocation {
  StringId op;
  std::int64_t bytes = 0;
};

// The allocations that live, as the steps go by.
class Live {
 public:
  // The op whose memory the step changes, and by how much of it an unrecorded allocation is concerned.
  StringId apply(const Step& step) {
    if (step.bytes > 0) {
      if (step.addr) {
        forget(*step.addr);  // its free was not recorded
        allocations_[*step.addr] = {step.op, step.bytes};
      }
      saturating_add(&held_[step.op], step.bytes);
      return step.op;
    }
    const auto it = step.addr ? allocations_.find(*step.addr) : allocations_.end();
    if (it == allocations_.end()) return kBeforeId;
    const StringId op = it->second.op;
    forget(*step.addr);
    return op;
  }
  std::int64_t held_by(StringId op) const {
    const auto it = held_.find(op);
    return it == held_.end() ? 0 : it->second;
  }
  const std::unordered_map<std::int64_t, Allocation>& allocations() const { return allocations_; }

 private:
  void forget(std::int64_t addr) {
    const auto it = allocations_.find(addr);
    if (it == allocations_.end()) return;
    saturating_add(&held_[it->second.op], -it->second.bytes);
    allocations_.erase(it);
  }
  std::unordered_map<std::int64_t, Allocation> allocations_;
  std::unordered_map<StringId, std::int64_t> held_;
};

class DeviceMemory {
 public:
  DeviceMemory(const Scope& scope, std::vector<Step> steps) : scope_(scope), steps_(std::move(steps)) {}

  MemoryDevice measure() {
    add_iterations();
    Live live;
    const TimeRange window = scope_.host_window();
    for (const Step& step : steps_) {
      // The window is that of slices; in the whole trace a free behind the last of them counts too.
      if (!scope_.whole() && step.time_ns >= window.end_ns) break;
      const StringId op = live.apply(step);
      if (!scope_.whole() && step.time_ns < window.start_ns) continue;
      count(step, op, live);
    }
    if (out_.events > 0) find_holders();
    finish();
    return std::move(out_);
  }

 private:
  void count(const Step& step, StringId op, const Live& live) {
    const std::int64_t time = step.time_ns - scope_.origin_ns();
    if (out_.events == 0) {
      const std::int64_t before = std::max<std::int64_t>(*step.total - step.bytes, 0);
      out_.allocated.emplace_back(time, static_cast<double>(before));
    }
    out_.allocated.emplace_back(time, static_cast<double>(*step.total));
    if (out_.events == 0 || *step.total > out_.peak_bytes) {
      out_.peak_bytes = *step.total;
      out_.peak_time_ns = time;
      peak_ = &step;
    }
    ++out_.events;
    if (step.reserved) {
      out_.reserved.emplace_back(time, static_cast<double>(*step.reserved));
      out_.peak_reserved_bytes = std::max(out_.peak_reserved_bytes.value_or(0), *step.reserved);
    }
    MemoryOp& row = ops_[op];
    MemoryIteration* iteration = iteration_at(step.time_ns);
    if (iteration != nullptr) iteration->peak_bytes = std::max(iteration->peak_bytes.value_or(INT64_MIN), *step.total);
    if (step.bytes > 0) {
      ++row.allocations;
      saturating_add(&row.allocated_bytes, step.bytes);
      saturating_add(&out_.allocated_bytes, step.bytes);
      if (iteration != nullptr) ++iteration->allocations, saturating_add(&iteration->allocated_bytes, step.bytes);
    } else {
      ++row.frees;
      saturating_add(&row.freed_bytes, -step.bytes);
      saturating_add(&out_.freed_bytes, -step.bytes);
      if (iteration != nullptr) saturating_add(&iteration->freed_bytes, -step.bytes);
    }
    if (op != kBeforeId) {
      std::int64_t before = live.held_by(op);
      if (step.bytes < 0) saturating_add(&before, -step.bytes);
      row.peak_bytes = std::max(row.peak_bytes.value_or(0), before);
    }
  }

  void add_iterations() {
    for (const std::size_t i : scope_.iterations()) {
      const Iteration& iteration = scope_.model().iterations().list[i];
      out_.iterations.emplace_back().iteration = iteration.number;
      starts_.push_back(iteration.start_ns);
      ends_.push_back(iteration.end_ns);
    }
  }
  MemoryIteration* iteration_at(std::int64_t time) {
    const auto it = std::upper_bound(starts_.begin(), starts_.end(), time);
    if (it == starts_.begin()) return nullptr;
    const auto i = static_cast<std::size_t>(it - starts_.begin()) - 1;
    return time < ends_[i] ? &out_.iterations[i] : nullptr;
  }

  // Replays the steps up to the peak: what lives then holds it.
  void find_holders() {
    Live live;
    for (const Step& step : steps_) {
      live.apply(step);
      if (&step == peak_) break;
    }
    std::map<StringId, MemoryHolder> holders;
    std::int64_t rest = out_.peak_bytes;
    for (const auto& [addr, allocation] : live.allocations()) {
      MemoryHolder& holder = holders[allocation.op];
      holder.allocations = holder.allocations.value_or(0) + 1;
      saturating_add(&holder.bytes, allocation.bytes);
      saturating_add(&rest, -allocation.bytes);
    }
    if (rest != 0) holders[rest > 0 ? kBeforeId : kUnseenFreesId].bytes = rest;
    for (auto& [op, holder] : holders) {
      holder.op = text(op);
      out_.holders.push_back(std::move(holder));
    }
    std::sort(out_.holders.begin(), out_.holders.end(),
              [](const MemoryHolder& a, const MemoryHolder& b) { return std::tie(b.bytes, a.op) < std::tie(a.bytes, b.op); });
  }

  void finish() {
    for (auto& [op, row] : ops_) {
      row.op = text(op);
      if (scope_.matches(row.op)) out_.ops.push_back(std::move(row));
    }
    std::sort(out_.ops.begin(), out_.ops.end(), [](const MemoryOp& a, const MemoryOp& b) {
      return std::tie(b.allocated_bytes, b.freed_bytes, a.op) < std::tie(a.allocated_bytes, a.freed_bytes, b.op);
    });
    out_.allocated = thin_curve(out_.allocated);
    out_.reserved = thin_curve(out_.reserved);
  }

  std::string text(StringId op) const {
    if (op == kNoOpId) return std::string(kNoOp);
    if (op == kUnseenFreesId) return std::string(kUnseenFrees);
    return std::string(op == kBeforeId ? kBefore : scope_.trace().text(op));
  }

  const Scope& scope_;
  const std::vector<Step> steps_;
  MemoryDevice out_;
  const Step* peak_ = nullptr;
  std::map<StringId, MemoryOp> ops_;
  std::vector<std::int64_t> starts_, ends_;  // of out_.iterations
};

}  // namespace

Memory compute_memory(const Scope& scope) {
  Memory memory;
  memory.no_memory_events = scope.trace().of(EventClass::memory).empty();
  std::vector<MemoryDevice> hosts;
  std::map<DeviceKey, std::vector<Step>> steps_of = read_steps(scope);
  const auto is_host = [](const auto& entry) { return std::get<0>(entry.first) == kCpu; };
  const bool several = std::count_if(steps_of.begin(), steps_of.end(), is_host) > 1;
  for (auto& [key, steps] : steps_of) {
    const auto& [type, id, process] = key;
    MemoryDevice device = DeviceMemory(scope, std::move(steps)).measure();
    device.device = device_text(type, id);
    if (type == kCpu && several) device.device += " of process " + process_text(scope.trace(), process);
    (type == kCpu ? hosts : memory.devices).push_back(std::move(device));
  }
  std::move(hosts.begin(), hosts.end(), std::back_inserter(memory.devices));
  return memory;
}

Result<Report> run_memory(const Scope& scope, const Arguments&) { return report_memory(compute_memory(scope)); }

}  // namespace ridge
