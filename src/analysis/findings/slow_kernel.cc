// slow_kernel: op calls and generated kernels that take far longer than such work takes on this device: beyond the interval in
// which measured calls of their kind, size and type lie, by half as much again. Their time above what is expected is claimed.
//
// Only on a device that was measured, or with the user's own points: figures that are scaled by peaks prove nothing.
#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "analysis/findings/catalog.h"
#include "analysis/findings/least_time.h"
#include "predict/expected_times.h"

namespace ridge {
namespace {

constexpr double kFarBeyond = 1.5;  // times the upper end of the interval
// Of kernels that a compiler wrote the table knows sizes and not what they compute: a long chain of arithmetic, random numbers,
// indices. Twice to three times what others take is as fast as such a kernel is.
constexpr double kGeneratedBeyond = 3;
constexpr double kLeastSlowCallNs = 20'000;  // below, launch and ramp decide

// A generated kernel that adds into rows by index: how often they repeat decides, and no size tells that.
bool adds_by_index(std::string_view kernel) {
  return kernel.find("index_put") != kernel.npos || kernel.find("index_add") != kernel.npos ||
         kernel.find("scatter") != kernel.npos;
}

// A window is gone over for each element of the result: how large it is, the kernel's name does not tell.
bool goes_over_windows(std::string_view kernel) {
  constexpr std::string_view kWindows[] = {"pool", "grid_sampler", "upsample", "im2col", "col2im"};
  return std::ranges::any_of(kWindows, [&](std::string_view part) { return kernel.find(part) != kernel.npos; });
}

// In double precision it computes for longer than it moves: sines of doubles take a hundred operations each.
bool computes_doubles(const Facts& facts, std::uint32_t row) { return facts.scope().costs()[row].dtype == DType::f64; }

bool is_slow(const ExpectedCall& call) {
  if (!call.expected || call.count == 0) return false;
  const double mean = call.time_ns / static_cast<double>(call.count);
  return mean >= kLeastSlowCallNs && mean > (call.kernel != nullptr ? kGeneratedBeyond : kFarBeyond) * call.expected->high_ns;
}

}  // namespace

std::optional<Finding> find_slow_kernel(Facts& facts) {
  const ExpectedTimes& times = facts.expected();
  std::vector<bool> slow;
  slow.reserve(times.calls().size());
  for (const ExpectedCall& call : times.calls()) {
    slow.push_back(facts.would_take().is_measured(call.device) && is_slow(call));
  }
  Claim claim(facts.ledger());
  Tally tally;
  for_each_open_work(facts.ledger(), [&](std::size_t d, std::size_t i, const WorkSlot& slot) {
    const std::uint32_t row = slot.work.row;
    const ExpectedCall* call = times.call(row);
    if (call == nullptr || !slow[static_cast<std::size_t>(call - times.calls().data())]) return;
    const std::string_view kernel = facts.kernel(row);
    if (call->kernel != nullptr && (adds_by_index(kernel) || goes_over_windows(kernel) || computes_doubles(facts, row))) return;
    const double duration = static_cast<double>(slot.work.end_ns - slot.work.start_ns);
    const double beyond = duration - times.ns(row).value_or(duration);
    if (beyond <= 0) return;
    const auto headroom = static_cast<std::int64_t>(facts.scope().costs().roof(row).headroom_ns.value_or(beyond));
    const auto saved = static_cast<std::int64_t>(beyond);
    const std::int64_t got = claim.take_work(d, i, std::max(headroom, saved), saved);
    claim.reach_work(d, i, most_gain_ns(facts, slot, facts.ledger().devices()[d].device) - got, 0);
    tally.add(facts.kernel_id(row), sort_of_device(facts, facts.ledger().devices()[d].device), row, got);
  });
  if (!claim.keep()) return std::nullopt;
  return Finding{.finding = "kernels take far longer than such work takes on this device",
                 .at_most_ns = claim.ns(),
                 .confidence = Confidence::medium,
                 .evidence = evidence_of(facts, tally,
                                         [&](std::uint32_t row) {
                                           const ExpectedCall& call = *times.call(row);
                                           const double mean = call.time_ns / static_cast<double>(call.count);
                                           return fmt::format("{} takes {:.1f} times what such a call takes ({})",
                                                              facts.identity(row).label, mean / call.expected->ns,
                                                              call.expected->basis);
                                         }),
                 .action =
                     "run the op alone with these shapes: if it is as slow there, change its shapes, layout or dtype, or the "
                     "library that does it; if it is not, look for what shares the device with it",
                 .event = facts.event_of_work(tally.largest())};
}

}  // namespace ridge
