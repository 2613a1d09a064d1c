// One step of a program, written call by call, for tests that compare steps.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/loaded_trace.h"

namespace ridge::test {

struct MadeCall {
  std::string_view op;  // empty: the launch stands under no op
  std::string_view kernel;
  int us = 10;
  std::string_view dims = "";    // "[[8, 8]]"
  std::string_view around = "";  // an op around it: "AddmmBackward0" makes it part of the backward pass
  std::string_view mark = "";    // an annotation around it
};

// Calls 100 us apart; their kernels run in order, long behind.
inline std::string made_step(const std::vector<MadeCall>& calls) {
  const int all = static_cast<int>(calls.size()) * 100 + 100;
  std::string events = event({.name = "ProfilerStep#0", .ts = 1000, .dur = all, .cat = "user_annotation"});
  for (int i = 0; i < static_cast<int>(calls.size()); ++i) {
    const MadeCall& c = calls[static_cast<std::size_t>(i)];
    const int ts = 1010 + 100 * i;
    const std::string dims = c.dims.empty() ? "" : "\"Input Dims\": " + std::string(c.dims);
    if (!c.mark.empty()) events += ", " + event({.name = c.mark, .ts = ts, .dur = 90, .cat = "user_annotation"});
    if (!c.around.empty()) events += ", " + event({.name = c.around, .ts = ts + 1, .dur = 80});
    if (!c.op.empty()) events += ", " + event({.name = c.op, .ts = ts + 2, .dur = 70, .args = dims});
    events += ", " + launch(i + 1, ts + 10, 5, c.kernel, 100'000 + 1'000 * i, c.us);
  }
  return events;
}

// The same kernels by one launch of a graph, under no op.
inline std::string replayed_step(const std::vector<MadeCall>& calls) {
  std::string events =
      join({event({.name = "ProfilerStep#0", .ts = 1000, .dur = 500, .cat = "user_annotation"}),
            event({.name = "cudaGraphLaunch", .ts = 1010, .dur = 5, .cat = "cuda_runtime", .args = "\"correlation\": 1"})});
  for (int i = 0; i < static_cast<int>(calls.size()); ++i) {
    const MadeCall& c = calls[static_cast<std::size_t>(i)];
    events += ", " + event({.name = c.kernel,
                            .ts = 100'000 + 1'000 * i,
                            .dur = c.us,
                            .cat = "kernel",
                            .args = "\"correlation\": 1, \"device\": 0, \"stream\": 7",
                            .tid = 7});
  }
  return events;
}

}  // namespace ridge::test
