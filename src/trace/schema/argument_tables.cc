// Arguments as rows: of every event by key, for what no table has a column of; and of counters, where each is a curve.
#include "trace/schema/event_columns.h"
#include "trace/schema/schema.h"

namespace ridge::schema {
namespace {

constexpr std::string_view kTypeNames[] = {"null", "boolean",     "boolean", "text",    "integer", "text",
                                           "json", "big_integer", "integer", "integer", "number"};  // by ArgType

std::optional<std::int64_t> owner(const Trace&, EventId event, const Slot&) { return event.value; }
std::optional<std::string_view> key(const Trace& trace, EventId, const Slot& slot) { return trace.text(slot.key); }
std::optional<bool> is_member(const Trace&, EventId, const Slot& slot) { return slot.member; }
std::optional<std::string_view> type_of(const Trace&, EventId, const Slot& slot) {
  return kTypeNames[static_cast<std::size_t>(slot.type)];
}
ArgValue value(const Trace& trace, EventId event, const Slot& slot) { return value_of(trace, slot, trace.events.words(event)); }
std::optional<std::int64_t> integer(const Trace& t, EventId e, const Slot& s) { return value(t, e, s).as_integer(); }
std::optional<double> number(const Trace& t, EventId e, const Slot& s) { return value(t, e, s).as_number(); }
std::optional<std::string_view> text(const Trace& t, EventId e, const Slot& s) {
  return s.type == ArgType::big_integer ? value(t, e, s).text : value(t, e, s).as_text();
}
std::optional<bool> boolean(const Trace&, EventId, const Slot& slot) {
  if (slot.type != ArgType::false_value && slot.type != ArgType::true_value) return std::nullopt;
  return slot.type == ArgType::true_value;
}

// Columns of the event that a row's argument belongs to.
template <auto Value>
auto of_owner(const Trace& trace, EventId event, const Slot&) {
  return Value(trace, event);
}

template <auto Value>
constexpr auto of_argument() {
  using T = typename decltype(Value(std::declval<const Trace&>(), EventId{}, Slot{}))::value_type;
  return Getter<T>([](const ColumnRows& rows, std::uint64_t first, Batch<T> out) {
    rows.table.each_argument(first, out.values.size(), [&](std::size_t i, EventId event, const Slot& slot) {
      out.set(i, Value(rows.table.trace, event, slot));
    });
  });
}

constexpr Column kArguments[] = {
    {"event", "", "row of `events`", of_argument<owner>()},
    {"key", "", "as the profiler writes it", of_argument<key>()},
    {"member", "", "a member of the event itself (`id`, `bp`), not of its `args`", of_argument<is_member>()},
    {"type", "", "integer, number, boolean, text, json, big_integer (beyond 64 bits) or null", of_argument<type_of>()},
    {"integer", "", "the value, where it is an integer of 64 bits", of_argument<integer>()},
    {"number", "", "the value, where it is any number", of_argument<number>()},
    {"boolean", "", "the value, where it is true or false", of_argument<boolean>()},
    {"text", "", "the value, where it is a text; a list or object as JSON without spaces; the digits of a big_integer",
     of_argument<text>()},
};

constexpr Column kCounters[] = {
    {"event", "", "row of `events`", of_argument<owner>()},
    {"name", "", "of the counter", of_argument<of_owner<event_name>>()},
    {"series", "", "key of the argument: a counter has a curve for each", of_argument<key>()},
    {"track", "", "row of `tracks`", of_argument<of_owner<event_track>>()},
    {"start_ns", "ns", "time from the window's start", of_argument<of_owner<event_start>>()},
    {"ts_ns", "ns", "time as the file has it", of_argument<of_owner<event_ts>>()},
    {"value", "", "null where it is no number", of_argument<number>()},
};

TableRows argument_rows(const Trace& trace) { return arguments_of(every_event(trace)); }
TableRows counter_rows(const Trace& trace) { return arguments_of(events_of(trace, EventClass::counter)); }

constexpr Table kArgumentTables[] = {
    {"counters", "A value of a counter (`ph` C): one row for each argument of each event.", kCounters, counter_rows},
    {"args", "An argument of an event: one row for each, of all events, those that other tables have columns of too.",
     kArguments, argument_rows},
};

}  // namespace

std::span<const Table> argument_tables() { return kArgumentTables; }

}  // namespace ridge::schema
