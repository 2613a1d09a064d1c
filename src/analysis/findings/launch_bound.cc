// launch_bound: what is left of the time in which the device waited for launches, once every more specific cause has claimed
// its part. Whether the host is too slow for the device is `launches`' to say. What the host lost to being recorded is idle
// time of another cause; where the user measured the step, that measures how much of it there is.
#include <algorithm>
#include <iterator>
#include <utility>

#include "analysis/findings/catalog.h"
#include "analysis/findings/least_time.h"
#include "analysis/graphs/compiled_share.h"
#include "analysis/launches/launches.h"
#include "base/saturating.h"
#include "base/units.h"
#include "facts/capture_sizes.h"
#include "facts/program_kind.h"

#include <fmt/format.h>

namespace ridge {
namespace {

// Below a tenth of the span late launches are not what bounds a program (the same as in `launches`).
constexpr std::int64_t kStarvedPart = 10;
constexpr double kMostlyCompiledPct =
    50;  // of the device time: below that it is not the compiled graphs that are launched late

// Idle time that is held to be the recorder's, on the device with most of it.
std::int64_t recorder_idle_ns(const Facts& facts) {
  std::int64_t most = 0;
  for (const DeviceLedger& device : facts.ledger().devices()) {
    std::int64_t sum = 0;
    for (const IdleSlot& slot : device.idle) {
      const bool late = slot.piece.cause == IdleCause::recorder && slot.next_work != kNoWork;
      if (late && !facts.by_graph_launch(slot.next_work)) saturating_add(&sum, slot.open_ns);
    }
    most = std::max(most, sum);
  }
  return most;
}

// Takes what late launches cost; returns how many kernels were late. `all`: what is held to be the recorder's too.
std::int64_t take_late_launches(Facts& facts, bool all, Claim* claim, HostTally* tally) {
  std::int64_t late = 0;
  for (std::size_t d = 0; d < facts.ledger().devices().size(); ++d) {
    const std::vector<IdleSlot>& slots = facts.ledger().devices()[d].idle;
    std::uint32_t last = kNoWork;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const IdleSlot& slot = slots[i];
      const bool is_host = slot.piece.cause == IdleCause::launch || (all && slot.piece.cause == IdleCause::recorder);
      if (!is_host || slot.next_work == kNoWork) continue;
      if (facts.by_graph_launch(slot.next_work)) continue;  // launched at once already
      const std::int64_t got = claim->take_idle(d, i);
      if (got <= 0) continue;
      tally->add(facts.launch(slot.next_work), got);
      late += slot.next_work != last ? 1 : 0;  // a wait may be in several pieces
      last = slot.next_work;
    }
  }
  return late;
}

// What would make launches cheaper. CUDA graphs only where most of the waiting is for kernels of which a graph would hold
// several.
struct LaunchRemedy {
  bool compiled = false;      // most of the device time
  bool takes_graphs = false;  // the device's API
  bool several = false;
  double kernels = 0;  // of an iteration
  ProgramKind program = ProgramKind::unknown;
  Server server = Server::none;

  bool by_graphs() const { return takes_graphs && several; }
  std::string text() const {
    const std::string larger = "give each kernel more work, e.g. a larger batch";
    if (by_graphs()) {
      if (server != Server::none) return of_server();
      if (compiled) return "use CUDA graphs: torch.compile(mode=\"reduce-overhead\")";
      return fmt::format(
          "use CUDA graphs: capture the step as it is ({}), or torch.compile(mode=\"reduce-overhead\"), which fuses its "
          "kernels besides; or {}",
          program == ProgramKind::infers ? "torch.cuda.graph" : "torch.cuda.make_graphed_callables", larger);
    }
    if (kernels <= 1)
      return larger + ": a step of one kernel takes as long as its launch" +
             (takes_graphs ? ", and CUDA graphs do not help" : "");
    if (!compiled) return "launch fewer kernels: torch.compile fuses them, or " + larger;
    if (!takes_graphs) return larger;
    return fmt::format(
        "compile more of the program at once, or {}; mode=\"reduce-overhead\" does not help: its CUDA graphs would hold so few "
        "kernels that they cost more to replay than these to launch{}",
        larger,
        kernels >= static_cast<double>(kSeveralKernels) ? " (one graph of the whole step: whatif --do cuda-graphs)" : "");
  }
  // Of what the launches cost: the last one stays, but with a graph, which is one of its own price.
  double goes() const { return by_graphs() || kernels <= 0 ? 1 : std::max(0.0, 1 - 1 / kernels); }
  // The server captures by itself, unless it was told not to or the batch is none of its sizes.
  std::string of_server() const {
    if (server == Server::vllm)
      return "let vLLM use CUDA graphs: start it without --enforce-eager, and with cudagraph_capture_sizes (in "
             "--compilation-config) that hold this batch";
    return "let SGLang use CUDA graphs: start it without --disable-cuda-graph, and with a --cuda-graph-max-bs that holds this "
           "batch";
  }
};

double kernels_of_an_iteration(const Facts& facts) {
  std::size_t most = 0;
  for (const DeviceLedger& device : facts.ledger().devices()) most = std::max(most, device.work.size());
  return static_cast<double>(most) / static_cast<double>(facts.ledger().iterations());
}

bool mostly_several(Facts& facts) {
  const CaptureSizes sizes(facts.scope());
  std::int64_t several_ns = 0, whole_ns = 0;
  for (const DeviceLedger& device : facts.ledger().devices()) {
    for (const IdleSlot& slot : device.idle) {
      if (!is_late(slot.piece.cause) || slot.next_work == kNoWork || facts.by_graph_launch(slot.next_work)) continue;
      saturating_add(&whole_ns, slot.piece.length());
      if (sizes.worthwhile(slot.next_work)) saturating_add(&several_ns, slot.piece.length());
    }
  }
  return several_ns * 2 >= whole_ns;
}

}  // namespace

std::optional<Finding> find_launch_bound(Facts& facts) {
  Claim claim(facts.ledger());
  HostTally tally(facts);
  // Of what is held to be the recorder's, the part that is the host's own; below 0 there is more of the recorder's.
  const double own = 1 - facts.recorder_times();
  const double shifted = own * static_cast<double>(recorder_idle_ns(facts));
  const bool measured_slow = own > 0.5;
  const std::int64_t launches = take_late_launches(facts, measured_slow, &claim, &tally);
  const double late_ns = measured_slow ? static_cast<double>(claim.ns()) : static_cast<double>(claim.ns()) + shifted;
  if (late_ns < static_cast<double>(facts.ledger().span_ns()) / static_cast<double>(kStarvedPart)) return std::nullopt;
  const std::vector<DeviceLaunches>& devices = facts.launch_rates();
  const auto any = [&](auto wanted) { return std::any_of(devices.begin(), devices.end(), wanted); };
  if (!measured_slow && !any([](const DeviceLaunches& d) { return !host_keeps_up(d).value_or(false); })) return std::nullopt;
  const bool first_of_all = any([](const DeviceLaunches& d) { return d.launch_bound.value_or(false); });
  for_each_open_idle(facts.ledger(), [&](std::size_t d, std::size_t i, const IdleSlot& slot) {
    // At most: what the recorder is thought to have cost may be the host's own.
    const bool late = slot.piece.cause == IdleCause::recorder && slot.next_work != kNoWork;
    const bool pause = slot.piece.cause == IdleCause::kernel_gap && !slot.in_graph && slot.next_work != kNoWork;
    if ((late || pause) && !facts.by_graph_launch(slot.next_work)) claim.take_idle(d, i);
  });
  if (!claim.keep()) return std::nullopt;
  const bool compiled = facts.graphs().compiled() && compiled_pct(facts.graphs()).value_or(100) >= kMostlyCompiledPct;
  const LaunchRemedy remedy{.compiled = compiled,
                            .takes_graphs = any([](const DeviceLaunches& d) { return d.takes_graphs; }),
                            .several = mostly_several(facts),
                            .kernels = kernels_of_an_iteration(facts),
                            .program = facts.program(),
                            .server = server_of(facts.trace())};
  if (!compiled && !remedy.by_graphs()) reach_compiled(facts, {}, &claim);  // fewer kernels do the same with less traffic
  return Finding{.finding = (first_of_all ? "launch-bound" : "late launches") +
                            std::string(": the device waits for the host before ") + per_iteration(facts, launches, "kernel"),
                 .at_most_ns = claim.ns(),
                 .confidence = first_of_all ? Confidence::high : Confidence::medium,
                 .evidence = tally.text(),
                 .action = remedy.text(),
                 .event = tally.event(),
                 .changes = remedy.by_graphs() ? std::vector<std::string>{"cuda-graphs"} : std::vector<std::string>(),
                 .comes_true = remedy.goes()};
}

}  // namespace ridge
