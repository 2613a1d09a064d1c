// Weighing which pointers are outputs, then the bytes of each.
#include "cost/triton/triton_roles.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "cost/triton/triton_reading.h"
#include "ops/operands.h"

namespace ridge {
namespace {

using Pointers = std::span<const TritonPointer>;

constexpr double kLeastAccess = 64;  // bytes that one lonely element costs: counters of gathers on an H200 show two sectors

struct Match {
  std::size_t in_out;
  double slices;
};

// The numbers of in_out pointers, and of slices of larger inputs, with which Inductor's count comes out. Fewest in_outs first.
std::vector<Match> matches(const Reading& reading, double num_bytes) {
  double sum = 0, slice = 0, larger = 0;
  bool one_item = true;
  for (std::size_t i = 0; i < reading.size(); ++i) {
    const double part = std::min(reading[i].elements, reading.all()) * reading[i].item;
    if (!reading.larger(i)) {
      sum += part;
      continue;
    }
    one_item = one_item && (slice == 0 || slice == part);
    slice = part;
    ++larger;
  }
  const double tolerance = std::max(0.5, num_bytes * 1e-9);
  std::vector<Match> out;
  for (std::size_t in_out = 0; in_out <= reading.size(); ++in_out) {
    if (in_out > 0) {
      if (!reading.can_be_written(in_out - 1) || reading.larger(in_out - 1)) break;
      sum += reading[in_out - 1].elements * reading[in_out - 1].item;
    }
    const double rest = num_bytes - sum;
    if (larger == 0) {
      if (std::abs(rest) <= tolerance) out.push_back({in_out, 1});
    } else if (one_item && slice > 0) {
      const double slices = std::round(rest / slice);
      if (slices >= larger && std::abs(rest - slices * slice) <= tolerance) out.push_back({in_out, slices - larger + 1});
    }
  }
  return out;
}

// The count that agrees with the shapes; but a kernel that slices does not read all of the larger tensor if it can be told
// otherwise.
Match best_match(const std::vector<Match>& fitting, const Reading& reading, std::size_t by_shape, bool reads_parts) {
  double largest = 0;
  for (std::size_t i = 0; i < reading.size(); ++i) largest = std::max(largest, reading[i].elements);
  if (reads_parts && largest > reading.all())
    for (const Match& match : fitting)
      if (match.slices * reading.all() < largest) return match;
  for (const Match& match : fitting)
    if (match.in_out == by_shape) return match;
  return fitting.front();
}

// Bytes read of a tensor by index: each lookup takes its share of the kernel's steps, at least one access of the memory.
double gathered_bytes(const TritonPointer& table, const Reading& reading, double slices, double cache) {
  double lookups = 0;
  for (std::size_t i = 0; i < reading.size(); ++i)
    if (is_integer(reading[i].shape->dtype)) lookups = std::max(lookups, reading[i].elements);
  const double rows = table.shape->sizes.empty() ? 1 : static_cast<double>(table.shape->sizes.front());
  const double whole_row = table.elements / std::max(rows, 1.0), steps = reading.all() / std::max(lookups, 1.0);
  // A table of several dimensions may be indexed through more than its first one.
  const double last = table.shape->sizes.empty() ? 1 : static_cast<double>(table.shape->sizes.back());
  const double row = std::isfinite(slices) ? slices * steps : std::min(whole_row, std::max(last, steps));
  if (row <= 0) return table.bytes;
  return picked_bytes(table.bytes, std::max(row * table.item, kLeastAccess), lookups, 1, cache);
}

// Tables no larger than the kernel's space whose rows are picked by index. Each row is read once as long as the tables stay in
// the cache beside what streams past them; here is what comes on top where they do not. All are picked from together and share
// the cache.
double picked_again(const Reading& reading, std::size_t outputs, const TritonTraffic& once, double cache) {
  double bytes = 0, row_bytes = 0, lookups = 0, row = 0, rows = 0;
  for (std::size_t i = 0; i < reading.size(); ++i) {
    const TritonPointer& p = reading[i];
    if (is_integer(p.shape->dtype)) lookups = std::max(lookups, p.elements);
    const bool read = i + outputs < reading.size() || reading.is_target(i);
    if (!read || is_integer(p.shape->dtype) || reading.full(i) || p.shape->sizes.size() < 2 || p.shape->sizes[0] <= 1) continue;
    const double height = static_cast<double>(p.shape->sizes[0]), of_row = p.elements / height;
    if (of_row * p.item < kLeastAccess || (rows > 0 && height != rows)) continue;
    rows = height;
    row = std::max(row, of_row);
    bytes += p.bytes;
    row_bytes += of_row * p.item;
  }
  const double picks = row > 0 ? std::min(lookups, reading.all() / row) : 0;
  // Fewer lookups than rows pick few of them; more than rows fill the space name no rows but something within them
  // (upsampling).
  if (picks <= rows || lookups * row > 2 * reading.all()) return 0;
  const double stream = std::max(once.read + once.written - bytes, 0.0);
  return std::max(picked_bytes(bytes, row_bytes, picks, stream / (picks * row_bytes), cache) - bytes, 0.0);
}

}  // namespace

TritonRoles infer_roles(const TritonArguments& arguments, const FusedOps& ops, std::optional<double> kernel_num_gb) {
  const Reading reading(arguments, ops);
  TritonRoles roles;
  const std::size_t by_shape = reading.in_outs_by_shape();
  roles.in_out = by_shape;
  const std::vector<Match> fitting =
      kernel_num_gb && *kernel_num_gb > 0 ? matches(reading, *kernel_num_gb * 1e9) : std::vector<Match>();
  if (!fitting.empty()) {
    const Match match = best_match(fitting, reading, by_shape, ops.reads_parts);
    roles.slices = match.slices;
    // A formula that takes two tensors is believed more than a count, which leaves out buffers that were renamed.
    if (match.in_out > 0 || reading.inputs(1) >= ops.inputs) roles.in_out = match.in_out;
  } else if (ops.reads_windows || (ops.sums && !reading.reduces())) {
    roles.slices = std::numeric_limits<double>::infinity();
  }
  roles.out = reading.outputs(roles.in_out);

  const bool one_reading = reading.size() <= 2 || reading.inputs(roles.out) == reading.inputs_wanted(roles.in_out, roles.out) ||
                           reading.writable_tail(roles.in_out) == roles.out;
  const bool guessed_in_out = (fitting.empty() || roles.in_out != fitting.front().in_out) && roles.in_out > 0 &&
                              reading.size() > 1 && reading.can_be_written(reading.size() - 1);
  roles.ambiguous = fitting.size() > 1 || !one_reading || guessed_in_out;
  return roles;
}

TritonTraffic traffic_of(const TritonArguments& arguments, const FusedOps& ops, const TritonRoles& roles, double cache) {
  const Reading reading(arguments, ops);
  TritonTraffic out;
  for (std::size_t i = 0; i < reading.size(); ++i) {
    const TritonPointer& p = reading[i];
    const bool in_out = i < roles.in_out, last = i + roles.out >= reading.size();
    const bool adds_into = last && reading.is_target(i);
    const bool by_index = reading.larger(i) && reading.gathers() && !last;
    const double step = adds_into && reading.lone_elements(i) ? std::max(p.item, kWrittenSector) : p.item;
    const double part = by_index ? gathered_bytes(p, reading, roles.slices, cache)
                                 : std::min(p.bytes, (last ? 1 : roles.slices) * reading.all() * step);
    if (in_out || last) out.written += part;
    const bool reads = in_out ? reading.in_out_is_read(i, roles.in_out, roles.out) : !last || adds_into;
    if (!reads) continue;
    out.read += step > p.item && ops.overwrites ? completed_bytes(part, cache) : part;
    out.ambiguous = out.ambiguous || (reading.larger(i) && part < p.bytes && !by_index && !adds_into);
  }
  for (const TritonPointer& workspace : arguments.workspaces) out.written += workspace.bytes;
  if (reading.gathers()) {
    const double again = picked_again(reading, roles.out, out, cache);
    out.read += again;
    out.ambiguous = out.ambiguous || again > 0;
  }
  return out;
}

TritonTraffic foreach_traffic(const TritonArguments& arguments, double blocks, double block_elements) {
  TritonTraffic out{.ambiguous = true};
  const Pointers pointers = arguments.pointers;
  const auto blocks_of = [&](const TritonPointer& p) { return p.elements > 1 ? std::ceil(p.elements / block_elements) : 0; };
  double total = 0, covered = 0;
  for (const TritonPointer& p : pointers) total += blocks_of(p);
  const double each = std::round(total / blocks);  // pointers for each element
  const double outputs = each >= 5 ? std::floor(each / 2) : 1;
  std::size_t first_output = pointers.size();
  for (; first_output > 0 && covered < outputs * blocks; --first_output) covered += blocks_of(pointers[first_output - 1]);
  const bool in_place = first_output == 0;
  for (std::size_t i = 0; i < pointers.size(); ++i) {
    if (in_place || i >= first_output) out.written += pointers[i].bytes;
    if (in_place || i < first_output) out.read += pointers[i].bytes;
  }
  return out;
}

}  // namespace ridge
