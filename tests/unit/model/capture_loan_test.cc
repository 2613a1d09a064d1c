// A trace of replays with the trace of their capture: whose ops it gets, how well that is said to fit, and that nothing which
// this trace recorded itself changes.
#include "model/capture_loan.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "analysis/kernels/kernels.h"
#include "analysis/launches/launches.h"
#include "analysis/ops/ops.h"
#include "support/loaded_trace.h"

namespace ridge::test {
namespace {

struct Launch {
  std::string op, kernel, dims = "[[4, 4], [4, 4]]";
};

const std::vector<Launch> kModel = {{"aten::mm", "Cijk_first"},    {"aten::add", "add_kernel"}, {"aten::mm", "Cijk_second"},
                                    {"aten::relu", "relu_kernel"}, {"aten::mm", "Cijk_third"},  {"aten::sum", "sum_kernel"}};

// ROCm's capture: launch calls that name their kernels, under ops, and no kernels.
std::string capture_of(const std::vector<Launch>& launches, int ts = 0, std::string_view annotation = "") {
  const auto call = [](std::string_view name, int at) {
    return event({.name = name, .ts = at, .dur = 1, .cat = "cuda_runtime"});
  };
  const int length = 20 * static_cast<int>(launches.size());
  std::vector<std::string> events;
  if (!annotation.empty())
    events.push_back(event({.name = annotation, .ts = ts, .dur = length + 20, .cat = "user_annotation"}));
  events.push_back(
      event({.name = "model.py(7): forward", .ts = ts + 2, .dur = length + 15, .cat = "python_function", .args = ""}));
  events.push_back(call("hipStreamBeginCapture", ts + 4));
  int at = ts + 10;
  for (const Launch& launch : launches) {
    events.push_back(event({.name = launch.op,
                            .ts = at,
                            .dur = 10,
                            .args = fmt::format(R"("Input Dims": {}, "Input type": ["float", "float"])", launch.dims)}));
    events.push_back(event({.name = "hipLaunchKernel",
                            .ts = at + 2,
                            .dur = 3,
                            .cat = "cuda_runtime",
                            .args = fmt::format(R"("kernel": "{}")", launch.kernel)}));
    at += 20;
  }
  events.push_back(call("hipStreamEndCapture", at));
  return fmt::format("{}", fmt::join(events, ", "));
}

// One replay: a graph launch under an annotation, and its kernels, 5 us each.
std::string replay_of(const std::vector<std::string>& kernels, int correlation = 1, int ts = 0,
                      std::string_view around = "step") {
  std::vector<std::string> events = {event({.name = around, .ts = ts, .dur = 50, .cat = "user_annotation"}),
                                     event({.name = "hipGraphLaunch",
                                            .ts = ts + 5,
                                            .dur = 5,
                                            .cat = "cuda_runtime",
                                            .args = fmt::format(R"("correlation": {})", correlation)})};
  int at = ts + 100;
  for (const std::string& kernel : kernels) {
    events.push_back(event({.name = kernel,
                            .ts = at,
                            .dur = 5,
                            .cat = "kernel",
                            .args = fmt::format(R"("correlation": {}, "device": 0, "stream": 7)", correlation),
                            .tid = 7}));
    at += 10;
  }
  return fmt::format("{}", fmt::join(events, ", "));
}

std::vector<std::string> kernels_of(const std::vector<Launch>& launches) {
  std::vector<std::string> names;
  for (const Launch& launch : launches) names.push_back(launch.kernel);
  return names;
}

LoadedTrace with_capture(std::string_view replay, std::string_view capture) {
  const LoadedTrace lender = load_events(capture);
  std::unique_ptr<Trace> trace = read_ok(trace_of(replay));
  lend_capture(*lender.model, trace.get());
  return LoadedTrace(std::move(trace));  // the capture is gone
}

// The op of each row of device work, as kernels --by launch has it.
std::vector<std::string> ops_of(const LoadedTrace& t) {
  std::vector<std::string> ops;
  for (const KernelRow& row : compute_kernels(Scope(*t.model), KernelsBy::launch).rows) ops.emplace_back(row.op);
  return ops;
}

std::vector<std::string> names_of(const std::vector<Launch>& launches) {
  std::vector<std::string> ops;
  for (const Launch& launch : launches) ops.push_back(launch.op);
  return ops;
}

TEST(CaptureLoan, GivesReplaysTheOpsShapesAndLinesOfTheCapture) {
  const LoadedTrace t =
      with_capture(join({replay_of(kernels_of(kModel)), replay_of(kernels_of(kModel), 2, 1000)}), capture_of(kModel));
  std::vector<std::string> twice = names_of(kModel);
  for (const std::string& op : names_of(kModel)) twice.push_back(op);
  EXPECT_EQ(ops_of(t), twice);
  EXPECT_EQ(t.trace->borrowed->matched, 12U);
  EXPECT_EQ(t.trace->borrowed->replayed, 12U);
  const Kernels kernels = compute_kernels(Scope(*t.model));
  for (const KernelRow& row : kernels.rows) EXPECT_EQ(row.op_from, OpSource::capture_file);
  EXPECT_EQ(compute_kernels(Scope(*t.model), KernelsBy::shape).rows[0].key, "aten::mm [[4,4],[4,4]]");
  const RecoveredOp first = t.model->graph_replays().recovered_op(0);
  EXPECT_EQ(t.model->locations().location(first.launch), "model.py:7 (forward)");
  EXPECT_EQ(t.model->graph_replays().graphs[0].from, "the capture");
}

// FLOPs as on the capture: 2 * 4 * 4 * 4 for each product, twice.
TEST(CaptureLoan, CostsAreThoseOfTheCapturedOps) {
  const LoadedTrace t =
      with_capture(join({replay_of(kernels_of(kModel)), replay_of(kernels_of(kModel), 2, 1000)}), capture_of(kModel));
  const Kernels kernels = compute_kernels(Scope(*t.model));
  EXPECT_EQ(kernels.cost.flops.value(), 2 * 3 * 128.0);
  EXPECT_EQ(kernels.cost.flops_known_pct(), 100.0);
  const LoadedTrace alone = load_events(replay_of(kernels_of(kModel)));
  EXPECT_EQ(compute_kernels(Scope(*alone.model)).cost.flops_known_pct(), 0.0) << "of all kernels, those without an op too";
}

TEST(CaptureLoan, MissingAddedAndDamagedRecordsCostThemselves) {
  std::vector<std::string> kernels = kernels_of(kModel);
  kernels.erase(kernels.begin() + 2);
  const LoadedTrace missing = with_capture(replay_of(kernels), capture_of(kModel));
  EXPECT_EQ(ops_of(missing), (std::vector<std::string>{"aten::mm", "aten::add", "aten::relu", "aten::mm", "aten::sum"}));
  EXPECT_EQ(missing.trace->borrowed->matched, 5U);

  kernels = kernels_of(kModel);
  kernels.insert(kernels.begin() + 3, "stray_kernel");
  kernels[0] = "Cijk_dam?ged";
  const LoadedTrace damaged = with_capture(replay_of(kernels), capture_of(kModel));
  EXPECT_EQ(ops_of(damaged),
            (std::vector<std::string>{"[no op]", "aten::add", "aten::mm", "[no op]", "aten::relu", "aten::mm", "aten::sum"}));

  std::vector<Launch> captured = kModel;
  captured.insert(captured.begin() + 1, {"aten::mul", "mul_kernel"});
  captured.erase(captured.begin() + 4);  // relu
  const LoadedTrace other = with_capture(replay_of(kernels_of(kModel)), capture_of(captured));
  EXPECT_EQ(ops_of(other), (std::vector<std::string>{"aten::mm", "aten::add", "aten::mm", "[no op]", "aten::mm", "aten::sum"}));
}

TEST(CaptureLoan, RecordsThatChangedPlaces) {
  std::vector<std::string> kernels = kernels_of(kModel);
  std::swap(kernels[3], kernels[4]);
  const LoadedTrace t = with_capture(replay_of(kernels), capture_of(kModel));
  EXPECT_EQ(ops_of(t), (std::vector<std::string>{"aten::mm", "aten::add", "aten::mm", "aten::mm", "aten::relu", "aten::sum"}));
}

TEST(CaptureLoan, OfSeveralCapturesTheOneThatFitsBest) {
  std::vector<Launch> other = kModel;
  other[1] = {"aten::sub", "sub_kernel"};
  other[3] = {"aten::gelu", "gelu_kernel"};
  const LoadedTrace t = with_capture(
      replay_of(kernels_of(kModel)),
      join({capture_of(other, 0, "capture_8_A"), capture_of(kModel, 1000, "capture_8_B"), capture_of(other, 2000)}));
  EXPECT_EQ(ops_of(t), names_of(kModel));
  EXPECT_EQ(t.trace->borrowed->sources, (std::vector<std::string>{"capture_8_B"}));
  EXPECT_EQ(t.trace->borrowed->captured, 3U);
}

std::vector<Launch> model_of_batch(int batch) {
  std::vector<Launch> model = kModel;
  for (Launch& launch : model) launch.dims = fmt::format("[[{}, 4], [4, 4]]", batch);
  return model;
}

// Captured for three batch sizes with the same kernels: the annotations tell, and where they do not, nothing is guessed.
TEST(CaptureLoan, TheBatchSizeTellsEqualCapturesApart) {
  const std::string captures =
      join({capture_of(model_of_batch(8), 0, "capture_8_FULL"), capture_of(model_of_batch(16), 1000, "capture_16_FULL"),
            capture_of(model_of_batch(32), 2000, "capture_32_FULL")});
  const auto flops = [&](std::string_view around) {
    const LoadedTrace t = with_capture(replay_of(kernels_of(kModel), 1, 0, around), captures);
    return compute_kernels(Scope(*t.model)).cost.flops.value();
  };
  EXPECT_EQ(flops("step[DECODE bs=16]"), 3 * 2 * 16 * 4 * 4.0);
  EXPECT_EQ(flops("step[DECODE bs=30]"), 3 * 2 * 32 * 4 * 4.0) << "padded to the next size";
  EXPECT_EQ(flops("step"), std::nullopt);
  const LoadedTrace unknown = with_capture(replay_of(kernels_of(kModel)), captures);
  EXPECT_EQ(unknown.trace->borrowed->matched, 6U);
  EXPECT_EQ(unknown.trace->borrowed->disputed, 6U);
  EXPECT_EQ(ops_of(unknown), std::vector<std::string>(6, "[no op]"));
}

TEST(CaptureLoan, ACaptureOfAnotherProgramLendsNothing) {
  const std::vector<Launch> other = {{"aten::tanh", "tanh"}, {"aten::exp", "exp"}, {"aten::mm", "Cijk_first"}};
  const LoadedTrace t = with_capture(replay_of(kernels_of(kModel)), capture_of(other));
  EXPECT_EQ(t.trace->borrowed->matched, 0U);
  EXPECT_EQ(t.trace->borrowed->graphs, 1U);
  EXPECT_EQ(t.trace->recorded_events(), t.trace->events.size());
  EXPECT_EQ(ops_of(t), std::vector<std::string>(6, "[no op]"));
  const LoadedTrace none = with_capture(replay_of({}), capture_of(kModel));
  EXPECT_EQ(none.trace->borrowed->graphs, 0U);
}

// A run of the same program without graphs serves as well: its kernels have names on CUDA too.
TEST(CaptureLoan, AnEagerRunServesAsTheCapture) {
  std::vector<std::string> events;
  int at = 0;
  for (const Launch& each : kModel) {
    events.push_back(event({.name = each.op, .ts = at, .dur = 10, .args = fmt::format(R"("Input Dims": {})", each.dims)}));
    events.push_back(launch(at + 1000, at + 2, 2, each.kernel, at + 5, 3));
    at += 20;
  }
  std::vector<std::string> kernels = kernels_of(kModel);
  kernels.erase(kernels.begin() + 1);
  const LoadedTrace t = with_capture(replay_of(kernels), fmt::format("{}", fmt::join(events, ", ")));
  EXPECT_EQ(ops_of(t), (std::vector<std::string>{"aten::mm", "aten::mm", "aten::relu", "aten::mm", "aten::sum"}));
  EXPECT_EQ(t.trace->borrowed->sources.at(0), "eager run");
}

// What the host did, and when, is this trace's own.
TEST(CaptureLoan, NothingBorrowedIsCounted) {
  const std::string replay = join({event({.name = "aten::own", .ts = 0, .dur = 40}), replay_of(kernels_of(kModel))});
  const LoadedTrace with = with_capture(replay, capture_of(kModel)), without = load_events(replay);
  EXPECT_EQ(with.trace->window->start_ns, without.trace->window->start_ns);
  EXPECT_EQ(with.trace->window->end_ns, without.trace->window->end_ns);
  EXPECT_EQ(with.trace->recorded_events(), without.trace->events.size());
  EXPECT_EQ(with.model->tree().recorded, without.model->tree().size());
  std::int64_t calls = 0, cpu_ns = 0, device_ns = 0;
  for (const OpRow& row : compute_ops(Scope(*with.model)).rows) {
    calls += row.count;
    cpu_ns += row.cpu_total_ns;
    device_ns += row.device_self_ns;
  }
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(cpu_ns, 40'000);
  EXPECT_EQ(device_ns, 30'000);
}

// What an op called comes with it, launches or not: the tensors that it made tell its cost.
TEST(CaptureLoan, OpsBelowAnOpComeWithIt) {
  const std::string empty = event({.name = "aten::empty", .ts = 11, .dur = 1, .args = R"("Concrete Inputs": ["[4, 4]"])"});
  const LoadedTrace t = with_capture(replay_of(kernels_of(kModel)), join({capture_of(kModel), empty}));
  const CallTree& tree = t.model->tree();
  const NodeId op = t.model->graph_replays().recovered_op(0).op;
  ASSERT_NE(op, kNoNode);
  const NodeId below{op.value + 1};
  EXPECT_EQ(t.trace->text(t.trace->events.name(tree.event[below.value])), "aten::empty");
  EXPECT_EQ(tree.parent[below.value], op);
  EXPECT_TRUE(find_arg(*t.trace, tree.event[below.value], "Concrete Inputs").has_value());
}

// When it was replayed is the replay's to say.
TEST(CaptureLoan, AnnotationsAreThoseOfTheReplay) {
  const LoadedTrace t =
      with_capture(replay_of(kernels_of(kModel), 1, 0, "step[DECODE bs=4]"), capture_of(kModel, 0, "capture_4"));
  for (const OpRow& row : compute_ops(Scope(*t.model), OpsBy::annotation).rows)
    EXPECT_EQ(row.detail, "step[DECODE bs=4]") << row.op;
  for (const KernelRow& row : compute_kernels(Scope(*t.model), KernelsBy::annotation).rows) {
    EXPECT_EQ(row.key, "step[DECODE bs=4]");
  }
}

// Recorded on MI300X: a replay of 544 kernels and one of 421, and their captures, name by name.
TEST(CaptureLoan, OfPublicServingTraces) {
  struct Pair {
    const char *replay, *capture;
    std::uint64_t kernels;
  };
  for (const Pair& pair : {Pair{"sglang_decode_replay", "sglang_decode_capture", 544},
                           Pair{"amd_vllm_graph_replay", "vllm_decode_capture", 421}}) {
    const auto replay = path_of(pair.replay), capture = path_of(pair.capture);
    if (!replay || !capture) GTEST_SKIP() << "no such traces here";
    const LoadedTrace lender = load_file(*capture);
    LoadedTrace plain = load_file(*replay);
    lend_capture(*lender.model, plain.trace.get());
    const LoadedTrace t(std::move(plain.trace));
    EXPECT_EQ(t.trace->borrowed->matched, pair.kernels);
    EXPECT_EQ(t.trace->borrowed->replayed, pair.kernels);
    EXPECT_EQ(t.trace->borrowed->disputed, 0U);
    const GraphReplays& replays = t.model->graph_replays();
    ASSERT_EQ(replays.graphs.size(), 1U);
    for (const NodeId op : replays.graphs[0].ops) EXPECT_NE(op, kNoNode);
  }
}

}  // namespace
}  // namespace ridge::test
