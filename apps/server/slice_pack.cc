// Columns of small differences compress to some six bytes a slice, eight as base64.
#include "slice_pack.h"

#include <cstdint>
#include <string_view>
#include <vector>

#include <ridge/json.h>

#include "gzip.h"

namespace ridge::server {
namespace {

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  const auto at = [&](std::size_t i) { return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U; };
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const unsigned three = at(i) << 16 | at(i + 1) << 8 | at(i + 2);
    for (std::size_t digit = 0; digit < 4; ++digit)
      out += i + digit > bytes.size() ? '=' : kDigits[three >> (18 - 6 * digit) & 63U];
  }
  return out;
}

template <class Value>
std::vector<std::int64_t> differences(const std::vector<Value>& values) {
  std::vector<std::int64_t> out;
  out.reserve(values.size());
  std::int64_t last = 0;
  for (const Value value : values) {
    out.push_back(static_cast<std::int64_t>(value) - last);
    last = static_cast<std::int64_t>(value);
  }
  return out;
}

// As it is where it is too short to become shorter.
std::string packed(std::string json) {
  const std::string smaller = gzip(json);
  if (smaller.empty()) return json;
  JsonWriter out;
  out.record("gzip", base64(smaller));
  return out.take();
}

}  // namespace

std::string packed_slices(const Timeline& timeline, std::size_t longest_text) {
  const AllSlices all = timeline.all_slices();
  JsonWriter out(longest_text);
  out.object([&] {
    out.members("names", all.names, "categories", timeline.categories());
    out.key("tracks").array(all.tracks, [&](const TrackSlices& track) {
      out.object([&] {
        out.members("track", track.track, "upper_rows", track.upper_rows);
        out.key("rows").array(track.rows, [&](const TrackSlices::Row& row) {
          out.record("start", differences(row.start_ns), "dur", row.dur_ns, "name", row.name, "id", differences(row.id),
                     "color", row.category);
        });
      });
    });
  });
  return packed(out.take());
}

std::string packed_name_counts(const Timeline& timeline, std::size_t longest_text) {
  const NameCounts all = timeline.name_counts();
  JsonWriter out(longest_text);
  out.object([&] {
    out.members("names", all.names);
    out.key("tracks").array(all.tracks, [&](const NameCounts::OfTrack& track) {
      out.record("track", track.track, "name", track.name, "count", track.count);
    });
  });
  return packed(out.take());
}

}  // namespace ridge::server
