// An absent rank is made from a template: a rank whose groups are like its own. Each collective of the template is one of the
// absent rank's too: the same where they share the group, else that of the same step and order in the group like it.
#include "job/stand_ins.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "base/median.h"
#include "job/kernel_pace.h"
#include "job/mend_block.h"

namespace ridge {
namespace {

constexpr std::uint32_t kNoGroup = UINT32_MAX;

class StandInMaker {
 public:
  StandInMaker(const Job& recorded, const OwnTimes& own, Job* job) : recorded_(recorded), own_(own), job_(*job) {}

  void make() {
    find_absent();
    if (absent_.empty()) return;
    list_meetings();
    tell_transfers();
    const Peers peers = find_peers(job_);
    std::vector<Joined> joined(job_.meetings.size());
    const std::size_t given = job_.ranks.size();
    for (const std::int64_t rank : absent_) {
      if (const auto found = find_template(rank, given)) stand_in(rank, *found, peers, &joined);
    }
    join(joined);
  }

 private:
  using Joined = std::vector<Attendant>;
  // A collective in its group: who sends to whom, the step's number, its order in the step.
  using Place = std::tuple<std::uint32_t, std::int64_t, std::int64_t, std::int64_t, std::uint32_t>;

  struct Template {
    std::uint32_t rank = 0;
    std::map<std::uint32_t, std::uint32_t> groups = {};  // of the template: those of the absent rank; kNoGroup: not known
  };

  void find_absent() {
    std::set<std::int64_t> given, known;
    for (const JobRank& rank : job_.ranks) {
      if (!is_lost(rank)) given.insert(rank.rank);
    }
    for (const JobGroup& group : job_.groups) known.insert(group.ranks.begin(), group.ranks.end());
    for (const std::int64_t rank : known) {
      if (!given.contains(rank)) absent_.push_back(rank);
    }
    if (absent_.size() > given.size()) absent_.clear();  // of what is mostly not known nothing is made up
  }

  std::int64_t step_number(std::uint32_t r, std::uint32_t i) const {
    const Digest& digest = *job_.ranks[r].digest;
    const std::uint32_t step = digest.collectives[i].step;
    return step < digest.steps.size() ? digest.steps[step].number : 0;
  }

  // The places of a rank's collectives.
  std::vector<Place> places_of(std::uint32_t r) const {
    std::map<Place, std::uint32_t> counts;
    std::vector<Place> places;
    for (std::uint32_t i = 0; i < job_.meeting_of[r].size(); ++i) {
      const Meeting& meeting = job_.meetings[job_.meeting_of[r][i]];
      Place place{meeting.group, meeting.source, meeting.destination, step_number(r, i), 0};
      std::get<4>(place) = counts[place]++;
      places.push_back(place);
    }
    return places;
  }

  void list_meetings() {
    for (std::uint32_t r = 0; r < job_.ranks.size(); ++r) {
      const std::vector<Place> places = places_of(r);
      for (std::uint32_t i = 0; i < places.size(); ++i) {
        meeting_at_.try_emplace(places[i], job_.meeting_of[r][i]);
        const Meeting& meeting = job_.meetings[job_.meeting_of[r][i]];
        (meeting.point_to_point ? sends_ : collects_)[r].insert(meeting.group);
      }
    }
  }

  // What a transfer takes, in the median of those whose ranks are all there: what its like with absent ranks took longer, it
  // waited for them.
  void tell_transfers() {
    using Like = std::tuple<std::string, std::int64_t, std::string, std::int64_t>;
    std::map<Like, std::vector<std::int64_t>> whole;
    const auto like = [&](const Job& job, const Meeting& m) {
      return Like{job.names[m.name], m.bytes.value_or(-1), job.names[m.dtype], job.groups[m.group].size.value_or(0)};
    };
    for (const Meeting& meeting : recorded_.meetings) {
      if (meeting.complete && meeting.count > 1) whole[like(recorded_, meeting)].push_back(meeting.transfer_ns);
    }
    for (Meeting& meeting : job_.meetings) {
      if (meeting.point_to_point) continue;  // over links of many sorts: what the template's take
      const auto known = meeting.complete ? whole.end() : whole.find(like(job_, meeting));
      if (known != whole.end()) meeting.transfer_ns = std::min(meeting.transfer_ns, median(known->second));
    }
  }

  static std::optional<std::size_t> place_in(const JobGroup& group, std::int64_t rank) {
    const auto at = std::find(group.ranks.begin(), group.ranks.end(), rank);
    return at == group.ranks.end() ? std::nullopt : std::optional(static_cast<std::size_t>(at - group.ranks.begin()));
  }

  // The rank most of whose groups have their like among those of the absent one; of a pipeline the same stage.
  std::optional<Template> find_template(std::int64_t absent, std::size_t given) const {
    std::optional<Template> best;
    std::pair<std::size_t, std::size_t> most{0, 0};  // groups that are known, and those that both are in
    for (std::uint32_t r = 0; r < given; ++r) {
      if (!job_.ranks[r].aligned || is_lost(job_.ranks[r]) || job_.ranks[r].stands_in) continue;
      auto groups = map_groups(r, absent);
      if (!groups) continue;
      std::pair<std::size_t, std::size_t> score{0, 0};
      for (const auto& [own, theirs] : *groups) {
        score.first += theirs != kNoGroup;
        score.second += theirs == own;
      }
      if (score > most) most = score, best = Template{r, std::move(*groups)};
    }
    return best;
  }

  std::optional<std::map<std::uint32_t, std::uint32_t>> map_groups(std::uint32_t r, std::int64_t absent) const {
    std::map<std::uint32_t, std::uint32_t> mapped;
    std::set<std::uint32_t> taken;
    const auto groups_in = [&](const auto& of) {
      const auto found = of.find(r);
      return found == of.end() ? std::set<std::uint32_t>{} : found->second;
    };
    const std::set<std::uint32_t> sends = groups_in(sends_);
    std::set<std::uint32_t> all = groups_in(collects_);
    all.insert(sends.begin(), sends.end());
    for (const std::uint32_t g : all) {
      const JobGroup& own = job_.groups[g];
      const auto place = place_in(own, job_.ranks[r].rank);
      std::uint32_t found = kNoGroup;
      if (place_in(own, absent)) {
        if (sends.contains(g)) return std::nullopt;  // another stage
        found = g;
      }
      for (std::uint32_t h = 0; found == kNoGroup && h < job_.groups.size(); ++h) {
        const JobGroup& other = job_.groups[h];
        const auto theirs = place_in(other, absent);
        if (!theirs || taken.contains(h) || all.contains(h) || other.size != own.size || other.description != own.description)
          continue;
        if (sends.contains(g) ? theirs == place : true) found = h;
      }
      if (sends.contains(g) && found == kNoGroup) return std::nullopt;
      if (found != kNoGroup) taken.insert(found);
      mapped[g] = found;
    }
    return mapped;
  }

  void stand_in(std::int64_t rank, const Template& from, const Peers& peers, std::vector<Joined>* joined) {
    const JobRank& model = job_.ranks[from.rank];
    auto digest = std::make_shared<Digest>(*model.digest);
    const RankBlocks& blocks = peers.ranks[from.rank];
    const auto own = own_.find(rank);
    mend_rank(blocks, own != own_.end() ? own->second : peers.classes[blocks.peers].all, &digest->items);
    if (own == own_.end() && peers.classes[blocks.peers].ranks.size() < 2) at_usual_pace(from.rank, &digest->items);
    JobRank made = model;
    made.digest = digest.get();
    made.rank = rank;
    made.stands_in = own == own_.end();
    const auto lost =
        std::find_if(job_.ranks.begin(), job_.ranks.end(), [&](const JobRank& r) { return r.rank == rank && is_lost(r); });
    const auto r = static_cast<std::uint32_t>(lost - job_.ranks.begin());
    const std::vector<Place> places = places_of(from.rank);
    if (lost == job_.ranks.end()) {
      made.file.clear();
      job_.ranks.push_back(made);
      job_.meeting_of.emplace_back();
    } else {
      *lost = made;
    }
    job_.remade.push_back(std::move(digest));
    std::vector<std::uint32_t>& meetings = job_.meeting_of[r];
    meetings.clear();
    for (std::uint32_t i = 0; i < places.size(); ++i) {
      const std::uint32_t m = meeting_like(job_.meeting_of[from.rank][i], places[i], from, rank, joined);
      meetings.push_back(m);
      (*joined)[m].push_back({r, i});
    }
  }

  // A template without peers may be the slow one itself: its times as if it went at the pace of the others.
  void at_usual_pace(std::uint32_t r, std::vector<LaneItem>* items) {
    if (!pace_) pace_ = kernel_pace(job_);
    for (const BlockTime time : {BlockTime::device, BlockTime::host, BlockTime::loader}) {
      const double ratio = pace_->ratio(r, time).value_or(1);
      if (ratio <= 0) continue;
      for (LaneItem& item : *items) scale_item(time, 1 / ratio, &item);
    }
  }

  // The absent rank's meeting that is what `model` is to the template; one is made where no trace tells of it.
  std::uint32_t meeting_like(std::uint32_t model, Place place, const Template& from, std::int64_t rank,
                             std::vector<Joined>* joined) {
    const std::uint32_t own = std::get<0>(place), theirs = from.groups.at(own);
    if (theirs == kNoGroup) {
      place = {kNoGroup - own, rank, rank, std::get<3>(place), std::get<4>(place)};
    } else {
      std::get<0>(place) = theirs;
      for (std::int64_t* const end : {&std::get<1>(place), &std::get<2>(place)}) {
        const auto at = place_in(job_.groups[own], *end);
        if (at && *at < job_.groups[theirs].ranks.size()) *end = job_.groups[theirs].ranks[*at];
      }
    }
    const auto [it, is_new] = meeting_at_.try_emplace(place, static_cast<std::uint32_t>(job_.meetings.size()));
    if (is_new) {
      Meeting meeting = job_.meetings[model];
      if (theirs != kNoGroup) meeting.group = theirs;
      meeting.source = std::get<1>(place);
      meeting.destination = std::get<2>(place);
      meeting.count = 0;
      meeting.complete = false;
      job_.meetings.push_back(meeting);
      joined->emplace_back();
    } else if (job_.meetings[model].complete && job_.meetings[model].point_to_point) {
      Meeting& meeting = job_.meetings[it->second];
      meeting.transfer_ns = std::min(meeting.transfer_ns, job_.meetings[model].transfer_ns);
    }
    return it->second;
  }

  // Attendants anew, with those that stand in.
  void join(const std::vector<Joined>& joined) {
    std::vector<Attendant> attendants;
    for (std::uint32_t m = 0; m < job_.meetings.size(); ++m) {
      Meeting& meeting = job_.meetings[m];
      const auto first = static_cast<std::uint32_t>(attendants.size());
      const auto own = job_.attendants_of(meeting);
      attendants.insert(attendants.end(), own.begin(), own.end());
      attendants.insert(attendants.end(), joined[m].begin(), joined[m].end());
      meeting.first = first;
      meeting.count = static_cast<std::uint32_t>(attendants.size()) - first;
    }
    job_.attendants = std::move(attendants);
  }

  const Job& recorded_;  // before ranks were lost
  const OwnTimes& own_;
  Job& job_;
  std::vector<std::int64_t> absent_;
  std::optional<KernelPace> pace_;
  std::map<Place, std::uint32_t> meeting_at_;
  std::map<std::uint32_t, std::set<std::uint32_t>> sends_, collects_;  // by rank: groups
};

}  // namespace

bool is_lost(const JobRank& rank) { return rank.digest->damaged && rank.digest->collectives.empty(); }

void make_stand_ins(const Job& recorded, const OwnTimes& own, Job* job) { StandInMaker(recorded, own, job).make(); }

}  // namespace ridge
