// One pass over device work, summed by kernel name and category; then the tables.
#include "analysis/categories/categories.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <unordered_map>

#include "analysis/catalog.h"
#include "analysis/shared/cells.h"
#include "base/saturating.h"
#include "facts/scope_diagnostics.h"
#include "facts/scoped_work.h"

namespace ridge {
namespace {

void sort_kernels(Categories* out) {
  std::array<std::size_t, kCategories> rank{};
  for (std::size_t i = 0; i < out->categories.size(); ++i) rank[static_cast<std::size_t>(out->categories[i].category)] = i;
  const auto key = [&](const CategoryKernel& k) {
    return std::tuple(rank[static_cast<std::size_t>(k.category)], -k.time_ns, k.kernel);
  };
  std::sort(out->kernels.begin(), out->kernels.end(),
            [&](const CategoryKernel& a, const CategoryKernel& b) { return key(a) < key(b); });
}

}  // namespace

Categories compute_categories(const Scope& scope, CompilerWorkFilter compilers) {
  const Trace& trace = scope.trace();
  const KernelIdentities& identities = scope.model().identities();
  Categories out;
  out.no_device_events = trace.of(EventClass::device_work).empty();
  std::unordered_map<std::uint64_t, std::size_t> index;  // (name, category) to its place in out.kernels
  for_each_work(scope, [&](const Device&, const WorkRow& work) {
    const StringId name = trace.events.name(trace.of(EventClass::device_work)[work.row]);
    if (compilers == CompilerWorkFilter::without && scope.model().compiler_work().holds_work(work.row)) {
      if (!scope.matches(trace.text(name))) return;
      const bool tuned = scope.model().autotuning().holds_work(work.row);
      ++(tuned ? out.autotune_launches : out.compiler_launches);
      saturating_add(tuned ? &out.autotune_ns : &out.compiler_ns, duration_ns(work));
      return;
    }
    const Category category = identities[work.row].category;
    const std::uint64_t key = static_cast<std::uint64_t>(name.value) << 8 | static_cast<std::uint64_t>(category);
    const auto [it, is_new] = index.try_emplace(key, out.kernels.size());
    if (is_new) out.kernels.push_back({category, trace.text(name), 0, 0});
    CategoryKernel& kernel = out.kernels[it->second];
    ++kernel.launches;
    saturating_add(&kernel.time_ns, duration_ns(work));
  });
  std::erase_if(out.kernels, [&](const CategoryKernel& k) { return !scope.matches(k.kernel); });
  std::array<CategoryShare, kCategories> shares{};
  for (const CategoryKernel& kernel : out.kernels) {
    CategoryShare& share = shares[static_cast<std::size_t>(kernel.category)];
    share.category = kernel.category;
    ++share.kernels;
    share.launches += kernel.launches;
    saturating_add(&share.time_ns, kernel.time_ns);
    out.launches += kernel.launches;
    saturating_add(&out.time_ns, kernel.time_ns);
  }
  std::copy_if(shares.begin(), shares.end(), std::back_inserter(out.categories),
               [](const CategoryShare& s) { return s.launches > 0; });
  std::stable_sort(out.categories.begin(), out.categories.end(),
                   [](const auto& a, const auto& b) { return a.time_ns > b.time_ns; });
  sort_kernels(&out);
  std::int64_t devices = 0;
  for (const Device& device : scope.model().timeline().devices) devices += scope.has_device(device.id);
  out.window_ns = scope.window().duration_ns() * devices;
  return out;
}

Report report_categories(const Categories& categories) {
  Table table;
  table.name = "categories";
  table.columns = {{"category", Type::text},
                   {"kernels", Type::integer, Unit::count},
                   {"launches", Type::integer, Unit::count},
                   {"time_ns", Type::integer, Unit::ns},
                   {"pct_gpu_time", Type::number, Unit::percent},
                   {"pct_window", Type::number, Unit::percent}};
  table.chart = Chart::bars;
  std::int64_t kernels = 0;
  for (const CategoryShare& share : categories.categories) {
    table.add_row({std::string(name_of(share.category)), share.kernels, share.launches, share.time_ns,
                   cells::percent(share.time_ns, categories.time_ns), cells::percent(share.time_ns, categories.window_ns)});
    kernels += share.kernels;
  }
  table.total = Row{Cell(),
                    kernels,
                    categories.launches,
                    categories.time_ns,
                    cells::percent(categories.time_ns, categories.time_ns),
                    cells::percent(categories.time_ns, categories.window_ns)};
  Table each;
  each.name = "category_kernels";
  each.columns = {{"category", Type::text},
                  {"kernel", Type::text},
                  {"launches", Type::integer, Unit::count},
                  {"time_ns", Type::integer, Unit::ns}};
  for (const CategoryKernel& kernel : categories.kernels) {
    each.add_row({std::string(name_of(kernel.category)), std::string(kernel.kernel), kernel.launches, kernel.time_ns});
  }
  each.total = Row{Cell(), Cell(), categories.launches, categories.time_ns};
  Report report;
  report.tables.push_back(std::move(table));
  report.tables.push_back(std::move(each));
  if (categories.no_device_events) report.diagnostics.push_back(no_device_events());
  return report;
}

Result<Report> run_categories(const Scope& scope, const Arguments&) { return report_categories(compute_categories(scope)); }

}  // namespace ridge
