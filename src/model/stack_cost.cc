// Sums by the names of frames, over one walk each.
#include "model/stack_cost.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "base/saturating.h"
#include "base/stop.h"

namespace ridge {
namespace {

// By itself generated code does next to nothing between two calls: it checks sizes and lets go of buffers.
constexpr std::int64_t kOwnNs = 1'000;
constexpr std::int64_t kFewestCalls = 20;  // an iteration of the function: fewer tell no rate
// Shorter pauses may be the system's, of which there are as many without the recorder; longer ones than the other are none.
constexpr std::int64_t kCollectionNs = 1'000'000, kLongestNs = 1'000'000'000;
// Code that stands still so often, of all the times that it runs, waits or computes.
constexpr std::int64_t kSeldom = 5;

// ".../c7/cyjug4lvr22tdber523xkhpkgazs76m45ztngvcqxshtpc6on6n5.py(3319): call", a file that is named by its contents.
bool is_generated(std::string_view frame) {
  constexpr std::string_view kCall = ": call";
  constexpr std::size_t kHashed = 40;
  if (!frame.ends_with(kCall)) return false;
  const std::size_t end = frame.rfind(".py("), begin = frame.find_last_of("/\\", end);
  if (end == frame.npos || begin == frame.npos || end - begin - 1 < kHashed || frame[begin + 1] != 'c') return false;
  const std::string_view hash = frame.substr(begin + 1, end - begin - 1);
  return std::ranges::all_of(hash, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); });
}

// Functions in C may wait for others, and compute at length.
bool is_python(std::string_view frame) { return !frame.starts_with('<'); }

}  // namespace

StackCosts::StackCosts(const Trace& trace, const CallTree& tree) : trace_(trace), tree_(tree) {
  const auto is_frame = [](EventClass sort) { return sort == EventClass::python_frame; };
  if (std::none_of(tree.event_class.begin(), tree.event_class.begin() + tree.recorded, is_frame)) return;
  find_generated_code();
  find_collections();
}

void StackCosts::find_generated_code() {
  struct Sum {
    std::int64_t functions = 0, calls = 0, own_ns = 0;
  };
  std::unordered_map<std::uint32_t, Sum> sums;  // by name
  std::vector<std::uint8_t> generated(trace_.strings.size());
  constexpr std::uint8_t kNo = 1, kYes = 2;
  const auto sum_of = [&](NodeId node) -> Sum* {
    if (node == kNoNode || tree_.class_of(node) != EventClass::python_frame) return nullptr;
    const StringId name = trace_.events.name(tree_.event[node.value]);
    std::uint8_t& known = generated[name.value];
    if (known == 0) known = is_generated(trace_.text(name)) ? kYes : kNo;
    return known == kYes ? &sums[name.value] : nullptr;
  };
  Stop::look();
  for (std::uint32_t n = 0; n < tree_.recorded; ++n) {
    const std::int64_t ns = tree_.duration_ns(NodeId{n});
    if (Sum* own = sum_of(NodeId{n})) {
      ++own->functions;
      saturating_add(&own->own_ns, ns);
    }
    if (Sum* around = sum_of(tree_.parent[n])) {
      ++around->calls;
      saturating_add(&around->own_ns, -ns);
    }
  }
  for (const auto& [name, sum] : sums) {
    if (sum.calls < kFewestCalls * std::max<std::int64_t>(1, sum.functions)) continue;
    if (inside_.empty()) inside_.resize(trace_.strings.size());
    inside_[name] = static_cast<std::int32_t>(std::clamp<std::int64_t>(sum.own_ns / sum.calls - kOwnNs, 0, INT32_MAX));
  }
}

void StackCosts::find_collections() {
  struct Seen {
    std::int64_t runs = 0, stands = 0;
  };
  std::unordered_map<std::uint32_t, Seen> seen;  // by name, of frames that stood still
  const auto look = [&](NodeId inside, std::int64_t ns) {
    if (ns < kCollectionNs || ns > kLongestNs || tree_.class_of(inside) != EventClass::python_frame) return;
    ++seen[trace_.events.name(tree_.event[inside.value]).value].stands;
  };
  for (const HostThread& thread : tree_.threads) {
    Stop::look();
    std::int64_t now = 0;
    NodeId open = kNoNode;
    const auto go_to = [&](std::int64_t time_ns) {
      while (open != kNoNode && tree_.end_ns[open.value] <= time_ns) {
        look(open, tree_.end_ns[open.value] - now);
        now = tree_.end_ns[open.value];
        open = tree_.parent[open.value];
      }
      if (open != kNoNode) look(open, time_ns - now);
      now = time_ns;
    };
    for (std::uint32_t n = thread.first; n < std::min(thread.first + thread.count, tree_.recorded); ++n) {
      go_to(tree_.start_ns[n]);
      open = NodeId{n};
    }
    go_to(INT64_MAX);
  }
  if (seen.empty()) return;
  for (std::uint32_t n = 0; n < tree_.recorded; ++n) {
    if (tree_.event_class[n] != EventClass::python_frame) continue;
    if (const auto it = seen.find(trace_.events.name(tree_.event[n]).value); it != seen.end()) ++it->second.runs;
  }
  for (const auto& [name, its] : seen) {
    if (its.stands * kSeldom <= its.runs && is_python(trace_.text(StringId{name}))) stand_still_.insert(name);
  }
}

bool StackCosts::is_collection(NodeId slice, std::int64_t ns) const {
  return ns >= kCollectionNs && ns <= kLongestNs && tree_.class_of(slice) == EventClass::python_frame &&
         stand_still_.contains(trace_.events.name(tree_.event[slice.value]).value);
}

}  // namespace ridge
