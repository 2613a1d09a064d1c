// Lanes: the slices of each track laid out in rows. A slice stands below the slices that hold it, in the first row that is
// free; slices that overlap without nesting (kernels of one stream, damaged stacks) so come to stand below each other, and none
// is lost.
//
// Invariants of a row:
//  1. Slices are in order of start and do not overlap. The last possible row (kMostRows) takes all that is deeper: there they
//  may.
//  2. On a stream no row holds both work and anything else: annotations and waits stand in the upper rows, so that they fill no
//  gap between kernels.
//  3. A slice's self time is its duration without the union of the slices that hang under it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/heap_bytes.h"
#include "base/ids.h"
#include "model/model.h"
#include "timeline/slice_mipmap.h"

namespace ridge {

inline constexpr std::size_t kMostRows = 1024;

struct LaneRow {
  std::vector<std::int64_t> start_ns, end_ns, self_ns;  // start and end as in the trace
  std::vector<EventId> event;
  std::vector<StringId> name;
  std::vector<std::uint8_t> category;  // index into Lanes::categories
  SliceMipmap mipmap;
  bool overlapping = false;  // the row of all that is deeper

  std::size_t size() const { return event.size(); }
  std::uint64_t heap_bytes() const { return ridge::heap_bytes(start_ns, end_ns, self_ns, event, name, category, mipmap); }
  std::int64_t duration_ns(std::size_t i) const { return end_ns[i] - start_ns[i]; }
  // The first slice that starts at or after the time.
  std::size_t first_from(std::int64_t time_ns) const;
  // Time within [from, to) that slices cover; rows whose slices overlap count no time twice.
  std::int64_t covered_ns(std::int64_t from_ns, std::int64_t to_ns) const;
};

struct Lane {
  TrackId track;
  std::vector<LaneRow> rows;
  std::uint64_t slices = 0;
  std::int64_t busy_ns = 0;    // union of all its slices; of a stream, of its work alone
  std::size_t upper_rows = 0;  // of a stream: those without work
  std::size_t of_class[kEventClasses] = {};

  std::size_t count_of(EventClass c) const { return of_class[static_cast<std::size_t>(c)]; }
  bool is_stream() const;  // most of its slices are of a device
  std::uint64_t heap_bytes() const { return ridge::heap_bytes(rows); }
};

struct Place {
  const Lane* lane = nullptr;
  std::size_t row = 0;
  std::size_t index = 0;
};

struct Lanes {
  std::vector<Lane> lanes;              // of the tracks that have slices, in order of track
  std::vector<std::string> categories;  // of kernels by name; of anything else the `cat` of the trace

  const Lane* find(TrackId track) const;
  std::uint64_t heap_bytes() const { return ridge::heap_bytes(lanes, categories); }
  // Where a slice stands; nothing for an event that is none.
  std::optional<Place> place_of(const Trace& trace, EventId event) const;
};

Lanes build_lanes(const Model& model);

// Whether an event is drawn: it has a place in time and, by its phase, a length.
bool is_slice(const Kind& kind);

}  // namespace ridge
