// The rewrites on any bytes that read as a trace: never a crash; augment twice is augment once and loses no byte; what combine
// and cut write is a trace without damage.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "cost/cost_model.h"
#include "facts/scope.h"
#include "ingest/reader.h"
#include "model/model.h"
#include "rewrite/augment.h"
#include "rewrite/combine.h"
#include "rewrite/cut.h"

namespace {

using namespace ridge;

ReadOptions read_options() {
  ReadOptions options;
  options.threads = 1;
  options.window_bytes = 509;
  options.max_bytes = std::uint64_t{16} << 20;
  options.max_memory = std::uint64_t{256} << 20;
  options.keep_places = true;
  return options;
}

Result<std::unique_ptr<Trace>> read(std::string_view bytes) { return read_trace_bytes(bytes, "fuzz", read_options()); }

const BlockOptions& blocks() {
  static const BlockOptions options{.threads = 1, .block_bytes = 101, .max_bytes = UINT64_MAX, .progress = {}};
  return options;
}

[[noreturn]] void give_up(const char* why) {
  std::fprintf(stderr, "%s\n", why);
  std::abort();
}

std::string augmented(const Trace& trace, std::string_view bytes) {
  const Model model(trace);
  const CostModel costs(model, {});
  std::string text;
  PackedFile out(OutputFile::in_memory(&text), Packing::none);
  if (!augment(costs, open_bytes(bytes), blocks(), &out)) give_up("augment failed");
  return text;
}

bool holds_in_order(std::string_view all, std::string_view part) {
  std::size_t at = 0;
  for (const char c : all) at += at < part.size() && part[at] == c;
  return at == part.size();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto trace = read(bytes);
  if (!trace) return 0;

  const std::string once = augmented(**trace, bytes);
  const bool plain = (*trace)->container == "json";
  const bool had_ours = bytes.find("ridge") != std::string_view::npos || bytes.find("kernel_") != std::string_view::npos ||
                        bytes.find("achieved_") != std::string_view::npos || bytes.find("bound") != std::string_view::npos ||
                        bytes.find("roof_us") != std::string_view::npos || bytes.find("\\u") != std::string_view::npos;
  if (plain && !had_ours && !holds_in_order(once, bytes)) give_up("augment lost bytes");
  const auto again = read(once);
  if (!again || augmented(**again, once) != once) give_up("augment twice is not augment once");

  const CombineInput inputs[] = {{"a", bytes}, {"b", bytes}};
  std::string both;
  PackedFile out(OutputFile::in_memory(&both), Packing::none);
  if (combine(inputs, read_options(), blocks(), &out)) {
    const auto read_back = read(both);
    if ((*trace)->events.size() != 0 && (!read_back || (*read_back)->events.size() != 2 * (*trace)->events.size()))
      give_up("combine lost events");
  }

  const Model model(**trace);
  const TimeRange window = (*trace)->window.value_or(TimeRange{});
  const auto half = make_scope(model, {{"to", std::to_string(static_cast<double>(window.duration_ns() / 2) / 1e6)}});
  std::string part;
  PackedFile part_out(OutputFile::in_memory(&part), Packing::none);
  if (!cut(half ? *half : Scope(model), open_bytes(bytes), blocks(), &part_out)) give_up("cut failed");
  return 0;
}
