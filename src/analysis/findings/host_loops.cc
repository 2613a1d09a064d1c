// Short periods first; what they explain is no part of longer ones.
#include "analysis/findings/host_loops.h"

#include <algorithm>

#include "base/stop.h"

namespace ridge {
namespace {

constexpr std::uint32_t kMostOpsOfRound = 48;
// Layers of a model follow each other like rounds of a loop, but seldom so many of them.
constexpr std::uint32_t kFewestRounds = 20;
constexpr std::uint32_t kFewestGathered = 4;  // of rounds that are put together

constexpr std::string_view kGathers[] = {"aten::stack",  "aten::cat",    "aten::concat", "aten::concatenate",
                                         "aten::hstack", "aten::vstack", "aten::dstack", "aten::column_stack"};
bool is_gather(std::string_view op) { return std::ranges::find(kGathers, op) != std::end(kGathers); }
bool is_gather_backward(std::string_view op) {
  return op.ends_with("StackBackward0") || op.ends_with("CatBackward0") || op.ends_with("ConcatBackward0");
}

bool same_sizes(const OpCall& one, const OpCall& other) {
  const auto sizes = [](const OpArgument& a, const OpArgument& b) {
    return a.kind == b.kind && a.tensor.sizes == b.tensor.sizes && a.list.size() == b.list.size();
  };
  return std::ranges::equal(one.arguments, other.arguments, sizes);
}

class LoopsOfThread {
 public:
  LoopsOfThread(Facts& facts, std::uint32_t thread) : facts_(facts), thread_(thread) {
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
    for (std::uint32_t period = 1; period <= kMostOpsOfRound && to - from >= std::size_t{period} * kFewestGathered; ++period) {
      Stop::look();
      std::size_t begin = from;  // of a stretch that repeats
      for (std::size_t i = from + period; i <= to; ++i) {
        if (i < to && !covered_[i] && !covered_[i - period] && name(i) == name(i - period)) continue;
        add(begin, i, period, from, to, out);
        begin = i - period + 1;
      }
    }
  }

  // Whether the rounds are put together: by as many tensors as there are rounds where sizes are recorded, else by an op that is
  // not of the rounds themselves (a dense block). Levels of a pyramid, which are convolved one by one, look the same but for
  // their sizes.
  bool is_gathered(std::size_t begin, std::size_t rounds, std::uint32_t period, NodeId gather) {
    bool convolves = false, told = true;
    for (std::size_t i = begin; i < begin + period; ++i) {
      const std::string_view op = facts_.name(ops_[i]);
      convolves = convolves || op.find("conv") != op.npos || op.find("Conv") != op.npos;
      const OpCall& call = facts_.call(ops_[i]);
      told = told && call.has_shapes;
      for (std::size_t round = 1; call.has_shapes && round < rounds; ++round) {
        if (!same_sizes(call, facts_.call(ops_[i + round * period]))) return false;
      }
    }
    if (convolves && !told) return false;
    const OpCall& call = facts_.call(gather);
    if (call.has_shapes && !call.arguments.empty() && !call.arguments[0].list.empty())
      return call.arguments[0].list.size() == rounds;
    for (std::size_t i = begin; i < begin + period; ++i) {
      if (facts_.name_id(ops_[i]) == facts_.name_id(gather)) return false;
    }
    return true;
  }

  void add(std::size_t begin, std::size_t end, std::uint32_t period, std::size_t from, std::size_t to,
           std::vector<HostLoop>* out) {
    const std::size_t rounds = end > begin ? (end - begin) / period : 0;
    if (rounds < kFewestGathered) return;
    bool gathered = end < to && is_gather(facts_.name(ops_[end])) && is_gathered(begin, rounds, period, ops_[end]);
    if (!gathered && begin > from && is_gather_backward(facts_.name(ops_[begin - 1])))
      gathered = is_gathered(begin, rounds, period, ops_[begin - 1]);
    if (rounds < kFewestRounds && !gathered) return;
    HostLoop loop{.thread = thread_,
                  .first = ops_[begin],
                  .period = period,
                  .rounds = static_cast<std::uint32_t>(rounds),
                  .gathered = gathered};
    loop.time = {start(begin), facts_.time(ops_[end - 1]).end_ns};
    for (std::size_t i = begin; i < begin + period; ++i) loop.round.push_back(ops_[i]);
    std::fill(covered_.begin() + static_cast<std::ptrdiff_t>(begin), covered_.begin() + static_cast<std::ptrdiff_t>(end), true);
    out->push_back(std::move(loop));
  }

  Facts& facts_;
  std::uint32_t thread_;
  std::vector<NodeId> ops_;  // outermost, in order of time
  std::vector<bool> covered_;
};

}  // namespace

std::vector<HostLoop> find_host_loops(Facts& facts) {
  std::vector<HostLoop> out;
  if (is_guess(facts.model().iterations().rule)) return out;
  for (std::uint32_t thread = 0; thread < facts.tree().threads.size(); ++thread) LoopsOfThread(facts, thread).find(&out);
  std::sort(out.begin(), out.end(), [](const HostLoop& a, const HostLoop& b) {
    return std::pair(a.thread, a.time.start_ns) < std::pair(b.thread, b.time.start_ns);
  });
  return out;
}

}  // namespace ridge
