// combine: several traces as one. Processes, devices, flows, launches, ops and Python frames of the inputs stay apart, their
// clocks are aligned, their devices listed together. The result remembers under "ridge_combined" what each input was.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ridge/result.h>

#include "ingest/reader.h"
#include "job/clocks.h"
#include "rewrite/blocks.h"

namespace ridge {

struct CombineCounts {
  std::uint64_t events = 0;
  std::vector<Diagnostics> diagnostics;  // of each input
  AlignedClocks clocks;
};

// A file, or bytes in memory under a name.
struct CombineInput {
  std::string path;
  std::optional<std::string_view> bytes = {};
};

// Each input is loaded twice, one at a time: once for what its numbers are, once to write it. `read` keeps places.
Result<CombineCounts> combine(std::span<const CombineInput> inputs, const ReadOptions& read, const BlockOptions& options,
                              PackedFile* out);

}  // namespace ridge
