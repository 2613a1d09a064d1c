// Slices as Perfetto's users know them: which events are slices, on which track, how they nest, and which arrows join them.
// Where Perfetto drops a slice, because it overlaps another of its track without nesting, it is kept and marked.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace.h"

namespace ridge::sql {

inline constexpr std::uint32_t kNoSlice = UINT32_MAX;

// Complete events, pairs of begin and end, and instants, in the file's order. A complete event without a duration is none.
std::vector<EventId> find_slices(const Trace& trace);

// -1: it did not end; instants take no time.
std::int64_t slice_duration(const Trace& trace, EventId event);

// Tracks of slices: the trace's own by their numbers, then one for instants of no thread, then one of each process.
struct ProcessTracks {
  explicit ProcessTracks(const Trace& trace);

  std::uint32_t processes() const { return static_cast<std::uint32_t>(first_track.size()); }
  std::uint32_t global_track() const { return static_cast<std::uint32_t>(process_of_track.size()); }
  std::uint32_t track_of_process(std::uint32_t process) const { return global_track() + 1 + process; }
  std::uint32_t end() const { return track_of_process(processes()); }

  std::vector<std::uint32_t> process_of_track;  // processes are numbered in the order of the tracks
  std::vector<TrackId> first_track;             // of each process
};

// The track of each slice, of those above.
std::vector<std::uint32_t> tracks_of_slices(const Trace& trace, const std::vector<EventId>& slices,
                                            const ProcessTracks& tracks);

struct Arrow {
  std::uint32_t from;  // slices by their places in the list
  std::uint32_t to;
  EventId event;  // the arrow's end
};

struct Nesting {
  std::vector<std::uint32_t> parent;  // kNoSlice: none
  std::vector<std::uint32_t> depth;
  std::vector<bool> overlaps;  // what Perfetto would drop
  std::vector<Arrow> arrows;
};

Nesting nest(const Trace& trace, const std::vector<EventId>& slices, const std::vector<std::uint32_t>& tracks);

}  // namespace ridge::sql
