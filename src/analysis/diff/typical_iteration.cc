// Lays iterations over each other one by one; a call that fits nowhere gets a position of its own.
#include "analysis/diff/typical_iteration.h"

#include <algorithm>
#include "base/align.h"

namespace ridge::diff {

using alignment::align;
using alignment::AlignInput;
using alignment::Evidence;
using alignment::Pair;
using alignment::pair_by_occurrence;

namespace {

std::int64_t add_saturated(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

std::int64_t divide_rounded(std::int64_t sum, std::int64_t by) { return sum / by + (sum % by * 2 >= by ? 1 : 0); }

// Positions grow as iterations are laid over each other; `order` is their order of call.
class Builder {
 public:
  Builder(const Scope& scope, TypicalIteration* out)
      : out_(*out), trace_(scope.trace()), rows_(trace_.of(EventClass::device_work)), identities_(scope.model().identities()) {}

  void build(KeyPool& pool) {
    const CallSequence& sequence = out_.sequence;
    for (std::size_t i = 0; i < sequence.iterations(); ++i) lay_over(i);
    std::vector<Position> ordered;
    ordered.reserve(order_.size());
    for (const std::uint32_t p : order_) ordered.push_back(std::move(out_.positions[p]));
    out_.positions = std::move(ordered);
    fold_orphans(pool);
    finish();
  }

 private:
  std::int64_t duration(std::uint32_t row) const {
    return std::max<std::int64_t>(0, trace_.events.dur_ns(rows_[row]).value_or(0));
  }

  void lay_over(std::size_t iteration) {
    const CallSequence& sequence = out_.sequence;
    const std::uint32_t first = sequence.first_call[iteration], end = sequence.first_call[iteration + 1];
    const auto kind_of = [&](std::uint32_t call) { return sequence.calls[call].kind; };
    std::int64_t total = 0;
    bool same = end - first == order_.size();
    for (std::uint32_t i = 0; same && i < order_.size(); ++i) same = out_.positions[order_[i]].kind == kind_of(first + i);
    if (same) {
      for (std::uint32_t i = 0; i < order_.size(); ++i)
        total = add_saturated(total, observe(order_[i], sequence.calls[first + i]));
    } else {
      total = merge(first, end);
    }
    out_.gpu_time.add(static_cast<double>(total));
  }

  // Aligns an iteration that differs and gives calls that are new a position of their own.
  std::int64_t merge(std::uint32_t first, std::uint32_t end) {
    const CallSequence& sequence = out_.sequence;
    // A program whose iterations have little in common would make the typical iteration grow with each: then they are kept side
    // by side.
    constexpr std::size_t kMostGrowth = 8;
    const bool hopeless = order_.size() > kMostGrowth * (end - first) + 4096;
    std::vector<Pair> pairs;
    if (!order_.empty() && first < end && !hopeless) pairs = align(evidence(first, end));
    std::vector<std::uint32_t> order;
    order.reserve(order_.size() + (end - first) - pairs.size());
    std::int64_t total = 0;
    std::uint32_t p = 0, c = first;
    const auto add_new = [&](std::uint32_t until) {
      for (; c < until; ++c) {
        order.push_back(static_cast<std::uint32_t>(out_.positions.size()));
        out_.positions.push_back({.kind = sequence.calls[c].kind,
                                  .region = sequence.calls[c].region,
                                  .slots = {},
                                  .calls = 0,
                                  .orphan = false,
                                  .observed = {}});
        total = add_saturated(total, observe(order.back(), sequence.calls[c]));
      }
    };
    for (const auto& [place, offset] : pairs) {
      add_new(first + offset);
      for (; p < place; ++p) order.push_back(order_[p]);
      total = add_saturated(total, observe(order_[p], sequence.calls[c++]));
      order.push_back(order_[p++]);
    }
    add_new(end);
    for (; p < order_.size(); ++p) order.push_back(order_[p]);
    order_ = std::move(order);
    return total;
  }

  AlignInput evidence(std::uint32_t first, std::uint32_t end) const {
    const CallSequence& sequence = out_.sequence;
    AlignInput input;
    input.levels.resize(4);
    // The place of a backward call is its forward's, and so may be lost in one iteration alone.
    const auto weak = [](const CallKind& k, Key module) {
      const std::uint64_t place =
          combine(module, static_cast<std::uint64_t>(k.phase) << 32 | static_cast<std::uint64_t>(k.device));
      return k.op != kNoKey ? combine(combine(k.op, k.dims), place) : combine(k.kernel_names, place);
    };
    // Batches differ in length: the same call on other shapes, where nothing pairs better.
    const auto shapeless = [](const CallKind& k) {
      const std::uint64_t place = static_cast<std::uint64_t>(k.phase) << 32 | static_cast<std::uint64_t>(k.device);
      return k.op != kNoKey ? combine(k.op, place) : combine(k.counterless_names, place);
    };
    const auto add = [&](std::uint32_t kind, std::vector<std::uint64_t> Evidence::* side) {
      const CallKind& k = sequence.kinds[kind];
      (input.levels[0].*side).push_back(kind + 1);
      (input.levels[1].*side).push_back(weak(k, k.module));
      (input.levels[2].*side).push_back(weak(k, kNoKey));
      (input.levels[3].*side).push_back(shapeless(k));
    };
    for (const std::uint32_t p : order_) add(out_.positions[p].kind, &Evidence::a);
    for (std::uint32_t c = first; c < end; ++c) add(sequence.calls[c].kind, &Evidence::b);
    return input;
  }

  // The time of the call.
  std::int64_t observe(std::uint32_t position, const Call& call) {
    Position& p = out_.positions[position];
    const CallSequence& sequence = out_.sequence;
    const std::vector<KernelSlot>& kernels = sequence.kinds[call.kind].kernels;
    const std::span<const std::uint32_t> rows = sequence.rows_of(call);
    std::int64_t total = 0;
    std::size_t next = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      // The slot of that kernel behind the last one used; calls of one kind have equal slots.
      std::size_t slot = next;
      while (slot < p.slots.size() && p.slots[slot].kernel.name != kernels[i].name) ++slot;
      if (slot == p.slots.size()) p.slots.push_back({.kernel = kernels[i], .event = rows_[rows[i]]});
      next = slot + 1;
      const std::int64_t time = duration(rows[i]);
      p.slots[slot].sum_ns = add_saturated(p.slots[slot].sum_ns, time);
      ++p.slots[slot].launches;
      total = add_saturated(total, time);
    }
    ++p.calls;
    p.observed.add(static_cast<double>(total));
    return total;
  }

  // Slots that work launched before the window may repeat, (position, slot) from the typical iteration's end on, and once more
  // from its end for each iteration that the host was ahead. More of them than there is such work: some may be repeated by
  // none of it.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> places_from_the_end(std::size_t works) const {
    std::size_t slots = 0;
    for (const Position& position : out_.positions) slots += position.slots.size();
    std::vector<std::pair<std::uint32_t, std::uint32_t>> places;
    if (slots == 0) return places;
    const std::size_t enough = 2 * works + 256;
    for (std::size_t round = 0; round < works / slots + 2; ++round) {
      for (std::size_t p = out_.positions.size(); p-- > 0 && places.size() < enough;) {
        for (std::size_t s = out_.positions[p].slots.size(); s-- > 0;) places.emplace_back(p, s);
      }
    }
    return places;
  }

  // Work launched before the window is the end of the iterations before the first: laid over the typical iteration, kernel by
  // kernel, from its end on.
  void fold_orphans(KeyPool& pool) {
    const std::vector<std::uint32_t>& orphans = out_.sequence.orphans;
    if (orphans.empty()) return;
    const std::vector<std::pair<std::uint32_t, std::uint32_t>> places = places_from_the_end(orphans.size());
    AlignInput input;
    input.levels.resize(1);
    for (std::size_t i = orphans.size(); i-- > 0;)
      input.levels[0].a.push_back(pool.of(trace_.text(trace_.events.name(rows_[orphans[i]]))));
    for (const auto& [p, s] : places) input.levels[0].b.push_back(out_.positions[p].slots[s].kernel.name);
    std::vector<std::uint8_t> used(orphans.size()), taken(places.size());
    std::vector<Pair> pairs = align(input);
    const auto fold = [&](const Pair& pair) {
      const std::uint32_t row = orphans[orphans.size() - 1 - pair.first];
      SlotTime& slot = out_.positions[places[pair.second].first].slots[places[pair.second].second];
      slot.sum_ns = add_saturated(slot.sum_ns, duration(row));
      ++slot.launches;
      ++slot.extra_iterations;
      used[pair.first] = taken[pair.second] = 1;
      out_.folded_ns = add_saturated(out_.folded_ns, duration(row));
    };
    for (const Pair& pair : pairs) fold(pair);
    // Streams interleave in another order than launches: what is left pairs by name.
    std::vector<std::uint32_t> a, b;
    for (std::uint32_t i = 0; i < used.size(); ++i) {
      if (used[i] == 0) a.push_back(i);
    }
    for (std::uint32_t j = 0; j < taken.size(); ++j) {
      if (taken[j] == 0) b.push_back(j);
    }
    for (const Pair& pair : pair_by_occurrence(a, b, input.levels[0])) fold(pair);
    for (std::uint32_t i = static_cast<std::uint32_t>(used.size()); i-- > 0;) {
      if (used[i] == 0) keep_orphan(orphans[orphans.size() - 1 - i], input.levels[0].a[i]);
    }
  }

  // Repeated by nothing: a position of its own, so that no time is lost.
  void keep_orphan(std::uint32_t row, std::uint64_t name) {
    const KernelIdentity& identity = identities_[row];
    CallKind kind;
    kind.kernels.push_back({static_cast<Key>(name), kNoKey, trace_.text(trace_.events.name(rows_[row])), &identity});
    kind.kernel_names = kind.counterless_names = kind.untuned_names = combine(0, name);
    kind.category = identity.category;
    if (kind.category == Category::gemm || kind.category == Category::conv) kind.heavy = Heavy::matrix;
    if (kind.category == Category::attention) kind.heavy = Heavy::attention;
    out_.sequence.kinds.push_back(std::move(kind));
    Position& p = out_.positions.emplace_back();
    p.kind = static_cast<std::uint32_t>(out_.sequence.kinds.size() - 1);
    p.orphan = true;
    p.calls = 1;
    p.slots.push_back(
        {.kernel = out_.sequence.kinds.back().kernels[0], .event = rows_[row], .sum_ns = duration(row), .launches = 1});
    p.observed.add(static_cast<double>(duration(row)));
  }

  void finish() {
    for (Position& p : out_.positions) {
      p.observed.count = std::max(p.observed.count, out_.iterations);  // where it was not called, 0 was observed
      for (SlotTime& slot : p.slots) {
        slot.per_iteration_ns = divide_rounded(slot.sum_ns, std::max<std::int64_t>(1, out_.iterations + slot.extra_iterations));
        slot.category = slot.kernel.identity->category;
      }
    }
  }

  TypicalIteration& out_;
  const Trace& trace_;
  std::span<const EventId> rows_;
  const KernelIdentities& identities_;
  std::vector<std::uint32_t> order_;
};

}  // namespace

TypicalIteration build_template(const Scope& scope, CallSequence sequence, KeyPool& pool) {
  TypicalIteration out;
  out.sequence = std::move(sequence);
  out.iterations = static_cast<std::int64_t>(out.sequence.iterations());
  Builder(scope, &out).build(pool);
  return out;
}

}  // namespace ridge::diff
