// What device work is where a vendor writes all of it under one category (mtia_ccp_events, hpu_op): the event's name tells.
// Work of other categories is what its category says.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "trace/trace.h"

namespace ridge {

// By name; `none` for marks and waits of a stream, which are no work. Names that are not known compute.
DeviceWork vendor_work(std::string_view name);

inline DeviceWork work_of(const Trace& trace, EventId event) {
  const DeviceWork work = trace.kind(event).work;
  return work == DeviceWork::other ? vendor_work(trace.text(trace.events.name(event))) : work;
}

// Of a copy that such a vendor recorded; nothing where the event does not say.
struct VendorCopy {
  std::optional<std::int64_t> bytes;
  std::string_view direction;  // as the other vendors' events have it in their names: "HtoD"; the trace's own word elsewhere
};
VendorCopy vendor_copy(const Trace& trace, EventId event);

}  // namespace ridge
