// One pass over device work, summed by group, kernel name and category; then the tables.
#include "analysis/categories/categories.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>

#include "analysis/catalog.h"
#include "analysis/kernels/launch_key.h"
#include "analysis/shared/cells.h"
#include "analysis/shared/choice.h"
#include "base/lasting.h"
#include "base/saturating.h"
#include "base/try.h"
#include "facts/scope_diagnostics.h"
#include "facts/scoped_work.h"

namespace ridge {
namespace {

// The groups with most time first; what speaks of them by index follows.
void sort_groups(std::vector<std::int64_t> times, Categories* out) {
  std::vector<std::uint32_t> order(out->groups.size()), rank(out->groups.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return times[a] > times[b]; });
  std::vector<std::string> groups;
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    rank[order[i]] = i;
    groups.push_back(std::move(out->groups[order[i]]));
  }
  out->groups = std::move(groups);
  for (CategoryKernel& kernel : out->kernels) kernel.group = rank[kernel.group];
}

// Sums by group and category, and their order for shares and kernels alike.
void add_shares(Categories* out) {
  std::map<std::pair<std::uint32_t, Category>, CategoryShare> shares;
  for (const CategoryKernel& kernel : out->kernels) {
    CategoryShare& share = shares[{kernel.group, kernel.category}];
    share.group = kernel.group;
    share.category = kernel.category;
    ++share.kernels;
    share.launches += kernel.launches;
    saturating_add(&share.time_ns, kernel.time_ns);
    out->launches += kernel.launches;
    saturating_add(&out->time_ns, kernel.time_ns);
  }
  for (const auto& [key, share] : shares) out->categories.push_back(share);
  std::stable_sort(out->categories.begin(), out->categories.end(), [](const CategoryShare& a, const CategoryShare& b) {
    return std::pair(a.group, -a.time_ns) < std::pair(b.group, -b.time_ns);
  });
  std::map<std::pair<std::uint32_t, Category>, std::size_t> rank;
  for (std::size_t i = 0; i < out->categories.size(); ++i) rank[{out->categories[i].group, out->categories[i].category}] = i;
  const auto key = [&](const CategoryKernel& k) { return std::tuple(rank[{k.group, k.category}], -k.time_ns, k.kernel); };
  std::sort(out->kernels.begin(), out->kernels.end(),
            [&](const CategoryKernel& a, const CategoryKernel& b) { return key(a) < key(b); });
}

// Under which index a launch's group stands.
class CategoryGroups {
 public:
  CategoryGroups(const Scope& scope, std::optional<KernelsBy> by, std::vector<std::string>* names) : names_(names) {
    if (by) {
      key_.emplace(scope, *by);
    } else {
      names_->emplace_back();
    }
  }
  std::uint32_t of(const WorkRow& work) {
    if (!key_) return 0;
    const auto [it, is_new] = index_.try_emplace(key_->of(work), static_cast<std::uint32_t>(names_->size()));
    if (is_new) names_->push_back(it->first);
    return it->second;
  }

 private:
  std::optional<LaunchKey> key_;
  std::unordered_map<std::string, std::uint32_t> index_;
  std::vector<std::string>* names_;
};

// The ways to regroup that divide categories, and no single kernel.
struct RegroupRow {
  std::string_view name;
  KernelsBy by;
};
constexpr RegroupRow kRegroupings[] = {{"annotation", KernelsBy::annotation},
                                       {"module", KernelsBy::module},
                                       {"graph", KernelsBy::graph},
                                       {"stream", KernelsBy::stream},
                                       {"stage", KernelsBy::stage}};

}  // namespace

Categories compute_categories(const Scope& scope, CompilerWorkFilter compilers, std::optional<KernelsBy> by) {
  const Trace& trace = scope.trace();
  const KernelIdentities& identities = scope.model().identities();
  Categories out;
  out.by = by;
  out.no_device_events = trace.of(EventClass::device_work).empty();
  CategoryGroups groups(scope, by, &out.groups);
  std::map<std::uint32_t, std::unordered_map<std::uint64_t, std::size_t>> index;  // by group: (name, category) to out.kernels
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
    const std::uint32_t group = groups.of(work);
    const std::uint64_t key = static_cast<std::uint64_t>(name.value) << 8 | static_cast<std::uint64_t>(category);
    const auto [it, is_new] = index[group].try_emplace(key, out.kernels.size());
    if (is_new) out.kernels.push_back({group, category, trace.text(name), 0, 0});
    CategoryKernel& kernel = out.kernels[it->second];
    ++kernel.launches;
    saturating_add(&kernel.time_ns, duration_ns(work));
  });
  std::erase_if(out.kernels, [&](const CategoryKernel& k) { return !scope.matches(k.kernel); });
  std::vector<std::int64_t> times(out.groups.size());
  for (const CategoryKernel& kernel : out.kernels) saturating_add(&times[kernel.group], kernel.time_ns);
  sort_groups(std::move(times), &out);
  add_shares(&out);
  std::int64_t devices = 0;
  for (const Device& device : scope.model().timeline().devices) devices += scope.has_device(device.id);
  out.window_ns = scope.window().duration_ns() * devices;
  return out;
}

Report report_categories(const Categories& categories) {
  Table table, each;
  table.name = "categories";
  each.name = "category_kernels";
  if (categories.by) {
    const auto* regrouped = std::ranges::find(kRegroupings, *categories.by, &RegroupRow::by);
    table.columns = each.columns = {{std::string(regrouped->name), Type::text}};
  }
  const auto add_columns = [](Table* to, std::initializer_list<Column> columns) {
    to->columns.insert(to->columns.end(), columns);
  };
  const auto add_row = [&](Table* to, std::optional<std::uint32_t> group, Row row) {
    if (categories.by) row.insert(row.begin(), group ? Cell(categories.groups[*group]) : Cell());
    if (group) {
      to->add_row(row);
    } else {
      to->total = std::move(row);
    }
  };
  add_columns(&table, {{"category", Type::text},
                       {"kernels", Type::integer, Unit::count},
                       {"launches", Type::integer, Unit::count},
                       {"time_ns", Type::integer, Unit::ns},
                       {"pct_gpu_time", Type::number, Unit::percent},
                       {"pct_window", Type::number, Unit::percent}});
  table.chart = Chart::bars;
  std::int64_t kernels = 0;
  for (const CategoryShare& share : categories.categories) {
    add_row(&table, share.group,
            {std::string(name_of(share.category)), share.kernels, share.launches, share.time_ns,
             cells::percent(share.time_ns, categories.time_ns), cells::percent(share.time_ns, categories.window_ns)});
    kernels += share.kernels;
  }
  add_row(&table, std::nullopt,
          {Cell(), kernels, categories.launches, categories.time_ns, cells::percent(categories.time_ns, categories.time_ns),
           cells::percent(categories.time_ns, categories.window_ns)});
  add_columns(&each, {{"category", Type::text},
                      {"kernel", Type::text},
                      {"launches", Type::integer, Unit::count},
                      {"time_ns", Type::integer, Unit::ns}});
  for (const CategoryKernel& kernel : categories.kernels) {
    add_row(&each, kernel.group,
            {std::string(name_of(kernel.category)), std::string(kernel.kernel), kernel.launches, kernel.time_ns});
  }
  add_row(&each, std::nullopt, {Cell(), Cell(), categories.launches, categories.time_ns});
  Report report;
  report.tables.push_back(std::move(table));
  report.tables.push_back(std::move(each));
  if (categories.no_device_events) report.diagnostics.push_back(no_device_events());
  return report;
}

std::span<const std::string_view> categories_by_names() {
  static const auto& names = lasting([] {
    std::array<std::string_view, std::size(kRegroupings)> all{};
    std::ranges::transform(kRegroupings, all.begin(), &RegroupRow::name);
    return all;
  }());
  return names;
}

Result<Report> run_categories(const Scope& scope, const Arguments& arguments) {
  TRY(const std::optional<std::size_t> by, choice(arguments, "by", categories_by_names()));
  const auto regrouped = by ? std::optional(kRegroupings[*by].by) : std::nullopt;
  return report_categories(compute_categories(scope, CompilerWorkFilter::with, regrouped));
}

}  // namespace ridge
