// Traffic of a chain, between what it must move and what its kernels move now.
#include "analysis/findings/fused_time.h"

#include <algorithm>
#include <cmath>

#include "ops/operands.h"
#include "predict/strided_views.h"

namespace ridge {
namespace {

constexpr std::string_view kByStrides = "::elementwise_kernel<";
constexpr double kWidened = 1.5;  // a grid over that many times the elements of any input: spread over each other
// One kernel is left of a chain. It takes what the longest takes now, and reads inputs of the others besides.
constexpr double kMoreThanLongest = 0.12;
// Of the bandwidth, by Inductor's pointwise kernels on an H200: 0.54 to 0.92; where rows are scanned on the way 0.43, where all
// is summed to a number 0.22 (two rounds, several sums at once).
constexpr double kReached = 0.7, kReachedByScan = 0.45, kReachedToNumber = 0.22;
// Of a copy into another order: what a generated kernel takes that turns it on the way (70 us of 107 with a norm in it).
constexpr double kOfTurning = 0.65;
constexpr double kReachedEager = 0.88;  // by ATen's kernels over whole tensors
// Where nothing large is read or written: all pairs of points, summed up. Elements that a kernel goes through, of each
// operation of the chain (stars that draw each other: 4 thousand squared, 18 operations, 0.22 ms).
constexpr double kElementsPerNs = 2'500, kMostSmall = 8;
// In double precision that is longer than the traffic takes (orbits: 110 operations, 20 sines among them, 3 million pieces,
// 0.38 ms).
constexpr double kDoublesPerNs = 800;
// Kernels of a chain. Two operations widen nothing; up to `kLong`, as a gelu written out, they read one tensor or two.
constexpr std::size_t kShort = 3, kLong = 16;
constexpr double kNumberOf = 100'000;    // read for what is written: all is summed
constexpr double kNotMadeBefore = 0.25;  // of a chain's traffic, where sizes are not told: what no kernel of it made

std::int64_t with_more(double ns) { return static_cast<std::int64_t>((1 + kMoreThanLongest) * ns); }

}  // namespace

double FusedTime::elements(std::uint32_t row) {
  const double recorded = facts_.elements(row);
  const auto size = sizes_.of(row);
  if (recorded == 0) return size ? size->elements : 0;
  const bool widened = size && size->elements > kWidened * recorded;
  return widened ? std::max(recorded, numel(broadcast(facts_.call(facts_.op(row)), -1))) : recorded;
}

// One kernel that moves what the largest of them does, or more: what none of them made. Of long chains that lies between the
// largest and all that is read less all that was written, since a tensor may be read several times: on nine recorded chains of
// 37 to 273 kernels a third of the way, as factors.
std::int64_t FusedTime::ns(const std::vector<WorkSlot>& slots, std::span<const std::size_t> chain, std::int64_t longest_ns,
                           std::int64_t device) {
  const auto longest = static_cast<double>(longest_ns), shortest = static_cast<double>(kShortestKernelNs);
  if (chain.size() < kShort) {
    double most = 0;
    for (const std::size_t i : chain) most = std::max(most, generated_ns(slots[i], device));
    return with_more(std::min(longest, most));
  }
  const Traffic traffic = traffic_of(slots, chain, device);
  if (traffic.inside) return with_more(std::max({shortest, traffic.arithmetic_ns, traffic.doubles_ns}));
  double one = traffic.longest_ns;
  if (auto largest = by_largest(slots, chain, device)) {
    // Where each reads what the one before made, a fused kernel moves less than the largest: casts to a wider type and back.
    if (traffic.not_made_ns < traffic.largest_ns) {
      const double moved = std::min(traffic.largest_ns, traffic.least_ns);
      *largest = std::min(*largest, std::sqrt(moved * std::max(0.0, traffic.not_made_ns)) / traffic.reached);
    }
    one = std::clamp(*largest, shortest, std::max(shortest, longest));
  }
  one = std::max(one, traffic.doubles_ns);
  if (chain.size() < kLong || traffic.largest_ns >= traffic.not_made_ns) return with_more(one);
  return with_more(std::max(one, std::cbrt(traffic.largest_ns * traffic.largest_ns * traffic.not_made_ns) / traffic.reached));
}

std::optional<double> FusedTime::by_largest(const std::vector<WorkSlot>& slots, std::span<const std::size_t> chain,
                                            std::int64_t device) {
  double most = 0;
  for (const std::size_t i : chain) {
    const auto roof = roof_ns(slots[i], device);
    if (!roof && !along_rows(link_of(facts_, slots[i]))) return std::nullopt;
    if (!roof) continue;
    // What turns a tensor around, or widens it, walks it so in a fused kernel too.
    const double around = turns(slots[i]) ? kOfTurning * static_cast<double>(slots[i].open_ns) : 0;
    most = std::max({most, around, *roof / kReached});
  }
  return most;
}

FusedTime::Traffic FusedTime::traffic_of(const std::vector<WorkSlot>& slots, std::span<const std::size_t> chain,
                                         std::int64_t device) {
  const double rate = bytes_a_ns(device);
  Traffic out{.known = rate > 0, .reached = kReached};
  double read = 0, written = 0, last = 0, time = 0;
  double whole = 0;  // bytes of the largest that is made
  for (const std::size_t i : chain) {
    const auto its = moved(slots[i], device);
    whole = std::max(whole, its ? its->second : 0);
    const bool doubles = facts_.kernel(slots[i].work.row).find("<double") != std::string_view::npos;
    out.arithmetic_ns += elements(slots[i].work.row) / kElementsPerNs;
    if (doubles) out.doubles_ns += elements(slots[i].work.row) / kDoublesPerNs;
  }
  double made = 0, given = 0;  // tensors of that size: by the chain, and those that come from before
  for (const std::size_t i : chain) {
    const Link link = link_of(facts_, slots[i]);
    const auto its = moved(slots[i], device);
    const double its_read = its ? its->first : 0, its_written = its ? its->second : 0;
    out.known = out.known && (its || along_rows(link));
    if (link == Link::scans) out.reached = std::min(out.reached, kReachedByScan);
    if (link == Link::reduces && sums_all(slots[i].work.row)) out.reached = kReachedToNumber;
    if (whole > 0) given += std::max(0.0, std::round(its_read / whole) - made - given);
    if (whole > 0) made += std::round(its_written / whole);
    read += its_read;
    written += last = its_written;
    if (rate > 0) out.largest_ns = std::max(out.largest_ns, (its_read + its_written) / rate);
    if (link == Link::scans) continue;  // one of ATen's is far slower than its traffic
    time += static_cast<double>(slots[i].owned_ns);
    out.longest_ns = std::max(out.longest_ns, static_cast<double>(slots[i].owned_ns));
  }
  out.inside = out.known && whole > 0 && given == 0 && last * kMostSmall <= whole;
  if (out.known) {
    out.not_made_ns = (read - written + 2 * last) / rate;
    out.least_ns = (given * whole + last) / rate;
  } else {
    out.largest_ns = out.longest_ns * kReachedEager;
    out.not_made_ns = kNotMadeBefore * time * kReachedEager;
  }
  return out;
}

std::optional<std::pair<double, double>> FusedTime::moved(const WorkSlot& slot, std::int64_t device) const {
  const LaunchCost& cost = facts_.scope().costs()[slot.work.row];
  if (cost.bytes_read && cost.bytes_written) return std::pair(*cost.bytes_read, *cost.bytes_written);
  const auto size = sizes_.of(slot.work.row);
  if (!size) return std::nullopt;
  // A grid does not tell that an operand is smaller and spread over the others; the time does, in which no more can be moved.
  const double rate = bytes_a_ns(device), time = static_cast<double>(slot.work.end_ns - slot.work.start_ns);
  const double most = rate > 0 ? std::max(0.0, kReachedEager * rate * time - size->bytes_written) : size->bytes_read;
  return std::pair(std::min(size->bytes_read, most), size->bytes_written);
}

std::optional<double> FusedTime::roof_ns(const WorkSlot& slot, std::int64_t device) const {
  if (const auto roof = facts_.scope().costs().roof(slot.work.row).roof_ns) return static_cast<double>(*roof);
  const double rate = bytes_a_ns(device);
  const auto its = moved(slot, device);
  return its && rate > 0 ? std::optional((its->first + its->second) / rate) : std::nullopt;
}

double FusedTime::bytes_a_ns(std::int64_t device) const {
  const DeviceSpec* spec = facts_.scope().costs().device(device);
  return spec != nullptr && spec->bandwidth.known() ? spec->bandwidth.high / 1e9 : 0;
}

// By itself. ATen's arithmetic that walks tensors by strides takes longer for that; where shapes are recorded that is told
// apart.
double FusedTime::generated_ns(const WorkSlot& slot, std::int64_t device) {
  const auto as_it_runs = static_cast<double>(slot.open_ns);
  const auto roof = roof_ns(slot, device);
  const bool strided = facts_.kernel(slot.work.row).find(kByStrides) != std::string_view::npos;
  if (!strided || !roof || facts_.elements(slot.work.row) > 0) return as_it_runs;
  return std::min(as_it_runs, std::max(*roof / kReached, kOfTurning * as_it_runs));
}

// A copy into another order; not one into another type alone, where sizes tell that.
bool FusedTime::turns(const WorkSlot& slot) {
  if (slot.work.sort != WorkSort::compute || link_of(facts_, slot) != Link::copies) return false;
  if (const ExpectedCall* ran = facts_.ran(slot.work.row)) return lies_across(ran->call->call);
  return !sizes_.of(slot.work.row) || facts_.kernel(slot.work.row).find(kByStrides) != std::string_view::npos;
}

// Few numbers come of it: by its traffic, or where sizes are not told by a grid in which many blocks share an output.
bool FusedTime::sums_all(std::uint32_t row) const {
  constexpr std::int64_t kFewOutputs = 8;
  const LaunchCost& cost = facts_.scope().costs()[row];
  if (cost.bytes_read && cost.bytes_written) return *cost.bytes_read > kNumberOf * std::max(1.0, *cost.bytes_written);
  const auto grid = sizes_.grid(row);
  return grid && grid->y > 1 && grid->x <= kFewOutputs;
}

}  // namespace ridge
