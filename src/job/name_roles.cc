// What groups are for: by their description, else by what they are used for, else by which ranks they join.
#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <string_view>

#include "base/median.h"
#include "job/job_steps.h"

namespace ridge {
namespace {

// Words in the descriptions that Megatron, DeepSpeed, TorchTitan and device meshes give; the first that is found decides.
struct RoleWord {
  std::string_view word;  // in lower case; one of two letters stands alone or between marks
  GroupRole role;
};
constexpr RoleWord kWords[] = {
    {"expert", GroupRole::expert},
    {"ep", GroupRole::expert},
    {"tensor", GroupRole::tensor},
    {"tp", GroupRole::tensor},
    {"model_parallel", GroupRole::tensor},
    {"pipeline", GroupRole::pipeline},
    {"pp", GroupRole::pipeline},
    {"context", GroupRole::context},
    {"cp", GroupRole::context},
    {"sequence", GroupRole::context},
    {"fsdp", GroupRole::shard},
    {"shard", GroupRole::shard},
    {"data", GroupRole::data},
    {"ddp", GroupRole::data},
    {"dp", GroupRole::data},
    {"replicate", GroupRole::data},
};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    if (word.size() > 3) return true;
    const auto letter = [&](std::size_t i) {
      return i < text.size() && std::isalpha(static_cast<unsigned char>(text[i])) != 0;
    };
    if ((at == 0 || !letter(at - 1)) && !letter(at + word.size())) return true;
  }
  return false;
}

GroupRole role_by_description(const JobGroup& group) {
  const std::string text = lower(group.description);
  for (const RoleWord& row : kWords) {
    if (has_word(text, row.word)) return row.role;
  }
  return GroupRole::unknown;
}

// What a group's collectives are, summed over its meetings.
struct GroupUse {
  std::int64_t all = 0, reduce = 0, gather_or_scatter = 0, to_all = 0, pairs = 0;
  std::int64_t waited_for = 0;  // that the lane waited for at once, before any other work was issued
  std::int64_t asked = 0;       // of those that were looked at
};

// Names without underscores: allreduce, allgatherbase.
std::string plain_name(std::string_view name) {
  std::string out = lower(name);
  std::erase(out, '_');
  return out;
}

std::vector<GroupUse> uses_of(const Job& job) {
  std::vector<GroupUse> uses(job.groups.size());
  std::vector<std::array<bool, 3>> kinds;
  for (const std::string& name : job.names) {
    const std::string plain = plain_name(name);
    kinds.push_back({plain.starts_with("allreduce"), plain.starts_with("allgather") || plain.starts_with("reducescatter"),
                     plain.starts_with("alltoall")});
  }
  for (const Meeting& meeting : job.meetings) {
    GroupUse& use = uses[meeting.group];
    ++use.all;
    use.pairs += meeting.point_to_point;
    use.reduce += kinds[meeting.name][0];
    use.gather_or_scatter += kinds[meeting.name][1];
    use.to_all += kinds[meeting.name][2];
  }
  // Of the ranks, some tell enough.
  constexpr std::size_t kAsked = 16;
  for (std::size_t r = 0; r < std::min(kAsked, job.ranks.size()); ++r) {
    const Digest& digest = *job.ranks[r].digest;
    std::uint32_t last = kNoCollective;  // issued, and no work since
    for (const LaneItem& item : digest.items) {
      if (item.kind == LaneItemKind::run) last = kNoCollective;
      const bool issued = item.kind == LaneItemKind::collective;
      if (!issued && (item.kind != LaneItemKind::wait || item.target != last)) continue;
      const std::uint32_t m = job.meeting_of[r][item.target];
      if (m != UINT32_MAX) ++(issued ? uses[job.meetings[m].group].asked : uses[job.meetings[m].group].waited_for);
      last = issued ? item.target : kNoCollective;
    }
  }
  return uses;
}

bool is_contiguous(const std::vector<std::int64_t>& ranks) {
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    if (ranks[i] != ranks[i - 1] + 1) return false;
  }
  return true;
}

GroupRole role_by_use(const JobGroup& group, const GroupUse& use, double steps, bool others_reduce, bool of_all) {
  if (use.all == 0) return GroupRole::unknown;
  if (use.pairs * 2 > use.all) return GroupRole::pipeline;
  if (use.to_all * 2 > use.all) return GroupRole::expert;
  if (use.gather_or_scatter * 2 > use.all) return GroupRole::shard;
  if (use.reduce * 2 <= use.all || of_all) return GroupRole::unknown;
  // All-reduces: of activations between neighbours, several a step and each waited for before anything else is issued; of
  // gradients across them, beside the work that makes the next ones, or one for all of them.
  constexpr double kFewest = 2;
  const bool blocks = use.waited_for * 2 > use.asked && static_cast<double>(use.reduce) > kFewest * steps;
  return (blocks || others_reduce) && is_contiguous(group.ranks) ? GroupRole::tensor : GroupRole::data;
}

// "1 (0-3)", "1 (4-7)": groups that share a name.
void label_groups(Job* job) {
  std::map<std::string_view, std::size_t> named;
  for (const JobGroup& group : job->groups) ++named[group.name];
  for (JobGroup& group : job->groups)
    group.label = named[group.name] < 2 ? group.name : group.name + " (" + listed_ranks(group.ranks) + ")";
}

}  // namespace

std::string_view name_of(GroupRole role) {
  switch (role) {
    case GroupRole::data: return "data";
    case GroupRole::tensor: return "tensor";
    case GroupRole::pipeline: return "pipeline";
    case GroupRole::expert: return "expert";
    case GroupRole::shard: return "fsdp_shard";
    case GroupRole::context: return "context";
    default: return "";
  }
}

void name_roles(Job* job) {
  label_groups(job);
  // Who takes part in what all ranks of the world do is a group of that size, where nobody says another.
  for (JobGroup& group : job->groups) {
    if (!group.size && job->world_size == static_cast<std::int64_t>(group.members.size())) group.size = job->world_size;
  }
  const std::vector<GroupUse> uses = uses_of(*job);
  std::vector<std::int64_t> counts;
  for (const JobRank& rank : job->ranks) counts.push_back(static_cast<std::int64_t>(rank.digest->steps.size()));
  const double steps = counts.empty() ? 1 : std::max(1.0, static_cast<double>(median(std::move(counts))));
  // Ranks that groups across others reduce over too: then those of neighbours reduce for something else.
  std::vector<bool> reduces_across(job->ranks.size(), false);
  for (std::size_t g = 0; g < job->groups.size(); ++g) {
    const JobGroup& group = job->groups[g];
    if (uses[g].reduce == 0 || is_contiguous(group.ranks) || group.size == job->world_size) continue;
    for (const std::uint32_t r : group.members) reduces_across[r] = true;
  }
  for (std::size_t g = 0; g < job->groups.size(); ++g) {
    JobGroup& group = job->groups[g];
    std::set<std::string_view> hosts;
    for (const std::uint32_t r : group.members) hosts.insert(job->ranks[r].digest->host);
    // Of a group whose other ranks are not given, one machine is no more than a beginning.
    const bool all = group.size && *group.size <= static_cast<std::int64_t>(group.members.size());
    group.hosts_known = !hosts.empty() && !hosts.contains("") && (all || hosts.size() > 1);
    group.one_host = group.hosts_known && hosts.size() == 1;
    group.role = role_by_description(group);
    if (group.role != GroupRole::unknown) continue;
    const bool others_reduce = std::ranges::any_of(group.members, [&](std::uint32_t r) { return reduces_across[r]; });
    // Among smaller groups that of all ranks reduces what belongs to none of them: a loss, a norm.
    const bool of_all = job->groups.size() > 1 && group.size && group.size == job->world_size;
    group.role = role_by_use(group, uses[g], steps, others_reduce, of_all);
  }
}

}  // namespace ridge
