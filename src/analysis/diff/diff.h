// diff: what changed between two traces or more, by meaning. All times are per iteration.
//
// A group is what stands for one another in the traces: positions of the typical iterations that links connect. Every position
// is in exactly one group, so that the groups' times add up to the device time of an iteration, and their changes to its
// change.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ridge/analysis.h>
#include <ridge/report.h>
#include <ridge/result.h>

#include "analysis/diff/match.h"
#include "analysis/diff/noise.h"
#include "facts/scope.h"
#include "model/idle_cause.h"
#include "model/kernel_identity.h"

namespace ridge::diff {

// One trace's part in a group.
struct GroupSide {
  std::vector<std::uint32_t> positions;
  double count = 0;  // kernels, copies and sets
  double calls = 0;  // that launched them
  std::int64_t time_ns = 0;
  std::optional<EventId> event;  // a launch of the kernel that it goes by; nothing where the trace has none
  MeanVariance estimate;
};

// A group's change from the first trace to another.
struct GroupChange {
  std::int64_t delta_ns = 0;
  std::optional<double> delta_pct;  // nothing where the first trace has no time
  std::optional<Interval95> interval;
  bool significant = false;
};

struct Group {
  std::string name;  // unique: equal titles are numbered
  std::string title;
  std::optional<Match> match;  // nothing: only in some of the traces
  Category category = Category::other;
  std::string phase, shape, kernel;
  std::int64_t equal_calls = 1;      // of a call that one trace lacks: among how many equal neighbours it cannot be told which
  std::vector<GroupSide> sides;      // by trace
  std::vector<Heavy> heavy;          // by trace: the sort of matrix work in it, if any
  bool renamed = false;              // one op under another name: nothing else changed
  bool recomputed = false;           // a compiler computes part of it again in the backward pass
  std::vector<GroupChange> changes;  // by trace; the first is empty
};

struct BreakChange {
  std::string location;             // where it moved: from -> to, trace by trace
  std::string reason;               // several: with "; " between them
  std::int64_t breaks = 1;          // of one place: in a loop that is unrolled, say
  std::vector<double> occurrences;  // by trace, per iteration
};

struct SideTotals {
  std::string name;  // of the file
  std::string device;
  std::int64_t devices = 0;     // how many
  std::int64_t iterations = 0;  // that figures are divided by
  bool time_range =
      false;        // between --from and --to lies no whole iteration: all figures are of that time, and `iterations` is 1
  std::string per;  // the rule that found them
  std::int64_t gpu_ns = 0;                     // sum of device work
  std::int64_t wall_ns = 0;                    // the mean, which parts add up to
  std::optional<std::int64_t> median_wall_ns;  // nothing where no whole iteration is compared
  // Within wall_ns, which they add up to; of several devices the mean.
  std::int64_t busy_ns = 0, idle_ns = 0;
  std::array<std::int64_t, kIdleCauses> idle_by_cause_ns{};
  std::array<std::int64_t, kCategories> category_ns{};
  std::array<double, kCategories> category_count{};
  double launches = 0;        // calls that put work on a device
  double work = 0;            // kernels, copies and sets
  double graph_launches = 0;  // of the calls
  std::optional<double> host_ns_per_launch;
  std::optional<double> flops, bytes;  // per iteration, of the work where they are known
  std::optional<double> flops_per_s, bytes_per_s;
  double costed_pct = 0;  // of the device time: where FLOPs or bytes are known
  std::int64_t folded_ns = 0;
  bool has_device = false;  // else nothing is known of the device: its times above are not 0 but unknown
  bool has_host_events = false;
  bool cut_short = false;  // the file is truncated: device work, which is written last, is missing
  MeanVariance gpu_time;
};

// What the groups that are listed take, in one trace: all of its device time or, with --filter, that of the groups that match.
struct ListedTime {
  std::int64_t gpu_ns = 0;
  double work = 0;  // kernels, copies and sets
  std::array<std::int64_t, kCategories> category_ns{};
  MeanVariance gpu_time;
};

struct Diff {
  std::vector<SideTotals> sides;   // of whole traces, whatever --filter says
  std::vector<ListedTime> listed;  // by trace
  std::vector<Group> groups;       // in order of the absolute change
  bool filtered = false;           // groups and breaks are those that --filter matches
  std::vector<BreakChange> breaks;
  bool no_device_events = false;
};

// Time of what --filter matches; of everything where there is none.
constexpr std::string_view gpu_time_words(const Diff& diff) { return diff.filtered ? "matched GPU time" : "GPU time"; }

struct DiffOptions {
  Thresholds thresholds;
};

Diff compute_diff(std::span<const Scope> scopes, const DiffOptions& options);
Report report_diff(const Diff& diff);

// The gates that the user asked for; see gates.cc.
struct Gates {
  std::optional<double> fail_above_pct, fail_kernel_above_pct;
  std::optional<std::int64_t> max_new_breaks;
  double min_ns = 1000;
  bool significant = false;
};
Result<Gates> gates_of(const Arguments& arguments);
Result<Thresholds> thresholds_of(const Arguments& arguments);  // --min-pct, --min-ns
void apply_gates(const Diff& diff, const Gates& gates, Report& report);

// What the letter of a trace is in names of columns: a, b, c, ... z, t26, t27, ...
std::string letter_of(std::size_t trace);

}  // namespace ridge::diff
