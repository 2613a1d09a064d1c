// breaks: where Dynamo left a compiled frame, as a Report. What a break is and costs: facts/breaks.h.
#pragma once

#include <ridge/report.h>

#include "facts/breaks.h"

namespace ridge {

Report report_breaks(const Breaks& breaks);

}  // namespace ridge
