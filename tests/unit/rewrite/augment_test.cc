// Augment: taking out what was added gives back the input, twice is once, and only what is known is said.
#include "rewrite/augment.h"

#include <array>
#include <random>

#include "rewriting.h"
#include "support/files.h"
#include "support/loaded_trace.h"
#include "support/sample.h"
#include "support/spans.h"
#include "support/trace_lines.h"

namespace ridge::test {
namespace {

constexpr std::string_view kDeviceKeys[] = {"kernel_flop", "kernel_num_gb", "achieved_flops_pct", "achieved_bandwidth_pct",
                                            "bound",       "roof_us"};

// Past a number, a word in quotes or an object without another inside: all that augment writes.
std::size_t value_end(std::string_view text, std::size_t at) {
  if (text[at] == '"') return text.find('"', at + 1) + 1;
  if (text[at] == '{') return text.find('}', at) + 1;
  return text.find_first_of(",} \n\r\t", at);
}

// Takes `, "key": value` or `"key": value` out of an event's text.
void take_out(std::string_view key, std::string* event) {
  const std::string quoted = "\"" + std::string(key) + "\": ";
  const std::size_t at = event->rfind(quoted);
  if (at == std::string::npos) return;
  const std::size_t end = value_end(*event, at + quoted.size());
  const std::size_t comma = at >= 2 && event->compare(at - 2, 2, ", ") == 0 ? 2 : 0;
  event->erase(at - comma, end - at + comma);
}

bool is_device_event(std::string_view event) {
  for (const std::string_view cat : {"kernel", "gpu_memcpy", "gpu_memset", "mtia_ccp_events", "Kernel", "Memcpy", "Memset"}) {
    for (const std::string_view colon : {"\"cat\": \"", "\"cat\":\""}) {
      if (event.find(std::string(colon) + std::string(cat) + "\"") != std::string_view::npos) return true;
    }
  }
  return false;
}

// An independent way back: event by event, by plain search.
std::string stripped(std::string_view json) {
  const Spans spans = spans_of(json);
  std::string out;
  std::size_t copied = 0;
  for (const Span& span : spans.events) {
    out.append(json.substr(copied, span.begin - copied));
    std::string event(json.substr(span.begin, span.end - span.begin));
    if (is_device_event(event)) {
      for (auto key = std::rbegin(kDeviceKeys); key != std::rend(kDeviceKeys); ++key) take_out(*key, &event);
    } else {
      take_out("ridge", &event);
      if (event.find("\"name\": \"triton_") == std::string::npos) {  // else they are Inductor's
        take_out("kernel_num_gb", &event);
        take_out("kernel_flop", &event);
      }
    }
    out.append(event);
    copied = span.end;
  }
  return out.append(json.substr(copied));
}

std::size_t count(std::string_view text, std::string_view word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

TEST(Augment, TakingItOutGivesBackEveryTrace) {
  std::size_t traces = 0, added = 0;
  const std::vector<std::string> paths = all_traces();
  SCOPED_TRACE(sample_note());
  for (const std::string& path : sample(paths, kSanitized ? 12 : 24)) {
    SCOPED_TRACE(path);
    const std::string json = json_of(path);
    const std::string once = augmented(json, small_blocks(2, 1 << 16));
    ASSERT_TRUE(stripped(once) == json);
    ASSERT_TRUE(augmented(once, small_blocks(2, 1 << 14)) == once) << "twice is not once";
    added += once.size() - json.size();
    ++traces;
  }
  EXPECT_GE(traces, 12U);
  EXPECT_GT(added, 100'000U) << "nothing was added";
}

TEST(Augment, KnowsTheKernelsOfTheExample) {
  const std::string once = augmented(fixture("opzoo_eager"));
  EXPECT_GT(count(once, "\"kernel_flop\": "), 100U);
  EXPECT_GT(count(once, "\"kernel_num_gb\": "), 100U);
  EXPECT_GT(count(once, "\"achieved_bandwidth_pct\": "), 100U);
  EXPECT_GT(count(once, "\"bound\": \"memory\""), 10U);
  EXPECT_GT(count(once, "\"ridge\": {\"kernels\": 1, \"device_us\": "), 100U);
}

// As PyTorch's script does: the op that launched a kernel tells what it computes, the one around it only in `ridge`. What
// Inductor wrote on its ops stays.
TEST(Augment, OpsTellWhatTheyThemselvesLaunched) {
  const auto product = [](std::string_view name, int ts, int dur, std::string_view more) {
    return event({.name = name,
                  .ts = ts,
                  .dur = dur,
                  .args = "\"Input Dims\": [[8, 16], [16, 4]], \"Input type\": [\"float\", \"float\"]" + std::string(more)});
  };
  const std::string once = augmented(
      trace_of(join({product("aten::matmul", 0, 50, ""), product("aten::mm", 10, 30, ""), launch(1, 20, 5, "gemm", 100, 40),
                     event({.name = "triton_poi_fused_add_0", .ts = 60, .dur = 20, .args = "\"kernel_num_gb\": 0.25"}),
                     launch(2, 65, 5, "triton_poi_fused_add_0", 150, 10)})));
  const auto event_of = [&](std::string_view name) {
    const std::size_t begin = once.find("\"name\": \"" + std::string(name) + "\"");
    return once.substr(begin, once.find("\"ridge\"", begin) - begin);
  };
  EXPECT_NE(event_of("aten::mm").find("\"kernel_flop\": 1024, \"kernel_num_gb\": 8.96e-07, "), std::string::npos) << once;
  EXPECT_EQ(event_of("aten::matmul").find("kernel_flop"), std::string::npos) << once;
  EXPECT_NE(event_of("triton_poi_fused_add_0").find("\"kernel_num_gb\": 0.25, "), std::string::npos) << once;
  EXPECT_EQ(augmented(once), once);
}

// The same in any layout: what json.dump writes, pretty or in one line, and with args that are missing, empty or odd.
TEST(Augment, AnyLayout) {
  const std::string kernel = R"("ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":10,"dur":5)";
  const std::string op =
      R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":5,"args":{"External id":1}})";
  const std::string launch =
      R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":2,"dur":1,"args":{"correlation":3}})";
  for (const std::string_view args :
       {R"(,"args":{"correlation":3,"device":0})", R"(,"args":{"correlation":3 , "device":0
    })",
        R"(,"args" : { "device":0, "correlation":3})", R"(, "args":{})", R"(,"args":{ })", R"(,"args":null)", R"(,"args":[1])",
        "", R"(,"args":{"correlation":3},"args":{"device":0})", R"(,"args":{"correlation":3}, "id":4)"}) {
    for (const std::string_view between : {",", ", ", ",\n  ", "\n,\n"}) {
      const std::string text =
          trace_of(op + std::string(between) + launch + std::string(between) + "{" + kernel + std::string(args) + "}");
      SCOPED_TRACE(text);
      const std::string once = augmented(text, small_blocks(1, 64));
      EXPECT_EQ(augmented(once, small_blocks(1, 50)), once);
      EXPECT_TRUE(read_text(once).has_value());
      if (args.find("correlation\":3") != std::string_view::npos && args.find("args", 10) == std::string_view::npos) {
        EXPECT_EQ(count(once, "\"ridge\": {\"kernels\": 1, \"device_us\": 5"), 1U) << once;
      }
      EXPECT_EQ(stripped(once), text);
    }
  }
}

// Eight kernels of 2e18 ns at once are more than int64 holds.
TEST(Augment, ASumOfDurationsStopsAtTheLargestValue) {
  std::string events =
      R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":50,"args":{"External id":1}})";
  for (int i = 1; i <= 8; ++i) {
    const std::string id = std::to_string(i);
    events += R"(,{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":)" + id +
              R"(,"dur":0.5,"args":{"correlation":)" + id + "}}" + R"(,{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":)" +
              id + R"(,"ts":100,"dur":2000000000000000,"args":{"device":0,"stream":)" + id + R"(,"correlation":)" + id + "}}";
  }
  const std::string once = augmented(trace_of(events));
  EXPECT_EQ(count(once, "\"device_us\": 9223372036854776,"), 1U) << once;
}

// As the reader has it: the last counts.
TEST(Augment, OfTwoArgsTheLastIsEdited) {
  const std::string once = augmented(trace_of(
      R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":5,"args":{"Input Dims":[[8,8],[8,8]],"Input type":["float","float"]}},)"
      R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":2,"dur":1,"args":{"correlation":3}},)"
      R"({"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":10,"dur":5,"args":{"stream":3},"args":{"correlation":3,"device":0}})"));
  EXPECT_NE(once.find(R"("args":{"stream":3},"args":{"correlation":3,"device":0, "kernel_flop": 1024)"), std::string::npos)
      << once;
}

TEST(Augment, ReplacesWhatIsThere) {
  const std::string text = trace_of(
      R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":5,"args":{"ridge": {"old": 1}, "External id": 1, "kernel_flop": 5}},)"
      R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":10,"dur":5,"args":{"kernel_flop": 7, "device": 0, "bound": "old", "stream": 7, "kernel\u005fnum_gb": 1}},)"
      R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":20,"dur":5,"args":{"bound": 1, "roof_us": 2}})");
  const std::string once = augmented(text);
  EXPECT_EQ(once.find("old"), std::string::npos) << once;
  EXPECT_EQ(once.find("u005f"), std::string::npos) << once;
  EXPECT_NE(once.find(R"("External id": 1}})"), std::string::npos) << "of an op too: the script writes it there; " << once;
  EXPECT_NE(once.find(R"({"device": 0, "stream": 7)"), std::string::npos) << once;
  EXPECT_EQ(augmented(once), once);
}

// An event that had to be mended stays as it is; those beside it do not.
TEST(Augment, DamagedEventsStay) {
  const std::string op =
      R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":5,"args":{"External id":1}})";
  const std::string launch =
      R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":2,"dur":1,"args":{"correlation":3}})";
  for (const std::string_view wound : {R"("x":NaN,)", R"("x":"a"b",)", R"("x":1 )"}) {
    const std::string kernel = R"({"ph":"X","cat":"Memcpy","name":"Memcpy DtoD","pid":0,"tid":7,"ts":10,"dur":5,)" +
                               std::string(wound) + R"("args":{"correlation":3,"device":0,"bytes":8}})";
    const std::string once = augmented(trace_of(op + "," + launch + "," + kernel));
    EXPECT_EQ(count(once, kernel), 1U) << once;
    EXPECT_EQ(count(once, "\"ridge\": {\"kernels\": 1"), 1U) << once;
  }
}

TEST(Augment, DamagedBytesStay) {
  const std::string whole = fixture("clean_tf32").substr(0, 60'000);
  std::mt19937_64 random(7);
  for (int round = 0; round < 60; ++round) {
    std::string text = whole;
    for (int wound = 0; wound < 6; ++wound) {
      const std::size_t at = 1000 + random() % (text.size() - 2000);
      switch (random() % 4) {
        case 0: text.erase(at, 1 + random() % 30); break;
        case 1: text.insert(at, "\""); break;
        case 2: text.insert(at, "},{"); break;
        default: text[at] = static_cast<char>(random() % 256); break;
      }
    }
    if (!read_text(text)) continue;
    const std::string once = augmented(text, small_blocks(2, 1 + random() % 3000));
    // Every byte of the input is in the output, in order.
    std::size_t at = 0;
    for (const char c : once) at += at < text.size() && text[at] == c;
    EXPECT_EQ(at, text.size()) << "round " << round;
    EXPECT_EQ(augmented(once), once) << "round " << round;
  }
}

TEST(Augment, BlocksAndThreadsChangeNothing) {
  const std::string json = fixture("graph_breaks");
  const std::string expected = augmented(json, small_blocks(1, 1 << 20));
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{777}, std::size_t{50'000}})
    EXPECT_TRUE(augmented(json, small_blocks(3, bytes)) == expected) << bytes;
}

TEST(Augment, PackedAsAsked) {
  const std::string json = fixture("clean_tf32");
  const std::string plain = augmented(json);
  const std::string zipped = augmented(json, small_blocks(), Packing::gzip);
  EXPECT_LT(zipped.size(), plain.size() / 3);
  EXPECT_TRUE(inflate_prefix_gzip(zipped) == plain);
  EXPECT_TRUE(inflate_prefix_zstd(augmented(json, small_blocks(), Packing::zstd)) == plain);
  // Packed input, and input whose end is missing: what there is comes through.
  EXPECT_TRUE(augmented(gzip(json)) == plain);
  const std::string cut = gzip(json).substr(0, gzip(json).size() / 2);
  EXPECT_TRUE(stripped(augmented(cut)) == inflate_prefix_gzip(cut));
}

}  // namespace
}  // namespace ridge::test
