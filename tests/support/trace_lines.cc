// How a reading becomes lines, and the ways of reading (threads, windows, fast path) that must agree.
#include "support/trace_lines.h"

#include <cinttypes>
#include <cmath>
#include <cstdio>

#include <gtest/gtest.h>

namespace ridge::test {
namespace {

void append_part(const Trace& trace, const TrackPart& part, std::string* line) {
  switch (part.type) {
    case TrackPart::Type::absent: *line += "-"; break;
    case TrackPart::Type::integer: *line += std::to_string(part.value); break;
    case TrackPart::Type::text:
      *line += "'";
      append_text(trace.text(StringId{static_cast<std::uint32_t>(part.value)}), line);
      break;
  }
}

void append_value(const ArgValue& value, std::string* line) {
  switch (value.type) {
    case ArgType::null: *line += "null"; break;
    case ArgType::false_value: *line += "false"; break;
    case ArgType::true_value: *line += "true"; break;
    case ArgType::int32:
    case ArgType::int64: *line += "int:" + std::to_string(value.integer); break;
    case ArgType::uint64: *line += "uint:" + std::to_string(value.large_integer); break;
    case ArgType::big_integer:
      *line += "big:";
      append_text(value.text, line);
      break;
    case ArgType::real:
      *line += "real:";
      append_real(value.real, line);
      break;
    case ArgType::text:
    case ArgType::fixed_text:
      *line += "text:";
      append_text(value.text, line);
      break;
    case ArgType::json:
      *line += "json:";
      append_text(value.text, line);
      break;
  }
}

// Everything of a reading that must not depend on the way.
Lines reading_lines(const Result<std::unique_ptr<Trace>>& reading) {
  if (!reading) {
    const Error& e = reading.error();
    return {"error " + std::to_string(static_cast<int>(e.code)) + " " + e.message + " | " + e.where + " | " + e.hint};
  }
  const Trace& trace = **reading;
  Lines lines = event_lines(trace);
  for (std::string& line : problem_lines(trace.diagnostics)) lines.push_back(std::move(line));
  lines.push_back("elements " + std::to_string(trace.elements) + " bytes " + std::to_string(trace.json_bytes));
  if (trace.window)
    lines.push_back("window " + std::to_string(trace.window->start_ns) + " " + std::to_string(trace.window->end_ns));
  for (const auto& [key, value] : trace.metadata.items) lines.push_back("item " + key + " " + value);
  return lines;
}

std::string first_difference(const Lines& a, const Lines& b) {
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const std::string& left = i < a.size() ? a[i] : "(nothing)";
    const std::string& right = i < b.size() ? b[i] : "(nothing)";
    if (left != right) return "line " + std::to_string(i) + ":\n  " + left.substr(0, 2000) + "\n  " + right.substr(0, 2000);
  }
  return "";
}

}  // namespace

void append_text(std::string_view text, std::string* line) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == '|' || c == '}') {
      char hex[8];
      std::snprintf(hex, sizeof hex, "<%02x>", static_cast<unsigned>(static_cast<unsigned char>(c)));
      *line += hex;
    } else {
      *line += c;
    }
  }
}

void append_real(double value, std::string* line) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  *line += text;
}

std::string event_line(const Trace& trace, EventId event) {
  const Kind& kind = trace.kind(event);
  const Track& track = trace.forms.track(trace.track(event));
  std::string line;
  append_text(trace.text(kind.ph), &line);
  line += '|';
  append_text(trace.text(kind.cat), &line);
  line += '|';
  append_text(trace.text(trace.events.name(event)), &line);
  line += '|';
  append_part(trace, track.pid, &line);
  line += '|';
  append_part(trace, track.tid, &line);
  const std::int64_t ts = trace.events.ts_ns(event);
  line += '|' + (ts == kNoTime ? "-" : std::to_string(ts)) + '|';
  const auto dur = trace.events.dur_ns(event);
  line += (dur ? std::to_string(*dur) : "-") + '|';
  for (const Slot& slot : trace.forms.schema(trace.events.form(event)).slots) {
    line += slot.member ? "{." : "{";
    append_text(trace.text(slot.key), &line);
    line += '=';
    append_value(value_of(trace, slot, trace.events.words(event)), &line);
    line += '}';
  }
  return line;
}

Lines event_lines(const Trace& trace) {
  Lines lines;
  lines.reserve(trace.events.size());
  for (std::uint32_t i = 0; i < trace.events.size(); ++i) lines.push_back(event_line(trace, EventId{i}));
  return lines;
}

Lines problem_lines(const Diagnostics& diagnostics) {
  Lines lines;
  for (std::size_t i = 0; i < kProblems; ++i) {
    const Diagnostics::Entry& entry = diagnostics[static_cast<Problem>(i)];
    if (entry.count == 0) continue;
    std::string line = std::string(row_of(static_cast<Problem>(i)).code) + ' ' + std::to_string(entry.count);
    for (const std::uint64_t offset : entry.offsets) line += ' ' + std::to_string(offset);
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string name_of(const Way& way) {
  return std::to_string(way.threads) + " threads, windows of " + std::to_string(way.window_bytes) +
         (way.fast_path ? ", by rote" : "");
}

ReadOptions options_of(const Way& way) {
  ReadOptions options;
  options.threads = way.threads;
  options.window_bytes = way.window_bytes;
  options.fast_path = way.fast_path;
  return options;
}

Result<std::unique_ptr<Trace>> read_text(std::string_view bytes, const Way& way) {
  return read_trace_bytes(bytes, "test", options_of(way));
}

std::unique_ptr<Trace> read_ok(std::string_view bytes, const Way& way) {
  auto reading = read_text(bytes, way);
  EXPECT_TRUE(reading.has_value()) << reading.error().message;
  return reading ? std::move(*reading) : std::make_unique<Trace>();
}

void expect_all_ways_agree(std::string_view bytes, const std::vector<Way>& ways) {
  Lines expected;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    Lines lines = reading_lines(read_text(bytes, ways[i]));
    if (i == 0) {
      expected = std::move(lines);
    } else if (lines != expected) {
      ADD_FAILURE() << name_of(ways[0]) << " and " << name_of(ways[i]) << " differ at " << first_difference(expected, lines);
      return;
    }
  }
}

const std::vector<Way>& small_file_ways() {
  static const std::vector<Way> ways = {{1, 1 << 20, false}, {1, 1 << 20, true}, {1, 300, true},    {2, 700, false},
                                        {4, 700, true},      {2, 4096, true},    {4, 1 << 16, true}};
  return ways;
}

const std::vector<Way>& large_file_ways() {
  static const std::vector<Way> ways = {
      {1, 1 << 20, false}, {1, 1 << 20, true}, {2, 1 << 20, true}, {4, 1 << 18, true}, {4, 1 << 20, false}};
  return ways;
}

std::string trace_of(std::string_view events) { return "{\"traceEvents\": [" + std::string(events) + "]}"; }

std::string plain_event(std::string_view name, int ts) {
  return "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"" + std::string(name) +
         "\", \"pid\": 1, \"tid\": 2, \"ts\": " + std::to_string(ts) + ", \"dur\": 1}";
}

}  // namespace ridge::test
