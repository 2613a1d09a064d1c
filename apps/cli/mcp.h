// `ridge mcp`: answers agents. The protocol itself is in apps/mcp.
#pragma once

#include <span>

#include <ridge/analysis.h>
#include <ridge/result.h>

#include "arguments.h"

namespace ridge::cli {

std::span<const Parameter> mcp_parameters();
Result<int> run_mcp(const Invocation& invocation);

}  // namespace ridge::cli
