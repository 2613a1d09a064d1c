// That LayoutTrie reads by rote what profilers of all versions write: it learns from a handful of events, and the others need
// no teacher. A kind of value that it leaves to the general path is read right all the same, but at an eighth of the speed; no
// other test would see it.
#include "ingest/layout_trie.h"

#include <functional>
#include <string>

#include <gtest/gtest.h>

namespace ridge {
namespace {

class Pupil {
 public:
  // The events of `text` (`{...}, {...}, `) that had to be taught.
  int taught(std::string text) {
    const std::size_t size = text.size();
    text.append(kPadding, '\0');
    const char* const end = text.data() + size;
    int count = 0;
    for (const char* p = text.data(); p < end && *p == '{';) {
      if (const char* next = layout_.read(p, end, &run_)) {
        p = next;
        continue;
      }
      ++count;
      EventText event;
      if (cut_strict(p, end, &event) != Cut::ok || !builder_.add(event, 0, &run_, &diagnostics_)) {
        ADD_FAILURE() << "not an event: " << std::string(p, 80);
        break;
      }
      layout_.learn(event, builder_.recipe(), end);
      p = skip_space(event.end, end);
      if (p < end && *p == ',') p = skip_space(p + 1, end);
    }
    return count;
  }
  std::size_t events() const { return run_.size(); }

 private:
  StringPool strings_;
  FormTable forms_;
  TextCache texts_{&strings_};
  EventBuilder builder_{&forms_, &strings_, &texts_};
  LayoutTrie layout_{&forms_, &texts_};
  EventRun run_;
  Diagnostics diagnostics_;
};

struct TraceWriter {
  const char* name;
  std::function<std::string(int)> event;  // the i-th
};

std::string number(std::int64_t value) { return std::to_string(value); }

// One row a style of writing that was seen in a trace.
const TraceWriter kWriters[] = {
    {"times since 1970, whole microseconds (up to PyTorch 2.2)",
     [](int i) {
       return "{\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::add\", \"pid\": 1102, \"tid\": 1262,\n    "
              "\"ts\": " +
              number(1695835585773004 + i) + ", \"dur\": " + number(i % 90) +
              ",\n    \"args\": {\n      \"External id\": " + number(i) + ",\"Ev Idx\": " + number(i + 1) + "\n    }\n  },\n  ";
     }},
    {"times since 1970 with nanoseconds (PyTorch 2.3)",
     [](int i) {
       return "{\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::add\", \"pid\": 1102, \"tid\": 1262,\n    "
              "\"ts\": " +
              number(1712195495522371 + i) + "." + number(100 + i % 900) + ", \"dur\": 1.495,\n    \"args\": {\n" +
              "      \"External id\": " + number(i) + "\n    }\n  },\n  ";
     }},
    {"times since a base time (PyTorch 2.4 and later)",
     [](int i) {
       return "{\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k" + number(i % 7) +
              "\", \"pid\": 0, \"tid\": 7,\n    \"ts\": " + number(701805299673 + i) + ".750, \"dur\": " + number(i % 9) +
              ".301,\n    \"args\": {\n      \"queued\": 0, \"correlation\": " + number(i) + ", \"grid\": [" + number(i % 5) +
              ", 1, 1], \"est. achieved occupancy %\": 12, \"blocks per SM\": 0.0" + number(i % 10) + "\n    }\n  },\n  ";
     }},
    {"Python's json.dump of times read as doubles",
     [](int i) {
       return R"({"ph": "X", "cat": "cpu_op", "name": "aten::fill_", "pid": 4045, "tid": 4045, "ts": )" +
              number(1682725898126974 + i) + ".0, \"dur\": " + number(i % 50) + R"(.0, "args": {"External id": )" + number(i) +
              R"(, "Input Dims": [[)" + number(i % 3) + "], []]}}, ";
     }},
    {"times that a script has calculated in doubles",
     [](int i) {
       return R"({"ph": "X", "cat": "cpu_op", "name": "aten::fill_", "pid": 4045, "tid": 4045, "ts": )" + number(5187 + i) +
              ".124000000069, \"dur\": " + number(i % 50) + ".95699999999999}, ";
     }},
    {"one key per line",
     [](int i) {
       return "{\n      \"ph\": \"X\",\n      \"cat\": \"cpu_op\",\n      \"name\": \"aten::mm\",\n      \"pid\": 1,\n      "
              "\"tid\": " +
              number(i % 3) + ",\n      \"ts\": " + number(1682725898126974 + i) + ",\n      \"dur\": 3\n    },\n    ";
     }},
    {"threads without end",
     [](int i) {
       return R"({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 5, "tid": )" + number(i) +
              R"(, "ts": )" + number(1682725898126974 + i) + R"(.125, "args": {"Addr": )" + number(139876543210000 + i) +
              R"(, "Bytes": )" + number(i % 2 == 0 ? 512 : -512) + "}}, ";
     }},
    {"tracks with names",
     [](int i) {
       return R"({"ph": "X", "cat": "Trace", "name": "s", "pid": "Spans", "tid": "PyTorch Profiler", "ts": )" +
              number(1682725898126974 + i) + R"(, "dur": 1, "args": {"Op count": null, "ok": true}}, )";
     }},
};

TEST(LayoutTrie, NeedsAFewEventsOfEachWriterOnly) {
  constexpr int kEvents = 2000;
  for (const TraceWriter& writer : kWriters) {
    std::string text;
    for (int i = 0; i < kEvents; ++i) text += writer.event(i);
    Pupil pupil;
    EXPECT_LE(pupil.taught(text), 20) << writer.name;
    EXPECT_EQ(pupil.events(), kEvents) << writer.name;
  }
}

}  // namespace
}  // namespace ridge
