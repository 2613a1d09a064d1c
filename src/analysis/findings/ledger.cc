// How busy time is shared out among overlapping work, and how claims take from it and give back.
#include "analysis/findings/ledger.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "base/let_go.h"
#include "base/saturating.h"

namespace ridge {
namespace {

constexpr std::int64_t kLeastPart = 100;
constexpr std::int64_t kLeastWorkPart = 50;
constexpr std::int64_t kLeastPerIterationNs = 500;  // an iteration: a fraction of a single launch

// Which sorts of work win the time of others, first to last.
constexpr unsigned kRanks[] = {1U << static_cast<unsigned>(WorkSort::compute), 1U << static_cast<unsigned>(WorkSort::comm),
                               1U << static_cast<unsigned>(WorkSort::copy) | 1U << static_cast<unsigned>(WorkSort::set)};

// Time of [from, to) that `taken` does not hold. `at` walks along with ascending questions.
std::int64_t free_ns(std::span<const Interval> taken, std::size_t* at, std::int64_t from, std::int64_t to) {
  while (*at < taken.size() && taken[*at].end_ns <= from) ++*at;
  std::int64_t left = to - from;
  for (std::size_t i = *at; i < taken.size() && taken[i].start_ns < to; ++i) {
    left -= std::min(to, taken[i].end_ns) - std::max(from, taken[i].start_ns);
  }
  return left;
}

// `outside`: time that is nobody's.
void share_busy_time(const IntervalSet& outside, std::vector<WorkSlot>* slots) {
  IntervalSet taken = outside;
  for (const unsigned rank : kRanks) {
    std::vector<Interval> mine;
    std::size_t at = 0;
    std::int64_t covered_ns = INT64_MIN;  // by work of this rank that started earlier
    for (WorkSlot& slot : *slots) {
      if ((bit_of(slot.work.sort) & rank) == 0) continue;
      const std::int64_t from = std::max(slot.work.start_ns, covered_ns);
      mine.push_back({slot.work.start_ns, slot.work.end_ns});
      if (slot.work.end_ns <= from) continue;
      slot.owned_ns = slot.open_ns = free_ns(taken.intervals(), &at, from, slot.work.end_ns);
      covered_ns = slot.work.end_ns;
    }
    taken = unite(taken, IntervalSet(std::move(mine)));
  }
}

// The pieces of a gap that lie in the spans, cut to them. `at` walks along with ascending pieces.
void add_pieces(const IdleSlot& like, std::span<const IdlePiece> pieces, std::span<const Interval> spans, std::size_t* at,
                std::vector<IdleSlot>* slots) {
  for (const IdlePiece& piece : pieces) {
    while (*at < spans.size() && spans[*at].end_ns <= piece.start_ns) ++*at;
    for (std::size_t s = *at; s < spans.size() && spans[s].start_ns < piece.end_ns; ++s) {
      IdleSlot& slot = slots->emplace_back(like);
      slot.piece = piece;
      slot.piece.start_ns = std::max(piece.start_ns, spans[s].start_ns);
      slot.piece.end_ns = std::min(piece.end_ns, spans[s].end_ns);
      slot.open_ns = slot.piece.length();
    }
  }
}

DeviceLedger open_ledger(const Scope& scope, const IterationTime& time, const Device& device, const DeviceIdle& idle) {
  DeviceLedger ledger;
  ledger.device = device.id;
  ledger.work.reserve(device.work.size());
  ledger.idle.reserve(idle.pieces.size());
  for (const WorkRow& work : device.work) {  // what was queued before the recording is no iteration's
    if (scope.holds_work(work.row) && !scope.model().links().is_inherited(work.row)) ledger.work.push_back({work, 0, 0});
  }
  const IntervalSet always({{INT64_MIN, INT64_MAX}});
  share_busy_time(subtract(always, time.spans), &ledger.work);
  for (const WorkSlot& slot : ledger.work) saturating_add(&ledger.busy_ns, slot.owned_ns);
  const LaunchLinks& links = scope.model().links();
  std::size_t at = 0;
  for (const IdleGap& gap : idle.gaps) {
    const bool edge = gap.last_work == kNoWork || gap.next_work == kNoWork;
    const bool in_graph =
        !edge && links.launch[gap.next_work] != kNoNode && links.launch[gap.next_work] == links.launch[gap.last_work];
    add_pieces({{}, gap.last_work, gap.next_work, in_graph, 0}, idle.pieces_of(gap), time.spans.intervals(), &at, &ledger.idle);
  }
  return ledger;
}

// Neighbours of one device mostly share their process: the first launch that is known tells.
std::optional<TrackPart> program_of(const Scope& scope, const DeviceLedger& device) {
  const Trace& trace = scope.trace();
  for (const WorkSlot& slot : device.work) {
    const NodeId launch = scope.model().links().launch[slot.work.row];
    if (launch != kNoNode) return trace.forms.track(trace.track(scope.model().tree().event[launch.value])).pid;
  }
  return std::nullopt;
}

}  // namespace

Ledger::Ledger(const Scope& scope) : time_(iteration_time(scope)) {
  const std::vector<Device>& devices = scope.model().timeline().devices;
  const auto idle = scope.idle();
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (scope.has_device(devices[i].id)) devices_.push_back(open_ledger(scope, time_, devices[i], (*idle)[i]));
  }
  std::set<TrackPart> programs;
  for (const DeviceLedger& device : devices_) {
    if (const auto program = program_of(scope, device)) programs.insert(*program);
  }
  programs_ = std::max<std::int64_t>(1, static_cast<std::int64_t>(programs.size()));
}

std::int64_t Ledger::least_ns() const { return std::max(span_ns() / kLeastPart, iterations() * kLeastPerIterationNs); }

std::int64_t Ledger::least_work_ns() const {
  std::int64_t busiest = 0;
  for (const DeviceLedger& device : devices_) busiest = std::max(busiest, device.busy_ns);
  return std::max(busiest / kLeastWorkPart, iterations() * kLeastPerIterationNs);
}

void Ledger::close() {
  for (DeviceLedger& device : devices_) {
    let_go(device.idle);
    let_go(device.work);
  }
}

void Claim::note(const ClaimPart& part) {
  sums_[part.device] += part.ns;
  saved_[part.device] += part.saved_ns;
  if (!part.idle) saved_work_[part.device] += part.saved_ns;
  parts_.push_back(part);
}

namespace {

// A number for each slot of a ledger.
std::uint64_t key_of(const ClaimPart& part) {
  return (static_cast<std::uint64_t>(part.device) << 33) | (static_cast<std::uint64_t>(part.slot) << 1) | (part.idle ? 1U : 0U);
}

ClaimPart part_of(std::size_t device, bool idle, std::size_t slot, std::int64_t most_ns, std::int64_t saved_ns) {
  return {static_cast<std::uint32_t>(device), static_cast<std::uint32_t>(slot), most_ns, saved_ns, idle};
}

}  // namespace

// What was reached of a slot before it was taken counts as taken.
std::int64_t Claim::take(ClaimPart part, std::int64_t* open_ns) {
  const auto reached = reached_.find(key_of(part));
  const std::int64_t left = *open_ns - (reached == reached_.end() ? 0 : reached->second);
  part.ns = std::clamp<std::int64_t>(part.ns, 0, std::max<std::int64_t>(0, left));
  if (part.ns == 0) return 0;
  part.saved_ns = std::clamp<std::int64_t>(part.saved_ns, 0, part.ns);
  *open_ns -= part.ns;
  note(part);
  return part.ns;
}

std::int64_t Claim::reach(ClaimPart part, std::int64_t open_ns) {
  std::int64_t& before = reached_[key_of(part)];
  part.ns = std::clamp<std::int64_t>(part.ns, 0, std::max<std::int64_t>(0, open_ns - before));
  if (part.ns == 0) return 0;
  part.saved_ns = std::clamp<std::int64_t>(part.saved_ns, 0, part.ns);
  part.reached = true;
  before += part.ns;
  note(part);
  return part.ns;
}

std::int64_t Claim::take_idle(std::size_t device, std::size_t slot, std::int64_t most_ns) {
  IdleSlot& its = ledger_.devices()[device].idle[slot];
  return ledger_.allows(its.piece.cause) ? take(part_of(device, true, slot, most_ns, most_ns), &its.open_ns) : 0;
}

std::int64_t Claim::take_work(std::size_t device, std::size_t slot, std::int64_t most_ns, std::int64_t saved_ns) {
  if (!ledger_.allows_work()) return 0;
  return take(part_of(device, false, slot, most_ns, saved_ns), &ledger_.devices()[device].work[slot].open_ns);
}

std::int64_t Claim::reach_idle(std::size_t device, std::size_t slot, std::int64_t most_ns) {
  const IdleSlot& its = ledger_.devices()[device].idle[slot];
  return ledger_.reaches(its.piece.cause) ? reach(part_of(device, true, slot, most_ns, most_ns), its.open_ns) : 0;
}

std::int64_t Claim::reach_work(std::size_t device, std::size_t slot, std::int64_t most_ns, std::int64_t saved_ns) {
  if (!ledger_.allows_work()) return 0;
  return reach(part_of(device, false, slot, most_ns, saved_ns), ledger_.devices()[device].work[slot].open_ns);
}

std::int64_t Claim::reach_taken_work(std::size_t device, std::size_t slot, std::int64_t most_ns) {
  return reach(part_of(device, false, slot, most_ns, 0), ledger_.devices()[device].work[slot].owned_ns);
}

std::int64_t Claim::take_idle_within(std::size_t device, Interval time) {
  const std::vector<IdleSlot>& slots = ledger_.devices()[device].idle;
  auto slot =
      std::partition_point(slots.begin(), slots.end(), [&](const IdleSlot& s) { return s.piece.end_ns <= time.start_ns; });
  std::int64_t got = 0;
  for (; slot != slots.end() && slot->piece.start_ns < time.end_ns; ++slot) {
    const std::int64_t shared = std::min(slot->piece.end_ns, time.end_ns) - std::max(slot->piece.start_ns, time.start_ns);
    got += take_idle(device, static_cast<std::size_t>(slot - slots.begin()), shared);
  }
  return got;
}

namespace {

std::int64_t most_of(const std::vector<std::int64_t>& sums) {
  return sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end());
}

}  // namespace

std::int64_t Claim::ns() const { return most_of(sums_); }

// Work that goes takes with it the pause before it, or the wait for its launch.
void Claim::reach_before_gone_work() {
  constexpr double kGone = 0.9;
  std::vector<std::unordered_set<std::uint32_t>> gone(sums_.size());
  for (const ClaimPart& part : parts_) {
    if (part.idle) continue;
    const WorkRow& work = ledger_.devices()[part.device].work[part.slot].work;
    if (static_cast<double>(part.saved_ns) >= kGone * static_cast<double>(work.end_ns - work.start_ns))
      gone[part.device].insert(work.row);
  }
  for (std::size_t d = 0; d < gone.size(); ++d) {
    const std::vector<IdleSlot>& slots = ledger_.devices()[d].idle;
    for (std::size_t i = 0; i < slots.size() && !gone[d].empty(); ++i) {
      if (gone[d].contains(slots[i].next_work)) reach_idle(d, i);
    }
  }
}

bool Claim::keep() {
  const std::int64_t saved = most_of(saved_), work = most_of(saved_work_);
  const bool keeps = saved > 0 && (saved >= ledger_.least_ns() || work >= ledger_.least_work_ns());
  if (keeps && !kept_) reach_before_gone_work();
  kept_ = kept_ || keeps;
  return kept_;
}

void Claim::give_back() {
  for (const ClaimPart& part : parts_) {
    DeviceLedger& device = ledger_.devices()[part.device];
    if (!part.reached) (part.idle ? device.idle[part.slot].open_ns : device.work[part.slot].open_ns) += part.ns;
    sums_[part.device] -= part.ns;
    saved_[part.device] -= part.saved_ns;
    if (!part.idle) saved_work_[part.device] -= part.saved_ns;
  }
  parts_.clear();
  reached_.clear();
}

}  // namespace ridge
