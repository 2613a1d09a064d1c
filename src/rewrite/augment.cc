#include "rewrite/augment.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "base/try.h"
#include "rewrite/args_edit.h"
#include "rewrite/json_write.h"
#include "rewrite/op_sums.h"

namespace ridge {
namespace {

constexpr std::string_view kWorkKeys[] = {"kernel_flop", "kernel_num_gb", "achieved_flops_pct", "achieved_bandwidth_pct",
                                          "bound",       "roof_us"};
constexpr std::string_view kOpKeys[] = {"ridge"};

constexpr double kGiga = 1e9;
constexpr double kNsPerUs = 1e3;

// Members of an object, one after another; a value that is not known or not finite is left out.
class MemberWriter {
 public:
  explicit MemberWriter(std::string* out) : out_(out) {}

  void number(std::string_view key, std::optional<double> value) {
    if (begin(key, value)) append_json_number(*value, out_);
  }
  void rounded(std::string_view key, std::optional<double> value) {
    if (begin(key, value)) append_json_rounded(*value, out_);
  }
  void text(std::string_view key, std::string_view value) {
    if (value.empty()) return;
    write_key(key);
    append_json_text(value, out_);
  }

 private:
  bool begin(std::string_view key, std::optional<double> value) {
    if (!value || !std::isfinite(*value)) return false;
    write_key(key);
    return true;
  }
  void write_key(std::string_view key) {
    if (!first_) out_->append(", ");
    first_ = false;
    out_->append("\"").append(key).append("\": ");
  }

  std::string* out_;
  bool first_ = true;
};

std::optional<double> total_bytes(const LaunchCost& cost) {
  if (!cost.bytes_read || !cost.bytes_written) return std::nullopt;
  return *cost.bytes_read + *cost.bytes_written;
}

std::optional<double> divided(std::optional<double> value, double by) {
  return value ? std::optional(*value / by) : std::nullopt;
}

void append_device_members(const LaunchCost& cost, const Roof& roof, std::string* out) {
  MemberWriter members(out);
  members.number("kernel_flop", cost.flops);
  members.number("kernel_num_gb", divided(total_bytes(cost), kGiga));
  members.rounded("achieved_flops_pct", roof.pct_peak_flops);
  members.rounded("achieved_bandwidth_pct", roof.pct_peak_bandwidth);
  members.text("bound", name_of(roof.bound));
  members.rounded("roof_us", divided(roof.roof_ns, kNsPerUs));
}

void append_op_member(const OpSum& sum, std::string* out) {
  out->append("\"ridge\": {");
  MemberWriter members(out);
  members.number("kernels", sum.kernels);
  members.number("device_us", static_cast<double>(sum.device_ns) / kNsPerUs);
  if (sum.without_flops < sum.kernels) members.number("flops", sum.flops);
  if (sum.without_bytes < sum.kernels) members.number("gb", sum.bytes / kGiga);
  if (sum.without_flops > 0) members.number("kernels_without_flops", sum.without_flops);
  if (sum.without_bytes > 0) members.number("kernels_without_gb", sum.without_bytes);
  out->append("}");
}

// Which events are edited, in file order.
struct Edit {
  EventId event;
  std::uint32_t row;  // of device work; kOp for an op
};
constexpr std::uint32_t kOp = UINT32_MAX;

// Shapes that hold a key of ours already: their events are edited even when there is nothing to add.
std::vector<bool> shapes_with_key(const Trace& trace, std::string_view key) {
  std::vector<bool> found;
  for (const Shape& shape : trace.forms.shapes()) {
    found.push_back(std::any_of(shape.slots.begin(), shape.slots.end(),
                                [&](const Slot& slot) { return !slot.member && trace.text(slot.key) == key; }));
  }
  return found;
}

std::vector<Edit> edits_of(const Trace& trace, const OpSums& sums) {
  const auto& work = trace.of(EventClass::device_work);
  const auto& ops = trace.of(EventClass::op);
  const std::vector<bool> has_ours = shapes_with_key(trace, kOpKeys[0]);
  std::vector<Edit> edits;
  std::uint32_t row = 0;
  const auto add_work_before = [&](EventId event) {
    for (; row < work.size() && work[row] < event; ++row) edits.push_back({work[row], row});
  };
  for (const EventId op : ops) {
    if (sums.of(op) == nullptr && !has_ours[trace.forms.form(trace.events.form(op)).shape.value]) continue;
    add_work_before(op);
    edits.push_back({op, kOp});
  }
  add_work_before(EventId{UINT32_MAX});
  return edits;
}

class Augmenter {
 public:
  explicit Augmenter(const CostModel& costs)
      : costs_(costs), trace_(costs.model().trace()), sums_(costs), edits_(edits_of(trace_, sums_)) {}

  void rewrite(Block* block) {
    EventMembers members;
    std::string text;
    block->output.reserve(block->size + block->size / 8);
    const char* copied = block->begin();
    for (auto edit = first_edit(block->first_event); edit != edits_.end() && edit->event.value < block->last_event; ++edit) {
      const EventPlace& place = trace_.places[edit->event.value];
      if (!cut_members(block->at(place), block->end_of(place), &members)) continue;  // damaged: left as it is
      text.clear();
      append_members(*edit, &text);
      block->output.append(copied, static_cast<std::size_t>(members.begin - copied));
      copied = members.begin;
      const auto keys = edit->row == kOp ? std::span<const std::string_view>(kOpKeys) : kWorkKeys;
      if (append_with_args(members, keys, text, &block->output)) copied = members.end;
    }
    block->output.append(copied, static_cast<std::size_t>(block->end() - copied));
  }

  AugmentCounts counts() const {
    AugmentCounts counts;
    for (const Edit& edit : edits_) {
      if (edit.row == kOp) {
        counts.ops += sums_.of(edit.event) != nullptr;
        continue;
      }
      const LaunchCost& cost = costs_[edit.row];
      ++counts.device_events;
      counts.with_flops += cost.flops.has_value();
      counts.with_bytes += total_bytes(cost).has_value();
    }
    return counts;
  }

 private:
  std::vector<Edit>::const_iterator first_edit(std::size_t event) const {
    return std::lower_bound(edits_.begin(), edits_.end(), event,
                            [](const Edit& edit, std::size_t wanted) { return edit.event.value < wanted; });
  }

  void append_members(const Edit& edit, std::string* text) const {
    if (edit.row != kOp) {
      append_device_members(costs_[edit.row], costs_.roof(edit.row), text);
    } else if (const OpSum* sum = sums_.of(edit.event)) {
      append_op_member(*sum, text);
    }
  }

  const CostModel& costs_;
  const Trace& trace_;
  OpSums sums_;
  std::vector<Edit> edits_;
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
