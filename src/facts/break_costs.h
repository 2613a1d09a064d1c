// What a graph break costs. Between two graphs that it separates the host runs no compiled code: it leaves the one, looks up
// the frame to resume, runs the bytecode around graphs, enters the other; in a training step once more on the way back. Such a
// stretch of a thread's time is the break's, and so is the device's idle time in it, but for what would run without the break
// as well: eager ops, compilation, other compiled code. Nor is time inside a graph the break's: compiled code runs there, be it
// a CPU kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/interval_set.h"
#include "facts/scope.h"

namespace ridge {

struct BreakStretch {
  std::size_t thread = 0;     // index into tree().threads
  Interval time;              // from the end of one graph to the start of the next
  IntervalSet left_out;       // of it, what is not the break's
  std::int64_t until_ns = 0;  // what is launched from then on, the call that goes on does not launch
};

class BreakCosts {
 public:
  explicit BreakCosts(const Scope& scope);

  std::int64_t host_ns(const BreakStretch& stretch) const;

  struct Idle {
    std::int64_t device = 0;
    Interval time;
  };
  // Of the device that gets the first work behind the stretch; none where that work had to queue.
  std::vector<Idle> idle(const BreakStretch& stretch) const;

 private:
  struct Launch {
    std::int64_t start_ns;
    std::int64_t end_ns;
    const WorkRow* work;
    std::uint32_t device;  // index
  };
  void collect_launches();
  IntervalSet own_time(const BreakStretch& stretch) const;

  const Scope& scope_;
  const Model& model_;
  std::vector<std::vector<Launch>> launches_;  // by thread, in order of launch
  std::vector<IntervalSet> busy_;              // by device
};

}  // namespace ridge
