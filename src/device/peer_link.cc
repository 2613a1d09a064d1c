// Half of the vendors' figures, which count both ways.
#include "device/peer_link.h"

namespace ridge {
namespace {

struct PeerLink {
  std::string_view part;   // of the name
  double both_ways_per_s;  // bytes, as the vendor tells them; 0: none that every such card has
  std::string_view source;
};

constexpr std::string_view kNoLink = "a card for a PCIe slot: bridges are an option, and no trace tells them";
constexpr std::string_view kNvLink5 = "NVIDIA Blackwell data sheets: fifth-generation NVLink, 18 links of 100 GB/s";
constexpr std::string_view kNvLink4 = "NVIDIA H100 and H200 data sheets: fourth-generation NVLink, 18 links of 50 GB/s";
constexpr std::string_view kNvLink3 = "NVIDIA A100 data sheet: third-generation NVLink, 12 links of 50 GB/s";
constexpr std::string_view kCut = "NVIDIA A800 and H800: NVLink with 8 links of 50 GB/s";
constexpr std::string_view kCdna3 = "AMD CDNA 3 white paper: 7 Infinity Fabric links of 128 GB/s";
constexpr std::string_view kCdna4 = "AMD CDNA 4 white paper: 7 Infinity Fabric links of 153.6 GB/s";

// The first row that fits decides: cards for PCIe slots come before the modules of their name.
constexpr PeerLink kPeerLinks[] = {
    {"H100 PCIe", 0, kNoLink},
    {"A100-PCIE", 0, kNoLink},
    {"A100 80GB PCIe", 0, kNoLink},
    {"V100-PCIE", 0, kNoLink},
    {"H100 NVL", 600e9, "NVIDIA H100 NVL data sheet: NVLink bridge of 600 GB/s"},
    {"H200 NVL", 900e9, "NVIDIA H200 NVL data sheet: NVLink bridge of 900 GB/s"},
    {"B300", 1800e9, kNvLink5},
    {"B200", 1800e9, kNvLink5},
    {"H200", 900e9, kNvLink4},
    {"H100", 900e9, kNvLink4},
    {"H800", 400e9, kCut},
    {"H20", 900e9, "NVIDIA H20: NVLink of 900 GB/s"},
    {"A100", 600e9, kNvLink3},
    {"A800", 400e9, kCut},
    {"V100", 300e9, "NVIDIA V100 data sheet: second-generation NVLink, 6 links of 50 GB/s"},
    {"MI300X", 896e9, kCdna3},
    {"MI325X", 896e9, kCdna3},
    {"MI355X", 1075.2e9, kCdna4},
    {"MI350X", 1075.2e9, kCdna4},
};

const PeerLink* find_link(std::string_view device) {
  for (const PeerLink& row : kPeerLinks) {
    if (device.find(row.part) != std::string_view::npos) return &row;
  }
  return nullptr;
}

}  // namespace

std::optional<double> peer_link_bytes_per_s(std::string_view device) {
  const PeerLink* const row = find_link(device);
  return row != nullptr && row->both_ways_per_s > 0 ? std::optional(row->both_ways_per_s / 2) : std::nullopt;
}

std::string_view peer_link_source(std::string_view device) {
  const PeerLink* const row = find_link(device);
  return row != nullptr ? row->source : std::string_view();
}

}  // namespace ridge
