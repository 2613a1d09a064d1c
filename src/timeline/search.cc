// Search over the names of slices. Each distinct name is matched once; the slices are then counted by name.
#include <algorithm>
#include <queue>

#include <re2/re2.h>

#include "timeline/state.h"

namespace ridge {
namespace {

constexpr std::size_t kLongestPattern = 1000;
constexpr std::string_view kRegexMark = "re:";

struct Hit {
  std::int64_t start_ns = 0;
  EventId event;
  Place place;

  bool operator<(const Hit& other) const { return std::pair(start_ns, event) < std::pair(other.start_ns, other.event); }
};

enum class Match : std::uint8_t { not_asked, no, yes };

}  // namespace

Result<SearchHits> Timeline::search(std::string_view text, std::size_t limit) const {
  if (text.empty() || text.size() > kLongestPattern) return fail(ErrorCode::usage, "'q' must have 1 to 1000 bytes");
  RE2::Options options;
  options.set_log_errors(false);
  options.set_case_sensitive(text.starts_with(kRegexMark));
  const bool regex = text.starts_with(kRegexMark);
  const std::string pattern =
      regex ? std::string(text.substr(kRegexMark.size())) : RE2::QuoteMeta(re2::StringPiece(text.data(), text.size()));
  const RE2 expression(pattern, options);
  if (!expression.ok())
    return fail(ErrorCode::usage, "'q' is no regular expression: " + expression.error(), "", "the syntax is RE2's");

  const Trace& trace = state_->trace();
  std::vector<Match> matches(trace.strings.size(), Match::not_asked);
  SearchHits out;
  std::priority_queue<Hit> first;  // the latest on top, to be replaced by an earlier one
  for (const Lane& lane : state_->lanes().lanes) {
    for (std::size_t r = 0; r < lane.rows.size(); ++r) {
      const LaneRow& row = lane.rows[r];
      for (std::size_t i = 0; i < row.size(); ++i) {
        Match& match = matches[row.name[i].value];
        if (match == Match::not_asked) {
          const std::string_view name = trace.text(row.name[i]);
          match = RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), expression) ? Match::yes : Match::no;
        }
        if (match == Match::no) continue;
        ++out.hits;
        const Hit hit{row.start_ns[i], row.event[i], {&lane, r, i}};
        if (first.size() < limit) {
          first.push(hit);
        } else if (!first.empty() && hit < first.top()) {
          first.pop();
          first.push(hit);
        }
      }
    }
  }
  out.results.resize(first.size());
  for (std::size_t i = first.size(); i-- > 0; first.pop()) out.results[i] = state_->ref(first.top().place);
  return out;
}

}  // namespace ridge
