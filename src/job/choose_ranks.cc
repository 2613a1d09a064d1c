// Ranks by what the trace says, else by the file's name, else by order. Those of another job, and the second of one rank, are
// left out and said.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "base/distinct_names.h"
#include "base/hash.h"
#include "base/saturating.h"
#include "job/job_steps.h"

namespace ridge {
namespace {

constexpr std::int64_t kSameRecordingNs = 60'000'000'000;  // ranks of one job record at one time

std::string file_of(const Digest& digest) { return std::filesystem::path(digest.path).filename().string(); }

// "rank12.json", "trace_rank-3.json.gz", "node0_r7.json": the number behind the last "rank", else behind a last "r".
std::optional<std::int64_t> rank_in_name(const std::string& file) {
  const auto number_at = [&](std::size_t at) -> std::optional<std::int64_t> {
    std::int64_t number = 0;
    std::size_t digits = 0;
    for (; at < file.size() && std::isdigit(static_cast<unsigned char>(file[at])) != 0 && digits < 9; ++at, ++digits)
      number = number * 10 + (file[at] - '0');
    return digits > 0 ? std::optional(number) : std::nullopt;
  };
  for (std::size_t at = file.rfind("rank"); at != std::string::npos;
       at = at == 0 ? std::string::npos : file.rfind("rank", at - 1)) {
    std::size_t digit = at + 4;
    if (digit < file.size() && (file[digit] == '_' || file[digit] == '-' || file[digit] == '.' || file[digit] == '=')) ++digit;
    if (const auto number = number_at(digit)) return number;
  }
  for (std::size_t at = file.size(); at-- > 1;) {
    const char before = file[at - 1];
    if (file[at] == 'r' && (before == '_' || before == '-' || before == '.')) {
      if (const auto number = number_at(at + 1)) return number;
    }
  }
  return std::nullopt;
}

std::int64_t absolute_start(const Digest& digest) {
  std::int64_t start = digest.start_ns;
  saturating_add(&start, digest.base_time_ns.value_or(0));
  return start;
}

// "rank0.json, rank1.json and 3 more".
std::string listed_files(const std::vector<const Digest*>& digests) {
  constexpr std::size_t kMost = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(kMost, digests.size()); ++i) text += (i > 0 ? ", " : "") + file_of(*digests[i]);
  if (digests.size() > kMost) text += " and " + std::to_string(digests.size() - kMost) + " more";
  return text;
}

// The most numerous of several sets of digests, told apart by a key; the others are said.
template <class Key>
std::vector<const Digest*> largest_set(const std::vector<const Digest*>& all, Key key, const std::string& why, Job* job) {
  using K = decltype(key(*all.front()));
  std::map<K, std::vector<const Digest*>> sets;
  for (const Digest* digest : all) sets[key(*digest)].push_back(digest);
  if (sets.size() < 2) return all;
  const auto largest = std::max_element(sets.begin(), sets.end(),
                                        [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  std::vector<const Digest*> others;
  for (const Digest* digest : all) {
    if (key(*digest) != largest->first) others.push_back(digest);
  }
  job->diagnostics.push_back({"other_job", 1,
                              std::to_string(others.size()) + (others.size() == 1 ? " trace is" : " traces are") +
                                  " of another job (" + why + "), left out: " + listed_files(others)});
  return largest->second;
}

// Recordings that do not overlap in time are those of several runs. Only of traces that say when they were recorded.
std::vector<const Digest*> one_recording(const std::vector<const Digest*>& all, Job* job) {
  if (std::any_of(all.begin(), all.end(), [](const Digest* d) { return !d->base_time_ns; })) return all;
  std::vector<const Digest*> by_time = all;
  std::stable_sort(by_time.begin(), by_time.end(),
                   [](const Digest* a, const Digest* b) { return absolute_start(*a) < absolute_start(*b); });
  std::map<const Digest*, int> run_of;
  int run = 0;
  std::int64_t last_end = INT64_MAX;
  for (const Digest* digest : by_time) {
    const std::int64_t start = absolute_start(*digest);
    if (last_end<start&& static_cast<std::uint64_t>(start) - static_cast<std::uint64_t>(last_end)> kSameRecordingNs) ++run;
    std::int64_t end = start;
    saturating_add(&end, std::max<std::int64_t>(0, digest->end_ns - digest->start_ns));
    last_end = last_end == INT64_MAX ? end : std::max(last_end, end);
    run_of[digest] = run;
  }
  return largest_set(all, [&](const Digest& d) { return run_of[&d]; }, "recorded minutes apart", job);
}

bool is_given_twice(const std::vector<const Digest*>& digests) {
  std::set<std::int64_t> seen;
  return std::any_of(digests.begin(), digests.end(), [&](const Digest* d) { return d->rank && !seen.insert(*d->rank).second; });
}

// What the group of all ranks does in a step, which is the same for all of them; 0 where the trace does not tell.
std::uint64_t work_of_all(const Digest& digest) {
  std::map<std::uint32_t, std::uint64_t> steps;
  for (const DigestCollective& c : digest.collectives) {
    const DigestGroup& group = digest.groups[c.group];
    if (!group.size || group.size != digest.world_size || c.source || c.destination) continue;
    std::uint64_t& step = steps[c.step];
    step = mix64(step + hash_text(digest.names[c.name]) + static_cast<std::uint64_t>(c.bytes.value_or(0)), 0x9E3779B97F4A7C15);
  }
  std::map<std::uint64_t, int> counts;
  for (const auto& [number, work] : steps) ++counts[work];
  const auto most =
      std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == counts.end() ? 0 : most->first;
}

// Two jobs in one folder: their ranks have the same numbers, and the group of all ranks does something else in each.
std::vector<const Digest*> one_program(const std::vector<const Digest*>& all, Job* job) {
  if (!is_given_twice(all)) return all;
  return largest_set(all, work_of_all, "another program", job);
}

// A group that a trace lists in its head, told by its name and all of its ranks.
std::uint64_t key_of(const DigestGroup& group) {
  std::uint64_t key = hash_text(group.name);
  for (const std::int64_t rank : group.ranks) key = mix64(key + static_cast<std::uint64_t>(rank) + 1, 0x9E3779B97F4A7C15);
  return key;
}

// Two ranks of one job list the same groups that hold both of them.
class ListedGroups {
 public:
  explicit ListedGroups(const std::vector<const Digest*>& all) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::vector<std::uint64_t>& own = of_.emplace_back();
      if (!all[i]->rank) continue;
      at_.emplace(*all[i]->rank, i);
      for (const DigestGroup& group : all[i]->groups) {
        if (group.ranks.size() < 2) continue;
        const std::uint64_t key = key_of(group);
        own.push_back(key);
        groups_.emplace(key, &group);
      }
      std::sort(own.begin(), own.end());
    }
  }

  // Whether some rank is in a group that it does not list, though another says so.
  bool contradict() const {
    return std::ranges::any_of(groups_, [&](const auto& group) {
      return std::ranges::any_of(group.second->ranks, [&](std::int64_t rank) {
        const auto at = at_.find(rank);
        return at != at_.end() && !of_[at->second].empty() && !lists(at->second, group.first);
      });
    });
  }

  bool agree(std::size_t a, std::int64_t rank_a, std::size_t b, std::int64_t rank_b) const {
    if (of_[a].empty() || of_[b].empty()) return true;
    return hold(a, rank_b, b) && hold(b, rank_a, a);
  }

 private:
  bool lists(std::size_t i, std::uint64_t key) const { return std::binary_search(of_[i].begin(), of_[i].end(), key); }
  // Every group of the one that holds the other is listed by the other.
  bool hold(std::size_t one, std::int64_t other_rank, std::size_t other) const {
    return std::ranges::all_of(of_[one], [&](std::uint64_t key) {
      const std::vector<std::int64_t>& ranks = groups_.at(key)->ranks;
      return lists(other, key) || std::find(ranks.begin(), ranks.end(), other_rank) == ranks.end();
    });
  }

  std::vector<std::vector<std::uint64_t>> of_;          // by digest, sorted
  std::map<std::uint64_t, const DigestGroup*> groups_;  // by key
  std::unordered_map<std::int64_t, std::size_t> at_;    // by rank
};

// Two jobs in one folder whose ranks have different numbers: what each says of its groups is not what the others say.
std::vector<const Digest*> one_layout(const std::vector<const Digest*>& all, Job* job) {
  constexpr std::size_t kMostWithEach = 2'048;  // each with each
  if (all.size() > kMostWithEach) return all;
  const ListedGroups listed(all);
  if (!listed.contradict()) return all;
  std::vector<std::vector<std::size_t>> sets;  // of digests of which no two contradict each other
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto fits = [&](const std::vector<std::size_t>& set) {
      return std::ranges::all_of(set, [&](std::size_t j) {
        return !all[i]->rank || !all[j]->rank || listed.agree(i, *all[i]->rank, j, *all[j]->rank);
      });
    };
    const auto set = std::ranges::find_if(sets, fits);
    (set == sets.end() ? sets.emplace_back() : *set).push_back(i);
  }
  // One that contradicts by itself may have listed its groups earlier or later than the others: that is no second job.
  std::map<const Digest*, std::size_t> set_of;
  for (std::size_t s = 0; s < sets.size(); ++s) {
    for (const std::size_t i : sets[s]) set_of[all[i]] = sets[s].size() > 1 ? s : 0;
  }
  return largest_set(all, [&](const Digest& d) { return set_of[&d]; }, "other process groups", job);
}

void keep_one_each(std::vector<JobRank>* ranks, Job* job) {
  std::stable_sort(ranks->begin(), ranks->end(), [](const JobRank& a, const JobRank& b) {
    const auto key = [](const JobRank& r) {
      return std::tuple(r.rank, r.digest->damaged, -static_cast<std::int64_t>(r.digest->collectives.size()));
    };
    return key(a) < key(b);
  });
  std::vector<const Digest*> twice;
  std::set<std::int64_t> which;
  for (const JobRank& rank : *ranks) {
    if (!job->ranks.empty() && job->ranks.back().rank == rank.rank) {
      twice.push_back(rank.digest);
      which.insert(rank.rank);
    } else {
      job->ranks.push_back(rank);
    }
  }
  if (twice.empty()) return;
  job->diagnostics.push_back({"rank_twice", 1,
                              (which.size() == 1 ? "rank " : "ranks ") + listed_ranks({which.begin(), which.end()}) +
                                  (which.size() == 1 ? " is given " : " are given ") +
                                  (twice.size() > which.size() ? "several times" : "twice") +
                                  "; left out: " + listed_files(twice)});
}

void say_missing(Job* job) {
  if (!job->world_size || *job->world_size <= static_cast<std::int64_t>(job->ranks.size())) return;
  constexpr std::int64_t kMostListed = 1'000'000;
  std::vector<std::int64_t> missing;
  std::size_t at = 0;
  for (std::int64_t rank = 0; rank < std::min(*job->world_size, kMostListed); ++rank) {
    while (at < job->ranks.size() && job->ranks[at].rank < rank) ++at;
    if (at == job->ranks.size() || job->ranks[at].rank != rank) missing.push_back(rank);
  }
  job->missing = *job->world_size - static_cast<std::int64_t>(job->ranks.size());
  job->diagnostics.push_back({"ranks_missing", 1,
                              std::to_string(job->missing) + " of " + std::to_string(*job->world_size) +
                                  (job->missing == 1 ? " ranks is missing (" : " ranks are missing (") + listed_ranks(missing) +
                                  "): who waited for them shows as slow transfer"});
}

}  // namespace

std::string listed_ranks(const std::vector<std::int64_t>& ranks) {
  constexpr std::size_t kMost = 8;
  std::string text;
  std::size_t ranges = 0;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (ranges++ == kMost) return text + ", ...";
    text += (text.empty() ? "" : ", ") + std::to_string(ranks[i]) + (last > i ? "-" + std::to_string(ranks[last]) : "");
    i = last + 1;
  }
  return text;
}

void choose_ranks(std::span<const Digest> digests, Job* job) {
  std::vector<const Digest*> chosen;
  std::vector<std::string> paths;  // also of those that are left out: names stay those of all
  for (const Digest& digest : digests) {
    chosen.push_back(&digest);
    paths.push_back(digest.path);
  }
  job->given = digests.size();
  if (chosen.empty()) return;
  chosen = largest_set(chosen, [](const Digest& d) { return d.world_size.value_or(-1); }, "another world size", job);
  chosen = largest_set(chosen, [](const Digest& d) { return d.backend; }, "another backend", job);
  chosen = one_recording(chosen, job);
  chosen = one_program(chosen, job);
  chosen = one_layout(chosen, job);

  std::vector<JobRank> ranks;
  std::vector<const Digest*> by_name, by_order;
  for (const Digest* digest : chosen) {
    if (digest->rank) continue;
    (rank_in_name(file_of(*digest)) ? by_name : by_order).push_back(digest);
  }
  // Names tell ranks apart, or none of them is believed.
  std::set<std::int64_t> named;
  for (const Digest* digest : by_name) named.insert(*rank_in_name(file_of(*digest)));
  const bool names_tell = named.size() == by_name.size() && by_order.empty();
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const Digest* digest = chosen[i];
    std::int64_t rank = static_cast<std::int64_t>(i);
    if (digest->rank) rank = *digest->rank;
    if (!digest->rank && names_tell) rank = *rank_in_name(file_of(*digest));
    ranks.push_back({.digest = digest, .rank = rank});
  }
  const std::size_t untold = by_name.size() + by_order.size();
  if (untold > 0) {
    job->diagnostics.push_back(
        {"rank_unknown", 1,
         std::to_string(untold) +
             (untold == 1 ? " trace does not say which rank it is" : " traces do not say which ranks they are") + ": told by " +
             (names_tell ? "the names of the files" : "the order in which they are given")});
  }
  keep_one_each(&ranks, job);
  const std::vector<std::string> names = distinct_names(paths);
  for (JobRank& rank : job->ranks) rank.file = names[static_cast<std::size_t>(rank.digest - digests.data())];
  for (const JobRank& rank : job->ranks) {
    if (rank.digest->world_size) job->world_size = rank.digest->world_size;
  }
  say_missing(job);
}

void say_steps(Job* job) {
  std::vector<const Digest*> damaged, lost, odd, unmarked;
  std::map<std::size_t, std::size_t> counts;
  for (const JobRank& rank : job->ranks) {
    const bool nothing_whole = rank.digest->damaged && rank.digest->collectives.empty();
    if (rank.digest->damaged) (nothing_whole ? lost : damaged).push_back(rank.digest);
    if (!nothing_whole) ++counts[rank.digest->steps.size()];
    const bool remade = std::ranges::any_of(job->remade, [&](const auto& digest) { return digest.get() == rank.digest; });
    if (remade && !rank.digest->damaged) unmarked.push_back(rank.digest);
  }
  if (!damaged.empty()) {
    job->diagnostics.push_back(
        {"rank_damaged", 1, "damaged, and kept as far as their steps are whole: " + listed_files(damaged)});
  }
  if (!lost.empty()) {
    job->diagnostics.push_back({"rank_damaged", 1, "damaged before a step is whole, and not compared: " + listed_files(lost)});
  }
  if (!unmarked.empty()) {
    job->diagnostics.push_back(
        {"steps_by_others", 1,
         "without the marks of steps that the others have; steps are those of the ranks they meet: " + listed_files(unmarked)});
  }
  if (counts.size() < 2) return;
  const auto most = std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second, a.first) < std::pair(b.second, b.first);  // of equally many the longer one
  });
  for (const JobRank& rank : job->ranks) {
    const bool nothing_whole = rank.digest->damaged && rank.digest->collectives.empty();
    if (!nothing_whole && rank.digest->steps.size() != most->first) odd.push_back(rank.digest);
  }
  job->diagnostics.push_back(
      {"steps_differ", 1,
       "another number of steps than the other ranks' " + std::to_string(most->first) + ": " + listed_files(odd)});
}

}  // namespace ridge
