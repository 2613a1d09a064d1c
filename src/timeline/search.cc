// Search over the names of slices. Each distinct name is matched once; the slices are then counted by name. A page of hits in
// order of time is found by the times alone: where the page begins and ends among them is selected, not sorted, and only the
// hits between are looked at again.
#include <algorithm>

#include <re2/re2.h>

#include "timeline/state.h"

namespace ridge {
namespace {

constexpr std::size_t kLongestPattern = 1000, kLongestName = 6000;
constexpr std::string_view kRegexMark = "re:", kExactMark = "=", kMore = "…";

// What is looked for: a part of names, a name or the beginning of one, an expression.
class Wanted {
 public:
  explicit Wanted(std::string_view text) {
    if (text.starts_with(kExactMark)) {
      begins_ = text.ends_with(kMore);
      name_ = text.substr(kExactMark.size());
      if (begins_) name_->resize(name_->size() - kMore.size());
      return;
    }
    RE2::Options options;
    options.set_log_errors(false);
    const bool regex = text.starts_with(kRegexMark);
    options.set_case_sensitive(regex);
    if (regex) text.remove_prefix(kRegexMark.size());
    const re2::StringPiece piece(text.data(), text.size());
    expression_.emplace(regex ? std::string(text) : RE2::QuoteMeta(piece), options);
  }

  // Empty: none.
  std::string error() const { return expression_ && !expression_->ok() ? expression_->error() : ""; }

  bool matches(std::string_view name) const {
    if (expression_) return RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), *expression_);
    return name == *name_ || (begins_ && name.starts_with(*name_));
  }

 private:
  std::optional<RE2> expression_;
  std::optional<std::string> name_;
  bool begins_ = false;
};

enum class Match : std::uint8_t { not_asked, no, yes };

std::int64_t start_of(const Place& place) { return place.lane->rows[place.row].start_ns[place.index]; }
EventId event_of(const Place& place) { return place.lane->rows[place.row].event[place.index]; }

template <class Visit>
void for_each_hit(const Lanes& lanes, const Trace& trace, const Wanted& wanted, std::vector<Match>& matches,
                  const Visit& visit) {
  for (const Lane& lane : lanes.lanes) {
    for (std::size_t r = 0; r < lane.rows.size(); ++r) {
      const LaneRow& row = lane.rows[r];
      for (std::size_t i = 0; i < row.size(); ++i) {
        Match& match = matches[row.name[i].value];
        if (match == Match::not_asked) {
          match = wanted.matches(trace.text(row.name[i])) ? Match::yes : Match::no;
        }
        if (match == Match::yes) visit(Place{&lane, r, i});
      }
    }
  }
}

std::optional<std::vector<std::string>> matched_names(const Trace& trace, const std::vector<Match>& matches) {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < matches.size(); ++i) {
    if (matches[i] != Match::yes) continue;
    if (names.size() == kMostMatchedNames) return std::nullopt;
    names.push_back(short_name(trace.text(StringId{i})));
  }
  return names;
}

}  // namespace

Result<SearchHits> Timeline::search(std::string_view text, std::size_t limit, std::size_t skip) const {
  const Threads::Use use(state_->threads.get());
  const bool exact = text.starts_with(kExactMark);
  const std::size_t longest = exact ? kLongestName : kLongestPattern;
  if (text.size() <= (exact ? kExactMark.size() : 0) || text.size() > longest)
    return fail(ErrorCode::usage, "'q' must have 1 to " + std::to_string(longest) + " bytes");
  const Wanted wanted(text);
  if (const std::string error = wanted.error(); !error.empty())
    return fail(ErrorCode::usage, "'q' is not a valid regular expression: " + error, "", "the syntax is RE2's");

  const Trace& trace = state_->trace();
  std::vector<Match> matches(trace.strings.size(), Match::not_asked);
  std::vector<std::int64_t> starts;
  for_each_hit(state_->lanes(), trace, wanted, matches, [&](const Place& place) { starts.push_back(start_of(place)); });
  SearchHits out;
  out.hits = static_cast<std::int64_t>(starts.size());
  out.names = matched_names(trace, matches);
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
  for_each_hit(state_->lanes(), trace, wanted, matches, [&](const Place& place) {
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
