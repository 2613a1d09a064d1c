// A user's own device: the text of a --device-file to a DeviceSpec. The format is in docs/adding-a-device.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <ridge/result.h>

#include "device/device.h"

namespace ridge {

// One device per object, of which there is at least one. `where` names the file in errors.
Result<std::vector<DeviceSpec>> parse_device_file(std::string_view text, const std::string& where);

}  // namespace ridge
