// Edits each event of a block in place; blocks are done in parallel (blocks.h).
#include "rewrite/augment.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <span>
#include <vector>

#include "base/try.h"
#include "rewrite/added_args.h"
#include "rewrite/args_edit.h"
#include "rewrite/args_end.h"
#include "rewrite/op_sums.h"
#include "trace/args.h"

namespace ridge {
namespace {

using Keys = std::span<const std::string_view>;

// By schema, whether its args hold one of the keys.
std::vector<bool> shapes_with(const Trace& trace, Keys keys) {
  const auto is_one = [&](const Slot& slot) {
    return !slot.member && std::find(keys.begin(), keys.end(), trace.text(slot.key)) != keys.end();
  };
  std::vector<bool> found;
  for (const ArgSchema& schema : trace.forms.schemas()) {
    found.push_back(std::any_of(schema.slots.begin(), schema.slots.end(), is_one));
  }
  return found;
}

// Whether every event that was kept is valid JSON as it stands.
bool needs_no_mending(const Trace& trace) {
  const auto mended = [&](std::size_t problem) { return trace.diagnostics[static_cast<Problem>(problem)].count != 0; };
  for (auto problem = static_cast<std::size_t>(Problem::unescaped_quote);
       problem <= static_cast<std::size_t>(Problem::duplicate_key); ++problem) {
    if (mended(problem)) return false;
  }
  return true;
}

// Copies a block with members added to the args of some of its events, which are named in order.
class BlockEdit {
 public:
  explicit BlockEdit(Block* block) : block_(block), copied_(block->begin()) {
    constexpr std::size_t kGrowth = 8;
    block->output.reserve(block->size + block->size / kGrowth);
  }

  // To an event that is valid and holds none of the keys that are added. False, with nothing done, where that takes a closer
  // look.
  bool add(const EventPlace& place, std::string_view members) {
    const ArgsEnd end = find_args_end(block_->at(place), block_->end_of(place));
    if (end.at == nullptr) return false;
    copy_to(end.at);
    if (!members.empty()) block_->output.append(end.empty ? "" : ", ").append(members);
    return true;
  }

  // To any event, in place of what it has of `keys`; a damaged one stays as it is.
  void replace(const EventPlace& place, Keys keys, std::string_view members) {
    if (!cut_members(block_->at(place), block_->end_of(place), &event_)) return;
    copy_to(event_.begin);
    if (append_with_args(event_, keys, members, &block_->output)) copied_ = event_.end;
  }

  void finish() { copy_to(block_->end()); }

 private:
  void copy_to(const char* end) {
    block_->output.append(copied_, static_cast<std::size_t>(end - copied_));
    copied_ = end;
  }

  Block* block_;
  const char* copied_;  // all before it is in the output
  EventMembers event_;
};

class Augmenter {
 public:
  explicit Augmenter(const CostModel& costs)
      : costs_(costs),
        trace_(costs.model().trace()),
        sums_(costs),
        valid_(needs_no_mending(trace_)),
        backend_(trace_, ArgKey::kernel_backend),
        work_{added_work_keys(), shapes_with(trace_, added_work_keys())},
        ops_{added_op_keys(), shapes_with(trace_, added_op_keys())},
        generated_ops_{added_generated_op_keys(), shapes_with(trace_, added_generated_op_keys())} {}

  // Thread-safe.
  void rewrite(Block* block) {
    Progress progress{BlockEdit(block), {}, {}};
    const auto& all_work = trace_.of(EventClass::device_work);
    const auto& all_ops = trace_.of(EventClass::op);
    auto work = first_in(all_work, block->first_event), op = first_in(all_ops, block->first_event);
    const auto work_end = first_in(all_work, block->last_event), op_end = first_in(all_ops, block->last_event);
    while (work != work_end || op != op_end) {
      if (op == op_end || (work != work_end && *work < *op)) {
        add_work(*work, static_cast<std::size_t>(work - all_work.begin()), &progress);
        ++work;
      } else {
        add_op(*op++, &progress);
      }
    }
    progress.edit.finish();
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += progress.counts.*kCounts[i];
  }

  AugmentCounts counts() const {
    AugmentCounts counts;
    for (std::size_t i = 0; i < counts_.size(); ++i) counts.*kCounts[i] = counts_[i];
    return counts;
  }

 private:
  struct Target {
    Keys keys;
    std::vector<bool> held_by;  // schemas that hold some of the keys already
  };
  // Of one block.
  struct Progress {
    BlockEdit edit;
    AugmentCounts counts;
    std::string text;  // what is to be added to an event
  };

  static constexpr std::uint64_t AugmentCounts::* kCounts[] = {&AugmentCounts::device_events, &AugmentCounts::with_flops,
                                                               &AugmentCounts::with_bytes, &AugmentCounts::ops};

  static std::span<const EventId>::iterator first_in(std::span<const EventId> events, std::size_t from) {
    return std::lower_bound(events.begin(), events.end(), from, [](EventId event, std::size_t at) { return event.value < at; });
  }

  bool holds_keys(EventId event, const Target& target) const {
    return target.held_by[trace_.forms.form(trace_.events.form(event)).schema.value];
  }

  void add_work(EventId event, std::size_t row, Progress* progress) const {
    const LaunchCost& cost = costs_[row];
    ++progress->counts.device_events;
    progress->counts.with_flops += static_cast<std::uint64_t>(cost.flops.has_value());
    progress->counts.with_bytes += static_cast<std::uint64_t>(total_bytes(cost).has_value());
    progress->text.clear();
    append_work_members(cost, costs_.roof(row), &progress->text);
    put(event, work_, progress);
  }

  void add_op(EventId event, Progress* progress) const {
    const OpSum* sum = sums_.of(event);
    const bool generated = is_generated(event);
    const Target& target = generated ? generated_ops_ : ops_;
    // Where nothing is to be added, what is there of ours goes all the same.
    if (sum == nullptr && !holds_keys(event, target)) return;
    progress->text.clear();
    if (sum != nullptr) append_op_members(*sum, generated, &progress->text);
    progress->counts.ops += static_cast<std::uint64_t>(sum != nullptr);
    put(event, target, progress);
  }

  // An op that launches a kernel which Inductor wrote, and may say itself how much that computes.
  bool is_generated(EventId op) const {
    return backend_.text(op).has_value() || trace_.text(trace_.events.name(op)).starts_with("triton_");
  }

  void put(EventId event, const Target& target, Progress* progress) const {
    const EventPlace place = trace_.places[event.value];
    if (valid_ && !holds_keys(event, target) && progress->edit.add(place, progress->text)) return;
    progress->edit.replace(place, target.keys, progress->text);
  }

  const CostModel& costs_;
  const Trace& trace_;
  OpSums sums_;
  bool valid_;  // all events of the trace
  ArgColumn backend_;
  Target work_, ops_, generated_ops_;
  std::array<std::atomic<std::uint64_t>, std::size(kCounts)> counts_{};
};

}  // namespace

Result<AugmentCounts> augment(const CostModel& costs, OpenedSource source, const BlockOptions& options, PackedFile* out) {
  Augmenter augmenter(costs);
  const auto done =
      rewrite_blocks(costs.model().trace(), std::move(source), options, [&](Block* block) { augmenter.rewrite(block); }, out);
  if (!done) return tl::unexpected(done.error());
  return augmenter.counts();
}

}  // namespace ridge
