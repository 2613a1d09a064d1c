// What every analysis says of the part of a trace that it was asked about: that there is no device work in it, that the file
// ends too early, what --filter did.
#pragma once

#include <string_view>
#include <vector>

#include <ridge/report.h>

#include "facts/scope.h"

namespace ridge {

// What a trace without device work says, in every analysis that needs some.
inline constexpr std::string_view kNoDeviceEvents = "no_device_events";
inline constexpr std::string_view kDeviceEventsCutOff =
    "the trace has no device events: the file is truncated, and they come last, so they were probably cut off";
Diagnostic no_device_events();
// Gives the truncation as the reason where that is why device events are missing.
void explain_no_device_events(const Trace& trace, std::vector<Diagnostic>& diagnostics);
// Whether the end of the file is missing.
bool is_cut_short(const Trace& trace);

inline constexpr std::string_view kFilterMatchesNothing = "filter_matches_nothing";
Diagnostic filter_matches_nothing(const Scope& scope);
// What --filter did to an answer of which part has no names to choose by: `narrows` says what it narrows and what not, unless
// nothing matches.
Diagnostic about_filter(const Scope& scope, bool matches, std::string_view narrows);

}  // namespace ridge
