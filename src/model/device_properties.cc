// By id; one row and one device in use belong together whatever their numbers.
#include "model/device_properties.h"

namespace ridge {

const DeviceProperties* properties_of(const Model& model, std::int64_t device) {
  const auto& rows = model.trace().metadata.devices;
  for (const DeviceProperties& row : rows) {
    if (row.id == device) return &row;
  }
  if (rows.size() != 1) return nullptr;
  const auto& in_use = model.timeline().devices;
  return in_use.size() == 1 && in_use.front().id == device ? &rows.front() : nullptr;
}

}  // namespace ridge
