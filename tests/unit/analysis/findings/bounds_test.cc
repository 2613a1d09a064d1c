// Every bound against the analyses that know the time: `gaps` for idle time by cause, `gpu` for busy time, and the iteration,
// which is one figure wherever it is told. Traces that are not in the repository are skipped where they are absent.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>

#include "analysis/findings/bounds.h"
#include "analysis/findings/catalog.h"
#include "analysis/gaps/gaps.h"
#include "analysis/gpu/gpu.h"
#include "analysis/summary/summary.h"
#include "analysis/whatif/whatif.h"
#include "facts/iteration_time.h"
#include "support/diffed.h"
#include "support/files.h"
#include "support/sample.h"
#include "support/sanitized.h"
#include "unit/analysis/findings/found.h"
#include "unit/analysis/findings/program.h"

namespace ridge {
namespace {

using test::Found;
using test::found_in;
using test::kUs;
using test::Program;
using test::TraceText;

// ---- every finding of every trace

// By device: what a finding may claim at most, told by other analyses.
std::int64_t claimable_ns(const Scope& scope, const FindingRow& rule) {
  std::map<std::int64_t, std::int64_t> by_device;
  const Gaps gaps = compute_gaps(scope);
  for (const GapRow& gap : gaps.rows) {
    for (const GapPart& part : gaps.parts_of(gap)) {
      if (rule.idle.holds(part.cause) || rule.reach.holds(part.cause)) by_device[gap.device] += part.time_ns;
    }
  }
  if (rule.work) {
    for (const GpuDevice& device : compute_gpu(scope).devices) by_device[device.device] += device.busy_ns;
  }
  std::int64_t most = 0;
  for (const auto& [device, time] : by_device) most = std::max(most, time);
  return most;
}

void expect_bounded(const Scope& scope, const std::string& what) {
  const Findings findings = compute_findings(scope);
  for (const RankedFinding& row : findings.rows) {
    if (!row.at_most_ns) continue;
    const auto rule = std::ranges::find(finding_catalog(), row.id, &FindingRow::id);
    EXPECT_LE(*row.finding.at_most_ns, claimable_ns(scope, *rule)) << what << ": " << row.id;
    EXPECT_LE(*row.at_most_ns, findings.time.mean_ns()) << what << ": " << row.id;
    EXPECT_LE(row.at_most_pct.value_or(0), 100) << what << ": " << row.id;
  }
}

// One denominator, and an order that always holds: in findings, in whatif's rows of them, asked for one by one or all together.
void expect_in_order(const std::string& what, std::optional<double> low, std::optional<double> saves,
                     std::optional<double> high, std::optional<double> at_most) {
  constexpr double kRounding = 1e-6;
  EXPECT_EQ(saves.has_value(), low.has_value()) << what;
  if (!saves) return;
  EXPECT_LE(*low, *saves + kRounding) << what;
  EXPECT_LE(*saves, high.value_or(-1) + kRounding) << what;
  EXPECT_LE(*high, at_most.value_or(100) + kRounding) << what;
}

// Of the longest step that is thought possible, the time in which the busiest device has nothing to do.
std::int64_t waits_at_most_ns(const Scope& scope, const WhatIf& what_if) {
  const Ledger ledger(scope);
  std::int64_t busy = 0;
  for (const DeviceLedger& device : ledger.devices()) busy = std::max(busy, device.busy_ns);
  return std::max<std::int64_t>(0, what_if.without_profiler_most_ns() - busy / ledger.iterations());
}

void expect_consistent(const Scope& scope, const std::string& what) {
  const SavingsOnce savings(scope);
  const Findings findings = compute_findings(scope, {}, {.savings = &savings});
  const auto step = static_cast<double>(savings.get().what_if().base_ns());
  std::vector<Asked> asked;
  for (const RankedFinding& row : findings.rows) {
    const std::string name = what + ": " + std::string(row.id);
    expect_in_order(name, row.savings.low_pct, row.savings.saves_pct, row.savings.high_pct, row.at_most_pct);
    const auto bound = static_cast<double>(row.at_most_ns.value_or(0));
    if (row.at_most_ns && step > 0) {
      EXPECT_NEAR(row.at_most_pct.value_or(-1), std::min(100.0, 100 * bound / step), 1e-6) << name;
    }
    EXPECT_LE(row.savings.saves_ns.value_or(0), row.at_most_ns.value_or(INT64_MAX)) << name;
    if (is_of_host(row.remedy) && step > 0) {
      EXPECT_LE(row.savings.saves_ns.value_or(0), waits_at_most_ns(scope, savings.get().what_if())) << name;
    }
    asked.push_back({.text = "finding:" + std::string(row.id), .finding = std::string(row.id)});
  }
  const WhatIfAnswer answer = compute_whatif(scope, asked);
  for (const Scenario& scenario : answer.rows) {
    std::string_view id = scenario.name;
    if (id.starts_with("finding:")) id.remove_prefix(8);
    const auto row = std::ranges::find(findings.rows, id, &RankedFinding::id);
    const bool of_all = id == kAllFindings || id == kTogether;  // every finding was asked for
    const Savings* same = of_all ? &findings.all : row == findings.rows.end() ? nullptr : &row->savings;
    expect_in_order(what + " whatif " + scenario.name, scenario.low_pct, scenario.saves_pct, scenario.high_pct,
                    row == findings.rows.end() ? std::nullopt : row->at_most_pct);
    if (same == nullptr || findings.rows.empty()) continue;
    ASSERT_EQ(scenario.saves_ns.has_value(), same->saves_ns.has_value()) << what << ' ' << scenario.name;
    constexpr std::int64_t kInAnotherOrder = 2;  // ns
    EXPECT_LE(std::abs(scenario.saves_ns.value_or(0) - same->saves_ns.value_or(0)), of_all ? kInAnotherOrder : 0)
        << what << ' ' << scenario.name;
  }
}

TEST(Bounds, AndSavingsAreInOrderWhereverTheyAreTold) {
  for (const std::string& path : test::all_traces()) {
    const test::LoadedTrace loaded = test::load_file(path);
    if (!loaded.model->timeline().devices.empty()) expect_consistent(Scope(*loaded.model), path);
  }
}

// Threads that wait for other ranks: a step that goes on behind itself would be longer than it was recorded.
TEST(Bounds, NoStepIsLongerForNotBeingRecorded) {
  int steps = 0;
  for (const char* name : {"ddp_gloo_rank0", "ddp_gloo_rank1", "ddp_gloo_rank2", "ddp_gloo_rank3", "gloo_threads_rank2"}) {
    const test::LoadedTrace loaded = test::load_file(test::path_of(name).value_or(""));
    for (std::int64_t step = 0; step < loaded.model->iterations().count(); ++step, ++steps) {
      const std::string number = std::to_string(loaded.model->iterations().list[static_cast<std::size_t>(step)].number);
      const auto scope = make_scope(*loaded.model, {{"step", number}});
      ASSERT_TRUE(scope);
      const WhatIf what_if(*scope);
      EXPECT_LE(static_cast<double>(what_if.without_profiler_ns()), 1.02 * static_cast<double>(what_if.replayed_ns()))
          << name << ' ' << number;
    }
  }
  EXPECT_GT(steps, 10);
}

// Whose time it is, said once more and apart from the catalog: a cause that names a culprit is that culprit's alone, whatever
// else the host did meanwhile. Late launches and the device's own pauses may be anyone's.
struct Culprits {
  IdleCause cause;
  std::vector<std::string_view> findings;
};
const std::vector<Culprits>& culprits() {
  static const std::vector<Culprits> list = {
      {IdleCause::sync, {"host_sync", "graph_breaks"}},
      {IdleCause::compile, {"autotune_in_window", "recompiles", "compile_in_window"}},
      {IdleCause::guards, {"recompile_limit", "guard_overhead", "graph_breaks"}},
      {IdleCause::allocator, {"allocator"}},
      {IdleCause::dataloader, {"dataloader"}},
      {IdleCause::copy_wait, {"pageable_copy", "host_sync", "graph_breaks"}},
      {IdleCause::dependency, {"exposed_communication"}},
      {IdleCause::head_tail, {"preprocessing"}},
      {IdleCause::unknown, {}},
  };
  return list;
}
// What happens inside these spans is theirs, be it a wait or an allocation.
constexpr std::array<std::string_view, 3> kSpans = {"autotune_in_window", "recompiles", "profiler_overhead"};

bool may_take(std::string_view id, IdleCause cause) {
  const auto row = std::ranges::find(culprits(), cause, &Culprits::cause);
  return row == culprits().end() || std::ranges::find(row->findings, id) != row->findings.end() ||
         (cause != IdleCause::dependency && std::ranges::find(kSpans, id) != kSpans.end());
}

TEST(Bounds, ACauseThatNamesACulpritIsItsAlone) {
  std::map<IdleCause, std::size_t> pieces;
  const std::vector<std::string> own = test::own_traces();
  for (const std::string& path : test::kSanitized ? test::sample(own, 16) : own) {
    const test::LoadedTrace loaded = test::load_file(path);
    const Scope scope(*loaded.model);
    std::map<IdleCause, std::int64_t> taken, idle;
    for (const GpuDevice& device : compute_gpu(scope).devices) {
      for (std::size_t i = 0; i < kIdleCauses; ++i) idle[static_cast<IdleCause>(i)] += device.idle[i].time_ns;
    }
    for (const RankedFinding& row : compute_findings(scope).rows) {
      Ledger ledger(scope);
      for (const ClaimPart& part : compute_findings(scope, {}, {.ledger = &ledger}, row.id).claim) {
        if (!part.idle || part.reached) continue;
        const IdleCause cause = ledger.devices().at(part.device).idle.at(part.slot).piece.cause;
        EXPECT_TRUE(may_take(row.id, cause)) << path << ": " << row.id << " takes " << name_of(cause);
        taken[cause] += part.ns;
        ++pieces[cause];
      }
    }
    for (const auto& [cause, ns] : taken) EXPECT_LE(ns, idle[cause]) << path << ": more than all of " << name_of(cause);
  }
  if (test::kSanitized && !test::runs_all()) return;  // a sample need not show each
  for (const IdleCause cause :
       {IdleCause::sync, IdleCause::compile, IdleCause::guards, IdleCause::allocator, IdleCause::launch})
    EXPECT_GT(pieces[cause], 0U) << "no trace shows " << name_of(cause);
}

TEST(Bounds, AreIdleTimeOfTheirOwnCausesAndWork) {
  for (const std::string& path : test::all_traces()) {
    const test::LoadedTrace loaded = test::load_file(path);
    expect_bounded(Scope(*loaded.model), path);
    const std::vector<Iteration>& list = loaded.model->iterations().list;
    for (std::size_t i = 0; i < std::min<std::size_t>(list.size(), 3) && list.size() > 1; ++i) {
      const std::string step = std::to_string(list[i].number);
      const auto scope = make_scope(*loaded.model, {{"step", step}});
      ASSERT_TRUE(scope.has_value()) << path;
      expect_bounded(*scope, path + " --step " + step);
    }
  }
}

// ---- made by hand

// The host reads a value from 150 to 1150 us. From 200 to 1000 the device waits, with work queued, for what another stream has
// to do first: who takes the read away takes nothing of that.
TEST(Bounds, ASyncDoesNotClaimWaitsForAnotherStream) {
  TraceText text;
  text.call("cudaLaunchKernel", 90 * kUs, 95 * kUs, 1).kernel("k", 100 * kUs, 200 * kUs, 1);
  text.call("cudaLaunchKernel", 120 * kUs, 125 * kUs, 2).kernel("k", 1'000 * kUs, 1'100 * kUs, 2, 8);
  text.op("aten::item", 150 * kUs, 1'150 * kUs).call("cudaMemcpyAsync", 155 * kUs, 158 * kUs, 3);
  text.copy("Memcpy DtoH (Device -> Pageable)", 1'100 * kUs, 1'102 * kUs, 3, 8);
  text.call("cudaStreamSynchronize", 159 * kUs, 1'103 * kUs);
  text.call("cudaLaunchKernel", 1'200 * kUs, 1'205 * kUs, 4).kernel("k", 1'206 * kUs, 1'300 * kUs, 4, 8);
  const Found found = found_in(text);
  ASSERT_TRUE(found.has("host_sync")) << found.ids();
  EXPECT_LE(found.find("host_sync")->finding.at_most_ns.value_or(0), (1'206 - 1'100) * kUs);  // the copy goes with the read
  const Gpu gpu = compute_gpu(Scope(*found.loaded.model));
  EXPECT_EQ(gpu.devices.at(0).idle[static_cast<std::size_t>(IdleCause::dependency)].time_ns, 800 * kUs);
}

// A collective of the second step, 786 us on a stream of its own, most of it while the device still does the first step: of
// the second step, which takes 446 us, only what lies in it counts.
TEST(Bounds, OfOneStepAreWithinTheStep) {
  TraceText text;
  text.annotation("ProfilerStep#1", 0, 1'000 * kUs).annotation("ProfilerStep#2", 1'000 * kUs, 1'500 * kUs);
  text.call("cudaLaunchKernel", 10 * kUs, 15 * kUs, 1).kernel("k", 20 * kUs, 1'700 * kUs, 1);
  text.call("cudaLaunchKernel", 1'010 * kUs, 1'015 * kUs, 2).kernel("ncclDevKernel_AllReduce", 1'020 * kUs, 1'806 * kUs, 2, 8);
  text.call("cudaLaunchKernel", 1'030 * kUs, 1'035 * kUs, 3).kernel("k", 1'806 * kUs, 2'146 * kUs, 3);
  const test::LoadedTrace loaded(text.read());
  const auto scope = make_scope(*loaded.model, {{"step", "2"}});
  ASSERT_TRUE(scope.has_value());
  const Findings findings = compute_findings(*scope);
  ASSERT_EQ(findings.rows.size(), 1U);
  EXPECT_EQ(findings.rows[0].id, "exposed_communication");
  EXPECT_EQ(findings.rows[0].finding.at_most_ns, 106 * kUs);
  EXPECT_EQ(findings.rows[0].at_most_ns, 106 * kUs * 105 / 100);  // and what another run may take longer
  EXPECT_EQ(findings.time.mean_ns(), 446 * kUs);
}

// Memory given back behind the last kernel, as in every iteration before: 300 us of the driver in each of three.
TEST(Bounds, WhatTheProgramDoesBehindItsLastKernelIsTheIterations) {
  TraceText text;
  for (int i = 0; i < 3; ++i) {
    const std::int64_t at = i * 1'000 * kUs;
    text.op("step_" + std::to_string(i), at, at + 600 * kUs).call("cudaLaunchKernel", at + 10 * kUs, at + 15 * kUs, i + 1);
    text.kernel("k", at + 20 * kUs, at + 120 * kUs, i + 1).call("cudaFree", at + 200 * kUs, at + 500 * kUs);
  }
  const Found found = found_in(text);
  ASSERT_TRUE(found.has("allocator")) << found.ids();
  const Gpu gpu = compute_gpu(Scope(*found.loaded.model));
  const auto& idle = gpu.devices.at(0).idle;
  const auto ns = [&](IdleCause cause) { return idle[static_cast<std::size_t>(cause)].time_ns; };
  std::int64_t taken_ns = 0;
  for (const ClaimPart& part : test::claim_of(found, "allocator")) taken_ns += part.reached ? 0 : part.ns;
  EXPECT_EQ(taken_ns, ns(IdleCause::allocator));
  EXPECT_GE(taken_ns, 3 * 300 * kUs);
  // The driver waits for the device in such a call: without it the host may be ahead of all launches that are late now.
  EXPECT_EQ(found.find("allocator")->finding.at_most_ns, taken_ns + ns(IdleCause::launch) + ns(IdleCause::recorder));
}

// Each of 60 kernels is waited for in two pieces, with an allocation between: two kernels an iteration all the same.
TEST(Bounds, LateKernelsAreCountedNotPiecesOfTheirWaits) {
  TraceText text;
  for (int i = 1; i <= 60; ++i) {
    const std::int64_t at = i * 100 * kUs;
    text.call("cudaMalloc", at - 50 * kUs, at - 49 * kUs).call("cudaLaunchKernel", at, at + 5 * kUs, i);
    text.kernel(i % 2 == 0 ? "a" : "b", at + 6 * kUs, at + 16 * kUs, i);
  }
  const Found found = found_in(text);
  ASSERT_TRUE(found.has("launch_bound")) << found.ids();
  const std::string& finding = found.find("launch_bound")->finding.finding;
  EXPECT_TRUE(finding.ends_with("before 2 kernels per iteration")) << finding;
}

// 200 kernels of 10 us, each of which the device waits 20 us for while the host runs one op. Some of that is the recorder's: it
// makes no program launch-bound, and where another part does, the bound holds whoever it belongs to.
TEST(Bounds, WhatRecordingCostsIsPartOfTheBound) {
  TraceText text;
  for (int i = 0; i < 200; ++i) {
    const std::int64_t at = (10 + i * 30) * kUs;
    text.op("aten::add", at - 16 * kUs, at).call("cudaLaunchKernel", at - 6 * kUs, at - kUs, i + 1);
    text.kernel(i % 2 == 0 ? "a" : "b", at, at + 10 * kUs, i + 1);
  }
  const Found found = found_in(text);
  ASSERT_TRUE(found.has("launch_bound")) << found.ids();
  const std::int64_t bound = found.find("launch_bound")->finding.at_most_ns.value_or(0);
  EXPECT_EQ(bound, 199 * 20 * kUs);
}

// ---- the iteration

std::int64_t cell(const Report& report, std::string_view table_name, std::string_view column_name) {
  const auto table = std::ranges::find(report.tables, table_name, &Table::name);
  if (table != report.tables.end()) {
    const auto column = std::ranges::find(table->columns, column_name, &Column::name);
    if (column != table->columns.end())
      return std::get<std::int64_t>(table->row(0)[static_cast<std::size_t>(column - table->columns.begin())]);
  }
  ADD_FAILURE() << "no " << table_name << "." << column_name;
  return -1;
}

TEST(Iteration, IsOneFigureInEveryAnalysis) {
  for (const std::string& path : test::all_traces()) {
    const test::Diffed twice = test::diff_files(path, path);
    const Scope& scope = twice.scopes[0];
    if (scope.window().duration_ns() == 0) continue;
    const Report summary = report_summary(compute_summary(scope));
    const std::int64_t iteration = cell(summary, "summary", "iteration_ns"),
                       median = cell(summary, "summary", "median_iteration_ns");
    EXPECT_EQ(twice.answer.sides[0].wall_ns, iteration) << path;
    EXPECT_EQ(twice.answer.sides[1].wall_ns, iteration) << path;
    if (scope.model().timeline().devices.empty()) continue;
    for (const Report& report : {report_findings(compute_findings(scope)), report_gaps(compute_gaps(scope))}) {
      EXPECT_EQ(cell(report, "iteration", "iteration_ns"), iteration) << path;
      EXPECT_EQ(cell(report, "iteration", "median_iteration_ns"), median) << path;
    }
  }
}

// Steps of 10, 20, 40 and 90 us.
TEST(Iteration, IsTheMeanAndTheMedianOfFourLiesBetweenTheMiddleTwo) {
  TraceText text;
  std::int64_t at = 0;
  int step = 0;
  for (const std::int64_t us : {20, 90, 10, 40}) {
    text.annotation("ProfilerStep#" + std::to_string(++step), at, at + us * kUs);
    text.call("cudaLaunchKernel", at + kUs, at + 2 * kUs, step).kernel("k", at + 3 * kUs, at + 4 * kUs, step);
    at += us * kUs;
  }
  const test::LoadedTrace loaded(text.read());
  const IterationTime time = iteration_time(Scope(*loaded.model));
  EXPECT_EQ(time.mean_ns(), 40 * kUs);
  EXPECT_EQ(time.median_ns, 30 * kUs);
}

}  // namespace
}  // namespace ridge
