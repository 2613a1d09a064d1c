// Processes, threads, tracks and counters, and the list of all tables.
#include "sql/perfetto.h"

#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "sql/cell_relation.h"
#include "trace/schema/event_columns.h"
#include "trace/tables.h"

namespace ridge::sql {

const std::vector<EventId>& PerfettoState::slices() const {
  if (!slices_) slices_ = find_slices(trace);
  return *slices_;
}
const std::vector<std::uint32_t>& PerfettoState::slice_tracks() const {
  if (!slice_tracks_) slice_tracks_ = tracks_of_slices(trace, slices(), processes);
  return *slice_tracks_;
}
const Nesting& PerfettoState::nesting() const {
  if (!nesting_) nesting_ = nest(trace, slices(), slice_tracks());
  return *nesting_;
}
FlatArgs& PerfettoState::flat_args() const {
  if (!flat_args_) flat_args_.emplace(trace);
  return *flat_args_;
}
const std::vector<PerfettoState::Curve>& PerfettoState::curves() const {
  if (!curves_) read_counters();
  return *curves_;
}
const std::vector<PerfettoState::Sample>& PerfettoState::samples() const {
  if (!curves_) read_counters();
  return samples_;
}

// A curve is named after the counter and its argument: "mem alloc".
void PerfettoState::read_counters() const {
  curves_.emplace();
  std::map<std::tuple<std::uint32_t, StringId, StringId>, std::uint32_t> met;
  for (const EventId event : counters(trace).events) {
    const std::uint32_t process = processes.process_of_track[trace.track(event).value];
    for (const Slot& slot : trace.forms.schema(trace.events.form(event)).slots) {
      const auto value = value_of(trace, slot, trace.events.words(event)).as_number();
      if (slot.member || !value) continue;
      const auto [curve, is_new] =
          met.try_emplace({process, trace.events.name(event), slot.key}, static_cast<std::uint32_t>(curves_->size()));
      if (is_new)
        curves_->push_back(
            {process, std::string(trace.text(trace.events.name(event))) + " " + std::string(trace.text(slot.key))});
      samples_.push_back({event, curve->second, *value});
    }
  }
}

namespace {

using State = PerfettoState;
using U = Unit;

void row_number(const State&, std::uint64_t row, const CellOut& out) { out.set(static_cast<std::int64_t>(row)); }
void zero(const State&, std::uint64_t, const CellOut& out) { out.set(std::int64_t{0}); }

const Track& first_of(const State& s, std::uint64_t process) { return s.trace.forms.track(s.processes.first_track[process]); }
const Track& thread(const State& s, std::uint64_t row) { return s.trace.forms.tracks()[row]; }

void part_number(const TrackPart& part, const CellOut& out) {
  if (part.type == TrackPart::Type::integer) out.set(part.value);
}
// A name that metadata gave, else the text that stands in place of a number.
void named(const State& s, StringId name, const TrackPart& part, const CellOut& out) {
  if (name != StringId{}) return out.set(s.trace.text(name));
  if (part.type == TrackPart::Type::text) out.set(s.trace.text(StringId{static_cast<std::uint32_t>(part.value)}));
}

void process_pid(const State& s, std::uint64_t row, const CellOut& out) { part_number(first_of(s, row).pid, out); }
void process_name(const State& s, std::uint64_t row, const CellOut& out) {
  StringId name = first_of(s, row).process_name;
  for (std::uint32_t t = 0; name == StringId{} && t < s.processes.process_of_track.size(); ++t) {
    if (s.processes.process_of_track[t] == row) name = thread(s, t).process_name;
  }
  named(s, name, first_of(s, row).pid, out);
}

constexpr CellColumn<State> kProcess[] = {
    {"upid", Type::integer, U::none, Role::plain, "its number in the trace", row_number},
    {"id", Type::integer, U::none, Role::plain, "the same as `upid`", row_number},
    {"pid", Type::integer, U::none, Role::plain, "of the process; of a device its index; null where the file has a text",
     process_pid},
    {"name", Type::text, U::none, Role::plain, "as metadata events name it, else the text in place of `pid`", process_name},
    {"start_ts", Type::integer, U::none, Role::plain, "null", nullptr},
    {"end_ts", Type::integer, U::none, Role::plain, "null", nullptr},
    {"parent_upid", Type::integer, U::none, Role::plain, "null", nullptr},
    {"uid", Type::integer, U::none, Role::plain, "null", nullptr},
    {"cmdline", Type::text, U::none, Role::plain, "null", nullptr},
    {"arg_set_id", Type::integer, U::none, Role::plain, "null", nullptr},
    {"machine_id", Type::integer, U::none, Role::plain, "0", zero},
};

void thread_tid(const State& s, std::uint64_t row, const CellOut& out) { part_number(thread(s, row).tid, out); }
void thread_name(const State& s, std::uint64_t row, const CellOut& out) {
  named(s, thread(s, row).thread_name, thread(s, row).tid, out);
}
void thread_upid(const State& s, std::uint64_t row, const CellOut& out) {
  out.set(std::int64_t{s.processes.process_of_track[row]});
}
void thread_is_main(const State& s, std::uint64_t row, const CellOut& out) {
  const Track& track = thread(s, row);
  const bool numbers = track.pid.type == TrackPart::Type::integer && track.tid.type == TrackPart::Type::integer;
  out.set(std::int64_t{numbers && track.pid.value == track.tid.value});
}

constexpr CellColumn<State> kThread[] = {
    {"utid", Type::integer, U::none, Role::plain, "its number: row of `tracks`", row_number},
    {"id", Type::integer, U::none, Role::plain, "the same as `utid`", row_number},
    {"tid", Type::integer, U::none, Role::plain, "of the thread; of a device the stream; null where the file has a text",
     thread_tid},
    {"name", Type::text, U::none, Role::plain, "as metadata events name it, else the text in place of `tid`", thread_name},
    {"start_ts", Type::integer, U::none, Role::plain, "null", nullptr},
    {"end_ts", Type::integer, U::none, Role::plain, "null", nullptr},
    {"upid", Type::integer, U::none, Role::plain, "`upid` of `process`", thread_upid},
    {"is_main_thread", Type::integer, U::none, Role::plain, "1 where `tid` is the process's `pid`", thread_is_main},
    {"is_idle", Type::integer, U::none, Role::plain, "0", zero},
    {"machine_id", Type::integer, U::none, Role::plain, "0", zero},
    {"arg_set_id", Type::integer, U::none, Role::plain, "null", nullptr},
};

// Tracks: threads, then that of global instants, processes, curves.
enum class TrackKind : std::uint8_t { thread, global, process, counter };
TrackKind kind_of(const State& s, std::uint64_t row) {
  if (row < s.processes.global_track()) return TrackKind::thread;
  if (row == s.processes.global_track()) return TrackKind::global;
  return row < s.processes.end() ? TrackKind::process : TrackKind::counter;
}
void track_type(const State& s, std::uint64_t row, const CellOut& out) {
  constexpr std::string_view kTypes[] = {"thread_execution", "legacy_chrome_global_instants", "chrome_process_instant",
                                         "json_counter"};
  out.set(kTypes[static_cast<std::size_t>(kind_of(s, row))]);
}
void track_name(const State& s, std::uint64_t row, const CellOut& out) {
  if (kind_of(s, row) == TrackKind::counter) out.set(std::string_view(s.curves()[row - s.processes.end()].name));
}

// The tables of one kind of track: the same columns, from another row on.
template <std::uint64_t (*First)(const State&)>
void shifted_number(const State& s, std::uint64_t row, const CellOut& out) {
  out.set(static_cast<std::int64_t>(First(s) + row));
}
template <std::uint64_t (*First)(const State&)>
void shifted_type(const State& s, std::uint64_t row, const CellOut& out) {
  track_type(s, First(s) + row, out);
}
template <std::uint64_t (*First)(const State&)>
void shifted_name(const State& s, std::uint64_t row, const CellOut& out) {
  track_name(s, First(s) + row, out);
}
std::uint64_t first_track(const State&) { return 0; }
std::uint64_t first_process_track(const State& s) { return s.processes.track_of_process(0); }
std::uint64_t first_curve(const State& s) { return s.processes.end(); }

// What every table of tracks has, and what the table of this kind adds: whose they are.
template <std::uint64_t (*First)(const State&)>
constexpr std::array<CellColumn<State>, 7> track_columns(CellColumn<State> own) {
  return {{{"id", Type::integer, U::none, Role::plain, "its number", shifted_number<First>},
           {"name", Type::text, U::none, Role::plain, "of a counter; null of other tracks", shifted_name<First>},
           {"type", Type::text, U::none, Role::plain, "what it shows", shifted_type<First>},
           {"parent_id", Type::integer, U::none, Role::plain, "null", nullptr},
           {"source_arg_set_id", Type::integer, U::none, Role::plain, "null", nullptr},
           {"machine_id", Type::integer, U::none, Role::plain, "0", zero},
           own}};
}

void curve_process(const State& s, std::uint64_t row, const CellOut& out) { out.set(std::int64_t{s.curves()[row].process}); }

constexpr auto kTrack = track_columns<first_track>({"track_group_id", Type::integer, U::none, Role::plain, "null", nullptr});
constexpr auto kThreadTrack =
    track_columns<first_track>({"utid", Type::integer, U::none, Role::plain, "`utid` of `thread`", row_number});
constexpr auto kProcessTrack =
    track_columns<first_process_track>({"upid", Type::integer, U::none, Role::plain, "`upid` of `process`", row_number});
constexpr auto kCounterTrack =
    track_columns<first_curve>({"upid", Type::integer, U::none, Role::plain, "`upid` of `process`", curve_process});

void sample_ts(const State& s, std::uint64_t row, const CellOut& out) {
  out.set(schema::event_ts(s.trace, s.samples()[row].event));
}
void sample_track(const State& s, std::uint64_t row, const CellOut& out) {
  out.set(static_cast<std::int64_t>(s.processes.end() + s.samples()[row].curve));
}
void sample_value(const State& s, std::uint64_t row, const CellOut& out) { out.set(s.samples()[row].value); }

constexpr CellColumn<State> kCounter[] = {
    {"id", Type::integer, U::none, Role::plain, "its number", row_number},
    {"ts", Type::integer, U::none, Role::plain, "time in ns, as the file has it", sample_ts},
    {"track_id", Type::integer, U::none, Role::plain, "`id` of `counter_track`", sample_track},
    {"value", Type::number, U::none, Role::plain, "of the counter from then on", sample_value},
    {"arg_set_id", Type::integer, U::none, Role::plain, "null", nullptr},
};

std::unique_ptr<Relation> table(const State& s, std::span<const CellColumn<State>> columns, std::uint64_t rows) {
  return std::make_unique<CellRelation<State>>(s, columns, rows);
}
std::unique_ptr<Relation> make_process(const State& s) { return table(s, kProcess, s.processes.processes()); }
std::unique_ptr<Relation> make_thread(const State& s) { return table(s, kThread, s.processes.global_track()); }
std::unique_ptr<Relation> make_track(const State& s) { return table(s, kTrack, s.processes.end() + s.curves().size()); }
std::unique_ptr<Relation> make_thread_track(const State& s) { return table(s, kThreadTrack, s.processes.global_track()); }
std::unique_ptr<Relation> make_process_track(const State& s) { return table(s, kProcessTrack, s.processes.processes()); }
std::unique_ptr<Relation> make_counter_track(const State& s) { return table(s, kCounterTrack, s.curves().size()); }
std::unique_ptr<Relation> make_counter(const State& s) { return table(s, kCounter, s.samples().size()); }

constexpr PerfettoTable kPerfettoTables[] = {
    {"slice", "As in Perfetto: an event that takes time, or an instant.", make_slice_table},
    {"slices", "The same as `slice`.", make_slice_table},
    {"thread", "As in Perfetto: a thread of a process, or a stream of a device.", make_thread},
    {"process", "As in Perfetto: a process, or a device.", make_process},
    {"track", "As in Perfetto: where slices and counters stand.", make_track},
    {"thread_track", "As in Perfetto: the track of a thread or stream.", make_thread_track},
    {"process_track", "As in Perfetto: the track of instants of a process.", make_process_track},
    {"args", "As in Perfetto: a value of an argument.", make_args_table},
    {"flow", "As in Perfetto: an arrow from one slice to another.", make_flow_table},
    {"counter", "As in Perfetto: a value of a counter.", make_counter},
    {"counter_track", "As in Perfetto: a counter.", make_counter_track},
    {"process_counter_track", "The same as `counter_track`.", make_counter_track},
};

}  // namespace

std::span<const PerfettoTable> perfetto_tables() { return kPerfettoTables; }

}  // namespace ridge::sql
