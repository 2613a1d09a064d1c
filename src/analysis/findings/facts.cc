// Facts built when first asked for, and the tallies that turn counts into lines of evidence.
#include "analysis/findings/facts.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "analysis/findings/savings.h"
#include "base/let_go.h"
#include "base/saturating.h"
#include "base/units.h"
#include "model/device_properties.h"
#include "model/graph_replays.h"

namespace ridge {

std::string_view name_of(Confidence confidence) {
  constexpr std::string_view kNames[] = {"low", "medium", "high"};
  return kNames[static_cast<std::size_t>(confidence)];
}

Facts::Facts(const Scope& scope, Ledger& ledger, const KnownAnswers& known)
    : scope_(scope),
      model_(scope.model()),
      trace_(scope.trace()),
      tree_(model_.tree()),
      ledger_(ledger),
      known_(known),
      work_(device_work(trace_)),
      ops_(ops(trace_)),
      graph_launch_(trace_, is_graph_launch),
      would_take_(scope.costs()) {}

double Facts::recorder_times() const { return known_.savings == nullptr ? 1 : known_.savings->recorder_times(); }

void Facts::forget() {
  // An answer that the caller gave stays his.
  if (graphs_) known_.graphs = nullptr;
  if (breaks_) known_.breaks = nullptr;
  if (compile_) known_.compile = nullptr;
  graphs_.reset();
  breaks_.reset();
  compile_.reset();
  let_go(phases_);
  let_go(replaced_);
  let_go(calls_);
  expected_.reset();
}

const ExpectedTimes& Facts::expected() {
  if (expected_ == nullptr) expected_ = std::make_unique<ExpectedTimes>(scope_.costs());
  return *expected_;
}

const Graphs& Facts::graphs() {
  if (known_.graphs == nullptr) {
    graphs_ = std::make_unique<Graphs>(compute_graphs(scope_));
    known_.graphs = graphs_.get();
  }
  return *known_.graphs;
}

const Breaks& Facts::breaks() {
  if (known_.breaks == nullptr) {
    breaks_ = std::make_unique<Breaks>(compute_breaks(scope_));
    known_.breaks = breaks_.get();
  }
  return *known_.breaks;
}

const std::vector<DeviceLaunches>& Facts::launch_rates() {
  LaunchRates& rates = known_.launch_rates != nullptr ? *known_.launch_rates : launch_rates_;
  return rates.get([&] { return compute_launch_rates(scope_); });
}

const Compile& Facts::compile() {
  if (known_.compile == nullptr) {
    compile_ = std::make_unique<Compile>(compute_compile(scope_));
    known_.compile = compile_.get();
  }
  return *known_.compile;
}

Phase Facts::phase(NodeId node) {
  if (phases_.empty()) phases_ = build_phases(trace_, tree_);
  return node == kNoNode ? Phase::forward : phases_[node.value];
}

ProgramKind Facts::program() {
  if (!program_) program_ = program_kind(model_);
  return *program_;
}

void Facts::replace(std::uint32_t row) {
  if (replaced_.empty()) replaced_.resize(work_.events.size());
  replaced_[row] = true;
}

std::string_view Facts::location(NodeId node) const {
  const bool stacks = node != kNoNode && !trace_.of(EventClass::python_frame).empty();
  return stacks ? model_.locations().location(node) : std::string_view();
}

NodeId Facts::known_as(NodeId node) const {
  if (node == kNoNode || tree_.class_of(node) != EventClass::launch) return node;
  const NodeId around = outer_op(trace_, tree_, node);
  if (around == kNoNode) return node;
  return name(around).find("::") != std::string_view::npos || name(around).starts_with("triton_") ? around : node;
}

std::optional<std::size_t> Facts::iteration(std::uint32_t row) const {
  return iteration_of_work(trace_, tree_, model_.links(), model_.iterations(), row);
}

const Facts::ParsedCall& Facts::parsed(NodeId op) {
  const EventId event = tree_.event[op.value];
  const auto text = [&](const ArgColumn& column) { return column.text(event).value_or(StringId{}); };
  const StringId name = name_id(op), dims = text(ops_.input_dims), types = text(ops_.input_type);
  // Strides and values matter to no rule here, and would make every call distinct.
  const std::uint64_t key = (static_cast<std::uint64_t>(dims.value) << 32 | name.value) * 0x9E3779B97F4A7C15U ^ types.value;
  const auto [it, added] = calls_.try_emplace(key);
  if (added) {
    it->second.call = parse_op_call(trace_.text(name), trace_.text(dims), trace_.text(types), {}, {});
    for (const OpArgument& argument : it->second.call.arguments) {
      if (argument.kind == OpArgument::Kind::tensor)
        it->second.elements = std::max(it->second.elements, numel(argument.tensor));
    }
  }
  return it->second;
}

const OpCall& Facts::call(NodeId op) { return parsed(op).call; }

double Facts::elements(std::uint32_t row) { return op(row) == kNoNode ? 0 : parsed(op(row)).elements; }

const DeviceProperties* Facts::properties(std::int64_t device) const { return properties_of(model_, device); }

void Tally::add(StringId name, std::uint64_t place, std::uint32_t sample, std::int64_t ns, std::int64_t count) {
  const auto [it, added] = index_.try_emplace({name.value, place}, entries_.size());
  if (added) entries_.push_back({.sample = sample});
  Entry& entry = entries_[it->second];
  entry.count += count;
  saturating_add(&entry.ns, ns);
  entry.largest.see(sample, ns);
}

std::int64_t Tally::count() const {
  std::int64_t sum = 0;
  for (const Entry& entry : entries_) sum += entry.count;
  return sum;
}

std::vector<Tally::Entry> Tally::top() const {
  std::vector<Entry> sorted = entries_;
  std::sort(sorted.begin(), sorted.end(), [](const Entry& a, const Entry& b) {
    return std::tuple(-a.ns, -a.count, a.sample) < std::tuple(-b.ns, -b.count, b.sample);
  });
  return sorted;
}

std::optional<std::uint32_t> Tally::largest() const { return entries_.empty() ? std::nullopt : top().front().largest.id(); }

std::uint64_t sort_of_device(const Facts& facts, std::int64_t device) {
  const DeviceSpec* spec = facts.scope().costs().device(device);
  return spec == nullptr ? static_cast<std::uint64_t>(device) : std::hash<std::string>()(spec->name);
}

std::string evidence_line(std::string name, const Tally::Entry& entry, std::int64_t iterations) {
  const double count = static_cast<double>(entry.count) / static_cast<double>(iterations);
  const std::string times = entry.count % iterations == 0 ? format_count(entry.count / iterations) : format_count(count);
  if (entry.ns == 0) return fmt::format("{}, {} x", name, times);
  return fmt::format("{}, {} x, {}", name, times,
                     format_duration(static_cast<double>(entry.ns) / static_cast<double>(iterations)));
}

std::string and_more(std::size_t left) { return fmt::format("; and {} more", left); }

void HostTally::add(NodeId node, std::int64_t ns, std::size_t device) {
  if (node == kNoNode) return;
  const NodeId known = facts_.known_as(node);
  const std::string_view place = facts_.location(known);
  const NodeId sample = calls_ ? node : known;
  const auto [it, added] = counted_.try_emplace(sample.value, Counted{.device = device});
  Counted& counted = it->second;
  if (counted.device != device) counted.of_device_ns = 0;
  counted.device = device;
  saturating_add(&counted.of_device_ns, ns);
  const std::int64_t more = std::max<std::int64_t>(0, counted.of_device_ns - counted.most_ns);
  counted.most_ns += more;
  tally_.add(facts_.name_id(sample),
             reinterpret_cast<std::uintptr_t>(place.data()) ^ (calls_ ? facts_.name_id(known).value : 0), sample.value, more,
             added ? 1 : 0);
}

std::string HostTally::text() const {
  return evidence_of(facts_, tally_, [&](std::uint32_t sample) {
    const NodeId node{sample}, known = facts_.known_as(node);
    const std::string_view place = facts_.location(node);
    return std::string(facts_.name(node)) + (known == node ? "" : " in " + std::string(facts_.name(known))) +
           (place.empty() ? "" : " at " + std::string(place));
  });
}

void WorkTally::add(std::uint32_t row, std::int64_t ns) {
  const NodeId op = facts_.op(row);
  tally_.add(facts_.kernel_id(row), op == kNoNode ? 0 : facts_.name_id(op).value, row, ns);
}

std::string WorkTally::text() const {
  return evidence_of(facts_, tally_, [&](std::uint32_t row) {
    std::string text = facts_.identity(row).label;
    const NodeId op = facts_.op(row);
    if (op == kNoNode) return text;
    const NodeId known = facts_.known_as(facts_.launch(row));
    if (facts_.name(known) != text) text += " by " + std::string(facts_.name(known));
    const std::string_view place = facts_.location(known);
    return place.empty() ? text : text + " at " + std::string(place);
  });
}

std::string counted(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", format_count(count), noun, count == 1 ? "" : "s");
}

std::string per_iteration(const Facts& facts, std::int64_t count, std::string_view noun) {
  const std::int64_t rounds = facts.ledger().rounds();
  if (rounds == 1) return counted(count, noun);
  if (count % rounds == 0) return counted(count / rounds, noun) + " per iteration";
  const std::string each = format_count(static_cast<double>(count) / static_cast<double>(rounds));
  return fmt::format("{} {}{} per iteration", each, noun, each == "1" ? "" : "s");
}

std::string duration_text(const Facts& facts, std::int64_t ns) {
  return format_duration(static_cast<double>(ns) / static_cast<double>(facts.ledger().rounds()));
}

}  // namespace ridge
