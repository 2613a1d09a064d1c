// Short periods first; what they explain is no part of longer ones.
#include "analysis/findings/host_loops.h"

#include <algorithm>

#include "base/stop.h"

namespace ridge {
namespace {

constexpr std::uint32_t kMostOpsOfRound = 48;
// Layers of a model follow each other like rounds of a loop, but seldom so many of them.
constexpr std::uint32_t kFewestRounds = 20;

class LoopsOfThread {
 public:
  LoopsOfThread(const Facts& facts, std::uint32_t thread) : facts_(facts), thread_(thread) {
    const CallTree& tree = facts.tree();
    const HostThread& its = tree.threads[thread];
    std::int64_t until = INT64_MIN;
    for (std::uint32_t n = its.first; n < std::min(its.first + its.count, tree.recorded); ++n) {
      if (tree.event_class[n] != EventClass::op || tree.start_ns[n] < until) continue;
      until = tree.end_ns[n];
      if (facts.scope().holds(NodeId{n})) ops_.push_back(NodeId{n});
    }
    covered_.resize(ops_.size());
  }

  // Each stretch between two iterations' boundaries by itself.
  void find(std::vector<HostLoop>* out) {
    const Iterations& iterations = facts_.model().iterations();
    for (std::size_t from = 0; from < ops_.size();) {
      const auto its = iterations.at(start(from));
      std::size_t to = from + 1;
      while (to < ops_.size() && iterations.at(start(to)) == its) ++to;
      if (its) find_between(from, to, out);
      from = to;
    }
  }

 private:
  std::int64_t start(std::size_t i) const { return facts_.time(ops_[i]).start_ns; }
  StringId name(std::size_t i) const { return facts_.name_id(ops_[i]); }

  void find_between(std::size_t from, std::size_t to, std::vector<HostLoop>* out) {
    for (std::uint32_t period = 1; period <= kMostOpsOfRound && to - from >= period * kFewestRounds; ++period) {
      Stop::look();
      std::size_t begin = from;  // of a stretch that repeats
      for (std::size_t i = from + period; i <= to; ++i) {
        if (i < to && !covered_[i] && !covered_[i - period] && name(i) == name(i - period)) continue;
        add(begin, i, period, out);
        begin = i - period + 1;
      }
    }
  }

  void add(std::size_t begin, std::size_t end, std::uint32_t period, std::vector<HostLoop>* out) {
    const std::size_t rounds = end > begin ? (end - begin) / period : 0;
    if (rounds < kFewestRounds) return;
    HostLoop loop{.thread = thread_, .first = ops_[begin], .period = period, .rounds = static_cast<std::uint32_t>(rounds)};
    loop.time = {start(begin), facts_.time(ops_[end - 1]).end_ns};
    for (std::size_t i = begin; i < begin + period; ++i) loop.round.push_back(ops_[i]);
    std::fill(covered_.begin() + static_cast<std::ptrdiff_t>(begin), covered_.begin() + static_cast<std::ptrdiff_t>(end), true);
    out->push_back(std::move(loop));
  }

  const Facts& facts_;
  std::uint32_t thread_;
  std::vector<NodeId> ops_;  // outermost, in order of time
  std::vector<bool> covered_;
};

}  // namespace

std::vector<HostLoop> find_host_loops(const Facts& facts) {
  std::vector<HostLoop> out;
  if (is_guess(facts.model().iterations().rule)) return out;
  for (std::uint32_t thread = 0; thread < facts.tree().threads.size(); ++thread) LoopsOfThread(facts, thread).find(&out);
  std::sort(out.begin(), out.end(), [](const HostLoop& a, const HostLoop& b) {
    return std::pair(a.thread, a.time.start_ns) < std::pair(b.thread, b.time.start_ns);
  });
  return out;
}

}  // namespace ridge
