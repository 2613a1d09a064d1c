// Slices in order of start go into the first free row below the slice that holds them; open rows are a stack.
#include "timeline/lanes.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include <tbb/parallel_sort.h>

#include "base/in_parallel.h"
#include "base/let_go.h"

namespace ridge {
namespace {

struct Slice {
  std::int64_t start_ns;
  std::int64_t end_ns;
  EventId event;
  std::uint8_t rank;  // at equal times the outer one first
  std::uint8_t category;
  bool work;  // of a device

  bool operator<(const Slice& other) const {
    if (start_ns != other.start_ns) return start_ns < other.start_ns;
    return std::tuple(-end_ns, rank, event) < std::tuple(-other.end_ns, other.rank, other.event);
  }
};

// What stands outside when two slices begin and end at the same time: by class, lower is outer.
constexpr std::array<std::uint8_t, kEventClasses> kRankOfClass = [] {
  std::array<std::uint8_t, kEventClasses> ranks{};
  ranks.fill(3);
  ranks[static_cast<std::size_t>(EventClass::span)] = 0;
  ranks[static_cast<std::size_t>(EventClass::python_frame)] = 1;
  ranks[static_cast<std::size_t>(EventClass::annotation)] = 2;
  ranks[static_cast<std::size_t>(EventClass::gpu_annotation)] = 2;
  ranks[static_cast<std::size_t>(EventClass::launch)] = 4;
  return ranks;
}();

constexpr std::size_t kMostCategories = 256;

// The category of each form, but for device work, whose categories are those of its kernels.
std::vector<std::uint8_t> categories_of_forms(const Trace& trace, std::vector<std::string>* names) {
  names->clear();
  for (std::size_t c = 0; c < kCategories; ++c) names->emplace_back(name_of(static_cast<Category>(c)));
  const auto of_host = [&](const Form& form) {
    const Kind& kind = trace.forms.kinds()[form.kind.value];
    const bool counts = is_slice(kind) && kind.event_class != EventClass::device_work;
    return counts ? trace.text(kind.cat) : std::string_view();
  };
  // In order of their names: that of the forms depends on which thread met them first.
  std::map<std::string_view, std::uint8_t> known;
  for (const Form& form : trace.forms.forms()) known.try_emplace(of_host(form), static_cast<std::uint8_t>(Category::other));
  for (auto& [cat, number] : known) {
    if (cat.empty() || names->size() >= kMostCategories) continue;
    number = static_cast<std::uint8_t>(names->size());
    names->emplace_back(cat);
  }
  std::vector<std::uint8_t> of_form;
  for (const Form& form : trace.forms.forms()) of_form.push_back(known.at(of_host(form)));
  return of_form;
}

std::vector<std::vector<Slice>> slices_by_track(const Model& model, std::vector<std::string>* category_names) {
  const Trace& trace = model.trace();
  const std::vector<std::uint8_t> category_of = categories_of_forms(trace, category_names);
  std::vector<bool> drawn;
  std::vector<std::uint32_t> track_of;
  std::vector<std::uint8_t> rank_of;
  for (const Form& form : trace.forms.forms()) {
    const Kind& kind = trace.forms.kinds()[form.kind.value];
    drawn.push_back(is_slice(kind));
    track_of.push_back(form.track.value);
    rank_of.push_back(kRankOfClass[static_cast<std::size_t>(kind.event_class)]);
  }
  std::vector<std::size_t> counts(trace.forms.tracks().size());
  for (std::size_t c = 0; c < kEventClasses; ++c) {
    for (const EventId event : trace.by_class[c]) {
      const std::uint32_t form = trace.events.form(event).value;
      counts[track_of[form]] += drawn[form] ? 1U : 0U;
    }
  }
  std::vector<std::vector<Slice>> slices(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i) slices[i].reserve(counts[i]);
  for (std::size_t c = 0; c < kEventClasses; ++c) {
    const bool device_work = static_cast<EventClass>(c) == EventClass::device_work;
    const KernelIdentities* identities = device_work ? &model.identities() : nullptr;
    const std::span<const EventId> events = trace.by_class[c];
    for (std::size_t row = 0; row < events.size(); ++row) {
      const std::uint32_t form = trace.events.form(events[row]).value;
      const std::int64_t ts = trace.events.ts_ns(events[row]);
      if (!drawn[form] || ts == kNoTime) continue;
      const std::uint8_t category =
          identities != nullptr ? static_cast<std::uint8_t>((*identities)[row].category) : category_of[form];
      const std::int64_t dur = std::max<std::int64_t>(trace.events.dur_ns(events[row]).value_or(0), 0);
      slices[track_of[form]].push_back({ts, ts + dur, events[row], rank_of[form], category, device_work});
    }
  }
  return slices;
}

// Lays out slices that come in order of start, outer before inner. Work comes to stand below the lane's upper rows, all else in
// them if there are any.
class Layout {
 public:
  Layout(const Trace& trace, Lane* lane) : trace_(trace), lane_(lane) {}

  void place(const Slice& slice) {
    while (height_ > 0 && open_[height_ - 1].end_ns <= slice.start_ns) --height_;
    const std::size_t upper = lane_->upper_rows;
    // One past the row of the innermost slice that holds this one. Kernels hold no annotation, even if one lies within.
    std::size_t holder = slice.work || upper == 0 ? height_ : std::min(height_, upper);
    while (holder > 0 && !holds(open_[holder - 1], slice)) --holder;
    std::size_t row = slice.work ? std::max(holder, upper) : holder;
    while (row < height_ && open_[row].end_ns > slice.start_ns) ++row;
    row = std::min(row, kMostRows - 1);
    if (holder > 0) take_from(holder - 1, slice);
    put(row, slice);
  }

 private:
  struct Open {  // the last slice of a row
    std::int64_t end_ns;
    std::int64_t children_until_ns;  // how far its children reach, of those seen
  };

  static bool holds(const Open& open, const Slice& slice) {
    return open.end_ns > slice.start_ns && open.end_ns >= slice.end_ns;
  }

  void take_from(std::size_t row, const Slice& child) {
    Open& parent = open_[row];
    const std::int64_t from = std::max(child.start_ns, parent.children_until_ns);
    const std::int64_t covered = std::max<std::int64_t>(child.end_ns - from, 0);
    LaneRow& slices = lane_->rows[row];
    if (slices.overlapping) return;  // the last row: whose child it is cannot be told any more
    slices.self_ns.back() = std::max<std::int64_t>(slices.self_ns.back() - covered, 0);
    parent.children_until_ns = std::max(parent.children_until_ns, child.end_ns);
  }

  void put(std::size_t row, const Slice& slice) {
    while (row >= lane_->rows.size()) {  // more than one where work comes before the first annotation
      lane_->rows.emplace_back();
      lane_->rows.back().overlapping = lane_->rows.size() == kMostRows;
      open_.push_back({INT64_MIN, INT64_MIN});
    }
    LaneRow& out = lane_->rows[row];
    const std::int64_t end = out.overlapping && !out.event.empty() ? std::max(open_[row].end_ns, slice.end_ns) : slice.end_ns;
    open_[row] = {end, slice.start_ns};
    height_ = std::max(height_, row + 1);
    out.start_ns.push_back(slice.start_ns);
    out.end_ns.push_back(slice.end_ns);
    out.self_ns.push_back(slice.end_ns - slice.start_ns);
    out.event.push_back(slice.event);
    out.name.push_back(trace_.events.name(slice.event));
    out.category.push_back(slice.category);
  }

  const Trace& trace_;
  Lane* lane_;
  std::vector<Open> open_;  // by row
  std::size_t height_ = 0;  // rows at and below this one are free
};

// How many rows the slices of a stream that are no work take; 0 where that leaves no row for the work.
std::size_t rows_without_work(const Trace& trace, const std::vector<Slice>& slices) {
  Lane alone;
  Layout layout(trace, &alone);
  for (const Slice& slice : slices) {
    if (!slice.work) layout.place(slice);
  }
  return alone.rows.size() < kMostRows ? alone.rows.size() : 0;
}

void fill(const Trace& trace, std::vector<Slice>* slices, Lane* lane) {
  if (!std::is_sorted(slices->begin(), slices->end())) in_pool([&] { tbb::parallel_sort(slices->begin(), slices->end()); });
  lane->slices = slices->size();
  for (const Slice& slice : *slices) ++lane->of_class[static_cast<std::size_t>(trace.kind(slice.event).event_class)];
  const bool stream = lane->is_stream();
  if (stream && lane->count_of(EventClass::device_work) < lane->slices) lane->upper_rows = rows_without_work(trace, *slices);
  Layout layout(trace, lane);
  std::int64_t reached = INT64_MIN;
  for (const Slice& slice : *slices) {
    layout.place(slice);
    if (stream && !slice.work) continue;
    lane->busy_ns += std::max<std::int64_t>(slice.end_ns - std::max(slice.start_ns, reached), 0);
    reached = std::max(reached, slice.end_ns);
  }
  let_go(*slices);
  for (LaneRow& row : lane->rows) row.mipmap.build(row.start_ns, row.end_ns);
}

}  // namespace

bool is_slice(const Kind& kind) { return kind.phase == 'X' || (kind.phase == 'B' && kind.event_class != EventClass::metadata); }

bool Lane::is_stream() const {
  const std::size_t device =
      count_of(EventClass::device_work) + count_of(EventClass::gpu_annotation) + count_of(EventClass::sync);
  return device * 2 > slices;
}

std::size_t LaneRow::first_from(std::int64_t time_ns) const {
  return static_cast<std::size_t>(std::lower_bound(start_ns.begin(), start_ns.end(), time_ns) - start_ns.begin());
}

std::int64_t LaneRow::covered_ns(std::int64_t from_ns, std::int64_t to_ns) const {
  const std::size_t last = first_from(to_ns);
  std::size_t first = first_from(from_ns);
  std::int64_t covered = 0;
  if (first > 0) covered += std::max<std::int64_t>(std::min(end_ns[first - 1], to_ns) - from_ns, 0);
  if (first >= last) return covered;
  covered += mipmap.run(start_ns, end_ns, first, last).total_ns;
  covered -= std::max<std::int64_t>(end_ns[last - 1] - to_ns, 0);
  return std::clamp<std::int64_t>(covered, 0, to_ns - from_ns);
}

const Lane* Lanes::find(TrackId track) const {
  const auto it = std::lower_bound(lanes.begin(), lanes.end(), track, [](const Lane& l, TrackId t) { return l.track < t; });
  return it != lanes.end() && it->track == track ? &*it : nullptr;
}

std::optional<Place> Lanes::place_of(const Trace& trace, EventId event) const {
  if (event.value >= trace.recorded_events() || !is_slice(trace.kind(event))) return std::nullopt;
  const Lane* lane = find(trace.track(event));
  if (lane == nullptr) return std::nullopt;
  const std::int64_t start = trace.events.ts_ns(event);
  for (std::size_t r = 0; r < lane->rows.size(); ++r) {
    const LaneRow& row = lane->rows[r];
    for (std::size_t i = row.first_from(start); i < row.size() && row.start_ns[i] == start; ++i) {
      if (row.event[i] == event) return Place{lane, r, i};
    }
  }
  return std::nullopt;
}

Lanes build_lanes(const Model& model) {
  Lanes out;
  std::vector<std::vector<Slice>> slices = slices_by_track(model, &out.categories);
  std::vector<std::size_t> used;
  for (std::size_t t = 0; t < slices.size(); ++t) {
    if (!slices[t].empty()) used.push_back(t);
  }
  out.lanes.resize(used.size());
  for_each_index({model.trace().events.size()}, used.size(), [&](std::size_t i) {
    out.lanes[i].track = TrackId{used[i]};
    fill(model.trace(), &slices[used[i]], &out.lanes[i]);
  });
  return out;
}

}  // namespace ridge
