// ridge report: one HTML file with the page and its data, which opens from disk.
#pragma once

#include <span>

#include <ridge/result.h>

#include "arguments.h"

namespace ridge::cli {

std::span<const Parameter> report_parameters();
Result<int> run_report(const Invocation& invocation);

}  // namespace ridge::cli
