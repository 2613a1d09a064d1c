// What a change's pattern matches: names of the trace, each asked once.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <re2/re2.h>

#include "predict/changes.h"
#include "trace/trace.h"

namespace ridge {

class NameMatch {
 public:
  NameMatch(const Trace& trace, const Change& change)
      : trace_(trace), pattern_(change.pattern.get()), known_(pattern_ == nullptr ? 0 : trace.strings.size(), kNotAsked) {}

  bool operator()(StringId name) {
    if (pattern_ == nullptr) return true;
    std::uint8_t& known = known_[name.value];
    if (known == kNotAsked) known = matches(trace_.text(name)) ? 1 : 0;
    return known == 1;
  }
  bool matches(std::string_view text) const { return pattern_ == nullptr || RE2::PartialMatch(text, *pattern_); }

 private:
  static constexpr std::uint8_t kNotAsked = 2;
  const Trace& trace_;
  const re2::RE2* pattern_;
  std::vector<std::uint8_t> known_;
};

}  // namespace ridge
