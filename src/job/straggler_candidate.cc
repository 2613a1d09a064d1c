// Causes and evidence in words.
#include "job/straggler_candidate.h"

#include <cmath>

#include <fmt/format.h>

namespace ridge {
namespace {

std::string duration_text(double ns) {
  if (ns >= 1e9) return fmt::format("{:.2f} s", ns / 1e9);
  if (ns >= 1e6) return fmt::format("{:.2f} ms", ns / 1e6);
  return fmt::format("{:.0f} us", ns / 1e3);
}

StragglerCause cause_of(const StragglerCandidate& candidate) {
  if (candidate.group) return StragglerCause::link;
  if (candidate.time == BlockTime::loader) return StragglerCause::data;
  if (candidate.time == BlockTime::host) return StragglerCause::host;
  constexpr double kMostlyOther = 0.5;
  return candidate.other_work > kMostlyOther ? StragglerCause::imbalance : StragglerCause::device;
}

std::string evidence_of(const StragglerCandidate& candidate, StragglerCause cause) {
  const std::string own = duration_text(candidate.own_ns), peer = duration_text(candidate.peer_ns);
  switch (cause) {
    case StragglerCause::link: {
      return fmt::format("transfers of this group take {:.2f} times as long as in groups like it: {} a step against {}",
                         candidate.ratio, own, peer);
    }
    case StragglerCause::data: return fmt::format("waits {} a step for its data loader, its peers {}", own, peer);
    case StragglerCause::host:
      return fmt::format("its host needs {} a step to issue what its peers issue in {}: launches come late", own, peer);
    case StragglerCause::imbalance: {
      const double more = candidate.peer_kernels > 0 ? static_cast<double>(candidate.own_kernels - candidate.peer_kernels) *
                                                           100 / static_cast<double>(candidate.peer_kernels)
                                                     : 0;
      const std::string what = std::abs(more) >= 0.5 ? fmt::format("{:+.0f} % kernels", more) : std::string("other shapes");
      return fmt::format("does more work than its peers ({}): {} a step on the device against {}", what, own, peer);
    }
    default:
      return fmt::format("the same kernels take {:.2f} times as long as its peers': {} a step on the device against {}",
                         candidate.ratio, own, peer);
  }
}

}  // namespace

std::string_view name_of(StragglerCause cause) {
  switch (cause) {
    case StragglerCause::device: return "device";
    case StragglerCause::host: return "host";
    case StragglerCause::data: return "data";
    case StragglerCause::imbalance: return "imbalance";
    default: return "link";
  }
}

Straggler straggler_of(const StragglerCandidate& candidate, double costs_ns, std::int64_t step_ns) {
  Straggler found;
  found.rank = candidate.rank;
  found.group = candidate.group;
  found.costs_ns = std::llround(costs_ns);
  found.costs_pct = costs_ns / static_cast<double>(step_ns) * 100;
  found.cause = cause_of(candidate);
  found.evidence = evidence_of(candidate, found.cause);
  return found;
}

}  // namespace ridge
