// The table of shared flags, and the full list of each analysis made from it.
#include "engine/parameters.h"

#include <algorithm>

#include "base/lasting.h"
#include "base/nearest.h"
#include "sql/run_sql.h"

namespace ridge {
namespace {

// In the order in which help lists them.
constexpr Parameter kShared[] = {
    {.name = "device",
     .type = Type::text,
     .description = "device whose peaks to use; ridge devices lists them",
     .changes = Changes::costs},
    {.name = "device_file",
     .type = Type::text,
     .description = "JSON file with the peaks of your own device, or with measured peaks",
     .names_file = true,
     .changes = Changes::costs},
    {.name = "clock_mhz",
     .type = Type::number,
     .description = "clock the device ran at; peak FLOP/s scale with it (see boost_mhz and matrix_mhz in ridge devices)",
     .changes = Changes::costs},
    {.name = "dtype",
     .type = Type::text,
     .description = "dtype to assume where the trace does not say: bf16, float32, ...",
     .changes = Changes::costs},
    {.name = "tf32",
     .type = Type::boolean,
     .description = "float32 matmuls and convolutions ran in TF32",
     .changes = Changes::costs},
    {.name = "inductor_cache",
     .type = Type::text,
     .description = "folder with Inductor's generated sources (TORCHINDUCTOR_CACHE_DIR)",
     .names_file = true,
     .changes = Changes::costs},
    {.name = "expected_file",
     .type = Type::text,
     .description = "op times of your own device (ridge predict --calibrate prints the script that records them)",
     .names_file = true,
     .changes = Changes::costs},
    {.name = "table",
     .type = Type::text,
     .description = "kernel times that ridge bench --save measured: they come before what is expected",
     .names_file = true,
     .changes = Changes::costs},
    {.name = "gpu", .type = Type::integer, .description = "only this device of the trace", .changes = Changes::scope},
    {.name = "step",
     .type = Type::text,
     .description = "only iteration A, or A-B: the number in ProfilerStep#, else the index from 0",
     .changes = Changes::scope},
    {.name = "from",
     .type = Type::number,
     .description = "only what starts at or after this time, in ms from the window's start",
     .changes = Changes::scope},
    {.name = "to",
     .type = Type::number,
     .description = "only what starts before this time, in ms from the window's start",
     .changes = Changes::scope},
    {.name = "filter",
     .type = Type::text,
     .description = "only names that match this regular expression",
     .changes = Changes::scope},
    {.name = "runs",
     .type = Type::integer,
     .description = "number of iterations in the trace, if it cannot be detected",
     .changes = Changes::model},
};

// Analyses that ask for a part of what costs are made from: a flag that changes nothing of the answer is not taken.
struct CostsRead {
  std::string_view analysis;
  std::span<const std::string_view> parameters;
};
constexpr std::string_view kSources[] = {"inductor_cache"};
constexpr std::string_view kPeaks[] = {"device", "device_file", "clock_mhz"};
constexpr std::string_view kPeaksAndSources[] = {"device", "device_file", "clock_mhz", "inductor_cache"};
constexpr std::string_view kAllButTimes[] = {"device", "device_file", "clock_mhz", "dtype", "tf32", "inductor_cache"};
constexpr CostsRead kCostsRead[] = {
    {"ops", kSources},  // FLOPs of Triton's products; no op has a peak
    {"replay", kSources},       {"autotune", kPeaksAndSources}, {"devices", kPeaks},
    {"roofline", kAllButTimes}, {"check", kAllButTimes},        {"diff", kAllButTimes},
};

bool reads_costs_of(const AnalysisRow& row, const Parameter& shared) {
  if (!row.costs) return false;
  const auto part = std::ranges::find(kCostsRead, row.info.name, &CostsRead::analysis);
  return part == std::end(kCostsRead) || std::ranges::find(part->parameters, shared.name) != part->parameters.end();
}

bool takes(const AnalysisRow& row, const Parameter& shared) {
  if (row.join != nullptr) return false;
  return shared.changes == Changes::costs ? reads_costs_of(row, shared) : row.info.needs_trace;
}

std::vector<Parameter> whole_list(const AnalysisRow& row) {
  std::vector<Parameter> list(row.info.parameters.begin(), row.info.parameters.end());
  const auto own_end = static_cast<std::ptrdiff_t>(list.size());
  for (const Parameter& shared : kShared) {
    if (!takes(row, shared)) continue;
    const auto own = std::find_if(list.begin(), list.begin() + own_end, [&](const auto& p) { return p.name == shared.name; });
    if (own == list.begin() + own_end) {
      list.push_back(shared);
    } else {
      own->changes = shared.changes;  // in words of its own
    }
  }
  return list;
}

std::string hint_for(std::string_view word, std::span<const std::string_view> names, std::string_view otherwise) {
  const std::string near = did_you_mean(word, names);
  return near.empty() ? std::string(otherwise) : near;
}

}  // namespace

std::span<const AnalysisRow> engine_catalog() {
  static const auto& rows = lasting<std::vector<AnalysisRow>>([] {
    std::vector<AnalysisRow> all(catalog().begin(), catalog().end());
    // Before those that compare traces or need none.
    const auto one_trace = [](const AnalysisRow& row) { return row.info.needs_trace && row.run != nullptr; };
    all.insert(std::ranges::find_if_not(all, one_trace), sql::sql_row());
    return all;
  }());
  return rows;
}

std::span<const Parameter> shared_parameters() { return kShared; }

std::vector<Parameter> shared_parameters(Changes what) {
  std::vector<Parameter> chosen;
  std::copy_if(std::begin(kShared), std::end(kShared), std::back_inserter(chosen),
               [&](const Parameter& p) { return p.changes == what; });
  return chosen;
}

std::string key_of(const Arguments& arguments, Changes what) {
  std::string key;
  for (const Parameter& parameter : kShared) {
    if (parameter.changes != what) continue;
    const auto given = arguments.find(parameter.name);
    key += given == arguments.end() ? "-" : "+" + given->second;
    key += '\0';
  }
  return key;
}

std::span<const Parameter> parameters_of(const AnalysisRow& row) {
  static const auto& all = lasting<std::vector<std::vector<Parameter>>>([] {
    std::vector<std::vector<Parameter>> lists;
    for (const AnalysisRow& each : engine_catalog()) lists.push_back(whole_list(each));
    return lists;
  }());
  return all[static_cast<std::size_t>(&row - engine_catalog().data())];
}

Result<const AnalysisRow*> find_analysis(std::string_view name) {
  std::vector<std::string_view> names;
  for (const AnalysisRow& row : engine_catalog()) {
    if (row.info.name == name) return &row;
    names.push_back(row.info.name);
  }
  return fail(ErrorCode::usage, "unknown analysis '" + std::string(name) + "'", "", hint_for(name, names, "see ridge help"));
}

Result<void> check_names(const AnalysisRow& row, const Arguments& arguments) {
  std::vector<std::string_view> names;
  for (const Parameter& parameter : parameters_of(row)) names.push_back(parameter.name);
  for (const auto& [name, value] : arguments) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    return fail(ErrorCode::usage, std::string(row.info.name) + " has no parameter '" + name + "'", "",
                hint_for(name, names, "see ridge help " + std::string(row.info.name)));
  }
  return {};
}

}  // namespace ridge
