// Finding: one thing to fix, as a rule reports it. Times are totals over the scope; the report divides them by the iterations.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "predict/removal.h"

namespace ridge {

enum class Confidence : std::uint8_t {
  low,     // the signs fit, and something else could give them too
  medium,  // the cause shows; what a remedy would change is presumed
  high,    // the trace shows the cause and that the time goes with it
};
std::string_view name_of(Confidence confidence);

struct Finding {
  std::string finding;                     // what is wrong, in words
  std::optional<std::int64_t> at_most_ns;  // at most; nothing when the trace cannot bound it
  Confidence confidence = Confidence::medium;
  std::string evidence;  // kernels, ops, frames
  std::string action;    // one thing to do
  // The slice to look at first: the largest of what is blamed most. Nothing where none stands for it.
  std::optional<EventId> event = {};
  // What the remedy changes, in whatif's terms (predict/changes.h); none: what is claimed goes.
  std::vector<std::string> changes = {};
  double comes_true = 1;  // of what is claimed: the share that the remedy is expected to bring
  Removal gone = {};      // what goes besides what is claimed
  // Of what the remedy saves: the share that may be missing or come on top; nothing: by the confidence.
  std::optional<double> doubt = {};
};

}  // namespace ridge
