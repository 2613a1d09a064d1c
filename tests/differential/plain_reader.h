// A plain reader of traces: simdjson on demand, one event after another, nothing clever. The oracle of the differential tests.
// Takes valid JSON alone; gives the same lines as event_lines() of a Trace, and the events' members for writing them anew.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <simdjson.h>

#include "support/trace_lines.h"

namespace ridge::test {

struct PlainMember {
  std::string key;  // without escapes: the fixtures have none
  std::string raw;  // the value as it stands in the file
};
using PlainEvent = std::vector<PlainMember>;

namespace plain {

inline bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

inline std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// JSON without the blanks between its tokens.
inline std::string compact(std::string_view json) {
  std::string out;
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (!in_string && is_blank(json[i])) continue;
    out += json[i];
    if (in_string && json[i] == '\\') {
      out += json[++i];
    } else if (json[i] == '"') {
      in_string = !in_string;
    }
  }
  return out;
}

// Microseconds in decimal digits to nanoseconds, by moving the point in the text.
inline std::int64_t time_ns(std::string_view number) {
  std::string digits;
  std::string_view mantissa = number.substr(0, number.find_first_of("eE"));
  std::int64_t exponent = mantissa.size() == number.size() ? 0 : std::stoll(std::string(number.substr(mantissa.size() + 1)));
  const bool negative = mantissa.starts_with('-');
  if (negative) mantissa.remove_prefix(1);
  const std::size_t point = mantissa.find('.');
  std::int64_t before = static_cast<std::int64_t>(point == std::string_view::npos ? mantissa.size() : point);
  for (const char c : mantissa) {
    if (c != '.') digits += c;
  }
  before += exponent + 3;
  if (before <= 0) return 0;
  digits.resize(static_cast<std::size_t>(before), '0');  // cuts what is below a nanosecond, or fills up
  const std::int64_t value = std::stoll(digits);
  return negative ? -value : value;
}

inline std::string integer_value(std::string_view number) {
  std::string_view digits = number.starts_with('-') ? number.substr(1) : number;
  errno = 0;
  const std::string text(number);
  if (number.starts_with('-')) {
    const long long value = std::strtoll(text.c_str(), nullptr, 10);
    return errno == 0 ? "int:" + std::to_string(value) : "big:" + text;
  }
  const unsigned long long value = std::strtoull(text.c_str(), nullptr, 10);
  if (errno != 0) return "big:" + std::string(digits);
  return (value > INT64_MAX ? "uint:" : "int:") + std::to_string(value);
}

using Value = simdjson::ondemand::value;

inline std::string text_of(Value value) { return std::string(std::string_view(value.get_string())); }

// Either a string's content or a number's text, for pid and tid.
inline std::string track_part(Value value) {
  std::string out;
  if (value.type() == simdjson::ondemand::json_type::null) return "-";
  if (value.type() == simdjson::ondemand::json_type::string) {
    out = "'";
    append_text(text_of(value), &out);
  } else {
    out = std::string(trim(value.raw_json_token()));
  }
  return out;
}

inline std::string argument(Value value) {
  std::string out;
  switch (value.type()) {
    case simdjson::ondemand::json_type::string:
      out = "text:";
      append_text(text_of(value), &out);
      break;
    case simdjson::ondemand::json_type::array:
      out = "json:";
      append_text(compact(std::string_view(value.get_array().value().raw_json())), &out);
      break;
    case simdjson::ondemand::json_type::object:
      out = "json:";
      append_text(compact(std::string_view(value.get_object().value().raw_json())), &out);
      break;
    case simdjson::ondemand::json_type::number: {
      const std::string_view number = trim(value.raw_json_token());
      if (number.find_first_of(".eE") == std::string_view::npos) return integer_value(number);
      out = "real:";
      append_real(std::strtod(std::string(number).c_str(), nullptr), &out);
      break;
    }
    default: out = std::string(trim(value.raw_json_token())); break;
  }
  return out;
}

inline void append_args(simdjson::ondemand::object args, std::string* line) {
  for (auto field : args) {
    *line += '{';
    append_text(std::string_view(field.unescaped_key()), line);
    *line += '=' + argument(field.value()) + '}';
  }
}

inline std::string event_line(simdjson::ondemand::object event) {
  std::string ph, cat, name, pid = "-", tid = "-", ts = "-", dur = "-", rest;
  for (auto field : event) {
    const std::string key(std::string_view(field.unescaped_key()));
    Value value = field.value();
    if (key == "ph") {
      append_text(text_of(value), &ph);
    } else if (key == "cat") {
      append_text(text_of(value), &cat);
    } else if (key == "name") {
      append_text(text_of(value), &name);
    } else if (key == "pid") {
      pid = track_part(value);
    } else if (key == "tid") {
      tid = track_part(value);
    } else if (key == "ts") {
      ts = std::to_string(time_ns(trim(value.raw_json_token())));
    } else if (key == "dur") {
      const std::int64_t ns = time_ns(trim(value.raw_json_token()));
      dur = ns < 0 ? "-" : std::to_string(ns);
    } else if (key == "args" && value.type() == simdjson::ondemand::json_type::object) {
      append_args(value.get_object(), &rest);
    } else {
      rest += "{.";
      append_text(key, &rest);
      rest += '=' + argument(value) + '}';
    }
  }
  return ph + '|' + cat + '|' + name + '|' + pid + '|' + tid + '|' + ts + '|' + dur + '|' + rest;
}

}  // namespace plain

// The lines of every event of `json`, an object with traceEvents.
inline Lines plain_lines(const std::string& json) {
  simdjson::ondemand::parser parser;
  const simdjson::padded_string padded(json);
  simdjson::ondemand::document document = parser.iterate(padded);
  Lines lines;
  for (auto element : document["traceEvents"].get_array()) lines.push_back(plain::event_line(element.get_object()));
  return lines;
}

// The events of `json` member by member, values as they stand.
inline std::vector<PlainEvent> plain_events(const std::string& json) {
  simdjson::ondemand::parser parser;
  const simdjson::padded_string padded(json);
  simdjson::ondemand::document document = parser.iterate(padded);
  std::vector<PlainEvent> events;
  for (auto element : document["traceEvents"].get_array()) {
    PlainEvent event;
    for (auto field : element.get_object()) {
      PlainMember member;
      member.key = std::string(std::string_view(field.unescaped_key()));
      plain::Value value = field.value();
      switch (value.type()) {
        case simdjson::ondemand::json_type::array: member.raw = std::string_view(value.get_array().value().raw_json()); break;
        case simdjson::ondemand::json_type::object: member.raw = std::string_view(value.get_object().value().raw_json()); break;
        default: member.raw = std::string(plain::trim(value.raw_json_token())); break;
      }
      event.push_back(std::move(member));
    }
    events.push_back(std::move(event));
  }
  return events;
}

}  // namespace ridge::test
