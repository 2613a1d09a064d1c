// Numbers of JSON in the forms that rewrites need besides <ridge/json.h>'s: scaled, rounded, and times as profilers write them.
#pragma once

#include <cstdint>
#include <string>

namespace ridge {

// value / 10^decimals, the shortest digits that read back as the same double; at most nine decimals. Faster where `value` is an
// integer, as sums of bytes and nanoseconds are.
void append_json_scaled(std::string& out, double value, int decimals);

// Six significant digits: for percentages and times that are no more exact than that.
void append_json_rounded(std::string& out, double value);

// Nanoseconds as microseconds with three decimals.
void append_json_us(std::string& out, std::int64_t ns);

}  // namespace ridge
