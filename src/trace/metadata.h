// Metadata: what the profiler wrote around the events. A value that the trace does not give is absent, never a default.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ridge {

struct DeviceProperties {
  std::optional<std::int64_t> id;
  std::string name;  // as the driver says it; may be empty
  std::optional<std::int64_t> memory_bytes;
  std::optional<std::int64_t> multiprocessors;
  std::optional<std::int64_t> compute_major;
  std::optional<std::int64_t> compute_minor;
  std::optional<std::int64_t> warp_size;
  std::optional<std::int64_t> threads_per_multiprocessor;
  std::optional<std::int64_t> registers_per_multiprocessor;
  std::optional<std::int64_t> shared_memory_per_multiprocessor;
};

// A process group of a distributed job, as distributedInfo lists it.
struct ProcessGroup {
  std::string name;
  std::string description;
  std::optional<std::int64_t> size;
  std::vector<std::int64_t> ranks;  // in their order; empty where not told
};

struct Metadata {
  std::vector<DeviceProperties> devices;
  std::optional<std::int64_t> schema_version;
  std::optional<std::int64_t> base_time_ns;
  std::optional<std::int64_t> rank;
  std::optional<std::int64_t> world_size;
  std::optional<std::string> backend;  // of the process group
  std::vector<ProcessGroup> groups;    // that this rank takes part in
  std::optional<bool> record_shapes;
  std::optional<bool> with_stack;
  std::optional<bool> with_modules;
  std::optional<bool> with_flops;
  std::optional<bool> profile_memory;
  std::optional<std::string> trace_id;
  std::optional<std::string> trace_name;
  std::optional<std::string> host_name;
  std::optional<std::string> display_time_unit;
  std::vector<std::pair<std::string, std::string>> versions;  // cuda_runtime_version -> 13000, ...
  std::vector<std::pair<std::string, std::string>> items;     // every other key with its JSON text
  // Every member around the events as it stands, key and value not decoded; empty unless the reader was asked to keep places.
  std::vector<std::pair<std::string, std::string>> texts;
};

}  // namespace ridge
