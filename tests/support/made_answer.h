// What `ranks` says of a job that was made by hand (support/made_job.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/ranks/ranks.h"
#include "ingest/reader.h"
#include "job/make_digest.h"
#include "model/model.h"
#include "support/made_job.h"

namespace ridge::test {

inline std::vector<Digest> digests_of(const MadeJob& job) {
  std::vector<Digest> digests;
  const std::vector<std::string> traces = made_traces(job);
  for (std::size_t r = 0; r < traces.size(); ++r) {
    const auto trace = read_trace_bytes(traces[r], "rank" + std::to_string(r) + ".json", {});
    EXPECT_TRUE(trace.has_value());
    digests.push_back(make_digest(Model(**trace)));
  }
  return digests;
}

// The answer refers to the digests.
struct Answer {
  explicit Answer(const MadeJob& made) : Answer(digests_of(made)) {}
  explicit Answer(std::vector<Digest> of) : digests(std::move(of)), job(assemble_job(digests)), ranks(compute_ranks(job)) {}
  const std::vector<Digest> digests;
  const Job job;
  const Ranks ranks;

  const Diagnostic* said(std::string_view code) const {
    const auto it = std::find_if(ranks.job.diagnostics.begin(), ranks.job.diagnostics.end(),
                                 [&](const Diagnostic& d) { return d.code == code; });
    return it == ranks.job.diagnostics.end() ? nullptr : &*it;
  }
};

inline MadeJob healthy(std::size_t ranks = 4) { return {.ranks = std::vector<MadeRank>(ranks)}; }

// What the step of a job takes more than that of the same job with the rank mended.
inline std::int64_t true_cost_ns(const MadeJob& job, const MadeJob& mended) {
  std::int64_t with = 0, without = 0;
  made_traces(job, &with);
  made_traces(mended, &without);
  return (with - without) * 1000;
}

}  // namespace ridge::test
