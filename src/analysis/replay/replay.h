// replay: scripts that run one call of the trace alone. One row per kernel, op and signature, with the script where one can be
// made and the reason where not; their counts and times add up to those of all kernels.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <ridge/analysis.h>
#include <ridge/report.h>
#include <ridge/result.h>

#include "facts/scope.h"
#include "replay/replay_call.h"

namespace ridge {

struct ReplayQuestion {
  std::string kernel = {}, op = {}, shape = {};  // only calls of this kernel, op, shape; empty: any
  std::size_t most = 1;                          // scripts to make, the calls with most time first; 0: all
  bool scripts = false;                          // else only the list
  std::optional<std::string> source = {};        // text of --source
  bool trust_source = false;
};

struct ReplayRow {
  ReplayCall call;
  std::string file;    // a name for the script; empty where there is none
  std::string script;  // empty where none was asked for
};

struct Replays {
  std::vector<ReplayRow> rows;
  std::int64_t kernel_time_ns = 0;  // of all kernels in the scope
  bool selected = false;            // rows are a part of it
  bool scripts = false;
};

Result<Replays> compute_replays(const Scope& scope, const ReplayQuestion& question);
Report report_replays(const Replays& replays);

Result<Report> run_replay(const Scope& scope, const Arguments& arguments);

}  // namespace ridge
