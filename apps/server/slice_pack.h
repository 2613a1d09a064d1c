// The slices of a trace as a report holds them: all of them, or how often each name occurs, as JSON that is compressed and
// written in base64.
#pragma once

#include <cstddef>
#include <string>

#include <ridge/timeline.h>

namespace ridge::server {

// {"gzip": "..."}, or what is inside:
//   {"names": [], "categories": [], "tracks": [{"track", "upper_rows", "rows": [{"start": [], "dur": [], "name": [], "id": [],
//   "color": []}]}]}
// with `start` and `id` as differences from the one before in their row.
std::string packed_slices(const Timeline& timeline, std::size_t longest_text);

//   {"names": [], "tracks": [{"track", "name": [], "count": []}]}
std::string packed_name_counts(const Timeline& timeline, std::size_t longest_text);

}  // namespace ridge::server
