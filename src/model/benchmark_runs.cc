// One pass over the calls of each thread, outermost ops and launches outside of them; a call of another kind ends a run.
#include "model/benchmark_runs.h"

#include <algorithm>
#include <optional>

#include "model/name_flags.h"

namespace ridge {
namespace {

constexpr std::string_view kFlush = "aten::zero_", kMakesBuffer = "aten::empty";
// Programs clear a result before each launch, too; they do not fill 256 MB of zeros for it, again and again, and nothing else.
constexpr std::int64_t kLeastFlushes = 10, kLeastFlushNs = 15'000;

class RunFinder {
 public:
  RunFinder(const Trace& trace, const CallTree& tree, const LaunchLinks& links) : trace_(trace), tree_(tree) {
    for (std::size_t row = 0; row < links.launch.size(); ++row) {
      if (links.launch[row] != kNoNode) rows_.emplace_back(links.launch[row], row);
    }
    std::ranges::sort(rows_);
  }

  std::vector<BenchmarkRun> runs() {
    for (const HostThread& thread : tree_.threads) {
      std::int64_t done = INT64_MIN;
      const std::uint32_t end = std::min(thread.first + thread.count, tree_.recorded);
      for (std::uint32_t n = thread.first; n < end; ++n) {
        const EventClass is = tree_.event_class[n];
        if ((is != EventClass::op && is != EventClass::launch) || tree_.start_ns[n] < done) continue;
        done = tree_.end_ns[n];
        if (is == EventClass::launch) {
          launched(NodeId{n});
        } else {
          called(NodeId{n});
        }
      }
      finish();
    }
    return std::move(out_);
  }

 private:
  struct State {
    StringId kernel;
    NodeId first, latest, last;  // `last`: behind a flush
    bool has_buffer = false, flushed = false;
    std::int64_t flushes = 0, flush_ns = INT64_MAX;
  };

  void launched(NodeId n) {
    const auto row = row_of(n);
    if (!row) return;  // it launched nothing that was recorded
    const EventId event = trace_.of(EventClass::device_work)[*row];
    const StringId name = trace_.events.name(event);
    if (trace_.kind(event).work != DeviceWork::kernel) return finish();
    if (!state_ || state_->kernel != name) {
      finish();
      state_ = State{.kernel = name, .first = n, .latest = n, .last = n};
    }
    if (state_->flushed && state_->has_buffer) {
      ++state_->flushes;
      state_->last = n;
    }
    state_->flushed = false;
    state_->latest = n;
  }

  void called(NodeId n) {
    if (!state_) return;
    const std::string_view name = trace_.text(trace_.events.name(tree_.event[n.value]));
    if (name == kMakesBuffer) {
      if (!state_->has_buffer) state_->first = state_->latest;  // what ran before is the program's
      state_->has_buffer = true;
    } else if (name == kFlush) {
      state_->flushed = true;
      if (state_->has_buffer) state_->flush_ns = std::min(state_->flush_ns, device_time(n));
    } else {
      finish();
    }
  }

  void finish() {
    if (state_ && state_->flushes >= kLeastFlushes && state_->flush_ns >= kLeastFlushNs)
      out_.push_back({state_->first, state_->last});
    state_.reset();
  }

  std::optional<std::size_t> row_of(NodeId launch) const {
    const auto it = std::ranges::lower_bound(rows_, std::pair(launch, std::size_t{0}));
    return it != rows_.end() && it->first == launch ? std::optional(it->second) : std::nullopt;
  }

  std::int64_t device_time(NodeId op) const {
    std::int64_t sum = 0;
    for (auto it = std::ranges::lower_bound(rows_, std::pair(op, std::size_t{0})); it != rows_.end(); ++it) {
      if (tree_.start_ns[it->first.value] > tree_.end_ns[op.value]) break;
      sum += trace_.events.dur_ns(trace_.of(EventClass::device_work)[it->second]).value_or(0);
    }
    return sum;
  }

  const Trace& trace_;
  const CallTree& tree_;
  std::vector<std::pair<NodeId, std::size_t>> rows_;  // of device work, by the call that launched it
  std::optional<State> state_;
  std::vector<BenchmarkRun> out_;
};

}  // namespace

std::vector<BenchmarkRun> find_benchmark_runs(const Trace& trace, const CallTree& tree, const LaunchLinks& links) {
  const NameFlags flush(trace, [](std::string_view name) { return name == kFlush; });
  if (!flush.any()) return {};
  return RunFinder(trace, tree, links).runs();
}

}  // namespace ridge
