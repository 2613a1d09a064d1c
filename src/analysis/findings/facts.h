// Facts: what the rules of findings read: the scope's model, the ledger they claim from, and other analyses' answers, computed
// when first asked for.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/compile/compile.h"
#include "analysis/findings/finding.h"
#include "analysis/findings/ledger.h"
#include "analysis/graphs/graphs.h"
#include "analysis/launches/launches.h"
#include "facts/breaks.h"
#include "facts/program_kind.h"
#include "facts/scope.h"
#include "model/name_flags.h"
#include "model/once.h"
#include "model/phases.h"
#include "ops/op_call.h"
#include "predict/expected_times.h"
#include "predict/would_take.h"
#include "trace/tables.h"

namespace ridge {

// How fast each device's work is launched: computed by whoever asks first, which may be another thread ahead of the finding
// that needs it.
using LaunchRates = Once<std::vector<DeviceLaunches>>;

class SavingsOnce;

// Answers that the caller has already, or will have; what is null is computed.
struct KnownAnswers {
  const Graphs* graphs = nullptr;
  const Breaks* breaks = nullptr;
  const Compile* compile = nullptr;
  Ledger* ledger = nullptr;  // fresh: nothing claimed yet; afterwards closed, unless a claim of it is asked for
  LaunchRates* launch_rates = nullptr;
  const SavingsOnce* savings = nullptr;
};

class Facts {
 public:
  Facts(const Scope& scope, Ledger& ledger, const KnownAnswers& known);

  // Lets go of what was computed for the rules: what is asked for from here on may be made again.
  void forget();

  const Scope& scope() const { return scope_; }
  const Model& model() const { return model_; }
  const Trace& trace() const { return trace_; }
  const CallTree& tree() const { return tree_; }
  Ledger& ledger() const { return ledger_; }
  const DeviceWorkTable& work() const { return work_; }

  const Graphs& graphs();
  const Breaks& breaks();
  const Compile& compile();
  const std::vector<DeviceLaunches>& launch_rates();
  Phase phase(NodeId node);
  ProgramKind program();

  // Host slices.
  std::string_view name(NodeId node) const { return trace_.text(trace_.events.name(tree_.event[node.value])); }
  StringId name_id(NodeId node) const { return trace_.events.name(tree_.event[node.value]); }
  std::string_view location(NodeId node) const;  // of the user's code; empty when the trace has no stacks
  Interval time(NodeId node) const { return {tree_.start_ns[node.value], tree_.end_ns[node.value]}; }
  NodeId nearest_op(NodeId node) const { return tree_.op_of(node); }
  std::optional<EventId> event_of(std::optional<std::uint32_t> node) const {
    return node ? std::optional(tree_.event[*node]) : std::nullopt;
  }
  // How people know a slice: its outermost ATen op, its Triton op, or itself.
  NodeId known_as(NodeId node) const;

  // Device work, by row of trace.of(device_work).
  NodeId launch(std::uint32_t row) const { return row == kNoWork ? kNoNode : model_.links().launch[row]; }
  NodeId op(std::uint32_t row) const { return model_.links().op[row]; }
  const KernelIdentity& identity(std::uint32_t row) const { return model_.identities()[row]; }
  StringId kernel_id(std::uint32_t row) const { return trace_.events.name(work_.events[row]); }
  std::string_view kernel(std::uint32_t row) const { return trace_.text(kernel_id(row)); }
  bool is_kernel(std::uint32_t row) const { return trace_.kind(work_.events[row]).work == DeviceWork::kernel; }
  // Run by the compiler while it compiled, other than for autotuning.
  bool is_compilers(std::uint32_t row) const {
    return model_.compiler_work().holds_work(row) && !model_.autotuning().holds_work(row);
  }
  bool by_graph_launch(std::uint32_t row) const { return launch(row) != kNoNode && graph_launch_[name_id(launch(row))]; }
  std::optional<std::size_t> iteration(std::uint32_t row) const;  // by index into the model's list; nothing outside of all
  std::optional<EventId> event_of_work(std::optional<std::uint32_t> row) const {
    return row ? std::optional(work_.events[*row]) : std::nullopt;
  }
  // Work that a finding's remedy replaces by other kernels: what else is wrong with it is moot.
  void replace(std::uint32_t row);
  bool is_replaced(std::uint32_t row) const { return row < replaced_.size() && replaced_[row]; }
  // The arguments of an op, parsed once per distinct text; without strides and values.
  const OpCall& call(NodeId op);
  double elements(std::uint32_t row);  // of the largest tensor that the launching op took; 0 when not recorded

  const DeviceProperties* properties(std::int64_t device) const;

  // What recording cost, against what it is thought to: 1 unless the user measured the step (--step-time).
  double recorder_times() const;

  // What such work takes, and would take in another form.
  const ExpectedTimes& expected();
  WouldTake& would_take() { return would_take_; }
  // The distinct call that a launch belongs to, of an op whose arguments are known; nullptr otherwise.
  const ExpectedCall* ran(std::uint32_t row) {
    const ExpectedCall* call = expected().call(row);
    return call != nullptr && call->call != nullptr ? call : nullptr;
  }

 private:
  const Scope& scope_;
  const Model& model_;
  const Trace& trace_;
  const CallTree& tree_;
  Ledger& ledger_;
  KnownAnswers known_;
  DeviceWorkTable work_;
  OpTable ops_;
  NameFlags graph_launch_;
  std::unique_ptr<Graphs> graphs_;
  std::unique_ptr<Breaks> breaks_;
  std::unique_ptr<Compile> compile_;
  LaunchRates launch_rates_;
  std::vector<Phase> phases_;
  std::optional<ProgramKind> program_;
  std::vector<bool> replaced_;  // by row; empty: none is
  struct ParsedCall {
    OpCall call;
    double elements = 0;
  };
  const ParsedCall& parsed(NodeId op);
  std::unordered_map<std::uint64_t, ParsedCall> calls_;
  std::unique_ptr<ExpectedTimes> expected_;
  WouldTake would_take_;
};

// f(device index, slot index, slot) for all slots with open time.
template <class F>
void for_each_open_idle(Ledger& ledger, F f) {
  for (std::size_t d = 0; d < ledger.devices().size(); ++d) {
    const std::vector<IdleSlot>& slots = ledger.devices()[d].idle;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (slots[i].open_ns > 0) f(d, i, slots[i]);
    }
  }
}
template <class F>
void for_each_open_work(Ledger& ledger, F f) {
  for (std::size_t d = 0; d < ledger.devices().size(); ++d) {
    const std::vector<WorkSlot>& slots = ledger.devices()[d].work;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (slots[i].open_ns > 0) f(d, i, slots[i]);
    }
  }
}

// The one with most time of the things seen, by id. Pieces of one thing that follow each other count together.
class Largest {
 public:
  void see(std::uint32_t id, std::int64_t ns) {
    last_ns_ = last_ == id ? last_ns_ + ns : ns;
    last_ = id;
    if (most_ && last_ns_ <= most_ns_) return;
    most_ = id;
    most_ns_ = last_ns_;
  }
  std::optional<std::uint32_t> id() const { return most_; }

 private:
  std::optional<std::uint32_t> most_, last_;
  std::int64_t most_ns_ = 0, last_ns_ = 0;
};

// Counts and times by what is to blame, for the evidence of a finding.
class Tally {
 public:
  struct Entry {
    std::uint32_t sample = 0;  // the first thing counted
    std::int64_t count = 0;
    std::int64_t ns = 0;
    Largest largest = {};  // of the things counted
  };
  // Equal (name, place) is one entry; `place` is any pointer or number that tells places apart.
  void add(StringId name, std::uint64_t place, std::uint32_t sample, std::int64_t ns, std::int64_t count = 1);

  bool empty() const { return entries_.empty(); }
  std::int64_t count() const;
  std::vector<Entry> top() const;                // most time first
  std::optional<std::uint32_t> largest() const;  // of the entry with most time

 private:
  struct Key {
    std::uint32_t name;
    std::uint64_t place;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const { return (key.place * 0x9E3779B97F4A7C15U) ^ key.name; }
  };
  std::unordered_map<Key, std::size_t, Hash> index_;
  std::vector<Entry> entries_;
};

// Tells places of a tally apart: equal for devices of one sort, of which each rank of a job has one.
std::uint64_t sort_of_device(const Facts& facts, std::int64_t device);

inline constexpr std::size_t kShown = 3;  // entries of a tally that evidence names

// "an iteration: aten::item at train.py:12 (step), 12 x, 1.2 ms; ...; and 4 more". `text` names a sample.
template <class F>
std::string evidence_of(const Facts& facts, const Tally& tally, F text);
template <class F>
std::string evidence_of(const Tally& tally, std::int64_t rounds, F text);
std::string evidence_line(std::string name, const Tally::Entry& entry, std::int64_t iterations);
std::string and_more(std::size_t left);

template <class F>
std::string evidence_of(const Facts& facts, const Tally& tally, F text) {
  return evidence_of(tally, facts.ledger().rounds(), text);
}

template <class F>
std::string evidence_of(const Tally& tally, std::int64_t rounds, F text) {
  const std::vector<Tally::Entry> top = tally.top();
  std::string out = rounds > 1 ? "per iteration: " : "";
  for (std::size_t i = 0; i < top.size() && i < kShown; ++i) {
    out += (i == 0 ? "" : "; ") + evidence_line(text(top[i].sample), top[i], rounds);
  }
  return out + (top.size() > kShown ? and_more(top.size() - kShown) : "");
}

// Evidence about host slices: op or call, and its place in the program.
class HostTally {
 public:
  // `calls`: the call itself is named before its op, where it is what matters (cudaMalloc in aten::linear).
  explicit HostTally(const Facts& facts, bool calls = false) : facts_(facts), calls_(calls) {}
  // kNoNode counts for nothing; pieces of one slice count once. Behind a slice several devices may wait: its time is that of
  // the device that waits longest.
  void add(NodeId node, std::int64_t ns, std::size_t device = 0);
  const Tally& tally() const { return tally_; }
  std::string text() const;
  std::optional<EventId> event() const { return facts_.event_of(tally_.largest()); }  // the largest of what is named first

 private:
  const Facts& facts_;
  bool calls_;
  struct Counted {
    std::size_t device = 0;  // the last that was added of
    std::int64_t of_device_ns = 0, most_ns = 0;
  };
  std::unordered_map<std::uint32_t, Counted> counted_;  // by slice
  Tally tally_;
};

// Evidence about device work: kernel, and the op that launched it.
class WorkTally {
 public:
  explicit WorkTally(const Facts& facts) : facts_(facts) {}
  void add(std::uint32_t row, std::int64_t ns);
  const Tally& tally() const { return tally_; }
  std::string text() const;
  std::optional<EventId> event() const { return facts_.event_of_work(tally_.largest()); }

 private:
  const Facts& facts_;
  Tally tally_;
};

std::string counted(std::int64_t count, std::string_view noun);                            // "1 kernel", "3 kernels"
std::string per_iteration(const Facts& facts, std::int64_t count, std::string_view noun);  // "12 kernels per iteration"
std::string duration_text(const Facts& facts, std::int64_t ns);                            // per iteration (ledger's rounds)

}  // namespace ridge
