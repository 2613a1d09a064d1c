// Search over the names of slices. Each distinct name is matched once; the slices are then counted by name. A page of hits in
// order of time is found by the times alone: where the page begins and ends among them is selected, not sorted, and only the
// hits between are looked at again.
#include <algorithm>

#include <re2/re2.h>

#include "timeline/state.h"

namespace ridge {
namespace {

constexpr std::size_t kLongestPattern = 1000;
constexpr std::string_view kRegexMark = "re:";

enum class Match : std::uint8_t { not_asked, no, yes };

std::int64_t start_of(const Place& place) { return place.lane->rows[place.row].start_ns[place.index]; }
EventId event_of(const Place& place) { return place.lane->rows[place.row].event[place.index]; }

template <class Visit>
void for_each_hit(const Lanes& lanes, const Trace& trace, const RE2& expression, std::vector<Match>& matches,
                  const Visit& visit) {
  for (const Lane& lane : lanes.lanes) {
    for (std::size_t r = 0; r < lane.rows.size(); ++r) {
      const LaneRow& row = lane.rows[r];
      for (std::size_t i = 0; i < row.size(); ++i) {
        Match& match = matches[row.name[i].value];
        if (match == Match::not_asked) {
          const std::string_view name = trace.text(row.name[i]);
          match = RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), expression) ? Match::yes : Match::no;
        }
        if (match == Match::yes) visit(Place{&lane, r, i});
      }
    }
  }
}

}  // namespace

Result<SearchHits> Timeline::search(std::string_view text, std::size_t limit, std::size_t skip) const {
  const Threads::Use use(state_->threads.get());
  if (text.empty() || text.size() > kLongestPattern) return fail(ErrorCode::usage, "'q' must have 1 to 1000 bytes");
  RE2::Options options;
  options.set_log_errors(false);
  options.set_case_sensitive(text.starts_with(kRegexMark));
  const bool regex = text.starts_with(kRegexMark);
  const std::string pattern =
      regex ? std::string(text.substr(kRegexMark.size())) : RE2::QuoteMeta(re2::StringPiece(text.data(), text.size()));
  const RE2 expression(pattern, options);
  if (!expression.ok())
    return fail(ErrorCode::usage, "'q' is not a valid regular expression: " + expression.error(), "", "the syntax is RE2's");

  const Trace& trace = state_->trace();
  std::vector<Match> matches(trace.strings.size(), Match::not_asked);
  std::vector<std::int64_t> starts;
  for_each_hit(state_->lanes(), trace, expression, matches, [&](const Place& place) { starts.push_back(start_of(place)); });
  SearchHits out;
  out.hits = static_cast<std::int64_t>(starts.size());
  if (skip >= starts.size() || limit == 0) return out;

  const std::size_t last = std::min(starts.size() - skip, limit) + skip - 1;
  const auto nth = [&](std::size_t n, std::size_t from) {
    const auto at = starts.begin() + static_cast<std::ptrdiff_t>(n);
    std::nth_element(starts.begin() + static_cast<std::ptrdiff_t>(from), at, starts.end());
    return *at;
  };
  const std::int64_t first_ns = nth(skip, 0);
  const std::int64_t last_ns = nth(last, skip);
  std::vector<Place> page;
  std::size_t before = 0;  // hits that start before the page does
  for_each_hit(state_->lanes(), trace, expression, matches, [&](const Place& place) {
    const std::int64_t start_ns = start_of(place);
    if (start_ns < first_ns) ++before;
    if (start_ns >= first_ns && start_ns <= last_ns) page.push_back(place);
  });
  std::sort(page.begin(), page.end(), [](const Place& a, const Place& b) {
    return std::pair(start_of(a), event_of(a)) < std::pair(start_of(b), event_of(b));
  });
  for (std::size_t i = skip - before; i <= last - before; ++i) out.results.push_back(state_->ref(page[i]));
  return out;
}

}  // namespace ridge
