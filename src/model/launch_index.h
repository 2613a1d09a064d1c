// LaunchIndex: launches by correlation. Profilers of several processes count alike, so that a file which holds several may have
// one number twice: then the process counts that the device's other work tells to be its own, else the launch nearest before
// the work.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "model/call_tree.h"
#include "trace/tables.h"
#include "trace/trace.h"

namespace ridge {

class LaunchIndex {
 public:
  explicit LaunchIndex(const Trace& trace);

  // kNoEvent when there is none. Of several that of `process`, where it has one.
  EventId find(std::int64_t correlation, std::int64_t start_ns, std::optional<TrackPart> process = {}) const;
  // Whether launches of two processes have one correlation.
  bool is_shared() const { return shared_; }

  // Calls f(launch) for each with that correlation, of very many for the first.
  template <class F>
  void for_each(std::int64_t correlation, F f) const {
    if (sorted_.empty()) {
      for (std::uint32_t i = first_[bucket(correlation)]; i != kNone; i = entries_[i].next) {
        if (entries_[i].correlation == correlation) f(entries_[i].event);
      }
      return;
    }
    std::size_t seen = 0;
    for (auto at = std::ranges::lower_bound(sorted_, correlation, {}, &Sorted::correlation);
         at != sorted_.end() && at->correlation == correlation && seen < kMostAlike; ++at, ++seen)
      f(at->event);
  }

 private:
  struct Entry {
    std::int64_t correlation;
    EventId event;
    std::uint32_t next;  // in the same bucket
  };
  struct Best {
    EventId event = kNoEvent;
    std::int64_t start_ns = 0;
  };
  static constexpr std::uint32_t kNone = UINT32_MAX;

  void consider(const Entry& entry, std::int64_t start_ns, Best* best) const;
  std::size_t bucket(std::int64_t correlation) const;
  void index();
  void sort_if_crowded();
  bool find_shared() const;
  struct Sorted {
    std::int64_t correlation;
    std::int64_t start_ns;
    EventId event;
    auto operator<=>(const Sorted&) const = default;
  };
  static EventId find_in(const std::vector<Sorted>& sorted, std::int64_t correlation, std::int64_t start_ns);

  static constexpr std::uint8_t kMostInBucket = 64;
  static constexpr std::size_t kMostAlike = 4096;  // ranks in one file

  const Trace& trace_;
  std::uint64_t seed_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> first_;                     // by bucket
  std::vector<Sorted> sorted_;                           // empty: not crowded
  std::map<TrackPart, std::vector<Sorted>> of_process_;  // where it is crowded and several count alike
  bool shared_ = false;
};

// Which process launches a device's work, where the numbers of several collide.
class DeviceOwners {
 public:
  DeviceOwners() = default;
  DeviceOwners(const Trace& trace, const DeviceWorkTable& work, const LaunchIndex& index);

  // Nothing where it is not told, or several processes launch on the device.
  std::optional<TrackPart> of(const Trace& trace, EventId work) const;

 private:
  std::map<TrackPart, TrackPart> process_;  // by the device's part of the track
};

}  // namespace ridge
