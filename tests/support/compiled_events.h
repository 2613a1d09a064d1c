// Events of compiled code written by hand, and the breaks of a trace as lines.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "facts/breaks.h"
#include "support/loaded_trace.h"

namespace ridge::test {

inline Breaks breaks_of(const LoadedTrace& t) { return compute_breaks(Scope(*t.model)); }

// "frame<parent occurrences", in order of frame.
inline std::vector<std::string> lines(const Breaks& breaks) {
  std::vector<std::string> list;
  for (const GraphBreak& b : breaks.breaks) {
    list.push_back(std::to_string(b.frame.frame) + "<" + std::to_string(b.parent.frame) + " " + std::to_string(b.occurrences));
  }
  std::sort(list.begin(), list.end());
  return list;
}

using Lines = std::vector<std::string>;

inline std::string lookup(int ts) { return event({.name = "TorchDynamo Cache Lookup", .ts = ts, .dur = 2}); }
inline std::string graph_call(std::string_view key, int ts, int dur) {
  return event({.name = "## Call CompiledFxGraph " + std::string(key) + " ##", .ts = ts, .dur = dur, .cat = "user_annotation"});
}
inline std::string region(std::string_view id, int ts, int dur) {
  return event({.name = "Torch-Compiled Region: " + std::string(id), .ts = ts, .dur = dur});
}
inline std::string python(std::string_view name, int ts, int dur) {
  return event({.name = name, .ts = ts, .dur = dur, .cat = "python_function"});
}

}  // namespace ridge::test
