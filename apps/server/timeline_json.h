// The timeline's answers as JSON; docs/http.md describes each. Unknown is null. `longest_text` as in JsonWriter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <ridge/engine.h>
#include <ridge/timeline.h>

namespace ridge::server {

// A trace that is not open has a path and a name.
struct ListedTrace {
  TraceFacts facts;
  std::string_view state;  // open, or as Shelf::Entry has it
};

// What can be asked beside the analyses of one trace.
struct Offers {
  bool diff = true;    // analyses that compare traces
  bool bench = false;  // there is something to be had of the route of that name
  std::string before;  // what the job is held against, for the route job_diff; empty: nothing
};

std::string traces_json(std::span<const ListedTrace> traces, const Offers& offers, const Arguments& defaults,
                        std::size_t longest_text);
std::string trace_json(const ListedTrace& trace, std::size_t index, std::size_t longest_text);
std::string tracks_json(const std::vector<TrackGroup>& groups, std::size_t longest_text);
std::string slices_json(const SliceWindow& window, const std::vector<std::string>& categories, std::size_t longest_text);
std::string slice_json(const SliceDetails& details, std::size_t longest_text);
std::string neighbour_json(std::optional<std::uint32_t> id);
std::string area_json(const Area& area);
std::string flame_json(const Flame& flame);
std::string search_json(const SearchHits& hits);
std::string marks_json(const std::vector<Mark>& marks, std::size_t longest_text);
std::string busy_json(const BusyCurve& curve, std::size_t longest_text);
std::string rows_json(const std::vector<std::uint32_t>& rows);
std::string error_json(std::string_view code, std::string_view message, std::string_view hint);

}  // namespace ridge::server
