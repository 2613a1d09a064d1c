// slice and flow: the events that take time, and the arrows between them.
#include <algorithm>

#include "sql/cell_relation.h"
#include "sql/perfetto.h"
#include "trace/schema/event_columns.h"

namespace ridge::sql {
namespace {

using State = PerfettoState;
using U = Unit;

EventId event_of(const State& s, std::uint64_t row) { return s.slices()[row]; }

void slice_id(const State& s, std::uint64_t row, const CellOut& out) { out.set(std::int64_t{event_of(s, row).value}); }
void slice_ts(const State& s, std::uint64_t row, const CellOut& out) { out.set(schema::event_ts(s.trace, event_of(s, row))); }
void slice_dur(const State& s, std::uint64_t row, const CellOut& out) { out.set(slice_duration(s.trace, event_of(s, row))); }
void slice_track(const State& s, std::uint64_t row, const CellOut& out) { out.set(std::int64_t{s.slice_tracks()[row]}); }
void slice_cat(const State& s, std::uint64_t row, const CellOut& out) { out.set(schema::event_cat(s.trace, event_of(s, row))); }
void slice_name(const State& s, std::uint64_t row, const CellOut& out) {
  out.set(schema::event_name(s.trace, event_of(s, row)));
}
void slice_depth(const State& s, std::uint64_t row, const CellOut& out) { out.set(std::int64_t{s.nesting().depth[row]}); }
void slice_parent(const State& s, std::uint64_t row, const CellOut& out) {
  const std::uint32_t parent = s.nesting().parent[row];
  if (parent != kNoSlice) out.set(std::int64_t{event_of(s, parent).value});
}
void slice_args(const State& s, std::uint64_t row, const CellOut& out) {
  const EventId event = event_of(s, row);
  const std::vector<Slot>& slots = s.trace.forms.schema(s.trace.events.form(event)).slots;
  const auto is_argument = [](const Slot& slot) { return !slot.member && slot.type != ArgType::null; };
  if (std::ranges::any_of(slots, is_argument)) out.set(std::int64_t{event.value});
}
void slice_start(const State& s, std::uint64_t row, const CellOut& out) {
  out.set(schema::event_start(s.trace, event_of(s, row)));
}
void slice_overlaps(const State& s, std::uint64_t row, const CellOut& out) { out.set(std::int64_t{s.nesting().overlaps[row]}); }

constexpr CellColumn<State> kSlice[] = {
    {"id", Type::integer, U::none, Role::event, "row of `events`", slice_id},
    {"ts", Type::integer, U::none, Role::plain, "start in ns, as the file has it", slice_ts},
    {"dur", Type::integer, U::ns, Role::plain, "duration; 0 of an instant, -1 where it did not end", slice_dur},
    {"track_id", Type::integer, U::none, Role::plain, "`id` of `track`", slice_track},
    {"category", Type::text, U::none, Role::plain, "as the profiler names it", slice_cat},
    {"name", Type::text, U::none, Role::plain, "as the file has it", slice_name},
    {"depth", Type::integer, U::none, Role::plain, "slices of its track around it", slice_depth},
    {"parent_id", Type::integer, U::none, Role::event, "`id` of the innermost slice around it", slice_parent},
    {"arg_set_id", Type::integer, U::none, Role::plain, "of `args`; null where it has none", slice_args},
    {"thread_ts", Type::integer, U::none, Role::plain, "null: traces of PyTorch have none", nullptr},
    {"thread_dur", Type::integer, U::none, Role::plain, "null: traces of PyTorch have none", nullptr},
    {"cat", Type::text, U::none, Role::plain, "the same as `category`", slice_cat},
    {"slice_id", Type::integer, U::none, Role::event, "the same as `id`", slice_id},
    {"start_ns", Type::integer, U::ns, Role::time_start, "start, from the window's start; not in Perfetto", slice_start},
    {"overlaps", Type::boolean, U::none, Role::plain,
     "1: it overlaps a slice of its track without nesting, and Perfetto drops it; not in Perfetto", slice_overlaps},
};

class SliceRelation final : public CellRelation<State> {
 public:
  explicit SliceRelation(const State& state) : CellRelation(state, kSlice, state.slices().size()) {}

  std::optional<RowRange> range_of(std::size_t column, std::int64_t value) const override {
    const auto cell = kSlice[column].value;
    if (cell != slice_id) return std::nullopt;
    if (value < 0 || value > UINT32_MAX) return RowRange{};
    const EventId event(static_cast<std::uint32_t>(value));
    const std::vector<EventId>& slices = state_.slices();
    const auto found = std::ranges::lower_bound(slices, event);
    if (found == slices.end() || *found != event) return RowRange{};
    return RowRange{static_cast<std::uint64_t>(found - slices.begin()), 1};
  }
};

const Arrow& arrow(const State& s, std::uint64_t row) { return s.nesting().arrows[row]; }

void flow_id(const State&, std::uint64_t row, const CellOut& out) { out.set(static_cast<std::int64_t>(row)); }
void flow_out(const State& s, std::uint64_t row, const CellOut& out) {
  out.set(std::int64_t{event_of(s, arrow(s, row).from).value});
}
void flow_in(const State& s, std::uint64_t row, const CellOut& out) {
  out.set(std::int64_t{event_of(s, arrow(s, row).to).value});
}
void flow_name(const State& s, std::uint64_t row, const CellOut& out) {
  out.set(schema::event_name(s.trace, arrow(s, row).event));
}
void flow_cat(const State& s, std::uint64_t row, const CellOut& out) {
  out.set(schema::event_cat(s.trace, arrow(s, row).event));
}

constexpr CellColumn<State> kFlow[] = {
    {"id", Type::integer, U::none, Role::plain, "its number", flow_id},
    {"slice_out", Type::integer, U::none, Role::event, "`id` of the slice that it leaves", flow_out},
    {"slice_in", Type::integer, U::none, Role::event, "`id` of the slice that it enters", flow_in},
    {"trace_id", Type::integer, U::none, Role::plain, "null: use `name` and `category`", nullptr},
    {"arg_set_id", Type::integer, U::none, Role::plain, "null: use `name` and `category`", nullptr},
    {"name", Type::text, U::none, Role::plain, "of the arrow; not in Perfetto", flow_name},
    {"category", Type::text, U::none, Role::plain, "ac2g, fwdbwd, ...; not in Perfetto", flow_cat},
};

}  // namespace

std::unique_ptr<Relation> make_slice_table(const PerfettoState& state) { return std::make_unique<SliceRelation>(state); }

std::unique_ptr<Relation> make_flow_table(const PerfettoState& state) {
  return std::make_unique<CellRelation<State>>(state, kFlow, state.nesting().arrows.size());
}

}  // namespace ridge::sql
