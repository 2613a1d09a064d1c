// Ledger: the time that findings may claim, each nanosecond once. What the devices of a scope did in its iterations
// (facts/iteration_time.h), as two lists per device: idle pieces (model/idle.h) and pieces of work with the busy time that is
// theirs.
//
// Invariants:
//  1. What lies outside of the iterations' spans is not in the ledger, idle or busy; idle time keeps the cause that `gaps` has.
//  2. Of overlapping work, computation owns the time, then communication, then copies and sets; of equals, the one that started
//  first. So the
//     owned times of a device add up to its busy time.
//  3. What a claim took is open to no other until it is given back; open time is never below 0. What the claims of a device
//  took never adds up to more than span_ns.
//  4. A claim gets no time but of the sort that its finding may claim (findings/catalog.cc), whatever it asks for.
//  5. What a claim reaches besides, because its remedy may shorten it too (a host that no longer waits is earlier with all that
//  follows), stays open to others: two findings may reach the same time. Of one finding what it took and what it reaches are
//  disjoint, so that both together are never more than the span.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "facts/iteration_time.h"
#include "facts/scope.h"
#include "model/idle.h"

namespace ridge {

// Causes of idle time.
class CauseSet {
 public:
  constexpr CauseSet(std::initializer_list<IdleCause> causes) {
    for (const IdleCause cause : causes) bits_ |= 1U << static_cast<unsigned>(cause);
  }
  static constexpr CauseSet all() {
    CauseSet set{};
    set.bits_ = (1U << kIdleCauses) - 1;
    return set;
  }
  constexpr bool holds(IdleCause cause) const { return (bits_ >> static_cast<unsigned>(cause) & 1U) != 0; }

 private:
  unsigned bits_ = 0;
};

struct IdleSlot {
  IdlePiece piece;
  std::uint32_t last_work = kNoWork;  // rows of trace.of(device_work) around the gap
  std::uint32_t next_work = kNoWork;
  bool in_graph = false;  // between two nodes of one graph launch
  std::int64_t open_ns = 0;
};

struct WorkSlot {
  const WorkRow& work;  // the model's
  std::int64_t owned_ns = 0;
  std::int64_t open_ns = 0;
};

struct DeviceLedger {
  std::int64_t device = 0;
  std::int64_t busy_ns = 0;    // owned by its work
  std::vector<IdleSlot> idle;  // in order of time
  std::vector<WorkSlot> work;  // in order of start
};

// A piece of time that a claim took or reaches, and how much of it.
struct ClaimPart {
  std::uint32_t device;  // index in the ledger
  std::uint32_t slot;    // of its idle or of its work
  std::int64_t ns;
  std::int64_t saved_ns;  // of it: what the remedy is expected to bring; the rest bounds it
  bool idle;
  bool reached = false;  // open to others
};

class Ledger {
 public:
  explicit Ledger(const Scope& scope);

  std::vector<DeviceLedger>& devices() { return devices_; }
  const std::vector<DeviceLedger>& devices() const { return devices_; }
  const IterationTime& time() const { return time_; }
  std::int64_t iterations() const { return time_.divisor(); }  // at least 1
  // What counts over all devices are divided by: in a trace of several ranks each goes through every iteration.
  std::int64_t rounds() const { return iterations() * programs_; }
  std::int64_t span_ns() const { return time_.total_ns(); }

  // From here on claims get idle time of these causes alone, and of work's time nothing unless `work`; they reach idle time of
  // `reach` besides.
  void allow(CauseSet causes, bool work, CauseSet reach = {}) {
    allowed_ = causes;
    work_allowed_ = work;
    reach_ = reach;
  }
  bool allows(IdleCause cause) const { return allowed_.holds(cause); }
  bool reaches(IdleCause cause) const { return reach_.holds(cause); }
  bool allows_work() const { return work_allowed_; }

  // Below this a claim is noise and no finding: a hundredth of the span, and kLeastNs an iteration.
  std::int64_t least_ns() const;
  // And of work alone: a fiftieth of the busy time. A program that waits for its host hides what its kernels waste, until it
  // does not wait any more.
  std::int64_t least_work_ns() const;

  // What claims kept since this was asked last: who runs one rule after the other learns what each claims.
  std::vector<ClaimPart> take_kept() { return std::exchange(kept_, {}); }
  // Nothing is claimed any more: its slots go, what they add up to stays.
  void close();
  void note_kept(std::vector<ClaimPart> parts) {
    if (kept_.empty()) return void(kept_ = std::move(parts));
    kept_.insert(kept_.end(), parts.begin(), parts.end());
  }

 private:
  std::vector<DeviceLedger> devices_;
  IterationTime time_;
  CauseSet allowed_ = CauseSet::all();
  CauseSet reach_ = CauseSet::all();
  bool work_allowed_ = true;
  std::int64_t programs_ = 1;  // processes that launch the work
  std::vector<ClaimPart> kept_;
};

// What one finding takes out of the ledger. Taken time is given back when the claim goes, unless it was kept.
class Claim {
 public:
  explicit Claim(Ledger& ledger)
      : ledger_(ledger),
        sums_(ledger.devices().size()),
        saved_(ledger.devices().size()),
        saved_work_(ledger.devices().size()) {}
  ~Claim() { kept_ ? ledger_.note_kept(std::move(parts_)) : give_back(); }
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;

  // Takes up to `most_ns` of what is open, of which the remedy is expected to bring `saved_ns`; returns what it got.
  std::int64_t take_idle(std::size_t device, std::size_t slot, std::int64_t most_ns = INT64_MAX);
  std::int64_t take_work(std::size_t device, std::size_t slot, std::int64_t most_ns = INT64_MAX,
                         std::int64_t saved_ns = INT64_MAX);
  // The same of time that stays open to others.
  std::int64_t reach_idle(std::size_t device, std::size_t slot, std::int64_t most_ns = INT64_MAX);
  std::int64_t reach_work(std::size_t device, std::size_t slot, std::int64_t most_ns = INT64_MAX,
                          std::int64_t saved_ns = INT64_MAX);
  // And of work that another finding may have: its remedy would do, and so may this one's. Only bounds what it brings.
  std::int64_t reach_taken_work(std::size_t device, std::size_t slot, std::int64_t most_ns = INT64_MAX);
  // All idle time of a device within an interval, of the causes that it may claim.
  std::int64_t take_idle_within(std::size_t device, Interval time);

  // The time taken and reached, on the device with most of it: devices run side by side.
  std::int64_t ns() const;
  std::int64_t ns(std::size_t device) const { return sums_[device]; }
  bool keep();  // when what it is expected to bring is no noise; returns whether
  void keep_anyway() { kept_ = true; }
  void give_back();

 private:
  std::int64_t take(ClaimPart part, std::int64_t* open_ns);
  std::int64_t reach(ClaimPart part, std::int64_t open_ns);
  void note(const ClaimPart& part);
  void reach_before_gone_work();

  Ledger& ledger_;
  std::vector<ClaimPart> parts_;
  std::vector<std::int64_t> sums_;                           // by device
  std::vector<std::int64_t> saved_, saved_work_;             // of it, what is expected; of that, work
  std::unordered_map<std::uint64_t, std::int64_t> reached_;  // by slot: what is reached of it
  bool kept_ = false;
};

}  // namespace ridge
