// The flags about costs and devices: --device, --device-file, --clock-mhz, --dtype, --tf32, --inductor-cache. The one place
// where files that they name are read; what comes out is plain data.
#pragma once

#include <memory>
#include <span>
#include <string>

#include <ridge/analysis.h>
#include <ridge/result.h>

#include "cost/cost_model.h"

namespace ridge {

std::span<const Parameter> cost_parameters();

// `options.sources` belongs to this struct: it must outlive the CostModel made from the options.
struct CostSettings {
  CostOptions options;
  std::shared_ptr<const KernelSources> sources;
};

// From the arguments of those names; an error that says what is wrong with one.
// `named_files_only`: sources of kernels are looked for in --inductor-cache alone.
Result<CostSettings> read_cost_settings(const Arguments& arguments, bool named_files_only = false);

// Equal for arguments that ask for equal costs.
std::string cost_key(const Arguments& arguments);

}  // namespace ridge
