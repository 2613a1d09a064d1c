// The errors for what is no trace.
#pragma once

#include <string>
#include <string_view>

#include <ridge/result.h>

#include "ingest/source.h"
#include "ingest/top_level.h"

namespace ridge {

inline constexpr std::string_view kRecordOne = "record one with torch.profiler and export_chrome_trace()";

// What a file that is no trace seems to be, from its first bytes: "a ZIP archive"; empty when nothing is known.
std::string_view describe_content(std::string_view prefix);

// Of a file in which no events of JSON were found; `top` has read all of it.
Error not_a_trace(const OpenedSource& opened, const std::string& path, const TopLevel& top);

}  // namespace ridge
