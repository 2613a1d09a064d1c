// Whose annotation a launch of an autograd thread belongs to: on traces made by hand, and on the op zoo against PyTorch's own
// FLOP counts.
#include "model/annotations.h"

#include <map>
#include <string>

#include <gtest/gtest.h>
#include <simdjson.h>

#include "analysis/kernels/kernels.h"
#include "analysis/ops/ops.h"
#include "support/files.h"
#include "support/loaded_trace.h"

namespace ridge {
namespace {

using test::event;
using test::join;
using test::launch;
using test::load_events;
using test::LoadedTrace;

constexpr std::string_view kNote = "user_annotation";
constexpr std::string_view kBackward = "autograd::engine::evaluate_function: MmBackward0";

// The annotation of the only launch.
std::string annotation_of_the_launch(const std::string& events) {
  const LoadedTrace loaded = load_events(events);
  Annotations annotations(*loaded.model);
  const NodeId found = annotations.of(loaded.model->links().launch.at(0));
  return found == kNoNode ? ""
                          : std::string(loaded.trace->text(loaded.trace->events.name(loaded.model->tree().event[found.value])));
}

// A backward op of thread 2 that launches one kernel.
std::string backward(std::string_view name = kBackward, std::string_view args = "") {
  return join({event({.name = name, .ts = 50, .dur = 10, .args = args, .tid = 2}),
               launch(1, 52, 2, "k", 70, 5, "cudaLaunchKernel", 2)});
}

TEST(Annotations, ABackwardOpHasTheOneThatWaitsForIt) {
  const std::string outer = event({.name = "outer", .ts = 0, .dur = 100, .cat = kNote});
  EXPECT_EQ(annotation_of_the_launch(join({outer, backward()})), "outer");
  const std::string inner = event({.name = "inner", .ts = 40, .dur = 30, .cat = kNote});
  EXPECT_EQ(annotation_of_the_launch(join({outer, inner, backward()})), "inner");
  const std::string ends_within = event({.name = "ends within", .ts = 40, .dur = 15, .cat = kNote});
  EXPECT_EQ(annotation_of_the_launch(join({outer, ends_within, backward()})), "outer");
  const std::string own = event({.name = "own", .ts = 51, .dur = 5, .cat = kNote, .tid = 2});
  EXPECT_EQ(annotation_of_the_launch(join({outer, own, backward()})), "own");
}

TEST(Annotations, OfSeveralThreadsThatOfTheForwardOpCounts) {
  const std::string notes = join({event({.name = "one", .ts = 0, .dur = 100, .cat = kNote}),
                                  event({.name = "three", .ts = 0, .dur = 100, .cat = kNote, .tid = 3})});
  EXPECT_EQ(annotation_of_the_launch(join({notes, backward()})), "");  // either could be meant
  const std::string forward =
      event({.name = "aten::mm", .ts = 10, .dur = 5, .args = R"("Sequence number": 7, "Fwd thread id": 0)", .tid = 3});
  EXPECT_EQ(
      annotation_of_the_launch(join({notes, forward, backward(kBackward, R"("Sequence number": 7, "Fwd thread id": 1)")})),
      "three");
}

TEST(Annotations, NobodyWaitsForAnotherThreadsForwardOps) {
  EXPECT_EQ(
      annotation_of_the_launch(join({event({.name = "step", .ts = 0, .dur = 100, .cat = kNote}), backward("aten::copy_")})),
      "");
}

TEST(Annotations, TellTheFlopsOfEachCaseOfTheOpZoo) {
  const std::string json = test::json_of(test::source_dir() + "/tests/fixtures/opzoo.flops.json");
  const LoadedTrace loaded = test::load_file(*test::path_of("opzoo_eager"));
  const Scope scope(*loaded.model);
  std::map<std::string, double> flops;
  std::map<std::string, std::int64_t> launches, launches_of_ops;
  std::int64_t sum = 0;
  const Kernels kernels = compute_kernels(scope, KernelsBy::annotation);
  for (const KernelRow& row : kernels.rows) {
    flops[row.key] = row.cost.flops.value().value_or(0);
    launches[row.key] = row.count;
    sum += row.time_ns;
  }
  EXPECT_EQ(sum, compute_kernels(scope).time_ns);
  simdjson::dom::parser parser;
  int cases = 0;
  for (const auto [name, expected] : parser.parse(json).get_object()) {
    double total = 2147483648.0;  // sdpa_gqa: PyTorch's counter refuses grouped heads; 4 * 2 * 32 * 256^2 * 128 by hand
    if (expected["total"].error() == simdjson::SUCCESS) total = static_cast<double>(std::int64_t(expected["total"]));
    EXPECT_EQ(flops["case::" + std::string(name)], total) << name;
    ++cases;
  }
  EXPECT_EQ(cases, 41);
  const Ops ops = compute_ops(scope, OpsBy::annotation, WithCosts::no);
  for (const OpRow& row : ops.rows) launches_of_ops[row.detail] += row.kernels;
  EXPECT_EQ(launches_of_ops, launches);
}

}  // namespace
}  // namespace ridge
