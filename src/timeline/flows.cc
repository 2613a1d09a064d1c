// Edges from the model's links and from recorded flows, with an order by each end.
#include "timeline/flows.h"

#include <array>
#include <numeric>
#include <tuple>

#include "trace/tables.h"

namespace ridge {
namespace {

// Categories of recorded flows that the model reads itself, by correlation and by sequence number.
constexpr std::string_view kModelled[] = {"ac2g", "fwdbwd"};

struct FlowEnd {  // one end of a recorded flow
  StringId cat;
  std::int64_t id;
  std::int64_t ts_ns;
  EventId slice;
  char phase;  // s, t, f

  auto key() const { return std::tuple(cat, id, ts_ns, phase == 's' ? 0 : phase == 't' ? 1 : 2, slice); }
};

// The innermost slice of a track at a time, its end included: a flow may end where its slice does.
std::optional<EventId> slice_at(const Lanes& lanes, TrackId track, std::int64_t time_ns) {
  const Lane* lane = lanes.find(track);
  if (lane == nullptr) return std::nullopt;
  for (std::size_t r = lane->rows.size(); r-- > 0;) {
    const LaneRow& row = lane->rows[r];
    const std::size_t after = row.first_from(time_ns + 1);
    if (after > 0 && row.end_ns[after - 1] >= time_ns) return row.event[after - 1];
  }
  return std::nullopt;
}

}  // namespace

Flows::Flows(const Model& model, const Lanes& lanes) {
  add_launches(model);
  add_forward_backward(model);
  add_recorded(model, lanes);
  by_from_.resize(edges_.size());
  std::iota(by_from_.begin(), by_from_.end(), 0U);
  by_to_ = by_from_;
  std::sort(by_from_.begin(), by_from_.end(),
            [&](std::uint32_t a, std::uint32_t b) { return std::pair(edges_[a].from, a) < std::pair(edges_[b].from, b); });
  std::sort(by_to_.begin(), by_to_.end(),
            [&](std::uint32_t a, std::uint32_t b) { return std::pair(edges_[a].to, a) < std::pair(edges_[b].to, b); });
}

void Flows::add_launches(const Model& model) {
  const LaunchLinks& links = model.links();
  const std::span<const EventId> work = model.trace().of(EventClass::device_work);
  for (std::size_t row = 0; row < work.size(); ++row) {
    if (links.launch[row] == kNoNode) continue;
    edges_.push_back({model.tree().event[links.launch[row].value], work[row], Edge::Kind::launch});
  }
}

void Flows::add_forward_backward(const Model& model) {
  for (const ForwardBackward::Link& link : model.forward_backward().links) {
    edges_.push_back({model.tree().event[link.forward.value], model.tree().event[link.backward.value], Edge::Kind::fwdbwd});
  }
}

// Marks of one category and id, in order of time: each leads to the next, until an end.
void Flows::add_recorded(const Model& model, const Lanes& lanes) {
  const Trace& trace = model.trace();
  const ArgColumn id(trace, ArgKey::id, true);
  std::vector<FlowEnd> marks;
  for (const EventId event : trace.of(EventClass::flow)) {
    const Kind& kind = trace.kind(event);
    const std::string_view cat = trace.text(kind.cat);
    if (std::find(std::begin(kModelled), std::end(kModelled), cat) != std::end(kModelled)) continue;
    const auto number = id.integer(event);
    const std::int64_t ts = trace.events.ts_ns(event);
    if (!number || ts == kNoTime) continue;
    const auto slice = slice_at(lanes, trace.track(event), ts);
    if (slice) marks.push_back({kind.cat, *number, ts, *slice, kind.phase});
  }
  std::sort(marks.begin(), marks.end(), [](const FlowEnd& a, const FlowEnd& b) { return a.key() < b.key(); });
  for (std::size_t i = 1; i < marks.size(); ++i) {
    const bool same = marks[i].cat == marks[i - 1].cat && marks[i].id == marks[i - 1].id;
    if (!same || marks[i - 1].phase == 'f' || marks[i].phase == 's' || marks[i].slice == marks[i - 1].slice) continue;
    edges_.push_back({marks[i - 1].slice, marks[i].slice, Edge::Kind::async});
  }
}

std::string_view name_of(Flows::Edge::Kind kind) {
  constexpr std::array<std::string_view, 3> kNames = {"launch", "fwdbwd", "async"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace ridge
