// Device work that stands in a file twice, as when a recording was joined with itself: every sum counts it twice, and so does
// the number of iterations, so that no figure looks odd by itself.
#pragma once

#include <string_view>
#include <vector>

#include <ridge/report.h>

#include "facts/scope.h"

namespace ridge {

inline constexpr std::string_view kRecordedTwice = "recorded_twice";

// Each copy behind the first: the same name, launch, stream, start and end. Work without a length says nothing.
std::vector<EventId> find_recorded_twice(const Scope& scope);

// What every analysis says of it that gives a whole picture.
Diagnostic recorded_twice(std::size_t copies);

}  // namespace ridge
