// A row for each tuning, one for each configuration, one for each file of the cache.
#include "analysis/autotune/autotune.h"
#include "analysis/catalog.h"
#include "analysis/shared/cells.h"
#include "base/saturating.h"

namespace ridge {
namespace {

std::string config_of(const TriedConfig& config) {
  if (config.tile) return text_of(*config.tile);
  if (config.of_program)
    return "{\"grid\": " + std::string(config.grid) + ", \"block\": " + std::string(config.block) +
           ", \"registers\": " + std::to_string(config.registers.value_or(0)) + "}";
  if (!config.warps) return config.kernel;  // a library's
  return "{\"num_warps\": " + std::to_string(*config.warps) + ", \"num_stages\": " + std::to_string(config.stages.value_or(0)) +
         ", \"grid\": " + std::string(config.grid) + "}";
}

Cell cell(const std::optional<std::int64_t>& value) { return value ? Cell(*value) : Cell(); }

Table tunings_table(const Autotune& autotune) {
  Table table;
  table.name = "autotune";
  table.columns = {{"tuning", Type::integer},
                   {"what", Type::text},
                   {"how", Type::text},
                   {"configs", Type::integer, Unit::count},
                   {"wall_ns", Type::integer, Unit::ns},
                   {"gpu_ns", Type::integer, Unit::ns},
                   {"launches", Type::integer, Unit::count},
                   {"fastest_ns", Type::integer, Unit::ns},
                   {"slowest_ns", Type::integer, Unit::ns},
                   {"ran_ns", Type::integer, Unit::ns},
                   {"ran_place", Type::integer},
                   {"expected_place", Type::integer},
                   {"first5_saves_ns", Type::integer, Unit::ns},
                   {"fastest", Type::text},
                   {"ran", Type::text}};
  table.hints.important = {"what",      "configs",        "wall_ns",         "fastest_ns", "ran_ns",
                           "ran_place", "expected_place", "first5_saves_ns", "fastest"};
  std::int64_t configs = 0, wall = 0, gpu = 0, launches = 0, number = 0;
  for (const TunedOnce& tuning : autotune.tunings) {
    const TriedConfig *fastest = tuning.fastest(), *ran = tuning.chosen();
    std::int64_t slowest = 0;
    for (const TriedConfig& c : tuning.tried) slowest = std::max(slowest, c.min_ns);
    table.add_row({number++, tuning.what, std::string(tuning.how), static_cast<std::int64_t>(tuning.tried.size()),
                   tuning.wall_ns, tuning.gpu_ns, tuning.launches, fastest->min_ns, slowest,
                   ran != nullptr ? Cell(ran->min_ns) : Cell(), ran != nullptr ? Cell(ran->place) : Cell(),
                   cell(tuning.expected_place()), cell(tuning.wall_beyond_ns(kTriedFirst)), config_of(*fastest),
                   ran != nullptr ? Cell(config_of(*ran)) : Cell()});
    configs += static_cast<std::int64_t>(tuning.tried.size());
    saturating_add(&wall, tuning.wall_ns);
    saturating_add(&gpu, tuning.gpu_ns);
    launches += tuning.launches;
  }
  if (!autotune.tunings.empty()) {
    Row total(table.columns.size());
    total[3] = configs, total[4] = wall, total[5] = gpu, total[6] = launches;
    table.total = std::move(total);
  }
  return table;
}

Table configs_table(const Autotune& autotune) {
  Table table;
  table.name = "configs";
  table.columns = {{"tuning", Type::integer},
                   {"place", Type::integer},
                   {"min_ns", Type::integer, Unit::ns},
                   {"median_ns", Type::integer, Unit::ns},
                   {"launches", Type::integer, Unit::count},
                   {"wall_ns", Type::integer, Unit::ns},
                   {"gpu_ns", Type::integer, Unit::ns},
                   {"expected_ns", Type::number, Unit::ns},
                   {"expected_place", Type::integer},
                   {"ran", Type::boolean},
                   {"num_warps", Type::integer},
                   {"num_stages", Type::integer},
                   {"registers", Type::integer},
                   {"shared_bytes", Type::integer, Unit::bytes},
                   {"grid", Type::text},
                   {"block", Type::text},
                   {"config", Type::text},
                   {"kernel", Type::text}};
  table.hints.important = {"tuning", "place", "min_ns", "expected_ns", "expected_place", "ran", "config"};
  std::int64_t number = 0;
  for (const TunedOnce& tuning : autotune.tunings) {
    for (const TriedConfig& c : tuning.tried) {
      table.add_row({number, c.place, c.min_ns, c.median_ns, c.launches, c.wall_ns, c.gpu_ns, cells::number(c.expected_ns),
                     c.expected_place > 0 ? Cell(c.expected_place) : Cell(), c.ran, cell(c.warps), cell(c.stages),
                     cell(c.registers), cell(c.shared_bytes), cells::text(c.grid), cells::text(c.block), config_of(c),
                     c.kernel});
    }
    ++number;
  }
  return table;
}

std::string_view name_of(KeptState state) {
  switch (state) {
    case KeptState::hit: return "hit";
    case KeptState::tuned_here: return "tuned here";
    case KeptState::not_run: break;
  }
  return "not run";
}

Table kept_table(const Autotune& autotune) {
  Table table;
  table.name = "kept";
  table.columns = {{"kernel", Type::text},     {"state", Type::text},         {"config", Type::text},
                   {"took_ms", Type::integer}, {"by_descent", Type::boolean}, {"file", Type::text}};
  for (const KeptTuning& kept : autotune.kept) {
    table.add_row({cells::text(kept.kernel), std::string(name_of(kept.state)), cells::text(kept.config), cell(kept.took_ms),
                   kept.by_descent ? Cell(*kept.by_descent) : Cell(), kept.file});
  }
  return table;
}

}  // namespace

Report report_autotune(const Autotune& autotune) {
  Report report;
  report.tables.push_back(tunings_table(autotune));
  report.tables.push_back(configs_table(autotune));
  if (autotune.has_cache) report.tables.push_back(kept_table(autotune));
  if (autotune.tunings.empty() && autotune.kept.empty())
    report.headline =
        "no autotuning in the recording: record the first run of a compiled program with an empty cache "
        "(TORCHINDUCTOR_CACHE_DIR); what an earlier run kept, --inductor-cache tells";
  return report;
}

Result<Report> run_autotune(const Scope& scope, const Arguments&) { return report_autotune(compute_autotune(scope)); }

}  // namespace ridge
