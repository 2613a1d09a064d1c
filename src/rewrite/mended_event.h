// A damaged event written anew as valid JSON, from what the reader made of it. For rewrites that take events apart; augment
// never mends.
#pragma once

#include <string>

namespace ridge {

// Appends the event that stands in [p, end); false, with nothing appended, when it is beyond mending.
bool append_mended(const char* p, const char* end, std::string* out);

// The same without touching an event that is fine as it is: those are copied byte for byte. Nothing but the event: no comma, no
// spaces. What is beyond mending leaves `null` in its place, so that a list of events stays one.
void append_valid_event(const char* p, const char* end, std::string* out);

}  // namespace ridge
