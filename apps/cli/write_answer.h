// A report to where the user wants it, in the format and the rows that he asked for.
#pragma once

#include <ridge/report.h>
#include <ridge/result.h>

#include "settings.h"

namespace ridge::cli {

bool to_file(const Settings& settings);  // not to standard output

Result<void> write_answer(const Report& report, const Settings& settings);

}  // namespace ridge::cli
