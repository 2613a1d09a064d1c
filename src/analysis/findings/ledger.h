// Ledger: the time that findings may claim, each nanosecond once. What the devices of a scope did from their first work to
// their last, as two lists per device: idle pieces (model/idle.h) and pieces of work with the busy time that is theirs.
//
// Invariants:
//  1. Idle before a device's first work and after its last is not in the ledger, but for what a compilation filled: nobody can
//  act on the rest.
//  2. Of overlapping work, computation owns the time, then communication, then copies and sets; of equals, the one that started
//  first. So the
//     owned times of a device add up to its busy time.
//  3. What a claim took is open to no other until it is given back; open time is never below 0. Claims of a device never add up
//  to more than span_ns.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "facts/scope.h"
#include "model/idle.h"

namespace ridge {

struct IdleSlot {
  IdlePiece piece;
  std::uint32_t last_work = kNoWork;  // rows of trace.of(device_work) around the gap
  std::uint32_t next_work = kNoWork;
  bool in_graph = false;  // between two nodes of one graph launch
  std::int64_t open_ns = 0;
};

struct WorkSlot {
  WorkRow work;
  std::int64_t owned_ns = 0;
  std::int64_t open_ns = 0;
};

struct DeviceLedger {
  std::int64_t device = 0;
  std::int64_t span_ns = 0;    // idle and busy time in the ledger
  std::int64_t busy_ns = 0;    // of it
  std::vector<IdleSlot> idle;  // in order of time
  std::vector<WorkSlot> work;  // in order of start
};

// A piece of time that a claim took, and how much of it.
struct ClaimPart {
  std::uint32_t device;  // index in the ledger
  bool idle;
  std::uint32_t slot;  // of its idle or of its work
  std::int64_t ns;
};

class Ledger {
 public:
  explicit Ledger(const Scope& scope);

  std::vector<DeviceLedger>& devices() { return devices_; }
  const std::vector<DeviceLedger>& devices() const { return devices_; }
  std::int64_t iterations() const { return iterations_; }  // at least 1
  // What counts over all devices are divided by: in a trace of several ranks each goes through every iteration.
  std::int64_t rounds() const { return iterations_ * programs_; }
  std::int64_t span_ns() const;  // of the device with the longest span

  // Below this a claim is noise and no finding: a hundredth of the span, and kLeastNs an iteration.
  std::int64_t least_ns() const;
  // And of work alone: a fiftieth of the busy time. A program that waits for its host hides what its kernels waste, until it
  // does not wait any more.
  std::int64_t least_work_ns() const;

  // What claims kept since this was asked last: who runs one rule after the other learns what each claims.
  std::vector<ClaimPart> take_kept() { return std::exchange(kept_, {}); }
  void note_kept(std::vector<ClaimPart> parts) { kept_.insert(kept_.end(), parts.begin(), parts.end()); }

 private:
  std::vector<DeviceLedger> devices_;
  std::int64_t iterations_ = 1;
  std::int64_t programs_ = 1;  // processes that launch the work
  std::vector<ClaimPart> kept_;
};

// What one finding takes out of the ledger. Taken time is given back when the claim goes, unless it was kept.
class Claim {
 public:
  explicit Claim(Ledger& ledger) : ledger_(ledger), sums_(ledger.devices().size()), work_sums_(ledger.devices().size()) {}
  ~Claim() { kept_ ? ledger_.note_kept(std::move(parts_)) : give_back(); }
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;

  // Takes up to `most_ns` of what is open; returns what it got.
  std::int64_t take_idle(std::size_t device, std::size_t slot, std::int64_t most_ns = INT64_MAX);
  std::int64_t take_work(std::size_t device, std::size_t slot, std::int64_t most_ns = INT64_MAX);
  // All idle time of a device within an interval.
  std::int64_t take_idle_within(std::size_t device, Interval time);

  // The time taken, on the device with most of it: devices run side by side.
  std::int64_t ns() const;
  bool keep();  // when it is no noise; returns whether
  void keep_anyway() { kept_ = true; }
  void give_back();

 private:
  std::int64_t take(std::size_t device, bool idle, std::size_t slot, std::int64_t* open_ns, std::int64_t most_ns);

  Ledger& ledger_;
  std::vector<ClaimPart> parts_;
  std::vector<std::int64_t> sums_;       // by device
  std::vector<std::int64_t> work_sums_;  // of it, work
  bool kept_ = false;
};

}  // namespace ridge
