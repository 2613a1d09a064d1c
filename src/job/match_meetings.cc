// Groups by name, size and members; collectives of a group by their sequence number, where the trace has it, else by their
// order in the group, shifted where windows begin at different ones. A send meets the receive of the same order between its two
// ranks.
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/hash.h"
#include "base/let_go.h"
#include "job/job_steps.h"

namespace ridge {
namespace {

constexpr std::uint32_t kNone = UINT32_MAX;

// The collectives of one rank in one group, in order.
struct Attendance {
  std::uint32_t rank = 0;
  std::vector<std::uint32_t> collectives = {};
};

class MeetingMatcher {
 public:
  explicit MeetingMatcher(Job* job) : job_(*job) {}

  void match() {
    job_.meeting_of.resize(job_.ranks.size());
    for (std::uint32_t r = 0; r < job_.ranks.size(); ++r) {
      job_.meeting_of[r].assign(digest(r).collectives.size(), kNone);
      list_rank(r);
    }
    list_pairs();
    for (auto& [group, attendances] : groups_) meet(group, attendances, std::nullopt);
    for (auto& [pair, attendances] : pairs_)
      meet(std::get<0>(pair), attendances, std::pair(std::get<1>(pair), std::get<2>(pair)));
    meet_alone();
    if (unlike_ > 0) {
      job_.diagnostics.push_back({"collectives_differ", unlike_,
                                  "collectives of " + std::to_string(unlike_) + (unlike_ == 1 ? " rank" : " ranks") +
                                      " do not match those of the others in their group: are the traces of one run?"});
    }
  }

 private:
  const Digest& digest(std::uint32_t rank) const { return *job_.ranks[rank].digest; }
  const DigestCollective& collective(std::uint32_t rank, std::uint32_t i) const { return digest(rank).collectives[i]; }

  void list_rank(std::uint32_t r) {
    const Digest& own = digest(r);
    std::vector<std::uint32_t>& names = names_of_.emplace_back();
    for (const std::string& name : own.names) {
      const auto [it, is_new] = name_index_.try_emplace(name, static_cast<std::uint32_t>(job_.names.size()));
      if (is_new) job_.names.push_back(name);
      names.push_back(it->second);
    }
    std::vector<std::uint32_t>& group_of = group_of_.emplace_back(own.groups.size(), kNone);
    for (std::uint32_t i = 0; i < own.collectives.size(); ++i) {
      const DigestCollective& c = own.collectives[i];
      std::uint32_t& group = group_of[c.group];
      if (group == kNone) group = find_group(own.groups[c.group], job_.ranks[r].rank);
      join(r, group);
      if (other_end(r, c)) {
        points_.push_back({group, {r, i}});
      } else {
        add_to(&groups_[group], r, i);
      }
    }
  }

  // Sends and receives by their two ranks. PyTorch tells the other one by its number in the job; writers that count within the
  // group are known by numbers that no member has, or that are the rank's own.
  void list_pairs() {
    std::int64_t wrong_in_job = 0, wrong_in_group = 0;
    for (const Point& point : points_) {
      const std::vector<std::int64_t>& ranks = job_.groups[point.group].ranks;
      if (ranks.empty()) continue;
      const std::int64_t own = job_.ranks[point.attendant.rank].rank, other = other_of(point);
      wrong_in_job += other == own || !holds(ranks, other);
      const bool within = other >= 0 && other < std::ssize(ranks);
      wrong_in_group += !within || ranks[static_cast<std::size_t>(other)] == own;
    }
    for (const Point& point : points_) {
      const std::vector<std::int64_t>& ranks = job_.groups[point.group].ranks;
      const auto [r, i] = point.attendant;
      std::int64_t other = other_of(point);
      if (wrong_in_group < wrong_in_job && other >= 0 && other < std::ssize(ranks))
        other = ranks[static_cast<std::size_t>(other)];
      const std::int64_t own = job_.ranks[r].rank;
      const bool sends = is_send(r, collective(r, i));
      add_to(&pairs_[{point.group, sends ? own : other, sends ? other : own}], r, i);
    }
    let_go(points_);
  }

  static void add_to(std::vector<Attendance>* list, std::uint32_t rank, std::uint32_t i) {
    if (list->empty() || list->back().rank != rank) list->push_back({rank});
    list->back().collectives.push_back(i);
  }

  std::uint32_t find_group(const DigestGroup& group, std::int64_t rank) {
    std::string key = group.name + '\n' + std::to_string(group.size.value_or(-1));
    // Ranks of one group may list its members or not: whoever is among them joins.
    for (const std::uint32_t known : by_name_[key]) {
      const std::vector<std::int64_t>& ranks = job_.groups[known].ranks;
      if (ranks.empty() || group.ranks.empty() ? ranks.empty() || holds(ranks, rank) : ranks == group.ranks) {
        if (ranks.empty()) job_.groups[known].ranks = group.ranks;
        return known;
      }
    }
    const auto added = static_cast<std::uint32_t>(job_.groups.size());
    JobGroup& to = job_.groups.emplace_back();
    to.name = group.name;
    to.description = group.description;
    to.size = group.size;
    to.ranks = group.ranks;
    by_name_[key].push_back(added);
    return added;
  }

  static bool holds(const std::vector<std::int64_t>& ranks, std::int64_t rank) {
    return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
  }

  void join(std::uint32_t r, std::uint32_t group) {
    std::vector<std::uint32_t>& members = job_.groups[group].members;
    if (members.empty() || members.back() != r) members.push_back(r);
  }

  struct Point {  // a send or a receive
    std::uint32_t group;
    Attendant attendant;
  };

  bool is_send(std::uint32_t r, const DigestCollective& c) const { return digest(r).names[c.name].starts_with("send"); }

  // Of a send or a receive: the rank at its other end, as it is told.
  std::optional<std::int64_t> other_end(std::uint32_t r, const DigestCollective& c) const {
    if (is_send(r, c)) return c.destination;
    if (digest(r).names[c.name].starts_with("recv")) return c.source;
    return std::nullopt;
  }

  std::int64_t other_of(const Point& point) const {
    return *other_end(point.attendant.rank, collective(point.attendant.rank, point.attendant.collective));
  }

  std::uint64_t signature(std::uint32_t rank, std::uint32_t i, bool pair) const {
    const DigestCollective& c = collective(rank, i);
    const std::uint64_t name = pair ? 7 : names_of_[rank][c.name];
    return mix64(name + 1,
                 static_cast<std::uint64_t>(c.bytes.value_or(-1)) * 0x9E3779B97F4A7C15 + names_of_[rank][c.dtype] + 1);
  }

  std::int64_t step_number(std::uint32_t rank, std::uint32_t i) const {
    const std::uint32_t step = collective(rank, i).step;
    return step < digest(rank).steps.size() ? digest(rank).steps[step].number : 0;
  }

  // By how much the order of a rank's collectives has to be shifted to be that of another; nothing where they do not match.
  std::optional<std::int64_t> shift_to(const Attendance& other, const Attendance& own, bool pair) const {
    const auto theirs = static_cast<std::int64_t>(other.collectives.size());
    const auto ours = static_cast<std::int64_t>(own.collectives.size());
    // Steps that are marked with numbers tell it.
    std::optional<std::int64_t> anchor;
    if (digest(other.rank).iterations == "profiler_step" && digest(own.rank).iterations == "profiler_step") {
      std::map<std::int64_t, std::int64_t> first;  // of each step that they begin: not the one that the window cuts
      for (std::int64_t i = theirs; i-- > 0;)
        first[step_number(other.rank, other.collectives[static_cast<std::size_t>(i)])] = i;
      for (std::int64_t i = ours; i-- > 0;) {
        const auto found = first.find(step_number(own.rank, own.collectives[static_cast<std::size_t>(i)]));
        const bool begins = i == 0 || step_number(own.rank, own.collectives[static_cast<std::size_t>(i - 1)]) !=
                                          step_number(own.rank, own.collectives[static_cast<std::size_t>(i)]);
        if (found != first.end() && begins && (i > 0 || !anchor)) anchor = found->second - i;
      }
    }
    const auto score = [&](std::int64_t shift) {
      std::int64_t same = 0, overlap = 0;
      for (std::int64_t i = std::max<std::int64_t>(0, -shift); i < ours && i + shift < theirs; ++i, ++overlap) {
        same += signature(own.rank, own.collectives[static_cast<std::size_t>(i)], pair) ==
                signature(other.rank, other.collectives[static_cast<std::size_t>(i + shift)], pair);
      }
      return std::pair(same, overlap);
    };
    constexpr std::int64_t kFurthest = 48;
    std::vector<std::int64_t> candidates;
    if (anchor) candidates.push_back(*anchor);
    candidates.push_back(0);
    const auto first = score(candidates.front());
    if (!(first.first == first.second && first.second >= std::min(ours, theirs) - 1)) {
      for (std::int64_t shift = 1; shift <= kFurthest; ++shift) candidates.insert(candidates.end(), {shift, -shift});
    }
    std::int64_t best = candidates.front();
    auto best_score = first;
    for (const std::int64_t shift : candidates) {
      const auto found = score(shift);
      if (found.first > best_score.first + (anchor ? found.second / 10 : 0)) best = shift, best_score = found;
    }
    if (best_score.second == 0 || best_score.first * 2 < best_score.second) return std::nullopt;
    return best;
  }

  // The order of each collective in its group, the same for all ranks.
  std::vector<std::int64_t> order_by_sequence(const Attendance& own) const {
    std::vector<std::int64_t> order;
    std::int64_t last = INT64_MIN, repeats = 0;
    for (const std::uint32_t i : own.collectives) {
      const std::int64_t sequence = std::clamp<std::int64_t>(*collective(own.rank, i).sequence, -(1LL << 40), 1LL << 40);
      repeats = sequence == last ? repeats + 1 : 0;
      last = sequence;
      order.push_back(sequence * 1024 + std::min<std::int64_t>(repeats, 1023));
    }
    return order;
  }

  using Ends = std::optional<std::pair<std::int64_t, std::int64_t>>;  // of a send and its receive

  void meet(std::uint32_t group, std::vector<Attendance>& attendances, const Ends& ends) {
    const bool pair = ends.has_value();
    struct Entry {
      std::int64_t order;
      Attendant attendant;
    };
    std::vector<Entry> entries;
    const bool told = !pair && std::all_of(attendances.begin(), attendances.end(), [&](const Attendance& a) {
      return std::all_of(a.collectives.begin(), a.collectives.end(),
                         [&](std::uint32_t i) { return collective(a.rank, i).sequence.has_value(); });
    });
    const auto longest = std::max_element(attendances.begin(), attendances.end(), [](const auto& a, const auto& b) {
      return a.collectives.size() < b.collectives.size();
    });
    for (const Attendance& own : attendances) {
      std::vector<std::int64_t> order;
      if (told) {
        order = order_by_sequence(own);
      } else {
        const auto shift = own.rank == longest->rank ? std::optional<std::int64_t>(0) : shift_to(*longest, own, pair);
        if (!shift) {
          ++unlike_;
          continue;
        }
        for (std::size_t i = 0; i < own.collectives.size(); ++i) order.push_back(static_cast<std::int64_t>(i) + *shift);
      }
      for (std::size_t i = 0; i < order.size(); ++i) entries.push_back({order[i], {own.rank, own.collectives[i]}});
    }
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return std::pair(a.order, a.attendant.rank) < std::pair(b.order, b.attendant.rank);
    });
    for (std::size_t i = 0; i < entries.size();) {
      std::size_t end = i;
      while (end < entries.size() && entries[end].order == entries[i].order) ++end;
      add_meeting(group, ends, entries.data() + i, entries.data() + end);
      i = end;
    }
    let_go(attendances);
  }

  // What meets nobody is a meeting of one.
  void meet_alone() {
    struct Entry {
      Attendant attendant;
    };
    for (std::uint32_t r = 0; r < job_.ranks.size(); ++r) {
      for (std::uint32_t i = 0; i < job_.meeting_of[r].size(); ++i) {
        if (job_.meeting_of[r][i] != kNone) continue;
        const Entry alone{{r, i}};
        add_meeting(group_of_[r][collective(r, i).group], std::nullopt, &alone, &alone + 1);
      }
    }
  }

  template <class Entry>
  void add_meeting(std::uint32_t group, const Ends& ends, const Entry* first, const Entry* end) {
    Meeting meeting;
    const DigestCollective& c = collective(first->attendant.rank, first->attendant.collective);
    meeting.group = group;
    meeting.name = names_of_[first->attendant.rank][c.name];
    meeting.dtype = names_of_[first->attendant.rank][c.dtype];
    meeting.first = static_cast<std::uint32_t>(job_.attendants.size());
    meeting.point_to_point = ends.has_value();
    if (ends) meeting.source = ends->first, meeting.destination = ends->second;
    const auto index = static_cast<std::uint32_t>(job_.meetings.size());
    for (const Entry* entry = first; entry != end; ++entry) {
      const auto& [rank, i] = entry->attendant;
      if (entry != first && rank == (entry - 1)->attendant.rank) continue;  // a number twice: no meeting of the second
      const auto bytes = collective(rank, i).bytes;
      if (bytes) meeting.bytes = std::max(meeting.bytes.value_or(0), *bytes);
      job_.attendants.push_back(entry->attendant);
      job_.meeting_of[rank][i] = index;
      ++meeting.count;
    }
    const std::int64_t size =
        ends ? 2 : job_.groups[group].size.value_or(static_cast<std::int64_t>(job_.groups[group].members.size()));
    meeting.expected = static_cast<std::uint32_t>(std::clamp<std::int64_t>(size, 0, INT32_MAX));
    meeting.complete = meeting.count >= meeting.expected;
    job_.meetings.push_back(meeting);
  }

  Job& job_;
  std::vector<std::vector<std::uint32_t>> names_of_;  // by rank: its names as indexes into the job's
  std::vector<std::vector<std::uint32_t>> group_of_;  // by rank: its groups as indexes into the job's
  std::map<std::string, std::uint32_t> name_index_;
  std::map<std::string, std::vector<std::uint32_t>> by_name_;
  std::map<std::uint32_t, std::vector<Attendance>> groups_;
  std::vector<Point> points_;
  std::map<std::tuple<std::uint32_t, std::int64_t, std::int64_t>, std::vector<Attendance>> pairs_;
  std::int64_t unlike_ = 0;
};

}  // namespace

void match_meetings(Job* job) {
  job->groups.clear();
  job->names.clear();
  job->meetings.clear();
  job->attendants.clear();
  job->meeting_of.clear();
  MeetingMatcher(job).match();
  for (JobGroup& group : job->groups) {
    if (!group.ranks.empty()) continue;
    for (const std::uint32_t member : group.members) group.ranks.push_back(job->ranks[member].rank);
  }
}

std::uint64_t Job::memory_bytes() const {
  std::uint64_t bytes = sizeof(Job) + ranks.capacity() * sizeof(JobRank) + groups.capacity() * sizeof(JobGroup) +
                        meetings.capacity() * sizeof(Meeting) + attendants.capacity() * sizeof(Attendant);
  for (const JobGroup& group : groups)
    bytes += group.members.capacity() * sizeof(group.members[0]) + group.ranks.capacity() * sizeof(group.ranks[0]);
  for (const std::vector<std::uint32_t>& of_rank : meeting_of)
    bytes += sizeof(std::vector<std::uint32_t>) + of_rank.capacity() * sizeof of_rank[0];
  return bytes;
}

Job assemble_job(std::span<const Digest> digests) {
  Job job;
  choose_ranks(digests, &job);
  const std::vector<Diagnostic> chosen = job.diagnostics;
  match_meetings(&job);
  fit_clocks(&job);
  if (remake_ranks(&job)) {
    job.diagnostics = chosen;
    match_meetings(&job);
    fit_clocks(&job);
  }
  say_steps(&job);
  name_roles(&job);
  return job;
}

}  // namespace ridge
