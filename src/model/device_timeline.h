// DeviceTimeline: device work by device and in order of start, and the union of time in which a device was busy.
#pragma once

#include <cstdint>
#include <vector>

#include "base/interval_set.h"
#include "model/kernel_identity.h"
#include "trace/trace.h"

namespace ridge {

enum class WorkSort : std::uint8_t { compute, comm, copy, set };  // MTIA's and other backends' own work counts as compute

struct WorkRow {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t stream = 0;
  std::uint32_t row = 0;  // of trace.of(EventClass::device_work)
  WorkSort sort = WorkSort::compute;
};

struct Device {
  std::int64_t id = 0;        // the integer `device` of the events' args; else their pid
  std::vector<WorkRow> work;  // in order of start
};

struct DeviceTimeline {
  std::vector<Device> devices;  // in order of id

  const Device* find(std::int64_t id) const;
};

DeviceTimeline build_device_timeline(const Trace& trace, const KernelIdentities& identities);

// Union of a device's work of some sorts, clipped to `window`. `sorts` is a bit per WorkSort.
inline constexpr unsigned kAllWork = 0xF;
inline unsigned bit_of(WorkSort sort) { return 1U << static_cast<unsigned>(sort); }
IntervalSet busy_time(const Device& device, TimeRange window, unsigned sorts = kAllWork);

}  // namespace ridge
