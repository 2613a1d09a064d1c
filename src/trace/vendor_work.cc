// The names of MTIA's command processor. Work under other names is what an executable is called ("merge"), or "pe_exe" where it
// was started before the recording.
#include "trace/vendor_work.h"

#include <algorithm>
#include <iterator>

#include "trace/args.h"

namespace ridge {
namespace {

struct VendorName {
  std::string_view name;
  DeviceWork work;
};
constexpr VendorName kVendorNames[] = {
    {"dma_request", DeviceWork::copy},
    {"event_record", DeviceWork::none},
    {"event_wait", DeviceWork::none},
};

struct VendorDirection {
  std::string_view text;
  std::string_view direction;
};
constexpr VendorDirection kVendorDirections[] = {
    {"HOST_TO_DEVICE", "HtoD"}, {"DEVICE_TO_HOST", "DtoH"}, {"DEVICE_TO_DEVICE", "DtoD"}, {"HOST_TO_HOST", "HtoH"}};

}  // namespace

DeviceWork vendor_work(std::string_view name) {
  const auto* row = std::ranges::find(kVendorNames, name, &VendorName::name);
  return row == std::end(kVendorNames) ? DeviceWork::kernel : row->work;
}

VendorCopy vendor_copy(const Trace& trace, EventId event) {
  VendorCopy copy;
  if (const auto size = find_arg(trace, event, "size")) copy.bytes = size->as_integer();
  if (const auto direction = find_arg(trace, event, "direction")) copy.direction = direction->as_text().value_or("");
  const auto* row = std::ranges::find(kVendorDirections, copy.direction, &VendorDirection::text);
  if (row != std::end(kVendorDirections)) copy.direction = row->direction;
  return copy;
}

}  // namespace ridge
