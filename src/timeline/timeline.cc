// The Timeline's small answers: facts of the trace, slices of a window, neighbours. The larger ones have files of their own.
#include <ridge/timeline.h>

#include <algorithm>
#include <filesystem>
#include <unordered_map>

#include "base/try.h"
#include "timeline/level_of_detail.h"
#include "timeline/make_timeline.h"
#include "timeline/state.h"

namespace ridge {
namespace {

constexpr std::size_t kNameBytes = 120;

// About how many bytes of JSON a row's entries take, names left out; the words around them are 150 for each row.
std::size_t bytes_of(const DepthSlices& row) { return 150 + row.slices.id.size() * 34 + row.buckets.id.size() * 24; }

// Names as indexes into the answer's own list.
class NameList {
 public:
  NameList(const Trace& trace, std::vector<std::string>* out) : trace_(trace), out_(out) {}

  std::uint32_t index_of(StringId name) {
    const auto [it, added] = known_.try_emplace(name, static_cast<std::uint32_t>(out_->size()));
    if (added) {
      out_->push_back(short_name(trace_.text(name)));
      bytes_ += out_->back().size() + 3;
    }
    return it->second;
  }
  std::size_t bytes() const { return bytes_; }

 private:
  const Trace& trace_;
  std::vector<std::string>* out_;
  std::unordered_map<StringId, std::uint32_t> known_;
  std::size_t bytes_ = 0;
};

// From indexes of the row to what a client knows: event ids, names, times from the window's start.
void translate(const LaneRow& row, std::int64_t origin_ns, NameList* names, DepthSlices* view) {
  const auto fill = [&](std::vector<std::uint32_t>& ids, std::vector<std::uint32_t>* name,
                        std::vector<std::uint32_t>* category) {
    for (std::uint32_t& id : ids) {
      name->push_back(names->index_of(row.name[id]));
      category->push_back(row.category[id]);
      id = row.event[id].value;
    }
  };
  fill(view->slices.id, &view->slices.name, &view->slices.category);
  fill(view->buckets.id, &view->buckets.name, &view->buckets.category);
  for (std::int64_t& start : view->slices.start_ns) start -= origin_ns;
}

// The answer on one grid; its size in bytes of JSON, about, stops the work when it grows over `most`.
std::size_t fill_window(const Trace& trace, const Lane& lane, const Grid& grid, std::size_t depths, std::size_t most,
                        std::int64_t origin_ns, SliceWindow* out) {
  out->depths.clear();
  out->names.clear();
  NameList names(trace, &out->names);
  std::size_t bytes = 0;
  for (std::size_t r = 0; r < std::min(depths, lane.rows.size()) && bytes + names.bytes() <= most; ++r) {
    DepthSlices view = view_of(lane.rows[r], grid);
    if (view.slices.id.empty() && view.buckets.id.empty()) continue;
    view.depth = static_cast<std::uint32_t>(r);
    bytes += bytes_of(view);
    translate(lane.rows[r], origin_ns, &names, &view);
    out->depths.push_back(std::move(view));
  }
  return bytes + names.bytes();
}

std::optional<std::int64_t> unix_start(const Trace& trace) {
  if (!trace.window) return std::nullopt;
  constexpr std::int64_t kYear2000 = 946'684'800'000'000'000;
  const std::int64_t start = trace.window->start_ns;
  if (start > kYear2000) return start;  // absolute already
  const std::int64_t base = trace.metadata.base_time_ns.value_or(0);
  if (base < kYear2000 || base > (std::int64_t{1} << 62) || start < 0) return std::nullopt;
  return base + start;
}

}  // namespace

std::string short_name(std::string_view text) {
  if (text.size() <= kNameBytes) return std::string(text);
  std::size_t end = kNameBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "…";
}

Timeline::Timeline(std::unique_ptr<State> state) : state_(std::move(state)) {}
Timeline::~Timeline() = default;

std::unique_ptr<const Timeline> make_timeline(std::shared_ptr<const CostModel> costs, std::shared_ptr<Threads> threads) {
  return std::make_unique<const Timeline>(std::make_unique<Timeline::State>(std::move(costs), std::move(threads)));
}

std::uint64_t Timeline::memory_bytes() const {
  std::uint64_t bytes = sizeof(State);
  if (const Lanes* lanes = state_->lanes_once.if_made()) bytes += heap_bytes(*lanes);
  if (const Flows* flows = state_->flows_once.if_made()) bytes += heap_bytes(*flows);
  if (const BusySets* busy = state_->busy_once.if_made()) {
    bytes += heap_bytes(busy->host);
    for (const auto& [device, set] : busy->devices) bytes += sizeof device + sizeof set + heap_bytes(set);
  }
  if (const std::vector<Mark>* marks = state_->marks_once.if_made()) {
    for (const Mark& mark : *marks) bytes += sizeof mark + heap_bytes(mark.label);
  }
  return bytes;
}

const std::vector<std::string>& Timeline::categories() const {
  const Threads::Use use(state_->threads.get());
  return state_->lanes().categories;
}

TraceFacts Timeline::facts() const {
  const Threads::Use use(state_->threads.get());
  const Trace& trace = state_->trace();
  const Iterations& iterations = state_->model.iterations();
  TraceFacts facts{.path = trace.path,
                   .name = std::filesystem::path(trace.path).filename().string(),
                   .window_ns = state_->window().duration_ns(),
                   .start_unix_ns = unix_start(trace),
                   .events = trace.elements,
                   .per = name_of(iterations.rule),
                   .iteration_count = iterations.count(),
                   .iterations = {}};
  for (std::size_t i = 0; i < std::min(iterations.list.size(), kMostIterations); ++i) {
    const Iteration& it = iterations.list[i];
    facts.iterations.push_back({it.number, it.start_ns - state_->origin_ns(), it.end_ns - state_->origin_ns()});
  }
  return facts;
}

Result<TimeRange> checked_range(std::int64_t from_ns, std::int64_t to_ns, std::int64_t origin_ns) {
  constexpr std::int64_t kFarthest = std::int64_t{1} << 60;  // 36 years: sums with any time of a trace stay in range
  if (from_ns < -kFarthest || to_ns > kFarthest || from_ns >= to_ns)
    return fail(ErrorCode::usage, "'from' must lie before 'to', both within 36 years of the window", "",
                "times are in ns from the window's start");
  return TimeRange{from_ns + origin_ns, to_ns + origin_ns};
}

Result<SliceWindow> Timeline::slices(const SliceQuery& query) const {
  const Threads::Use use(state_->threads.get());
  if (query.px < 1 || query.px > kMostPixels) return fail(ErrorCode::usage, "'px' must be 1 to 8192");
  const std::int64_t origin = state_->origin_ns();
  TRY([[maybe_unused]] const TimeRange range, checked_range(query.from_ns, query.to_ns, origin));
  const Lanes& lanes = state_->lanes();
  const Lane* lane = lanes.find(TrackId{query.track});
  if (lane == nullptr)
    return fail(ErrorCode::usage, "there is no track " + std::to_string(query.track), "", "/api/v1/tracks lists them");
  SliceWindow out;
  out.track = query.track;
  // Buckets lie on multiples of their width counted from the window's start, so that neighbouring windows share them.
  Grid grid = grid_for(query.from_ns, query.to_ns, query.px);
  const auto absolute = [&](Grid g) {
    g.start_ns += origin;
    return g;
  };
  while (fill_window(state_->trace(), *lane, absolute(grid), query.depths, query.most_bytes, origin, &out) > query.most_bytes &&
         grid.count > 1) {
    grid = grid_of_width(query.from_ns, query.to_ns, grid.width_ns * 2);
  }
  out.from_ns = grid.start_ns;
  out.to_ns = grid.end_ns();
  out.bucket_ns = grid.width_ns;
  return out;
}

Result<std::optional<std::uint32_t>> Timeline::neighbour(std::uint32_t id, bool next) const {
  const Threads::Use use(state_->threads.get());
  TRY(const Place place, state_->place(id));
  const LaneRow& row = place.lane->rows[place.row];
  if (next ? place.index + 1 >= row.size() : place.index == 0) return std::optional<std::uint32_t>();
  return std::optional(row.event[next ? place.index + 1 : place.index - 1].value);
}

SliceRef Timeline::State::ref(const Place& place) const {
  const LaneRow& row = place.lane->rows[place.row];
  return {.id = row.event[place.index].value,
          .name = std::string(trace().text(row.name[place.index])),
          .track = place.lane->track.value,
          .depth = static_cast<std::uint32_t>(place.row),
          .start_ns = row.start_ns[place.index] - origin_ns(),
          .dur_ns = row.duration_ns(place.index)};
}

std::optional<SliceRef> Timeline::State::ref(EventId event) {
  const auto place = lanes().place_of(trace(), event);
  if (!place) return std::nullopt;
  return ref(*place);
}

Result<Place> Timeline::State::place(std::uint32_t id) {
  const auto place = lanes().place_of(trace(), EventId{id});
  if (!place)
    return fail(ErrorCode::usage, "there is no slice " + std::to_string(id), "", "ids of slices come from /api/v1/slices");
  return *place;
}

}  // namespace ridge
