// Finds the calls by name, gives backward calls their forward's region, and matches each lookup with the region behind it.
#include "model/compiled_regions.h"

#include <algorithm>

#include "model/name_flags.h"
#include "model/region_id.h"

namespace ridge {
namespace {

constexpr std::string_view kGraphBegin = "## Call CompiledFxGraph ";
constexpr std::string_view kGraphEnd = " ##";

bool is_graph(std::string_view name) { return name.starts_with(kGraphBegin); }

bool is_of_interest(std::string_view name) {
  return is_region(name) || is_graph(name) || name == kCacheLookup || name == "CompiledFunction" ||
         name == "CompiledFunctionBackward";
}

std::string_view graph_key(std::string_view name) {
  name.remove_prefix(kGraphBegin.size());
  if (name.ends_with(kGraphEnd)) name.remove_suffix(kGraphEnd.size());
  return name;
}

bool inside(const IntervalSet& set, std::int64_t time_ns) {
  const auto list = set.intervals();
  const auto it =
      std::upper_bound(list.begin(), list.end(), time_ns, [](std::int64_t t, const Interval& i) { return t < i.start_ns; });
  return it != list.begin() && time_ns < (it - 1)->end_ns;
}

std::int64_t length_between(const IntervalSet& set, std::int64_t from_ns, std::int64_t to_ns) {
  const auto list = set.intervals();
  auto it =
      std::lower_bound(list.begin(), list.end(), from_ns, [](const Interval& i, std::int64_t t) { return i.start_ns < t; });
  std::int64_t sum = 0;
  for (; it != list.end() && it->start_ns < to_ns; ++it) sum += it->length();
  return sum;
}

void find_calls(const Trace& trace, const CallTree& tree, const NameFlags& names, CompiledRegions* out) {
  // A call's nodes stand together behind it: of those before a node, the calls around it are the ones up to its parent.
  std::vector<std::uint32_t> open;
  const auto go_on = [&](std::uint32_t node, std::uint32_t call) {
    const std::uint32_t now = out->stretches.empty() ? kNoCall : out->stretches.back().call;
    if (call == now) return;
    if (!out->stretches.empty() && out->stretches.back().first == node) return void(out->stretches.back().call = call);
    out->stretches.push_back({node, call});
  };
  for (std::uint32_t n = 0; n < tree.recorded; ++n) {
    const NodeId parent = tree.parent[n];
    while (!open.empty() && (parent == kNoNode || out->calls[open.back()].node > parent)) open.pop_back();
    const std::uint32_t around = open.empty() ? kNoCall : open.back();
    go_on(n, around);
    const EventClass c = tree.event_class[n];
    if (c != EventClass::op && c != EventClass::annotation) continue;
    const StringId id = trace.events.name(tree.event[n]);
    if (!names[id]) continue;
    const std::string_view name = trace.text(id);
    if (name == kCacheLookup) {
      if (c == EventClass::op) out->lookups.push_back({.node = NodeId{n}});
      continue;
    }
    CompiledCall call{.node = NodeId{n}, .parent = around, .id = {}, .key = {}};
    if (is_region(name)) {
      call.id = region_id(trace, tree.event[n]);
      call.region = static_cast<std::uint32_t>(out->calls.size());
      call.backward = call.id.autograd >= 0;
    } else {
      call.sort = is_graph(name)               ? CompiledSort::graph
                  : name == "CompiledFunction" ? CompiledSort::function
                                               : CompiledSort::backward_function;
      if (call.sort == CompiledSort::graph) call.key = graph_key(name);
      if (around != kNoCall) call.region = out->calls[around].region;
      call.backward = call.sort == CompiledSort::backward_function || (around != kNoCall && out->calls[around].backward);
    }
    open.push_back(static_cast<std::uint32_t>(out->calls.size()));
    go_on(n, open.back());
    out->calls.push_back(call);
  }
  go_on(tree.recorded, kNoCall);
}

// A backward call has no id of its own: it belongs to the region of its forward call. That may stand on a thread behind it.
void link_backward(const std::function<const ForwardBackward&()>& forward_backward, CompiledRegions* out) {
  for (CompiledCall& call : out->calls) {
    if (call.sort == CompiledSort::backward_function) {
      const std::uint32_t forward = out->call_at(forward_backward().forward_of(call.node));
      if (forward != kNoCall) call.region = out->calls[forward].region;
    } else if (call.backward && call.region == kNoCall && call.parent != kNoCall) {
      call.region = out->calls[call.parent].region;
    }
    if (call.region != kNoCall) call.id = out->calls[call.region].id;
  }
}

// A region is always preceded by its own lookup, with at most a compilation between them.
void match_lookups(const CallTree& tree, const CompilePhases& phases, CompiledRegions* out) {
  const IntervalSet none;
  std::vector<CacheLookup> kept;
  std::size_t call = 0, lookup = 0;
  for (std::size_t t = 0; t < tree.threads.size(); ++t) {
    const std::uint32_t end = tree.threads[t].first + tree.threads[t].count;
    const IntervalSet& compiling = phases.of_thread.empty() ? none : phases.of_thread[t];
    bool open = false;  // the last one kept has not met its region yet
    const auto close = [&](std::int64_t time_ns) {
      if (!open) return;
      open = false;
      CacheLookup& last = kept.back();
      last.compile_ns = length_between(compiling, tree.end_ns[last.node.value], time_ns);
      last.outcome = last.compile_ns > 0 ? LookupOutcome::skipped : LookupOutcome::not_compiled;
    };
    for (;;) {
      while (call < out->calls.size() && out->calls[call].node.value < end && out->calls[call].sort != CompiledSort::region)
        ++call;
      const bool more_calls = call < out->calls.size() && out->calls[call].node.value < end;
      const bool more_lookups = lookup < out->lookups.size() && out->lookups[lookup].node.value < end;
      if (!more_calls && !more_lookups) break;
      if (more_lookups && (!more_calls || out->lookups[lookup].node < out->calls[call].node)) {
        const CacheLookup next = out->lookups[lookup++];
        const std::int64_t start = tree.start_ns[next.node.value];
        if (inside(compiling, start)) continue;
        close(start);
        kept.push_back(next);
        open = true;
        continue;
      }
      CompiledCall& region = out->calls[call];
      if (open && !inside(compiling, tree.start_ns[region.node.value])) {
        CacheLookup& last = kept.back();
        last.region = static_cast<std::uint32_t>(call);
        last.compile_ns = length_between(compiling, tree.end_ns[last.node.value], tree.start_ns[region.node.value]);
        last.outcome = last.compile_ns > 0 ? LookupOutcome::compiled : LookupOutcome::hit;
        region.lookup = static_cast<std::uint32_t>(kept.size() - 1);
        open = false;
      }
      ++call;
    }
    close(INT64_MAX);
  }
  out->lookups = std::move(kept);
}

}  // namespace

bool is_compile_overhead(std::string_view op) {
  return op == kCacheLookup || op == "Pregraph bytecode" || op == "AOTDispatcher Runtime Wrapper Prologue";
}

CompiledRegions build_compiled_regions(const Trace& trace, const CallTree& tree, const CompilePhases& phases,
                                       const std::function<const ForwardBackward&()>& forward_backward) {
  CompiledRegions regions;
  const NameFlags names(trace, is_of_interest);
  if (!names.any()) return regions;
  find_calls(trace, tree, names, &regions);
  link_backward(forward_backward, &regions);
  match_lookups(tree, phases, &regions);
  return regions;
}

}  // namespace ridge
