// Half of the vendors' figures, which count both ways.
#include "device/peer_link.h"

namespace ridge {
namespace {

struct PeerLink {
  std::string_view part;  // of the name
  double bytes_per_s;
};

// NVLink 5: 18 links of 50 GB/s one way; NVLink 4: 18 of 25; NVLink 3: 12 of 25; NVLink 2: 6 of 25 (vendor's data sheets).
// Infinity Fabric of MI300X: 7 links of 64 GB/s one way; MI250X: 100 GB/s a link between neighbours. The first row that fits
// decides: cards for PCIe slots come before the modules of their name.
constexpr PeerLink kPeerLinks[] = {
    {"H100 PCIe", 0},  {"H100 NVL", 300e9}, {"H200 NVL", 450e9}, {"A100-PCIE", 0}, {"A100 80GB PCIe", 0}, {"V100-PCIE", 0},
    {"B300", 900e9},   {"B200", 900e9},     {"GB200", 900e9},    {"H200", 450e9},  {"H100", 450e9},       {"GH200", 450e9},
    {"H800", 200e9},   {"H20", 450e9},      {"A100", 300e9},     {"A800", 200e9},  {"V100", 150e9},       {"MI300X", 448e9},
    {"MI325X", 448e9}, {"MI355X", 537.6e9}, {"MI350X", 537.6e9},
};

}  // namespace

std::optional<double> peer_link_bytes_per_s(std::string_view device) {
  for (const PeerLink& row : kPeerLinks) {
    if (device.find(row.part) == std::string_view::npos) continue;
    return row.bytes_per_s > 0 ? std::optional(row.bytes_per_s) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace ridge
