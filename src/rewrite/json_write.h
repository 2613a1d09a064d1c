// Pieces of JSON as rewrites write them: numbers as short as they are exact, texts escaped.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ridge {

// An integer without a fraction, else the shortest digits that read back as the same double. `value` is finite.
void append_json_number(double value, std::string* out);

// value / 10^decimals in the same form; at most nine decimals. Faster where `value` is an integer, as sums of bytes and
// nanoseconds are.
void append_json_scaled(double value, int decimals, std::string* out);

// Six significant digits: for percentages and times that are no more exact than that.
void append_json_rounded(double value, std::string* out);

// With its quotes. `text` is valid UTF-8.
void append_json_text(std::string_view text, std::string* out);

// Nanoseconds as microseconds with three decimals, as profilers write times.
void append_json_us(std::int64_t ns, std::string* out);

}  // namespace ridge
