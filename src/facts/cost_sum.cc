// Sums with the time they stand for; what is known of too little of a group is left out (told).
#include "facts/cost_sum.h"

#include <algorithm>
#include <cmath>

#include "base/saturating.h"

namespace ridge {
namespace {

constexpr double kNsPerSecond = 1e9;
constexpr double kLeastKnown = 1;  // percent of a group's time: what is known of less says nothing about the group

void add_known(const std::optional<double>& value, std::int64_t time, KnownSum* sum) {
  if (value) sum->add(*value, time);
}

// From the firmest to the weakest.
constexpr std::array kByStrength = {Estimate::exact, Estimate::shapes, Estimate::source, Estimate::ambiguous};

Estimate weaker(Estimate a, Estimate b) {
  for (auto it = kByStrength.rbegin(); it != kByStrength.rend(); ++it) {
    if (a == *it || b == *it) return *it;
  }
  return Estimate::none;
}

std::optional<double> share(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? std::optional(100.0 * static_cast<double>(part) / static_cast<double>(whole)) : std::nullopt;
}

}  // namespace

void KnownSum::add(const KnownSum& other) {
  sum += other.sum;
  saturating_add(&time_ns, other.time_ns);
  known |= other.known;
}

std::optional<double> KnownSum::per_second() const {
  return known && time_ns > 0 ? std::optional(sum / static_cast<double>(time_ns) * kNsPerSecond) : std::nullopt;
}

std::optional<double> KnownSum::pct_of_time() const {
  return known && time_ns > 0 ? std::optional(100.0 * sum / static_cast<double>(time_ns)) : std::nullopt;
}

bool KnownSum::speaks_for(std::int64_t whole_ns) const {
  if (!known || time_ns >= whole_ns) return known;
  return sum != 0 && 100.0 * static_cast<double>(time_ns) >= kLeastKnown * static_cast<double>(whole_ns);
}

void CostSum::add(const CostModel& costs, std::size_t row, std::int64_t device, std::int64_t time) {
  saturating_add(&time_ns, time);
  const LaunchCost& cost = costs[row];
  add_known(cost.flops, time, &flops);
  add_known(cost.flops_causal, time, &flops_causal);
  add_known(cost.flops_pointwise, time, &flops_pointwise);
  add_known(cost.bytes_read, time, &bytes_read);
  add_known(cost.bytes_written, time, &bytes_written);
  if (cost.bytes_read && cost.bytes_written) bytes.add(*cost.bytes_read + *cost.bytes_written, time);
  if (cost.dtype != DType::unknown) dtypes |= 1U << static_cast<unsigned>(cost.dtype);
  estimate = weaker(estimate, cost.estimate);
  if (costs.device(device) == nullptr) {
    saturating_add(&bound_ns[static_cast<std::size_t>(Bound::unknown)], time);
    return;
  }
  const Roof roof = costs.roof(row);
  const auto ns_at_peak = [&](double percent) { return percent / 100.0 * static_cast<double>(time); };
  if (cost.flops == 0.0) {
    peak_flops_ns.add(0, time);
  } else if (roof.pct_peak_flops && std::isfinite(*roof.pct_peak_flops)) {
    peak_flops_ns.add(ns_at_peak(*roof.pct_peak_flops), time);
  } else if (cost.flops && time > 0 && cost.dtype != DType::unknown) {
    dtypes_without_peak |= 1U << static_cast<unsigned>(cost.dtype);
  }
  if (roof.pct_peak_bandwidth && std::isfinite(*roof.pct_peak_bandwidth))
    peak_bytes_ns.add(ns_at_peak(*roof.pct_peak_bandwidth), time);
  add_known(roof.roof_ns, time, &roof_ns);
  add_known(roof.headroom_ns, time, &headroom_ns);
  saturating_add(&bound_ns[static_cast<std::size_t>(roof.bound)], time);
}

void CostSum::add(const CostSum& other) {
  saturating_add(&time_ns, other.time_ns);
  for (KnownSum CostSum::* const member :
       {&CostSum::flops, &CostSum::flops_causal, &CostSum::flops_pointwise, &CostSum::bytes_read, &CostSum::bytes_written,
        &CostSum::bytes, &CostSum::peak_flops_ns, &CostSum::peak_bytes_ns, &CostSum::roof_ns, &CostSum::headroom_ns}) {
    (this->*member).add(other.*member);
  }
  for (std::size_t i = 0; i < bound_ns.size(); ++i) saturating_add(&bound_ns[i], other.bound_ns[i]);
  dtypes |= other.dtypes;
  dtypes_without_peak |= other.dtypes_without_peak;
  estimate = weaker(estimate, other.estimate);
}

// flops_causal and flops_pointwise are parts by nature: of attention, of fused kernels.
CostSum CostSum::told() const {
  CostSum out = *this;
  for (KnownSum CostSum::* const member :
       {&CostSum::flops, &CostSum::bytes_read, &CostSum::bytes_written, &CostSum::bytes, &CostSum::peak_flops_ns,
        &CostSum::peak_bytes_ns, &CostSum::roof_ns, &CostSum::headroom_ns}) {
    (out.*member).known = (out.*member).speaks_for(time_ns);
  }
  return out;
}

Bound CostSum::bound() const {
  const auto most = std::max_element(bound_ns.begin() + 1, bound_ns.end());
  return *most > 0 ? static_cast<Bound>(most - bound_ns.begin()) : Bound::unknown;
}

std::string CostSum::dtype_text() const {
  std::string text;
  for (std::size_t i = 0; i < kDTypes; ++i) {
    if ((dtypes >> i & 1U) != 0) text += (text.empty() ? "" : ", ") + std::string(name_of(static_cast<DType>(i)));
  }
  return text;
}

std::optional<double> CostSum::flops_known_pct() const { return share(flops.time_ns, time_ns); }
std::optional<double> CostSum::bytes_known_pct() const { return share(bytes.time_ns, time_ns); }

}  // namespace ridge
