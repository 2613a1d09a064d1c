// HostGone: host time that a finding's remedy takes away, wherever the device was meanwhile. The launches behind it come that
// much earlier, so that besides what the finding claims it reaches as much of the idle time in which the device waits for
// launches later on.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/findings/facts.h"
#include "predict/removal.h"

namespace ridge {

class HostGone {
 public:
  explicit HostGone(const Facts& facts) : facts_(facts) {}

  // A slice of a host thread, with the waits in it.
  void add(NodeId slice);
  // A call that waits no more; what the thread does there stays.
  void add_wait(NodeId call);
  // What a thread does by itself between two times; waits stay.
  void add(NodeId on_thread_of, Interval time);

  std::int64_t ns() const;
  // Behind each stretch that is gone, up to its length. What the claim holds already counts against it. The end of the last
  // iteration is followed by one like the first.
  void reach(Claim* claim) const;
  // All idle time in which the device waits for launches: a host that does not wait for the device any more runs ahead of it,
  // however late it was before.
  void reach_all_late(Claim* claim) const;
  Removal removal() const;

 private:
  struct Stretch {
    std::uint32_t thread;
    Interval time;
    NodeId slice;  // whose waits go too; kNoNode: none
  };
  std::vector<Stretch> in_order() const;  // overlapping ones of a thread merged
  std::vector<Stretch> of_program(const std::vector<Stretch>& all, const DeviceLedger& device) const;

  const Facts& facts_;
  std::vector<Stretch> stretches_;
  std::vector<NodeId> waits_;  // of these the wait alone
};

}  // namespace ridge
