// The table of links, by name and by compute capability.
#include "device/host_link.h"

namespace ridge {
namespace {

// PCI-SIG: 16 lanes of 8, 16, 32 and 64 GT/s, one bit each; encoding and headers, 2 to 15 % of it, are not taken off.
constexpr double kPcie3 = 16e9, kPcie4 = 32e9, kPcie5 = 64e9, kPcie6 = 128e9;

struct NamedRow {
  std::string_view name;  // a part of the device's
  double bytes_per_s;
};
// NVLink-C2C of Grace has ten links of 45 GB/s each way. GB10, B300 and MI300A (one memory for host and device) are as
// advertised, and no data sheet was at hand: too fast a link makes a bound on savings looser, never wrong.
constexpr NamedRow kNamed[] = {
    {"GH200", 450e9}, {"GB200", 450e9}, {"GB300", 450e9}, {"GB10", 300e9}, {"B300", kPcie6}, {"MI300A", 5300e9},
};

struct GenerationRow {
  std::int64_t compute_major;
  double bytes_per_s;
};
// NVIDIA's boards. A V100 beside a POWER9 has NVLink to it, which no trace tells but by its copies.
constexpr GenerationRow kGenerations[] = {{6, kPcie3}, {7, kPcie3}, {8, kPcie4}};

}  // namespace

double host_link_bytes_per_s(std::string_view device, std::int64_t compute_major) {
  for (const NamedRow& row : kNamed) {
    if (device.find(row.name) != device.npos) return row.bytes_per_s;
  }
  for (const GenerationRow& row : kGenerations) {
    if (row.compute_major == compute_major) return row.bytes_per_s;
  }
  return kPcie5;
}

}  // namespace ridge
