// The command line of torch/_inductor/analysis/profile_analysis.py, flag for flag.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <ridge/result.h>

namespace ridge::profile_analysis {

// What was asked; an empty list: not asked for. All that was asked is done, in this order.
struct Flags {
  std::vector<std::string> diff;           // file1 name1 file2 name2 dtype
  std::vector<std::string> analysis;       // file dtype
  std::vector<std::string> augment_trace;  // input output dtype
  std::vector<std::string> combine;        // inputs, then the output
  long name_limit = 0;                     // 0: not given
  bool help = false;
};

// Every error is ErrorCode::usage.
Result<Flags> parse_flags(std::span<const std::string> args);

std::string usage();

}  // namespace ridge::profile_analysis
