// Identity, steps, collectives and the most important kernels and ops; the items come from job/lane_builder.h.
#include "job/make_digest.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <map>
#include <unordered_map>

#include "base/hash.h"
#include "base/in_parallel.h"
#include "base/saturating.h"
#include "base/sort_runs.h"
#include "job/lane_builder.h"
#include "job/rank_work.h"
#include "job/sound_digest.h"
#include "trace/tables.h"

namespace ridge {
namespace {

constexpr std::size_t kMostKernels = 96, kMostOps = 48;
constexpr std::size_t kLongestName = 400;  // of a kernel or an op, in bytes

// "[0, 1, 2]" as numbers; nothing where it is cut short: "[0, 1, ..., 63]".
std::vector<std::int64_t> parse_ranks(std::string_view text) {
  std::vector<std::int64_t> ranks;
  if (text.find("...") != std::string_view::npos) return ranks;
  for (const char *at = text.data(), *end = at + text.size(); at < end;) {
    std::int64_t rank = 0;
    const auto [next, error] = std::from_chars(at, end, rank);
    if (error == std::errc{}) {
      ranks.push_back(rank);
      at = next;
    } else {
      ++at;
    }
  }
  return ranks;
}

std::string cut_name(std::string_view name) {
  std::size_t length = std::min(name.size(), kLongestName);
  while (length < name.size() && length > 0 && (static_cast<unsigned char>(name[length]) & 0xC0) == 0x80) --length;
  return std::string(name.substr(0, length));
}

std::uint32_t fold(std::uint64_t hash) { return static_cast<std::uint32_t>(hash ^ (hash >> 32)); }

std::uint16_t bucket_of(std::int64_t ns) {
  const auto value = static_cast<std::uint64_t>(std::max<std::int64_t>(1, ns));
  const auto octave = static_cast<unsigned>(std::bit_width(value)) - 1;
  const std::uint64_t part = octave >= 4 ? (value >> (octave - 4)) & 15 : (value << (4 - octave)) & 15;
  return static_cast<std::uint16_t>(std::uint64_t{octave} * 16 + part);
}

// The union of intervals that come in order of start, by step: how much of each step it covers.
class Coverage {
 public:
  Coverage(std::vector<DigestStep>* steps, std::int64_t DigestStep::* column) : steps_(steps), column_(column) {}

  void add(std::int64_t start, std::int64_t end) {
    start = std::max(start, covered_);
    if (end <= start) return;
    covered_ = end;
    while (at_ < steps_->size() && (*steps_)[at_].end_ns <= start) ++at_;
    for (std::size_t i = at_; i < steps_->size() && (*steps_)[i].start_ns < end; ++i) {
      DigestStep& step = (*steps_)[i];
      const std::int64_t length = std::min(end, step.end_ns) - std::max(start, step.start_ns);
      if (length > 0) saturating_add(&(step.*column_), length);
    }
  }

 private:
  std::vector<DigestStep>* steps_;
  std::int64_t DigestStep::* column_;
  std::int64_t covered_ = INT64_MIN;
  std::size_t at_ = 0;
};

class DigestMaker {
 public:
  explicit DigestMaker(const Model& model) : model_(model), trace_(model.trace()) {}

  Digest make() {
    add_identity();
    add_steps();
    const RankWork work = gather_rank_work(model_);
    add_device_name(work.device);
    at_once({trace_.events.size()}, [&] { add_work(work); }, [&] { add_ops(); });
    return std::move(digest_);
  }

 private:
  void add_identity() {
    const Metadata& metadata = trace_.metadata;
    digest_.path = trace_.path;
    digest_.host = metadata.host_name.value_or("");
    digest_.backend = metadata.backend.value_or("");
    digest_.rank = metadata.rank;
    digest_.world_size = metadata.world_size;
    digest_.base_time_ns = metadata.base_time_ns;
    digest_.end_ns = trace_.window.value_or(TimeRange{}).end_ns;
    for (std::size_t i = 0; i < kProblems; ++i) {
      const auto problem = static_cast<Problem>(i);
      if (trace_.diagnostics[problem].count > 0 && row_of(problem).severity == Severity::error) digest_.damaged = true;
    }
    for (const ProcessGroup& group : metadata.groups)
      digest_.groups.push_back({group.name, group.description, group.size, group.ranks});
  }

  // All but the ops, which are the host's alone.
  void add_work(const RankWork& work) {
    std::vector<std::uint32_t> by_start(work.issued.size());
    for (std::uint32_t i = 0; i < by_start.size(); ++i) by_start[i] = i;
    sort_runs(&by_start, [&](std::uint32_t a, std::uint32_t b) {
      return std::pair(work.issued[a].start_ns, a) < std::pair(work.issued[b].start_ns, b);
    });
    add_kernels(work);
    add_collectives(work);
    add_times(work, by_start);
    const TimeRange window = trace_.window.value_or(TimeRange{});
    digest_.start_ns = window.start_ns;
    if (window.end_ns - window.start_ns > kLongestWindowNs) return;  // unsound_part() says so
    BuiltLane lane = build_lane(work, hash_of_);
    digest_.items = std::move(lane.items);
    digest_.start_ns = lane.start_ns;
    for (const LaneRest& rest : lane.rests) {
      if (DigestStep* const step = step_at(rest.at_ns))
        saturating_add(&step->idle_ns[static_cast<std::size_t>(rest.cause)], rest.length_ns);
    }
  }

  void add_device_name(std::int64_t device) {
    for (const DeviceProperties& properties : trace_.metadata.devices) {
      if (digest_.device.empty() || properties.id == device) digest_.device = properties.name;
    }
  }

  void add_steps() {
    const Iterations& iterations = model_.iterations();
    digest_.iterations = name_of(iterations.rule);
    for (const Iteration& iteration : iterations.list) {
      digest_.steps.push_back(
          {.number = iteration.number, .start_ns = iteration.span.start_ns, .end_ns = iteration.span.end_ns});
      issued_from_.push_back(iteration.start_ns);
    }
  }

  DigestStep* step_at(std::int64_t ns) {
    const std::size_t i = step_index(ns);
    return i < digest_.steps.size() ? &digest_.steps[i] : nullptr;
  }
  // The step that holds a time, else the one before it; 0 where there is none.
  std::size_t step_index(std::int64_t ns) const {
    const auto after = std::upper_bound(digest_.steps.begin(), digest_.steps.end(), ns,
                                        [](std::int64_t t, const DigestStep& s) { return t < s.start_ns; });
    return after == digest_.steps.begin() ? 0 : static_cast<std::size_t>(after - digest_.steps.begin()) - 1;
  }

  // The step in which the host was, which may be far ahead of the device.
  std::size_t issuing_step(std::int64_t ns) const {
    const auto after = std::upper_bound(issued_from_.begin(), issued_from_.end(), ns);
    return after == issued_from_.begin() ? 0 : static_cast<std::size_t>(after - issued_from_.begin()) - 1;
  }

  std::uint32_t name_index(const std::string& name) {
    const auto [it, is_new] = names_.try_emplace(name, static_cast<std::uint32_t>(digest_.names.size()));
    if (is_new) digest_.names.push_back(name);
    return it->second;
  }

  // Of a collective: the group that the metadata lists, else one made from its arguments.
  std::uint32_t group_index(const RankCollective& collective) {
    const CollectiveArgs& args = collective.args;
    std::string key = args.process_group + '\n' + args.members + '\n' + std::to_string(args.ranks.value_or(-1));
    if (collective.on_host) key = "\nhost";
    const auto known = groups_.find(key);
    if (known != groups_.end()) return known->second;
    return groups_[key] = collective.on_host ? host_group() : find_group(args);
  }

  std::uint32_t find_group(const CollectiveArgs& args) {
    const std::vector<std::int64_t> ranks = parse_ranks(args.members);
    for (std::uint32_t i = 0; i < digest_.groups.size(); ++i) {
      const DigestGroup& group = digest_.groups[i];
      if (group.name == args.process_group && (!args.ranks || !group.size || *args.ranks == *group.size) &&
          (ranks.empty() || group.ranks.empty() || ranks == group.ranks)) {
        return i;
      }
    }
    const std::string& name = args.process_group.empty() ? args.group : args.process_group;
    digest_.groups.push_back({name, args.group, args.ranks, ranks});
    return static_cast<std::uint32_t>(digest_.groups.size() - 1);
  }

  // Collectives of the host do not name their group: it is told where all groups have the same members.
  std::uint32_t host_group() {
    const bool same = !digest_.groups.empty() && std::all_of(digest_.groups.begin(), digest_.groups.end(), [&](const auto& g) {
      return g.ranks == digest_.groups.front().ranks && g.size == digest_.groups.front().size;
    });
    if (same) return 0;
    digest_.groups.push_back({"host", "host", std::nullopt, {}});
    return static_cast<std::uint32_t>(digest_.groups.size() - 1);
  }

  void add_collectives(const RankWork& work) {
    digest_.collectives.reserve(work.collectives.size());
    for (const IssuedWork& issued : work.issued) {
      if (issued.collective == UINT32_MAX) continue;
      const RankCollective& from = work.collectives[issued.collective];
      DigestCollective& to = digest_.collectives.emplace_back();
      to.start_ns = from.start_ns;
      to.end_ns = from.end_ns;
      to.bytes = from.args.bytes();
      to.sequence = from.args.sequence;
      to.source = from.args.source_rank;
      to.destination = from.args.destination_rank;
      to.step = static_cast<std::uint32_t>(issuing_step(issued.issued_ns));
      to.group = group_index(from);
      to.name = name_index(from.args.name);
      to.dtype = name_index(from.args.dtype);
      to.on_host = from.on_host;
      if (DigestStep* const step = to.step < digest_.steps.size() ? &digest_.steps[to.step] : nullptr)
        saturating_add(&step->comm_ns, to.end_ns - to.start_ns);
    }
  }

  // Busy and computing time of each step, and what of each collective nothing covered.
  void add_times(const RankWork& work, const std::vector<std::uint32_t>& by_start) {
    Coverage busy(&digest_.steps, &DigestStep::busy_ns), compute(&digest_.steps, &DigestStep::compute_ns);
    std::vector<Interval> lane;         // the union of the lane's work
    std::vector<Interval> collectives;  // in order of start
    std::vector<Interval> copies = work.copies;
    std::sort(copies.begin(), copies.end());
    auto copy = copies.begin();
    for (const std::uint32_t i : by_start) {
      const IssuedWork& issued = work.issued[i];
      const bool on_host = issued.collective != UINT32_MAX && work.collectives[issued.collective].on_host;
      for (; copy != copies.end() && copy->first <= issued.start_ns; ++copy) busy.add(copy->first, copy->second);
      if (!on_host) busy.add(issued.start_ns, issued.end_ns);
      if (issued.collective != UINT32_MAX) {
        collectives.emplace_back(issued.start_ns, issued.end_ns);
        continue;
      }
      compute.add(issued.start_ns, issued.end_ns);
      if (lane.empty() || issued.start_ns > lane.back().second) {
        lane.emplace_back(issued.start_ns, issued.end_ns);
      } else {
        lane.back().second = std::max(lane.back().second, issued.end_ns);
      }
    }
    for (; copy != copies.end(); ++copy) busy.add(copy->first, copy->second);
    for (DigestCollective& collective : digest_.collectives)
      for_each_uncovered(lane, collective.start_ns, collective.end_ns,
                         [&](std::int64_t from, std::int64_t until) { collective.exposed_ns += until - from; });
    // Those that overlap count once.
    Coverage exposed(&digest_.steps, &DigestStep::exposed_ns);
    std::int64_t seen = INT64_MIN;
    for (const auto& [start, end] : collectives) {
      if (end <= seen) continue;
      for_each_uncovered(lane, std::max(start, seen), end,
                         [&](std::int64_t from, std::int64_t until) { exposed.add(from, until); });
      seen = end;
    }
  }

  using Interval = std::pair<std::int64_t, std::int64_t>;

  // The parts of [start, end) that none of the intervals, which are in order and apart, covers.
  template <class Part>
  static void for_each_uncovered(const std::vector<Interval>& lane, std::int64_t start, std::int64_t end, const Part& part) {
    auto it = std::upper_bound(lane.begin(), lane.end(), start,
                               [](std::int64_t t, const Interval& interval) { return t < interval.second; });
    for (; start < end && it != lane.end() && it->first < end; ++it) {
      if (it->first > start) part(start, it->first);
      start = std::max(start, it->second);
    }
    if (start < end) part(start, end);
  }

  void add_kernels(const RankWork& work) {
    struct Sum {
      std::uint32_t shape = 0;
      StringId name;
      std::int64_t count = 0, time_ns = 0;
      std::map<std::uint16_t, std::uint32_t> buckets = {};
    };
    const DeviceWorkTable table = device_work(trace_);
    hash_of_.assign(table.events.size(), 0);
    std::unordered_map<std::uint32_t, std::uint64_t> text_hash;  // by name
    std::unordered_map<std::uint64_t, Sum> sums;
    for (const IssuedWork& issued : work.issued) {
      if (issued.collective != UINT32_MAX) continue;
      const EventId event = table.events[issued.row];
      const auto hash = [&](StringId id) {
        const auto [it, is_new] = text_hash.try_emplace(id.value, 0);
        if (is_new) it->second = hash_text(trace_.text(id));
        return it->second;
      };
      const StringId name = trace_.events.name(event);
      const auto grid = table.grid.text(event), block = table.block.text(event);
      std::uint64_t shape = mix64(grid ? hash(*grid) : 1, 0x9E3779B97F4A7C15);
      shape = mix64(shape ^ (block ? hash(*block) : 2), 0xD6E8FEB86659FD93);
      const std::uint64_t whole = mix64(shape ^ hash(name), 0x9E3779B97F4A7C15);
      hash_of_[issued.row] = fold(whole) | 1;
      Sum& sum = sums[whole];
      sum.shape = fold(shape);
      sum.name = name;
      ++sum.count;
      saturating_add(&sum.time_ns, issued.end_ns - issued.start_ns);
      ++sum.buckets[bucket_of(issued.end_ns - issued.start_ns)];
    }
    for (auto& [hash, sum] : sums) {
      digest_.kernels.push_back({cut_name(trace_.text(sum.name)), sum.shape, sum.count, sum.time_ns, {}});
      digest_.kernels.back().times.buckets.assign(sum.buckets.begin(), sum.buckets.end());
    }
    keep_largest(&digest_.kernels, kMostKernels, [](const DigestKernel& k) { return std::tuple(-k.time_ns, k.name, k.shape); });
  }

  void add_ops() {
    const CallTree& tree = model_.tree();
    std::vector<std::int64_t> self(tree.recorded);
    for (std::uint32_t n = 0; n < tree.recorded; ++n) {
      if (tree.event_class[n] != EventClass::op && tree.event_class[n] != EventClass::launch) continue;
      const std::int64_t length = tree.end_ns[n] - tree.start_ns[n];
      if (tree.event_class[n] == EventClass::op) self[n] += length;
      const NodeId above = tree.parent[n] == kNoNode ? kNoNode : tree.op_of(tree.parent[n]);
      if (above != kNoNode) self[above.value] -= length;
    }
    std::unordered_map<std::uint32_t, DigestOp> sums;
    for (std::uint32_t n = 0; n < tree.recorded; ++n) {
      if (tree.event_class[n] != EventClass::op) continue;
      DigestOp& sum = sums[trace_.events.name(tree.event[n]).value];
      ++sum.count;
      saturating_add(&sum.self_ns, std::max<std::int64_t>(0, self[n]));
    }
    for (auto& [name, sum] : sums) {
      sum.name = cut_name(trace_.text(StringId{name}));
      digest_.ops.push_back(std::move(sum));
    }
    keep_largest(&digest_.ops, kMostOps, [](const DigestOp& op) { return std::tuple(-op.self_ns, op.name); });
  }

  template <class Row, class Key>
  static void keep_largest(std::vector<Row>* rows, std::size_t most, Key key) {
    std::sort(rows->begin(), rows->end(), [&](const Row& a, const Row& b) { return key(a) < key(b); });
    if (rows->size() > most) rows->resize(most);
    rows->shrink_to_fit();
  }

  const Model& model_;
  const Trace& trace_;
  Digest digest_;
  std::vector<std::uint32_t> hash_of_;     // by row of device work
  std::vector<std::int64_t> issued_from_;  // where the host begins each step
  std::map<std::string, std::uint32_t> names_, groups_;
};

}  // namespace

Digest make_digest(const Model& model) { return DigestMaker(model).make(); }

}  // namespace ridge
