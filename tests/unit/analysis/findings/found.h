// What the tests of findings ask: the ids found in a trace, in order, and one of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/findings/findings.h"
#include "support/host_device_trace.h"
#include "support/loaded_trace.h"

namespace ridge::test {

struct Found {
  LoadedTrace loaded;
  Findings findings;

  explicit Found(LoadedTrace trace, const CostOptions& costs = {})
      : loaded(std::move(trace)),
        findings(compute_findings(Scope(*loaded.model, std::make_shared<CostModel>(*loaded.model, costs)))) {}

  const RankedFinding* find(std::string_view id) const {
    const auto it =
        std::find_if(findings.rows.begin(), findings.rows.end(), [&](const RankedFinding& row) { return row.id == id; });
    return it == findings.rows.end() ? nullptr : &*it;
  }
  bool has(std::string_view id) const { return find(id) != nullptr; }
  // From 1; 0 when it is not there.
  std::size_t rank(std::string_view id) const {
    const RankedFinding* row = find(id);
    return row == nullptr ? 0 : static_cast<std::size_t>(row - findings.rows.data()) + 1;
  }
  std::string ids() const {
    std::string all;
    for (const RankedFinding& row : findings.rows) all += std::string(row.id) + " ";
    return all;
  }
};

constexpr std::int64_t kUs = 1'000;  // ns

inline Found found_in(const TraceText& text) { return Found(LoadedTrace(text.read())); }
inline Found found_in_events(std::string_view events) { return Found(load_events(events)); }

// What a finding claims, piece by piece.
inline std::vector<ClaimPart> claim_of(const Found& found, std::string_view id) {
  const Scope scope(*found.loaded.model);
  Ledger ledger(scope);
  return compute_findings(scope, {}, {.ledger = &ledger}, id).claim;
}

// Events with the properties of an H200 around them.
inline Found found_on_h200(std::string_view events, const CostOptions& costs = {}) {
  const std::string device =
      R"({"id": 0, "name": "NVIDIA H200", "totalGlobalMem": 150109880320, "computeMajor": 9, "computeMinor": 0,)"
      R"( "maxThreadsPerMultiprocessor": 2048, "warpSize": 32, "numSms": 132})";
  return Found(LoadedTrace(read_ok("{\"deviceProperties\": [" + device + "], \"traceEvents\": [" + std::string(events) + "]}")),
               costs);
}

}  // namespace ridge::test
