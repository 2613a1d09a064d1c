// Rewrites from text to text, for tests: everything in memory, small blocks so that their borders matter.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "cost/cost_model.h"
#include "facts/scope.h"
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

inline ReadOptions with_places() {
  ReadOptions options;
  options.threads = 2;
  options.keep_places = true;
  return options;
}

inline Result<std::unique_ptr<Trace>> read_with_places(std::string_view bytes, const std::string& name = "test") {
  return read_trace_bytes(bytes, name, with_places());
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

// What `arguments` hold of the trace, as of `runs` iterations where that is said.
inline std::string cut_to(std::string_view bytes, const Arguments& arguments, std::int64_t runs = 0) {
  const auto trace = read_with_places(bytes);
  EXPECT_TRUE(trace.has_value());
  if (!trace) return {};
  const Model model(**trace, runs);
  const auto scope = make_scope(model, arguments);
  EXPECT_TRUE(scope.has_value()) << scope.error().message;
  if (!scope) return {};
  return written(Packing::none, [&](PackedFile* out) { return cut(*scope, open_bytes(bytes), small_blocks(), out); });
}

// What starts in [from, to) of the window, in ns.
inline std::string cut_between(std::string_view bytes, std::int64_t from_ns, std::int64_t to_ns) {
  const auto milliseconds = [](std::int64_t ns) { return std::to_string(static_cast<double>(ns) / 1e6); };
  return cut_to(bytes, {{"from", milliseconds(from_ns)}, {"to", milliseconds(to_ns)}});
}

inline std::string combined(const std::vector<std::string>& parts) {
  std::vector<CombineInput> inputs;
  for (const std::string& part : parts) inputs.push_back({"part" + std::to_string(inputs.size()), part});
  return written(Packing::none, [&](PackedFile* out) { return combine(inputs, with_places(), small_blocks(), out); });
}

}  // namespace ridge::test
