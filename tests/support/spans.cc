// A scan of its own that knows only quotes and brackets: it shares no code with the reader.
#include "support/spans.h"

namespace ridge::test {

Spans spans_of(std::string_view json) {
  Spans spans;
  spans.array = json.find('[', json.find("\"traceEvents\"")) + 1;
  std::size_t depth = 0, begin = 0;
  bool in_string = false;
  for (std::size_t i = spans.array; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (depth++ == 0) begin = i;
    } else if (c == '}' || c == ']') {
      if (depth == 0) break;
      if (--depth == 0) spans.events.push_back({begin, i + 1});
    }
  }
  return spans;
}

}  // namespace ridge::test
