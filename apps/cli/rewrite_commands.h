// augment, combine, cut and export: commands that read a trace and write files. Their names and flags come from the engine's
// table.
#pragma once

#include <span>

#include <ridge/analysis.h>
#include <ridge/result.h>

#include "arguments.h"

namespace ridge::cli {

// The last word is the output, or -o names it; all others are inputs.
Result<int> run_rewrite(const Invocation& invocation);

std::span<const Parameter> augment_parameters();
std::span<const Parameter> cut_parameters();
std::span<const Parameter> export_parameters();

}  // namespace ridge::cli
