// Each phase of the tuner is walked call by call: calls that prepare are left out, runs of equal calls are one configuration.
#include "analysis/autotune/autotune.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <unordered_map>

#include "base/saturating.h"
#include "trace/tables.h"

namespace ridge {
namespace {

// What a benchmark does around what it times: inputs, and the cache that it clears before each call.
constexpr std::array<std::string_view, 22> kPreparing = {
    "aten::zero_",      "aten::fill_",    "aten::clone",     "aten::copy_",     "aten::empty",  "aten::empty_strided",
    "aten::randn",      "aten::normal_",  "aten::randint",   "aten::random_",   "aten::rand",   "aten::to",
    "aten::_to_copy",   "aten::zeros",    "aten::ones",      "aten::uniform_",  "aten::select", "aten::detach",
    "aten::as_strided", "aten::randperm", "aten::new_empty", "aten::lift_fresh"};
// The buffer that is written to clear the cache is made anew for each configuration, behind its first call.
constexpr std::string_view kBuffer = "aten::empty";

struct TimedCall {
  NodeId node;
  std::int64_t ns = 0;
  bool begins = false;  // a benchmark began with it
  TriedConfig config;   // what tells it from others
};

bool same_config(const TriedConfig& a, const TriedConfig& b) {
  const auto key = [](const TriedConfig& c) {
    return std::tie(c.call, c.kernel, c.warps, c.stages, c.registers, c.shared_bytes, c.grid, c.block, c.dims);
  };
  return key(a) == key(b);
}

class TunerWalk {
 public:
  explicit TunerWalk(const Scope& scope)
      : scope_(scope),
        trace_(scope.trace()),
        model_(scope.model()),
        tree_(model_.tree()),
        ops_(ops(trace_)),
        registers_(trace_, ArgKey::registers_per_thread),
        shared_(trace_, ArgKey::shared_memory),
        grid_(trace_, ArgKey::grid),
        block_(trace_, ArgKey::block) {}

  std::vector<TunedOnce> tunings() {
    const std::vector<CompilePhase>& phases = model_.compile_phases().phases;
    const Autotuning& tuning = model_.autotuning();
    const auto work = trace_.of(EventClass::device_work);
    for (std::size_t row = 0; row < work.size(); ++row) {
      const NodeId launch = model_.links().launch[row];
      if (launch == kNoNode || !scope_.holds_work(row) || trace_.kind(work[row]).work != DeviceWork::kernel) continue;
      (tuning.holds_work(row) ? tried_ : ran_).emplace_back(launch, row);
    }
    std::ranges::sort(tried_);
    std::ranges::sort(ran_);
    for (const CompilePhase& phase : phases) {
      if (phase.autotune) is_phase_.insert(phase.span.value), is_phase_.insert(phase.node.value);
    }
    std::vector<TunedOnce> out;
    for (const CompilePhase& phase : phases) {
      if (!phase.autotune || !scope_.holds(phase.node)) continue;
      TunedOnce found = one(phase);
      if (found.tried.empty() || !scope_.matches(found.what)) continue;
      out.push_back(std::move(found));
    }
    add_own(&out);
    mark_those_that_ran(&out);
    return out;
  }

 private:
  using Rows = std::vector<std::pair<NodeId, std::size_t>>;  // of device work, by the call that launched it

  TunedOnce one(const CompilePhase& phase) {
    TunedOnce out;
    out.how = phase.key;
    if (!phase.kernel.starts_with("Placeholder")) out.what = std::string(phase.kernel);  // a name that Inductor fills in later
    out.wall_ns = tree_.duration_ns(phase.node);
    std::vector<TimedCall> calls;
    const std::int64_t end = tree_.end_ns[phase.node.value];
    std::int64_t done = tree_.start_ns[phase.node.value];
    for (std::uint32_t n = phase.node.value + 1; n < tree_.recorded && tree_.start_ns[n] < end; ++n) {
      if (!below(n, phase.node)) break;
      if (tree_.start_ns[n] < done) continue;
      const EventClass is = tree_.event_class[n];
      if (is != EventClass::op && is != EventClass::launch && !is_phase_.contains(n)) continue;
      done = tree_.end_ns[n];
      if (is_phase_.contains(n)) continue;  // has its own
      const std::string_view name = trace_.text(trace_.events.name(tree_.event[n]));
      if (name == kBuffer && !calls.empty()) calls.back().begins = true;
      if (is == EventClass::op && std::ranges::find(kPreparing, name) != kPreparing.end()) continue;
      if (auto call = timed_call(NodeId{n}, name)) calls.push_back(std::move(*call));
    }
    fill(calls, end, &out);
    rank_by_expectation(scope_, &out);
    return out;
  }

  // Kernels that the program brings and times itself. Calls of the tuner that stand under no phase; another kernel's begin
  // another tuning, and so does what the program does in between.
  void add_own(std::vector<TunedOnce>* out) {
    const Autotuning& tuning = model_.autotuning();
    if (tuning.node.empty()) return;
    std::vector<TimedCall> calls;
    const auto finish_one = [&] {
      if (calls.empty()) return;
      TunedOnce found;
      found.how = kOwnTuner;
      found.what = calls.front().config.kernel;
      const std::int64_t end = tree_.end_ns[calls.back().node.value];
      found.wall_ns = end - tree_.start_ns[calls.front().node.value];
      fill(calls, end, &found);
      calls.clear();
      if (found.tried.size() > 1 && scope_.matches(found.what)) {
        place_by_time(&found);
        out->push_back(std::move(found));
      }
    };
    for (const HostThread& thread : tree_.threads) {
      std::int64_t done = INT64_MIN;
      const std::uint32_t end = std::min(thread.first + thread.count, tree_.recorded);
      for (std::uint32_t n = thread.first; n < end; ++n) {
        if (is_phase_.contains(n)) done = tree_.end_ns[n];
        const EventClass is = tree_.event_class[n];
        if ((is != EventClass::op && is != EventClass::launch) || tree_.start_ns[n] < done) continue;
        done = tree_.end_ns[n];
        const std::string_view name = trace_.text(trace_.events.name(tree_.event[n]));
        if (!tuning.holds(NodeId{n}) || !scope_.holds(NodeId{n})) {
          finish_one();
          continue;
        }
        if (name == kBuffer && !calls.empty()) calls.back().begins = true;
        if (is == EventClass::op) continue;
        auto call = timed_call(NodeId{n}, name);
        if (!call) continue;
        call->config.of_program = true;
        if (!calls.empty() && calls.front().config.kernel != call->config.kernel) finish_one();
        calls.push_back(std::move(*call));
      }
      finish_one();
    }
    std::ranges::stable_sort(*out, {}, [&](const TunedOnce& t) { return t.began_ns; });
  }

  static void place_by_time(TunedOnce* tuning) {
    std::vector<TriedConfig*> order;
    for (TriedConfig& c : tuning->tried) order.push_back(&c);
    std::ranges::stable_sort(order, {}, &TriedConfig::min_ns);
    for (std::size_t i = 0; i < order.size(); ++i) order[i]->place = static_cast<std::int64_t>(i) + 1;
  }

  // Runs of equal calls become configurations.
  void fill(const std::vector<TimedCall>& calls, std::int64_t end, TunedOnce* tuning) {
    TunedOnce& out = *tuning;
    if (!calls.empty()) out.began_ns = tree_.start_ns[calls.front().node.value];
    out.ended_ns = end;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const bool first = i == 0 || calls[i].begins || !same_config(calls[i].config, calls[i - 1].config);
      if (first) {
        if (!out.tried.empty()) finish(tree_.start_ns[calls[i].node.value], &out.tried.back());
        out.tried.push_back(calls[i].config);
        begun_ns_ = tree_.start_ns[calls[i].node.value];
      }
      TriedConfig& config = out.tried.back();
      ++config.launches;
      saturating_add(&config.gpu_ns, calls[i].ns);
      times_.push_back(calls[i].ns);
      ++out.launches;
      saturating_add(&out.gpu_ns, calls[i].ns);
    }
    if (!out.tried.empty()) finish(end, &out.tried.back());
  }

  bool below(std::uint32_t n, NodeId above) const {
    return tree_.end_ns[n] <= tree_.end_ns[above.value] && tree_.parent[n] != kNoNode && tree_.parent[n].value >= above.value;
  }

  // The work that a call and what it calls launched; nothing where it launched none.
  std::optional<TimedCall> timed_call(NodeId node, std::string_view name) {
    TimedCall out;
    out.node = node;
    out.config.call = name;
    std::int64_t longest = -1;
    for (auto it = std::ranges::lower_bound(tried_, std::pair(node, std::size_t{0})); it != tried_.end(); ++it) {
      if (tree_.start_ns[it->first.value] > tree_.end_ns[node.value] || it->first.value < node.value) break;
      const EventId event = trace_.of(EventClass::device_work)[it->second];
      const std::int64_t ns = trace_.events.dur_ns(event).value_or(0);
      saturating_add(&out.ns, ns);
      if (ns <= longest) continue;
      longest = ns;
      describe_kernel(event, &out.config);
    }
    if (longest < 0) return std::nullopt;
    if (tree_.event_class[node.value] == EventClass::op) describe_op(tree_.event[node.value], &out.config);
    return out;
  }

  void describe_kernel(EventId event, TriedConfig* out) const {
    const auto text = [&](const ArgColumn& column) {
      const auto id = column.text(event);
      return id ? trace_.text(*id) : std::string_view();
    };
    out->kernel = std::string(trace_.text(trace_.events.name(event)));
    out->registers = registers_.integer(event);
    out->shared_bytes = shared_.integer(event);
    out->grid = text(grid_);
    out->block = text(block_);
  }

  void describe_op(EventId event, TriedConfig* out) const {
    const auto text = [&](const ArgColumn& column) {
      const auto id = column.text(event);
      return id ? trace_.text(*id) : std::string_view();
    };
    out->warps = ops_.num_warps.integer(event);
    out->stages = ops_.num_stages.integer(event);
    out->dims = text(ops_.input_dims);
    out->types = text(ops_.input_type);
    out->strides = text(ops_.input_strides);
  }

  void finish(std::int64_t end_ns, TriedConfig* config) {
    config->wall_ns = end_ns - begun_ns_;
    std::ranges::sort(times_);
    config->min_ns = times_.front();
    config->median_ns = times_[times_.size() / 2];
    times_.clear();
  }

  // Launches of the program that look alike, in order of time.
  using Launches = std::map<std::string, std::vector<std::int64_t>>;

  static std::optional<std::int64_t> first_after(const Launches& launches, const std::string& key, std::int64_t ns) {
    const auto found = launches.find(key);
    if (found == launches.end()) return std::nullopt;
    const auto at = std::ranges::lower_bound(found->second, ns);
    return at == found->second.end() ? std::nullopt : std::optional(*at);
  }

  static std::string kernel_key(const TriedConfig& c) { return c.kernel + '\n' + std::string(c.dims); }
  // What tells a generated kernel's configuration, whatever the kernel is called.
  static std::string config_key(const TriedConfig& c) {
    std::string key;
    for (const auto& number : {c.warps, c.stages, c.shared_bytes}) key += std::to_string(number.value_or(0)) + '\n';
    for (const std::string_view text : {c.grid, c.block, c.dims}) (key += text) += '\n';
    return key;
  }
  static std::string whole_key(const TriedConfig& c) {
    return config_key(c) + std::to_string(c.registers.value_or(0)) + '\n' + c.kernel;
  }

  // The chosen configuration is the one that the program launches first when the tuner is done: under the kernel's own name; a
  // template, which is tried under a name of its own, by its shape. Of several that look alike, the fastest.
  void mark_those_that_ran(std::vector<TunedOnce>* tunings) {
    Launches kernels, configs, whole;
    const auto work = trace_.of(EventClass::device_work);
    for (const auto& [launch, row] : ran_) {
      const NodeId op = model_.links().op[row];
      TriedConfig program;
      describe_kernel(work[row], &program);
      if (op != kNoNode) describe_op(tree_.event[op.value], &program);
      const std::int64_t at = tree_.start_ns[launch.value];
      kernels[kernel_key(program)].push_back(at);
      whole[whole_key(program)].push_back(at);
      if (program.warps) configs[config_key(program)].push_back(at);
    }
    for (Launches* launches : {&kernels, &configs, &whole}) {
      for (auto& [key, times] : *launches) std::ranges::sort(times);
    }
    for (TunedOnce& tuning : *tunings) {
      TriedConfig* best = nullptr;
      std::int64_t earliest = 0;
      for (TriedConfig& c : tuning.tried) {
        const auto named = first_after(kernels, kernel_key(c), tuning.ended_ns);
        const auto at = named     ? first_after(whole, whole_key(c), tuning.ended_ns)
                        : c.warps ? first_after(configs, config_key(c), tuning.ended_ns)
                                  : std::nullopt;
        if (!at || (named && *at != *named)) continue;  // what ran first of this name was another
        if (best != nullptr && std::pair(earliest, best->min_ns) <= std::pair(*at, c.min_ns)) continue;
        best = &c;
        earliest = *at;
      }
      if (best != nullptr) best->ran = true;
    }
  }

  const Scope& scope_;
  const Trace& trace_;
  const Model& model_;
  const CallTree& tree_;
  OpTable ops_;
  ArgColumn registers_, shared_, grid_, block_;
  Rows tried_, ran_;
  std::set<std::uint32_t> is_phase_;  // nodes
  std::vector<std::int64_t> times_;   // of the configuration that is being filled
  std::int64_t begun_ns_ = 0;
};

}  // namespace

const TriedConfig* TunedOnce::fastest() const {
  const auto it = std::ranges::min_element(tried, {}, &TriedConfig::min_ns);
  return it == tried.end() ? nullptr : &*it;
}

const TriedConfig* TunedOnce::chosen() const {
  const auto it = std::ranges::find(tried, true, &TriedConfig::ran);
  return it == tried.end() ? nullptr : &*it;
}

std::optional<std::int64_t> TunedOnce::expected_place() const {
  const TriedConfig* best = nullptr;
  for (const TriedConfig& c : tried) {
    if (c.expected_ns && (best == nullptr || c.min_ns < best->min_ns)) best = &c;
  }
  return best == nullptr ? std::nullopt : std::optional(best->expected_place);
}

std::optional<std::int64_t> TunedOnce::wall_beyond_ns(std::int64_t few) const {
  std::int64_t sum = 0;
  bool known = false;
  for (const TriedConfig& c : tried) {
    if (!c.expected_ns) continue;
    known = true;
    if (c.expected_place > few) saturating_add(&sum, c.wall_ns);
  }
  return known ? std::optional(sum) : std::nullopt;
}

Autotune compute_autotune(const Scope& scope) {
  Autotune out;
  out.tunings = TunerWalk(scope).tunings();
  out.kept = kept_tunings(scope, out.tunings, &out.has_cache);
  return out;
}

}  // namespace ridge
