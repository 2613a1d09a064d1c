// Blocks by one walk over the items; classes by a hash of the sequence of collectives in a step.
#include "job/peers.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/hash.h"
#include "base/median.h"

namespace ridge {
namespace {

void add_item(const LaneItem& item, LaneBlock* block) {
  block->ns[static_cast<int>(BlockTime::host)] += item.host_ns;
  if (item.kind == LaneItemKind::pause) block->pause_ns += item.host_ns;
  if (item.kind == LaneItemKind::loader) block->ns[static_cast<int>(BlockTime::loader)] += item.device_ns;
  if (item.kind != LaneItemKind::run) return;
  block->ns[static_cast<int>(BlockTime::device)] += item.device_ns;
  block->kernel_ns += item.kernel_ns;
  block->kernels += item.kernels;
  block->work_hash += item.work_hash;
}

// The blocks of a rank, and the sequence that most of its steps have.
RankBlocks blocks_of(const Job& job, std::uint32_t r) {
  RankBlocks found;
  const Digest& digest = *job.ranks[r].digest;
  std::map<std::uint64_t, std::int64_t> sequences;
  std::uint64_t sequence = 1;
  std::uint32_t step = UINT32_MAX, ordinal = 0;
  LaneBlock block;
  const auto end_step = [&] {
    if (step != UINT32_MAX) ++sequences[sequence];
    sequence = 1;
    ordinal = 0;
  };
  for (std::uint32_t i = 0; i < digest.items.size(); ++i) {
    const LaneItem& item = digest.items[i];
    add_item(item, &block);
    if (item.kind != LaneItemKind::collective) continue;
    const DigestCollective& c = digest.collectives[item.target];
    if (c.step != step) {
      end_step();
      step = c.step;
    }
    const Meeting& meeting = job.meetings[job.meeting_of[r][item.target]];
    const std::uint64_t what = meeting.name * 1'000'003ULL + static_cast<std::uint64_t>(c.bytes.value_or(0)) * 31 +
                               static_cast<std::uint64_t>(job.groups[meeting.group].size.value_or(0)) * 7;
    sequence = mix64(sequence ^ what, 0x9E3779B97F4A7C15) + 1;
    block.end = i + 1;
    block.place = found.blocks.empty() ? kOpening : kFirstPlace + ordinal;
    ++ordinal;
    found.blocks.push_back(block);
    block = {};
    block.first = i + 1;
  }
  end_step();
  block.end = static_cast<std::uint32_t>(digest.items.size());
  block.place = kClosing;
  if (block.end > block.first) found.blocks.push_back(block);
  const auto most =
      std::max_element(sequences.begin(), sequences.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most != sequences.end()) found.sequence = most->first;
  return found;
}

template <class Wanted>
std::vector<BlockMedians> medians_of(const Peers& peers, const PeerClass& of, const Wanted& wanted) {
  std::vector<std::vector<const LaneBlock*>> at;
  for (const std::uint32_t r : of.ranks) {
    for (const LaneBlock& block : peers.ranks[r].blocks) {
      if (block.place >= at.size()) at.resize(block.place + std::size_t{1});
      if (wanted(r)) at[block.place].push_back(&block);
    }
  }
  std::vector<BlockMedians> medians(at.size());
  std::vector<std::int64_t> values;
  for (std::size_t place = 0; place < at.size(); ++place) {
    if (at[place].empty()) continue;
    BlockMedians& of_place = medians[place];
    of_place.observed = static_cast<std::uint32_t>(at[place].size());
    for (std::size_t t = 0; t < kBlockTimes; ++t) {
      values.clear();
      for (const LaneBlock* block : at[place]) values.push_back(block->ns[t]);
      of_place.ns[t] = median(values);
    }
    values.clear();
    for (const LaneBlock* block : at[place]) values.push_back(block->pause_ns);
    of_place.pause_ns = median(values);
    std::unordered_map<std::uint64_t, std::uint32_t> kinds;
    std::uint32_t most = 0;
    for (const LaneBlock* block : at[place]) {
      const std::uint32_t count = ++kinds[static_cast<std::uint64_t>(block->kernels) << 32 | block->work_hash];
      if (count > most) most = count, of_place.kernels = block->kernels, of_place.work_hash = block->work_hash;
    }
  }
  return medians;
}

}  // namespace

Peers find_peers(const Job& job) {
  Peers peers;
  std::map<std::uint64_t, std::uint32_t> classes;
  for (std::uint32_t r = 0; r < job.ranks.size(); ++r) {
    RankBlocks& rank = peers.ranks.emplace_back(blocks_of(job, r));
    const auto [it, is_new] = classes.try_emplace(rank.sequence, static_cast<std::uint32_t>(peers.classes.size()));
    if (is_new) peers.classes.emplace_back();
    rank.peers = it->second;
    if (!job.ranks[r].stands_in) peers.classes[it->second].ranks.push_back(r);
  }
  for (PeerClass& of : peers.classes) of.all = medians_of(peers, of, [](std::uint32_t) { return true; });
  return peers;
}

std::vector<BlockMedians> medians_of_rank(const Peers& peers, std::uint32_t rank) {
  return medians_of(peers, peers.classes[peers.ranks[rank].peers], [&](std::uint32_t r) { return r == rank; });
}

std::vector<BlockMedians> medians_without(const Peers& peers, std::uint32_t rank) {
  return medians_of(peers, peers.classes[peers.ranks[rank].peers], [&](std::uint32_t r) { return r != rank; });
}

}  // namespace ridge
