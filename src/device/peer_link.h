// What a device's links to the others of its machine carry one way at the very best: a bound for the bus bandwidth of
// collectives within a node. What lies between nodes is the cluster's and no trace tells it.
#pragma once

#include <optional>
#include <string_view>

namespace ridge {

// Bytes/s by the device's name; nothing where it has no such links, or is not known.
std::optional<double> peer_link_bytes_per_s(std::string_view device);

// Where the figure is from, or why there is none; empty where the device is not known.
std::string_view peer_link_source(std::string_view device);

}  // namespace ridge
