// Tables of a trace as Arrow files: the rewrite `export`.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <ridge/result.h>

#include "base/progress.h"
#include "base/threads.h"
#include "trace/trace.h"

namespace ridge {

struct ExportCounts {
  std::uint64_t tables = 0;
  std::uint64_t rows = 0;
};

// Where the tables go: to a folder one `<table>.arrow` each; a path that ends with .arrow is the file of the one table that
// is asked for. `names` empty: every table. An error where a name is unknown or a file is to hold several.
struct ExportPlan {
  std::vector<std::string> tables;
  std::vector<std::string> paths;  // one each
  std::string folder;              // to be made; empty: none
};
Result<ExportPlan> plan_export(const std::vector<std::string>& names, const std::string& output);

// Each file is whole or absent; those before one that fails stay. `goes_on` is told of rows.
Result<ExportCounts> export_tables(const std::shared_ptr<const Trace>& trace, const ExportPlan& plan,
                                   const std::shared_ptr<Threads>& threads, const ProgressFunction& goes_on);

}  // namespace ridge
