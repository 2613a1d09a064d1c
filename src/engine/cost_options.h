// What the flags about costs and devices ask for (those of parameters.cc that change costs). The one place where files that
// they name are read; what comes out is plain data.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <ridge/analysis.h>
#include <ridge/result.h>

#include "cost/cost_model.h"
#include "engine/kernel_sources.h"

namespace ridge {

// `options.sources` belongs to this struct: it must outlive the CostModel made from the options.
struct CostSettings {
  CostOptions options;
  std::shared_ptr<const DiskKernelSources> sources;
};

// A whole file that a flag names, a pipe too, "-" for standard input; `what` it is, for errors.
Result<std::string> read_small_file(const std::string& path, const std::string& what, std::uintmax_t most_bytes);

// From the arguments of those names; an error that says what is wrong with one.
// `named_files_only`: sources of kernels are looked for in --inductor-cache alone.
Result<CostSettings> read_cost_settings(const Arguments& arguments, bool named_files_only = false);

}  // namespace ridge
