// Rewrites from text to text, for tests: everything in memory, small blocks so that their borders matter.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "cost/cost_model.h"
#include "ingest/reader.h"
#include "model/model.h"
#include "rewrite/augment.h"
#include "rewrite/combine.h"
#include "rewrite/cut.h"

namespace ridge::test {

inline BlockOptions small_blocks(unsigned threads = 2, std::size_t block_bytes = 4096) {
  BlockOptions options;
  options.threads = threads;
  options.block_bytes = block_bytes;
  return options;
}

inline Result<std::unique_ptr<Trace>> read_with_places(std::string_view bytes, const std::string& name = "test") {
  ReadOptions options;
  options.threads = 2;
  options.keep_places = true;
  return read_trace_bytes(bytes, name, options);
}

// Fills a packed file in memory; fails the test when the rewrite does.
template <class Rewrite>
std::string written(Packing packing, const Rewrite& rewrite) {
  std::string bytes;
  PackedFile out(OutputFile::in_memory(&bytes), packing);
  const auto done = rewrite(&out);
  EXPECT_TRUE(done.has_value()) << done.error().message;
  EXPECT_TRUE(out.finish().has_value());
  return bytes;
}

inline std::string augmented(std::string_view bytes, const BlockOptions& options = small_blocks(),
                             Packing packing = Packing::none, const CostOptions& cost_options = {}) {
  const auto trace = read_with_places(bytes);
  EXPECT_TRUE(trace.has_value());
  if (!trace) return {};
  const Model model(**trace);
  const CostModel costs(model, cost_options);
  return written(packing, [&](PackedFile* out) { return augment(costs, open_bytes(bytes), options, out); });
}

// What starts in [from, to) of the trace's own times in ns, device work by its launch.
inline std::string cut_between(std::string_view bytes, std::int64_t from_ns, std::int64_t to_ns) {
  const auto trace = read_with_places(bytes);
  EXPECT_TRUE(trace.has_value());
  if (!trace) return {};
  const Model model(**trace);
  const auto holds = [&](std::size_t row) {
    const NodeId launch = model.links().launch[row];
    const std::int64_t start = launch != kNoNode ? model.tree().start_ns[launch.value]
                                                 : (*trace)->events.ts_ns((*trace)->of(EventClass::device_work)[row]);
    return start >= from_ns && start < to_ns;
  };
  return written(Packing::none, [&](PackedFile* out) {
    const CutRange range{[&](TrackId) { return TimeRange{from_ns, to_ns}; }, holds};
    return cut(model, open_bytes(bytes), range, small_blocks(), out);
  });
}

inline std::string combined(const std::vector<std::string>& parts) {
  CombineInputs inputs;
  inputs.count = parts.size();
  inputs.load = [&](std::size_t i) { return read_with_places(parts[i], "part" + std::to_string(i)); };
  inputs.open = [&](std::size_t i) -> Result<OpenedSource> { return open_bytes(parts[i]); };
  return written(Packing::none, [&](PackedFile* out) { return combine(inputs, small_blocks(), out); });
}

}  // namespace ridge::test
