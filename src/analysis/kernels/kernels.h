// kernels: where the time of kernels went (`cat == kernel`; copies, sets and other work are in `copies` and `categories`).
//
// Without `by`, one row per (kernel, label, kernel_hash, device): `kernel` is the event's name, `op` the op that most of its
// time was launched by. `by` launch: one row per launch with start_ns and stream, same columns. Other `by`: one row per (key,
// device), whose first column is named and filled accordingly in place of `kernel`, and which has no columns about one kernel
// but `kernels`, the number of distinct names.
//
// Work that a graph replayed counts for the op that was recovered for it (model/graph_replays.h): op_from says where it was
// recovered from, and recovered_ns how much of the row's time that is.
//
// Costs are sums over the launches of a row (kernel_costs.h).
//
// Kernels that autotuning launched are counted in their rows, and told apart by autotune_count and autotune_ns.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ridge/report.h>

#include "facts/cost_sum.h"
#include "facts/scope.h"
#include "facts/scoped_work.h"

namespace ridge {

enum class KernelsBy : std::uint8_t { launch, op, shape, annotation, module, graph, stream, stage };

// Texts belong to the trace or to its model.
struct KernelRow {
  std::string key;  // of a regrouping `by`; else empty
  std::string_view kernel, label, op, kernel_file, kernel_hash, kernel_kwargs;
  Category category = Category::other;  // the one with most of the time, where launches differ
  std::int64_t device = 0;
  std::int64_t count = 0, time_ns = 0, min_ns = 0, max_ns = 0;
  std::int64_t timed = 0;    // launches whose duration is known: the times above are theirs
  std::int64_t kernels = 0;  // distinct names
  std::int64_t autotune_count = 0, autotune_ns = 0;
  std::int64_t recovered_ns = 0;
  OpSource op_from = OpSource::none;
  std::int64_t start_ns = 0, stream = 0;  // of the first launch; start from the window's start
  CostSum cost;
  KnownSum expected;             // ns that such work takes (src/predict)
  std::int64_t measured_ns = 0;  // of that time, of launches that --table has measured alone
};

struct Kernels {
  std::optional<KernelsBy> by;
  std::vector<KernelRow> rows;  // most time first; by launch: in order of start
  std::int64_t count = 0;
  std::int64_t timed = 0;    // launches whose duration is known
  std::int64_t time_ns = 0;  // the sum of kernel times
  std::int64_t recovered_ns = 0;
  std::int64_t autotune_count = 0, autotune_ns = 0;
  CostSum cost;  // of all rows
  KnownSum expected;
  bool with_table = false;  // a table of measured kernels was given
  std::vector<Diagnostic> diagnostics;

  void add(const KernelRow& row);  // to the sums
};

class KernelRows;

// `by` launch, with each row made when it is asked for: a row takes half a kilobyte, and there may be millions. `scope` must
// outlive it.
class KernelLaunches {
 public:
  explicit KernelLaunches(const Scope& scope, WithCosts costs = WithCosts::yes,
                          CompilerWorkFilter compilers = CompilerWorkFilter::with);
  ~KernelLaunches();

  const Kernels& all() const { return all_; }  // without rows
  std::size_t size() const { return launches_.size(); }
  KernelRow operator[](std::size_t i) const;  // in order of start

 private:
  using Launch = std::pair<const Device*, const WorkRow*>;

  std::unique_ptr<KernelRows> rows_;
  std::vector<Launch> launches_;
  Kernels all_;
};

Kernels compute_kernels(const Scope& scope, std::optional<KernelsBy> by = std::nullopt, WithCosts costs = WithCosts::yes,
                        CompilerWorkFilter compilers = CompilerWorkFilter::with);
Report report_kernels(const Kernels& kernels);
Report report_launches(const KernelLaunches& launches);

// What a user calls the ways to regroup; in the order of KernelsBy.
std::span<const std::string_view> kernels_by_names();

}  // namespace ridge
