// What a device's link to its host carries one way at the very best. Not what a copy reaches: a bound for what it could.
#pragma once

#include <cstdint>
#include <string_view>

namespace ridge {

// Bytes/s by the device's name, else by its compute capability (0: not known); that of PCIe 5 when neither tells.
double host_link_bytes_per_s(std::string_view device, std::int64_t compute_major);

}  // namespace ridge
