// Folds the phases of all compilations into one tree of rows; device work of the tuner goes to the phase that launched it.
#include "analysis/compile/compile.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/catalog.h"
#include "analysis/shared/cells.h"
#include "base/saturating.h"

namespace ridge {
namespace {

class CompileReader {
 public:
  explicit CompileReader(const Scope& scope)
      : scope_(scope), model_(scope.model()), tree_(model_.tree()), phases_(model_.compile_phases().phases) {}

  Compile compute() {
    out_.has_device_work = !scope_.trace().of(EventClass::device_work).empty();
    if (phases_.empty()) return std::move(out_);
    complete_ids();
    group();
    tune();
    return std::move(out_);
  }

 private:
  // Older traces have no data marks: a compilation belongs to the region that follows it, or to the call that it interrupts.
  void complete_ids() {
    const CompiledRegions& regions = model_.compiled_regions();
    ids_.reserve(phases_.size());
    for (const CompilePhase& phase : phases_) {
      CompileId id = phase.id;
      if (!id.known() && phase.parent != kNoPhase) id = ids_[phase.parent];
      if (!id.known()) id = id_by_lookup(regions, phase.node);
      if (const std::uint32_t call = regions.call_at(phase.node); !id.known() && call != kNoCall) id = regions.calls[call].id;
      ids_.push_back(id);
    }
  }

  CompileId id_by_lookup(const CompiledRegions& regions, NodeId node) const {
    const auto it = std::upper_bound(regions.lookups.begin(), regions.lookups.end(), node,
                                     [](NodeId n, const CacheLookup& l) { return n < l.node; });
    if (it == regions.lookups.begin()) return {};
    const CacheLookup& lookup = *(it - 1);
    const bool between = lookup.region != kNoCall && node < regions.calls[lookup.region].node;
    return between ? regions.calls[lookup.region].id : CompileId{};
  }

  // One row per phase under its parent's row and compile id: a tree whose equal branches are one.
  void group() {
    struct Branch {
      std::size_t parent;
      PhaseCost cost;
    };
    std::vector<Branch> branches;
    std::map<std::tuple<std::size_t, std::string_view, CompileId>, std::size_t> index;
    branch_of_.assign(phases_.size(), SIZE_MAX);
    for (std::size_t i = 0; i < phases_.size(); ++i) {
      const CompilePhase& phase = phases_[i];
      const std::size_t parent = phase.parent == kNoPhase ? SIZE_MAX : branch_of_[phase.parent];
      const auto [it, added] = index.try_emplace({parent, phase.key, ids_[i]}, branches.size());
      if (added) {
        PhaseCost cost{.phase = phase.key, .parent = {}, .id = ids_[i], .autotune = phase.autotune};
        if (parent != SIZE_MAX) {
          cost.parent = branches[parent].cost.phase;
          cost.depth = branches[parent].cost.depth + 1;
        }
        branches.push_back({parent, cost});
      }
      branch_of_[i] = it->second;
      const std::int64_t duration = tree_.duration_ns(phase.node);
      // What is nested is no time of the parent's own, also where it begins behind the scope that the parent begins in.
      if (phase.parent != kNoPhase && scope_.holds(phases_[phase.parent].node)) branches[parent].cost.self_ns -= duration;
      if (!scope_.holds(phase.node)) continue;
      PhaseCost& cost = branches[it->second].cost;
      ++cost.calls;
      saturating_add(&cost.total_ns, duration);
      saturating_add(&cost.self_ns, duration);
    }
    std::vector<std::vector<std::size_t>> children(branches.size() + 1);  // the last: roots
    for (std::size_t b = 0; b < branches.size(); ++b)
      children[branches[b].parent == SIZE_MAX ? branches.size() : branches[b].parent].push_back(b);
    for (auto& list : children) {
      std::sort(list.begin(), list.end(), [&](std::size_t a, std::size_t b) {
        const auto key = [&](std::size_t i) {
          const PhaseCost& cost = branches[i].cost;
          return std::tuple(-cost.total_ns, cost.phase, cost.id);
        };
        return key(a) < key(b);
      });
    }
    std::vector<std::size_t> open(children.back().rbegin(), children.back().rend());
    while (!open.empty()) {
      const std::size_t b = open.back();
      open.pop_back();
      open.insert(open.end(), children[b].rbegin(), children[b].rend());
      const PhaseCost& cost = branches[b].cost;
      if (cost.calls > 0 && scope_.matches(cost.phase)) out_.phases.push_back(cost);
    }
  }

  // Device work of the tuner goes to the outermost autotuning phase around its launch.
  void tune() {
    std::map<std::pair<std::string_view, CompileId>, TunedKernel> kernels;
    std::vector<std::pair<NodeId, TunedKernel*>> spans;
    for (std::size_t i = 0; i < phases_.size(); ++i) {
      const CompilePhase& phase = phases_[i];
      if (!phase.autotune || (phase.parent != kNoPhase && phases_[phase.parent].autotune) || !scope_.holds(phase.node))
        continue;
      TunedKernel& kernel = kernels[{phase.kernel, ids_[i]}];
      kernel.kernel = phase.kernel;
      kernel.id = ids_[i];
      ++kernel.calls;
      saturating_add(&kernel.total_ns, tree_.duration_ns(phase.node));
      spans.emplace_back(phase.node, &kernel);
    }
    const auto& work = scope_.trace().of(EventClass::device_work);
    for (std::size_t row = 0; row < work.size(); ++row) {
      if (!model_.autotuning().holds_work(row) || !scope_.holds_work(row)) continue;
      const NodeId launch = model_.links().launch[row];
      const auto it =
          std::upper_bound(spans.begin(), spans.end(), launch, [](NodeId n, const auto& span) { return n < span.first; });
      if (it == spans.begin()) continue;
      TunedKernel& kernel = *(it - 1)->second;
      ++kernel.launches;
      saturating_add(&kernel.gpu_ns, scope_.trace().events.dur_ns(work[row]).value_or(0));
    }
    for (auto& [key, kernel] : kernels) out_.kernels.push_back(kernel);
    std::sort(out_.kernels.begin(), out_.kernels.end(), [](const TunedKernel& a, const TunedKernel& b) {
      return std::tuple(-a.total_ns, a.kernel, a.id) < std::tuple(-b.total_ns, b.kernel, b.id);
    });
  }

  const Scope& scope_;
  const Model& model_;
  const CallTree& tree_;
  const std::vector<CompilePhase>& phases_;
  std::vector<CompileId> ids_;
  std::vector<std::size_t> branch_of_;  // by phase
  Compile out_;
};

Table phases_table(const Compile& compile) {
  Table table;
  table.name = "compile";
  table.columns = {{"phase", Type::text},
                   {"parent", Type::text},
                   {"compile_id", Type::text},
                   {"calls", Type::integer, Unit::count},
                   {"total_ns", Type::integer, Unit::ns},
                   {"self_ns", Type::integer, Unit::ns},
                   {"depth", Type::integer},
                   {"autotune", Type::boolean}};
  table.parent = "parent";
  for (const PhaseCost& p : compile.phases) {
    table.add_row({std::string(p.phase), cells::text(p.parent), cells::text(text_of(p.id)), p.calls, p.total_ns, p.self_ns,
                   p.depth, p.autotune});
  }
  if (!compile.phases.empty()) {
    Row total(table.columns.size());
    total[5] = compile.total_ns() + compile.autotune_ns();
    table.total = std::move(total);
  }
  return table;
}

Table compiles_table(const Compile& compile) {
  std::map<CompileId, std::pair<std::int64_t, std::int64_t>> by_id;  // compiling, autotuning
  for (const PhaseCost& p : compile.phases) saturating_add(p.autotune ? &by_id[p.id].second : &by_id[p.id].first, p.self_ns);
  Table table;
  table.name = "compiles";
  table.columns = {
      {"compile_id", Type::text}, {"compile_ns", Type::integer, Unit::ns}, {"autotune_ns", Type::integer, Unit::ns}};
  for (const auto& [id, times] : by_id) table.add_row({cells::text(text_of(id)), times.first, times.second});
  if (!by_id.empty()) {
    Row total(table.columns.size());
    total[1] = compile.total_ns();
    total[2] = compile.autotune_ns();
    table.total = std::move(total);
  }
  return table;
}

Table tuned_table(const Compile& compile) {
  Table table;
  table.name = "autotuning";
  table.columns = {{"calls", Type::integer, Unit::count},
                   {"total_ns", Type::integer, Unit::ns},
                   {"launches", Type::integer, Unit::count},
                   {"gpu_ns", Type::integer, Unit::ns},
                   {"compile_id", Type::text},
                   {"kernel", Type::text}};
  TunedKernel sum;
  const auto device = [&](std::int64_t value) { return compile.has_device_work ? Cell(value) : Cell(); };
  for (const TunedKernel& k : compile.kernels) {
    table.add_row(
        {k.calls, k.total_ns, device(k.launches), device(k.gpu_ns), cells::text(text_of(k.id)), cells::text(k.kernel)});
    sum.calls += k.calls;
    saturating_add(&sum.total_ns, k.total_ns);
    sum.launches += k.launches;
    saturating_add(&sum.gpu_ns, k.gpu_ns);
  }
  if (!compile.kernels.empty())
    table.total = Row{sum.calls, sum.total_ns, device(sum.launches), device(sum.gpu_ns), Cell(), Cell()};
  return table;
}

}  // namespace

std::int64_t Compile::total_ns() const {
  std::int64_t sum = 0;
  for (const PhaseCost& p : phases) saturating_add(&sum, p.autotune ? 0 : p.self_ns);
  return sum;
}

std::int64_t Compile::autotune_ns() const {
  std::int64_t sum = 0;
  for (const PhaseCost& p : phases) saturating_add(&sum, p.autotune ? p.self_ns : 0);
  return sum;
}

Compile compute_compile(const Scope& scope) { return CompileReader(scope).compute(); }

Report report_compile(const Compile& compile) {
  Report report;
  report.tables = {phases_table(compile), compiles_table(compile), tuned_table(compile)};
  return report;
}

Result<Report> run_compile(const Scope& scope, const Arguments&) { return report_compile(compute_compile(scope)); }

}  // namespace ridge
