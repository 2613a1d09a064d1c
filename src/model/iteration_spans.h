// What iterations take: their host intervals set against the device work that they launched. A host that runs ahead has done
// with an iteration long before the device has.
//
// Marks with an end of their own are believed. Where the window was cut into iterations, its first and last piece hold the
// recording's own start and end besides: the first begins with its first launch, the last ends with its last work.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "model/iterations.h"

namespace ridge {

// Whether the window was cut into these iterations.
inline bool are_cut(const Iterations& iterations) { return iterations.rule != IterationRule::profiler_step; }

// Fills begins_ns, span, first_work_ns and work of every iteration.
void add_spans(const Trace& trace, const CallTree& tree, const LaunchLinks& links, Iterations* iterations);

// How many times as long as the median of the others the first of these iterations takes; nothing when they are fewer than
// three, or a guess that may be the body of a loop. Measured where the device begins them, from the first work of one to that
// of the next: what comes before the first work of all is the recording's start. Without device work by their spans.
//
// It outlies when its own span does, too: between the first work of both, it may be the second that was late.
struct FirstIteration {
  std::int64_t first_ns = 0;
  std::int64_t median_ns = 0;
  std::size_t index = 0, next = 0;  // in the list: its own, and that of the one behind it
  double span_ratio = 0;            // of its span to the median of the others
  bool by_work = false;             // from first work to first work

  double ratio() const { return static_cast<double>(first_ns) / static_cast<double>(median_ns); }
  bool outlies() const;
};
std::optional<FirstIteration> first_iteration(const Iterations& iterations, std::span<const std::size_t> inside);

inline constexpr double kOutlyingFirst = 1.5;  // times the median: equal iterations differ by a few percent
inline bool FirstIteration::outlies() const { return ratio() > kOutlyingFirst && span_ratio > kOutlyingFirst; }

}  // namespace ridge
