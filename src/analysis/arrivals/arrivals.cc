// Meetings -> rows, and the rows as a table.
#include "analysis/arrivals/arrivals.h"

#include <algorithm>
#include <charconv>

#include "analysis/catalog.h"
#include "analysis/ranks/ranks.h"
#include "analysis/shared/cells.h"
#include "base/try.h"

namespace ridge {
namespace {

std::int64_t first_step_start(const Digest& digest) { return digest.steps.empty() ? 0 : digest.steps.front().start_ns; }

class ArrivalList {
 public:
  explicit ArrivalList(const Job& job) : job_(job), origin_(clock_origin(job)) {}

  void add(std::uint32_t m) {
    const Meeting& meeting = job_.meetings[m];
    std::optional<std::int64_t> first;
    for (const Attendant& a : job_.attendants_of(meeting)) {
      const JobRank& rank = job_.ranks[a.rank];
      if (!rank.aligned) continue;
      const std::int64_t start = rank.common(rank.digest->collectives[a.collective].start_ns);
      first = std::min(first.value_or(start), start);
    }
    for (const Attendant& a : job_.attendants_of(meeting)) {
      const JobRank& rank = job_.ranks[a.rank];
      const DigestCollective& c = rank.digest->collectives[a.collective];
      const MeetingPart part = part_in(job_, meeting, a);
      Arrival& arrival = list_.emplace_back();
      arrival.meeting = m;
      arrival.rank = a.rank;
      arrival.collective = a.collective;
      arrival.own_start_ns = c.start_ns - first_step_start(*rank.digest);
      arrival.wait_ns = part.wait_ns;
      arrival.transfer_ns = part.transfer_ns;
      if (!rank.aligned) continue;
      arrival.start_ns = rank.common(c.start_ns) - origin_;
      arrival.after_ns = rank.common(c.start_ns) - *first;
    }
  }
  void add_of_rank(std::uint32_t r, std::optional<std::int64_t> own_start_ns) {
    const Digest& digest = *job_.ranks[r].digest;
    for (std::uint32_t i = 0; i < digest.collectives.size(); ++i) {
      if (own_start_ns && digest.collectives[i].start_ns - first_step_start(digest) != *own_start_ns) continue;
      if (job_.meeting_of[r][i] != UINT32_MAX) add(job_.meeting_of[r][i]);
    }
  }

  std::vector<Arrival> take() { return std::move(list_); }

 private:
  const Job& job_;
  const std::int64_t origin_;
  std::vector<Arrival> list_;
};

Result<std::optional<std::int64_t>> whole_number(const Arguments& arguments, std::string_view name) {
  const auto given = arguments.find(name);
  if (given == arguments.end()) return std::optional<std::int64_t>();
  std::int64_t value = 0;
  const char* const end = given->second.data() + given->second.size();
  const auto [stop, error] = std::from_chars(given->second.data(), end, value);
  if (error != std::errc{} || stop != end)
    return fail(ErrorCode::usage, "invalid value '" + given->second + "' for --" + std::string(name), "",
                "give a whole number");
  return std::optional(value);
}

}  // namespace

std::vector<Arrival> find_arrivals(const Job& job, std::optional<std::int64_t> rank, std::optional<std::int64_t> own_start_ns) {
  ArrivalList list(job);
  if (!rank) {
    for (std::uint32_t m = 0; m < job.meetings.size(); ++m) list.add(m);
    return list.take();
  }
  const auto found = std::ranges::find(job.ranks, *rank, &JobRank::rank);
  if (found != job.ranks.end()) list.add_of_rank(static_cast<std::uint32_t>(found - job.ranks.begin()), own_start_ns);
  return list.take();
}

Report report_arrivals(const Job& job, const std::vector<Arrival>& arrivals) {
  Table table;
  table.name = "arrivals";
  table.hints.important = {"name", "group", "step", "rank", "start_ns", "after_ns", "wait_ns", "transfer_ns"};
  table.columns = {{"meeting", Type::integer},
                   {"name", Type::text},
                   {"group", Type::text},
                   {"step", Type::integer},
                   {"rank", Type::integer},
                   {"start_ns", Type::integer, Unit::ns},
                   {"after_ns", Type::integer, Unit::ns},
                   {"wait_ns", Type::integer, Unit::ns},
                   {"transfer_ns", Type::integer, Unit::ns},
                   {"bytes", Type::integer, Unit::bytes},
                   {"expected", Type::integer, Unit::count},
                   {"own_start_ns", Type::integer, Unit::ns}};
  for (const Arrival& arrival : arrivals) {
    const Meeting& meeting = job.meetings[arrival.meeting];
    const JobRank& rank = job.ranks[arrival.rank];
    const std::vector<DigestStep>& steps = rank.digest->steps;
    const std::uint32_t step = rank.digest->collectives[arrival.collective].step;
    table.add_row({static_cast<std::int64_t>(arrival.meeting), job.names[meeting.name],
                   cells::text(job.groups[meeting.group].label), step < steps.size() ? Cell(steps[step].number) : Cell(),
                   rank.rank, cells::integer(arrival.start_ns), cells::integer(arrival.after_ns), arrival.wait_ns,
                   arrival.transfer_ns, cells::integer(meeting.bytes),
                   meeting.expected > 0 ? Cell(static_cast<std::int64_t>(meeting.expected)) : Cell(), arrival.own_start_ns});
  }
  Report report;
  report.tables.push_back(std::move(table));
  report.diagnostics = job.diagnostics;
  return report;
}

Result<Report> run_arrivals(const Job& job, const Job*, const Arguments& arguments) {
  TRY(const auto rank, whole_number(arguments, "rank"));
  TRY(const auto at, whole_number(arguments, "at"));
  if (at && !rank) return fail(ErrorCode::usage, "--at needs --rank", "", "ridge arrivals FOLDER --rank 3 --at 1200300");
  if (rank && std::ranges::find(job.ranks, *rank, &JobRank::rank) == job.ranks.end())
    return fail(ErrorCode::usage, "no rank " + std::to_string(*rank) + " among the traces");
  return report_arrivals(job, find_arrivals(job, rank, at));
}

}  // namespace ridge
