// collectives: communication kernels by collective, group and dtype, and how much of their time no computation covered.
//
// bytes is the size that nccl-tests calls S, summed over the calls: the larger of what a rank gives and what it gets, which are
// bytes_read and bytes_written of `kernels` (model/collective_args.h); of a library's own collectives what their ops' formulas
// say. algbw = S / time; busbw = algbw times the collective's factor (2(n-1)/n for all-reduce, (n-1)/n for all-gather,
// reduce-scatter and all-to-all, 1 for the rest). exposed_ns: the part of each collective's time in which its device computed
// nothing, summed; collectives that overlap count each their own. Collectives that run on the host (gloo) have no kernels and
// stand in a table of their own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <ridge/report.h>

#include "facts/scope.h"

namespace ridge {

struct CollectiveRow {
  std::string name;   // as the trace has it: allreduce, _allgather_base; the kernel's label where it says nothing
  std::string group;  // description, else name; empty when not known
  std::optional<std::int64_t> ranks;  // of the group
  std::string dtype;
  std::optional<std::int64_t> bytes;  // of the calls that say
  std::int64_t count = 0;             // kernels
  std::int64_t time_ns = 0;
  std::int64_t exposed_ns = 0;
  std::int64_t sized_ns = 0;  // time of the kernels whose bytes are known
};

struct HostCollectiveRow {
  std::string name;  // gloo:all_reduce
  std::int64_t count = 0;
  std::int64_t cpu_ns = 0;
};

struct Collectives {
  std::vector<CollectiveRow> rows;      // most time first
  std::vector<HostCollectiveRow> host;  // most time first
};

Collectives compute_collectives(const Scope& scope);
Report report_collectives(const Collectives& collectives);

// What busbw is to algbw; nothing for a collective that is not known.
std::optional<double> bus_factor(std::string_view name, std::int64_t ranks);

}  // namespace ridge
