// One pass over kernels; the row of a launch is found by a key that depends on `by`. The table is in kernels_report.cc.
#include "analysis/kernels/kernels.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "analysis/catalog.h"
#include "analysis/kernels/launch_key.h"
#include "analysis/shared/choice.h"
#include "analysis/shared/cost_diagnostics.h"
#include "analysis/shared/table_use.h"
#include "base/hash.h"
#include "base/saturating.h"
#include "base/try.h"
#include "facts/scope_diagnostics.h"
#include "facts/scoped_work.h"
#include "model/autotune.h"
#include "predict/expected_times.h"
#include "predict/table_source.h"
#include "trace/tables.h"
#include "trace/vendor_work.h"

namespace ridge {
namespace {

constexpr std::string_view kKernelsBy[] = {"launch", "op", "shape", "annotation", "module", "graph", "stream", "stage"};

struct RowKey {
  std::uint32_t name = 0, label = 0, hash = 0;
  std::int64_t device = 0;
  bool operator==(const RowKey&) const = default;
};
struct RowKeyHash {
  std::size_t operator()(const RowKey& k) const {
    return mix64(static_cast<std::uint64_t>(k.name) << 32 | k.label,
                 static_cast<std::uint64_t>(k.hash) << 16 ^ static_cast<std::uint64_t>(k.device) ^ 0x9E3779B97F4A7C15);
  }
};

// Ids for the labels of identities: equal text, equal id.
std::vector<std::uint32_t> label_ids(const KernelIdentities& identities) {
  std::unordered_map<std::string_view, std::uint32_t> ids;
  std::vector<std::uint32_t> out;
  for (const KernelIdentity& identity : identities.identities) {
    out.push_back(ids.try_emplace(identity.label, static_cast<std::uint32_t>(ids.size())).first->second);
  }
  return out;
}

}  // namespace

// Rows as they are filled, launch by launch.
class KernelRows {
 public:
  KernelRows(const Scope& scope, std::optional<KernelsBy> by, WithCosts costs)
      : scope_(scope),
        costs_(costs == WithCosts::yes ? &scope.costs() : nullptr),
        expected_(costs_ != nullptr ? std::make_unique<const ExpectedTimes>(*costs_) : nullptr),
        trace_(scope.trace()),
        model_(scope.model()),
        ops_(ops(scope.trace())),
        labels_(label_ids(model_.identities())),
        tuning_(model_.autotuning()),
        replays_(model_.graph_replays()) {
    if (by && *by != KernelsBy::launch) regroup_ = std::make_unique<LaunchKey>(scope, *by);
  }

  // Whether it is a kernel that --filter lets through.
  bool holds(const WorkRow& work) {
    const EventId event = event_of(work);
    return work_of(trace_, event) == DeviceWork::kernel && matches(trace_.events.name(event));
  }

  void add(const Device& device, const WorkRow& work) {
    if (!holds(work)) return;
    const std::size_t at = find(device, work);
    const std::int64_t duration = duration_ns(work);
    count(device, work, &rows_[at]);
    Shares& shares = shares_[at];
    shares.category[static_cast<std::size_t>(model_.identities()[work.row].category)].add(duration);
    if (regroup_) {
      shares.names.insert(name_of(work).value);
    } else {
      shares.op[op_name(model_, work.row)].add(duration);
    }
  }

  // The row of one launch alone.
  KernelRow of_launch(const Device& device, const WorkRow& work) const {
    KernelRow row = kernel_row(device, work);
    count(device, work, &row);
    row.category = model_.identities()[work.row].category;
    row.op = op_name(model_, work.row);
    row.kernels = 1;
    return row;
  }

  std::vector<KernelRow> take() {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const Shares& shares = shares_[i];
      const auto most = std::max_element(shares.category.begin(), shares.category.end());
      rows_[i].category = static_cast<Category>(most - shares.category.begin());
      rows_[i].kernels = regroup_ ? static_cast<std::int64_t>(shares.names.size()) : 1;
      Share best;
      for (const auto& [op, share] : shares.op) {
        if (share > best) rows_[i].op = op, best = share;
      }
    }
    return std::move(rows_);
  }

 private:
  // Of a row's time; by launches where no time is known.
  struct Share {
    std::int64_t time_ns = 0, launches = 0;
    auto operator<=>(const Share&) const = default;
    void add(std::int64_t duration) {
      saturating_add(&time_ns, duration);
      ++launches;
    }
  };
  struct Shares {
    std::array<Share, kCategories> category{};
    std::map<std::string_view, Share> op;
    std::unordered_set<std::uint32_t> names;
  };

  bool matches(StringId name) {
    const auto [it, is_new] = matches_.try_emplace(name.value, false);
    if (is_new) it->second = scope_.matches(trace_.text(name));
    return it->second;
  }

  EventId event_of(const WorkRow& work) const { return trace_.of(EventClass::device_work)[work.row]; }
  StringId name_of(const WorkRow& work) const { return trace_.events.name(event_of(work)); }

  void count(const Device& device, const WorkRow& work, KernelRow* row) const {
    const std::int64_t duration = duration_ns(work);
    if (trace_.events.dur_ns(event_of(work))) {
      row->min_ns = row->timed == 0 ? duration : std::min(row->min_ns, duration);
      row->max_ns = std::max(row->max_ns, duration);
      ++row->timed;
    }
    ++row->count;
    saturating_add(&row->time_ns, duration);
    if (costs_ != nullptr) {
      row->cost.add(*costs_, work.row, device.id, duration);
      if (const auto ns = expected_->ns(work.row)) row->expected.add(*ns, duration);
      if (expected_->is_measured(work.row)) saturating_add(&row->measured_ns, duration);
    }
    if (tuning_.holds_work(work.row)) {
      ++row->autotune_count;
      saturating_add(&row->autotune_ns, duration);
    }
    if (const OpSource from = replays_.recovered_op(work.row).source; from != OpSource::none) {
      saturating_add(&row->recovered_ns, duration);
      row->op_from = from;
    }
  }

  std::string_view op_text(const ArgColumn& column, NodeId op) const {
    if (op == kNoNode) return {};
    const auto id = column.text(model_.tree().event[op.value]);
    return id ? trace_.text(*id) : std::string_view();
  }

  std::size_t find(const Device& device, const WorkRow& work) {
    if (regroup_) {
      const auto [it, is_new] = groups_.try_emplace({regroup_->of(work), device.id}, rows_.size());
      if (is_new) add_row(row_at(device, work)).key = it->first.first;
      return it->second;
    }
    const NodeId op = op_of(model_, work.row);
    const StringId hash =
        op == kNoNode ? StringId{} : ops_.kernel_hash.text(model_.tree().event[op.value]).value_or(StringId{});
    const RowKey key{name_of(work).value, labels_[model_.identities().of_row[work.row]], hash.value, device.id};
    const auto [it, is_new] = index_.try_emplace(key, rows_.size());
    if (is_new) add_row(kernel_row(device, work));
    return it->second;
  }

  KernelRow& add_row(KernelRow row) {
    shares_.emplace_back();
    return rows_.emplace_back(std::move(row));
  }

  KernelRow row_at(const Device& device, const WorkRow& work) const {
    KernelRow row;
    row.device = device.id;
    row.start_ns = work.start_ns - scope_.origin_ns();
    row.stream = work.stream;
    return row;
  }

  KernelRow kernel_row(const Device& device, const WorkRow& work) const {
    const NodeId op = op_of(model_, work.row);
    KernelRow row = row_at(device, work);
    row.kernel = trace_.text(name_of(work));
    row.label = model_.identities()[work.row].label;
    row.kernel_file = op_text(ops_.kernel_file, op);
    row.kernel_hash = op_text(ops_.kernel_hash, op);
    row.kernel_kwargs = op_text(ops_.kernel_kwargs, op);
    return row;
  }

  const Scope& scope_;
  const CostModel* costs_;  // null: not asked for
  std::unique_ptr<const ExpectedTimes> expected_;
  const Trace& trace_;
  const Model& model_;
  OpTable ops_;
  std::vector<std::uint32_t> labels_;
  const Autotuning& tuning_;
  const GraphReplays& replays_;
  std::unique_ptr<LaunchKey> regroup_;
  std::unordered_map<std::uint32_t, bool> matches_;
  std::unordered_map<RowKey, std::size_t, RowKeyHash> index_;
  std::map<std::pair<std::string, std::int64_t>, std::size_t> groups_;
  std::vector<KernelRow> rows_;
  std::vector<Shares> shares_;
};

namespace {

void add_diagnostics(const Scope& scope, WithCosts costs, Kernels* out) {
  if (scope.trace().of(EventClass::device_work).empty()) out->diagnostics.push_back(no_device_events());
  if (costs == WithCosts::no) return;
  out->with_table = table_of(scope.costs().options()) != nullptr;
  for (Diagnostic& found : cost_diagnostics(scope, out->cost)) out->diagnostics.push_back(std::move(found));
  if (auto partly = partly_known(out->cost)) out->diagnostics.push_back(std::move(*partly));
  if (auto used = table_use(scope)) out->diagnostics.push_back(std::move(*used));
}

}  // namespace

void Kernels::add(const KernelRow& row) {
  count += row.count;
  timed += row.timed;
  saturating_add(&time_ns, row.time_ns);
  saturating_add(&recovered_ns, row.recovered_ns);
  autotune_count += row.autotune_count;
  saturating_add(&autotune_ns, row.autotune_ns);
  cost.add(row.cost);
  expected.add(row.expected);
}

KernelLaunches::KernelLaunches(const Scope& scope, WithCosts costs, CompilerWorkFilter compilers)
    : rows_(std::make_unique<KernelRows>(scope, KernelsBy::launch, costs)) {
  for_each_work(
      scope,
      [&](const Device& device, const WorkRow& work) {
        if (!rows_->holds(work)) return;
        launches_.emplace_back(&device, &work);
        all_.add(rows_->of_launch(device, work));
      },
      compilers);
  // Texts are looked at only where starts are equal.
  const auto order = [&](const Launch& launch) {
    const KernelRow row = rows_->of_launch(*launch.first, *launch.second);
    return std::tuple(row.kernel, row.label, row.kernel_hash, row.device);
  };
  std::stable_sort(launches_.begin(), launches_.end(), [&](const Launch& a, const Launch& b) {
    return a.second->start_ns != b.second->start_ns ? a.second->start_ns < b.second->start_ns : order(a) < order(b);
  });
  all_.by = KernelsBy::launch;
  add_diagnostics(scope, costs, &all_);
}

KernelLaunches::~KernelLaunches() = default;

KernelRow KernelLaunches::operator[](std::size_t i) const {
  return rows_->of_launch(*launches_[i].first, *launches_[i].second);
}

Kernels compute_kernels(const Scope& scope, std::optional<KernelsBy> by, WithCosts costs, CompilerWorkFilter compilers) {
  if (by == KernelsBy::launch) {
    const KernelLaunches launches(scope, costs, compilers);
    Kernels out = launches.all();
    for (std::size_t i = 0; i < launches.size(); ++i) out.rows.push_back(launches[i]);
    return out;
  }
  Kernels out;
  out.by = by;
  KernelRows rows(scope, by, costs);
  for_each_work(scope, [&](const Device& device, const WorkRow& work) { rows.add(device, work); }, compilers);
  out.rows = rows.take();
  for (const KernelRow& row : out.rows) out.add(row);
  const auto order = [](const KernelRow& k) {
    return std::tuple(-k.time_ns, std::string_view(k.key), k.kernel, k.label, k.kernel_hash, k.device);
  };
  std::stable_sort(out.rows.begin(), out.rows.end(),
                   [&](const KernelRow& a, const KernelRow& b) { return order(a) < order(b); });
  add_diagnostics(scope, costs, &out);
  return out;
}

std::span<const std::string_view> kernels_by_names() { return kKernelsBy; }

Result<Report> run_kernels(const Scope& scope, const Arguments& arguments) {
  TRY(const std::optional<std::size_t> by, choice(arguments, "by", kKernelsBy));
  if (by && static_cast<KernelsBy>(*by) == KernelsBy::launch) return report_launches(KernelLaunches(scope));
  return report_kernels(compute_kernels(scope, by ? std::optional(static_cast<KernelsBy>(*by)) : std::nullopt));
}

}  // namespace ridge
