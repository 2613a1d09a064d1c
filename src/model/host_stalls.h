// HostStalls: when a host thread was held up by something other than its own work, and by what: waits for the device, blocking
// copies, compilation, guard lookups, the allocator, the data loader, a collective that runs on the host.
//
// The outermost one counts: a wait inside a compilation is part of the compilation. So a thread's stalls are disjoint and in
// order of time. The names that make a slice a stall are a table with one row each, in host_stalls.cc.
#pragma once

#include <cstdint>
#include <vector>

#include "model/call_tree.h"
#include "model/idle_cause.h"
#include "model/launch_links.h"
#include "trace/trace.h"

namespace ridge {

struct HostStall {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  NodeId node = kNoNode;
  IdleCause cause = IdleCause::unknown;

  // The host let the device run dry: the queue is empty when it goes on. Allocating from the driver and freeing synchronise
  // too.
  bool drains_queue() const {
    return cause == IdleCause::sync || cause == IdleCause::copy_wait || cause == IdleCause::allocator;
  }
};

struct HostStalls {
  std::vector<std::vector<HostStall>> of_thread;  // by index into tree.threads
};

HostStalls find_host_stalls(const Trace& trace, const CallTree& tree, const LaunchLinks& links);

}  // namespace ridge
