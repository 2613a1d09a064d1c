// Work grouped by device and sorted by start; stray times at 0 are left out.
#include "model/device_timeline.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/sort_runs.h"
#include "trace/tables.h"
#include "trace/vendor_work.h"

namespace ridge {
namespace {

WorkSort sort_of(DeviceWork work, Category category) {
  if (work == DeviceWork::copy) return WorkSort::copy;
  if (work == DeviceWork::set) return WorkSort::set;
  return category == Category::comm ? WorkSort::comm : WorkSort::compute;
}

std::int64_t number_of(const TrackPart& part) { return part.type == TrackPart::Type::integer ? part.value : -1; }

// Which device work is of that names none: the one whose number is its pid, as MTIA has it. A pid under which ops run is a
// process and no device: there it is the only one that the trace lists, if it lists one.
class DevicesByPid {
 public:
  explicit DevicesByPid(const Trace& trace) {
    const std::vector<DeviceProperties>& listed = trace.metadata.devices;
    if (listed.size() == 1) only_ = listed.front().id;
    for (const Form& form : trace.forms.forms()) {
      if (trace.forms.kinds()[form.kind.value].event_class == EventClass::op)
        processes_.insert(trace.forms.track(form.track).pid);
    }
  }
  std::int64_t of(const TrackPart& pid) const { return only_ && processes_.contains(pid) ? *only_ : number_of(pid); }

 private:
  std::optional<std::int64_t> only_;
  std::set<TrackPart> processes_;
};

}  // namespace

const Device* DeviceTimeline::find(std::int64_t id) const {
  const auto it = std::find_if(devices.begin(), devices.end(), [&](const Device& d) { return d.id == id; });
  return it == devices.end() ? nullptr : &*it;
}

DeviceTimeline build_device_timeline(const Trace& trace, const KernelIdentities& identities) {
  const DeviceWorkTable table = device_work(trace);
  const DevicesByPid by_pid(trace);
  std::map<std::int64_t, Device> devices;
  Device* device = nullptr;  // of the last event: neighbours mostly share it
  for (std::size_t row = 0; row < table.events.size(); ++row) {
    const EventId event = table.events[row];
    const std::int64_t start = trace.events.ts_ns(event);
    const DeviceWork work = work_of(trace, event);
    if (start == kNoTime || trace.is_stray(start) || work == DeviceWork::none) continue;
    const Track& track = trace.forms.track(trace.track(event));
    const auto named = table.device.integer(event);
    const std::int64_t id = named ? *named : by_pid.of(track.pid);
    if (device == nullptr || device->id != id) {
      if (devices.empty()) devices[id].work.reserve(table.events.size() - row);  // mostly the only one
      device = &devices[id];
      device->id = id;
    }
    device->work.push_back({.start_ns = start,
                            .end_ns = start + trace.events.dur_ns(event).value_or(0),
                            .stream = table.stream.integer(event).value_or(number_of(track.tid)),
                            .row = static_cast<std::uint32_t>(row),
                            .sort = sort_of(work, identities[row].category)});
  }
  DeviceTimeline timeline;
  for (auto& [id, found] : devices) {
    sort_runs(&found.work,
              [](const WorkRow& a, const WorkRow& b) { return std::pair(a.start_ns, a.row) < std::pair(b.start_ns, b.row); });
    timeline.devices.push_back(std::move(found));
  }
  return timeline;
}

IntervalSet busy_time(const Device& device, TimeRange window, unsigned sorts) {
  std::vector<Interval> intervals;
  intervals.reserve(device.work.size());
  for (const WorkRow& work : device.work) {
    if ((sorts & bit_of(work.sort)) == 0) continue;
    intervals.push_back({std::max(work.start_ns, window.start_ns), std::min(work.end_ns, window.end_ns)});
  }
  return IntervalSet(std::move(intervals));
}

}  // namespace ridge
