// The texts of those diagnostics.
#include "facts/scope_diagnostics.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace ridge {

Diagnostic no_device_events() {
  return {std::string(kNoDeviceEvents), 1,
          "the trace has no device events: add ProfilerActivity.CUDA (or your device's) to the profiler's activities"};
}

Diagnostic filter_matches_nothing(const Scope& scope) {
  return {std::string(kFilterMatchesNothing), 1, "no name matches --filter " + std::string(scope.filter_text()), "warning"};
}

Diagnostic about_filter(const Scope& scope, bool matches, std::string_view narrows) {
  return matches ? Diagnostic{"filter_not_used", 1, std::string(narrows), "warning"} : filter_matches_nothing(scope);
}

bool is_cut_short(const Trace& trace) {
  constexpr Problem kCut[] = {Problem::truncated_json, Problem::truncated_compression, Problem::damaged_compression,
                              Problem::truncated_event};
  return std::any_of(std::begin(kCut), std::end(kCut), [&](Problem p) { return trace.diagnostics[p].count > 0; });
}

void explain_no_device_events(const Trace& trace, std::vector<Diagnostic>& diagnostics) {
  if (!trace.of(EventClass::device_work).empty() || !is_cut_short(trace)) return;
  for (Diagnostic& d : diagnostics) {
    if (d.code == kNoDeviceEvents) d.message = kDeviceEventsCutOff;
  }
}

}  // namespace ridge
