// RecorderCosts: what recording added to what each host thread did, about. The profiler slows the program down that it watches:
// a host that is too slow for its device in the trace may keep up when nobody records.
//
// Two things are taken off between one call of the device's API and the next:
//  - the price of each event that starts there: a table by sort of event and by what was recorded (recorder_cost.cc);
//  - a part of all that is in it, where the trace shows a slow host: by how much a launch takes longer than in the calibration.
//    Whether it is slow for being recorded or by itself the trace does not tell; half of it (in the logarithm) is taken off.
// A stretch without events is neither, beyond its first kWatchedNs: a host that computes by itself is not slowed. What a call
// waits for is not either. A fifth of the rest always stays.
//
// The prices were fitted on programs with known steps, recorded with and without each option on an H200 with PyTorch 2.11; they
// are an estimate, and how good it is on programs that they were not fitted on is told in docs/accuracy.md.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bulk_vector.h"
#include "model/call_tree.h"
#include "trace/trace.h"

namespace ridge {

class RecorderCost {
 public:
  // Of what a thread did in [from, to). Between two calls it is spread evenly.
  std::int64_t between(std::int64_t from_ns, std::int64_t to_ns) const {
    return to_ns > from_ns ? until(to_ns) - until(from_ns) : 0;
  }

  // By whoever walks the thread, in order of time.
  void start(std::int64_t time_ns);
  void add(std::int64_t until_ns, std::int64_t cost_ns);
  void fit();  // nothing more will come

  // When each stretch ends, and the cost up to there.
  const BulkVector<std::int64_t>& ends() const { return ends_; }
  const BulkVector<std::int64_t>& sums() const { return sums_; }

  std::uint64_t heap_bytes() const { return (ends_.capacity() + sums_.capacity()) * sizeof(std::int64_t); }

 private:
  std::int64_t until(std::int64_t time_ns) const;

  BulkVector<std::int64_t> ends_, sums_;  // of each stretch, and the cost up to there
};

struct RecorderCosts {
  std::vector<RecorderCost> of_thread;  // by index into tree.threads
  double slowness = 1;                  // of this host while it was recorded, against the calibration's
  bool calibrated = false;              // the trace is of a sort that the prices were fitted on

  // What was told when all threads that are flagged had a part in it.
  std::int64_t between(const std::vector<bool>& threads, std::int64_t from_ns, std::int64_t to_ns) const;
};

RecorderCosts build_recorder_costs(const Trace& trace, const CallTree& tree);

}  // namespace ridge
