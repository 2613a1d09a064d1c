// Words only: the figures are those of Diff.
#include "analysis/diff/headline.h"

#include <algorithm>

#include "base/units.h"

namespace ridge::diff {
namespace {

std::string change_text(std::string_view what, std::int64_t a, std::int64_t b) {
  std::string text =
      std::string(what) + " " + format_duration(static_cast<double>(a)) + " -> " + format_duration(static_cast<double>(b));
  if (a > 0) {
    const double percent = 100.0 * static_cast<double>(b - a) / static_cast<double>(a);
    text += std::string(" (") + (percent >= 0 ? "+" : "") + format_percent(percent) + ")";
  }
  return text;
}

std::string what_figures_are_of(const Diff& diff) {
  std::string ranges;  // the traces whose figures are of a stretch of time
  bool all = true;
  for (std::size_t t = 0; t < diff.sides.size(); ++t) {
    all = all && diff.sides[t].time_range;
    if (diff.sides[t].time_range) ranges += (ranges.empty() ? "" : ", ") + letter_of(t);
  }
  if (all) return "Between --from and --to (no whole iteration)";
  return ranges.empty() ? "Per iteration" : "Per iteration (" + ranges + ": between --from and --to, no whole iteration)";
}

}  // namespace

std::string headline(const Diff& diff) {
  std::string text = what_figures_are_of(diff) + ": ";
  for (std::size_t t = 1; t < diff.sides.size(); ++t) {
    const SideTotals &a = diff.sides[0], &b = diff.sides[t];
    const auto changed =
        std::count_if(diff.groups.begin(), diff.groups.end(), [&](const Group& g) { return g.changes[t].significant; });
    if (diff.sides.size() > 2) text += (t > 1 ? "; " : "") + letter_of(t) + ": ";
    text += (a.has_device && b.has_device ? change_text(gpu_time_words(diff), diff.listed[0].gpu_ns, diff.listed[t].gpu_ns)
                                          : "GPU time unknown") +
            ", " + change_text("wall time", a.wall_ns, b.wall_ns) + ", " + format_count(static_cast<std::int64_t>(changed)) +
            " of " + format_count(static_cast<std::int64_t>(diff.groups.size())) + " groups changed";
  }
  return text + ".";
}

}  // namespace ridge::diff
