// How a gap is split: pieces are appended from its start to its end, each with the cause that held then.
#include "model/idle.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/median.h"
#include "base/work_count.h"
#include "model/name_flags.h"
#include "model/recorder_lateness.h"

namespace ridge {
namespace {

// What a launch is preceded by on its thread: calls of StreamWaitEvent since the last launch of work.
class EventWaits {
 public:
  EventWaits(const Trace& trace, const CallTree& tree, const LaunchLinks& links) : flags_(tree.size()) {
    const NameFlags waits(trace, [](std::string_view name) { return name.find("StreamWaitEvent") != std::string_view::npos; });
    if (!waits.any()) return;
    for (const NodeId launch : links.launch) {
      if (launch != kNoNode) flags_[launch.value] = kLaunch;
    }
    for (const HostThread& thread : tree.threads) {
      bool waited = false;
      for (std::uint32_t n = thread.first; n < thread.first + thread.count; ++n) {
        if (tree.event_class[n] != EventClass::launch) continue;
        if (flags_[n] == kLaunch) {
          if (waited) flags_[n] = kAfterWait;
          waited = false;
        } else if (waits[trace.events.name(tree.event[n])]) {
          waited = true;
        }
      }
    }
  }
  bool before(NodeId launch) const { return flags_[launch.value] == kAfterWait; }

 private:
  static constexpr std::uint8_t kLaunch = 1, kAfterWait = 2;
  std::vector<std::uint8_t> flags_;
};

// What split_idle works with, the same for every device.
struct Context {
  explicit Context(const Model& m)
      : tree(m.tree()),
        links(m.links()),
        stalls(m.host_stalls()),
        recorder(m.recorder_costs()),
        event_waits(m.trace(), tree, links) {
    for (std::uint32_t n = 0; n < tree.recorded; ++n) {
      if (tree.parent[n] == kNoNode) roots.push_back(n);
    }
  }

  // The threads that launch a device's work.
  std::vector<bool> launching(const Device& device) const {
    std::vector<bool> found(tree.threads.size());
    for (const WorkRow& work : device.work) {
      const NodeId launch = links.launch[work.row];
      if (launch != kNoNode && launch.value < tree.recorded) found[thread_of(tree, launch)] = true;
    }
    return found;
  }

  // A tree's nodes stand together behind its root.
  std::int64_t root_start(NodeId node) const {
    const auto after = std::upper_bound(roots.begin(), roots.end(), node.value, [](std::uint32_t n, std::uint32_t root) {
      count_work(1);
      return n < root;
    });
    return tree.start_ns[*std::prev(after)];
  }

  const CallTree& tree;
  const LaunchLinks& links;
  const HostStalls& stalls;
  const RecorderCosts& recorder;
  EventWaits event_waits;
  std::vector<std::uint32_t> roots;  // nodes without a parent
};

// The gaps of a device so far, and of the last one the pieces.
class GapList {
 public:
  explicit GapList(std::int64_t device) { idle_.device = device; }

  void reserve(std::size_t gaps) {
    idle_.gaps.reserve(gaps);
    idle_.pieces.reserve(gaps);  // most gaps have one
  }
  void begin(std::int64_t from, std::int64_t to, const WorkRow* last, const WorkRow* next) {
    gap_ = {.start_ns = from,
            .end_ns = to,
            .last_work = last == nullptr ? kNoWork : last->row,
            .next_work = next == nullptr ? kNoWork : next->row,
            .first_piece = static_cast<std::uint32_t>(idle_.pieces.size())};
  }
  void end() {
    gap_.piece_count = static_cast<std::uint32_t>(idle_.pieces.size()) - gap_.first_piece;
    idle_.gaps.push_back(gap_);
  }
  const IdleGap& gap() const { return gap_; }

  std::int64_t position() const { return idle_.pieces.size() == gap_.first_piece ? gap_.start_ns : idle_.pieces.back().end_ns; }
  // Extends the pieces of the gap up to `until`; nothing when they reach it already.
  void add(std::int64_t until, IdleCause cause, NodeId node) {
    const std::int64_t from = position();
    if (until <= from) return;
    if (from != gap_.start_ns && idle_.pieces.back().cause == cause && idle_.pieces.back().node == node) {
      idle_.pieces.back().end_ns = until;
    } else {
      idle_.pieces.push_back({from, until, cause, node});
    }
  }

  DeviceIdle take() {
    idle_.pieces.shrink_to_fit();
    return std::move(idle_);
  }

 private:
  DeviceIdle idle_;
  IdleGap gap_;
};

// Those that are not over at a time.
std::vector<HostStall>::const_iterator stalls_from(const std::vector<HostStall>& stalls, std::int64_t time_ns) {
  return std::partition_point(stalls.begin(), stalls.end(), [&](const HostStall& s) { return s.end_ns <= time_ns; });
}

// The gap before the first work or behind the last, `work`. A wait for the device is no cause: there is nothing more to wait
// for. Calls charged(stall, ns) for what is a stall's doing.
template <class Charged>
void split_edge(const CallTree& tree, const LaunchLinks& links, const HostStalls& stalls, const WorkRow* work, GapList* gaps,
                Charged charged) {
  const std::int64_t end = gaps->gap().end_ns;
  const NodeId launch = work == nullptr ? kNoNode : links.launch[work->row];
  if (launch == kNoNode) return gaps->add(end, IdleCause::head_tail, kNoNode);
  const std::vector<HostStall>& own = stalls.of_thread[thread_of(tree, launch)];
  for (auto stall = stalls_from(own, gaps->position()); stall != own.end() && stall->start_ns < end; ++stall) {
    if (stall->cause == IdleCause::sync) continue;
    gaps->add(stall->start_ns, IdleCause::head_tail, kNoNode);
    const std::int64_t from = gaps->position();
    gaps->add(std::min(end, stall->end_ns), stall->cause, stall->node);
    charged(*stall, gaps->position() - from);
  }
  gaps->add(end, IdleCause::head_tail, kNoNode);
}

// Shorter ones lie between kernels that were ready, too.
constexpr std::int64_t kLongGapNs = 3'000;
constexpr std::ptrdiff_t kStallsLookedBack = 4;  // a blocking copy is two stalls: the copy and the wait behind it

class Splitter {
 public:
  Splitter(const Context& context, const LaunchingHost& host, const Device& device, TimeRange window)
      : context_(context), device_(device), window_(window), recorder_(host, window.start_ns), gaps_(device.id) {}

  DeviceIdle split() {
    gaps_.reserve(device_.work.size() + 1);
    find_first_launched();
    find_time_on_the_way();
    const WorkRow* last = nullptr;  // the work that ends latest so far
    for (const WorkRow& work : device_.work) {
      if (work.end_ns <= work.start_ns) continue;  // takes no time: it neither fills a gap nor ends one
      const std::int64_t from = last == nullptr ? window_.start_ns : last->end_ns;
      if (work.start_ns > from) gap(from, work.start_ns, last, &work);
      if (last == nullptr || work.end_ns > last->end_ns) last = &work;
      note_launch(work);
    }
    gap(last == nullptr ? window_.start_ns : last->end_ns, window_.end_ns, last, nullptr);
    return gaps_.take();
  }

 private:
  void gap(std::int64_t from, std::int64_t to, const WorkRow* last, const WorkRow* next) {
    from = std::max(from, window_.start_ns);
    to = std::min(to, window_.end_ns);
    if (from >= to) return;
    gaps_.begin(from, to, last, next);
    restarts_.clear();
    if (last == nullptr || next == nullptr) {
      split_edge(context_.tree, context_.links, context_.stalls, last == nullptr ? next : last, &gaps_,
                 [&](const HostStall& stall, std::int64_t ns) { note_charged(stall, ns); });
    } else {
      between(*last, *next);
    }
    gaps_.end();
  }

  void between(const WorkRow& last, const WorkRow& next) {
    const NodeId launch = context_.links.launch[next.row];
    if (launch == kNoNode)
      return add(gaps_.gap().end_ns, queued_before_window(next) ? queued_cause(last, next) : IdleCause::unknown, kNoNode);
    const std::int64_t returned = context_.tree.end_ns[launch.value];
    if (returned > last.end_ns) {
      const std::int64_t host_until = std::min(gaps_.gap().end_ns, returned + kLaunchLatencyNs);
      const std::size_t thread = thread_of(context_.tree, launch);
      const std::int64_t woke = context_.root_start(launch);
      if (woke > gaps_.gap().start_ns && previous_launch_ != kNoNode && thread_of(context_.tree, previous_launch_) != thread) {
        late_host(thread_of(context_.tree, previous_launch_), std::min(host_until, woke), launch);
      }
      late_host(thread, host_until, launch);
    }
    if (is_too_late(last, next, launch)) {
      const std::vector<HostStall>& stalls = context_.stalls.of_thread[thread_of(context_.tree, launch)];
      note_restarts(stalls, stalls_from(stalls, returned));
      return launching(gaps_.gap().end_ns, launch);
    }
    add(gaps_.gap().end_ns, queued_cause(last, next), launch);
  }

  // It had returned when the device became idle, but so shortly before that its work was still on the way.
  bool is_too_late(const WorkRow& last, const WorkRow& next, NodeId launch) const {
    if (last.stream != next.stream || gaps_.gap().length() < kLongGapNs || launch == context_.links.launch[last.row] ||
        context_.event_waits.before(launch))
      return false;
    const std::int64_t way_ns = next.start_ns - context_.tree.end_ns[launch.value];
    return way_ns <= on_the_way_ns_ + on_the_way_ns_ / 4;
  }

  // From the return of a launch to the start of its work, where the device was idle all that time; of a few, the shortest of
  // all.
  void find_time_on_the_way() {
    std::vector<std::int64_t> idle;
    std::int64_t least = INT64_MAX, busy_until = INT64_MIN;
    for (const WorkRow& work : device_.work) {
      const std::int64_t was_busy_until = std::exchange(busy_until, std::max(busy_until, work.end_ns));
      const NodeId launch = context_.links.launch[work.row];
      if (launch == kNoNode || context_.event_waits.before(launch)) continue;
      const std::int64_t returned = context_.tree.end_ns[launch.value];
      if (returned > work.start_ns) continue;
      least = std::min(least, work.start_ns - returned);
      if (was_busy_until <= returned) idle.push_back(work.start_ns - returned);
    }
    constexpr std::size_t kFewestSamples = 3;
    const std::int64_t usual = idle.size() < kFewestSamples ? least : median(std::move(idle));
    on_the_way_ns_ = usual <= kKernelGapNs ? usual : 0;
  }

  void note_launch(const WorkRow& work) {
    const NodeId launch = context_.links.launch[work.row];
    if (launch == kNoNode) return;
    previous_launch_ = launch;
    const std::int64_t returned = context_.tree.end_ns[launch.value];
    if (work.start_ns - returned > kLaunchLatencyNs) ahead_ns_ = std::max(ahead_ns_, returned);
  }

  // From where the pieces end up to `until`, by what the thread did; where no stall covers it, it was launching.
  void late_host(std::size_t thread, std::int64_t until, NodeId launch) {
    const std::vector<HostStall>& stalls = context_.stalls.of_thread[thread];
    auto stall = stalls_from(stalls, position());
    note_restarts(stalls, stall);
    for (; stall != stalls.end() && stall->start_ns < until; ++stall) {
      launching(stall->start_ns, launch);
      charge(*stall, std::min(until, stall->end_ns));
      note_restart(*stall);
    }
    launching(until, launch);
  }

  // The last few before one.
  void note_restarts(const std::vector<HostStall>& stalls, std::vector<HostStall>::const_iterator stall) {
    for (auto before = stall; before != stalls.begin() && stall - before < kStallsLookedBack;) note_restart(*--before);
  }
  void note_restart(const HostStall& stall) {
    if (stall.drains_queue() && stall.end_ns > ahead_ns_ && left_of(stall) > 0) restarts_.push_back(&stall);
  }

  // Idle time that is a stall's doing. In all never more than the stall took: without it the host would have been that much
  // earlier.
  void charge(const HostStall& stall, std::int64_t until) {
    const std::int64_t from = position();
    if (until <= from) return;
    add(until, stall.cause, stall.node);
    note_charged(stall, until - from);
  }
  void note_charged(const HostStall& stall, std::int64_t ns) {
    if (stall.drains_queue() && ns > 0) charged_ns_[&stall] += ns;
  }
  std::int64_t left_of(const HostStall& stall) const {
    const auto charged = charged_ns_.find(&stall);
    return stall.end_ns - stall.start_ns - (charged == charged_ns_.end() ? 0 : charged->second);
  }

  void launching(std::int64_t until, NodeId launch) {
    for (const HostStall* stall : restarts_) charge(*stall, std::min(until, position() + left_of(*stall)));
    if (until > position())
      add(position() + recorder_.take(context_.tree.end_ns[launch.value], until - position()), IdleCause::recorder, launch);
    add(until, IdleCause::launch, launch);
  }

  IdleCause queued_cause(const WorkRow& last, const WorkRow& next) const {
    if (last.sort == WorkSort::comm || next.sort == WorkSort::comm) return IdleCause::dependency;
    const NodeId launch = context_.links.launch[next.row];
    const bool same_launch = launch != kNoNode && launch == context_.links.launch[last.row];  // nodes of one graph
    if (same_launch) return IdleCause::kernel_gap;
    if (gaps_.gap().length() > kKernelGapNs || last.stream != next.stream ||
        (launch != kNoNode && context_.event_waits.before(launch)))
      return IdleCause::dependency;
    return IdleCause::kernel_gap;
  }

  void find_first_launched() {
    for (const WorkRow& work : device_.work) {
      if (context_.links.launch[work.row] != kNoNode) first_launched_.try_emplace(work.stream, work.start_ns);
    }
  }
  // Streams run in order: what comes before all launched work of its stream was launched before the recording began.
  bool queued_before_window(const WorkRow& work) const {
    const auto first = first_launched_.find(work.stream);
    return first != first_launched_.end() && work.start_ns <= first->second;
  }

  std::int64_t position() const { return gaps_.position(); }
  void add(std::int64_t until, IdleCause cause, NodeId node) { gaps_.add(until, cause, node); }

  const Context& context_;
  const Device& device_;
  const TimeRange window_;
  RecorderLateness recorder_;
  GapList gaps_;
  std::vector<const HostStall*> restarts_;  // stalls before the current time that drained the queue and are not charged in full
  std::unordered_map<const HostStall*, std::int64_t> charged_ns_;  // idle time so far, of stalls that drain the queue
  std::int64_t ahead_ns_ = INT64_MIN;                              // the last time at which the host had work queued
  std::int64_t on_the_way_ns_ = 0;                                 // from a launch's return to its work
  NodeId previous_launch_ = kNoNode;
  std::unordered_map<std::int64_t, std::int64_t>
      first_launched_;  // by stream: start of its first work whose launch was recorded
};

}  // namespace

const IdlePiece& DeviceIdle::dominant(const IdleGap& gap) const {
  std::array<std::int64_t, kIdleCauses> by_cause{};
  for (const IdlePiece& piece : pieces_of(gap)) by_cause[static_cast<std::size_t>(piece.cause)] += piece.length();
  const auto most = static_cast<IdleCause>(std::max_element(by_cause.begin(), by_cause.end()) - by_cause.begin());
  const IdlePiece* longest = nullptr;
  for (const IdlePiece& piece : pieces_of(gap)) {
    if (piece.cause == most && (longest == nullptr || piece.length() > longest->length())) longest = &piece;
  }
  return *longest;
}

std::vector<DeviceIdle> split_idle(const Model& model, TimeRange window) {
  const Context context(model);
  std::vector<DeviceIdle> all;
  std::optional<LaunchingHost> host;
  for (const Device& device : model.timeline().devices) {
    if (std::vector<bool> threads = context.launching(device); !host || host->threads() != threads)
      host.emplace(context.recorder, context.stalls, std::move(threads));
    all.push_back(Splitter(context, *host, device, window).split());
  }
  return all;
}

std::vector<DeviceIdle> split_idle_at_the_ends(const Model& model, TimeRange window) {
  std::vector<DeviceIdle> all;
  for (const Device& device : model.timeline().devices) {
    const WorkRow *first = nullptr, *last = nullptr;  // of work that takes time; the one that ends latest
    for (const WorkRow& work : device.work) {
      if (work.end_ns <= work.start_ns) continue;
      if (first == nullptr) first = &work;
      if (last == nullptr || work.end_ns > last->end_ns) last = &work;
    }
    GapList gaps(device.id);
    const auto edge = [&](std::int64_t from, std::int64_t to, const WorkRow* before, const WorkRow* behind) {
      from = std::max(from, window.start_ns);
      to = std::min(to, window.end_ns);
      if (from >= to) return;
      gaps.begin(from, to, before, behind);
      split_edge(model.tree(), model.links(), model.host_stalls(), before == nullptr ? behind : before, &gaps,
                 [](const HostStall&, std::int64_t) {});
      gaps.end();
    };
    if (first != nullptr) edge(window.start_ns, first->start_ns, nullptr, first);
    edge(last == nullptr ? window.start_ns : last->end_ns, window.end_ns, last, nullptr);
    all.push_back(gaps.take());
  }
  return all;
}

NodeId outer_op(const Trace& trace, const CallTree& tree, NodeId node) {
  const auto is_aten = [&](NodeId n) { return trace.text(trace.events.name(tree.event[n.value])).starts_with("aten::"); };
  constexpr int kMostLevels = 64;  // PyTorch nests a dozen; a hostile trace would make this quadratic
  NodeId op = tree.op_of(node);
  for (int levels = 0; levels < kMostLevels && op != kNoNode && is_aten(op); ++levels) {
    const NodeId above = tree.op_above(op);
    if (above == kNoNode || !is_aten(above)) break;
    op = above;
  }
  return op;
}

}  // namespace ridge
