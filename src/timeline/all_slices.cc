// The whole of the lanes, for who keeps it: every slice, or how often each name occurs.
#include <map>
#include <unordered_map>

#include "timeline/state.h"

namespace ridge {
namespace {

// Names as indexes into a list, in order of first use.
class WholeNames {
 public:
  WholeNames(const Trace& trace, std::vector<std::string>* out) : trace_(trace), out_(out) {}

  std::uint32_t index_of(StringId name) {
    const auto [it, added] = known_.try_emplace(name, static_cast<std::uint32_t>(out_->size()));
    if (added) out_->emplace_back(trace_.text(name));
    return it->second;
  }

 private:
  const Trace& trace_;
  std::vector<std::string>* out_;
  std::unordered_map<StringId, std::uint32_t> known_;
};

}  // namespace

AllSlices Timeline::all_slices() const {
  const Threads::Use use(state_->threads.get());
  AllSlices out;
  WholeNames names(state_->trace(), &out.names);
  const std::int64_t origin = state_->origin_ns();
  for (const Lane& lane : state_->lanes().lanes) {
    TrackSlices& track = out.tracks.emplace_back();
    track.track = lane.track.value;
    track.upper_rows = static_cast<std::uint32_t>(lane.upper_rows);
    for (const LaneRow& row : lane.rows) {
      TrackSlices::Row& to = track.rows.emplace_back();
      for (std::size_t i = 0; i < row.size(); ++i) {
        to.start_ns.push_back(row.start_ns[i] - origin);
        to.dur_ns.push_back(row.duration_ns(i));
        to.name.push_back(names.index_of(row.name[i]));
        to.id.push_back(row.event[i].value);
        to.category.push_back(row.category[i]);
      }
    }
  }
  return out;
}

NameCounts Timeline::name_counts() const {
  const Threads::Use use(state_->threads.get());
  NameCounts out;
  WholeNames names(state_->trace(), &out.names);
  for (const Lane& lane : state_->lanes().lanes) {
    std::map<std::uint32_t, std::int64_t> counts;
    for (const LaneRow& row : lane.rows) {
      for (const StringId name : row.name) ++counts[names.index_of(name)];
    }
    NameCounts::OfTrack& track = out.tracks.emplace_back();
    track.track = lane.track.value;
    for (const auto& [name, count] : counts) {
      track.name.push_back(name);
      track.count.push_back(count);
    }
  }
  return out;
}

}  // namespace ridge
