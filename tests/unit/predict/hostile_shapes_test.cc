// Shapes that no tensor has: what is expected of such a call is longer than a trace may be, and no time of a step.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ingest/reader.h"
#include "predict/changes.h"
#include "predict/what_if.h"
#include "support/loaded_trace.h"

namespace ridge {
namespace {

// Steps of 100 us with one product each.
std::string products_of(const std::string& shapes) {
  std::string events;
  for (int i = 0; i < 3; ++i) {
    const int at = 1000 + 100 * i;
    const std::string step = "ProfilerStep#" + std::to_string(i);
    const std::string args = R"("Input Dims": )" + shapes + R"(, "Input type": ["float", "float"])";
    events += (i == 0 ? "" : ", ") + test::join({test::event({.name = step, .ts = at, .dur = 99, .cat = "user_annotation"}),
                                                 test::event({.name = "aten::mm", .ts = at + 1, .dur = 20, .args = args}),
                                                 test::launch(i + 1, at + 5, 5, "ampere_sgemm_128x64_nn", at + 30, 30)});
  }
  return R"({"deviceProperties": [{"id": 0, "name": "NVIDIA H200"}], "traceEvents": [)" + events + "]}";
}

Outcome as_expected(const std::string& shapes) {
  const test::LoadedTrace loaded(read_trace_bytes(products_of(shapes), "t", {}).value());
  const Scope scope(*loaded.model);
  const std::vector<Change> changes = {parse_change("kernel:.=expected").value()};
  return WhatIf(scope, WhatIf::From::recorded).outcome(changes);
}

TEST(HostileShapes, AreNoTimeOfAStep) {
  EXPECT_TRUE(as_expected("[[64, 64], [64, 64]]").step_ns);
  EXPECT_FALSE(as_expected("[[4611686018427387904, 4611686018427387904], [4611686018427387904, 4611686018427387904]]").step_ns);
}

}  // namespace
}  // namespace ridge
