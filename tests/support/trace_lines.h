// A trace as lines of text, one per event with everything that was read of it: two readings are equal when their lines are.
// Also what most tests of the reader need: reading from memory, in every way that must give the same result.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <ridge/result.h>

#include "ingest/reader.h"
#include "trace/args.h"
#include "trace/trace.h"

namespace ridge::test {

using Lines = std::vector<std::string>;

// "ph|cat|name|pid|tid|ts_ns|dur_ns|{key=type:value}...": members of the event itself come with a dot before their key.
std::string event_line(const Trace& trace, EventId event);
Lines event_lines(const Trace& trace);

// "code count offset offset ...", one line per problem found.
Lines problem_lines(const Diagnostics& diagnostics);

// Pieces of an event's line, shared with readers that are not ridge.
void append_text(std::string_view text, std::string* line);  // control characters and separators made visible
void append_real(double value, std::string* line);

// How one text can be read. All ways must agree.
struct Way {
  unsigned threads = 1;
  std::size_t window_bytes = std::size_t{1} << 20;
  bool fast_path = true;
};
std::string name_of(const Way& way);
ReadOptions options_of(const Way& way);

Result<std::unique_ptr<Trace>> read_text(std::string_view bytes, const Way& way = {});

// Reads text that must be readable; fails the test and gives an empty trace when it is not.
std::unique_ptr<Trace> read_ok(std::string_view bytes, const Way& way = {});

// Reads in ways that differ in threads, windows and fast_path, and expects one result: events, diagnostics, metadata, or the
// error.
void expect_all_ways_agree(std::string_view bytes, const std::vector<Way>& ways);
const std::vector<Way>& small_file_ways();  // tiny windows among them
const std::vector<Way>& large_file_ways();

// `{"traceEvents": [` + events + `]}`.
std::string trace_of(std::string_view events);

// A complete event "X" that starts at ts microseconds and lasts 1, with this name; 60 to 70 bytes in one line.
std::string plain_event(std::string_view name, int ts);

}  // namespace ridge::test
