// Job: the digests of one job's ranks side by side: who they are, which groups they form, and which collective of one rank is
// which of another (a meeting). Digests are referred to, not copied: they must outlive the Job.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <ridge/report.h>

#include "job/digest.h"

namespace ridge {

struct JobRank {
  const Digest* digest = nullptr;
  std::int64_t rank = 0;
  std::string file = {};  // what reports call its trace
  // What is added to a time of its own clock t: offset_ns + drift * (t - middle_ns). Without `aligned` the rank meets no other,
  // and its times are its own.
  std::int64_t offset_ns = 0;
  std::int64_t middle_ns = 0;
  double drift = 0;
  std::int64_t error_ns = 0;  // in each of its groups half of its ends are nearer to the others' than this
  bool aligned = false;
  std::uint32_t clock = 0;  // ranks of one number share a clock; others share no collective with them
  bool stands_in = false;   // for a rank whose trace is not there: made from its peers', to be replayed, never told of

  // Within what sums and differences of such times can hold, whatever the digests say.
  std::int64_t common(std::int64_t own_ns) const {
    constexpr std::int64_t kMost = std::int64_t{1} << 61;
    const auto gained = static_cast<std::int64_t>(drift * static_cast<double>(own_ns - middle_ns));
    return std::clamp(own_ns + offset_ns + gained, -kMost, kMost);
  }
};

// What a group of ranks is for.
enum class GroupRole : std::uint8_t { unknown, data, tensor, pipeline, expert, shard, context };
std::string_view name_of(GroupRole role);

struct JobGroup {
  std::string name;
  std::string label;  // the name; of several groups of one name also their ranks
  std::string description;
  std::optional<std::int64_t> size;
  GroupRole role = GroupRole::unknown;
  std::vector<std::uint32_t> members;  // indexes into Job::ranks, of those that take part
  std::vector<std::int64_t> ranks;     // all of them, where told; else those that take part
  bool one_host = false;               // all that take part are on one machine
  bool hosts_known = false;
};

// One collective, joined over the ranks that take part in it.
struct Meeting {
  std::uint32_t group = 0;
  std::uint32_t name = 0;  // index into Job::names
  std::uint32_t dtype = 0;
  std::uint32_t first = 0;  // its attendants: Job::attendants[first, first + count)
  std::uint32_t count = 0;
  std::uint32_t expected = 0;  // how many ranks take part; 0: not known
  std::optional<std::int64_t> bytes;
  std::int64_t source = -1, destination = -1;  // of a send and its receive: the ranks, by their numbers
  std::int64_t last_start_ns = 0;              // when the last of them began, by the common clock
  std::int64_t end_ns = 0;                     // median of their ends
  std::int64_t transfer_ns = 0;                // from the one to the other
  bool complete = false;                       // all that take part are there
  bool point_to_point = false;
};

struct Attendant {
  std::uint32_t rank = 0;        // index into Job::ranks
  std::uint32_t collective = 0;  // index into its digest's
};

struct Job {
  std::size_t given = 0;       // digests, also those that are left out
  std::vector<JobRank> ranks;  // in order of rank
  std::vector<JobGroup> groups;
  std::vector<std::string> names;
  std::vector<Meeting> meetings;
  std::vector<Attendant> attendants;
  std::vector<std::vector<std::uint32_t>> meeting_of;  // by rank and collective
  std::optional<std::int64_t> world_size;
  std::int64_t missing = 0;  // ranks that the world has and nobody gave
  std::vector<Diagnostic> diagnostics;
  std::vector<std::shared_ptr<const Digest>> remade;  // those that were not as the others' and are held here (remake_ranks.cc)

  std::span<const Attendant> attendants_of(const Meeting& meeting) const {
    return {attendants.data() + meeting.first, meeting.count};
  }
  std::uint64_t memory_bytes() const;  // without the digests
};

// Never fails: what cannot be joined is said in `diagnostics`, and the rest is there.
Job assemble_job(std::span<const Digest> digests);

}  // namespace ridge
