// A trace cut short at any byte gives exactly the events closed before the cut; so do cut gzip and zstd streams.
#include <algorithm>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "support/files.h"
#include "support/sample.h"
#include "support/spans.h"
#include "support/trace_lines.h"

namespace ridge::test {
namespace {

struct WholeTrace {
  explicit WholeTrace(const std::string& name)
      : json(fixture(name)), spans(spans_of(json)), lines(event_lines(*read_ok(json))) {}

  std::size_t closed_before(std::size_t cut) const {
    return static_cast<std::size_t>(std::upper_bound(spans.events.begin(), spans.events.end(), cut,
                                                     [](std::size_t c, const Span& s) { return c < s.end; }) -
                                    spans.events.begin());
  }

  std::string json;
  Spans spans;
  Lines lines;
};

void expect_truncated_before_events(const Result<std::unique_ptr<Trace>>& reading) {
  ASSERT_FALSE(reading.has_value());
  EXPECT_EQ(reading.error().code, ErrorCode::truncated);
}

// `prefix`: what there is of the JSON.
void expect_prefix(const WholeTrace& whole, std::size_t prefix, const Result<std::unique_ptr<Trace>>& reading) {
  SCOPED_TRACE("cut at " + std::to_string(prefix));
  if (prefix < whole.spans.array) return expect_truncated_before_events(reading);
  ASSERT_TRUE(reading.has_value()) << reading.error().message;
  const std::size_t closed = whole.closed_before(prefix);
  const Trace& trace = **reading;
  ASSERT_EQ(trace.events.size(), closed);
  EXPECT_EQ(trace.elements, closed);
  EXPECT_EQ(event_lines(trace), Lines(whole.lines.begin(), whole.lines.begin() + static_cast<std::ptrdiff_t>(closed)));
}

// Places to cut a text at: the bytes of both its ends and some at random; of these a sample.
std::vector<std::size_t> cuts_of(std::size_t size, std::size_t ends, std::size_t random_cuts, std::size_t sampled) {
  std::set<std::size_t> cuts;
  for (std::size_t i = 0; i <= std::min(ends, size); ++i) {
    cuts.insert(i);
    cuts.insert(size - i);
  }
  std::mt19937_64 random(2024);
  for (std::size_t i = 0; i < random_cuts; ++i) cuts.insert(random() % size);
  return sample(std::vector<std::size_t>(cuts.begin(), cuts.end()), kSanitized ? sampled / 3 : sampled);
}

TEST(Cut, JsonAtEveryByteOfItsEndsAndAtRandom) {
  const WholeTrace whole("clean_tf32");
  ASSERT_EQ(whole.lines.size(), whole.spans.events.size());
  ASSERT_GT(whole.lines.size(), 100U);
  SCOPED_TRACE(sample_note());
  std::size_t i = 0;
  for (const std::size_t cut : cuts_of(whole.json.size(), 4096, 500, 900)) {
    const std::string_view text = std::string_view(whole.json).substr(0, cut);
    // Ways take turns; which one reads must not matter.
    const Way& way = small_file_ways()[i++ % small_file_ways().size()];
    expect_prefix(whole, cut, read_text(text, way));
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(Cut, CountsTheIncompleteEvent) {
  const WholeTrace whole("clean_tf32");
  const Span& event = whole.spans.events[10];
  const auto trace = read_ok(std::string_view(whole.json).substr(0, event.end - 3));
  EXPECT_EQ(problem_lines(trace->diagnostics),
            (Lines{"truncated_json 1 " + std::to_string(event.end - 3), "truncated_event 1 " + std::to_string(event.begin)}));
}

TEST(Cut, WholeFileHasNoProblem) {
  const WholeTrace whole("clean_tf32");
  EXPECT_EQ(problem_lines(read_ok(whole.json)->diagnostics), Lines{});
}

TEST(Cut, BareArray) {
  const std::string text = "[" + plain_event("a", 1) + ",\n" + plain_event("b", 2) + ",\n" + plain_event("c", 3) + "]";
  const Lines all = event_lines(*read_ok(text));
  ASSERT_EQ(all.size(), 3U);
  expect_truncated_before_events(read_text(""));
  for (std::size_t cut = 1; cut < text.size(); ++cut) {
    const std::string_view prefix = std::string_view(text).substr(0, cut);
    const auto closed = std::count(prefix.begin(), prefix.end(), '}');
    const auto trace = read_ok(prefix, {.window_bytes = 50});
    EXPECT_EQ(event_lines(*trace), Lines(all.begin(), all.begin() + closed)) << cut;
    EXPECT_EQ(trace->diagnostics[Problem::truncated_json].count, 1U) << cut;
  }
}

// Lists of objects inside an event look like the start of events. A cut inside one is still a cut inside that event.
TEST(Cut, InsideAListOfObjects) {
  const std::string first = plain_event("a", 1);
  const std::string head = R"({"traceEvents": [)";
  for (const std::string& list :
       {std::string(R"([{"file": "x", "line": 1}, {"file": "y"}, {"file": "z"}])"),
        "[" + plain_event("d", 4) + ", " + plain_event("e", 5) + "], \"more\": [[" + plain_event("f", 6) + "]]"}) {
    const std::string second = R"({"ph": "X", "name": "b", "ts": 2, "dur": 1, "args": {"stack": )" + list + "}}";
    const std::string text = head + first + ", " + second + ", " + plain_event("c", 3) + "]}";
    const Lines all = event_lines(*read_ok(text));
    ASSERT_EQ(all.size(), 3U);
    const std::size_t begin = head.size() + first.size() + 2;
    for (std::size_t cut = begin; cut + 1 < begin + second.size(); ++cut) {
      for (const std::size_t window : {60U, 1000U}) {
        const auto trace = read_ok(std::string_view(text).substr(0, cut), {.window_bytes = window});
        EXPECT_EQ(event_lines(*trace), Lines{all[0]}) << text.substr(0, cut);
        EXPECT_EQ(trace->elements, 1U);
      }
    }
  }
}

template <class Inflate>
void expect_cuts_of_packed(const WholeTrace& whole, const std::string& packed, Inflate inflate) {
  SCOPED_TRACE(sample_note());
  std::size_t i = 0;
  for (const std::size_t cut : cuts_of(packed.size() - 1, 60, 300, 150)) {
    const std::string_view part = std::string_view(packed).substr(0, cut);
    const std::string prefix = inflate(part);
    ASSERT_EQ(prefix, whole.json.substr(0, prefix.size()));
    if (cut < 4) {  // too short to be known for what it is
      EXPECT_FALSE(read_text(part).has_value());
      continue;
    }
    const auto reading = read_text(part, small_file_ways()[i++ % small_file_ways().size()]);
    expect_prefix(whole, prefix.size(), reading);
    if (reading.has_value()) {
      EXPECT_EQ((*reading)->diagnostics[Problem::truncated_compression].count, 1U) << cut;
    }
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(Cut, Gzip) {
  const WholeTrace whole("clean_tf32");
  expect_cuts_of_packed(whole, gzip(whole.json), inflate_prefix_gzip);
}

TEST(Cut, GzipAsTheProfilerWroteIt) {
  const WholeTrace whole("clean_tf32");
  expect_cuts_of_packed(whole, contents(test::source_dir() + "/tests/fixtures/clean_tf32.json.gz"), inflate_prefix_gzip);
}

TEST(Cut, Zstd) {
  const WholeTrace whole("omni_compiled_half_x5");  // several blocks
  expect_cuts_of_packed(whole, zstd(whole.json), inflate_prefix_zstd);
}

}  // namespace
}  // namespace ridge::test
