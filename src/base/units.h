// Numbers as people read them: a value in base units becomes text with a unit. Not for machines: digits are dropped.
// A value that is not finite becomes "-", as an unknown one does.
#pragma once

#include <cstdint>
#include <string>

namespace ridge {

std::string format_duration(double ns);        // "812 ns", "1.234 us", "1.234 ms", "61.500 s"
std::string format_bytes(double bytes);        // decimal SI: "812 B", "12.3 MB"
std::string format_flop(double flop);          // "12.3 GFLOP"
std::string format_bytes_per_s(double bytes);  // "3.35 TB/s"
std::string format_flop_per_s(double flop);    // "989 TFLOP/s"
std::string format_percent(double percent);    // "12.3 %"
std::string format_count(std::int64_t count);  // "1,234,567", exact
std::string format_count(double count);        // a mean of counts: "1,234.5"
std::string format_plain(double number);       // four significant digits: "0.3333", "12346"

}  // namespace ridge
