// What a reader of the summary's figures must know beside them. Not what to fix: that is a finding.
#pragma once

#include <vector>

#include <ridge/report.h>

#include "analysis/summary/summary.h"

namespace ridge {

std::vector<Diagnostic> summary_warnings(const Summary& summary);

}  // namespace ridge
