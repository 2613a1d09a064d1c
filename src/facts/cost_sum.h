// CostSum: what a group of launches had to do, against the roof. Sums over sums: rates are never means of rates, and every
// launch counts.
//
// A sum is over the launches that know the figure, and a rate over the time of the same launches. What share of the group's
// time they took is told (flops_known_pct, bytes_known_pct), so that a sum of parts is never taken for a whole. No launch
// knows: unknown. So is what reports say of a group of which next to nothing is known (CostSum::told).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/saturating.h"
#include "cost/cost_model.h"
#include "cost/launch_cost.h"
#include "facts/scope.h"

namespace ridge {

enum class WithCosts : bool { no, yes };  // no: all of them stay unknown, and the analysis is faster

// A sum over the launches that know it, and their time.
struct KnownSum {
  double sum = 0;
  std::int64_t time_ns = 0;
  bool known = false;

  void add(double value, std::int64_t time) {
    sum += value;
    saturating_add(&time_ns, time);
    known = true;
  }
  void add(const KnownSum& other);
  std::optional<double> value() const { return known ? std::optional(sum) : std::nullopt; }
  std::optional<double> per_second() const;   // sum over time; nothing for no time
  std::optional<double> pct_of_time() const;  // of a sum in ns
  // Whether it says anything of a group that took so long: known for some of it, and not a 0 beside parts that may be anything.
  bool speaks_for(std::int64_t whole_ns) const;
};

struct CostSum {
  KnownSum flops, flops_causal, flops_pointwise, bytes_read, bytes_written;
  KnownSum bytes;                         // read and written, of launches that know both
  KnownSum peak_flops_ns, peak_bytes_ns;  // the time that the peak of arithmetic, or of memory, would need
  KnownSum roof_ns, headroom_ns;
  std::array<std::int64_t, 4> bound_ns{};  // time by Bound
  std::uint32_t dtypes = 0;                // a bit per DType
  std::uint32_t dtypes_without_peak = 0;   // those of them whose FLOPs the device has no peak for
  Estimate estimate = Estimate::none;      // the weakest of the launches that know anything
  std::int64_t time_ns = 0;

  // One launch of a CostModel, by row of trace.of(EventClass::device_work).
  void add(const CostModel& costs, std::size_t row, std::int64_t device, std::int64_t time);
  void add(const CostSum& other);

  // The figures as a report may give them: unknown where a sum does not speak for the group. The shares of time that are known
  // stay.
  CostSum told() const;

  Bound bound() const;                            // under which most of the known time falls
  std::string dtype_text() const;                 // "bfloat16"; several: "bfloat16, float32"
  std::optional<double> flops_known_pct() const;  // share of the time whose FLOPs are known
  std::optional<double> bytes_known_pct() const;
};

}  // namespace ridge
