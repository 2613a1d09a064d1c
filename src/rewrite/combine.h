// combine: several traces as one. Processes, devices, flows, launches, ops and Python frames of the inputs stay apart, their
// clocks are aligned, their devices listed together. The result remembers under "ridge_combined" what each input was.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <ridge/result.h>

#include "rewrite/blocks.h"

namespace ridge {

// An input whose window begins so long after the last of those that begin before it has ended that they cannot be of one
// recording.
struct FarInput {
  std::string name;
  std::int64_t gap_ns = 0;
};

// An input that does not say when it was recorded, and what was done with its times.
struct UnknownClock {
  std::string name;
  bool moved = false;  // made to start with the others; else left: they lie among the others' as they stand
};

struct CombineCounts {
  std::uint64_t events = 0;
  std::vector<UnknownClock> unknown_clocks;
  std::vector<FarInput> far_apart;
};

// The inputs by number: `load` reads one with its places kept, `open` opens its bytes anew.
struct CombineInputs {
  std::size_t count = 0;
  std::function<Result<std::unique_ptr<Trace>>(std::size_t input)> load;
  std::function<Result<OpenedSource>(std::size_t input)> open;
};

// Each input is loaded twice, one at a time: once for what its numbers are, once to write it.
Result<CombineCounts> combine(const CombineInputs& inputs, const BlockOptions& options, PackedFile* out);

}  // namespace ridge
