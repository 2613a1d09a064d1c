// Where the events of a valid trace stand in its text, found byte by byte.
#pragma once

#include <string_view>
#include <vector>

namespace ridge::test {

struct Span {
  std::size_t begin = 0;  // at the event's brace
  std::size_t end = 0;    // past its closing brace
};

struct Spans {
  std::size_t array = 0;  // past the bracket that opens the events
  std::vector<Span> events;
};

Spans spans_of(std::string_view json);

}  // namespace ridge::test
