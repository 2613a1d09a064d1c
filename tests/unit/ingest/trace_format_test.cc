// The door for another notation of events: a small format of lines, known to this test alone, read in every container, and
// beside it JSON as ever.
#include "ingest/trace_format.h"

#include <charconv>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/output_file.h"
#include "base/try.h"
#include "ingest/container.h"
#include "ingest/reader.h"
#include "rewrite/combine.h"
#include "support/files.h"
#include "support/says.h"
#include "support/trace_lines.h"
#include "trace/tables.h"

namespace ridge::test {
namespace {

// "#events" and then a line each: cat,name,tid,ts_ns,dur_ns,correlation; all are slices of process 1.
constexpr std::string_view kLinesMagic = "#events\n";

bool is_lines(std::string_view head) { return head.starts_with(kLinesMagic); }

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t end = 0; end != text.npos; text.remove_prefix(end == text.npos ? text.size() : end + 1)) {
    end = text.find(separator);
    parts.push_back(text.substr(0, end));
  }
  return parts;
}

std::int64_t parsed_integer(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

void add_line(std::string_view line, TraceStorage* storage, EventRun* run) {
  const std::vector<std::string_view> part = parts_of(line, ',');
  FormTable& forms = storage->forms;
  Form form;
  form.kind = forms.intern_kind(storage->strings.intern("X"), storage->strings.intern(part[0]), "X", part[0]);
  form.track = forms.intern_track({TrackPart::Type::integer, 1}, {TrackPart::Type::integer, parsed_integer(part[2])});
  const bool has_argument = !part[5].empty();
  Slot correlation;
  correlation.key = id_of(ArgKey::correlation);
  correlation.type = ArgType::int32;
  form.schema = forms.intern_schema(has_argument ? std::vector{correlation} : std::vector<Slot>());
  run->reserve(1);
  const std::size_t first_word = run->words.size();
  if (has_argument) run->words.push_back(static_cast<std::uint32_t>(parsed_integer(part[5])));
  run->add(parsed_integer(part[3]), parsed_integer(part[4]), storage->strings.intern(part[1]), forms.intern_form(form),
           first_word);
}

Result<void> read_lines(TraceInput* input, const ReadOptions&, Trace* trace, ClassLists* lists) {
  std::string text = std::move(input->head);
  for (std::size_t got = TraceInput::kHeadBytes; got == TraceInput::kHeadBytes;) {
    const std::size_t before = text.size();
    text.resize(before + TraceInput::kHeadBytes);
    TRY(got, input->opened.source->read(text.data() + before, TraceInput::kHeadBytes));
    text.resize(before + got);
  }
  trace->json_bytes = text.size();
  EventRun run;
  for (const std::string_view line : parts_of(std::string_view(text).substr(kLinesMagic.size()), '\n')) {
    if (line.empty()) continue;
    if (parts_of(line, ',').size() != 6) return fail(ErrorCode::not_a_trace, "a line has not six parts", input->name);
    add_line(line, trace->storage.get(), &run);
  }
  trace->elements = run.size();
  if (!trace->storage->events.append(run)) return fail(ErrorCode::too_large, "too many events", input->name);
  lists->add(run);
  return {};
}

std::vector<TraceFormat> known_formats() {
  std::vector<TraceFormat> all = {{"lines", is_lines, read_lines}};
  all.insert(all.end(), trace_formats().begin(), trace_formats().end());
  return all;
}

std::unique_ptr<Trace> read_with(std::span<const TraceFormat> formats, std::string_view bytes) {
  ReadOptions options;
  options.formats = formats;
  auto trace = read_trace_bytes(bytes, "test", options);
  EXPECT_TRUE(trace.has_value()) << trace.error().message;
  return trace ? std::move(*trace) : std::make_unique<Trace>();
}

const std::string kThreeLines =
    "#events\n"
    "cpu_op,aten::mm,1,5000,400,\n"
    "cuda_runtime,cudaLaunchKernel,1,5100,20,77\n"
    "kernel,gemm,7,5300,9000,77\n";
const std::string kThreeEvents = R"({"traceEvents": [
  {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 5, "dur": 0.4},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 5.1, "dur": 0.02,
   "args": {"correlation": 77}},
  {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 1, "tid": 7, "ts": 5.3, "dur": 9, "args": {"correlation": 77}}]})";

void expect_same_trace(const Trace& lines, const Trace& json) {
  EXPECT_EQ(event_lines(lines), event_lines(json));
  EXPECT_EQ(lines.elements, json.elements);
  ASSERT_TRUE(lines.window && json.window);
  EXPECT_EQ(lines.window->start_ns, json.window->start_ns);
  EXPECT_EQ(lines.window->end_ns, json.window->end_ns);
  for (std::size_t c = 0; c < kEventClasses; ++c)
    EXPECT_EQ(lines.by_class[c].size(), json.by_class[c].size()) << name_of(static_cast<EventClass>(c));
}

TEST(TraceFormat, AnotherNotationGivesTheSameTrace) {
  const auto formats = known_formats();
  const auto lines = read_with(formats, kThreeLines);
  EXPECT_EQ(lines->format, "lines");
  EXPECT_EQ(lines->container, kPlain);
  expect_same_trace(*lines, *read_with(formats, kThreeEvents));
  EXPECT_EQ(device_work(*lines).correlation.integer(device_work(*lines).events[0]), 77);
}

TEST(TraceFormat, InEveryContainer) {
  const auto formats = known_formats();
  const auto json = read_with(formats, kThreeEvents);
  for (const std::string& packed : {gzip(kThreeLines), zstd(kThreeLines)}) {
    const auto lines = read_with(formats, packed);
    EXPECT_EQ(lines->format, "lines");
    EXPECT_EQ(lines->container, container_of(packed).name);
    EXPECT_NE(lines->container, kPlain);
    expect_same_trace(*lines, *json);
  }
}

// What comes behind the head is the reader's to fetch.
TEST(TraceFormat, LongerThanItsHead) {
  std::string many(kLinesMagic);
  for (int i = 0; i < 10'000; ++i) many += "cpu_op,aten::mm,1," + std::to_string(5000 + i) + ",400,\n";
  ASSERT_GT(many.size(), TraceInput::kHeadBytes);
  EXPECT_EQ(read_with(known_formats(), many)->events.size(), 10'000U);
}

TEST(TraceFormat, WithoutPlacesCannotBeRewritten) {
  const auto formats = known_formats();
  ReadOptions read;
  read.formats = formats;
  read.keep_places = true;
  const std::string path = testing::TempDir() + "ridge_rewritten_lines.json";
  auto file = OutputFile::create(path);
  ASSERT_TRUE(file);
  PackedFile out(std::move(*file), Packing::none);
  const CombineInput inputs[] = {{.path = "lines", .bytes = kThreeLines}};
  const auto combined = combine(inputs, read, {}, &out);
  ASSERT_FALSE(combined);
  EXPECT_EQ(combined.error().code, ErrorCode::usage);
  EXPECT_TRUE(says(combined.error().message, {"lines"}));
}

TEST(TraceFormat, UnknownWithoutItsRow) {
  const auto trace = read_trace_bytes(kThreeLines, "test", {});
  ASSERT_FALSE(trace.has_value());
  EXPECT_EQ(trace.error().code, ErrorCode::not_a_trace);
  const TraceFormat only_lines[] = {{"lines", is_lines, read_lines}};
  ReadOptions options;
  options.formats = only_lines;
  EXPECT_FALSE(read_trace_bytes(kThreeEvents, "test", options).has_value());
}

TEST(TraceFormat, ErrorsOfTheReaderComeThrough) {
  const auto formats = known_formats();
  ReadOptions options;
  options.formats = formats;
  const auto trace = read_trace_bytes("#events\ncpu_op,a\n", "bad.lines", options);
  ASSERT_FALSE(trace.has_value());
  EXPECT_EQ(trace.error().where, "bad.lines");
}

// The last rows take what no other does: without them a file would have no reader.
TEST(TraceFormat, TheLastRowsTakeAnything) {
  EXPECT_TRUE(trace_formats().back().recognise("whatever"));
  EXPECT_TRUE(containers().back().recognise("whatever"));
  for (const Container& container : containers().first(containers().size() - 1)) EXPECT_FALSE(container.recognise("{"));
}

}  // namespace
}  // namespace ridge::test
