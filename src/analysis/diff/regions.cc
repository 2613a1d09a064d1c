// Which annotations name a step, and which steps of two iterations are the same one rewritten.
#include "analysis/diff/regions.h"

#include <algorithm>
#include <map>

#include "base/saturating.h"

namespace ridge::diff {
namespace {

// Marks of the profiler, the compiler and the libraries: in one recording and not in the other, or around everything.
constexpr std::string_view kNoSteps[] = {
    "ProfilerStep", "## ", "Torch-Compiled", "Compiled", "nccl:", "gloo:", "autograd::", "torch::", "record_param_comms"};

struct Step {
  std::int64_t all_ns = 0;
  std::vector<std::uint32_t> left;
  std::int64_t left_ns = 0;
};

std::map<Key, Step> steps_of(const TypicalIteration& t, const std::vector<std::uint8_t>& linked, std::int64_t* whole_ns) {
  std::map<Key, Step> steps;
  for (std::uint32_t p = 0; p < t.positions.size(); ++p) {
    const std::int64_t time = t.positions[p].per_iteration_ns();
    saturating_add(whole_ns, time);
    if (t.positions[p].region == kNoKey) continue;
    Step& step = steps[t.positions[p].region];
    saturating_add(&step.all_ns, time);
    if (linked[p] != 0) continue;
    step.left.push_back(p);
    saturating_add(&step.left_ns, time);
  }
  return steps;
}

bool is_most(std::int64_t part_ns, std::int64_t whole_ns) { return part_ns > whole_ns / 2; }

}  // namespace

std::string step_name(std::string_view annotation) {
  if (std::any_of(std::begin(kNoSteps), std::end(kNoSteps),
                  [&](std::string_view mark) { return annotation.starts_with(mark); }))
    return {};
  constexpr std::string_view kOptimizer = "Optimizer.";
  if (annotation.starts_with(kOptimizer)) {
    annotation.remove_prefix(kOptimizer.size());
    return "optimizer " + std::string(annotation.substr(0, annotation.find('#')));
  }
  std::string name;
  std::copy_if(annotation.begin(), annotation.end(), std::back_inserter(name), [](char c) { return c < '0' || c > '9'; });
  const std::size_t end = name.find_last_not_of(" _#:.-");
  return name.substr(0, end == std::string::npos ? 0 : end + 1);
}

Regions::Regions(const Scope& scope, KeyPool& pool, std::unordered_map<Key, std::string>* names) : pool_(pool), names_(names) {
  const Trace& trace = scope.trace();
  const CallTree& tree = scope.model().tree();
  optimizer_step_ = key_of(std::string(kOptimizerStep));
  if (trace.of(EventClass::annotation).empty()) return;
  std::unordered_map<StringId, Key> known;
  by_node_.resize(tree.size(), kNoKey);
  for (std::size_t n = 0; n < tree.size(); ++n) {
    if (tree.parent[n] != kNoNode) by_node_[n] = by_node_[tree.parent[n].value];
    if (tree.event_class[n] != EventClass::annotation) continue;
    const StringId name = trace.events.name(tree.event[n]);
    const auto [it, is_new] = known.try_emplace(name, kNoKey);
    if (is_new) it->second = key_of(step_name(trace.text(name)));
    if (it->second != kNoKey) by_node_[n] = it->second;
  }
}

Key Regions::key_of(const std::string& step) {
  if (step.empty()) return kNoKey;
  const Key key = pool_.of("step " + step);
  names_->try_emplace(key, step);
  return key;
}

Key Regions::of(NodeId launch, Phase phase) {
  const Key step = launch == kNoNode || by_node_.empty() ? kNoKey : by_node_[launch.value];
  return step == kNoKey && phase == Phase::optimizer ? optimizer_step_ : step;
}

void match_regions(const TypicalIteration& a, const TypicalIteration& b, Linked& linked, Links& links) {
  std::int64_t whole_a = 0, whole_b = 0;
  const std::map<Key, Step> steps_a = steps_of(a, linked.a, &whole_a), steps_b = steps_of(b, linked.b, &whole_b);
  for (const auto& [region, in_a] : steps_a) {
    const auto it = steps_b.find(region);
    if (it == steps_b.end() || in_a.left.empty() || it->second.left.empty()) continue;
    const Step& in_b = it->second;
    // A step that was rewritten leaves most of it over on a side; a call less does not.
    if (in_a.left_ns < in_a.all_ns - in_a.left_ns && in_b.left_ns < in_b.all_ns - in_b.left_ns) continue;
    const bool of_optimizer = a.sequence.region_names.at(region).starts_with("optimizer ");
    if (!of_optimizer && (is_most(in_a.all_ns, whole_a) || is_most(in_b.all_ns, whole_b))) continue;
    for (const std::uint32_t i : in_a.left) links.push_back({i, in_b.left.front(), Match::region});
    for (const std::uint32_t j : in_b.left) links.push_back({in_a.left.front(), j, Match::region});
    for (const std::uint32_t i : in_a.left) linked.a[i] = 1;
    for (const std::uint32_t j : in_b.left) linked.b[j] = 1;
  }
}

}  // namespace ridge::diff
