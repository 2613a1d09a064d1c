// Lines or calls become features, features times; the table has a row for each.
#include "analysis/predict/predict.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>

#include "analysis/catalog.h"
#include "analysis/shared/cells.h"
#include "analysis/shared/table_use.h"
#include "base/lasting.h"
#include "base/try.h"
#include "facts/scoped_work.h"
#include "predict/embedded_text.h"
#include "predict/expected_times.h"
#include "predict/op_lines.h"
#include "predict/table_source.h"

namespace ridge {
namespace {

double multiprocessors_of(const DeviceSpec& device) {
  return device.multiprocessors > 0 ? static_cast<double>(device.multiprocessors) : 132.0;
}

// What the op's formula says, against the peaks of the device.
void add_work(const DeviceSpec* device, PredictedCall* call) {
  const OpWork& work = call->features.work;
  call->flops = work.flops;
  if (work.read && work.written) call->bytes = *work.read + *work.written;
  if (device == nullptr || (!call->bytes && call->flops.value_or(0) == 0)) return;
  const auto base = base_time(call->features, *device);
  if (base) call->roof_ns = std::max(base->compute_ns, base->memory_ns);
}

// cuDNN's convolutions take TF32 unless told not to, products do not unless told to: PyTorch's defaults.
bool default_tf32(const OpCall& call, const CostOptions& costs) {
  return costs.tf32 || call.op.find("conv") != std::string_view::npos;
}

std::string sizes_text(const TensorShape& t) {
  std::string text = "[";
  for (const std::int64_t size : t.sizes) text += (text.size() > 1 ? "," : "") + std::to_string(size);
  return text + "]";
}

constexpr std::size_t kMostOfList = 8;

void add_texts(const OpCall& call, PredictedCall* out) {
  const auto add = [](std::string* all, const std::string& one) { *all += (all->empty() ? "[" : ",") + one; };
  for (const OpArgument& a : call.arguments) {
    if (a.kind == OpArgument::Kind::tensor) {
      add(&out->shapes, sizes_text(a.tensor));
      add(&out->dtypes, "\"" + std::string(name_of(a.tensor.dtype)) + "\"");
    }
    if (a.list.empty()) continue;
    std::string list;
    for (std::size_t i = 0; i < a.list.size() && i < kMostOfList; ++i) add(&list, sizes_text(a.list[i]));
    add(&out->shapes, list + (a.list.size() > kMostOfList ? ",..]" : "]"));
    add(&out->dtypes, "\"" + std::string(name_of(a.list.front().dtype)) + "\"");
  }
  if (!out->shapes.empty()) out->shapes += "]", out->dtypes += "]";
}

// The product in each of the line's configurations.
void add_configs(const OpLine& line, const DeviceSpec& device, const CostOptions& costs, Predictions* out) {
  out->with_configs = true;
  for (const TritonTile& tile : line.tiles) {
    PredictedCall& call = out->calls.emplace_back();
    call.op = *line.op;
    call.shapes = line.shapes;
    call.dtypes = line.dtypes;
    call.device = device.name;
    call.config = text_of(tile);
    call.features = features_of_tile(*line.product, tile, line.tf32.value_or(costs.tf32), multiprocessors_of(device));
    add_work(&device, &call);
    call.expected = expected_time(call.features, device, nullptr, &call.why);
  }
}

// Configurations of one product against each other, whether they stand in one line or in several.
void rank_configs(Predictions* out) {
  std::map<std::array<std::string_view, 3>, std::vector<PredictedCall*>> products;
  for (PredictedCall& call : out->calls) {
    if (!call.config.empty() && call.expected) products[{call.op, call.shapes, call.dtypes}].push_back(&call);
  }
  for (auto& [product, configs] : products) {
    std::ranges::stable_sort(configs, {}, [](const PredictedCall* call) { return call->expected->ns; });
    for (std::size_t i = 0; i < configs.size(); ++i) configs[i]->rank = static_cast<std::int64_t>(i + 1);
  }
}

}  // namespace

Result<Predictions> compute_predictions(const CostOptions& costs, const std::string& lines) {
  Predictions out;
  DeviceSpec device;
  if (costs.device) {
    device = *costs.device;
  } else {
    TRY(const DeviceSpec* const measured, find_device(ExpectedTable::built_in().device()));
    device = *measured;
  }
  if (costs.clock_mhz > 0) device = at_clock(device, costs.clock_mhz);
  TRY(const std::vector<OpLine> ops, read_op_lines(lines, "--ops"));
  std::optional<MeasuredPoints> own;
  if (costs.measured != nullptr) {
    TRY(own, MeasuredPoints::read(*costs.measured, "--expected-file", device));
  }
  const KernelTable* const table = table_of(costs);
  LinesOfTable served;
  for (const OpLine& line : ops) {
    if (line.product) {
      add_configs(line, device, costs, &out);
      continue;
    }
    PredictedCall& call = out.calls.emplace_back();
    call.op = *line.op;
    call.shapes = line.shapes;
    call.dtypes = line.dtypes;
    call.device = device.name;
    call.features = features_of_call(line.call, line.tf32.value_or(default_tf32(line.call, costs)), multiprocessors_of(device));
    add_work(&device, &call);
    KernelTable::Used used;
    if (table != nullptr && table->is_of(device)) call.expected = table->call(line.call, &used);
    // A table may hold but one kernel of a call that has several.
    if (call.expected && call.expected->high_ns < call.roof_ns.value_or(0)) call.expected.reset();
    served.add(call.expected.has_value(), used);
    if (!call.expected) call.expected = expected_time(call.features, device, own ? &*own : nullptr, &call.why);
    for (const std::string& name : line.not_used) {
      std::string& said = call.expected ? call.expected->basis : call.why;
      said += "; '" + name + "' changes nothing here";
    }
  }
  rank_configs(&out);
  if (table != nullptr) out.table_use = served.told(*table, device);
  return out;
}

Result<Predictions> compute_predictions(const Scope& scope) {
  Predictions out;
  out.of_trace = true;
  out.table_use = table_use(scope);
  const CostModel& costs = scope.costs();
  const ExpectedTimes times(costs);
  std::vector<std::pair<std::int64_t, double>> seen(times.calls().size());  // launches in the scope, and their time
  for_each_work(scope, [&](const Device&, const WorkRow& work) {
    const ExpectedCall* call = times.call(work.row);
    if (call == nullptr) return;
    auto& [count, time] = seen[static_cast<std::size_t>(call - times.calls().data())];
    ++count;
    time += static_cast<double>(duration_ns(work));
  });
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const ExpectedCall& each = times.calls()[i];
    const std::string_view name = each.call != nullptr ? each.call->call.op : each.kernel->name;
    if (seen[i].first == 0 || !scope.matches(name)) continue;
    PredictedCall& call = out.calls.emplace_back();
    const DeviceSpec* device = costs.device(each.device);
    call.op = std::string(name);
    if (each.call != nullptr) add_texts(each.call->call, &call);
    call.device = device != nullptr ? device->name : std::string();
    call.features = each.features;
    add_work(device, &call);
    call.expected = each.expected;
    call.why = each.why;
    call.count = seen[i].first / std::max<std::int64_t>(each.call != nullptr ? each.call->launches : 1, 1);
    call.time_ns = seen[i].second;
  }
  std::ranges::stable_sort(out.calls, std::ranges::greater{}, &PredictedCall::time_ns);
  return out;
}

namespace {

// What the table is asked by; of several parts one behind the other, with " + " between them.
void add_features(const CallFeatures& call, Row* row) {
  static const auto& reference = lasting(find_device(ExpectedTable::built_in().device()));
  std::string roles, kinds, ops, bases, values;
  const auto add = [](std::string* all, std::string_view one, std::string_view between) {
    if (!all->empty()) *all += between;
    *all += one;
  };
  const std::span<const CallFeatures> parts = call.parts.empty() ? std::span(&call, 1) : std::span(call.parts);
  for (const CallFeatures& part : parts) {
    const auto base = reference ? base_time(part, **reference) : std::nullopt;
    add(&roles, part.role, " + ");
    add(&kinds, part.kind, " + ");
    add(&ops, part.op, " + ");
    add(&bases, base ? std::to_string(base->ns()) : "", " + ");
    std::string features;
    for (const float value : part.values) add(&features, std::to_string(value), " ");
    add(&values, features, " + ");
  }
  for (const std::string& text : {roles, kinds, ops, bases, values}) row->push_back(cells::text(text));
}

}  // namespace

Report report_predictions(const Predictions& predictions) {
  Table table;
  table.name = "predict";
  table.columns = {{"op", Type::text},
                   {"shapes", Type::text},
                   {"dtypes", Type::text},
                   {"device", Type::text},
                   {"flops", Type::number, Unit::flop},
                   {"bytes", Type::number, Unit::bytes},
                   {"roof_ns", Type::number, Unit::ns},
                   {"expected_ns", Type::number, Unit::ns},
                   {"low_ns", Type::number, Unit::ns},
                   {"high_ns", Type::number, Unit::ns}};
  if (predictions.of_trace) {
    table.columns.push_back({"count", Type::integer, Unit::count});
    table.columns.push_back({"mean_ns", Type::number, Unit::ns});
    table.columns.push_back({"slowdown", Type::number});
  }
  if (predictions.with_configs) {
    table.columns.push_back({"rank", Type::integer});
    table.columns.push_back({"config", Type::text});
  }
  table.columns.push_back({"basis", Type::text});
  table.hints.important = {"op",       "expected_ns", "low_ns", "high_ns", "roof_ns", "mean_ns",
                           "slowdown", "count",       "rank",   "config",  "shapes",  "dtypes"};
  if (predictions.with_features) {
    for (const char* name : {"part", "kind", "table_op", "base_ns", "features"}) table.columns.push_back({name, Type::text});
  }
  for (const PredictedCall& call : predictions.calls) {
    const auto ns = [&](double ExpectedTime::* member) {
      return call.expected ? Cell(std::round((*call.expected).*member)) : Cell();
    };
    Row row = {call.op,
               cells::text(call.shapes),
               cells::text(call.dtypes),
               cells::text(call.device),
               cells::number(call.flops),
               cells::number(call.bytes),
               cells::number(call.roof_ns),
               ns(&ExpectedTime::ns),
               ns(&ExpectedTime::low_ns),
               ns(&ExpectedTime::high_ns)};
    if (predictions.of_trace) {
      const double mean = call.count > 0 ? call.time_ns / static_cast<double>(call.count) : 0;
      row.push_back(call.count);
      row.push_back(call.count > 0 ? Cell(mean) : Cell());
      row.push_back(call.expected && call.expected->ns > 0 && mean > 0 ? Cell(mean / call.expected->ns) : Cell());
    }
    if (predictions.with_configs) {
      row.push_back(call.rank > 0 ? Cell(call.rank) : Cell());
      row.push_back(cells::text(call.config));
    }
    row.push_back(cells::text(call.expected ? call.expected->basis : call.why));
    if (predictions.with_features) add_features(call.features, &row);
    table.add_row(row);
  }
  Report report;
  report.tables.push_back(std::move(table));
  if (predictions.table_use) report.diagnostics.push_back(*predictions.table_use);
  return report;
}

Result<Report> run_predict(const Scope& scope, const Arguments& arguments) {
  if (arguments.contains("ops") || arguments.contains("calibrate"))
    return fail(ErrorCode::usage, "give a trace, --ops or --calibrate, not several of them");
  TRY(Predictions predictions, compute_predictions(scope));
  predictions.with_features = arguments.contains("features");
  return report_predictions(predictions);
}

Result<Report> run_predict_alone(const CostOptions& costs, const Arguments& arguments) {
  if (arguments.contains("calibrate")) {
    std::string script;
    for (const std::string_view piece : calibration_script()) script += piece;
    Report report;
    Table& table = report.tables.emplace_back();
    table.name = "script";
    table.columns = {{"text", Type::text}};
    table.add_row({script});
    return report;
  }
  const auto lines = arguments.find("ops");
  if (lines == arguments.end())
    return fail(ErrorCode::usage, "predict needs a trace, --ops or --calibrate", "", "ridge predict --ops calls.jsonl");
  TRY(Predictions predictions, compute_predictions(costs, lines->second));
  predictions.with_features = arguments.contains("features");
  return report_predictions(predictions);
}

}  // namespace ridge
